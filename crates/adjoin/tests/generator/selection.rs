//! The selector, symmetry and the merge with the input graph.

use crate::{World, common::*, degrees, dense, generator, small, with_rule};
use adjoin::{
    Adjacency, CandidateRule, Csr, DggConfig, Error, GraphInput, GraphLearner, Key, Pass, Prepared,
    SelfLoops,
    dgg::{Augment, DegreeRule, MergeRule, SampleConfig, SelectorConfig},
    kernels::selector::Step,
    learner::PageRankConfig,
    ops,
};

/// Candidates with distinct samples, and degrees whose step falls between two ranks.
fn rows() -> (Csr, Vec<f64>, Vec<f64>) {
    let key = Key::new(1);
    let edges = (0..20u32).flat_map(|i| (0..i % 14).map(move |n| (i, (i * 7 + n * 3) % 50)));
    let candidates = Csr::from_edges(20, 50, edges, SelfLoops::Keep).unwrap();
    let order = key.permutation(candidates.edges());
    let e = order.iter().map(|&n| 0.05 + f64::from(n) / 100.0).collect();
    let k = (0..20).map(|n| (n % 9) as f64 + 0.15 + 0.2 * key.uniform(n)).collect();
    (candidates, e, k)
}

#[test]
fn hard_is_the_step_of_soft_at_the_same_positions() {
    let (candidates, e, k) = rows();
    let (e_t, k_t) = (tensor(&e, [e.len()]), tensor(&k, [20]));
    for (lambda, shift) in [(1.0, 0.5), (1.0, 0.0), (0.3, 0.5), (3.0, 1.0)] {
        let run = |lambda, hard| {
            let step = Step { lambda, shift, hard };
            let (graph, entries) = selected(ops::select(&candidates, &e_t, &k_t, step));
            (values(graph.weights()), entries, graph)
        };
        let (soft, soft_entries, _) = run(lambda, false);
        let (hard, hard_entries, graph) = run(lambda, true);
        assert_eq!(soft_entries, hard_entries);
        for (at, &entry) in soft_entries.iter().enumerate() {
            let sample = e[entry as usize];
            let expected = if soft[at] / sample >= 0.5 { sample } else { 0.0 };
            assert_eq!(hard[at], expected);
        }
        // A row keeps its round(k + shift - 1/2) best, or all it has.
        for (i, k) in k.iter().enumerate().take(20) {
            let kept: Vec<f64> =
                graph.topology().range(i).map(|at| hard[at]).filter(|a| *a > 0.0).collect();
            let count = ((k + shift).floor() as usize).min(candidates.degree(i));
            let mut best: Vec<f64> = candidates.range(i).map(|at| e[at]).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            best.truncate(count);
            let mut kept_sorted = kept.clone();
            kept_sorted.sort_by(|a, b| b.total_cmp(a));
            assert_eq!(kept_sorted, best, "row {i}");
        }
        // Soft tends to hard.
        let expected = dense(&graph);
        let gap = |lambda| {
            let soft = dense(&run(lambda, false).2);
            soft.iter().zip(&expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
        };
        let gaps = [1.0, 0.3, 0.1, 0.03, 0.003].map(gap);
        assert!(gaps.is_sorted_by(|a, b| a > b || *b == 0.0), "{gaps:?}");
        assert!(gaps[0] > 0.05 && gaps[4] < 1e-12, "{gaps:?}");
    }
}

#[test]
fn the_soft_degree_is_k() {
    let n = 40;
    let candidates = Csr::new(n, vec![0, n as u32], (0..n as u32).collect()).unwrap();
    let ones = tensor(&vec![1.0; n], [n]);
    for k in [3.0, 4.25, 7.5, 12.9, 30.0] {
        for lambda in [1.0, 0.3] {
            let sum = |shift| {
                let step = Step { lambda, shift, hard: false };
                let (graph, _) =
                    selected(ops::select(&candidates, &ones, &tensor(&[k], [1]), step));
                // What is left out is below 1e-7 each.
                let reach = k + shift + 0.5 * lambda * 16.2;
                assert!((graph.topology().edges() as f64) <= reach);
                values(graph.weights()).iter().sum::<f64>()
            };
            let tolerance = if lambda == 1.0 { 3e-3 } else { 0.2 };
            assert!((sum(0.5) - k).abs() < tolerance, "k {k}, lambda {lambda}: {}", sum(0.5));
            assert!((sum(0.0) - (k - 0.5)).abs() < tolerance, "literal, k {k}: {}", sum(0.0));
        }
    }
}

#[test]
fn equal_samples_go_to_the_lower_column() {
    let candidates = Csr::new(9, vec![0, 5], vec![1, 3, 4, 6, 8]).unwrap();
    let e = tensor(&[0.5, 0.9, 0.5, 0.9, 0.5], [5]);
    let step = Step { lambda: 0.05, shift: 0.5, hard: false };
    let (graph, entries) = selected(ops::select(&candidates, &e, &tensor(&[3.0], [1]), step));
    assert_eq!(graph.topology().indices(), [1, 3, 6]);
    assert_eq!(entries, [0, 1, 3]);
}

#[test]
fn a_hard_generator_keeps_whole_samples() {
    let world = World::new(4, &[19]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let soft = with_rule(&small(candidates), DegreeRule::Fixed(3.0));
        let selector = SelectorConfig { hard: true, ..SelectorConfig::default() };
        let hard = DggConfig { selector, ..soft.clone() };
        let (soft, hard) = (generator(&soft), generator(&hard));
        let pass = || Pass::train(1, 2);
        let (a, b) = (world.learn(&soft, pass()), world.learn(&hard, pass()));
        assert_eq!(a.adjacency.topology(), b.adjacency.topology());
        let (a, b) = (values(a.adjacency.weights()), values(b.adjacency.weights()));
        assert!(a.iter().zip(&b).all(|(a, b)| *b == 0.0 || b > a));
        // With autodiff the edges that are off are there in evaluation too, and carry the gradient of k.
        let tracked = world.learn(&hard, Pass::evaluate());
        let off = values(tracked.adjacency.weights()).iter().filter(|w| **w == 0.0).count();
        assert!(off > 0);
        // Without gradients to carry only the kept edges are there: three of every node.
        let plain = burn::tensor::Device::flex();
        let features = world.features().inner().into();
        let weights = world.adjacency().weights().clone().inner();
        let graph = Adjacency::new(world.graph.clone(), weights).unwrap();
        let input = GraphInput::new(&features, Some(&graph), &world.batch);
        let still = burn::module::Module::valid(&hard).learn(&input, Pass::evaluate()).unwrap();
        assert_eq!(still.adjacency.weights().device(), plain);
        let pairs = &still.scores.as_ref().unwrap().pairs;
        for i in 0..19 {
            assert_eq!(still.adjacency.topology().degree(i), pairs.degree(i).min(3));
        }
        let scores = still.scores.as_ref().unwrap();
        let log_p = values(&scores.log_scores);
        for ((i, j), weight) in
            still.adjacency.topology().iter().zip(values(still.adjacency.weights()))
        {
            let p = log_p[scores.pairs.find(i as usize, j).unwrap()].exp();
            assert!((weight - p).abs() < 1e-12);
        }
    }
}

#[test]
fn the_symmetric_option_is_the_mean_of_both_directions() {
    let world = World::new(5, &[17, 4]);
    let n = world.nodes();
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let plain = small(candidates);
        let both = DggConfig { symmetric: true, ..plain.clone() };
        let pass = || Pass::train(6, 1);
        let plain = dense(&world.learn(&generator(&plain), pass()).adjacency);
        let learned = world.learn(&generator(&both), pass()).adjacency;
        assert!(learned.topology().is_symmetric());
        let found = dense(&learned);
        for i in 0..n {
            for j in 0..n {
                let mean = (plain[i * n + j] + plain[j * n + i]) / 2.0;
                assert!((found[i * n + j] - mean).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn merging_adds_to_the_input_graph_and_starts_near_it() {
    let world = World::new(6, &[15]);
    let input = dense(&world.adjacency());
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let replace = small(candidates);
        let pass = || Pass::train(2, 3);
        let learned = dense(&world.learn(&generator(&replace), pass()).adjacency);
        for theta in [-8.0, -1.0, 0.5] {
            let add = DggConfig { merge: MergeRule::Add(theta), ..replace.clone() };
            let found = dense(&world.learn(&generator(&add), pass()).adjacency);
            let mix = f64::exp(theta).ln_1p();
            let sum: Vec<f64> = input.iter().zip(&learned).map(|(a, b)| a + mix * b).collect();
            assert_close(&found, &sum, 1e-12);
            if theta == -8.0 {
                assert_close(&found, &input, 2e-3);
                assert_ne!(found, input);
            }
        }
    }
}

#[test]
fn degrees_follow_their_rules() {
    let world = World::new(7, &[25]);
    let counts: Vec<f64> = (0..25).map(|i| world.graph.degree(i) as f64).collect();
    let k = |rule| {
        let config = with_rule(&small(CandidateRule::InputEdges), rule);
        degrees(&world.learn(&generator(&config), Pass::evaluate()))
    };
    assert_eq!(k(DegreeRule::Fixed(2.75)), vec![2.75; 25]);
    assert!(k(DegreeRule::Literal).iter().all(|k| *k > 1.0));
    let relative = k(DegreeRule::Relative);
    assert!(relative.iter().all(|k| *k >= 1.0));
    // D starts around 0: degrees are around one more than those of the input graph.
    let gap = relative.iter().zip(&counts).map(|(k, d)| (k - d - 1.0).abs()).sum::<f64>() / 25.0;
    assert!(gap < 3.0, "{gap}");
    assert!(k(DegreeRule::Standardised).iter().all(|k| *k >= 1.0));
}

#[test]
fn degrees_can_be_learned_where_the_input_has_equal_ones() {
    let mut world = World::new(8, &[9, 5]);
    let pairs = world.batch.ranges().flat_map(|range| {
        let ends = range.clone();
        range.flat_map(move |i| ends.clone().map(move |j| (i as u32, j as u32)))
    });
    world.graph = Csr::from_edges(14, 14, pairs, SelfLoops::Drop).unwrap();
    world.weights = vec![1.0; world.graph.edges()];
    let config = with_rule(&small(CandidateRule::InputEdges), DegreeRule::Relative);
    let k = degrees(&world.learn(&generator(&config), Pass::evaluate()));
    for range in world.batch.ranges() {
        let (d, k) = (range.len() as f64 - 1.0, &k[range]);
        let mean = k.iter().sum::<f64>() / k.len() as f64;
        assert!((mean - d - 1.0).abs() < 2.0 * d.sqrt(), "{mean} for {d}");
        assert!(k.iter().any(|other| (other - k[0]).abs() > 0.05), "{k:?}");
    }
}

#[test]
fn no_noise_makes_training_equal_evaluation() {
    let world = World::new(8, &[21]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let noisy = small(candidates);
        let still = noisy.clone().without_edge_noise().without_degree_noise();
        let run =
            |config: &DggConfig, pass| dense(&world.learn(&generator(config), pass).adjacency);
        let expected = run(&still, Pass::evaluate());
        assert_eq!(run(&still, Pass::train(1, 1)), expected);
        // Each kind of noise alone changes the result.
        for one in [noisy.clone().without_edge_noise(), noisy.clone().without_degree_noise()] {
            assert_ne!(run(&one, Pass::train(1, 1)), run(&one, Pass::evaluate()));
        }
        let sample = SampleConfig { symmetric_noise: true, ..noisy.sample.clone() };
        let both = DggConfig { sample, ..noisy.clone() };
        assert_ne!(run(&both, Pass::train(1, 1)), run(&noisy, Pass::train(1, 1)));
    }
}

#[test]
fn kept_weights_multiply_the_scores_and_decide_the_ranks() {
    let world = World::new(5, &[20, 9]);
    let learn = |keep_weights, k| {
        let config = with_rule(&small(CandidateRule::InputEdges), DegreeRule::Fixed(k));
        let dgg = generator(&DggConfig { keep_weights, ..config });
        world.learn(&dgg, Pass::evaluate()).adjacency
    };
    // With room for every edge the selector changes nothing.
    let (plain, kept) = (learn(false, 100.0), learn(true, 100.0));
    assert_eq!(plain.topology(), kept.topology());
    let expected = values(plain.weights()).into_iter().zip(&world.weights).map(|(e, w)| e * w);
    for (found, expected) in values(kept.weights()).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    // With room for one, it is the largest product that stays.
    let all = values(kept.weights());
    let one = learn(true, 1.0);
    let weights = values(one.weights());
    for row in (0..world.nodes()).filter(|&row| kept.topology().degree(row) > 0) {
        let first = |graph: &Csr, weights: &[f64]| {
            let best = graph.range(row).max_by(|&a, &b| weights[a].total_cmp(&weights[b]));
            graph.indices()[best.unwrap()]
        };
        assert_eq!(first(one.topology(), &weights), first(kept.topology(), &all), "row {row}");
    }
}

#[test]
fn agreement_multiplies_the_scores_by_the_chance_of_one_class() {
    let world = World::new(7, &[20, 9]);
    let (features, graph) = (world.features().into(), world.adjacency());
    let input = GraphInput::new(&features, Some(&graph), &world.batch);
    let config = with_rule(&small(CandidateRule::InputEdges), DegreeRule::Fixed(100.0));
    let plain = generator(&config).learn(&input, Pass::evaluate()).unwrap().adjacency;
    let dgg = generator(&DggConfig { agreement: true, ..config });
    let refused = dgg.learn(&input, Pass::evaluate()).unwrap_err();
    assert_eq!(refused, Error::NoProbabilities);
    // Sure of the first class, sure of the second, or undecided.
    let of = |node: usize| [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]][node % 3];
    let known: Vec<f64> = (0..world.nodes()).flat_map(of).collect();
    let probabilities = Some(tensor(&known, [world.nodes(), 2]));
    let prepared = Prepared { probabilities, ..Prepared::default() };
    let learned = dgg.learn(&input.with_prepared(&prepared), Pass::evaluate()).unwrap().adjacency;
    assert_eq!(plain.topology(), learned.topology());
    let (before, after) = (values(plain.weights()), values(learned.weights()));
    for (at, (i, j)) in plain.topology().iter().enumerate() {
        let (a, b) = (of(i as usize), of(j as usize));
        let same = (a[0] * b[0] + a[1] * b[1]).max(1e-6);
        assert!((after[at] - before[at] * same).abs() < 1e-9, "({i}, {j})");
    }
}

#[test]
fn added_pagerank_edges_are_candidates_like_the_given_ones() {
    let world = World::new(6, &[25]);
    let pagerank = PageRankConfig { k: 5, ..PageRankConfig::default() };
    let augment = Some(Augment::Pagerank(pagerank.clone()));
    let config = DggConfig { augment, ..small(CandidateRule::InputEdges) };
    let learned = world.learn(&generator(&config), Pass::evaluate());
    let (features, graph) = (world.features().into(), world.adjacency());
    let input = GraphInput::new(&features, Some(&graph), &world.batch);
    let joined = pagerank
        .init(Key::new(1), &device())
        .unwrap()
        .learn(&input, Pass::evaluate())
        .unwrap()
        .adjacency;
    assert_eq!(&learned.scores.unwrap().pairs, joined.topology());
    assert!(joined.topology().edges() > world.graph.edges());
}

/// The variance is an exponential: it must not run away when features are not scaled.
#[test]
fn degrees_stay_numbers_whatever_the_scale_of_the_features() {
    for rule in [DegreeRule::Relative, DegreeRule::Literal, DegreeRule::Standardised] {
        for scale in [1.0, 10.0, 100.0] {
            for seed in 0..8 {
                let mut world = World::new(3, &[40]);
                world.x.iter_mut().for_each(|x| *x *= scale);
                let config = with_rule(&small(CandidateRule::InputEdges), rule);
                let dgg =
                    config.with_inputs(crate::INPUTS).init(Key::new(seed), &device()).unwrap();
                // In single precision, as people train.
                let features = tensor32(&world.x, [40, crate::INPUTS]).into();
                let weights = tensor32(&world.weights, [world.weights.len()]);
                let graph = Adjacency::new(world.graph.clone(), weights).unwrap();
                let input = GraphInput::new(&features, Some(&graph), &world.batch);
                let Ok(learned) = dgg.learn(&input, Pass::train(1, seed)) else {
                    panic!("{rule:?} at scale {scale}");
                };
                // The latent features grow with the scale, so may the degrees, but not beyond.
                let k = degrees(&learned);
                assert!(k.iter().all(|&k| k < 2e4 * scale), "{rule:?} at scale {scale}: {k:?}");
                let probe = learned.degrees.unwrap().sum().backward();
                let log_variance = dgg.degree.log_variance.as_ref().unwrap().weight.val();
                let grad = values(&log_variance.grad(&probe).unwrap());
                assert!(grad.iter().all(|g| g.is_finite()) && grad.iter().any(|g| *g != 0.0));
            }
        }
    }
}

#[test]
fn a_degree_that_is_no_number_names_the_cause() {
    let world = World::new(3, &[20]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let mut dgg = generator(&small(candidates));
        let decoder = dgg.degree.decoder.as_mut().unwrap();
        decoder.weight = decoder.weight.clone().map(|w| w * 1e308 * 1e308);
        let (features, graph) = (world.features().into(), world.adjacency());
        let input = GraphInput::new(&features, Some(&graph), &world.batch);
        let refused = dgg.learn(&input, Pass::train(1, 1)).unwrap_err();
        assert!(matches!(refused, Error::NotFinite { .. }));
        assert!(refused.to_string().contains("weights of the degree estimator"), "{refused}");
    }
}

/// Without noise, training and evaluation are the same, also for the gradients of edges that are off.
#[test]
fn the_hard_form_keeps_its_gradient_in_evaluation() {
    let world = World::new(4, &[19]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let selector = SelectorConfig { hard: true, ..SelectorConfig::default() };
        let config = DggConfig { selector, ..small(candidates) };
        let dgg = generator(&config.without_edge_noise().without_degree_noise());
        let gradients = |pass: Pass| {
            let learned = world.learn(&dgg, pass).adjacency.to_dense().unwrap();
            let mix = tensor(&normals(3, 19 * 19), [19, 19]);
            crate::model::gradients(&dgg, &(learned * mix).sum().backward()).concat()
        };
        assert_eq!(gradients(Pass::train(1, 1)), gradients(Pass::evaluate()));
    }
}
