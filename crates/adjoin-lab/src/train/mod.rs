//! Training: the loop, its optimisers, and what is kept of it between epochs.

pub mod checkpoint;

mod ema;
mod optimiser;
mod resume;
mod seeds;
mod timing;
mod trainer;

pub(crate) use ema::copied;
pub use resume::History;
pub(crate) use resume::{Shelf, file_of, train};
pub(crate) use seeds::side_by_side;
pub use timing::{StepTime, median_milliseconds, step_time};
pub use trainer::{Best, EpochRecord, Trainer, Visible};
