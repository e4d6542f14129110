//! A fixed graph of nearest neighbours.

use super::{Shape, prepared_or, table::Settings};
use crate::{
    Result,
    graph::{GraphInput, KnnConfig, Prepared},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    pass::Pass,
};
use burn::{module::Module, tensor::Device};

impl KnnConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// If `k` is 0.
    pub fn init(&self, _key: Key, _device: &Device) -> Result<Knn> {
        self.check()?;
        Ok(Knn { config: self.clone() })
    }
}

/// Joins every node to its nearest neighbours; nothing is learned.
#[derive(Module, Debug)]
pub struct Knn {
    #[module(skip)]
    config: KnnConfig,
}

impl GraphLearner for Knn {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        prepared_or(input, || self.config.build(input))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared { graph: Some(self.config.build(input)?), ..Prepared::default() })
    }
}

impl Settings for KnnConfig {
    type Learner = Knn;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Knn> {
        self.init(key, device)
    }
}
