//! Complete candidates as a stream, against the dense formulas.

use adjoin::{
    Batch, Csr, Error,
    kernels::random::{Key, PairNoise},
    ops::{StreamScorer, extend_top, log_mass, log_mass_and_top, top_candidates},
};
use burn::tensor::{DType, Device, Tensor, TensorData};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Distance,
    SquaredDistance,
    Dot,
    Cosine,
    Mlp,
}

const KINDS: [Kind; 5] =
    [Kind::Distance, Kind::SquaredDistance, Kind::Dot, Kind::Cosine, Kind::Mlp];

/// Inputs of a scorer as plain numbers.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    width: usize,
    inputs: Vec<Vec<f64>>,
}

fn normal(len: usize, stream: u64) -> Vec<f64> {
    let key = Key::new(11).child(stream);
    (0..len as u64).map(|n| 0.7 * key.normal(n)).collect()
}

impl Case {
    fn new(kind: Kind, nodes: usize, width: usize) -> Self {
        let features = |stream| normal(nodes * width, stream);
        let inputs = match kind {
            Kind::Distance | Kind::SquaredDistance => vec![features(0), vec![1.3]],
            Kind::Dot | Kind::Cosine => vec![features(0)],
            Kind::Mlp => vec![features(0), features(1), normal(width, 2), vec![0.3]],
        };
        Self { kind, width, inputs }
    }

    fn nodes(&self) -> usize {
        self.inputs[0].len() / self.width
    }

    fn tensor<const D: usize>(&self, at: usize, shape: [usize; D], dtype: DType) -> Tensor<D> {
        let data = TensorData::new(self.inputs[at].clone(), shape);
        let device = Device::flex().autodiff();
        Tensor::from_data(data.convert_dtype(dtype), (&device, dtype)).require_grad()
    }

    fn scorer(&self, dtype: DType) -> StreamScorer {
        let matrix = |at| self.tensor(at, [self.nodes(), self.width], dtype);
        let u = matrix(0);
        match self.kind {
            Kind::Distance => StreamScorer::Distance { u, t: self.tensor(1, [1], dtype) },
            Kind::SquaredDistance => {
                StreamScorer::SquaredDistance { u, t: self.tensor(1, [1], dtype) }
            }
            Kind::Dot => StreamScorer::Dot { u },
            Kind::Cosine => StreamScorer::Cosine { u },
            Kind::Mlp => StreamScorer::Mlp {
                a: u,
                b: matrix(1),
                w: self.tensor(2, [self.width], dtype),
                w0: self.tensor(3, [1], dtype),
            },
        }
    }

    fn log_p(&self, i: usize, j: usize) -> f64 {
        let row = |at: usize, i: usize| &self.inputs[at][i * self.width..(i + 1) * self.width];
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
        let log_sigmoid = |z: f64| -(-z).exp().ln_1p();
        let (x, y) = (row(0, i), row(0, j));
        match self.kind {
            Kind::Distance | Kind::SquaredDistance => {
                let square: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
                let squared = matches!(self.kind, Kind::SquaredDistance);
                -self.inputs[1][0] * if squared { square } else { square.sqrt() }
            }
            Kind::Dot => log_sigmoid(dot(x, y) / (self.width as f64).sqrt()),
            Kind::Cosine => {
                let cosine = dot(x, y) / (dot(x, x) * dot(y, y)).sqrt();
                ((1.0 + cosine) / 2.0).max(1e-6).ln()
            }
            Kind::Mlp => {
                let pairs = x.iter().zip(row(1, j)).zip(&self.inputs[2]);
                let leaky = |z: f64| if z > 0.0 { z } else { 0.01 * z };
                log_sigmoid(
                    pairs.map(|((a, b), w)| w * leaky(a + b)).sum::<f64>() + self.inputs[3][0],
                )
            }
        }
    }

    /// l_ij of every pair, row by row, as (column, value).
    fn dense(&self, noise: Option<PairNoise>, batch: &Batch) -> Vec<Vec<(u32, f64)>> {
        let graph_of = batch.graph_of_nodes();
        let value = |i: usize, j: usize| {
            let g = noise.map_or(0.0, |noise| noise.scale * noise.gumbel(i as u32, j as u32));
            self.log_p(i, j) + g
        };
        let row = |i: usize| {
            let others = batch.range(graph_of[i] as usize).filter(|&j| j != i);
            others.map(|j| (j as u32, value(i, j))).collect()
        };
        (0..batch.nodes()).map(row).collect()
    }

    fn dense_mass(&self, noise: Option<PairNoise>, tau: f64, batch: &Batch) -> Vec<f64> {
        let mass = |row: Vec<(u32, f64)>| {
            let peak = row.iter().fold(f64::MIN, |peak, l| peak.max(l.1 / tau));
            let sum: f64 = row.iter().map(|l| (l.1 / tau - peak).exp()).sum();
            if row.is_empty() { f64::MIN } else { peak + sum.ln() }
        };
        self.dense(noise, batch).into_iter().map(mass).collect()
    }

    /// `sum_i weight_i m_i` by the dense formula.
    fn loss(&self, weights: &[f64], noise: Option<PairNoise>, tau: f64, batch: &Batch) -> f64 {
        let mass = self.dense_mass(noise, tau, batch);
        mass.iter().zip(weights).filter(|(m, _)| **m > f64::MIN).map(|(m, w)| m * w).sum()
    }
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().convert_dtype(DType::F64).try_to_vec().expect("f64")
}

fn noise(symmetric: bool) -> Option<PairNoise> {
    Some(PairNoise { key: Key::new(4), scale: 0.8, symmetric })
}

/// Mass, its best candidates, and the gradients of `sum_i weight_i m_i`.
fn run(
    case: &Case,
    dtype: DType,
    noise: Option<PairNoise>,
    tau: f64,
    limit: usize,
    batch: &Batch,
) -> (Vec<f64>, Csr, Vec<Vec<f64>>) {
    run_weighted(case, &weights(case.nodes()), dtype, noise, tau, limit, batch)
}

fn run_weighted(
    case: &Case,
    weights: &[f64],
    dtype: DType,
    noise: Option<PairNoise>,
    tau: f64,
    limit: usize,
    batch: &Batch,
) -> (Vec<f64>, Csr, Vec<Vec<f64>>) {
    let scorer = case.scorer(dtype);
    let (mass, top) = log_mass_and_top(&scorer, noise, tau, limit, batch).expect("valid");
    let weights = TensorData::new(weights.to_vec(), [case.nodes()]).convert_dtype(dtype);
    let weights = Tensor::<1>::from_data(weights, (&Device::flex().autodiff(), dtype));
    // Nodes without candidates hold a huge number that a sum would not survive.
    let finite = mass.clone().greater_elem(-1e30).into_data();
    let kept: Vec<f64> = finite.iter::<bool>().map(f64::from).collect();
    let kept = TensorData::new(kept, [case.nodes()]).convert_dtype(dtype);
    let kept = Tensor::<1>::from_data(kept, (&Device::flex().autodiff(), dtype));
    let grads = (mass.clone() * weights * kept).sum().backward();
    let of = |tensor: &Tensor<2>| values(&tensor.grad(&grads).expect("tracked"));
    let of_vector = |tensor: &Tensor<1>| values(&tensor.grad(&grads).expect("tracked"));
    let grads = match &scorer {
        StreamScorer::Distance { u, t } | StreamScorer::SquaredDistance { u, t } => {
            vec![of(u), of_vector(t)]
        }
        StreamScorer::Dot { u } | StreamScorer::Cosine { u } => vec![of(u)],
        StreamScorer::Mlp { a, b, w, w0 } => vec![of(a), of(b), of_vector(w), of_vector(w0)],
        StreamScorer::Deep(_) => unreachable!("tests of its own: deep_pairs.rs"),
    };
    (values(&mass), top, grads)
}

fn weights(nodes: usize) -> Vec<f64> {
    (0..nodes).map(|i| if i % 5 == 3 { 0.0 } else { 1.0 + (i % 3) as f64 }).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().filter(|e| e.abs() < 1e30).fold(1.0f64, |s, e| s.max(e.abs()));
    for (n, (f, e)) in found.iter().zip(expected).enumerate() {
        let fits = (f - e).abs() <= tolerance * scale || (*f < -1e30 && *e < -1e30);
        assert!(fits, "{what}, element {n}: {f}, expected {e}");
    }
}

#[test]
fn log_mass_is_the_dense_formula() {
    let batch = Batch::of_sizes([30, 1, 0, 600, 2]);
    for kind in KINDS {
        let case = Case::new(kind, batch.nodes(), 19);
        for noise in [None, noise(false), noise(true)] {
            for tau in [1.0, 0.4] {
                let expected = case.dense_mass(noise, tau, &batch);
                for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 3e-6)] {
                    let mass = log_mass(&case.scorer(dtype), noise, tau, &batch).expect("valid");
                    let what = format!("{kind:?}, {noise:?}, tau {tau}, {dtype:?}");
                    assert_close(&what, &values(&mass), &expected, tolerance);
                }
            }
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    let batch = Batch::of_sizes([5, 1, 7]);
    // Most rows with a gradient, and few: two ways through the pairs.
    let few = (0..batch.nodes()).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let settings = [
        (weights(batch.nodes()), noise(false), 0.7),
        (weights(batch.nodes()), noise(true), 1.0),
        (weights(batch.nodes()), None, 1.0),
        (few, noise(false), 0.7),
    ];
    for kind in KINDS {
        let case = Case::new(kind, batch.nodes(), 3);
        for (weights, noise, tau) in &settings {
            let (noise, tau) = (*noise, *tau);
            let (_, _, grads) = run_weighted(&case, weights, DType::F64, noise, tau, 0, &batch);
            for (at, grad) in grads.iter().enumerate() {
                let difference = |n: usize| {
                    let step = 1e-6;
                    let loss = |step: f64| {
                        let mut moved = case.clone();
                        moved.inputs[at][n] += step;
                        moved.loss(weights, noise, tau, &batch)
                    };
                    (loss(step) - loss(-step)) / (2.0 * step)
                };
                let expected: Vec<f64> = (0..grad.len()).map(difference).collect();
                assert_close(&format!("{kind:?}, input {at}"), grad, &expected, 1e-8);
            }
        }
    }
}

/// Many blocks of rows and of columns, and features that are no whole vectors.
#[test]
fn gradients_of_large_graphs_fit_a_directional_difference() {
    let batch = Batch::of_sizes([40, 700, 3]);
    let few: Vec<f64> = (0..batch.nodes()).map(|i| f64::from(u8::from(i % 4 == 0))).collect();
    for weights in [weights(batch.nodes()), few] {
        for kind in KINDS {
            let case = Case::new(kind, batch.nodes(), 21);
            let grads_in =
                |dtype| run_weighted(&case, &weights, dtype, noise(false), 0.9, 0, &batch).2;
            let grads = grads_in(DType::F64);
            for (at, grad) in grads.iter().enumerate() {
                let direction = normal(grad.len(), 50 + at as u64);
                let loss = |step: f64| {
                    let mut moved = case.clone();
                    moved.inputs[at].iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
                    moved.loss(&weights, noise(false), 0.9, &batch)
                };
                let expected = (loss(1e-6) - loss(-1e-6)) / 2e-6;
                let found: f64 = grad.iter().zip(&direction).map(|(g, d)| g * d).sum();
                let size: f64 = grad.iter().zip(&direction).map(|(g, d)| (g * d).abs()).sum();
                let error = (found - expected).abs();
                assert!(error < 1e-6 * size, "{kind:?} {at}: {found}, {expected}");
            }
            for (at, (single, grad)) in grads_in(DType::F32).iter().zip(&grads).enumerate() {
                assert_close(&format!("{kind:?}, input {at} in f32"), single, grad, 1e-4);
            }
        }
    }
}

#[test]
fn identical_nodes_have_no_gradient_between_them() {
    let mut case = Case::new(Kind::Distance, 3, 4);
    let (first, second) = case.inputs[0].split_at_mut(4);
    second[..4].copy_from_slice(first);
    let (mass, _, grads) = run(&case, DType::F64, None, 1.0, 0, &Batch::single(3));
    assert!(mass.iter().chain(grads.iter().flatten()).all(|value| value.is_finite()));
    // What moves the pair from itself is only the third node.
    let apart: Vec<f64> = (0..4).map(|k| case.inputs[0][k] - case.inputs[0][8 + k]).collect();
    let cross: f64 = grads[0][0] * apart[1] - grads[0][1] * apart[0];
    assert!(cross.abs() < 1e-12);
}

#[test]
fn scores_far_below_one_neither_underflow_nor_vanish() {
    let mut case = Case::new(Kind::Distance, 50, 8);
    case.inputs[1][0] = 1e4;
    let batch = Batch::single(50);
    let expected = case.dense_mass(None, 1.0, &batch);
    let (mass, _, grads) = run(&case, DType::F32, None, 1.0, 0, &batch);
    assert_close("mass", &mass, &expected, 1e-5);
    assert!(grads.iter().flatten().all(|value| value.is_finite()));
    assert!(grads[1][0] < -1.0);
}

/// The best of a dense row, as increasing columns.
fn best(mut row: Vec<(u32, f64)>, limit: usize) -> Vec<u32> {
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(limit);
    let mut columns: Vec<u32> = row.into_iter().map(|(column, _)| column).collect();
    columns.sort_unstable();
    columns
}

#[test]
fn top_candidates_are_those_of_sorting() {
    let batch = Batch::of_sizes([700, 1, 40, 2]);
    let limits: Vec<u32> =
        (0..batch.nodes() as u32).map(|i| [0, 1, 5, 64, 300][i as usize % 5]).collect();
    for kind in KINDS {
        let case = Case::new(kind, batch.nodes(), 6);
        for noise in [None, noise(false), noise(true)] {
            let scorer = case.scorer(DType::F64);
            let top = top_candidates(&scorer, noise, &limits, &batch).expect("valid");
            let (_, first) = log_mass_and_top(&scorer, noise, 1.0, 7, &batch).expect("valid");
            let extended = extend_top(&first, 7, &scorer, noise, &limits, &batch).expect("valid");
            for (i, row) in case.dense(noise, &batch).into_iter().enumerate() {
                let limit = limits[i] as usize;
                assert_eq!(top.row(i), best(row.clone(), limit), "{kind:?}, row {i}");
                assert_eq!(first.row(i), best(row.clone(), 7), "{kind:?}, row {i}");
                let more = if limit > 7 { limit } else { 7 };
                assert_eq!(extended.row(i), best(row, more), "{kind:?}, row {i}");
            }
        }
    }
}

#[test]
fn ties_go_to_the_lower_column() {
    let nodes = 600;
    let case = Case { kind: Kind::Dot, width: 1, inputs: vec![vec![1.0; nodes]] };
    for dtype in [DType::F32, DType::F64] {
        let limits = vec![20; nodes];
        let top = top_candidates(&case.scorer(dtype), None, &limits, &Batch::single(nodes));
        let top = top.expect("valid");
        for i in 0..nodes as u32 {
            let expected: Vec<u32> = (0..21).filter(|&j| j != i).take(20).collect();
            assert_eq!(top.row(i as usize), expected);
        }
    }
}

#[test]
fn limits_above_the_number_of_nodes_give_all_of_them() {
    let batch = Batch::of_sizes([9, 3]);
    let case = Case::new(Kind::Distance, 12, 4);
    let scorer = case.scorer(DType::F32);
    let top = top_candidates(&scorer, None, &[u32::MAX; 12], &batch).expect("valid");
    for (i, row) in case.dense(None, &batch).into_iter().enumerate() {
        assert_eq!(top.row(i), best(row, usize::MAX));
    }
    let (_, all) = log_mass_and_top(&scorer, None, 1.0, usize::MAX, &batch).expect("valid");
    assert_eq!(all, top);
    assert_eq!(extend_top(&all, 20, &scorer, None, &[90; 12], &batch).expect("valid"), top);
}

#[test]
fn a_batch_equals_its_parts() {
    let sizes = [40, 1, 130, 0, 600];
    let batch = Batch::of_sizes(sizes);
    for kind in KINDS {
        let case = Case::new(kind, batch.nodes(), 10);
        let (mass, top, grads) = run(&case, DType::F32, None, 0.8, 9, &batch);
        let tops = top.split(&batch).expect("no edge joins two graphs");
        for (range, top) in batch.ranges().zip(tops).filter(|(range, _)| !range.is_empty()) {
            let mut part = case.clone();
            for features in part.inputs.iter_mut().filter(|x| x.len() == case.nodes() * 10) {
                *features = features[range.start * 10..range.end * 10].to_vec();
            }
            let alone = Batch::single(range.len());
            let weights = &weights(case.nodes())[range.clone()];
            let found = run_weighted(&part, weights, DType::F32, None, 0.8, 9, &alone);
            assert_eq!(found.0, mass[range.clone()], "{kind:?}");
            assert_eq!(found.1, top, "{kind:?}");
            for (found, whole) in found.2.iter().zip(&grads) {
                if whole.len() == case.nodes() * 10 {
                    let whole = &whole[range.start * 10..range.end * 10];
                    assert_close(&format!("{kind:?}"), found, whole, 1e-5);
                }
            }
        }
    }
}

#[test]
fn thread_counts_do_not_change_a_bit() {
    let batch = Batch::of_sizes([50, 900, 1]);
    for kind in KINDS {
        let case = Case::new(kind, batch.nodes(), 20);
        let results = [1, 2, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| run(&case, DType::F32, noise(false), 1.0, 16, &batch))
        });
        assert_eq!(results[0], results[1], "{kind:?}");
        assert_eq!(results[0], results[2], "{kind:?}");
    }
}

#[test]
fn nodes_alone_have_the_lowest_mass_no_candidates_and_no_gradient() {
    for kind in KINDS {
        let case = Case::new(kind, 2, 3);
        let (mass, top, grads) =
            run(&case, DType::F64, noise(false), 1.0, 4, &Batch::of_sizes([1, 1]));
        assert_eq!(mass, [f64::MIN; 2]);
        assert_eq!(top.edges(), 0);
        assert!(grads.iter().flatten().all(|&value| value == 0.0));
        let single = case.scorer(DType::F32);
        let mass = log_mass(&single, None, 1.0, &Batch::of_sizes([1, 1])).expect("valid");
        assert_eq!(values(&mass), [f64::from(f32::MIN); 2]);
    }
}

#[test]
fn no_nodes_give_nothing() {
    for kind in KINDS {
        let case = Case::new(kind, 0, 3);
        for batch in [Batch::single(0), Batch::of_sizes([])] {
            let (mass, top) =
                log_mass_and_top(&case.scorer(DType::F32), None, 1.0, 3, &batch).expect("valid");
            assert_eq!((mass.dims(), top.rows(), top.edges()), ([0], 0, 0));
        }
    }
}

#[test]
fn wrong_inputs_are_refused_by_name() {
    let case = Case::new(Kind::Mlp, 6, 3);
    let batch = Batch::single(6);
    let scorer = case.scorer(DType::F32);
    for tau in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            log_mass(&scorer, None, tau, &batch),
            Err(Error::Setting { name: "tau", .. })
        ));
    }
    let loud = Some(PairNoise { key: Key::new(0), scale: f64::NAN, symmetric: false });
    assert!(matches!(log_mass(&scorer, loud, 1.0, &batch), Err(Error::Setting { .. })));
    assert!(matches!(
        log_mass(&scorer, None, 1.0, &Batch::single(7)),
        Err(Error::Shape { what: "pair MLP: a", .. })
    ));
    assert!(matches!(top_candidates(&scorer, None, &[1; 5], &batch), Err(Error::Shape { .. })));
    let first = Csr::empty(6, 6);
    assert!(matches!(
        extend_top(&first, 0, &scorer, None, &[1; 5], &batch),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(
        extend_top(&Csr::empty(5, 5), 0, &scorer, None, &[1; 6], &batch),
        Err(Error::Shape { .. })
    ));
    let mut broken = case.clone();
    broken.inputs[1][7] = f64::NAN;
    let found = log_mass(&broken.scorer(DType::F32), None, 1.0, &batch);
    assert!(matches!(found, Err(Error::NotFinite { what: "pair MLP: b", row: 2, column: 1, .. })));
    let mut negative = Case::new(Kind::Distance, 6, 3);
    negative.inputs[1][0] = -1.0;
    let found = log_mass(&negative.scorer(DType::F32), None, 1.0, &batch);
    assert!(matches!(found, Err(Error::Setting { .. })));
    let featureless = Case { kind: Kind::Dot, width: 0, inputs: vec![vec![]] };
    let u = featureless.tensor(0, [6, 0], DType::F32);
    let found = log_mass(&StreamScorer::Dot { u }, None, 1.0, &batch);
    assert!(matches!(found, Err(Error::Shape { .. })));
}
