//! EdgeConv with edge weights, and pooling after a batch norm, against their definitions.

mod common;

use adjoin::{
    Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, Pass,
    conv::EdgeWeighting,
    kernels::selector::Step,
    learner::DilatedConfig,
    ops::{self, NormStatistics},
};
use burn::tensor::Tensor;
use common::*;

const SLOPE: f64 = 0.2;
const EPS: f64 = 1e-5;
const FORMS: [EdgeWeighting; 2] = [EdgeWeighting::Scaled, EdgeWeighting::Shifted];

struct Inputs {
    topology: Csr,
    width: usize,
    /// p, q, weights, statistics, scale and shift.
    values: [Vec<f64>; 6],
}

fn inputs(rows: usize, columns: usize, degree: usize, width: usize) -> Inputs {
    let topology = graph(1, rows, columns, degree);
    let key = adjoin::Key::new(9);
    let weights = (0..topology.edges() as u64).map(|n| 0.1 + 0.9 * key.uniform(n)).collect();
    let mut statistics = normals(5, 2 * width);
    statistics[width..].iter_mut().for_each(|v| *v = v.abs() + 0.2);
    let values = [
        normals(1, columns * width),
        normals(2, rows * width),
        weights,
        statistics,
        normals(3, width),
        normals(4, width),
    ];
    Inputs { topology, width, values }
}

impl Inputs {
    fn run(&self, form: EdgeWeighting, t: &[Tensor<1>]) -> Tensor<2> {
        let (rows, columns) = (self.topology.rows(), self.topology.columns());
        let (p, q) =
            (t[0].clone().reshape([columns, self.width]), t[1].clone().reshape([rows, self.width]));
        let statistics = t[3].clone().reshape([2, self.width]);
        let (topology, weights) = (&self.topology, &t[2]);
        let y = ops::edgeconv_weighted(
            topology,
            weights,
            form,
            &p,
            &q,
            &statistics,
            &t[4],
            &t[5],
            SLOPE,
            EPS,
        );
        y.unwrap()
    }

    /// Every message by itself, then the rectifier, then the maximum.
    fn naive(&self, form: EdgeWeighting) -> Vec<f64> {
        let [p, q, weights, statistics, scale, shift] = &self.values;
        let mut out = vec![0.0; self.topology.rows() * self.width];
        for i in 0..self.topology.rows() {
            for c in 0..self.width {
                let value = |entry: usize| {
                    let j = self.topology.indices()[entry] as usize;
                    let message = p[j * self.width + c] + q[i * self.width + c];
                    let normal =
                        (message - statistics[c]) / (statistics[self.width + c] + EPS).sqrt();
                    let z = normal * scale[c] + shift[c];
                    let leaky = |z: f64| if z > 0.0 { z } else { SLOPE * z };
                    match form {
                        EdgeWeighting::Scaled => weights[entry] * leaky(z),
                        EdgeWeighting::Shifted => leaky(z + weights[entry].ln()),
                    }
                };
                let values = self.topology.range(i).map(value);
                out[i * self.width + c] = values.reduce(f64::max).unwrap_or(0.0);
            }
        }
        out
    }
}

#[test]
fn forward_equals_the_layer_on_all_messages() {
    for (rows, columns, width) in [(23, 23, 5), (31, 31, 64), (12, 20, 43)] {
        let inputs = inputs(rows, columns, 4, width);
        for form in FORMS {
            let expected = inputs.naive(form);
            let double = inputs.values.each_ref().map(|v| tensor(v, [v.len()]));
            assert_close(&values(&inputs.run(form, &double)), &expected, 1e-11);
            let single = inputs.values.each_ref().map(|v| tensor32(v, [v.len()]));
            assert_close(&values(&inputs.run(form, &single)), &expected, 5e-5);
        }
    }
}

#[test]
fn gradients_equal_central_differences() {
    for (rows, columns, width) in [(8, 8, 3), (6, 9, 9)] {
        let inputs = inputs(rows, columns, 3, width);
        for form in FORMS {
            gradcheck(&inputs.values, |t| inputs.run(form, t).reshape([rows * width]));
        }
    }
}

/// What the generator needs: the samples (which neighbours) and the degree (how many) both learn.
#[test]
fn the_choice_and_the_size_of_a_neighbourhood_receive_gradients() {
    let (nodes, width) = (7, 4);
    let inputs = inputs(nodes, nodes, 6, width);
    let pairs = inputs.topology.clone();
    let samples: Vec<f64> = inputs.values[2].clone();
    let degrees: Vec<f64> = (0..nodes).map(|n| 1.3 + 0.37 * n as f64).collect();
    let step = Step { lambda: 1.0, shift: 0.5, hard: false };
    for form in FORMS {
        let layer = |e: &Tensor<1>, k: &Tensor<1>| {
            let (graph, _) = selected(ops::select(&pairs, e, k, step));
            let chosen =
                Inputs { topology: graph.topology().clone(), width, values: inputs.values.clone() };
            let mut t = inputs.values.each_ref().map(|v| tensor(v, [v.len()]));
            t[2] = graph.weights().clone();
            chosen.run(form, &t).reshape([nodes * width])
        };
        gradcheck(&[samples.clone(), degrees.clone()], |t| layer(&t[0], &t[1]));
        let e = tensor(&samples, [samples.len()]).require_grad();
        let k = tensor(&degrees, [nodes]).require_grad();
        let grads = layer(&e, &k).sum().backward();
        for leaf in [&e, &k] {
            let grad = values(&leaf.grad(&grads).unwrap());
            assert!(grad.iter().any(|g| g.abs() > 1e-3), "{form:?}: {grad:?}");
        }
    }
}

#[test]
fn weights_of_one_change_nothing_and_of_nothing_take_an_edge_out() {
    let mut inputs = inputs(40, 40, 5, 33);
    inputs.values[2].fill(1.0);
    let t = inputs.values.each_ref().map(|v| tensor(v, [v.len()]));
    let (p, q) = (t[0].clone().reshape([40, 33]), t[1].clone().reshape([40, 33]));
    let m = ops::edgeconv_extremes(&inputs.topology, &p, &q, &t[4]).unwrap();
    let statistics = t[3].clone().reshape([2, 33]);
    let plain =
        ops::edgeconv_normalise(&inputs.topology, &m, &statistics, &t[4], &t[5], SLOPE, EPS);
    let plain = values(&plain.unwrap());
    for form in FORMS {
        assert_close(&values(&inputs.run(form, &t)), &plain, 1e-12);
    }
    // A far too good neighbour of weight 0 does not win, and a row of weight 0 stays a number.
    let topology = Csr::new(2, vec![0, 2, 3], vec![0, 1, 1]).unwrap();
    let vector = |v: &[f64]| tensor(v, [v.len()]);
    let (p, q) = (tensor(&[1.0, 9.0], [2, 1]), tensor(&[0.0, 0.0], [2, 1]));
    let statistics = tensor(&[0.0, 1.0], [2, 1]);
    let y = ops::edgeconv_weighted(
        &topology,
        &vector(&[0.5, 0.0, 0.0]),
        EdgeWeighting::Shifted,
        &p,
        &q,
        &statistics,
        &vector(&[1.0]),
        &vector(&[0.0]),
        SLOPE,
        0.0,
    );
    let y = values(&y.unwrap());
    assert!((y[0] - (1.0 + 0.5f64.ln())).abs() < 1e-12 && y[1].is_finite(), "{y:?}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let inputs = inputs(3000, 3000, 10, 40);
    let clouds = Batch::of_sizes([900, 0, 1500, 600]);
    same_bits_on_any_threads(|| {
        let t = inputs.values.each_ref().map(|v| tensor32(v, [v.len()]).require_grad());
        let y = inputs.run(EdgeWeighting::Shifted, &t);
        let statistics = ops::column_statistics(&y).unwrap();
        let statistics = NormStatistics::Batch(&statistics);
        let pooled = ops::norm_pool(&y, &clouds, statistics, &t[4], &t[5], SLOPE, EPS).unwrap();
        let grads = (pooled.clone() * pooled.clone()).sum_dim(1).sum().backward();
        let mut all = values(&pooled);
        all.extend(t.iter().flat_map(|leaf| values(&leaf.grad(&grads).unwrap())));
        all
    });
}

#[test]
fn matrix_products_pass_gradients_to_both_sides() {
    for (rows, depth, columns) in [(7, 3, 5), (4, 6, 2)] {
        gradcheck(&[normals(1, rows * depth), normals(2, depth * columns)], |t| {
            let (a, b) =
                (t[0].clone().reshape([rows, depth]), t[1].clone().reshape([depth, columns]));
            ops::matmul(&a, &b).unwrap().reshape([rows * columns])
        });
    }
    let (a, b) = (tensor(&[0.0; 6], [3, 2]), tensor(&[0.0; 6], [3, 2]));
    assert!(matches!(ops::matmul(&a, &b), Err(Error::Shape { .. })));
}

fn pooled(x: &[f64], sizes: &[usize], [scale, shift]: [&[f64]; 2]) -> Vec<f64> {
    let width = scale.len();
    let rows = x.len() / width;
    let mut out = vec![0.0; sizes.len() * 2 * width];
    for c in 0..width {
        let column: Vec<f64> = (0..rows).map(|row| x[row * width + c]).collect();
        let mean = column.iter().sum::<f64>() / rows as f64;
        let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64;
        let y = column.iter().map(|v| {
            let z = (v - mean) / (variance + EPS).sqrt() * scale[c] + shift[c];
            if z > 0.0 { z } else { SLOPE * z }
        });
        let y: Vec<f64> = y.collect();
        let mut first = 0;
        for (graph, &size) in sizes.iter().enumerate() {
            let part = &y[first..first + size];
            first += size;
            if size > 0 {
                out[graph * 2 * width + c] = part.iter().copied().fold(f64::MIN, f64::max);
                out[graph * 2 * width + width + c] = part.iter().sum::<f64>() / size as f64;
            }
        }
    }
    out
}

#[test]
fn norm_and_pool_equal_their_definition_and_differences() {
    for (sizes, width) in [(vec![5, 3], 3), (vec![4, 0, 1, 600], 17)] {
        let clouds = Batch::of_sizes(sizes.iter().copied());
        let rows = clouds.nodes();
        let (x, scale, shift) = (normals(1, rows * width), normals(2, width), normals(3, width));
        let expected = pooled(&x, &sizes, [&scale, &shift]);
        let run = |t: &[Tensor<1>]| {
            let x = t[0].clone().reshape([rows, width]);
            let statistics = ops::column_statistics(&x).unwrap();
            let statistics = NormStatistics::Batch(&statistics);
            ops::norm_pool(&x, &clouds, statistics, &t[1], &t[2], SLOPE, EPS).unwrap()
        };
        let all = [x.clone(), scale.clone(), shift.clone()];
        let double = all.each_ref().map(|v| tensor(v, [v.len()]));
        assert_close(&values(&run(&double)), &expected, 1e-11);
        if rows > 100 {
            continue;
        }
        gradcheck(&all, |t| run(t).reshape([sizes.len() * 2 * width]));
        let given: Vec<f64> = normals(8, 2 * width).iter().map(|v| v.abs() + 0.1).collect();
        gradcheck(&[x, scale, shift, given], |t| {
            let (x, s) = (t[0].clone().reshape([rows, width]), t[3].clone().reshape([2, width]));
            let statistics = NormStatistics::Given(&s);
            let y = ops::norm_pool(&x, &clouds, statistics, &t[1], &t[2], SLOPE, EPS).unwrap();
            y.reshape([sizes.len() * 2 * width])
        });
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = tensor(&[0.0; 6], [3, 2]);
    let (v, wrong) = (tensor(&[0.0; 2], [2]), tensor(&[0.0; 3], [3]));
    let statistics = ops::column_statistics(&x).unwrap();
    let (fits, other) = (Batch::single(3), Batch::single(4));
    let given = NormStatistics::Given(&statistics);
    let pool = |batch: &Batch, scale: &Tensor<1>, slope: f64| {
        ops::norm_pool(&x, batch, given, scale, &v, slope, EPS)
    };
    assert!(pool(&fits, &v, SLOPE).is_ok());
    assert!(matches!(pool(&other, &v, SLOPE), Err(Error::Shape { .. })));
    assert!(matches!(pool(&fits, &wrong, SLOPE), Err(Error::Shape { .. })));
    assert!(matches!(pool(&fits, &v, -1.0), Err(Error::Setting { .. })));
    let wrong = NormStatistics::Given(&x);
    assert!(ops::norm_pool(&x, &fits, wrong, &v, &v, SLOPE, EPS).is_err());
    for config in [
        DilatedConfig { k: 0, ..DilatedConfig::default() },
        DilatedConfig { dilation: 0, ..DilatedConfig::default() },
        DilatedConfig { stochastic: 1.5, ..DilatedConfig::default() },
    ] {
        assert!(
            matches!(config.init(Key::new(1), &device()), Err(Error::Setting { .. })),
            "{config:?}"
        );
    }
}

/// An edge of weight 0 learns what it would change if it were whole.
#[test]
fn shifted_edges_of_weight_zero_get_the_slope_of_the_chord() {
    let mut inputs = inputs(12, 12, 4, 5);
    let off: Vec<usize> = (0..inputs.topology.edges()).filter(|n| n % 3 != 0).collect();
    off.iter().for_each(|&at| inputs.values[2][at] = 0.0);
    let leaves = |values: &[Vec<f64>; 6]| -> Vec<Tensor<1>> {
        values.iter().map(|v| tensor(v, [v.len()]).require_grad()).collect()
    };
    let mix = tensor(&normals(8, 60), [12, 5]);
    let loss = |t: &[Tensor<1>]| (inputs.run(EdgeWeighting::Shifted, t) * mix.clone()).sum();
    let tracked = leaves(&inputs.values);
    let grad = values(&tracked[2].grad(&loss(&tracked).backward()).unwrap());
    let still = loss(&leaves(&inputs.values)).into_scalar::<f64>();
    let mut reached = 0;
    for &at in &off {
        let mut whole = inputs.values.clone();
        whole[2][at] = 1.0;
        let expected = loss(&leaves(&whole)).into_scalar::<f64>() - still;
        assert!((grad[at] - expected).abs() < 1e-9, "{at}: {} {expected}", grad[at]);
        reached += usize::from(expected != 0.0);
    }
    assert!(reached > off.len() / 2, "{reached} of {}", off.len());
}

/// Points on a line, at their own number: neighbours can be told by hand.
fn line(points: usize) -> Features {
    let positions: Vec<f64> = (0..points).map(|n| (n * n) as f64).collect();
    Features::from(tensor(&positions, [points, 1]))
}

#[test]
fn dilated_neighbours_are_every_so_manieth_of_the_nearest() {
    let learn = |config: DilatedConfig, points: usize, pass: Pass| {
        let (x, batch) = (line(points), Batch::single(points));
        let graph = config
            .init(Key::new(1), &device())
            .unwrap()
            .learn(&GraphInput::new(&x, None, &batch), pass);
        graph.unwrap().adjacency
    };
    let config = |k, dilation, stochastic| DilatedConfig { k, dilation, stochastic };
    // From 0 the order is 0, 1, 2, ...; with dilation 2 it is 0, 2, 4.
    let plain = learn(config(3, 1, 0.0), 8, Pass::evaluate());
    assert!(plain.is_uniform());
    assert_eq!(plain.topology().row(0), [0, 1, 2]);
    assert_eq!(learn(config(3, 2, 0.0), 8, Pass::evaluate()).topology().row(0), [0, 2, 4]);
    // Too few points: the dilation that fits, then all points.
    assert_eq!(learn(config(3, 9, 0.0), 8, Pass::evaluate()).topology().row(0), [0, 2, 4]);
    assert_eq!(learn(config(5, 9, 0.0), 3, Pass::evaluate()).topology().row(0), [0, 1, 2]);
    // Random ranks in training only, the same for all points, and of the 2 * 3 nearest.
    let sometimes: Vec<_> = (0..40)
        .map(|step| learn(config(3, 2, 0.5), 8, Pass::train(1, step)).topology().row(0).to_vec())
        .collect();
    let regular = sometimes.iter().filter(|row| **row == [0, 2, 4]).count();
    assert!((8..=34).contains(&regular), "{regular}");
    assert!(sometimes.iter().all(|row| row.len() == 3 && row.iter().all(|&j| j < 6)));
    let random = learn(config(3, 2, 1.0), 8, Pass::evaluate());
    assert_eq!(random.topology().row(0), [0, 2, 4]);
}
