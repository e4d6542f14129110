//! Who was where, when: the rows of one recording, and the scenes cut from them.

use std::collections::BTreeMap;
use std::path::Path;

use super::scene::Scene;
use crate::error::{At, Error, Result};

/// Most positions the scenes of one recording may have together, 1 GiB. Windows overlap, so a file of
/// moderate size and a long window could ask for much more than the file itself.
const MAX_POSITIONS: usize = 1 << 27;

/// One line of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub frame: i64,
    pub agent: i64,
    pub place: [f64; 2],
    /// Whether the agent interacts with nobody.
    pub distractor: bool,
    /// Where it stands in the file, counted from 1.
    pub line: u64,
}

/// How scenes are cut from a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Steps of a scene.
    pub steps: usize,
    /// A scene starts at every `stride`-th frame of the recording.
    pub stride: usize,
    /// Difference of the frame numbers of consecutive steps.
    pub frame_step: i64,
    /// Scenes with fewer agents are left out.
    pub min_agents: usize,
}

/// A recording in order: by agent, then by frame, every pair once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recording {
    name: String,
    rows: Vec<Row>,
}

impl Recording {
    /// Sorts the rows and drops repeated ones. An agent at two places in one frame is an error.
    pub fn new(name: impl Into<String>, mut rows: Vec<Row>, file: &Path) -> Result<Self> {
        rows.sort_by_key(|row| (row.agent, row.frame, row.line));
        let same = |a: &Row, b: &Row| (a.agent, a.frame) == (b.agent, b.frame);
        let clash =
            rows.windows(2).find(|pair| same(&pair[0], &pair[1]) && pair[0].place != pair[1].place);
        if let Some([first, second]) = clash {
            let what = format!(
                "agent {} is at {:?} in frame {}, but line {} has it at {:?}",
                second.agent, second.place, second.frame, first.line, first.place
            );
            return Err(At::line(file, second.line).error(what, "remove one of the two lines"));
        }
        rows.dedup_by(|later, earlier| same(later, earlier));
        Ok(Self { name: name.into(), rows })
    }

    /// The distinct frames, in order.
    fn frames(&self) -> Vec<i64> {
        let mut frames: Vec<i64> = self.rows.iter().map(|row| row.frame).collect();
        frames.sort_unstable();
        frames.dedup();
        frames
    }

    /// Cuts the recording by time: `ceil(shares[0] n)` of its `n` distinct frames, then
    /// `ceil(shares[1] n)`, then the rest. Scenes are cut afterwards, so none lies in two parts.
    pub fn by_time(&self, shares: [f64; 2]) -> [Self; 3] {
        let frames = self.frames();
        let count = |share: f64| (share * frames.len() as f64).ceil() as usize;
        let first = frames.get(count(shares[0])).copied().unwrap_or(i64::MAX);
        let second = frames.get(count(shares[0]) + count(shares[1])).copied().unwrap_or(i64::MAX);
        let part = |from: i64, to: i64| Self {
            name: self.name.clone(),
            rows: self.rows.iter().filter(|row| (from..to).contains(&row.frame)).copied().collect(),
        };
        [part(i64::MIN, first), part(first, second), part(second, i64::MAX)]
    }

    /// The scenes: for every `stride`-th frame the agents that are seen there and in each of the next
    /// `steps - 1` frames at distance `frame_step`, ordered by their number.
    ///
    /// An agent that is missing in the middle of its track is left out of the windows it does not
    /// cover and is in those before and after the gap.
    pub fn scenes(&self, cut: &Cut) -> Result<Vec<Scene>> {
        let follows = |pair: &[Row]| {
            pair[0].agent == pair[1].agent && pair[1].frame - pair[0].frame == cut.frame_step
        };
        // How many steps without a gap start at each row.
        let mut runs = vec![1usize; self.rows.len()];
        for (at, pair) in self.rows.windows(2).enumerate().rev() {
            if follows(pair) {
                runs[at] = runs[at + 1] + 1;
            }
        }
        let mut starts: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        let frames = self.frames();
        for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| runs[*at] >= cut.steps) {
            let place = frames.binary_search(&row.frame).unwrap_or(0);
            if place % cut.stride.max(1) == 0 {
                starts.entry(row.frame).or_default().push(at);
            }
        }
        let is_real = |at: &usize| !self.rows[*at].distractor;
        starts.retain(|_, rows| rows.len() >= cut.min_agents && rows.iter().any(is_real));
        let agents: usize = starts.values().map(Vec::len).sum();
        if agents.checked_mul(cut.steps).is_none_or(|positions| positions > MAX_POSITIONS) {
            let what = format!(
                "{agents} paths of {} steps in recording `{}`, the limit is {MAX_POSITIONS} positions",
                cut.steps, self.name
            );
            let help = "let scenes start less often, or cut the recording in pieces".into();
            return Err(Error::Setting { setting: "stride", what, help });
        }
        Ok(starts
            .into_iter()
            .map(|(frame, starts)| self.scene(frame, &starts, cut.steps))
            .collect())
    }

    fn scene(&self, frame: i64, starts: &[usize], steps: usize) -> Scene {
        let rows = starts.iter().flat_map(|start| &self.rows[*start..start + steps]);
        Scene {
            name: format!("{} {frame}", self.name),
            agents: starts.iter().map(|start| self.rows[*start].agent).collect(),
            steps,
            positions: rows.map(|row| row.place.map(|value| value as f32)).collect(),
            distractors: starts
                .iter()
                .map(|start| &self.rows[*start])
                .filter(|row| row.distractor)
                .map(|row| row.agent)
                .collect(),
        }
    }
}

/// The commonest difference between frames in which an agent is seen one after the other, the smaller
/// of two equally common ones; `None` when no agent is seen twice.
pub(crate) fn usual_frame_step(recording: &Recording) -> Option<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for pair in recording.rows.windows(2).filter(|pair| pair[0].agent == pair[1].agent) {
        *counts.entry(pair[1].frame - pair[0].frame).or_default() += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(step, _)| step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(rows: &[(i64, i64)]) -> Recording {
        let row = |(line, (frame, agent)): (usize, &(i64, i64))| Row {
            frame: *frame,
            agent: *agent,
            place: [*frame as f64, *agent as f64],
            distractor: false,
            line: line as u64 + 1,
        };
        let rows = rows.iter().enumerate().map(row).collect();
        Recording::new("r", rows, Path::new("r.txt")).unwrap()
    }

    const CUT: Cut = Cut { steps: 2, stride: 1, frame_step: 10, min_agents: 1 };

    fn cut(recording: &Recording, cut: Cut) -> Vec<(String, Vec<i64>)> {
        let scenes = recording.scenes(&cut).unwrap();
        scenes.into_iter().map(|scene| (scene.name, scene.agents)).collect()
    }

    #[test]
    fn agents_must_cover_the_window() {
        // Agent 2 is missing in frame 20, agent 1 in none; the rows are in no order.
        let rows = [(20, 1), (0, 2), (0, 1), (10, 1), (30, 1), (10, 2), (30, 2), (40, 2)];
        let scenes = recording(&rows).scenes(&CUT).unwrap();
        let found: Vec<_> = scenes.iter().map(|s| (s.name.as_str(), &s.agents[..])).collect();
        assert_eq!(found, [("r 0", &[1, 2][..]), ("r 10", &[1]), ("r 20", &[1]), ("r 30", &[2])]);
        assert_eq!(scenes[0].path(1), [[0.0, 2.0], [10.0, 2.0]]);
        let two = cut(&recording(&rows), Cut { min_agents: 2, ..CUT });
        assert_eq!(two, [("r 0".to_string(), vec![1, 2])]);
        let strided = cut(&recording(&rows), Cut { stride: 2, ..CUT });
        assert_eq!(strided, [("r 0".to_string(), vec![1, 2]), ("r 20".to_string(), vec![1])]);
    }

    #[test]
    fn repeated_rows_are_dropped_and_contradictions_refused() {
        assert_eq!(recording(&[(0, 1), (10, 1), (0, 1)]).rows.len(), 2);
        let row =
            |x: f64, line| Row { frame: 5, agent: 3, place: [x, 0.0], distractor: false, line };
        let error = Recording::new("r", vec![row(1.0, 9), row(2.0, 4)], Path::new("r.txt"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("r.txt, line 9") && error.contains("line 4 has it"), "{error}");
    }

    #[test]
    fn parts_by_time_round_up_and_do_not_share_frames() {
        let rows: Vec<(i64, i64)> = (0..11).map(|step| (10 * step, 1)).collect();
        let parts = recording(&rows).by_time([0.7, 0.1]);
        assert_eq!(parts.each_ref().map(|part| part.rows.len()), [8, 2, 1]);
        assert_eq!(parts[2].rows[0].frame, 100);
        let all = recording(&rows).by_time([0.9, 0.1]);
        assert_eq!(all.each_ref().map(|part| part.rows.len()), [10, 1, 0]);
    }

    #[test]
    fn the_frame_step_is_the_commonest() {
        let usual = |rows: &[(i64, i64)]| usual_frame_step(&recording(rows));
        let rows = [(0, 1), (12, 1), (24, 1), (30, 1), (3, 2)];
        assert_eq!(usual(&rows), Some(12));
        assert_eq!(usual(&[(0, 1), (5, 2)]), None);
        assert_eq!(usual(&[(0, 1), (5, 1), (13, 1)]), Some(5));
    }

    #[test]
    fn a_window_that_would_fill_the_memory_is_refused() {
        let rows: Vec<(i64, i64)> = (0..40_000).map(|step| (10 * step, 1)).collect();
        let error = recording(&rows).scenes(&Cut { steps: 20_000, ..CUT }).unwrap_err().to_string();
        assert!(error.contains("the limit is"), "{error}");
    }
}
