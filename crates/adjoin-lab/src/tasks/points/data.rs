//! Clouds in parts.

use super::batch::groups;
use crate::{
    Error, Result,
    files::absolute,
    task::{Dataset, Items, Part, Source},
};
use adjoin::Key;
use adjoin_data::{
    Locations,
    points::{self, Cloud, PointDataset},
};
use std::{path::Path, sync::Arc};

/// Some clouds of a dataset.
#[derive(Clone, Debug)]
pub struct Clouds {
    dataset: Arc<PointDataset>,
    members: Vec<u32>,
}

impl Clouds {
    /// The clouds of a part.
    pub(super) fn part(dataset: &Arc<PointDataset>, part: Part) -> Self {
        let members = match part {
            Part::Validation => dataset.split.valid.clone(),
            Part::Test => dataset.split.test.clone(),
        };
        Self { dataset: dataset.clone(), members }
    }

    /// The training clouds.
    pub(super) fn training(dataset: &Arc<PointDataset>) -> Result<Self> {
        let members = dataset.split.train.clone();
        if members.len() < 2 {
            let what = "there must be two clouds to train with".into();
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        Ok(Self { dataset: dataset.clone(), members })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<&Cloud> {
        self.members.iter().map(|&at| &self.dataset.clouds[at as usize]).collect()
    }

    /// Some of them, by position.
    pub(super) fn chosen(&self, positions: &[u32]) -> Vec<&Cloud> {
        let cloud = |&at: &u32| &self.dataset.clouds[self.members[at as usize] as usize];
        positions.iter().map(cloud).collect()
    }
}

impl Items for Clouds {
    /// Steps of about the same size.
    fn batches(&self, size: usize, key: Key) -> Vec<Vec<u32>> {
        let order = key.permutation(self.members.len());
        groups(order.len(), size).map(|range| order[range].to_vec()).collect()
    }
}

/// Reads clouds.
pub(super) fn load(source: &Source) -> Result<Arc<PointDataset>> {
    source.refuse_of_graphs()?;
    if source.split.is_some() {
        let what = "divides the nodes of a graph; point clouds come with their parts".into();
        return Err(Error::Config { place: "--split".into(), what });
    }
    let dataset =
        points::load(&source.name, &Locations::from_environment(source.data_dir.clone()))?;
    Ok(Arc::new(match source.subset {
        None => dataset,
        Some(count) => dataset.quick(count)?,
    }))
}

impl Dataset for Arc<PointDataset> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        PointDataset::fingerprint(self)
    }

    fn split(&self) -> String {
        self.split.name.clone()
    }

    fn split_hash(&self) -> String {
        self.split.hash()
    }

    fn source(&self, from: &Source) -> Source {
        let name = match points::find(&from.name) {
            Ok(known) => known.name.into(),
            Err(_) => absolute(Path::new(&from.name)).display().to_string(),
        };
        Source { name, data_dir: from.data_dir.as_deref().map(absolute), ..from.clone() }
    }

    fn heading(&self) -> String {
        let [train, valid, test] = self.parts().map(|(_, clouds)| clouds.len());
        let [fewest, most] = self.points();
        format!(
            "{}: {} clouds of {fewest} to {most} points, {} classes; {train} to train, {valid} to \
             validate, {test} to test{}",
            self.name,
            self.clouds.len(),
            self.classes(),
            self.corruption.map_or(String::new(), |corruption| format!("; corrupted {corruption}")),
        )
    }
}
