//! What the table of learners in `mod.rs` is made into: settings of any learner, and any learner.

use super::{AnyLearner, LEARNERS, LearnerConfig};
use crate::{
    Error, Result,
    graph::{GraphInput, Labels, Prepared, Progress},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph, Network, Outcome, Outer, Stage},
    pass::Pass,
    topology::{CandidateRule, Csr},
};
use burn::tensor::{Device, Tensor};

/// What a learner may have to know of its surroundings before it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Width of the node features.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Width of the input of every layer of the network, see [`Network::widths`].
    pub widths: Vec<usize>,
    /// Number of training nodes.
    pub training: usize,
    /// Widths of the extras of a node and of a pair, see [`Prepared::extras`](crate::graph::Prepared::extras).
    pub extras: [usize; 2],
}

/// A learner by its name.
#[derive(Clone, Copy, Debug)]
pub struct LearnerEntry {
    /// What it is called on the command line; several names may stand for one kind.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Its settings.
    pub config: fn() -> LearnerConfig,
}

/// What the table asks of the settings of a learner.
pub(super) trait Settings {
    /// What they are settings of.
    type Learner: GraphLearner;

    /// The learner, with weights drawn from `key`.
    fn init_for(
        &self,
        data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Self::Learner>;

    /// As [`LearnerConfig::wants_probabilities`].
    fn wants_probabilities(&self) -> bool {
        false
    }

    /// As [`LearnerConfig::replaces_network`].
    fn replaces_network(&self) -> bool {
        false
    }

    /// As [`LearnerConfig::keeps_given_edges`].
    fn keeps_given_edges(&self) -> bool {
        false
    }

    /// As [`LearnerConfig::latent_width`].
    fn latent_width(&self) -> Option<usize> {
        None
    }

    /// As [`LearnerConfig::network_inputs`].
    fn network_inputs(&self) -> Option<usize> {
        None
    }
}

/// Makes [`LearnerConfig`], [`AnyLearner`] and [`LEARNERS`] from one table.
///
/// An entry is `Variant(config: Settings) => Learner { "kind": "help" => settings; .. }`. The first name is
/// the key in configuration files; further ones stand for other settings of the same kind.
macro_rules! learners {
    (@settings) => {
        ()
    };
    (@settings $config:ident) => {
        $config
    };
    ($(
        $variant:ident $(($config:ident: $settings:ty))? => $learner:ty {
            $kind:literal: $about:literal => $default:expr;
            $($name:literal: $help:literal => $preset:expr;)*
        }
    )*) => {
        /// Settings of any learner; the key in a configuration file names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum LearnerConfig {
            $(
                #[doc = concat!("`", $kind, "`: ", $about, ".")]
                #[serde(rename = $kind)]
                $variant $(($settings))?,
            )*
        }

        /// All learners by name, from the table that makes [`LearnerConfig`] and [`AnyLearner`].
        pub const LEARNERS: &[LearnerEntry] = &[
            $(
                LearnerEntry { name: $kind, about: $about, config: || $default },
                $(LearnerEntry { name: $name, about: $help, config: || $preset },)*
            )*
        ];

        /// A learner of any kind.
        #[derive(burn::module::Module, Debug)]
        #[allow(clippy::large_enum_variant)] // one per model: boxing would buy nothing
        pub enum AnyLearner {
            $(
                #[doc = concat!("`", $kind, "`: ", $about, ".")]
                $variant($learner),
            )*
        }

        impl LearnerConfig {
            /// The key that names the learner in a configuration file.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)*
                }
            }

            /// The learner for the given data, with weights drawn from `key`.
            ///
            /// # Errors
            /// If a setting is out of range, or does not fit the data.
            pub fn init(
                &self,
                data: &GraphInput,
                shape: &Shape,
                key: Key,
                device: &Device,
            ) -> Result<AnyLearner> {
                Ok(match self {
                    $(
                        Self::$variant $(($config))? => AnyLearner::$variant(
                            learners!(@settings $($config)?)
                                .init_for(data, shape, key, device)?,
                        ),
                    )*
                })
            }

            /// Whether the learner will look at class probabilities of a teacher.
            pub fn wants_probabilities(&self) -> bool {
                match self {
                    $(
                        Self::$variant $(($config))? => {
                            learners!(@settings $($config)?).wants_probabilities()
                        }
                    )*
                }
            }

            /// Whether the learner has layers of its own and leaves the network out.
            pub fn replaces_network(&self) -> bool {
                match self {
                    $(
                        Self::$variant $(($config))? => {
                            learners!(@settings $($config)?).replaces_network()
                        }
                    )*
                }
            }

            /// Whether the network is trained on the given graph, or on random parts of it.
            pub fn keeps_given_edges(&self) -> bool {
                match self {
                    $(
                        Self::$variant $(($config))? => {
                            learners!(@settings $($config)?).keeps_given_edges()
                        }
                    )*
                }
            }

            /// Width of the latent features that the network is given in place of the features, if the
            /// learner hands them on in [`drive`](GraphLearner::drive).
            pub fn network_inputs(&self) -> Option<usize> {
                match self {
                    $(
                        Self::$variant $(($config))? => {
                            learners!(@settings $($config)?).network_inputs()
                        }
                    )*
                }
            }

            /// Width of the latent features that the learner hands on with its graph, if it does.
            pub fn latent_width(&self) -> Option<usize> {
                match self {
                    $(
                        Self::$variant $(($config))? => {
                            learners!(@settings $($config)?).latent_width()
                        }
                    )*
                }
            }
        }

        impl AnyLearner {
            fn inner(&self) -> &dyn GraphLearner {
                match self {
                    $(Self::$variant(learner) => learner,)*
                }
            }

            fn fitted(
                self,
                input: &crate::graph::GraphInput,
                labels: &crate::graph::Labels,
                key: Key,
            ) -> Result<Self> {
                Ok(match self {
                    $(Self::$variant(learner) => {
                        Self::$variant(learner.fit(input, labels, key)?)
                    })*
                })
            }

            fn begun(self, trained: &Self) -> Self {
                match (self, trained) {
                    $((Self::$variant(fresh), Self::$variant(trained)) => {
                        Self::$variant(fresh.start_of(trained))
                    })*
                    (fresh, _) => fresh,
                }
            }

            fn chosen(self, alternative: usize) -> Self {
                match self {
                    $(Self::$variant(learner) => Self::$variant(learner.choose(alternative)),)*
                }
            }

            fn projected(self) -> Self {
                match self {
                    $(Self::$variant(learner) => Self::$variant(learner.project()),)*
                }
            }
        }
    };
}

impl LearnerConfig {
    /// The settings of a learner of [`LEARNERS`].
    ///
    /// # Errors
    /// If there is none of that name; says which is nearest.
    pub fn named(name: &str) -> Result<Self> {
        let entry = LEARNERS.iter().find(|entry| entry.name == name);
        let names = || LEARNERS.iter().map(|entry| entry.name);
        entry.map(|entry| (entry.config)()).ok_or_else(|| Error::unknown("learner", name, names()))
    }
}

impl GraphLearner for AnyLearner {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        self.inner().learn(input, pass)
    }

    fn sample(&self, input: &GraphInput, pass: Pass, samples: usize) -> Result<Vec<LearnedGraph>> {
        self.inner().sample(input, pass, samples)
    }

    fn fit(self, input: &GraphInput, labels: &Labels, key: Key) -> Result<Self> {
        self.fitted(input, labels, key)
    }

    fn start_of(self, trained: &Self) -> Self {
        self.begun(trained)
    }

    fn alternatives(&self) -> &'static [&'static str] {
        self.inner().alternatives()
    }

    fn choose(self, alternative: usize) -> Self {
        self.chosen(alternative)
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        self.inner().prepare(input)
    }

    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        self.inner().drive(input, network, pass, draws)
    }

    fn rests(&self, at: Progress) -> bool {
        self.inner().rests(at)
    }

    fn drive_on(
        &self,
        graph: &LearnedGraph,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        self.inner().drive_on(graph, input, network, pass, draws)
    }

    fn evaluation_draws(&self) -> usize {
        self.inner().evaluation_draws()
    }

    fn stage(&self, at: Progress) -> Stage {
        self.inner().stage(at)
    }

    fn outer(&self) -> Option<Outer> {
        self.inner().outer()
    }

    fn project(self) -> Self {
        self.projected()
    }

    fn is_rewarded(&self) -> bool {
        self.inner().is_rewarded()
    }

    fn keeps_given_edges(&self) -> bool {
        self.inner().keeps_given_edges()
    }

    fn hands_on(&self) -> bool {
        self.inner().hands_on()
    }

    fn wants_probabilities(&self) -> bool {
        self.inner().wants_probabilities()
    }

    fn wants_extras(&self) -> bool {
        self.inner().wants_extras()
    }

    fn candidate_rule(&self) -> Option<&CandidateRule> {
        self.inner().candidate_rule()
    }

    fn pair_scores(
        &self,
        learned: &LearnedGraph,
        pairs: &Csr,
        input: &GraphInput,
    ) -> Result<Option<Tensor<1>>> {
        self.inner().pair_scores(learned, pairs, input)
    }

    fn scored_pairs<'a>(&self, learned: &'a LearnedGraph) -> Option<&'a Csr> {
        self.inner().scored_pairs(learned)
    }
}
