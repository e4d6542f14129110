//! The Stanford Drone Dataset in the form of the TrajNet benchmark.

use std::path::Path;

use super::eth_ucy::text_files;
use super::recording::Cut;
use super::scene::{Scene, TrajectoryDataset};
use super::text::recording;
use crate::error::Result;

/// Windows of 8 + 12 steps of 0.4 s from every frame; as published, one agent alone is no scene.
const CUT: Cut = Cut { steps: 20, stride: 1, frame_step: 12, min_agents: 2 };

/// Which scenes are for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajNetSplit {
    /// As DAG-Net: of every recording in `train`, the first 70 % of the frames for training, the next
    /// 10 % for validation, the last 20 % for testing. `test` is not used.
    ByTime,
    /// As the benchmark: recordings in `test` for testing; of every recording in `train`, the first
    /// 90 % of the frames for training and the last 10 % for validation.
    Benchmark,
}

/// Reads `FOLDER/{train,test}/*.txt`: lines of `frame agent x y` in metres, twelve frames a step.
///
/// Every track in these files has exactly 20 steps, so a scene is made of the agents whose tracks start
/// in the same frame, at least two. Tracks that cross the border of two parts are in neither. Origins
/// differ from recording to recording, and the scale of `hyang_1` (in `test`) is uncertain.
pub fn trajnet(folder: &Path, split: TrajNetSplit) -> Result<TrajectoryDataset> {
    let shares = match split {
        TrajNetSplit::ByTime => [0.7, 0.1],
        TrajNetSplit::Benchmark => [0.9, 0.1],
    };
    let mut parts: [Vec<Scene>; 3] = Default::default();
    for path in text_files(&folder.join("train"))? {
        for (part, cut) in parts.iter_mut().zip(recording(&path)?.by_time(shares)) {
            part.extend(cut.scenes(&CUT)?);
        }
    }
    let [train, valid, mut test] = parts;
    let mut name = "sdd";
    if split == TrajNetSplit::Benchmark {
        name = "sdd-trajnet";
        for path in text_files(&folder.join("test"))? {
            test.extend(recording(&path)?.scenes(&CUT)?);
        }
    }
    let name = name.to_string();
    let dataset =
        TrajectoryDataset { name, observed: 8, predicted: 12, seconds: 0.4, train, valid, test };
    dataset.validate()?;
    Ok(dataset)
}
