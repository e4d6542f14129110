//! Trajectories by name and by path, and what is said when they cannot be had.

use std::fs;
use std::path::PathBuf;

use adjoin_data::trajectory::{TableConfig, eth_ucy, find, list, load, load_with, trajnet};
use adjoin_data::{Error, Locations, trajectory::TrajNetSplit};

/// Two people side by side for `frames` steps.
fn pair(frames: usize, frame_step: usize) -> String {
    let line =
        |frame| format!("{} 1 {frame} 0\n{} 2 {frame} 1\n", frame * frame_step, frame * frame_step);
    (0..frames).map(line).collect()
}

#[test]
fn names_are_found_loosely_and_suggested() {
    assert_eq!(find("NBA_atk_10").unwrap().observed, 10);
    let error = find("zara3").unwrap_err().to_string();
    assert!(error.contains("did you mean `zara1`"), "{error}");
    let error = load("nowhere.csv", &Locations::default()).unwrap_err();
    assert!(matches!(error, Error::UnknownName { .. }), "{error}");
    assert_eq!(list().len(), 14);
}

#[test]
fn a_missing_dataset_says_which_files_belong_where() {
    let nowhere = Locations { cache: Some(PathBuf::from("/none/cache")), ..Default::default() };
    for known in list().into_iter().filter(|known| !known.is_embedded()) {
        let error = load(known.name, &nowhere).unwrap_err();
        assert!(matches!(&error, Error::Missing { looked, .. } if looked.len() == 1));
        let (text, place) = (error.to_string(), format!("/none/cache/{}", known.home));
        for part in [known.source, known.files, &place] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }
}

#[test]
fn the_published_folders_of_eth_are_read_without_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("eth_ucy");
    for (part, frames) in [("train", 22), ("val", 21), ("test", 20)] {
        fs::create_dir_all(home.join("eth").join(part)).unwrap();
        fs::write(home.join("eth").join(part).join("a.txt"), pair(frames, 10)).unwrap();
    }
    let locations = Locations { local: Some(folder.path().into()), ..Default::default() };
    let eth = load("ETH", &locations).unwrap();
    assert_eq!(eth.parts().map(|(_, scenes)| scenes.len()), [3, 2, 1]);
    assert_eq!(eth.test[0].path(1)[19], [19.0, 1.0]);
    let error = load("hotel", &locations).unwrap_err().to_string();
    assert!(error.contains("hotel"), "{error}");
}

#[test]
fn a_list_of_files_is_checked_by_sum() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), pair(20, 10)).unwrap();
    let list = "split\tpart\tfile\tsource\tsha256\neth\ttrain\ta\ta.txt\t00\n";
    fs::write(folder.path().join("splits.tsv"), list).unwrap();
    let error = eth_ucy(folder.path(), "eth").unwrap_err().to_string();
    assert!(error.contains("a.txt: sha256 is"), "{error}");
}

#[test]
fn tracks_that_cross_a_border_of_parts_are_in_neither() {
    let folder = tempfile::tempdir().unwrap();
    for part in ["train", "test"] {
        fs::create_dir(folder.path().join(part)).unwrap();
        fs::write(folder.path().join(part).join("a.txt"), pair(210, 12)).unwrap();
    }
    // 147, 21 and 42 frames.
    let by_time = trajnet(folder.path(), TrajNetSplit::ByTime).unwrap();
    assert_eq!(by_time.parts().map(|(_, scenes)| scenes.len()), [128, 2, 23]);
    // 189 and 21 frames, and a file of its own.
    let benchmark = trajnet(folder.path(), TrajNetSplit::Benchmark).unwrap();
    assert_eq!(benchmark.parts().map(|(_, scenes)| scenes.len()), [170, 2, 191]);
    assert_eq!((by_time.name.as_str(), benchmark.name.as_str()), ("sdd", "sdd-trajnet"));
}

#[test]
fn a_file_of_ones_own_is_loaded_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.csv");
    let lines = (0..100).map(|frame| format!("a,{frame},1,{frame},0\n"));
    fs::write(&path, format!("scene,frame,agent,x,y\n{}", lines.collect::<String>())).unwrap();
    let name = path.to_str().unwrap();
    let config = TableConfig { observed: 2, predicted: 3, ..Default::default() };
    let walk = load_with(name, &Locations::default(), &config).unwrap();
    assert_eq!((walk.name.as_str(), walk.steps()), ("walk.csv", 5));
    assert_eq!(walk.parts().map(|(_, scenes)| scenes.len()), [66, 6, 16]);
    let short = load(name, &Locations::default()).unwrap_err().to_string();
    assert!(short.contains("valid: no scene of 20 steps"), "{short}");
    let odd = load(folder.path().to_str().unwrap(), &Locations::default()).unwrap_err().to_string();
    assert!(odd.contains("give a .csv file"), "{odd}");
}
