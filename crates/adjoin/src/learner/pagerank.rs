//! A fixed graph of the nodes that random walks visit most.

use super::{Shape, prepared_or, table::Settings};
use crate::{
    Result,
    graph::{GraphInput, PageRankConfig, Prepared},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    pass::Pass,
};
use burn::{module::Module, tensor::Device};

impl PageRankConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, _key: Key, _device: &Device) -> Result<PageRank> {
        self.check()?;
        Ok(PageRank { config: self.clone() })
    }
}

/// Joins every node to those of highest personalised PageRank, with weights `weight * pi_ij`, or
/// `weight * pi_ij sqrt(d_i / d_j)` when symmetric
/// (graph diffusion, Gasteiger et al., 2019); nothing is learned.
#[derive(Module, Debug)]
pub struct PageRank {
    #[module(skip)]
    config: PageRankConfig,
}

impl GraphLearner for PageRank {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        prepared_or(input, || self.config.build(input))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared { graph: Some(self.config.build(input)?), ..Prepared::default() })
    }
}

impl Settings for PageRankConfig {
    type Learner = PageRank;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<PageRank> {
        self.init(key, device)
    }
}
