//! Settings that were measured to work, in files that can be read and copied.
//!
//! A preset is put together from files of `presets/`, later ones overriding earlier ones: the backbone's,
//! the dataset's for that backbone, the learner's, the dataset's for that learner; when the learner's name ends
//! in `+consistency`, `consistency.toml` and the dataset's for that backbone and for that learner with it; last the
//! learner's for the backbone, and the dataset's for both, without and with consistency. Many of these do not exist; each that does is a
//! configuration file of its own.

use crate::{Config, Error, LearnerConfig, Result};
use adjoin::{
    CandidateRule, Metric,
    conv::{BackboneConfig, BackboneKind},
    dgg::DegreeRule,
};

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../presets/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = presets![
    "gcn",
    "sage",
    "gat",
    "gcnii",
    "citeseer-gcn",
    "pubmed-gat",
    "citeseer-gcnii",
    "pubmed-gcnii",
    "dgm",
    "dgg",
    "citeseer-dgg",
    "pubmed-dgg",
    "citeseer-dgg-gcnii",
    "citeseer-dgg-gcnii-consistency",
    "pubmed-dgg-gcnii",
    "pubmed-dgg-gcnii-consistency",
    "dgg-sage",
    "dgg-star",
    "knn",
    "pagerank",
    "dropedge",
    "consistency",
    "citeseer-sage-consistency",
    "citeseer-gat-consistency",
    "citeseer-dgg-consistency",
];

/// Candidates of a node where there are no edges.
const NEAREST: usize = 20;

/// Names that `--backbone` takes.
pub const BACKBONES: [&str; 4] = ["gcn", "sage", "gat", "gcnii"];

/// The settings for a dataset, a backbone and a learner, such as `dgg` or `dgg+consistency`.
///
/// # Errors
/// If there is no such backbone or learner.
pub fn config(dataset: &str, backbone: &str, learner: &str) -> Result<Config> {
    let (base, consistent) = match learner.strip_suffix("+consistency") {
        Some(base) => (base, true),
        None => (learner, false),
    };
    let kind = match backbone {
        "gcn" => BackboneKind::Gcn,
        "sage" => BackboneKind::Sage,
        "gat" => BackboneKind::Gat,
        "gcnii" => BackboneKind::Gcnii,
        other => {
            let what = format!("there is no backbone {other:?}; choose one of {BACKBONES:?}");
            return Err(Error::Config { place: "--backbone".into(), what });
        }
    };
    let mut config = Config {
        backbone: BackboneConfig::of_kind(kind),
        learner: LearnerConfig::named(base)?,
        ..Config::default()
    };
    for name in names(dataset, backbone, base, consistent) {
        if let Some((_, text)) = FILES.iter().find(|(file, _)| *file == name) {
            config = Config::from_toml(&format!("preset {name}.toml"), text, &config)?;
        }
    }
    Ok(config)
}

/// The settings for data without edges: the generator chooses among the nearest nodes in features, since
/// there are no edges to start from. Other learners stay as they are.
pub fn without_edges(mut config: Config) -> Config {
    if let LearnerConfig::Dgg(dgg) = &mut config.learner
        && !dgg.candidates.is_complete()
    {
        dgg.candidates = CandidateRule::Nearest { k: NEAREST, metric: Metric::Cosine };
        dgg.augment = None;
        dgg.keep_weights = false;
        dgg.degree.rule = DegreeRule::Around(NEAREST as f64 / 2.0);
    }
    config
}

/// Names of the files of a preset, whether they exist or not, in their order.
fn names(dataset: &str, backbone: &str, learner: &str, consistent: bool) -> Vec<String> {
    let mut names = vec![backbone.to_string(), format!("{dataset}-{backbone}")];
    // DGG* is the generator with one more loss.
    let learners = if learner == "dgg-star" { &["dgg", learner][..] } else { &[learner] };
    for learner in learners {
        names.extend([learner.to_string(), format!("{dataset}-{learner}")]);
    }
    if consistent {
        names.extend(["consistency".to_string(), format!("{dataset}-{backbone}-consistency")]);
        names.extend(learners.iter().map(|learner| format!("{dataset}-{learner}-consistency")));
    }
    for learner in learners {
        let both = format!("{learner}-{backbone}");
        names.extend([both.clone(), format!("{dataset}-{both}")]);
        if consistent {
            names.push(format!("{dataset}-{both}-consistency"));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BeliefsOf, LEARNERS};
    use adjoin::dgg::Augment;

    #[test]
    fn every_preset_can_be_read_and_every_file_is_used() {
        let mut used = std::collections::BTreeSet::new();
        for dataset in ["cora", "citeseer", "pubmed", "my-own"] {
            for backbone in BACKBONES {
                for learner in LEARNERS {
                    config(dataset, backbone, learner).unwrap();
                    config(dataset, backbone, &format!("{learner}+consistency")).unwrap();
                    used.extend(names(dataset, backbone, learner, true));
                }
            }
        }
        for (name, _) in FILES {
            assert!(used.contains(*name), "{name}.toml is never used");
        }
        assert_eq!(config("pubmed", "gcnii", "none").unwrap().backbone.layers, 16);
        assert_eq!(config("cora", "gcn", "dgg+consistency").unwrap().train.samples, 4);
    }

    /// What a network needs of a learner is not undone by what a dataset prefers.
    #[test]
    fn files_of_learner_and_network_come_last() {
        let added = |backbone, learner| {
            let config = config("pubmed", backbone, learner).unwrap();
            let LearnerConfig::Dgg(dgg) = config.learner else { panic!("{learner}") };
            let Some(Augment::Pagerank(added)) = dgg.augment else { panic!("{learner}") };
            added.k
        };
        assert_eq!((added("gcn", "dgg"), added("gcnii", "dgg")), (8, 2));
        assert_eq!((added("gcnii", "dgg-star"), added("gcnii", "dgg+consistency")), (2, 2));
        let dropped = |learner| config("pubmed", "gcnii", learner).unwrap().train.guide_drop;
        assert_eq!((dropped("dgg"), dropped("dgg+consistency")), (0.0, 0.3));
        let sage = config("citeseer", "sage", "dgg+consistency").unwrap();
        assert_eq!(sage.train.beliefs_of, BeliefsOf::Student);
    }

    #[test]
    fn unknown_names_are_errors() {
        assert!(config("cora", "mlp", "none").unwrap_err().to_string().contains("gcnii"));
        assert!(config("cora", "gcn", "magic").unwrap_err().to_string().contains("dropedge"));
    }
}
