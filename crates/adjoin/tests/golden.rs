//! Operations, convolutions, losses and the generator against vectors made with PyTorch.

mod common;

#[path = "common/file.rs"]
mod file;

#[path = "golden/convolutions.rs"]
mod convolutions;
#[path = "golden/generator.rs"]
mod generator;
#[path = "golden/losses.rs"]
mod losses;
#[path = "golden/operations.rs"]
mod operations;
