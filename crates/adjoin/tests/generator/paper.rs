//! The equations of the paper: messages on complete candidates, degrees, the graph as the normalised one.

use crate::{INPUTS, World, common::*, degrees, dense, generator, model::gradients};
use adjoin::{
    Batch, CandidateRule, Candidates, DggConfig, GraphInput, GraphLearner, Key, Normalisation,
    Pass, Prepared, SelfLoops,
    conv::{BackboneConfig, BackboneKind},
    dgg::{EncoderConfig, MessageReading, Normalise, SampleForm, SelfLoopRule},
};

fn paper() -> DggConfig {
    let mut config = DggConfig::paper();
    config.encoder = EncoderConfig { width: 6, dropout: 0.0, ..EncoderConfig::default() };
    (config.degree.width, config.degree.start) = (6, 4.0);
    config
}

/// Both readings, both forms of samples, more layers, with and without the node itself.
fn forms() -> Vec<DggConfig> {
    let with = |change: &dyn Fn(&mut DggConfig)| {
        let mut config = paper();
        change(&mut config);
        config
    };
    vec![
        paper(),
        with(&|c| c.scorer.reading = MessageReading::Sum),
        with(&|c| (c.scorer.depth, c.encoder.extra_layers) = (2, 1)),
        with(&|c| c.self_loops = SelfLoopRule::Outside),
        with(&|c| (c.scorer.messages, c.scorer.depth) = (false, 2)),
        with(&|c| (c.sample.form, c.scorer.initial_offset) = (SampleForm::Exp, -2.0)),
        with(&|c| c.selector.hard = true),
        with(&|c| c.normalise = Normalise::Rows),
        with(&|c| (c.symmetric, c.normalise) = (true, Normalise::Rows)),
    ]
}

#[test]
fn messages_on_complete_candidates_streamed_or_written_out_are_the_same() {
    // More nodes than one pass keeps, and one that is alone.
    let world = World::new(1, &[90, 1, 7]);
    let all = Candidates::Complete(world.batch.clone()).to_pairs(usize::MAX).unwrap();
    for (at, config) in forms().into_iter().enumerate() {
        let loops = match config.self_loops {
            SelfLoopRule::Ranked => SelfLoops::Add,
            SelfLoopRule::Outside => SelfLoops::Drop,
        };
        let pairs = Some(Candidates::Pairs(all.with_self_loops(loops)));
        let written = Prepared { candidates: pairs, ..Prepared::default() };
        let dgg = generator(&config);
        let run = |written: Option<&Prepared>| {
            let (features, graph) = (world.features().into(), world.adjacency());
            let mut input = GraphInput::new(&features, Some(&graph), &world.batch);
            input.prepared = written;
            let learned = dgg.learn(&input, Pass::train(3, 4)).unwrap();
            let out = learned.adjacency.to_dense().unwrap();
            let count = world.nodes();
            let mix = tensor(&normals(5, count * count), [count, count]);
            let grads = (out.clone() * mix).sum().backward();
            (values(&out), degrees(&learned), gradients(&dgg, &grads).concat())
        };
        let (streamed, explicit) = (run(None), run(Some(&written)));
        assert!(streamed.0.iter().any(|a| *a > 0.0), "form {at}");
        assert_close(&streamed.0, &explicit.0, 1e-9);
        assert_close(&streamed.1, &explicit.1, 1e-9);
        let largest = explicit.2.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
        for (a, b) in streamed.2.iter().zip(&explicit.2) {
            assert!((a - b).abs() < 1e-8 * largest, "form {at}: {a}, {b}");
        }
    }
}

#[test]
fn the_preset_has_what_the_method_section_says() {
    let paper = DggConfig::paper();
    assert_eq!(paper.candidates, CandidateRule::Complete);
    assert!(paper.scorer.messages && paper.hand_on && paper.degree.stochastic);
    assert_eq!(paper.self_loops, SelfLoopRule::Ranked);
    assert_eq!(paper.degree.width, paper.encoder.width, "z lives in the latent space");
    assert_eq!((paper.sample.form, paper.sample.noise), (SampleForm::Softmax, 1.0));
    assert_eq!(paper.selector.shift, 0.0);
}

#[test]
fn degrees_are_the_decoder_and_the_norm_of_the_samples() {
    let world = World::new(2, &[12]);
    let mut config = paper();
    (config.degree.depth, config.degree.start) = (1, -0.5);
    config.sample.form = SampleForm::Exp;
    config.selector.lambda = 1e3;
    let dgg = generator(&config);
    let learned = world.learn(&dgg, Pass::evaluate());
    let latent = learned.latent.clone().unwrap();
    let z = dgg.degree.mean.as_ref().unwrap().forward_dense(latent);
    let decoded = values(&dgg.degree.decoder.as_ref().unwrap().forward_dense(z));
    // A step this wide keeps all: the samples are the scores.
    let scores = learned.scores.as_ref().unwrap();
    let p: Vec<f64> = values(&scores.log_scores).iter().map(|p| p.exp()).collect();
    assert_eq!(p.len(), 144, "the node itself is among its candidates");
    let expected: Vec<f64> =
        (0..12).map(|i| decoded[i] + scores.pairs.range(i).map(|at| p[at]).sum::<f64>()).collect();
    assert_close(&degrees(&learned), &expected, 1e-12);
}

#[test]
fn a_generated_graph_is_used_as_it_is() {
    let world = World::new(3, &[20]);
    let sums = |normalise| {
        let learned =
            world.learn(&generator(&DggConfig { normalise, ..paper() }), Pass::evaluate());
        let used = learned.adjacency.prepare(Normalisation::Symmetric, true).unwrap();
        let (plain, used) = (dense(&learned.adjacency), dense(&used));
        let rows: Vec<f64> = plain.chunks_exact(20).map(|row| row.iter().sum()).collect();
        (plain == used, rows)
    };
    let (same, rows) = sums(Normalise::None);
    assert!(same && rows.iter().all(|sum| *sum > 0.0 && *sum < 1.0), "{rows:?}");
    let (same, rows) = sums(Normalise::Rows);
    assert!(same && rows.iter().all(|sum| (sum - 1.0).abs() < 1e-12), "{rows:?}");
    assert!(!sums(Normalise::Network).0, "the network scales");
}

#[test]
fn latent_features_are_handed_on() {
    let world = World::new(4, &[9]);
    let (features, graph) = (world.features().into(), world.adjacency());
    let batch = Batch::single(9);
    let input = GraphInput::new(&features, Some(&graph), &batch);
    for (hand_on, inputs) in [(true, 6), (false, INPUTS)] {
        let dgg = generator(&DggConfig { hand_on, ..paper() });
        let network = |inputs| {
            let config = BackboneConfig::of_kind(BackboneKind::Gcn).with_widths(inputs, 3);
            crate::model::widened(config.init(Key::new(2), &device()).unwrap())
        };
        let outcome = dgg.drive(&input, &network(inputs), Pass::evaluate(), 1).unwrap();
        let expected = match hand_on {
            true => outcome.draws[0].graph.latent.clone().unwrap().into(),
            false => features.clone(),
        };
        let logits = adjoin::nn::Network::run(
            &network(inputs),
            &expected,
            &outcome.draws[0].graph.adjacency,
            Pass::evaluate(),
        );
        assert_eq!(values(&outcome.draws[0].logits), values(&logits.unwrap()));
        let other = if hand_on { INPUTS } else { 6 };
        assert!(dgg.drive(&input, &network(other), Pass::evaluate(), 1).is_err());
    }
}
