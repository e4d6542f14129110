//! The differentiable graph generator: encode, score, perturb, estimate degrees, select.
//!
//! | file | equation |
//! |---|---|
//! | [`augment`](Augment) | edges added to the input graph |
//! | [`encoder`](Encoder) | `x^ = act(x W + b)` |
//! | [`scorer`](Scorer) | `p_ij`, with message passing between edges |
//! | `deep` | the same with more layers, and on complete candidates |
//! | [`informed`](Informed) | `p_ij` from evidence and the scorer |
//! | [`extras`](PairTerm) | `p_ij` times a share from what is known of the pair |
//! | [`agreement`](Agreement) | scores raised by class probabilities that agree |
//! | `sample` | `e_ij` from `log p_ij + s g_ij` |
//! | [`degree`](DegreeEstimator) | `k_i = D(z_i) + |e_i|_1` |
//! | `kernels::selector` | `a_ij = e_ij h(rank_ij; k_i)` |
//! | `generator` | all of it |

mod agreement;
mod augment;
mod config;
mod deep;
mod degree;
mod extras;
mod generator;
mod informed;
mod merge;
mod sample;
mod scorer;

pub use crate::nn::{Encoder, EncoderConfig};
pub use agreement::Agreement;
pub use augment::Augment;
pub use config::{DggConfig, Normalise, SelectorConfig, SelfLoopRule};
pub use deep::MessageReading;
pub use degree::{DegreeConfig, DegreeEstimator, DegreeRule, InputDegrees};
pub use extras::{ExtrasConfig, PairTerm};
pub use generator::Dgg;
pub use informed::{Informed, InformedConfig};
pub use merge::{Merge, MergeRule};
pub use sample::{SampleConfig, SampleForm};
pub use scorer::{EdgeFeatures, Score, Scorer, ScorerConfig};
