//! What a trained model sees in a few clouds.

use super::{CloudBatch, PointModel, batch::device, evaluation::predictions};
use crate::Result;
use adjoin_data::points::{Cloud, Point, PointDataset};
use serde::{Deserialize, Serialize};

/// A cloud with what a model predicts of it and how many neighbours it gives every point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CloudRecord {
    /// Name of the cloud.
    pub name: String,
    /// Its class.
    pub class: String,
    /// The class that is predicted.
    pub predicted: String,
    /// The probability of that class.
    pub probability: f32,
    /// The points that the model was given, or some of them.
    pub points: Vec<Point>,
    /// Neighbours of each of these points, itself included, layer by layer.
    pub degrees: Vec<Vec<f32>>,
}

/// Points of a record; of larger clouds, points spread evenly over their list.
const MOST_POINTS: usize = 2048;

/// What a model without autodiff makes of some clouds of a dataset, with `points` of their points.
pub fn inspect(
    model: &PointModel,
    dataset: &PointDataset,
    clouds: &[u32],
    points: usize,
) -> Result<Vec<CloudRecord>> {
    let name = |class: u32| dataset.class_names.get(class as usize).cloned().unwrap_or_default();
    let one = |&at: &u32| {
        let cloud: &Cloud = &dataset.clouds[at as usize];
        let batch = CloudBatch::new([cloud], points, &device());
        let output = model.evaluate(&batch)?;
        let guess = predictions(&output.logits, &[cloud.class]).pop();
        let values: Vec<f32> = batch.points.to_data().iter::<f32>().collect();
        let (places, _) = values.as_chunks::<3>();
        let stride = places.len().div_ceil(MOST_POINTS).max(1);
        let rounded =
            |layer: &Vec<f64>| layer.iter().step_by(stride).map(|k| to_hundredths(*k)).collect();
        Ok(CloudRecord {
            name: cloud.name.clone(),
            class: name(cloud.class),
            predicted: guess.map_or_else(String::new, |guess| name(guess.predicted)),
            probability: guess.map_or(0.0, |guess| to_ten_thousandths(guess.probability as f32)),
            points: places
                .iter()
                .step_by(stride)
                .map(|place| place.map(to_ten_thousandths))
                .collect(),
            degrees: output.degrees.iter().map(rounded).collect(),
        })
    };
    clouds.iter().map(one).collect()
}

/// Files of pictures need no more digits.
fn to_hundredths(value: f64) -> f32 {
    ((value * 100.0).round() / 100.0) as f32
}

fn to_ten_thousandths(value: f32) -> f32 {
    ((f64::from(value) * 1e4).round() / 1e4) as f32
}

/// The first test cloud of every class, of at most `most` classes spread over all.
pub(super) fn examples(dataset: &PointDataset, most: usize) -> Vec<u32> {
    let of_class = |class: u32| {
        let is = |at: &&u32| dataset.clouds[**at as usize].class == class;
        dataset.split.test.iter().find(is).copied()
    };
    let found: Vec<u32> = (0..dataset.classes() as u32).filter_map(of_class).collect();
    let count = found.len().min(most);
    (0..count).map(|n| found[n * found.len() / count]).collect()
}
