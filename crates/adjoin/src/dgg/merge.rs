//! What becomes of the input graph.

use crate::{Error, Result, graph::Adjacency, kernels::random::Key, nn::Start};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::softplus},
};
use serde::{Deserialize, Serialize};

/// How the learned graph and the input graph are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// The learned graph takes the place of the input graph (the paper).
    #[default]
    Replace,
    /// `A + m A_learned` with `m = softplus(theta)` learned; `theta` starts at the given number, so a
    /// low one starts training from the plain graph.
    Add(f64),
}

impl MergeRule {
    /// The merger, with its mix if it has one; nothing is drawn from `key`.
    ///
    /// # Errors
    /// If the mix would start at a NaN or an infinity.
    pub fn init(&self, key: Key, device: &Device) -> Result<Merge> {
        let Self::Add(theta) = *self else { return Ok(Merge { mix: None }) };
        if !theta.is_finite() {
            let (name, value) = ("merge", theta.to_string());
            return Err(Error::Setting { name, value, expected: "must start at a finite number" });
        }
        let mix = Start::Constant(theta).tensor([1], [1, 1], key, device);
        Ok(Merge { mix: Some(Param::from_tensor(mix)) })
    }
}

/// Joins the learned graph with the input graph.
#[derive(Module, Debug)]
pub struct Merge {
    /// `theta`, `[1]`; none when the input graph is replaced.
    pub mix: Option<Param<Tensor<1>>>,
}

impl Merge {
    /// The graph handed to the network; gradients flow to the learned weights and to the mix.
    ///
    /// # Errors
    /// If there is no input graph to add to, or its size differs.
    pub fn forward(&self, learned: Adjacency, input: Option<&Adjacency>) -> Result<Adjacency> {
        let Some(mix) = &self.mix else { return Ok(learned) };
        let input = input.ok_or(Error::NoInputGraph("merging by addition"))?;
        let mix = softplus(mix.val(), 1.0);
        input.plus(&learned.map_weights(|weights| weights * mix)?)
    }
}
