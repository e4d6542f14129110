//! Gradients in f64 against central differences: operations, layers, losses, the generator.

mod common;

#[path = "common/model.rs"]
mod model;

#[path = "gradients/generator.rs"]
mod generator;
#[path = "gradients/layers.rs"]
mod layers;
#[path = "gradients/operations.rs"]
mod operations;
