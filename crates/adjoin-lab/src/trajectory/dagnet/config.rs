//! Settings of DAG-Net and of its training.

use super::{
    super::{ChooseEpoch, OptimiserKind, TrajectoryTrainConfig},
    GoalConfig,
};
use crate::{LearnerConfig, Result, settings};
use adjoin::{
    CandidateRule, DggConfig,
    dgg::{DegreeConfig, DegreeRule, EncoderConfig, SampleConfig, ScorerConfig},
    learner::DgmConfig,
};
use serde::{Deserialize, Serialize};

/// Neighbours of a player in DGM, as the DGG paper has it.
pub(in crate::trajectory) const BASKETBALL_NEIGHBOURS: usize = 3;

/// Reach of the published graph, in metres.
pub(super) const PUBLISHED_SIGMA: f64 = 1.2;

/// Settings that were measured to work, in files that can be read and copied; later ones override earlier ones.
const FILES: [(&str, &str); 5] = [
    ("pedestrians", include_str!("../../../presets/dagnet-pedestrians.toml")),
    ("nba", include_str!("../../../presets/dagnet-nba.toml")),
    ("nba-dgg", include_str!("../../../presets/dagnet-nba-dgg.toml")),
    ("nba-40", include_str!("../../../presets/dagnet-nba-40.toml")),
    ("nba-40-given", include_str!("../../../presets/dagnet-nba-40-given.toml")),
];

/// How the goals of an agent and those that others tell it of are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// `softmax([s, attended] W + b)`, as published. W has `2 cells^2` entries.
    #[default]
    Dense,
    /// `softmax(l + c attended)` with the logits l of the agent's own goals and one number c per cell:
    /// starts from the agent's own goals, and costs next to nothing.
    Residual,
}

/// Which features x^ of an agent are handed to the network with its graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandOn {
    /// None.
    #[default]
    Never,
    /// Those that the generator makes its graph of, as its paper has it; other learners hand on none.
    Generated,
    /// The same with a generator; with any other learner those of an encoder of the same form, which does nothing
    /// else: what a graph is worth shows when all of them come with features.
    Always,
}

/// Settings of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DagNetConfig {
    /// Width of hidden layers and of the recurrent state.
    pub width: usize,
    /// Width of the latent variable.
    pub latent: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Width of a head.
    pub head_width: usize,
    /// Goals.
    pub goals: GoalConfig,
    /// How goals are joined.
    pub blend: Blend,
    /// Weight of the goals in the loss.
    pub goal_weight: f64,
    /// Epochs over which the divergence of posterior and prior gets its full weight, linearly.
    pub warm_up: usize,
    /// Deviation of the noise that is added in training to the steps the network sees, not to those it is to
    /// predict, in metres; published: 0. True steps tell nearly all of the next one, so that a network
    /// trained on them alone carries on as it moves, and drifts away when it runs on its own steps.
    pub jitter: f64,
    /// Features that come with the graph (see [`DagNet`](super::DagNet)).
    pub hand_on: HandOn,
    /// Weight of the reinforced loss, by which learners of hard graphs learn.
    pub reinforced: f64,
    /// Compute what the public code computes, quirks included (see [`DagNet`](super::DagNet)).
    pub faithful: bool,
}

impl Default for DagNetConfig {
    fn default() -> Self {
        Self {
            width: 64,
            latent: 32,
            heads: 4,
            head_width: 8,
            goals: GoalConfig::default(),
            blend: Blend::Dense,
            goal_weight: 1.0,
            warm_up: 10,
            jitter: 0.0,
            hand_on: HandOn::Never,
            reinforced: 1.0,
            faithful: false,
        }
    }
}

/// The graph of a moment before anything is learned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DagGraph {
    /// None: learners that do not make one join all agents of a scene.
    None,
    /// `exp(-distance / sigma)`, sigma in metres (published: 1.2).
    Kernel(f64),
}

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DagConfig {
    /// The network.
    pub network: DagNetConfig,
    /// The graph that learners are given.
    pub graph: DagGraph,
    /// The learner of the graph that the network uses.
    pub learner: LearnerConfig,
    /// How it is trained.
    pub train: TrajectoryTrainConfig,
}

impl Default for DagConfig {
    fn default() -> Self {
        let train = TrajectoryTrainConfig {
            epochs: 500,
            batch: 16,
            optimiser: OptimiserKind::Adam,
            rate: 1e-4,
            learner_rate: 1e-4,
            lower_at: 0,
            clip: 10.0,
            // The loss is of one step after true ones: it still falls when sampled paths, which go on from
            // their own steps, have long begun to drift.
            choose_by: ChooseEpoch::Displacement,
            ..TrajectoryTrainConfig::default()
        };
        let (network, graph) = (DagNetConfig::default(), DagGraph::Kernel(PUBLISHED_SIGMA));
        Self { network, graph, learner: LearnerConfig::None, train }
    }
}

impl DagConfig {
    /// The settings of a dataset and a named learner: `kernel` is the published graph, `none` joins all
    /// agents of a scene, `dgm` learns on all pairs of a scene, and `dgg` which edges of the published
    /// graph to keep. What was measured to work is in the files `presets/dagnet-*.toml`.
    ///
    /// The rate does not fall on plateaus, which the public code lets it do after epoch 100.
    ///
    /// # Errors
    /// If there is no such learner.
    pub fn named(dataset: &str, learner: &str) -> Result<Self> {
        let basketball = is_basketball(dataset);
        let k = if basketball { BASKETBALL_NEIGHBOURS } else { 2 };
        let published = DagGraph::Kernel(PUBLISHED_SIGMA);
        let (graph, learner) = match learner {
            "kernel" => (published, LearnerConfig::None),
            "none" => (DagGraph::None, LearnerConfig::None),
            "dgm" => (DagGraph::None, LearnerConfig::Dgm(hard(k))),
            "dgg" => (published, LearnerConfig::Dgg(Box::new(generator()))),
            other => (published, LearnerConfig::named(other)?),
        };
        let generates = matches!(learner, LearnerConfig::Dgg(_));
        let mut config = Self { graph, learner, ..Self::default() };
        let mut names = Vec::new();
        if basketball {
            names.push("nba");
            names.extend(generates.then_some("nba-dgg"));
            if dataset.ends_with("-40") {
                names.push("nba-40");
                names.extend((!generates).then_some("nba-40-given"));
            }
        } else {
            names.push("pedestrians");
        }
        for (name, text) in FILES.iter().filter(|(name, _)| names.contains(name)) {
            config = settings::from_toml(&format!("preset dagnet-{name}.toml"), text, &config)?;
        }
        Ok(config)
    }
}

/// Whether a dataset is one of the known recordings of basketball.
pub(in crate::trajectory) fn is_basketball(dataset: &str) -> bool {
    dataset.starts_with("nba") && adjoin_data::trajectory::find(dataset).is_ok()
}

/// Makes x^ of what is known of an agent.
pub(super) fn encoder() -> EncoderConfig {
    EncoderConfig { width: 16, dropout: 0.0, ..EncoderConfig::default() }
}

fn hard(k: usize) -> DgmConfig {
    DgmConfig { k, encoder: encoder(), log_scale: 0.0, evaluation_draws: 1, ..DgmConfig::default() }
}

/// A generator that starts from the published graph, its weights and its degrees, and learns which of its
/// edges to keep.
fn generator() -> DggConfig {
    DggConfig {
        candidates: CandidateRule::InputEdges,
        keep_weights: true,
        encoder: encoder(),
        scorer: ScorerConfig { initial_scale: 0.5, ..ScorerConfig::default() },
        sample: SampleConfig { noise: 0.1, ..SampleConfig::default() },
        degree: DegreeConfig { rule: DegreeRule::Relative, ..DegreeConfig::default() },
        ..DggConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_of_the_dataset_and_of_the_learner() {
        let of = |dataset, learner| {
            let DagNetConfig { blend, jitter, hand_on, .. } =
                DagConfig::named(dataset, learner).unwrap().network;
            (blend, jitter, hand_on)
        };
        use HandOn::{Generated, Never};
        assert_eq!(of("sdd", "dgg"), (Blend::Residual, 0.0, Never));
        assert_eq!(of("nba-atk-10", "kernel"), (Blend::Residual, 0.5, Never));
        assert_eq!(of("nba-def-20", "dgg"), (Blend::Residual, 0.2, Generated));
        assert_eq!(of("nba-def-40", "dgg"), (Blend::Residual, 0.02, Generated));
        assert_eq!(of("nba-def-40", "dgm"), (Blend::Dense, 0.02, Never));
        let goals = DagConfig::named("nba-atk-10", "dgg").unwrap().network.goals;
        assert_eq!((goals.cells, goals.frame), ([9, 10], super::super::GoalFrame::World));
    }
}
