//! Operations that take plain tensors, and losses.

use crate::common::*;
use adjoin::{
    Adjacency, Csr, Normalisation, Pass, SelfLoops,
    kernels::{pairs::Similarity, selector::Step},
    loss::{TrainingPairs, sparsity},
    ops::{self, PairNetwork},
};
use burn::tensor::{Tensor, activation};

/// Numbers between `low` and `high`.
fn between(seed: u64, count: usize, low: f64, high: f64) -> Vec<f64> {
    let key = adjoin::Key::new(seed);
    (0..count as u64).map(|n| low + (high - low) * key.uniform(n)).collect()
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count: usize = tensor.dims().iter().product();
    tensor.reshape([count])
}

#[test]
fn sparse_products() {
    let topology = graph(1, 7, 9, 3);
    for width in [1, 3, 17] {
        let inputs = [normals(1, topology.edges()), normals(2, 9 * width), normals(3, 7 * width)];
        gradcheck(&inputs[..2], |t| {
            flat(ops::spmm(&topology, &t[0], &t[1].clone().reshape([9, width])).unwrap())
        });
        gradcheck(&inputs, |t| {
            let (x, z) = (t[1].clone().reshape([9, width]), t[2].clone().reshape([7, width]));
            flat(ops::spmm_onto(&topology, &t[0], &x, &z, [0.7, -0.4]).unwrap())
        });
    }
}

#[test]
fn normalisations_pass_gradients_through_the_degrees() {
    let topology = graph(2, 8, 8, 3);
    let weights = between(3, topology.edges(), 0.2, 2.0);
    for normalisation in [Normalisation::Symmetric, Normalisation::Row, Normalisation::None] {
        for loops in [false, true] {
            gradcheck(std::slice::from_ref(&weights), |t| {
                let graph = Adjacency::new(topology.clone(), t[0].clone()).unwrap();
                graph.prepare(normalisation, loops).unwrap().weights().clone()
            });
        }
    }
    // The derivative through the degrees is there: rows of D^-1 A sum to one whatever the weights.
    let leaf = tensor(&weights, [weights.len()]).require_grad();
    let scaled = ops::normalise(&topology, &leaf, Normalisation::Row).unwrap();
    let grad = leaf.grad(&scaled.sum().backward()).unwrap();
    assert_close(&values(&grad), &vec![0.0; weights.len()], 1e-12);
}

#[test]
fn graphs_added_and_made_symmetric() {
    let (a, b) = (graph(4, 7, 7, 2), graph(5, 7, 7, 3));
    let inputs = [normals(1, a.edges()), normals(2, b.edges())];
    gradcheck(&inputs, |t| {
        let first = Adjacency::new(a.clone(), t[0].clone()).unwrap();
        let second = Adjacency::new(b.clone(), t[1].clone()).unwrap();
        flat(first.plus(&second).unwrap().symmetrised().unwrap().to_dense().unwrap())
    });
}

#[test]
fn picked_entries() {
    // Repeated, absent and unused entries.
    let indices = vec![4, 0, ops::ABSENT, 4, 2, 4];
    gradcheck(&[normals(1, 6)], |t| ops::take(&t[0], indices.clone(), 0.5).unwrap());
}

#[test]
fn dropout_with_its_mask_fixed() {
    let pass = || Pass::train(3, 4);
    for count in [5, 1500] {
        let x = tensor(&normals(1, count), [count]).require_grad();
        let y = ops::dropout(&x, 0.4, pass()).unwrap();
        let kept = values(&y).iter().filter(|v| **v != 0.0).count();
        assert!(kept > 0 && kept < count);
        let grad = values(&x.grad(&y.clone().sum().backward()).unwrap());
        for ((x, y), g) in values(&x).iter().zip(values(&y)).zip(grad) {
            assert!(if y == 0.0 { g == 0.0 } else { (y - x * g).abs() < 1e-12 });
            assert!(y == 0.0 || (g - 1.0 / 0.6).abs() < 1e-12);
        }
    }
    gradcheck(&[normals(2, 24)], |t| {
        flat(ops::dropout(&t[0].clone().reshape([4, 6]), 0.4, pass()).unwrap())
    });
}

#[test]
fn a_rectifier_with_dropout_is_one_after_the_other_to_the_bit() {
    for pass in [|| Pass::train(3, 4), Pass::evaluate] {
        for count in [5, 1500, 70_000] {
            let run = |f: &dyn Fn(&Tensor<1>) -> Tensor<1>| {
                let x = tensor32(&normals(1, count), [count]).require_grad();
                let y = f(&x);
                let weighted = y.clone() * tensor32(&normals(2, count), [count]);
                (values(&y), values(&x.grad(&weighted.sum().backward()).unwrap()))
            };
            let together = run(&|x| ops::relu_dropout(x, 0.4, pass()).unwrap());
            let apart = |x: &Tensor<1>| ops::dropout(&activation::relu(x.clone()), 0.4, pass());
            assert_eq!(together, run(&|x| apart(x).unwrap()));
        }
        gradcheck(&[normals(2, 24)], |t| ops::relu_dropout(&t[0], 0.4, pass()).unwrap());
    }
}

#[test]
fn similarities_of_pairs() {
    let pairs = graph(6, 6, 6, 3);
    for similarity in [Similarity::Distance, Similarity::Dot, Similarity::Cosine] {
        for width in [1, 4, 21] {
            // A cosine of numbers (width 1) is a step: nothing to differentiate.
            if similarity == Similarity::Cosine && width == 1 {
                continue;
            }
            // A node with itself has distance 0, where the chosen gradient is 0 on both sides.
            gradcheck(&[normals(7, 6 * width)], |t| {
                let u = t[0].clone().reshape([6, width]);
                ops::pair_similarity(&pairs, similarity, &u).unwrap()
            });
        }
    }
}

#[test]
fn pair_networks_with_and_without_a_scalar() {
    let pairs = graph(8, 6, 6, 3);
    for width in [2, 19] {
        let inputs = [
            normals(1, 6 * width),
            normals(2, 6 * width),
            normals(3, width),
            normals(4, width),
            normals(5, pairs.edges()),
        ];
        for scalar in [false, true] {
            let network = |t: &[Tensor<1>]| PairNetwork {
                receiver: t[0].clone().reshape([6, width]),
                sender: t[1].clone().reshape([6, width]),
                scalar: scalar.then(|| (t[4].clone(), t[3].clone())),
                slope: 0.01,
            };
            gradcheck(&inputs, |t| ops::pair_logits(&pairs, &network(t), &t[2]).unwrap());
            gradcheck(&inputs, |t| flat(ops::pair_embeddings(&pairs, &network(t)).unwrap()));
        }
    }
}

#[test]
fn messages_between_edges_and_self_loops() {
    let loops = graph(9, 7, 7, 3).with_self_loops(SelfLoops::Add);
    let inner = loops.with_self_loops(SelfLoops::Drop);
    let c = normals(1, loops.edges() * 3);
    gradcheck(std::slice::from_ref(&c), |t| {
        flat(ops::edge_messages(&loops, &t[0].clone().reshape([loops.edges(), 3])).unwrap())
    });
    // Self-loops stay out of it: the rest is as if they were not there, and they receive 0.
    let run = |pairs: &Csr, c: &[f64]| {
        values(&ops::edge_messages(pairs, &tensor(c, [pairs.edges(), 3])).unwrap())
    };
    let entries: Vec<usize> =
        inner.iter().map(|(i, j)| loops.find(i as usize, j).unwrap()).collect();
    let pick = |all: &[f64]| -> Vec<f64> {
        entries.iter().flat_map(|&e| all[3 * e..3 * e + 3].to_vec()).collect()
    };
    let all = run(&loops, &c);
    assert_close(&pick(&all), &run(&inner, &pick(&c)), 1e-12);
    for i in 0..7 {
        let own = loops.find(i, i as u32).unwrap();
        assert_eq!(all[3 * own..3 * own + 3], [0.0; 3]);
    }
}

#[test]
fn the_selector_away_from_ties() {
    let candidates = graph(10, 8, 30, 9);
    // Samples that differ by at least 1/60 within a row; degrees between whole numbers.
    let order = adjoin::Key::new(3).permutation(candidates.edges());
    let e: Vec<f64> = order.iter().map(|&n| 0.1 + f64::from(n) / 60.0).collect();
    let k = between(4, 8, 1.2, 6.8);
    for (lambda, shift) in [(1.0, 0.5), (0.5, 0.0), (2.0, 1.0)] {
        let step = Step { lambda, shift, hard: false };
        gradcheck(&[e.clone(), k.clone()], |t| {
            flat(selected(ops::select(&candidates, &t[0], &t[1], step)).0.to_dense().unwrap())
        });
        // The hard form has the gradient of the smooth one, at the same positions.
        let run = |hard| {
            let e = tensor(&e, [e.len()]).require_grad();
            let k = tensor(&k, [8]).require_grad();
            let (graph, entries) =
                selected(ops::select(&candidates, &e, &k, Step { hard, ..step }));
            let mix = tensor(&normals(1, entries.len()), [entries.len()]);
            let grads = (graph.weights().clone() * mix).sum().backward();
            (entries, [&e, &k].map(|leaf| values(&leaf.grad(&grads).unwrap())))
        };
        let (soft, hard) = (run(false), run(true));
        assert_eq!(soft, hard);
        assert!(soft.1[1].iter().filter(|g| **g != 0.0).count() >= 6, "dL/dk vanishes");
    }
}

#[test]
fn losses() {
    let training = [0, 2, 3, 5, 6];
    let pairs = TrainingPairs::new(8, &training, &[0, 1, 0, 1, 2], None).unwrap();
    assert_eq!(pairs.pairs().edges(), 20);
    gradcheck(&[between(1, 20, -3.0, -0.1)], |t| pairs.loss(&t[0]).unwrap());
    let topology = graph(2, 6, 6, 3);
    gradcheck(&[normals(2, topology.edges())], |t| {
        sparsity(&Adjacency::new(topology.clone(), t[0].clone()).unwrap())
    });
}

#[test]
fn elu_is_smooth_enough() {
    let x: Vec<f64> = normals(3, 40).into_iter().filter(|x| x.abs() > 1e-3).collect();
    let expected: Vec<f64> = x.iter().map(|&x| if x > 0.0 { x } else { x.exp_m1() }).collect();
    let y = ops::elu(&tensor::<1>(&x, [x.len()])).unwrap();
    for (y, expected) in values(&y).into_iter().zip(expected) {
        assert!((y - expected).abs() < 1e-12);
    }
    gradcheck(std::slice::from_ref(&x), |t| ops::elu(&t[0]).unwrap());
}

#[test]
fn gates_of_a_recurrent_unit() {
    let (nodes, width) = (3, 4);
    let gates = nodes * 3 * width;
    let inputs = [normals(1, gates), normals(2, gates), normals(3, nodes * width)];
    let run = |t: &[Tensor<1>]| {
        let gates = |at: usize| t[at].clone().reshape([nodes, 3 * width]);
        ops::gru(&gates(0), &gates(1), &t[2].clone().reshape([nodes, width])).unwrap()
    };
    let leaves: Vec<Tensor<1>> = inputs.iter().map(|x| tensor(x, [x.len()])).collect();
    let found = values(&run(&leaves));
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let [a, b, h] = &inputs;
    for (at, found) in found.into_iter().enumerate() {
        let of = |gate: usize| 3 * width * (at / width) + gate * width + at % width;
        let [r, u] = [0, 1].map(|gate| sigmoid(a[of(gate)] + b[of(gate)]));
        let c = (a[of(2)] + r * b[of(2)]).tanh();
        assert!((found - ((1.0 - u) * c + u * h[at])).abs() < 1e-12);
    }
    gradcheck(&inputs, |t| flat(run(t)));
    let short = tensor(&[0.0; 12], [3, 4]);
    assert!(ops::gru(&short, &short, &short).is_err());
}

#[test]
fn bias_and_rectifier() {
    let (x, bias) = (normals(4, 12), normals(5, 4));
    for slope in [0.01, 0.5, 0.0] {
        let run = |t: &[Tensor<1>]| {
            flat(ops::bias_leaky(&t[0].clone().reshape([3, 4]), &t[1], slope).unwrap())
        };
        let found = values(&run(&[tensor(&x, [12]), tensor(&bias, [4])]));
        for (at, found) in found.into_iter().enumerate() {
            let v = x[at] + bias[at % 4];
            assert!((found - if v > 0.0 { v } else { slope * v }).abs() < 1e-15);
        }
        gradcheck(&[x.clone(), bias.clone()], run);
    }
    let x = tensor(&x, [3, 4]);
    assert!(ops::bias_leaky(&x, &tensor(&[0.0; 3], [3]), 0.1).is_err());
    assert!(ops::bias_leaky(&x, &tensor(&bias, [4]), -1.0).is_err());
}
