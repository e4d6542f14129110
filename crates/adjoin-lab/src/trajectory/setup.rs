//! The configuration of a run of trajectories, whatever its network.

use super::{
    InputGraph, TrajectoryConfig, TrajectoryRecord, TrajectoryTrainConfig,
    dagnet::{BASKETBALL_NEIGHBOURS, DagConfig, DagGraph, is_basketball},
};
use crate::{
    Error, LearnerConfig, Result,
    plan::{Layered, Wishes, kind},
    settings,
};

/// Networks for trajectories.
pub const TRAJECTORY_BACKBONES: [&str; 2] = ["social-stgcnn", "dagnet"];

/// Learners of the graphs of trajectories.
pub const TRAJECTORY_LEARNERS: [&str; 4] = ["kernel", "none", "dgm", "dgg"];

/// Scenes in a step on the generated crowd, which has 210 to train with: of 16, 32 and 128 the best on
/// its validation scenes.
const CROWD_BATCH: usize = 16;

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq)]
pub enum TrajectorySetup {
    /// Of Social-STGCNN.
    Social(Box<TrajectoryConfig>),
    /// Of DAG-Net.
    Dag(Box<DagConfig>),
}

impl TrajectorySetup {
    /// The settings that were measured to work for a dataset, a network and a learner.
    ///
    /// # Errors
    /// If there is no such network or learner.
    pub fn named(dataset: &str, backbone: &str, learner: &str) -> Result<Self> {
        let unknown = |place: &str, what: String| Err(Error::Config { place: place.into(), what });
        if !TRAJECTORY_LEARNERS.contains(&learner) {
            let what = format!(
                "there is no learner {learner:?} for trajectories; choose one of {TRAJECTORY_LEARNERS:?}"
            );
            return unknown("--learner", what);
        }
        match backbone {
            "social-stgcnn" => {
                let mut config = TrajectoryConfig::named(learner)?;
                if dataset == "crowd" {
                    config.train.batch = CROWD_BATCH;
                }
                if is_basketball(dataset) {
                    // Players are faster than pedestrians: at their rate training diverges.
                    config.train.rate = TrajectoryTrainConfig::default().rate;
                    if let LearnerConfig::Dgm(dgm) = &mut config.learner {
                        dgm.k = BASKETBALL_NEIGHBOURS;
                    }
                }
                Ok(Self::Social(Box::new(config)))
            }
            "dagnet" => Ok(Self::Dag(Box::new(DagConfig::named(dataset, learner)?))),
            other => {
                let what = format!(
                    "there is no backbone {other:?} for trajectories; choose one of {TRAJECTORY_BACKBONES:?}"
                );
                unknown("--backbone", what)
            }
        }
    }

    /// Name of the network.
    pub fn backbone(&self) -> &'static str {
        match self {
            Self::Social(_) => TRAJECTORY_BACKBONES[0],
            Self::Dag(_) => TRAJECTORY_BACKBONES[1],
        }
    }

    /// How it is trained.
    pub fn train(&self) -> &TrajectoryTrainConfig {
        match self {
            Self::Social(config) => &config.train,
            Self::Dag(config) => &config.train,
        }
    }

    /// Another number of epochs; rates are lowered, and training is warm, after the same part of them.
    pub fn shorten(&mut self, epochs: usize) {
        let before = self.train().epochs.max(1);
        let scaled = |at: usize| (at * epochs).div_ceil(before);
        if let Self::Dag(config) = self {
            config.network.warm_up = scaled(config.network.warm_up);
        }
        let train = self.train_mut();
        train.lower_at = scaled(train.lower_at);
        train.epochs = epochs;
    }

    fn train_mut(&mut self) -> &mut TrajectoryTrainConfig {
        match self {
            Self::Social(config) => &mut config.train,
            Self::Dag(config) => &mut config.train,
        }
    }

    fn learner(&self) -> &LearnerConfig {
        match self {
            Self::Social(config) => &config.learner,
            Self::Dag(config) => &config.learner,
        }
    }

    fn has_kernel(&self) -> bool {
        match self {
            Self::Social(config) => config.graph == InputGraph::Kernel,
            Self::Dag(config) => matches!(config.graph, DagGraph::Kernel(_)),
        }
    }
}

impl Layered for TrajectorySetup {
    const TASK: &'static str = "trajectory";
    type Record = TrajectoryRecord;

    /// The text does not name its network, but its keys fit only one of them.
    fn read(place: &str, text: &str) -> Result<Self> {
        let social = match settings::from_toml(place, text, &TrajectoryConfig::default()) {
            Ok(config) => return Ok(Self::Social(Box::new(config))),
            Err(error) => error,
        };
        match settings::from_toml(place, text, &DagConfig::default()) {
            Ok(config) => Ok(Self::Dag(Box::new(config))),
            Err(dag) => {
                let [one, other] = TRAJECTORY_BACKBONES;
                let what = format!("fits no network: as {one}, {social}; as {other}, {dag}");
                Err(Error::Config { place: place.into(), what })
            }
        }
    }

    fn stopping_as(&self, other: &Self) -> Self {
        let mut setup = self.clone();
        setup.train_mut().epochs = other.train().epochs;
        setup
    }

    fn with_file(&self, place: &str, text: &str) -> Result<Self> {
        Ok(match self {
            Self::Social(config) => Self::Social(settings::from_toml(place, text, config)?),
            Self::Dag(config) => Self::Dag(settings::from_toml(place, text, config)?),
        })
    }

    fn with_setting(&self, setting: &str) -> Result<Self> {
        Ok(match self {
            Self::Social(config) => Self::Social(settings::with_settings(config, [setting])?),
            Self::Dag(config) => Self::Dag(settings::with_settings(config, [setting])?),
        })
    }

    fn backbone_name(&self) -> String {
        self.backbone().to_string()
    }

    /// Without a learner the graph has the name.
    fn learner_kind(&self) -> &'static str {
        match self.learner() {
            LearnerConfig::None if self.has_kernel() => "kernel",
            other => kind(other),
        }
    }

    /// The graph goes with the learner.
    fn take_learner(&mut self, from: &Self) {
        match (self, from) {
            (Self::Social(config), Self::Social(from)) => {
                (config.graph, config.learner) = (from.graph, from.learner.clone());
            }
            (Self::Dag(config), Self::Dag(from)) => {
                (config.graph, config.learner) = (from.graph, from.learner.clone());
            }
            // Layers change settings of a network, never the network.
            _ => {}
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Social(config) => settings::to_toml(config),
            Self::Dag(config) => settings::to_toml(config),
        }
    }
}

impl Wishes<'_> {
    /// The configuration of every learner of trajectories, by name.
    ///
    /// # Errors
    /// If a name, a key or a value is not known, or a setting is for none of the learners.
    pub fn trajectory_setups(&self) -> Result<Vec<(String, TrajectorySetup)>> {
        let named =
            |backbone: &str, learner: &str| TrajectorySetup::named(self.dataset, backbone, learner);
        // A file does not name its network, but its keys fit only one of them.
        let fits = |backbone: &&&str| {
            let read = |(place, text)| named(backbone, "kernel")?.with_file(place, text);
            self.file.is_none_or(|file| read(file).is_ok())
        };
        let first = TRAJECTORY_BACKBONES[0];
        let backbone = self
            .backbone
            .unwrap_or_else(|| TRAJECTORY_BACKBONES.iter().find(fits).copied().unwrap_or(first));
        let learners = match (self.learners, self.file) {
            (Some(learners), _) => learners.to_vec(),
            (None, Some((place, text))) if names_learner(text) => {
                let told = named(backbone, "kernel")?.with_file(place, text)?;
                vec![told.learner_kind().to_string()]
            }
            (None, _) => vec!["kernel".to_string(), "dgg".to_string()],
        };
        self.layered(learners, |learner| named(backbone, learner))
    }
}

fn names_learner(text: &str) -> bool {
    let table: toml::Table = text.parse().unwrap_or_default();
    table.contains_key("learner") || table.contains_key("graph")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Wishes = Wishes {
        dataset: "crowd",
        has_edges: false,
        backbone: None,
        learners: None,
        file: None,
        settings: &[],
    };

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn the_published_graph_and_the_learned_one_are_compared() {
        let setups = NOTHING.trajectory_setups().unwrap();
        let kinds: Vec<_> = setups.iter().map(|(_, setup)| setup.learner_kind()).collect();
        assert_eq!(kinds, ["kernel", "dgg"]);
        assert!(setups.iter().all(|(_, setup)| setup.backbone() == "social-stgcnn"));
    }

    #[test]
    fn the_file_of_a_run_says_network_and_learner() {
        let networks = TRAJECTORY_BACKBONES.map(|backbone| ("crowd", backbone));
        // Basketball has another rule of goals than the default.
        for (dataset, backbone) in networks.into_iter().chain([("nba-atk-10", "dagnet")]) {
            for learner in TRAJECTORY_LEARNERS {
                let setup = TrajectorySetup::named(dataset, backbone, learner).unwrap();
                let setup = setup.with_setting("train.epochs=3").unwrap();
                let text = setup.to_toml();
                let file = Some(("config.toml", text.as_str()));
                let again = Wishes { dataset, file, ..NOTHING }.trajectory_setups().unwrap();
                assert_eq!(TrajectorySetup::read("config.toml", &text).unwrap(), setup);
                assert_eq!(again, [(learner.to_string(), setup)]);
            }
        }
    }

    #[test]
    fn fewer_epochs_keep_the_schedule() {
        let mut setup = TrajectorySetup::named("nba-atk-10", "dagnet", "dgg").unwrap();
        setup.shorten(60);
        let TrajectorySetup::Dag(config) = &setup else { panic!("{setup:?}") };
        assert_eq!((config.train.epochs, config.network.warm_up), (60, 2));
        let mut setup = TrajectorySetup::named("eth", "social-stgcnn", "dgg").unwrap();
        setup.shorten(8);
        assert_eq!((setup.train().epochs, setup.train().lower_at), (8, 5));
    }

    #[test]
    fn a_text_that_fits_no_network_says_why_for_each() {
        let wrong = TrajectorySetup::read("config.toml", "[network]\nwidht = 3\n").unwrap_err();
        let wrong = wrong.to_string();
        assert!(wrong.contains("as dagnet") && wrong.contains("did you mean `width`"), "{wrong}");
    }

    #[test]
    fn names_beat_the_file_and_keep_their_graph() {
        let setup = TrajectorySetup::named("crowd", "dagnet", "dgg").unwrap();
        let text = setup.with_setting("train.epochs=3").unwrap().to_toml();
        let (file, learners) = (Some(("config.toml", text.as_str())), words(&["kernel", "dgm"]));
        let wishes = Wishes { file, learners: Some(&learners), ..NOTHING };
        for (name, setup) in wishes.trajectory_setups().unwrap() {
            assert_eq!((setup.learner_kind(), setup.train().epochs), (name.as_str(), 3));
            assert_eq!(setup.has_kernel(), name == "kernel");
        }
    }

    #[test]
    fn wrong_words_are_refused() {
        let wrong = |backbone, learners: &[&str], settings: &[&str]| {
            let (learners, settings) = (words(learners), words(settings));
            let wishes = Wishes { learners: Some(&learners), settings: &settings, ..NOTHING };
            Wishes { backbone, ..wishes }.trajectory_setups().unwrap_err().to_string()
        };
        assert!(wrong(Some("gcn"), &["dgg"], &[]).contains("social-stgcnn"));
        assert!(wrong(None, &["magic"], &[]).contains("kernel"));
        assert!(wrong(None, &["dgg"], &["train.epoch=3"]).contains("did you mean `epochs`"));
        assert!(wrong(None, &["kernel"], &["learner.dgg.symmetric=true"]).contains("--learner"));
    }
}
