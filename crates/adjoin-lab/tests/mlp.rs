//! The network without edges: the graph changes nothing, and no learner of one is taken.

mod common;

use adjoin_lab::{
    run::{Request, Unobserved},
    tasks::Node,
};
use common::{citations, named, run_in};

#[test]
fn edges_change_nothing() {
    let with = citations(3);
    let mut without = with.clone();
    without.dataset.edges.clear();
    let layers = named::<Node>("mlp", "none", &["train.epochs=4"]);
    let curves = [&with, &without].map(|data| {
        let outcome = run_in::<Node>(data, &layers, &[5], 1, &Unobserved, None).unwrap();
        outcome.record.seeds.into_iter().map(|seed| (seed.curve, seed.test)).collect::<Vec<_>>()
    });
    assert_eq!(curves[0], curves[1]);
    // A network with edges is another matter.
    let layers = named::<Node>("gcn", "none", &["train.epochs=4"]);
    let losses = [&with, &without].map(|data| {
        let outcome = run_in::<Node>(data, &layers, &[5], 1, &Unobserved, None).unwrap();
        outcome.record.seeds[0].curve[3].loss
    });
    assert_ne!(losses[0], losses[1]);
}

#[test]
fn a_learner_is_refused_before_anything_is_trained() {
    let data = citations(3);
    for learner in ["dropedge", "knn", "dgg"] {
        let layers = named::<Node>("mlp", learner, &[]);
        let error = run_in::<Node>(&data, &layers, &[5], 1, &Unobserved, None).err().unwrap();
        let says = |word: &str| error.to_string().contains(word);
        assert!(says(learner) && says("mlp takes no graph") && says("none"), "{error}");
    }
}

/// A run of several learners is refused as a whole, before the first of them is trained.
#[test]
fn a_request_that_names_both_is_refused() {
    for learner in ["none,dgg", "dropedge"] {
        let learners: Vec<String> = learner.split(',').map(String::from).collect();
        let request =
            Request { backbone: Some("mlp"), learners: Some(&learners), ..Request::default() };
        let error = request.configs::<Node>().err().unwrap().to_string();
        assert!(error.contains("mlp takes no graph"), "{error}");
    }
}
