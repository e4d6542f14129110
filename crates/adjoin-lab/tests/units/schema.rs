//! Other data for a trained model: classes and columns by name.

use adjoin_data::{Features, NodeDataset};
use adjoin_lab::tasks::node::Schema;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Two nodes, of the first and of the second class, with values that tell columns apart.
fn dataset(classes: &[&str], names: &[&str], columns: usize) -> NodeDataset {
    let values = (1..=2 * columns).map(|value| value as f32).collect();
    NodeDataset {
        name: "new".into(),
        features: Features::Dense { rows: 2, columns, values },
        feature_names: words(names),
        edges: vec![(0, 1)],
        weights: None,
        marks: Default::default(),
        labels: vec![0, 1],
        class_names: words(classes),
        missing: None,
        node_ids: Vec::new(),
        splits: Vec::new(),
    }
}

fn schema(classes: &[&str], names: &[&str]) -> Schema {
    let (classes, names) = (words(classes), words(names));
    Schema { classes, columns: names.len(), names, scaling: Default::default() }
}

#[test]
fn classes_and_columns_are_matched_by_name() {
    let schema = schema(&["b", "c", "a"], &["x", "y"]);
    let fitted = schema.fit(dataset(&["a", "b"], &["y", "x"], 2)).unwrap();
    assert_eq!(fitted.labels, [2, 0]);
    assert_eq!(fitted.class_names, schema.classes);
    assert_eq!(fitted.features.to_dense(), [2.0, 1.0, 4.0, 3.0]);
    fitted.validate().unwrap();
}

#[test]
fn unknown_words_are_left_out_and_missing_ones_are_zero() {
    let schema = schema(&["a", "b"], &["x", "words:old", "words:both"]);
    let names = ["x", "words:both", "words:new"];
    let fitted = schema.fit(dataset(&["a", "b"], &names, 3)).unwrap();
    assert_eq!(fitted.features.to_dense(), [1.0, 0.0, 2.0, 4.0, 0.0, 5.0]);
}

/// Categories are matched by name; those that only one side has say nothing.
#[test]
fn unknown_categories_are_left_out_and_missing_ones_are_zero() {
    let schema = schema(&["a", "b"], &["x", "colour=blue", "colour=red"]);
    let fitted = schema.fit(dataset(&["a", "b"], &["x", "colour=green", "colour=red"], 3)).unwrap();
    assert_eq!(fitted.features.to_dense(), [1.0, 0.0, 3.0, 4.0, 0.0, 6.0]);
    let lacking = schema.fit(dataset(&["a", "b"], &["x"], 1)).unwrap_err().to_string();
    assert!(lacking.contains("lacks the column `colour`"), "{lacking}");
    let other = schema.fit(dataset(&["a", "b"], &["x", "colour=red", "size=s"], 3)).unwrap_err();
    assert!(other.to_string().contains("has the column `size=s`"), "{other}");
}

#[test]
fn numbered_classes_and_nameless_columns_keep_their_places() {
    let fitted = schema(&["a", "b", "c"], &["x", "y"]).fit(dataset(&["0", "1"], &[], 2));
    let fitted = fitted.unwrap();
    assert_eq!((fitted.classes(), fitted.labels), (3, vec![0, 1]));
}

#[test]
fn what_the_model_does_not_know_is_named() {
    let schema = schema(&["a", "b"], &["x", "y"]);
    for (classes, names, columns, word) in [
        (["a", "z"], &["x", "y"][..], 2, "`z`"),
        (["a", "b"], &["x", "q"], 2, "`y`"),
        (["a", "b"], &["x", "y", "q"], 3, "`q`"),
        (["a", "b"], &[], 3, "3 features"),
    ] {
        let error = schema.fit(dataset(&classes, names, columns)).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("new"), "{error}");
    }
}
