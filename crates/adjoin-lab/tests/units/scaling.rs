//! Features as models see them: scaled by numbers of the training nodes, missing values filled in.

use adjoin_data::{Features, NodeDataset, cora};
use adjoin_lab::tasks::node::{FeatureConfig, Missing, Scale, Scaling};

fn dataset(features: Features, names: &[&str]) -> NodeDataset {
    let nodes = features.rows();
    NodeDataset {
        name: "own".into(),
        features,
        missing: None,
        feature_names: names.iter().map(|name| name.to_string()).collect(),
        edges: Vec::new(),
        weights: None,
        marks: Default::default(),
        labels: vec![0; nodes],
        class_names: vec!["a".into()],
        node_ids: Vec::new(),
        splits: Vec::new(),
    }
}

fn dense(columns: usize, values: &[f32]) -> NodeDataset {
    dataset(Features::Dense { rows: values.len() / columns, columns, values: values.into() }, &[])
}

fn fit(scale: Scale, missing: Missing, data: &NodeDataset, training: &[u32]) -> Scaling {
    Scaling::fit(&FeatureConfig { scale, missing }, data, training).unwrap()
}

fn auto(data: &NodeDataset, training: &[u32]) -> Scaling {
    fit(Scale::Auto, Missing::Refuse, data, training)
}

/// Only training nodes give mean and deviation; what is constant among them becomes 0, and 0/1 stays.
#[test]
fn numeric_columns_are_standardised_by_training_nodes() {
    let data = dense(3, &[1.0, 7.0, 0.0, 3.0, 7.0, 1.0, 100.0, 9.0, 1.0]);
    let scaling = auto(&data, &[0, 1]);
    let scaled = scaling.apply(&data).unwrap().to_dense();
    assert_eq!(scaled, [-1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 98.0, 0.0, 1.0]);
    assert_eq!(scaling.about(), "features: 2 of 3 standardised (training nodes)");
    // The same numbers for other data, after a record was written and read.
    let text = serde_json::to_string(&scaling).unwrap();
    let other = serde_json::from_str::<Scaling>(&text).unwrap();
    assert_eq!(other, scaling);
    let new = dense(3, &[2.0, 8.0, 1.0]);
    assert_eq!(other.apply(&new).unwrap().to_dense(), [0.0, 0.0, 1.0]);
}

#[test]
fn constant_columns_that_are_no_round_number_give_no_nan() {
    let data = dense(1, &[0.1, 0.1, 0.1, 0.3]);
    let scaled = auto(&data, &[0, 1, 2]).apply(&data).unwrap().to_dense();
    assert_eq!(scaled, [0.0; 4]);
}

#[test]
fn bags_of_words_are_scaled_by_row() {
    let cora = cora().unwrap();
    let scaling = auto(&cora, &(0..140).collect::<Vec<_>>());
    assert_eq!(scaling.about(), "features: rows scaled to sum 1");
    let mut rows = cora.features.clone();
    rows.row_normalise(0..1433);
    assert_eq!(scaling.apply(&cora).unwrap(), rows);

    // Counts of named words beside a number: each is scaled as what it is.
    let rows = vec![vec![(0, 4.0), (1, 1.0), (2, 3.0)], vec![(0, 8.0), (2, 2.0)]];
    let data = dataset(Features::from_rows(3, rows).unwrap(), &["size", "words:a", "words:b"]);
    let scaling = auto(&data, &[0, 1]);
    let scaled = scaling.apply(&data).unwrap();
    assert_eq!(scaled.to_dense(), [-1.0, 0.25, 0.75, 1.0, 0.0, 1.0]);
    assert!(scaling.about().contains("1 of 3 standardised"), "{}", scaling.about());
}

#[test]
fn a_dense_table_of_counts_is_no_bag_of_words() {
    let pixels: Vec<f32> =
        (0..2 * 64).map(|at| if at % 2 == 0 { 0.0 } else { at as f32 }).collect();
    let scaling = auto(&dense(64, &pixels), &[0, 1]);
    assert!(scaling.about().contains("standardised"), "{}", scaling.about());
}

#[test]
fn other_scales_do_what_they_are_called() {
    let data = dense(2, &[1.0, -3.0, 2.0, 0.0, 8.0, 6.0]);
    let of = |scale| {
        let scaling = fit(scale, Missing::Refuse, &data, &[0, 1]);
        scaling.apply(&data).unwrap().to_dense()
    };
    assert_eq!(of(Scale::None), [1.0, -3.0, 2.0, 0.0, 8.0, 6.0]);
    assert_eq!(of(Scale::Row), [0.25, -0.75, 1.0, 0.0, 8.0 / 14.0, 6.0 / 14.0]);
    assert_eq!(of(Scale::Max), [0.5, -1.0, 1.0, 0.0, 4.0, 2.0]);
    assert_eq!(of(Scale::Standard)[..4], [-1.0, -1.0, 1.0, 1.0]);
}

/// A shifted column of a sparse matrix is written where nothing is stored, and others stay sparse.
#[test]
fn sparse_and_dense_are_scaled_alike() {
    let rows = vec![vec![(1, 2.0), (3, f32::NAN)], vec![(0, 3.0)], vec![(1, 1.0), (3, 5.0)]];
    let sparse = dataset(Features::from_rows(4, rows).unwrap(), &[]);
    let dense = dense(4, &sparse.features.to_dense());
    for scale in [Scale::Auto, Scale::None, Scale::Standard, Scale::Max, Scale::Row] {
        let of = |data: &NodeDataset| {
            fit(scale, Missing::Impute, data, &[0, 1, 2]).apply(data).unwrap().to_dense()
        };
        assert_eq!(of(&sparse), of(&dense), "{scale:?}");
        assert_eq!(of(&sparse).len(), 3 * 5);
    }
}

#[test]
fn missing_values_are_refused_or_imputed_and_marked() {
    let data = dense(2, &[1.0, f32::NAN, 3.0, 4.0, f32::NAN, 6.0]);
    let refused = Scaling::fit(&FeatureConfig::default(), &data, &[0, 1]).unwrap_err().to_string();
    assert!(refused.contains("own") && refused.contains("features.missing=impute"), "{refused}");
    let scaling = fit(Scale::None, Missing::Impute, &data, &[0, 1]);
    let filled = scaling.apply(&data).unwrap();
    assert_eq!(filled.columns(), 4);
    let expected = [1.0, 4.0, 0.0, 1.0, 3.0, 4.0, 0.0, 0.0, 2.0, 6.0, 1.0, 0.0];
    assert_eq!(filled.to_dense(), expected);
    assert!(scaling.about().contains("missing values in 2"), "{}", scaling.about());
    // A model that was trained without missing values cannot be used with them.
    let whole = dense(2, &[1.0, 2.0, 3.0, 4.0]);
    let trained = auto(&whole, &[0, 1]);
    assert!(trained.apply(&data).is_err());
}
