//! Files that are written once.

use adjoin_lab::{
    Error,
    files::{check_new, write_new},
};
use std::fs;

#[test]
fn files_are_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write_new(&path, b"one", false).unwrap();
    assert!(matches!(write_new(&path, b"two", false), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write_new(&path, b"two", true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    assert!(write_new(folder.path(), b"x", true).is_err());
}

#[test]
fn a_missing_folder_is_seen_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    assert!(check_new(&folder.path().join("a.md"), false).is_ok());
    let wrong = check_new(&folder.path().join("no/a.md"), true).unwrap_err().to_string();
    assert!(wrong.contains("folder is not there"), "{wrong}");
}
