//! Sparse products, normalisation, pair scores, reductions, attention and the selector.

use crate::file::{Golden, Leaf, both, double, numbers_of};
use adjoin::{
    Adjacency, Batch, Csr, Features, Normalisation, SparseFeatures,
    dgg::{Score, ScorerConfig},
    kernels::{pairs::Similarity, random::Key, selector::Step},
    ops::{
        self, AllPairs, Attention, DeepPairs, PairLayers, PairMessages, PairNetwork, StreamScorer,
    },
};
use burn::{
    module::Param,
    tensor::{
        DType, Device, Tensor,
        activation::{log_sigmoid, softplus},
    },
};

#[test]
fn sparse_times_dense() {
    both("spmm", |file| {
        let (topology, weights, x) = (file.csr("", 7), file.leaf("weights"), file.leaf("x"));
        let out = ops::spmm(&topology, &weights, &x).unwrap();
        file.check_case("", &out, &[("weights", &weights), ("x", &x)]);
        // Scaled and onto nothing: the same.
        let (weights, x) = (file.leaf("weights"), file.leaf("x"));
        let zero = file.tensor(&[0.0; 18], [6, 3]);
        let out = ops::spmm_onto(&topology, &weights, &x, &zero, [1.0, 1.0]).unwrap();
        file.check_case("", &out, &[("weights", &weights), ("x", &x)]);
    });
}

#[test]
fn normalisations() {
    both("normalise", |file| {
        let cases = [
            ("symmetric.", Normalisation::Symmetric, false),
            ("row.", Normalisation::Row, false),
            ("loops_symmetric.", Normalisation::Symmetric, true),
            ("loops_row.", Normalisation::Row, true),
        ];
        for (case, normalisation, loops) in cases {
            let weights = file.leaf("weights");
            let graph = Adjacency::new(file.csr("", 7), weights.clone()).unwrap();
            let scaled = graph.prepare(normalisation, loops).unwrap();
            let topology = file.csr(if loops { "loops." } else { "" }, 7);
            assert_eq!(scaled.topology(), &topology);
            file.check_case(case, scaled.weights(), &[("weights", &weights)]);
            // The second call gives what was kept of the first.
            let again = graph.prepare(normalisation, loops).unwrap();
            file.check(&format!("{case}out"), again.weights());
        }
        let graph = Adjacency::new(file.csr("", 7), file.leaf("weights")).unwrap();
        file.check("loops.weights", graph.with_self_loops().unwrap().weights());
    });
}

#[test]
fn sparse_features_times_dense_weights() {
    both("sparse_linear", |file| {
        let topology = file.csr("", 10);
        let values: Vec<f32> = file.numbers("values").iter().map(|&v| v as f32).collect();
        let sparse = SparseFeatures::new(topology.clone(), &values, &Device::flex().autodiff());
        let (w, b) = (file.leaf("W"), file.leaf::<1>("b"));
        let sparse = Features::from(sparse.unwrap().cast(w.dtype()));
        let out = sparse.matmul(&w).unwrap() + b.clone().unsqueeze();
        file.check_case("", &out, &[("W", &w), ("b", &b)]);
        // The values as something that is learned.
        let (values, w, b) = (file.leaf("values"), file.leaf("W"), file.leaf::<1>("b"));
        let out = ops::spmm(&topology, &values, &w).unwrap() + b.clone().unsqueeze();
        file.check_case("", &out, &[("values", &values), ("W", &w), ("b", &b)]);
        // Dense features give the same.
        let dense = sparse.to_dense().unwrap();
        let out = Features::from(dense).matmul(&w).unwrap() + b.clone().unsqueeze();
        file.check("out", &out);
    });
}

#[test]
fn pair_scores_of_all_scorers() {
    both("pair_scores", |file| {
        let (pairs, width) = (file.csr("", 7), 5);
        let (u, t) = (file.leaf::<2>("u"), file.leaf("t"));
        let distance = ops::pair_similarity(&pairs, Similarity::Distance, &u).unwrap();
        let out = distance.neg() * softplus(t.clone(), 1.0);
        file.check_case("distance.", &out, &[("u", &u), ("t", &t)]);

        let u = file.leaf::<2>("u");
        let dot = ops::pair_similarity(&pairs, Similarity::Dot, &u).unwrap();
        let out = log_sigmoid(dot * (1.0 / (width as f64).sqrt()));
        file.check_case("dot.", &out, &[("u", &u)]);

        let u = file.leaf::<2>("u");
        let cosine = ops::pair_similarity(&pairs, Similarity::Cosine, &u).unwrap();
        let out = ((cosine + 1.0) * 0.5).clamp_min(1e-6).log();
        file.check_case("cosine.", &out, &[("u", &u)]);

        let names = ["U", "V"].map(|name| file.leaf::<2>(name));
        let (u, [first, second]) = (file.leaf::<2>("u"), &names);
        let [b, w, w0] = ["b", "w", "w0"].map(|name| file.leaf::<1>(name));
        let network = PairNetwork {
            receiver: u.clone().matmul(first.clone()) + b.clone().unsqueeze(),
            sender: u.clone().matmul(second.clone()),
            scalar: None,
            slope: 0.01,
        };
        let logits = ops::pair_logits(&pairs, &network, &w).unwrap() + w0.clone();
        file.check("mlp.logit", &logits);
        let c = ops::pair_embeddings(&pairs, &network).unwrap();
        file.check("mlp.c", &c);
        let grads = (c * file.constant("embed.probe")).sum().backward();
        file.check_grads("embed.", &grads, &[("u", &u), ("U", first), ("V", second), ("b", &b)]);
    });
}

#[test]
fn pair_network_gradients() {
    both("pair_scores", |file| {
        let pairs = file.csr("", 7);
        let [first, second] = ["U", "V"].map(|name| file.leaf::<2>(name));
        let u = file.leaf::<2>("u");
        let [b, w, w0] = ["b", "w", "w0"].map(|name| file.leaf::<1>(name));
        let network = PairNetwork {
            receiver: u.clone().matmul(first.clone()) + b.clone().unsqueeze(),
            sender: u.clone().matmul(second.clone()),
            scalar: None,
            slope: 0.01,
        };
        let out = log_sigmoid(ops::pair_logits(&pairs, &network, &w).unwrap() + w0.clone());
        let inputs: [(&str, &dyn Leaf); 6] =
            [("u", &u), ("U", &first), ("V", &second), ("b", &b), ("w", &w), ("w0", &w0)];
        file.check_case("mlp.", &out, &inputs);
    });
}

#[test]
fn scorers_as_modules() {
    double("pair_scores", |file| {
        let pairs = file.csr("", 7);
        let cases =
            [(Score::Distance, "distance."), (Score::Dot, "dot."), (Score::Cosine, "cosine.")];
        for (kind, case) in cases {
            let config = ScorerConfig { kind, ..ScorerConfig::default() };
            let mut scorer = config
                .clone()
                .with_inputs(5)
                .init(Key::new(1), &Device::flex().autodiff())
                .unwrap();
            scorer.scale = scorer.scale.map(|_| file.param("t"));
            let u = file.leaf("u");
            let out = scorer.log_scores(&u, &pairs, None).unwrap();
            file.check_case(case, &out, &[("u", &u)]);
        }
        let config = ScorerConfig { kind: Score::Mlp, ..ScorerConfig::default() };
        let mut scorer =
            config.clone().with_inputs(4).init(Key::new(1), &Device::flex().autodiff()).unwrap();
        let linear = |weight, bias: Option<&str>| adjoin::Linear {
            weight: file.param(weight),
            bias: bias.map(|bias| file.param(bias)),
        };
        scorer.receiver = Some(linear("U", Some("b")));
        scorer.sender = Some(linear("V", None));
        scorer.output = Some(file.param("w"));
        scorer.offset = Some(file.param("w0"));
        let u = file.leaf("u");
        let out = scorer.log_scores(&u, &pairs, None).unwrap();
        let (receiver, output) = (scorer.receiver.unwrap(), scorer.output.unwrap());
        let (w, bias): (&Param<Tensor<2>>, _) = (&receiver.weight, receiver.bias.unwrap());
        file.check_case("mlp.", &out, &[("u", &u), ("U", w), ("b", &bias), ("w", &output)]);
    });
}

#[test]
fn messages_between_edges() {
    both("edge_messages", |file| {
        let (pairs, c) = (file.csr("", 11), file.leaf::<2>("c"));
        let out = ops::edge_messages(&pairs, &c).unwrap();
        file.check_case("", &out, &[("c", &c)]);
    });
}

#[test]
fn messages_between_the_edges_of_a_complete_graph() {
    both("complete_messages", |file| {
        for (case, summed, itself) in [
            ("mean.outside.", false, false),
            ("mean.itself.", false, true),
            ("sum.itself.", true, true),
        ] {
            let (a, b) = (file.leaf::<2>("a"), file.leaf::<2>("b"));
            let (weights, biases) = (file.leaf::<3>("weights"), file.leaf::<2>("biases"));
            let (own, other) = (file.leaf::<2>("own"), file.leaf::<2>("other"));
            let (bias, w, w0) = (file.leaf("bias"), file.leaf("w"), file.leaf("w0"));
            let layers = PairLayers { weights: weights.clone(), biases: biases.clone() };
            let first = PairLayers {
                weights: weights.clone().narrow(0, 0, 1),
                biases: biases.clone().narrow(0, 0, 1),
            };
            let batch = Batch::single(6);
            let sums = ops::pair_sums(&a, &b, Some(&first), &batch).unwrap();
            let messages = PairMessages {
                sums: sums.matmul(other.clone()),
                own: own.clone(),
                other: other.clone(),
                bias: bias.clone(),
                summed,
            };
            let scorer = StreamScorer::Deep(DeepPairs {
                a: a.clone(),
                b: b.clone(),
                layers: Some(layers),
                before: 1,
                messages: Some(messages),
                w: w.clone(),
                w0: w0.clone(),
            });
            let all = AllPairs { batch: &batch, itself };
            let out = ops::log_mass(&scorer, None, 1.0, all).unwrap();
            let inputs: [(&str, &dyn Leaf); 9] = [
                ("a", &a),
                ("b", &b),
                ("weights", &weights),
                ("biases", &biases),
                ("own", &own),
                ("other", &other),
                ("bias", &bias),
                ("w", &w),
                ("w0", &w0),
            ];
            file.check_case(case, &out, &inputs);
        }
    });
}

type Reduction = fn(&Csr, &Tensor<1>) -> adjoin::Result<Tensor<1>>;

const REDUCTIONS: [(&str, Reduction); 5] = [
    ("sum", ops::segment_sum),
    ("mean", ops::segment_mean),
    ("max", ops::segment_max),
    ("softmax", ops::segment_softmax),
    ("logsumexp", ops::segment_logsumexp),
];

#[test]
fn reductions_of_rows() {
    both("segment", |file| {
        let topology = file.csr("", 8);
        for (name, reduce) in REDUCTIONS {
            let values = file.leaf("one.values");
            let out = reduce(&topology, &values).unwrap();
            let case = format!("one.{name}.");
            if name == "logsumexp" {
                // The empty row 2 gives the lowest finite number in place of minus infinity.
                let mut found = numbers_of(&out);
                assert!(found[2].is_finite() && found[2] < -1e30);
                found[2] = f64::NEG_INFINITY;
                file.check_numbers(&format!("{case}out"), &found);
                let probe = file.constant::<1>(&format!("{case}probe"));
                file.check_grads(&case, &(out * probe).sum().backward(), &[("values", &values)]);
            } else {
                file.check_case(&case, &out, &[("values", &values)]);
            }
        }
    });
}

#[test]
fn reductions_of_rows_channel_by_channel() {
    double("segment", |file| {
        let topology = file.csr("", 8);
        for (name, reduce) in REDUCTIONS.into_iter().take(4) {
            let (case, values) = (format!("three.{name}."), file.leaf::<2>("three.values"));
            let channel = |c| values.clone().slice([0..20, c..c + 1]).reshape([20]);
            let outs = (0..3).map(|c| reduce(&topology, &channel(c)).unwrap());
            let out: Tensor<2> = Tensor::stack(outs.collect(), 1);
            file.check_case(&case, &out, &[("values", &values)]);
        }
    });
}

#[test]
fn attention_with_and_without_weights() {
    both("gat", |file| {
        let (topology, flat) = (file.csr("", 7), |t: Tensor<2>| t.reshape([6]));
        let options = Attention { heads: 2, slope: 0.2, dropout: None };
        for (case, weighted) in [("", true), ("even.", false)] {
            let (h, source, target) = (file.leaf::<3>("h"), file.leaf("a_src"), file.leaf("a_dst"));
            let weights = file.leaf::<1>("weights");
            let log_weights = weighted.then(|| weights.clone().log());
            let out = ops::attention(
                &topology,
                &h.clone().reshape([7, 6]),
                &flat(source.clone()),
                &flat(target.clone()),
                log_weights.as_ref(),
                options,
            );
            let mut inputs: Vec<(&str, &dyn Leaf)> =
                vec![("h", &h), ("a_src", &source), ("a_dst", &target)];
            if weighted {
                inputs.push(("weights", &weights));
            }
            file.check_case(case, &out.unwrap(), &inputs);
        }
    });
}

/// Entries that the selector stores, spread over all candidates; the rest must be negligible.
fn spread(file: &Golden, case: &str, found: &[f64], entries: &[u32]) -> Vec<f64> {
    let expected = file.numbers(&format!("{case}out"));
    let smooth = file.numbers(&format!("{}h", case.trim_start_matches("hard_")));
    let mut all = vec![f64::NAN; expected.len()];
    for (&at, &value) in entries.iter().zip(found) {
        all[at as usize] = value;
    }
    for (at, value) in all.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
        assert!(smooth[at] < 1e-7, "{case}: entry {at} with h = {} is missing", smooth[at]);
        *value = expected[at];
    }
    all
}

#[test]
fn selector_soft_and_hard() {
    both("selector", |file| {
        let candidates = file.csr("", 14);
        for (form, shift) in [("shifted", 0.5), ("literal", 0.0)] {
            for (tag, lambda) in [("1", 1.0), ("03", 0.3)] {
                for hard in [false, true] {
                    let case = format!("{}{form}_{tag}.", if hard { "hard_" } else { "" });
                    let (e, k) = (file.leaf("e"), file.leaf("k"));
                    let step = Step { lambda, shift, hard };
                    let (graph, entries) =
                        crate::common::selected(ops::select(&candidates, &e, &k, step));
                    let found = spread(file, &case, &numbers_of(graph.weights()), &entries);
                    file.check_numbers(&format!("{case}out"), &found);
                    for (at, (i, j)) in graph.topology().iter().enumerate() {
                        assert_eq!(candidates.find(i as usize, j), Some(entries[at] as usize));
                    }
                    let probe =
                        ops::take(&file.constant(&format!("{case}probe")), entries.clone(), 0.0);
                    let loss = (graph.weights().clone() * probe.unwrap()).sum();
                    let grads = loss.backward();
                    let expected = file.numbers(&format!("{case}grad.e"));
                    let mut found = numbers_of(&e.grad(&grads).unwrap());
                    for at in (0..found.len()).filter(|&at| !entries.contains(&(at as u32))) {
                        assert!(found[at] == 0.0 && expected[at].abs() < 1e-7);
                        found[at] = expected[at];
                    }
                    file.check_numbers(&format!("{case}grad.e"), &found);
                    // Each entry that is not stored would add e h (1 - h) 2 / lambda, h < 1e-7.
                    let found = numbers_of(&k.grad(&grads).unwrap());
                    let expected = file.numbers(&format!("{case}grad.k"));
                    let tolerance = if e.dtype() == DType::F64 { 1e-6 } else { 1e-5 };
                    for (a, b) in found.iter().zip(expected) {
                        assert!((a - b).abs() < tolerance, "{case} k: {a}, not {b}");
                    }
                }
            }
        }
    });
}
