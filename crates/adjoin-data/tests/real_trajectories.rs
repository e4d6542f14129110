//! The public recordings as published, when `ADJOIN_DATA` says where they are.

use std::path::{Path, PathBuf};

use adjoin_data::Locations;
use adjoin_data::trajectory::{TrajectoryDataset, list, load};

/// Where to look, or `None` after saying which test is skipped.
fn data(test: &str) -> Option<Locations> {
    let folder =
        std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: ADJOIN_DATA not set");
    }
    // Cargo runs tests in the crate's folder, but a relative path was meant from the workspace's.
    let folder = folder.map(|path| match path.is_relative() && !path.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        false => path,
    });
    folder.map(|folder| Locations { data_dir: Some(folder), ..Locations::default() })
}

fn paths(dataset: &TrajectoryDataset) -> [usize; 3] {
    dataset.parts().map(|(_, scenes)| scenes.iter().map(|scene| scene.agents.len()).sum())
}

#[test]
fn every_known_dataset_loads_with_the_known_facts() {
    let Some(locations) = data("every_known_dataset_loads_with_the_known_facts") else { return };
    for known in list() {
        let dataset = load(known.name, &locations).unwrap();
        dataset.validate().unwrap();
        assert_eq!(dataset.name, known.name);
        let scenes = dataset.parts().map(|(_, scenes)| scenes.len());
        assert_eq!(scenes, known.scenes, "{}", known.name);
        assert_eq!((dataset.observed, dataset.predicted), (known.observed, known.predicted));
        let all = || dataset.parts().into_iter().flat_map(|(_, scenes)| scenes);
        let agents = || all().map(|scene| scene.agents.len());
        let found = [agents().min().unwrap(), agents().max().unwrap()];
        assert_eq!(found, known.agents, "{}", known.name);
    }
}

/// Counted by a separate Python program that follows the public reader: distinct frames, windows of
/// 20, the people in all of them, two at least. The scenes of the tests (70, 301, 947, 602, 921) are
/// the numbers other works report.
#[test]
fn the_paths_of_eth_and_ucy_are_those_of_the_public_reader() {
    let name = "the_paths_of_eth_and_ucy_are_those_of_the_public_reader";
    let Some(locations) = data(name) else { return };
    for (place, expected) in [
        ("eth", [29809, 5349, 181]),
        ("hotel", [29152, 5136, 1053]),
        ("univ", [9231, 2708, 24334]),
        ("zara1", [28010, 5118, 2253]),
        ("zara2", [25507, 4173, 5833]),
    ] {
        assert_eq!(paths(&load(place, &locations).unwrap()), expected, "{place}");
    }
    // As the lines of the files say.
    let eth = &load("eth", &locations).unwrap().test[0];
    assert_eq!((eth.name.as_str(), &eth.agents[..]), ("biwi_eth 830", &[2, 3][..]));
    assert_eq!((eth.path(0)[0], eth.path(0)[19]), ([10.31, 5.97], [-1.52, 6.05]));
    let zara = &load("zara1", &locations).unwrap().test[0];
    assert_eq!(
        (zara.name.as_str(), &zara.agents[..]),
        ("crowds_zara01 0", &[1, 2, 3, 4, 5, 6, 8][..])
    );
    let path = zara.path(6);
    assert_eq!(
        [path[0], path[1], path[19]],
        [[4.3356, 7.3507], [4.5545, 7.2744], [5.5148, 7.5087]]
    );
}
