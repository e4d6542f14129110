//! The authors' own weights of Social-STGCNN, when `ADJOIN_DATA` says where they are: our network must
//! give their errors.

use adjoin::Key;
use adjoin_data::{Locations, trajectory};
use adjoin_lab::tasks::trajectory::{
    SocialModel, SocialStgcnnConfig, TrajectoryConfig, evaluate, load_published,
};
use burn::{module::Module, tensor::Device};
use std::path::{Path, PathBuf};

/// The data folder, or `None` after saying which test is skipped.
fn data(test: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: ADJOIN_DATA not set");
    }
    folder.map(|path| match path.is_relative() && !path.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        false => path,
    })
}

/// ADE and FDE that the authors' code gives with these weights (best of 20 samples per agent).
#[test]
fn published_weights_give_the_published_errors() {
    let Some(folder) = data("published_weights_give_the_published_errors") else { return };
    let locations = Locations { data_dir: Some(folder.clone()), ..Locations::default() };
    for (name, ade, fde) in [("eth", 0.73, 1.22), ("zara1", 0.33, 0.52)] {
        let dataset = trajectory::load(name, &locations).unwrap();
        let lengths = [dataset.observed, dataset.predicted];
        let (config, network) = (TrajectoryConfig::default(), SocialStgcnnConfig::default());
        let mut model = SocialModel::new(&config, &network, lengths, 1, &Device::flex()).unwrap();
        let file = format!("eth_ucy/published_weights/social-stgcnn-{name}.safetensors");
        model.network = load_published(&model.network, &folder.join(file)).unwrap();
        let scores = evaluate(&model.valid(), &dataset.test, lengths, 20, Key::new(1)).unwrap();
        println!("{name}: {scores:?}");
        let found = scores.per_agent;
        assert!(
            (found.ade - ade).abs() < 0.02 && (found.fde - fde).abs() < 0.04,
            "{name} {found:?}"
        );
    }
}
