//! The configuration of a run of point clouds, by names.
//!
//! A preset is put together from files of `presets/points/`, later ones overriding earlier ones: the
//! backbone's, the dataset's (with its part for the backbone, if there is one), the learner's, and those of
//! the learner for the backbone and for the dataset.

use super::{PointNetworkConfig, PointsConfig, PointsRecord};
use crate::{
    Error, LearnerConfig, Result,
    node::name_of,
    plan::{Layered, Wishes, kind},
    settings,
};
use adjoin::learner::DgmConfig;

/// Networks for point clouds.
pub const POINTS_BACKBONES: [&str; 2] = ["dgcnn", "resgcn"];

/// Learners of the graphs of point clouds; `knn` is the published graph.
pub const POINTS_LEARNERS: [&str; 3] = ["knn", "dgm", "dgg"];

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../presets/points/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = presets![
    "resgcn",
    "shapes",
    "shapes-resgcn",
    "dgm",
    "dgg",
    "dgg-resgcn",
    "shapes-dgg",
    "reduced",
    "reduced-resgcn"
];

/// Name of the settings of the table that runs in an hour, to be given in place of that of a dataset.
pub(crate) const REDUCED: &str = "reduced";

/// The settings that were measured to work for a dataset, a network and a learner.
///
/// # Errors
/// If there is no such network or learner.
pub fn points_config(dataset: &str, backbone: &str, learner: &str) -> Result<PointsConfig> {
    let unknown = |place: &str, found: &str, known: &[&str]| {
        let what = format!("there is no {found:?} for point clouds; choose one of {known:?}");
        Err(Error::Config { place: place.into(), what })
    };
    let network = match backbone {
        "dgcnn" => PointNetworkConfig::dgcnn(),
        "resgcn" => PointNetworkConfig::resgcn(),
        other => return unknown("--backbone", other, &POINTS_BACKBONES),
    };
    let learner_config = match learner {
        "knn" => LearnerConfig::None,
        "dgm" => LearnerConfig::Dgm(DgmConfig::default()),
        "dgg" => LearnerConfig::named("dgg")?,
        other => return unknown("--learner", other, &POINTS_LEARNERS),
    };
    let mut config = PointsConfig { network, learner: learner_config, ..PointsConfig::default() };
    let [of_dataset, of_learner, of_both] =
        [(dataset, backbone), (learner, backbone), (dataset, learner)]
            .map(|(of, what)| format!("{of}-{what}"));
    for name in [backbone, dataset, &of_dataset, learner, &of_learner, &of_both] {
        if let Some((_, text)) = FILES.iter().find(|(file, _)| *file == name) {
            config = settings::from_toml(&format!("preset points/{name}.toml"), text, &config)?;
        }
    }
    Ok(config)
}

impl Layered for PointsConfig {
    const TASK: &'static str = "points";
    type Record = PointsRecord;

    fn read(place: &str, text: &str) -> Result<Self> {
        settings::from_toml(place, text, &Self::default())
    }

    /// The number of epochs decides how fast the rates fall, and so what is computed.
    fn stopping_as(&self, _: &Self) -> Self {
        self.clone()
    }

    /// A file for another network does not decide about the layers of this one.
    fn with_file(&self, place: &str, text: &str) -> Result<Self> {
        let next: Self = settings::from_toml(place, text, self)?;
        Ok(match next.network.kind == self.network.kind {
            true => next,
            false => Self { network: self.network.clone(), ..next },
        })
    }

    fn with_setting(&self, setting: &str) -> Result<Self> {
        settings::with_settings(self, [setting])
    }

    fn backbone_name(&self) -> String {
        name_of(&self.network.kind)
    }

    /// Without a learner the published graph has the name.
    fn learner_kind(&self) -> &'static str {
        match &self.learner {
            LearnerConfig::None => "knn",
            other => kind(other),
        }
    }

    fn take_learner(&mut self, from: &Self) {
        self.learner = from.learner.clone();
    }

    fn to_toml(&self) -> String {
        settings::to_toml(self)
    }
}

impl Wishes<'_> {
    /// The configuration of every learner of point clouds, by name.
    ///
    /// # Errors
    /// If a name, a key or a value is not known, or a setting is for none of the learners.
    pub fn points_configs(&self) -> Result<Vec<(String, PointsConfig)>> {
        let told = match self.file {
            Some((place, text)) => Some(PointsConfig::read(place, text)?),
            None => None,
        };
        let names = |key: &str| {
            let table = self.file.map(|(_, text)| text.parse::<toml::Table>().unwrap_or_default());
            table.is_some_and(|table| table.contains_key(key))
        };
        let from_file = told.as_ref().filter(|_| names("network")).map(Layered::backbone_name);
        let backbone = self.backbone.or(from_file.as_deref()).unwrap_or(POINTS_BACKBONES[0]);
        let learners = match (self.learners, &told) {
            (Some(learners), _) => learners.to_vec(),
            (None, Some(told)) if names("learner") => vec![told.learner_kind().to_string()],
            (None, _) => vec!["knn".to_string(), "dgg".to_string()],
        };
        self.layered(learners, |learner| points_config(self.dataset, backbone, learner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::PointNetworkKind;

    const NOTHING: Wishes = Wishes {
        dataset: "shapes",
        has_edges: false,
        backbone: None,
        learners: None,
        file: None,
        settings: &[],
    };

    #[test]
    fn every_preset_can_be_read_and_every_file_is_used() {
        let mut used = std::collections::BTreeSet::new();
        for dataset in ["shapes", "modelnet40", REDUCED] {
            for backbone in POINTS_BACKBONES {
                for learner in POINTS_LEARNERS {
                    let config = points_config(dataset, backbone, learner).unwrap();
                    assert_eq!(config.learner_kind(), learner);
                    assert_eq!(config.backbone_name(), backbone);
                    used.extend([backbone, dataset, learner].map(String::from));
                    used.extend([dataset, learner].map(|part| format!("{part}-{backbone}")));
                    used.insert(format!("{dataset}-{learner}"));
                }
            }
        }
        for (name, _) in FILES {
            assert!(used.contains(*name), "points/{name}.toml is never used");
        }
    }

    #[test]
    fn the_published_graph_and_the_learned_one_are_compared() {
        let configs = NOTHING.points_configs().unwrap();
        let kinds: Vec<_> = configs.iter().map(|(_, config)| config.learner_kind()).collect();
        assert_eq!(kinds, ["knn", "dgg"]);
        assert!(configs.iter().all(|(_, c)| c.network.kind == PointNetworkKind::Dgcnn));
    }

    #[test]
    fn the_file_of_a_run_says_network_and_learner() {
        for backbone in POINTS_BACKBONES {
            for learner in POINTS_LEARNERS {
                let config = points_config("shapes", backbone, learner).unwrap();
                let config = config.with_setting("points=77").unwrap();
                let text = config.to_toml();
                let file = Some(("config.toml", text.as_str()));
                let again = Wishes { file, ..NOTHING }.points_configs().unwrap();
                assert_eq!(again, [(learner.to_string(), config)]);
            }
        }
    }

    #[test]
    fn wrong_words_are_refused() {
        let wrong = |backbone, learner: &str, setting: &str| {
            let (learners, settings) = ([learner.to_string()], [setting.to_string()]);
            let wishes =
                Wishes { backbone, learners: Some(&learners), settings: &settings, ..NOTHING };
            wishes.points_configs().unwrap_err().to_string()
        };
        assert!(wrong(Some("gcn"), "dgg", "points=5").contains("resgcn"));
        assert!(wrong(None, "none", "points=5").contains("knn"));
        assert!(wrong(None, "dgg", "train.epoch=3").contains("did you mean `epochs`"));
        assert!(wrong(None, "knn", "learner.dgg.symmetric=true").contains("--learner"));
    }
}
