//! Social-STGCNN against PyTorch: `golden/social_stgcnn.py` runs it scene by scene, here all scenes are
//! one batch.

use crate::file::{Golden, path};
use adjoin::{Adjacency, Candidates, Pass};
use adjoin_data::trajectory::Scene;
use adjoin_lab::tasks::trajectory::{
    SceneBatch, SocialStgcnn, SocialStgcnnConfig, kernel_graph, load_published,
    negative_log_likelihood,
};
use burn::{
    module::Param,
    tensor::{DType, Device, Gradients, Tensor, TensorData},
};

const NETWORK: &str = "social_stgcnn";

fn batch(golden: &Golden) -> SceneBatch {
    let mut places = golden.get("positions").chunks_exact(2).map(|p| [p[0] as f32, p[1] as f32]);
    let scene = |&size: &f64| Scene {
        name: "golden".into(),
        agents: (0..size as i64).collect(),
        steps: 20,
        positions: places.by_ref().take(20 * size as usize).collect(),
        distractors: vec![],
    };
    let scenes: Vec<Scene> = golden.get("sizes").iter().map(scene).collect();
    let scenes: Vec<&Scene> = scenes.iter().collect();
    SceneBatch::of_type(&scenes, [8, 12], (&Device::flex(), DType::F64)).unwrap()
}

fn network() -> SocialStgcnn {
    let device = Device::flex().autodiff();
    let network =
        SocialStgcnnConfig::default().init([8, 12], None, adjoin::Key::new(1), &device).unwrap();
    load_published(&network, &path(NETWORK)).unwrap()
}

fn check_gradients(golden: &Golden, case: &str, network: &SocialStgcnn, grads: &Gradients) {
    fn one<const D: usize>(
        (golden, case, grads): (&Golden, &str, &Gradients),
        name: &str,
        param: &Param<Tensor<D>>,
    ) {
        golden.check(&format!("{case}.grad.{name}"), &param.val().grad(grads).unwrap());
    }
    let at = (golden, case, grads);
    for (prefix, linear) in
        [("st_gcns.0.gcn.conv", &network.spatial), ("st_gcns.0.residual.0", &network.residual)]
    {
        let weight = linear.weight.val().grad(grads).unwrap().transpose();
        golden.check(&format!("{case}.grad.{prefix}.weight"), &weight);
        one(at, &format!("{prefix}.bias"), linear.bias.as_ref().unwrap());
    }
    for (prefix, norm) in [
        ("st_gcns.0.tcn.0", &network.spatial_norm),
        ("st_gcns.0.tcn.3", &network.temporal_norm),
        ("st_gcns.0.residual.1", &network.residual_norm),
    ] {
        one(at, &format!("{prefix}.weight"), &norm.scale);
        one(at, &format!("{prefix}.bias"), &norm.shift);
    }
    one(at, "st_gcns.0.tcn.1.weight", &network.spatial_slope);
    one(at, "st_gcns.0.tcn.2.weight", &network.temporal);
    one(at, "st_gcns.0.tcn.2.bias", &network.temporal_bias);
    one(at, "st_gcns.0.prelu.weight", &network.slope);
    for (n, (layer, slope)) in network.extrapolators.iter().zip(&network.slopes).enumerate() {
        one(at, &format!("tpcnns.{n}.weight"), &layer.kernel);
        one(at, &format!("tpcnns.{n}.bias"), &layer.bias);
        one(at, &format!("prelus.{n}.weight"), slope);
    }
    one(at, "tpcnn_ouput.weight", &network.output.kernel);
    one(at, "tpcnn_ouput.bias", &network.output.bias);
}

fn check_training(golden: &Golden, case: &str, batch: &SceneBatch, graph: &Adjacency) -> Gradients {
    let network = network();
    let out = network.forward(batch, graph, Pass::train(1, 1)).unwrap();
    golden.check(&format!("{case}.out"), &out);
    let losses = negative_log_likelihood(&out, &batch.targets);
    let loss = (losses * batch.shares.clone()).sum();
    golden.check(&format!("{case}.loss"), &loss);
    let grads = loss.backward();
    check_gradients(golden, case, &network, &grads);
    grads
}

#[test]
fn the_published_graph_in_training() {
    let golden = Golden::load(NETWORK);
    let batch = batch(&golden);
    check_training(&golden, "kernel", &batch, &kernel_graph(&batch).unwrap());
}

#[test]
fn a_given_graph_receives_gradients() {
    let golden = Golden::load(NETWORK);
    let batch = batch(&golden);
    let pairs = Candidates::Complete(batch.frames.clone()).to_pairs(usize::MAX).unwrap();
    let data = TensorData::new(golden.get("given.weights").to_vec(), [pairs.edges()]);
    let options = (&Device::flex().autodiff(), DType::F64);
    let weights = Tensor::<1>::from_data(data, options).require_grad();
    let graph = Adjacency::new(pairs, weights.clone()).unwrap();
    let grads = check_training(&golden, "given", &batch, &graph);
    golden.check("given.grad.weights", &weights.grad(&grads).unwrap());
}

#[test]
fn evaluation_with_running_statistics() {
    let golden = Golden::load(NETWORK);
    let batch = batch(&golden);
    let graph = kernel_graph(&batch).unwrap();
    golden.check("eval.out", &network().forward(&batch, &graph, Pass::evaluate()).unwrap());
}
