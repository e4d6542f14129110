//! Tables: what is refused before any work.

use adjoin_data::Locations;
use adjoin_lab::{
    reproduce::{Options, run},
    run::Observer,
};

/// Stops a run before its first epoch.
struct Stopped;

impl Observer for Stopped {
    fn stop(&self) -> bool {
        true
    }
}

/// What is asked for is looked at before data is.
#[test]
fn names_and_settings_that_are_not_in_the_table_are_refused() {
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let refused = |datasets: &[&str], learners: &[&str], settings: &[&str]| {
        let options = Options {
            settings: words(settings),
            seeds: vec![0],
            threads: 1,
            locations: Locations { data_dir: Some("/nowhere".into()), ..Default::default() },
            datasets: words(datasets),
            backbones: Vec::new(),
            learners: words(learners),
            epochs: None,
            keep: None,
            reduced: false,
        };
        run("trajectory", &options, &Stopped, &mut |_| ()).unwrap_err().to_string()
    };
    assert!(refused(&["cora"], &[], &[]).contains("zara1"));
    assert!(refused(&[], &["magic"], &[]).contains("kernel"));
    assert!(refused(&["sdd"], &["kernel"], &["learner.dgm.k=3"]).contains("--learners"));
    assert!(refused(&["sdd"], &["kernel"], &["train.epoch=3"]).contains("`epochs`"));
    let other = refused(&["sdd"], &["kernel"], &["network.social_stgcnn.relative=true"]);
    assert!(other.contains("--backbones"), "{other}");
    // Nothing is wrong with this but that there is no data, or, where ADJOIN_DATA names some, that it is
    // stopped at once.
    let fits = refused(&["sdd"], &["kernel", "dgm"], &["learner.dgm.k=3"]);
    assert!(fits.contains("/nowhere") || fits.contains("stopped"), "{fits}");
}
