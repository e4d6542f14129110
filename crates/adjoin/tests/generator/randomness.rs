//! The same keys give the same graphs, other keys give others; presets run.

use crate::{World, common::*, degrees, dense, generator, small};
use adjoin::{
    CandidateRule, DggConfig, GraphInput, GraphLearner, LearnedGraph, Pass,
    dgg::{EncoderConfig, SampleForm},
};

fn bits(learned: &LearnedGraph) -> (adjoin::Csr, Vec<u64>) {
    let mut all = values(learned.adjacency.weights());
    all.extend(degrees(learned));
    all.extend(values(learned.latent.as_ref().expect("latent features")));
    (learned.adjacency.topology().clone(), all.iter().map(|v| v.to_bits()).collect())
}

#[test]
fn passes_repeat_and_steps_differ() {
    let world = World::new(1, &[31, 8]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let mut config = small(candidates);
        config.encoder.dropout = 0.4;
        let dgg = generator(&config);
        let run = |pass| bits(&world.learn(&dgg, pass));
        let still = run(Pass::evaluate());
        assert_eq!(still, run(Pass::evaluate()));
        assert_eq!(still, run(Pass::evaluate().child(7)), "evaluation has no randomness");
        let first = run(Pass::train(3, 1));
        assert_eq!(first, run(Pass::train(3, 1)));
        for other in [Pass::train(3, 2), Pass::train(4, 1), Pass::evaluate(), Pass::sample(3, 1)] {
            assert_ne!(first, run(other));
        }
        // A draw has noise, but no dropout.
        let draw = world.learn(&dgg, Pass::sample(3, 1));
        let latent = |learned: &LearnedGraph| values(learned.latent.as_ref().unwrap());
        assert_eq!(latent(&draw), latent(&world.learn(&dgg, Pass::evaluate())));
        assert_ne!(bits(&draw), still);
    }
}

#[test]
fn several_samples_share_scores_and_differ_in_noise() {
    let world = World::new(2, &[26]);
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete] {
        let dgg = generator(&small(candidates));
        let (features, graph) = (world.features().into(), world.adjacency());
        let input = GraphInput::new(&features, Some(&graph), &world.batch);
        let samples = dgg.sample(&input, Pass::train(1, 1), 3).unwrap();
        assert_eq!(samples.len(), 3);
        let dense: Vec<_> = samples.iter().map(|s| dense(&s.adjacency)).collect();
        assert!(dense[0] != dense[1] && dense[1] != dense[2] && dense[0] != dense[2]);
        let latent = |s: &LearnedGraph| values(s.latent.as_ref().unwrap());
        assert_eq!(latent(&samples[0]), latent(&samples[2]));
        assert_eq!(bits(&samples[0]), bits(&dgg.learn(&input, Pass::train(1, 1)).unwrap()));
        let still = dgg.sample(&input, Pass::evaluate(), 2).unwrap();
        assert_eq!(bits(&still[0]), bits(&still[1]));
    }
}

#[test]
fn what_is_prepared_changes_nothing() {
    let world = World::new(3, &[12, 9]);
    for candidates in
        [CandidateRule::InputEdges, CandidateRule::Complete, CandidateRule::Hops { r: 2 }]
    {
        let dgg = generator(&small(candidates));
        let (features, graph) = (world.features().into(), world.adjacency());
        let input = GraphInput::new(&features, Some(&graph), &world.batch);
        let prepared = dgg.prepare(&input).unwrap();
        assert!(prepared.candidates.is_some());
        let pass = || Pass::train(2, 2);
        let with = dgg.learn(&input.with_prepared(&prepared), pass()).unwrap();
        assert_eq!(bits(&with), bits(&dgg.learn(&input, pass()).unwrap()));
    }
}

#[test]
fn presets_and_ablations_run_and_are_what_they_say() {
    let world = World::new(4, &[28]);
    let narrow = |config: DggConfig| DggConfig {
        encoder: EncoderConfig { width: 6, ..config.encoder },
        ..config
    };
    let (paper, reference) = (narrow(DggConfig::paper()), narrow(DggConfig::reference()));
    let pass = || Pass::train(1, 5);
    for config in [
        paper.clone(),
        reference.clone(),
        narrow(DggConfig::default()),
        paper.clone().without_edge_noise(),
        paper.clone().without_degree_noise(),
        reference.clone().with_fixed_degree(4.0),
        paper.clone().without_edge_noise().without_degree_noise(),
    ] {
        for pass in [pass(), Pass::evaluate()] {
            let learned = world.learn(&generator(&config), pass);
            assert!(learned.adjacency.topology().edges() > 28, "{config:?}");
            assert!(values(learned.adjacency.weights()).iter().all(|a| a.is_finite() && *a >= 0.0));
        }
    }
    // The paper's samples sum to 1 over all candidates, so no row weighs more.
    assert_eq!(paper.sample.form, SampleForm::Softmax);
    let rows = dense(&world.learn(&generator(&paper), pass()).adjacency);
    assert!(rows.chunks(28).all(|row| row.iter().sum::<f64>() <= 1.0 + 1e-9));
    // The authors' code ranks self-loops, draws no noise, and has input edges as candidates.
    let dgg = generator(&reference);
    let learned = world.learn(&dgg, pass());
    assert_eq!(bits(&learned), bits(&world.learn(&dgg, Pass::evaluate())));
    let pairs = &learned.scores.as_ref().unwrap().pairs;
    assert_eq!(pairs.edges(), world.graph.edges() + 28);
    let fixed = world.learn(&generator(&paper.with_fixed_degree(2.5)), pass());
    assert_eq!(degrees(&fixed), vec![2.5; 28]);
}
