//! DGM: its law, its randomness, and the loss it learns from.

mod common;

#[path = "common/model.rs"]
mod model;

use adjoin::{
    Batch, Csr, EdgeScores, Error, Features, GraphInput, GraphLearner, Key, LearnedGraph, Pass,
    dgg::EncoderConfig,
    learner::{Dgm, DgmConfig},
    loss::{Baseline, reinforce},
};
use burn::tensor::Tensor;
use common::*;

const INPUTS: usize = 3;

fn config(k: usize) -> DgmConfig {
    let encoder = EncoderConfig { width: 4, dropout: 0.0, ..EncoderConfig::default() };
    DgmConfig { k, encoder, log_scale: 0.3, ..DgmConfig::default() }
}

fn dgm(config: &DgmConfig) -> Dgm {
    model::moved(config.clone().with_inputs(INPUTS).init(Key::new(8), &device()).unwrap())
}

fn features(nodes: usize) -> Tensor<2> {
    tensor(&normals(5, nodes * INPUTS), [nodes, INPUTS])
}

fn learn(dgm: &Dgm, x: &Tensor<2>, batch: &Batch, pass: Pass) -> LearnedGraph {
    dgm.learn(&GraphInput::new(&x.clone().into(), None, batch), pass).unwrap()
}

fn scores(learned: &LearnedGraph) -> &EdgeScores {
    learned.scores.as_ref().unwrap()
}

/// `log p` of all pairs of one graph, the node itself included, by the definition.
fn dense(dgm: &Dgm, learned: &LearnedGraph) -> Vec<Vec<f64>> {
    let latent = learned.latent.as_ref().unwrap();
    let ([nodes, width], h) = (latent.dims(), values(latent));
    let scale = values(&dgm.log_scale.val())[0].clamp(-5.0, 5.0).exp();
    let square = |i: usize, j: usize| -> f64 {
        (0..width).map(|c| (h[i * width + c] - h[j * width + c]).powi(2)).sum()
    };
    (0..nodes).map(|i| (0..nodes).map(|j| -scale * square(i, j)).collect()).collect()
}

#[test]
fn without_noise_the_nearest_are_chosen_and_oneself_first() {
    let (x, batch, k) = (features(30), Batch::single(30), 4);
    let dgm = dgm(&config(k));
    let learned = learn(&dgm, &x, &batch, Pass::evaluate());
    for (i, row) in dense(&dgm, &learned).into_iter().enumerate() {
        let mut order: Vec<u32> = (0..30).collect();
        order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
        assert_eq!(order[0], i as u32);
        order.truncate(k);
        order.sort_unstable();
        assert_eq!(learned.adjacency.topology().row(i), order);
    }
    assert!(values(learned.adjacency.weights()).iter().all(|&w| w == 1.0));
    assert!(learned.adjacency.is_uniform());
    let EdgeScores { pairs, log_scores } = scores(&learned);
    assert_eq!(pairs, learned.adjacency.topology());
    let dense = dense(&dgm, &learned);
    let expected: Vec<f64> = pairs.iter().map(|(i, j)| dense[i as usize][j as usize]).collect();
    assert_close(&values(log_scores), &expected, 1e-12);
}

#[test]
fn one_neighbour_follows_the_softmax_law_if_noise_is_added() {
    let (nodes, draws) = (6, 20_000);
    let (x, batch) = (features(nodes), Batch::single(nodes));
    for subtract_noise in [false, true] {
        let dgm = dgm(&DgmConfig { subtract_noise, ..config(1) });
        let (x, input) = (Features::from(x.clone()), |x| GraphInput::new(x, None, &batch));
        let graphs = dgm.sample(&input(&x), Pass::sample(1, 2), draws).unwrap();
        let law = dense(&dgm, &graphs[0]);
        let mut worst = 0.0f64;
        for (i, row) in law.iter().enumerate() {
            let total: f64 = row.iter().map(|l| l.exp()).sum();
            let mut counts = vec![0; nodes];
            graphs.iter().for_each(|g| counts[g.adjacency.topology().row(i)[0] as usize] += 1);
            for (count, log_p) in counts.into_iter().zip(row) {
                let chance = log_p.exp() / total;
                let error = (chance * (1.0 - chance) / draws as f64).sqrt();
                worst = worst.max((count as f64 / draws as f64 - chance).abs() / error);
            }
        }
        // Standard errors: 36 numbers stay within 4.5 if the law is right.
        assert_eq!(worst < 4.5, !subtract_noise, "{worst}");
    }
}

#[test]
fn a_batch_equals_its_parts_and_small_graphs_are_complete() {
    let batch = Batch::of_sizes([7, 1, 0, 2, 12]);
    let dgm = dgm(&config(3));
    let x = features(batch.nodes());
    let whole = learn(&dgm, &x, &batch, Pass::evaluate());
    let parts = whole.adjacency.topology().split(&batch).unwrap();
    for (range, part) in batch.ranges().zip(parts).filter(|(range, _)| !range.is_empty()) {
        let alone = Batch::single(range.len());
        let learned = learn(&dgm, &x.clone().slice(range.clone()), &alone, Pass::evaluate());
        assert_eq!(&part, learned.adjacency.topology());
        assert!((0..range.len()).all(|i| part.degree(i) == range.len().min(3)));
    }
    let drawn = learn(&dgm, &x, &batch, Pass::train(1, 1));
    assert!(drawn.adjacency.topology().split(&batch).is_ok());
}

#[test]
fn draws_repeat_differ_and_do_not_depend_on_threads() {
    let (x, batch) = (features(90), Batch::of_sizes([60, 30]));
    let dgm = dgm(&config(5));
    let edges = |pass| learn(&dgm, &x, &batch, pass).adjacency.topology().clone();
    assert_eq!(edges(Pass::train(1, 4)), edges(Pass::train(1, 4)));
    assert_ne!(edges(Pass::train(1, 4)), edges(Pass::train(1, 5)));
    assert_ne!(edges(Pass::sample(1, 4)), edges(Pass::evaluate()));
    same_bits_on_any_threads(|| {
        let learned = learn(&dgm, &x, &batch, Pass::train(1, 4));
        let EdgeScores { pairs, log_scores } = scores(&learned);
        let advantages = normals(3, 90);
        let nodes: Vec<u32> = (0..90).collect();
        let loss = reinforce(scores(&learned), &nodes, &advantages).unwrap();
        let grads = model::gradients(&dgm, &loss.backward());
        let edges = pairs.indices().iter().map(|&j| f64::from(j));
        edges.chain(values(log_scores)).chain(grads.into_iter().flatten()).collect()
    });
}

#[test]
fn the_reinforce_loss_is_its_formula_and_reaches_the_learner() {
    let (x, batch) = (features(12), Batch::single(12));
    let dgm = dgm(&config(3));
    let nodes = [1u32, 4, 5, 9];
    let advantages = [0.5, -0.25, 1.0, -0.75];
    let learned = learn(&dgm, &x, &batch, Pass::train(2, 3));
    let EdgeScores { pairs, log_scores } = scores(&learned);
    let p: Vec<f64> = values(log_scores).iter().map(|l| l.exp()).collect();
    let mean = |i: u32| pairs.range(i as usize).map(|at| p[at]).sum::<f64>() / 3.0;
    let expected: f64 = nodes.iter().zip(advantages).map(|(&i, a)| -a * mean(i) / 4.0).sum();
    let loss = reinforce(scores(&learned), &nodes, &advantages).unwrap();
    assert_close(&values(&loss), &[expected], 1e-12);

    // The choice is a step function, so small differences leave it as it is. Features stay: what
    // reaches the encoder is detached.
    let leaf = x.clone().require_grad();
    let grads = model::check_module("dgm", &dgm, &x, |dgm, _| {
        let learned = learn(dgm, &x, &batch, Pass::train(2, 3));
        reinforce(scores(&learned), &nodes, &advantages).unwrap()
    });
    assert!(grads.iter().all(|grad| grad.iter().any(|g| g.abs() > 1e-6)), "{grads:?}");

    // No gradient to the features, none through the graph.
    let learned = learn(&dgm, &leaf, &batch, Pass::train(2, 3));
    let loss = reinforce(scores(&learned), &nodes, &advantages).unwrap();
    assert!(leaf.grad(&loss.backward()).is_none());
    let message = learned.adjacency.aggregate(&leaf).unwrap().square().sum().backward();
    assert!(model::gradients(&dgm, &message).iter().flatten().all(|&g| g == 0.0));
}

#[test]
fn gradients_of_log_scores_are_those_of_differences() {
    let pairs = Csr::new(4, vec![0, 2, 2, 3, 5], vec![0, 2, 1, 0, 3]).unwrap();
    gradcheck(&[normals(1, 5)], |t| {
        let scores = EdgeScores { pairs: pairs.clone(), log_scores: t[0].clone() };
        reinforce(&scores, &[0, 3, 2], &[0.7, -0.4, 0.2]).unwrap()
    });
}

#[test]
fn baselines_follow_rewards() {
    let mut own = Baseline::per_node(2);
    assert_close(&own.advantages(&[1.0, 0.0]).unwrap(), &[0.5, -0.5], 1e-15);
    assert_close(own.means(), &[0.525, 0.475], 1e-15);
    assert_close(&own.advantages(&[1.0, 1.0]).unwrap(), &[0.475, 0.525], 1e-15);
    assert!(matches!(own.advantages(&[1.0]), Err(Error::Shape { .. })));
    let mut shared = Baseline::shared();
    assert_close(&shared.advantages(&[-1.0, -3.0, -2.0]).unwrap(), &[-1.5, -3.5, -2.5], 1e-15);
    assert_close(shared.means(), &[0.375], 1e-15);
}

#[test]
fn what_is_out_of_range_is_named() {
    let refused =
        |config: DgmConfig| match config.clone().with_inputs(3).init(Key::new(1), &device()) {
            Err(Error::Setting { name, .. }) => name,
            other => panic!("{:?}", other.map(|_| ())),
        };
    assert_eq!(refused(config(0)), "k");
    assert_eq!(refused(config(1 << 40)), "k");
    let encoder = |width, dropout| EncoderConfig { width, dropout, ..EncoderConfig::default() };
    assert_eq!(refused(DgmConfig { encoder: encoder(0, 0.0), ..config(2) }), "encoder.width");
    assert_eq!(refused(DgmConfig { encoder: encoder(2, 1.0), ..config(2) }), "encoder.dropout");
    assert_eq!(refused(DgmConfig { log_scale: f64::NAN, ..config(2) }), "log_scale");

    let (batch, dgm) = (Batch::single(4), dgm(&config(2)));
    let scores = scores(&learn(&dgm, &features(4), &batch, Pass::evaluate())).clone();
    assert!(matches!(reinforce(&scores, &[0, 1], &[0.1]), Err(Error::Shape { .. })));
    let missing = reinforce(&scores, &[0, 4], &[0.1, 0.2]);
    assert!(matches!(missing, Err(Error::NodeOutOfRange { row: 4, .. })));
    let gcn =
        DgmConfig { encoder: EncoderConfig { propagation: 1, ..encoder(4, 0.0) }, ..config(2) };
    let gcn = gcn.clone().with_inputs(3).init(Key::new(1), &device()).unwrap();
    let input = Features::from(tensor32(&normals(1, 12), [4, 3]));
    let result = gcn.learn(&GraphInput::new(&input, None, &batch), Pass::evaluate());
    assert!(matches!(result, Err(Error::NoInputGraph(_))));
    let nan = Features::from(tensor(&[f64::NAN; 12], [4, 3]));
    let result = dgm.learn(&GraphInput::new(&nan, None, &batch), Pass::evaluate());
    assert!(matches!(result, Err(Error::NotFinite { .. })));
}
