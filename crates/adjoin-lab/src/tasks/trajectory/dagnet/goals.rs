//! Goals: the cell of a grid that an agent is heading for.

use super::{
    Tracks,
    tracks::{PER_METRE, difference},
};
use crate::{Error, Result};
use adjoin_data::trajectory::Scene;
use serde::{Deserialize, Serialize};

/// What an agent is heading for at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalRule {
    /// The cell it is in at the end of a window of so many steps (pedestrians; published: 3).
    Window(usize),
    /// The cell in which it next stands, i.e. moves less than so many metres in a step; the last moment
    /// counts as standing (basketball).
    Standing(f64),
}

/// What the cells of the grid are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalFrame {
    /// Nothing: cells are places of the recording, as published. Right where all recordings have one
    /// origin, as on a basketball court.
    World,
    /// The mean place of the scene's agents while they are observed.
    Scene,
    /// The agent itself, one moment earlier: a goal is a direction and a distance, and means the same
    /// everywhere.
    #[default]
    Agent,
}

/// Settings of goals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoalConfig {
    /// Cells along x and y (published: 32 x 30 pedestrians, 9 x 10 basketball).
    pub cells: [usize; 2],
    /// What counts as a goal.
    pub rule: GoalRule,
    /// What cells are relative to.
    pub frame: GoalFrame,
}

impl Default for GoalConfig {
    fn default() -> Self {
        Self { cells: [32, 30], rule: GoalRule::Window(3), frame: GoalFrame::Agent }
    }
}

/// Attention over goals has weights for every cell, and a dense blend for every pair of cells.
const MOST_CELLS: usize = 10_000;

impl GoalConfig {
    /// A grid over all places of some scenes, of which so many moments are observed.
    ///
    /// # Errors
    /// If a setting is out of range, or there is no place.
    pub fn fit(&self, scenes: &[Scene], observed: usize) -> Result<GoalGrid> {
        let wrong = |what: &str| Error::Config { place: "goals".into(), what: what.into() };
        if self.cells.contains(&0) {
            return Err(wrong("cells must be at least 1 along x and y"));
        }
        if self.cells[0].checked_mul(self.cells[1]).is_none_or(|cells| cells > MOST_CELLS) {
            return Err(wrong("there may be at most 10000 cells"));
        }
        match self.rule {
            GoalRule::Window(0) => return Err(wrong("window must be at least 1")),
            GoalRule::Standing(metres) if metres.is_nan() || metres <= 0.0 => {
                return Err(wrong("standing must be above 0"));
            }
            _ => {}
        }
        let mut places: Vec<[f32; 2]> = Vec::new();
        for scene in scenes {
            let tracks = self.frame.tracks(Tracks::of_scene(scene), observed);
            let goals = goals_of(self.rule, &tracks);
            places.extend((0..goals.len()).map(|at| self.frame.relative(&tracks, goals[at], at)));
        }
        let [low, high] = [f32::min, f32::max].map(|pick: fn(f32, f32) -> f32| {
            places.iter().copied().reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1])])
        });
        let (Some(low), Some(high)) = (low, high) else {
            return Err(wrong("there is no place to lay a grid over"));
        };
        let cell = [0, 1].map(|axis| {
            // A line of places still has cells of some size.
            ((high[axis] - low[axis]) / self.cells[axis] as f32).max(1e-3)
        });
        Ok(GoalGrid { low, cell, cells: self.cells, rule: self.rule, frame: self.frame })
    }
}

/// A grid of cells, and the rule that says which of them is an agent's goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalGrid {
    low: [f32; 2],
    cell: [f32; 2],
    cells: [usize; 2],
    rule: GoalRule,
    frame: GoalFrame,
}

impl GoalFrame {
    /// Tracks in this frame, `observed` of whose moments are observed.
    fn tracks(self, tracks: Tracks, observed: usize) -> Tracks {
        match self {
            Self::World => tracks,
            Self::Scene | Self::Agent => tracks.centred(observed),
        }
    }

    /// The place of one node of the tracks as the agent of another sees it.
    fn relative(self, tracks: &Tracks, goal: usize, at: usize) -> [f32; 2] {
        let place = tracks.places[goal];
        match self {
            Self::World | Self::Scene => place,
            Self::Agent => {
                difference(place, tracks.places[at.checked_sub(tracks.agents()).unwrap_or(at)])
            }
        }
    }
}

impl GoalGrid {
    /// Tracks in the frame of the grid, `observed` of whose moments are observed.
    pub(super) fn frame(&self, tracks: Tracks, observed: usize) -> Tracks {
        self.frame.tracks(tracks, observed)
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells[0] * self.cells[1]
    }

    /// The cell of a place; places outside belong to the nearest cell.
    pub fn cell(&self, place: [f32; 2]) -> u32 {
        let [x, y] = [0, 1].map(|axis| {
            let at = (place[axis] - self.low[axis]) / self.cell[axis];
            (at.max(0.0) as usize).min(self.cells[axis] - 1)
        });
        (y * self.cells[0] + x) as u32
    }

    /// A place of the tracks as two numbers of about 1.
    pub(super) fn scaled(&self, place: [f32; 2]) -> [f32; 2] {
        match self.frame {
            GoalFrame::Scene | GoalFrame::Agent => place.map(|v| v * PER_METRE),
            GoalFrame::World => [0, 1].map(|axis| {
                let half = self.cell[axis] * self.cells[axis] as f32 / 2.0;
                (place[axis] - self.low[axis]) / half - 1.0
            }),
        }
    }

    /// The goal of every agent at every moment, `[moments, agents]`. Only the moments of the tracks are
    /// looked at: of observed tracks, goals do not know the future.
    pub fn goals(&self, tracks: &Tracks) -> Vec<u32> {
        let goals = goals_of(self.rule, tracks).into_iter().enumerate();
        goals.map(|(at, goal)| self.cell(self.frame.relative(tracks, goal, at))).collect()
    }
}

/// For every agent at every moment the node, `moment * agents + agent`, at whose place its goal is.
fn goals_of(rule: GoalRule, tracks: &Tracks) -> Vec<usize> {
    let (agents, moments) = (tracks.agents(), tracks.moments());
    let mut goals = vec![0; agents * moments];
    let steps = tracks.steps();
    for moment in (0..moments).rev() {
        let last = moment + 1 == moments;
        for at in moment * agents..(moment + 1) * agents {
            let here = match rule {
                GoalRule::Window(window) => last || (moment + 1).is_multiple_of(window),
                GoalRule::Standing(metres) => {
                    last || f64::from(steps[at][0]).hypot(f64::from(steps[at][1])) < metres
                }
            };
            goals[at] = if here { at } else { goals[at + agents] };
        }
    }
    goals
}

#[cfg(test)]
mod tests {
    use super::*;
    use adjoin::Batch;

    fn track(xs: &[f32]) -> Tracks {
        let places = xs.iter().map(|&x| [x, 0.0]).collect();
        Tracks { scenes: Batch::single(1), places, centres: vec![[0.0; 2]], counted: vec![true] }
    }

    fn grid(rule: GoalRule) -> GoalGrid {
        GoalGrid { low: [0.0; 2], cell: [1.0; 2], cells: [8, 2], rule, frame: GoalFrame::World }
    }

    #[test]
    fn windows_end_every_so_many_steps() {
        let tracks = track(&[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
        assert_eq!(grid(GoalRule::Window(3)).goals(&tracks), [2, 2, 2, 5, 5, 5, 6]);
    }

    #[test]
    fn agents_head_for_where_they_next_stand() {
        let tracks = track(&[0.5, 1.5, 3.5, 3.6, 5.5, 5.55, 7.5]);
        assert_eq!(grid(GoalRule::Standing(0.2)).goals(&tracks), [0, 3, 3, 3, 5, 5, 7]);
    }

    #[test]
    fn places_outside_belong_to_the_nearest_cell() {
        let grid = grid(GoalRule::Window(1));
        assert_eq!(grid.cell([-3.0, 9.0]), 8);
        assert_eq!(grid.cell([99.0, -1.0]), 7);
        assert_eq!(grid.scaled([4.0, 2.0]), [0.0, 1.0]);
        assert_eq!(grid.cells(), 16);
    }

    #[test]
    fn agents_may_see_goals_from_where_they_were() {
        let tracks = track(&[0.5, 1.5, 3.5, 3.6]);
        let grid = GoalGrid { frame: GoalFrame::Agent, ..grid(GoalRule::Window(2)) };
        assert_eq!(grid.goals(&tracks), [1, 1, 2, 0]);
    }

    #[test]
    fn a_grid_covers_its_scenes() {
        let positions = vec![[-1.0, 2.0], [3.0, 2.0]];
        let scene =
            Scene { name: "s".into(), agents: vec![1], steps: 2, positions, distractors: vec![] };
        let rule = GoalRule::Window(1);
        let config = GoalConfig { cells: [4, 2], rule, frame: GoalFrame::World };
        let grid = config.fit(std::slice::from_ref(&scene), 1).unwrap();
        assert_eq!(
            [grid.cell([-1.0, 2.0]), grid.cell([2.9, 2.0]), grid.cell([0.5, 2.0])],
            [0, 3, 1]
        );
        assert!(config.fit(&[], 1).is_err());
        assert!(GoalConfig { cells: [0, 2], ..config.clone() }.fit(&[], 1).is_err());
        assert!(GoalConfig { rule: GoalRule::Window(0), ..config }.fit(&[scene], 1).is_err());
    }
}
