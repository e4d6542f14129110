//! What is known of pairs and nodes beside the features: scores and sizes see it, and sizes may be none.

mod common;

#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, CandidateRule, Candidates, Csr, Dgg, DggConfig, Error, Features, GraphInput,
    GraphLearner, Key, LearnedGraph, Metric, Pass, Prepared, SelfLoops,
    conv::{Conv, EdgeConvConfig},
    dgg::{
        DegreeConfig, DegreeRule, EncoderConfig, ExtrasConfig, InformedConfig, SampleConfig,
        ScorerConfig,
    },
    graph::{DENSITY_WIDTHS, Extras, Spacing, density_extras},
    ops,
};
use burn::tensor::{Tensor, TensorData};
use common::*;
use model::{check_module, moved, widened};

const NODES: usize = 9;
const INPUTS: usize = 3;
const WIDTHS: [usize; 2] = [2, 4];

fn config(rule: DegreeRule) -> DggConfig {
    DggConfig {
        candidates: CandidateRule::Nearest { k: 4, metric: Metric::Euclidean },
        encoder: EncoderConfig { width: 6, dropout: 0.0, ..EncoderConfig::default() },
        degree: DegreeConfig { rule, width: 4, ..DegreeConfig::default() },
        scorer: ScorerConfig { initial_scale: -1.0, ..ScorerConfig::default() },
        extras: Some(ExtrasConfig { width: 5, offset: 1.0, weights: vec![-2.0], widths: None }),
        ..DggConfig::default()
    }
}

fn generator(config: &DggConfig) -> Dgg {
    let config = config.clone().with_inputs(INPUTS).with_extras(WIDTHS);
    config.init(Key::new(8), &device()).unwrap()
}

/// Everybody with everybody else of two graphs, and random extras.
fn world() -> (Batch, Csr, Extras) {
    let batch = Batch::of_sizes([6, 3]);
    let pairs = Candidates::Complete(batch.clone()).to_pairs(1000).unwrap();
    let extras = Extras {
        nodes: tensor(&normals(3, NODES * WIDTHS[0]), [NODES, WIDTHS[0]]),
        pairs: tensor(&normals(4, pairs.edges() * WIDTHS[1]), [pairs.edges(), WIDTHS[1]]),
    };
    (batch, pairs, extras)
}

fn learn(dgg: &Dgg, x: Tensor<2>, pass: Pass) -> adjoin::Result<LearnedGraph> {
    let (batch, pairs, extras) = world();
    let (candidates, extras) = (Some(Candidates::Pairs(pairs)), Some(extras));
    let prepared = Prepared { candidates, extras, ..Prepared::default() };
    let features = Features::from(x);
    dgg.learn(&GraphInput::new(&features, None, &batch).with_prepared(&prepared), pass)
}

fn features() -> Tensor<2> {
    tensor(&normals(1, NODES * INPUTS), [NODES, INPUTS])
}

#[test]
fn gradients_reach_the_term_and_the_sizes() {
    for rule in [DegreeRule::Expected, DegreeRule::OrNone(2.5), DegreeRule::Sum] {
        let dgg = moved(generator(&config(rule)));
        let outcome = |dgg: &Dgg, x: Tensor<2>| {
            let learned = learn(dgg, x, Pass::train(5, 6)).unwrap();
            let dense = learned.adjacency.to_dense().unwrap().reshape([NODES * NODES]);
            Tensor::cat(vec![dense, learned.degrees.unwrap()], 0)
        };
        let name = format!("{rule:?}");
        check_module(&name, &dgg, &features(), outcome);
        let grads = (outcome(&dgg, features()) * tensor(&normals(2, 90), [90])).sum().backward();
        let term = dgg.extras.as_ref().unwrap();
        let output = term.output.as_ref().unwrap();
        for weight in [&term.linear.weight, &output.weight] {
            let grad = weight.val().grad(&grads).map(|grad| values(&grad)).unwrap();
            assert!(grad.iter().all(|g| g.abs() > 1e-12), "{name}: {grad:?}");
        }
        let mean = dgg.degree.mean.as_ref().unwrap().weight.val();
        assert_eq!(mean.dims(), [6 + WIDTHS[0], 4], "degrees see the extras of nodes");
    }
}

#[test]
fn the_term_starts_where_the_settings_say_and_multiplies_scores() {
    let with = widened(generator(&config(DegreeRule::Expected)));
    let without = DggConfig { extras: None, ..config(DegreeRule::Fixed(2.0)) };
    let without = widened(without.with_inputs(INPUTS).init(Key::new(8), &device()).unwrap());
    let scores = |dgg: &Dgg| {
        let learned = learn(dgg, features(), Pass::evaluate()).unwrap();
        values(&learned.scores.unwrap().log_scores)
    };
    let (_, _, extras) = world();
    let first = values(&extras.pairs).chunks_exact(WIDTHS[1]).map(|f| f[0]).collect::<Vec<f64>>();
    let expected = first
        .iter()
        .zip(scores(&without))
        .map(|(f, score)| score - (1.0 + (-(1.0 - 2.0 * f)).exp()).ln());
    assert_close(&scores(&with), &expected.collect::<Vec<f64>>(), 1e-9);
    // The number of neighbours to expect, and no more.
    let still = DggConfig {
        sample: SampleConfig { noise: 0.0, ..SampleConfig::default() },
        ..config(DegreeRule::Expected)
    };
    let learned = learn(&widened(generator(&still)), features(), Pass::evaluate()).unwrap();
    let (_, pairs, _) = world();
    let mass = ops::segment_sum(&pairs, &learned.scores.unwrap().log_scores.exp()).unwrap();
    assert_close(&values(&learned.degrees.unwrap()), &values(&mass), 1e-9);
}

#[test]
fn sizes_reach_zero() {
    let mut dgg = widened(generator(&config(DegreeRule::OrNone(3.0))));
    let start = learn(&dgg, features(), Pass::evaluate()).unwrap();
    assert_close(&values(&start.degrees.unwrap()), &[3.0; NODES], 1e-12);
    let decoder = dgg.degree.decoder.as_mut().unwrap();
    decoder.bias = decoder.bias.take().map(|bias| bias.map(|bias| bias - 20.0));
    let none = learn(&dgg, features(), Pass::evaluate()).unwrap();
    assert!(values(none.adjacency.weights()).iter().all(|weight| *weight < 1e-3));
    assert!(values(&none.degrees.unwrap()).iter().all(|k| (*k + 4.0).abs() < 1e-6));
}

/// A square of points on a grid, and one far from all of them.
fn square_and_outlier() -> (Tensor<2>, Batch, Csr) {
    let mut places: Vec<f64> =
        (0..49).flat_map(|n| [(n % 7) as f64 * 0.1, (n / 7) as f64 * 0.1, 0.0]).collect();
    places.extend([0.3, 0.3, 0.9]);
    let (x, batch) = (tensor(&places, [50, 3]), Batch::single(50));
    let rule = CandidateRule::Nearest { k: 20, metric: Metric::Euclidean };
    let pairs = ops::candidates(&rule, None, Some(&x), &batch).unwrap().to_pairs(5000).unwrap();
    (x, batch, pairs)
}

#[test]
fn density_sees_outliers() {
    let (x, batch, pairs) = square_and_outlier();
    let spacing = Spacing::of(&x, &pairs, 8, &batch).unwrap();
    let logs = spacing.logs();
    let most = logs[..49].iter().copied().fold(f64::MIN, f64::max);
    assert!(logs[49] > 1.0 && most < 0.7, "{} {most}", logs[49]);
    let extras = density_extras(&spacing, &logs, &pairs, &x).unwrap();
    assert_eq!([extras.nodes.dims()[1], extras.pairs.dims()[1]], DENSITY_WIDTHS);
    // A steep share of the distance: the outlier has no neighbours, the others some, and none of them it.
    let config = DggConfig {
        extras: Some(ExtrasConfig { width: 8, offset: 4.0, weights: vec![-8.0], widths: None }),
        sample: SampleConfig { noise: 0.0, ..SampleConfig::default() },
        scorer: ScorerConfig { initial_scale: -6.0, ..ScorerConfig::default() },
        ..config(DegreeRule::Expected)
    };
    let config = config.with_inputs(3).with_extras(DENSITY_WIDTHS);
    let dgg = widened(config.init(Key::new(1), &device()).unwrap());
    let prepared = Prepared {
        candidates: Some(Candidates::Pairs(pairs)),
        extras: Some(extras),
        ..Prepared::default()
    };
    let features = Features::from(x);
    let input = GraphInput::new(&features, None, &batch);
    let learned = dgg.learn(&input.with_prepared(&prepared), Pass::evaluate()).unwrap();
    let k = values(learned.degrees.as_ref().unwrap());
    assert!(k[49] < 0.1 && k[..49].iter().all(|k| *k > 2.0), "{k:?}");
    // Inner points have more within reach than corners.
    assert!(k[24] > k[0] + 1.0, "{} {}", k[24], k[0]);
    let dense = learned.adjacency.to_dense().unwrap();
    let weights = values(&dense);
    assert!((0..50).all(|j| weights[49 * 50 + j] < 1e-2), "the outlier looks at nobody");
    assert!((0..49).all(|i| weights[i * 50 + 49] < 1e-3), "and nobody at it");
}

#[test]
fn points_at_one_place_and_points_alone_have_numbers() {
    let x = Tensor::<2>::zeros([4, 3], &device());
    let batch = Batch::of_sizes([3, 1]);
    let pairs = Candidates::Complete(batch.clone()).to_pairs(100).unwrap();
    let spacing = Spacing::of(&x, &pairs, 2, &batch).unwrap();
    let extras = density_extras(&spacing, &spacing.logs(), &pairs, &x).unwrap();
    for tensor in [extras.nodes, extras.pairs] {
        assert!(values(&tensor).iter().all(|value| value.is_finite()));
    }
    assert!(matches!(Spacing::of(&x, &pairs, 0, &batch), Err(Error::Setting { .. })));
}

/// A point that the graph leaves alone keeps its own feature, `leaky(bn([0, x_i] W))`.
#[test]
fn a_layer_without_neighbours_gives_the_point_itself() {
    let layer = widened(EdgeConvConfig::new(3, 4).init(Key::new(2), &device()).unwrap());
    let x = tensor(&normals(5, 15), [5, 3]).require_grad();
    let graph = Csr::from_edges(5, 5, [(0, 1), (1, 0), (2, 0)], SelfLoops::Drop).unwrap();
    let weights = tensor(&[0.9, 0.4, 1e-9], [3]).require_grad();
    let graph = Adjacency::new(graph, weights.clone()).unwrap().with_self_loops().unwrap();
    let alone = Adjacency::unweighted(Csr::identity(5), (&device(), x.dtype()));
    let run = |graph: &Adjacency| {
        layer.forward(&Features::from(x.clone()), graph, Pass::evaluate()).unwrap()
    };
    let (with, own) = (run(&graph), run(&alone));
    let rows = |tensor: &Tensor<2>, row: usize| values(tensor)[4 * row..4 * row + 4].to_vec();
    for row in [2, 3, 4] {
        assert_close(&rows(&with, row), &rows(&own, row), 1e-9);
    }
    assert_ne!(rows(&with, 0), rows(&own, 0));
    let grads = with.sum().backward();
    let of_x = values(&x.grad(&grads).unwrap());
    assert!(of_x.iter().chain(&values(&weights.grad(&grads).unwrap())).all(|g| g.is_finite()));
    assert!(of_x[9..].iter().any(|g| g.abs() > 1e-6), "the lone point is learned from");
}

#[test]
fn what_does_not_fit_is_refused() {
    let dgg = generator(&config(DegreeRule::Expected));
    let (batch, pairs, extras) = world();
    let x = Features::from(Tensor::<2>::zeros([NODES, INPUTS], &device()));
    let input = GraphInput::new(&x, None, &batch);
    let run = |extras: Option<Extras>| {
        let candidates = Some(Candidates::Pairs(pairs.clone()));
        let prepared = Prepared { candidates, extras, ..Prepared::default() };
        dgg.learn(&input.with_prepared(&prepared), Pass::evaluate()).unwrap_err()
    };
    assert!(matches!(run(None), Error::Setting { name: "extras", .. }));
    let few = Tensor::<2>::from_data(TensorData::new(vec![0.0f32; 8], [2, 4]), &device());
    assert!(matches!(run(Some(Extras { pairs: few, ..extras.clone() })), Error::Shape { .. }));
    let narrow = Tensor::<2>::zeros([pairs.edges(), 3], &device());
    assert!(matches!(run(Some(Extras { pairs: narrow, ..extras })), Error::Shape { .. }));
    let init = |change: &dyn Fn(&mut DggConfig)| {
        let mut config = config(DegreeRule::Expected).with_inputs(INPUTS).with_extras(WIDTHS);
        change(&mut config);
        config.init(Key::new(1), &device()).map(|_| ()).unwrap_err().to_string()
    };
    let weights = |weights: Vec<f64>| {
        init(&|config| config.extras.as_mut().unwrap().weights = weights.clone())
    };
    assert!(weights(vec![0.0; 5]).contains("no more entries"));
    assert!(weights(vec![f64::NAN]).contains("finite"));
    assert!(init(&|config| config.extras.as_mut().unwrap().widths = None).contains("with_extras"));
    assert!(init(&|config| config.candidates = CandidateRule::Complete).contains("complete"));
    assert!(init(&|config| config.degree.rule = DegreeRule::OrNone(0.0)).contains("more than 0"));
    let informed = init(&|config| {
        config.informed = Some(InformedConfig::default());
        config.degree.rule = DegreeRule::Evidence;
    });
    assert!(informed.contains("informed"), "{informed}");
}

#[test]
fn frames_without_pairs_have_no_neighbours() {
    let dgg = generator(&config(DegreeRule::Expected));
    let (x, batch) =
        (Features::from(Tensor::<2>::zeros([3, INPUTS], &device())), Batch::of_sizes([1, 1, 1]));
    let zeros = |rows, width| Tensor::<2>::zeros([rows, width], &device());
    let prepared = Prepared {
        candidates: Some(Candidates::Pairs(Csr::empty(3, 3))),
        extras: Some(Extras { nodes: zeros(3, 2), pairs: zeros(0, 4) }),
        ..Prepared::default()
    };
    let input = GraphInput::new(&x, None, &batch);
    let learned = dgg.learn(&input.with_prepared(&prepared), Pass::evaluate()).unwrap();
    assert_eq!(learned.adjacency.topology().edges(), 0);
    assert!(values(&learned.degrees.unwrap()).iter().all(|k| k.is_finite()));
}
