//! An MLP that sees no edges, distilled from a network that does.

use super::NodeData;
use crate::Result;
use adjoin::{
    Adjacency, Csr, Features, Key, Pass,
    conv::{Backbone, BackboneConfig, BackboneKind, Conv},
};
use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams, decay::WeightDecayConfig},
    tensor::{Device, Tensor, activation::log_softmax},
};

const WIDTH: usize = 64;
const EPOCHS: usize = 200;
const RATE: f64 = 0.01;
const DECAY: f32 = 5e-4;

/// Class probabilities of nodes from their own features: an MLP with one hidden layer.
///
/// A network that sees the graph predicts of two neighbours what they have in common, so its probabilities say
/// little about the edge between them. One that has never seen an edge is a second opinion.
#[derive(Module, Debug)]
pub struct DistilledMlp {
    /// On a graph without edges a GCN is an MLP.
    network: Backbone,
}

impl DistilledMlp {
    /// With weights drawn from `key`.
    pub(super) fn new(inputs: usize, classes: usize, key: Key, device: &Device) -> Result<Self> {
        let base = BackboneConfig::of_kind(BackboneKind::Gcn);
        let config = BackboneConfig { hidden: WIDTH, ..base }.with_widths(inputs, classes);
        Ok(Self { network: config.init(key, device)? })
    }

    /// Learns the class probabilities of a teacher, `[nodes, classes]`, by the cross-entropy
    /// `-mean_i <t_i, log p_i>` with Adam. Labels are not looked at. `seen` is told of every epoch, and of how
    /// many.
    pub(super) fn distilled(
        mut self,
        data: &NodeData,
        probabilities: &Tensor<2>,
        seed: u64,
        seen: &dyn Fn(usize, usize),
    ) -> Result<Self> {
        let decay = Some(WeightDecayConfig::new(DECAY));
        let mut adam = AdamConfig::new().with_epsilon(1e-8).with_weight_decay(decay).init();
        for epoch in 0..EPOCHS {
            let pass = Pass::train(seed, epoch as u64).child(0x57d);
            let logits = self.logits(&data.features, pass)?;
            let taught = log_softmax(logits, 1) * probabilities.clone();
            let loss = taught.sum_dim(1).mean().neg();
            let mut grads = loss.backward();
            let grads = GradientsParams::from_module(&mut grads, &self.network);
            self.network = adam.step(RATE, self.network, grads);
            seen(epoch + 1, EPOCHS);
        }
        Ok(self)
    }

    /// Logits `[nodes, classes]`.
    pub(super) fn logits(&self, features: &Features, pass: Pass) -> Result<Tensor<2>> {
        let nodes = features.nodes();
        let alone = Adjacency::unweighted(Csr::empty(nodes, nodes), &features.device());
        Ok(self.network.forward(features, &alone, pass)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{FeatureConfig, Scaling, Teacher},
        *,
    };
    use adjoin_data::{GeneratorConfig, citation_like};
    use burn::tensor::{TensorData, activation::softmax};

    #[test]
    fn it_predicts_what_it_was_taught_and_looks_at_no_edges() {
        let generator = GeneratorConfig { nodes: 120, features: 60, ..Default::default() };
        let mut dataset = citation_like(&generator).unwrap();
        let (device, classes) = (Device::flex(), dataset.classes());
        let scaling = Scaling::fit(&FeatureConfig::default(), &dataset, &[]).unwrap();
        let data = NodeData::new(&dataset, &scaling, &device).unwrap();
        let class = |node: usize| dataset.label(node as u32).unwrap() as usize;
        let sure = |at: usize| if class(at / classes) == at % classes { 0.9f32 } else { 0.1 };
        let taught = (0..120 * classes).map(sure).collect();
        let taught = Tensor::from_data(TensorData::new(taught, [120, classes]), &device);
        let taught = taught.clone() / taught.sum_dim(1);
        let key = Key::new(7);
        let fresh = DistilledMlp::new(60, classes, key, &device.clone().autodiff()).unwrap();
        let right = |mlp: &DistilledMlp| {
            let logits = mlp.valid().logits(&data.features, Pass::evaluate()).unwrap();
            let same = softmax(logits, 1).argmax(1).equal(taught.clone().argmax(1));
            same.into_data().iter::<bool>().filter(|&same| same).count()
        };
        let before = right(&fresh);
        let mlp = fresh.distilled(&data, &taught, 1, &|_, _| ()).unwrap();
        assert!(right(&mlp) > 100 && before < 80, "{before} -> {}", right(&mlp));

        let probabilities =
            |data: &NodeData| Teacher::Distilled(mlp.clone()).probabilities(data, 0.0).unwrap();
        let seen = probabilities(&data).into_data();
        dataset.edges.clear();
        let alone = NodeData::new(&dataset, &scaling, &device).unwrap();
        assert_eq!(seen, probabilities(&alone).into_data());
    }
}
