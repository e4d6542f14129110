//! The generator in the table of learners.

use super::{Shape, table::Settings};
use crate::{
    Result,
    dgg::{Dgg, DggConfig},
    graph::GraphInput,
    kernels::random::Key,
};
use burn::tensor::Device;

impl Settings for DggConfig {
    type Learner = Dgg;

    fn init_for(
        &self,
        _data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Dgg> {
        let config = self.clone().with_inputs(shape.features).with_classes(shape.classes);
        config.with_extras(shape.extras).init(key, device)
    }

    fn wants_probabilities(&self) -> bool {
        self.agreement
    }

    fn network_inputs(&self) -> Option<usize> {
        self.hand_on.then_some(self.encoder.width)
    }

    fn latent_width(&self) -> Option<usize> {
        Some(self.encoder.width)
    }
}
