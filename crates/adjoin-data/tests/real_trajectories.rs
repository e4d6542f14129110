//! The public recordings as published; `ADJOIN_DATA` says where they are.

mod common;

use adjoin_data::trajectory::{TrajectoryDataset, list, load};
use common::data;

fn paths(dataset: &TrajectoryDataset) -> [usize; 3] {
    dataset.parts().map(|(_, scenes)| scenes.iter().map(|scene| scene.agents.len()).sum())
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn every_known_dataset_loads_with_the_known_facts() {
    let locations = data();
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
#[ignore = "needs ADJOIN_DATA"]
fn the_paths_of_eth_and_ucy_are_those_of_the_public_reader() {
    let locations = data();
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

/// Counted by the same program, with the frames of every recording divided first.
#[test]
#[ignore = "needs ADJOIN_DATA"]
fn the_paths_of_the_drone_recordings_are_those_counted_elsewhere() {
    let locations = data();
    assert_eq!(paths(&load("sdd", &locations).unwrap()), [3675, 321, 738]);
    assert_eq!(paths(&load("sdd-trajnet", &locations).unwrap()), [4558, 341, 1357]);
}

/// Players and places computed with numpy.interp from the arrays, in double precision.
#[test]
#[ignore = "needs ADJOIN_DATA"]
fn basketball_is_resampled_turned_and_divided_by_game() {
    let locations = data();
    let attack = load("nba-atk-10", &locations).unwrap();
    let defence = load("nba-def-40", &locations).unwrap();
    let near = |path: &[[f32; 2]], expected: [[f32; 2]; 4]| {
        for (step, place) in [0, 1, 2, 49].into_iter().zip(expected) {
            let gap = (path[step][0] - place[0]).hypot(path[step][1] - place[1]);
            assert!(gap < 1e-4, "step {step}: {:?} and {place:?}", path[step]);
        }
    };
    let first = &attack.test[0];
    assert_eq!(first.name, "ATL_CLE_0021500191_3_139.97_125.01 0");
    assert_eq!(first.agents, [200794, 203200, 203934, 203488, 203471]);
    let third =
        [[10.904934, 1.760934], [11.735197, 1.615678], [12.537678, 1.483519], [25.0825, 0.445294]];
    near(first.path(2), third);
    let against = &defence.test[0];
    assert_eq!(against.agents, [2210, 2544, 2760, 203099, 202684]);
    let guard = [
        [20.628769, 12.234863],
        [21.115734, 12.471797],
        [21.595556, 12.692856],
        [25.612725, 11.371659],
    ];
    near(against.path(0), guard);
    // The first team attacks, to the left: turned.
    let turned =
        attack.test.iter().find(|s| s.name == "ATL_MIN_0021500222_2_671.0_659.0 0").unwrap();
    assert_eq!(turned.agents, [2419, 203476, 203940, 203498, 203897]);
    let wing = [
        [12.402741, 12.893278],
        [13.500497, 13.199269],
        [14.620875, 13.48105],
        [25.44445, 14.398228],
    ];
    near(turned.path(0), wing);

    let games = |scenes: &[adjoin_data::trajectory::Scene]| -> std::collections::BTreeSet<String> {
        scenes.iter().map(|scene| scene.name.split('_').nth(2).unwrap().to_string()).collect()
    };
    assert!(games(&attack.train).is_disjoint(&games(&attack.valid)));
    // Who defends stands nearer to the basket than who attacks, on the average of the last 2 s: a sign
    // that the teams are told apart that does not use the ball. Python found 441 of 442 possessions.
    let depth = |scene: &adjoin_data::trajectory::Scene| -> f32 {
        let last = (0..5).flat_map(|agent| &scene.path(agent)[40..]);
        last.map(|place| (place[0] - 27.05).hypot(place[1] - 7.62)).sum()
    };
    let nearer = attack.test.iter().zip(&defence.test).filter(|(a, d)| depth(d) < depth(a)).count();
    assert!(nearer * 100 > attack.test.len() * 95, "{nearer} of {}", attack.test.len());
}
