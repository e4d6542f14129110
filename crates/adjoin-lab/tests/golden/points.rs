//! DGCNN and ResGCN against PyTorch: `golden/points.py` builds them from their description.

use crate::file::Golden;
use adjoin::{
    Adjacency, Features, GraphInput, GraphLearner, Pass,
    conv::EdgeWeighting,
    kernels::pairs::Similarity,
    nets::{PointNetwork, PointNetworkConfig, PointNetworkKind},
    ops,
};
use adjoin_lab::{
    Result,
    tasks::points::{CloudBatch, smoothed_cross_entropy},
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Device, Gradients, Tensor, TensorData},
};

fn batch(golden: &Golden) -> CloudBatch {
    let places = golden.get("points").chunks_exact(3);
    let places: Vec<[f32; 3]> = places.map(|p| [p[0] as f32, p[1] as f32, p[2] as f32]).collect();
    let clouds = places.chunks_exact(12).map(<[_]>::to_vec);
    CloudBatch::of_points(clouds, (&Device::flex(), DType::F64))
}

/// Puts the weights of a case into a network, or compares the gradients of its weights with the file.
struct Walk<'a> {
    golden: &'a Golden,
    case: &'a str,
    path: Vec<String>,
    grads: Option<&'a Gradients>,
    seen: usize,
}

impl<'a> Walk<'a> {
    fn new(golden: &'a Golden, case: &'a str, grads: Option<&'a Gradients>) -> Self {
        Self { golden, case, path: Vec::new(), grads, seen: 0 }
    }
}

impl ModuleMapper for Walk<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        let values = self.golden.get(&format!("{}.weight.{}", self.case, self.path.join(".")));
        let data = TensorData::new(values.to_vec(), old.dims());
        let tensor = Tensor::<D>::from_data(data, (&old.device(), DType::F64));
        let (id, _, mapper) = param.consume();
        Param::from_mapped_value(id, tensor.set_require_grad(old.is_require_grad()), mapper)
    }

    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
}

impl ModuleVisitor for Walk<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.join(".");
        if name.contains("running") {
            return;
        }
        let grad = param.val().grad(self.grads.unwrap()).unwrap_or_else(|| panic!("{name}"));
        self.golden.check(&format!("{}.grad.{name}", self.case), &grad);
        self.seen += 1;
    }

    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
}

/// The nearest neighbours of the network; with weights exp(-|x_i - x_j|^2) if asked.
fn graph(
    network: &PointNetwork,
    batch: &CloudBatch,
    weighted: bool,
    layer: usize,
    x: &Tensor<2>,
) -> Result<Adjacency> {
    let features = Features::from(x.clone());
    let input = GraphInput::new(&features, None, &batch.clouds);
    let plain = network.neighbours(layer).learn(&input, Pass::evaluate())?.adjacency;
    if !weighted {
        return Ok(plain);
    }
    let distances = ops::pair_similarity(plain.topology(), Similarity::Distance, x)?;
    Ok(Adjacency::new(plain.topology().clone(), distances.square().neg().exp())?)
}

fn check(case: &str, config: PointNetworkConfig, weighted: bool) {
    let golden = Golden::load("points");
    let batch = batch(&golden);
    let fresh = config.init(4, adjoin::Key::new(1), &Device::flex().autodiff()).unwrap();
    let network = fresh.map(&mut Walk::new(&golden, case, None));
    let run = |pass| {
        network.forward(&batch.points, &batch.clouds, pass, |layer, x| {
            graph(&network, &batch, weighted, layer, x)
        })
    };
    golden.check(&format!("{case}.eval"), &run(Pass::evaluate()).unwrap());
    let logits = run(Pass::train(1, 1)).unwrap();
    golden.check(&format!("{case}.train"), &logits);
    let classes: Vec<u32> = golden.get("classes").iter().map(|&class| class as u32).collect();
    let loss = smoothed_cross_entropy(&logits, &classes, 0.2);
    golden.check(&format!("{case}.loss"), &loss);
    let grads = loss.backward();
    let mut walk = Walk::new(&golden, case, Some(&grads));
    network.visit(&mut walk);
    let layers = config.widths.len();
    assert_eq!(walk.seen, 4 * layers + 3 + 2 * 3 + 2, "all weights were compared");
}

fn small() -> PointNetworkConfig {
    PointNetworkConfig {
        widths: vec![5, 6, 9],
        k: 4,
        embedding: 10,
        hidden: vec![8, 6],
        dropout: 0.0,
        ..PointNetworkConfig::dgcnn()
    }
}

#[test]
fn dgcnn() {
    check("dgcnn", small(), false);
}

#[test]
fn dgcnn_with_weights_that_scale_or_shift() {
    for (case, weighting) in
        [("dgcnn_scaled", EdgeWeighting::Scaled), ("dgcnn_shifted", EdgeWeighting::Shifted)]
    {
        check(case, PointNetworkConfig { weighting, ..small() }, true);
    }
}

#[test]
fn resgcn() {
    let config = PointNetworkConfig {
        kind: PointNetworkKind::Resgcn,
        widths: vec![6; 4],
        k: 3,
        slope: 0.0,
        stochastic: 0.0,
        ..small()
    };
    check("resgcn", config, false);
}
