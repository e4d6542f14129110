//! Point clouds by name and by path, and what is said when they cannot be had.

use std::fs;
use std::path::{Path, PathBuf};

use adjoin_data::points::{FolderConfig, Sampling, find, folder, is_points, list, load, load_with};
use adjoin_data::{Error, Locations};

const CUBE: &str = "OFF\n8 6 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n\
    4 0 1 2 3\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";

fn write(path: PathBuf, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Ten meshes of cubes and ten lines of `points` points.
fn classes(points: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for number in 0..10 {
        write(root.path().join(format!("cube/{number}.off")), CUBE);
        let line: String = (0..points).map(|at| format!("{at},{number},0,9,9\n")).collect();
        write(root.path().join(format!("line/{number}.XYZ")), line);
    }
    root
}

fn error(path: &Path) -> String {
    folder(path, &FolderConfig::default()).unwrap_err().to_string()
}

#[test]
fn names_are_found_loosely_and_suggested() {
    assert_eq!(find("ModelNet40").unwrap().classes, 40);
    let error = find("shape").unwrap_err().to_string();
    assert!(error.contains("did you mean `shapes`"), "{error}");
    let error = load("nowhere", &Locations::default()).unwrap_err();
    assert!(matches!(error, Error::UnknownName { .. }), "{error}");
    let shapes = load("shapes", &Locations::default()).unwrap();
    let known = find("shapes").unwrap();
    assert_eq!(shapes.parts().map(|(_, part)| part.len()), known.shapes);
    assert_eq!((shapes.classes(), shapes.points()), (known.classes, [known.points; 2]));
    assert_eq!(list().len(), 3);
}

#[test]
fn classes_can_be_taken_out_and_parts_stay() {
    let shapes = load("shapes", &Locations::default()).unwrap();
    let names: Vec<&str> = shapes.class_names.iter().map(String::as_str).collect();
    let wanted = [names[7], names[2]];
    let few = shapes.clone().with_classes(&wanted).unwrap();
    assert_eq!(few.class_names, wanted);
    for ((_, all), (_, few_part)) in shapes.parts().into_iter().zip(few.parts()) {
        let of = |class: u32| {
            all.iter().map(|at| &shapes.clouds[*at as usize]).filter(move |c| c.class == class)
        };
        assert_eq!(few_part.len(), of(7).count() + of(2).count());
        for at in few_part {
            let cloud = &few.clouds[*at as usize];
            let old = [7, 2][cloud.class as usize];
            assert!(of(old).any(|c| c.points == cloud.points), "{}", cloud.name);
        }
    }
    let error = shapes.with_classes(&["cube of doubt"]).unwrap_err().to_string();
    assert!(error.contains("cube of doubt"), "{error}");
}

#[test]
fn a_missing_dataset_says_which_files_belong_where() {
    let nowhere = Locations { cache: Some(PathBuf::from("/none/cache")), ..Default::default() };
    let known = find("modelnet40").unwrap();
    let error = load("modelnet40", &nowhere).unwrap_err();
    assert!(matches!(&error, Error::Missing { looked, .. } if looked.len() == 1));
    let text = error.to_string();
    for part in [known.source, known.files, "/none/cache/modelnet40"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    // A folder without its files is as good as none; one with some of them is told which is missing.
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("modelnet40");
    fs::create_dir(&home).unwrap();
    let there = Locations { cache: Some(root.path().into()), ..Default::default() };
    assert!(matches!(load("modelnet40", &there).unwrap_err(), Error::Missing { .. }));
    write(home.join("train_points_i16.npy"), "");
    let text = load("modelnet40", &there).unwrap_err().to_string();
    assert!(text.contains("cannot open") && text.contains("classes.txt"), "{text}");
}

#[test]
fn a_folder_of_ones_own_is_divided_by_seed() {
    let root = classes(12);
    write(root.path().join("notes.txt"), "not a class");
    write(root.path().join("cube/.hidden.off"), "junk");
    write(root.path().join("cube/picture.png"), "junk");
    write(root.path().join("__MACOSX/a.off"), "junk");
    assert!(is_points(root.path()));
    let config = FolderConfig { points: 64, ..Default::default() };
    let name = root.path().to_str().unwrap();
    let made = load_with(name, &Locations::default(), &config).unwrap();
    assert_eq!(made.class_names, ["cube", "line"]);
    assert_eq!(made.parts().map(|(_, part)| part.len()), [14, 2, 4]);
    assert_eq!(made.split.name, "stratified:0.7/0.1/0.2:0");
    assert_eq!(made.points(), [12, 64]);
    assert_eq!(made.clouds[3].name, Path::new("cube").join("3.off").display().to_string());
    assert_ne!(made.clouds[0].points, made.clouds[1].points);
    // Centred, and the farthest at distance 1.
    for cloud in &made.clouds {
        let far = cloud.points.iter().map(|p| p.iter().map(|v| v * v).sum::<f32>().sqrt());
        assert!((far.fold(0.0, f32::max) - 1.0).abs() < 1e-6);
    }
    let again = folder(root.path(), &config).unwrap();
    assert_eq!(again, made);
    let other = folder(root.path(), &FolderConfig { seed: 1, ..config }).unwrap();
    assert_ne!(other.fingerprint(), made.fingerprint());
    assert_ne!(other.split.hash(), made.split.hash());
    // Some have fewer points than all are asked for.
    let error = made.with_points(13, Sampling::First).unwrap_err().to_string();
    assert!(error.contains("0.XYZ` has 12 of 13 points"), "{error}");
}

#[test]
fn the_published_folders_of_modelnet_are_read() {
    let root = tempfile::tempdir().unwrap();
    for class in ["bed", "chair"] {
        for number in 0..10 {
            let part = if number < 8 { "train" } else { "test" };
            write(root.path().join(format!("modelnet40/{class}/{part}/{number}.off")), CUBE);
        }
    }
    let locations = Locations { local: Some(root.path().into()), ..Default::default() };
    let made = load("modelnet40", &locations).unwrap();
    assert_eq!(
        (made.name.as_str(), made.split.name.as_str()),
        ("modelnet40", "official+valid:0.1:0")
    );
    assert_eq!(made.parts().map(|(_, part)| part.len()), [14, 2, 4]);
    assert_eq!(made.points(), [1024; 2]);
    for shape in &made.split.test {
        assert!(made.clouds[*shape as usize].name.contains("test"));
    }
    fs::remove_dir_all(root.path().join("modelnet40/bed/test")).unwrap();
    let error = load("modelnet40", &locations).unwrap_err().to_string();
    assert!(error.contains("cannot list") && error.contains("test"), "{error}");
}

#[test]
fn classes_can_be_listed_and_unknown_ones_are_refused() {
    let root = classes(3);
    write(root.path().join("classes.txt"), "line\ncube\n");
    let made = folder(root.path(), &FolderConfig::default()).unwrap();
    assert_eq!((made.class_names[0].as_str(), made.clouds[0].points.len()), ("line", 3));
    for (list, part) in [
        ("line\n", "cube: the folder is of an unknown class `cube`"),
        ("line\ncube\nbed\n", "classes.txt: class `bed` has no folder"),
        ("line\ncube\n\nline\n", "classes.txt, line 4: class `line` is there twice"),
        ("\n", "classes.txt: no class is named"),
    ] {
        write(root.path().join("classes.txt"), list);
        let error = error(root.path());
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn bad_files_and_folders_are_named() {
    let root = classes(3);
    let bad = |name: &str, bytes: &[u8], part: &str| {
        let path = root.path().join("cube").join(name);
        write(path.clone(), bytes);
        let error = error(root.path());
        fs::remove_file(path).unwrap();
        assert!(error.contains(name) && error.contains(part), "`{part}` is not in: {error}");
    };
    bad("a.off", b"OFF\n1 0 0\n0 0 0\n", "the mesh has no faces");
    bad("a.off", b"OFF\n1 1 0\n0 0 0\n3 0 0 0\n", "have no area");
    bad("a.off", &CUBE.as_bytes()[..CUBE.len() - 10], "line 15: the file ends after 5 of 6 faces");
    bad("a.ply", b"ply\n", "the header does not end");
    bad("a.txt", b"1 2 inf\n", "line 1, field `z`");
    bad("a.csv", b"x,y,z\n", "line 1, field `x`");
    bad("a.npy", b"junk", "not a NumPy array");
    fs::create_dir(root.path().join("nothing")).unwrap();
    assert!(error(root.path()).contains("nothing: no shape is in the folder"));
    let empty = tempfile::tempdir().unwrap();
    assert!(error(empty.path()).contains("no folder of a class"));
    assert!(!is_points(empty.path()));
    let file = root.path().join("cube/0.off");
    let text = load(file.to_str().unwrap(), &Locations::default()).unwrap_err().to_string();
    assert!(text.contains("give a folder"), "{text}");
    for config in [
        FolderConfig { points: 0, ..Default::default() },
        FolderConfig { points: usize::MAX, ..Default::default() },
        FolderConfig { valid: 0.0, ..Default::default() },
        FolderConfig { test: 0.95, ..Default::default() },
    ] {
        let error = folder(classes(3).path(), &config).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }), "{error}");
    }
    let one = tempfile::tempdir().unwrap();
    write(one.path().join("cube/a.off"), CUBE);
    assert!(error(one.path()).contains("valid: no shape"));
}

/// The folder of the small HDF5 files, with the names of the classes.
fn hdf5() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for name in ["ply_data_train0.h5", "ply_data_test0.h5"] {
        fs::copy(data.join(name), root.path().join(name)).unwrap();
    }
    write(root.path().join("shape_names.txt"), "bed\nchair\n");
    root
}

#[cfg(not(feature = "hdf5"))]
#[test]
fn hdf5_files_ask_for_the_feature() {
    let root = hdf5();
    assert!(is_points(root.path()));
    let error = load(root.path().to_str().unwrap(), &Locations::default()).unwrap_err();
    assert!(error.to_string().contains("--features hdf5"), "{error}");
}

#[cfg(feature = "hdf5")]
mod with_hdf5 {
    use adjoin_data::points::modelnet40_hdf5;

    use super::*;

    /// As scripts/make_hdf5_sample.py wrote them, compressed and not.
    #[test]
    fn hdf5_files_are_read() {
        let read = load(hdf5().path().to_str().unwrap(), &Locations::default()).unwrap();
        assert_eq!(read.parts().map(|(_, part)| part.len()), [18, 2, 4]);
        assert_eq!((read.points(), read.split.name.as_str()), ([8; 2], "official+valid:0.1:0"));
        for (number, cloud) in read.clouds.iter().enumerate() {
            let shape = if number < 20 { number } else { number - 20 };
            assert_eq!(cloud.class, shape as u32 % 2);
            let expected = |at: u8| [shape as f32, f32::from(at), -f32::from(at)].map(|v| v / 8.0);
            let points: Vec<[f32; 3]> = (0..8).map(expected).collect();
            assert_eq!(cloud.points, points);
        }
        assert_eq!(read.clouds[21].name, "ply_data_test0 1");
    }

    #[test]
    fn damaged_hdf5_files_are_refused() {
        let root = hdf5();
        write(root.path().join("shape_names.txt"), "bed\n");
        let error = modelnet40_hdf5(root.path()).unwrap_err().to_string();
        assert!(error.contains("field `label`: row 1 is of the unknown class 1"), "{error}");
        write(root.path().join("shape_names.txt"), "bed\nchair\n");
        let file = root.path().join("ply_data_train0.h5");
        let whole = fs::read(&file).unwrap();
        for length in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
            fs::write(&file, &whole[..length]).unwrap();
            let error = modelnet40_hdf5(root.path()).unwrap_err().to_string();
            assert!(error.contains("ply_data_train0.h5, field `data`"), "{error}");
        }
        // A changed byte may go unnoticed or be refused, but nothing panics.
        for place in (0..whole.len()).step_by(5) {
            let mut changed = whole.clone();
            changed[place] ^= 0xff;
            fs::write(&file, &changed).unwrap();
            let _ = modelnet40_hdf5(root.path());
        }
    }
}

#[test]
fn damaged_clouds_are_written_and_read_as_they_are() {
    use adjoin_data::{
        Existing,
        points::{Corruption, Damage, PointDataset, write_corrupted},
    };
    let root = tempfile::tempdir().unwrap();
    let made = load("shapes", &Locations::default()).unwrap().quick(4).unwrap();
    for (name, damage) in Damage::ALL {
        let corruption = Corruption { damage, level: 3, seed: 7 };
        let damaged = made.clone().corrupted(corruption).unwrap();
        assert_eq!(damaged.parts().map(|(_, part)| part.len()), [0, 0, made.split.test.len()]);
        let path = root.path().join(name);
        write_corrupted(&damaged, &path, Existing::Refuse).unwrap();
        let read = load(path.to_str().unwrap(), &Locations::default()).unwrap();
        assert_eq!((read.corruption, &read.name[..]), (Some(corruption), name));
        // Files are numbered, so within a class they come in the order in which they were written.
        let sorted = |dataset: &PointDataset| {
            let mut clouds: Vec<_> =
                dataset.clouds.iter().map(|cloud| (cloud.class, cloud.points.clone())).collect();
            clouds.sort_by_key(|cloud| cloud.0);
            clouds
        };
        assert_eq!(sorted(&read), sorted(&damaged), "{name}: to the bit");
        assert!(write_corrupted(&damaged, &path, Existing::Refuse).is_err());
        write_corrupted(&damaged, &path, Existing::Replace).unwrap();
    }
    let jitter = root.path().join("jitter");
    fs::write(jitter.join("corruption.txt"), "dent:1:0").unwrap();
    let error = load(jitter.to_str().unwrap(), &Locations::default()).unwrap_err().to_string();
    assert!(error.contains("corruption.txt") && error.contains("dent"), "{error}");
    fs::remove_file(jitter.join("corruption.txt")).unwrap();
    let again = made.clone().corrupted("jitter:1:0".parse().unwrap()).unwrap();
    assert!(write_corrupted(&again, &jitter, Existing::Replace).is_err(), "not ours to replace");
    assert!(write_corrupted(&made, &root.path().join("clean"), Existing::Refuse).is_err());
}
