//! Goals: the cell of a grid that an agent is heading for.

use super::Tracks;
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

/// Settings of goals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoalConfig {
    /// Cells along x and y (published: 32 x 30 pedestrians, 9 x 10 basketball).
    pub cells: [usize; 2],
    /// What counts as a goal.
    pub rule: GoalRule,
}

impl Default for GoalConfig {
    fn default() -> Self {
        Self { cells: [32, 30], rule: GoalRule::Window(3) }
    }
}

impl GoalConfig {
    /// A grid over all places of some scenes.
    ///
    /// # Errors
    /// If a setting is out of range, or there is no place.
    pub fn fit(&self, scenes: &[Scene]) -> Result<GoalGrid> {
        let wrong = |what: &str| Error::Config { place: "goals".into(), what: what.into() };
        if self.cells.contains(&0) {
            return Err(wrong("cells must be at least 1 along x and y"));
        }
        match self.rule {
            GoalRule::Window(0) => return Err(wrong("window must be at least 1")),
            GoalRule::Standing(metres) if metres.is_nan() || metres <= 0.0 => {
                return Err(wrong("standing must be above 0"));
            }
            _ => {}
        }
        let places = || scenes.iter().flat_map(|scene| &scene.positions);
        let [low, high] = [f32::min, f32::max].map(|pick: fn(f32, f32) -> f32| {
            places().copied().reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1])])
        });
        let (Some(low), Some(high)) = (low, high) else {
            return Err(wrong("there is no place to lay a grid over"));
        };
        let cell = [0, 1].map(|axis| {
            // A line of places still has cells of some size.
            ((high[axis] - low[axis]) / self.cells[axis] as f32).max(1e-3)
        });
        Ok(GoalGrid { low, cell, cells: self.cells, rule: self.rule })
    }
}

/// A grid of cells, and the rule that says which of them is an agent's goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalGrid {
    low: [f32; 2],
    cell: [f32; 2],
    cells: [usize; 2],
    rule: GoalRule,
}

impl GoalGrid {
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

    /// A place as two numbers between -1 and 1 within the grid.
    pub fn relative(&self, place: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| {
            let half = self.cell[axis] * self.cells[axis] as f32 / 2.0;
            (place[axis] - self.low[axis]) / half - 1.0
        })
    }

    /// The goal of every agent at every moment, `[moments, agents]`. Only the moments of the tracks are
    /// looked at: of observed tracks, goals do not know the future.
    pub fn goals(&self, tracks: &Tracks) -> Vec<u32> {
        let (agents, moments) = (tracks.agents(), tracks.moments());
        let mut goals = vec![0; agents * moments];
        let steps = tracks.steps();
        for moment in (0..moments).rev() {
            let last = moment + 1 == moments;
            for agent in 0..agents {
                let at = moment * agents + agent;
                let here = match self.rule {
                    GoalRule::Window(window) => last || (moment + 1).is_multiple_of(window),
                    GoalRule::Standing(metres) => {
                        last || f64::from(steps[at][0]).hypot(f64::from(steps[at][1])) < metres
                    }
                };
                goals[at] = if here { self.cell(tracks.places[at]) } else { goals[at + agents] };
            }
        }
        goals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adjoin::Batch;

    fn track(xs: &[f32]) -> Tracks {
        Tracks { scenes: Batch::single(1), places: xs.iter().map(|&x| [x, 0.0]).collect() }
    }

    fn grid(rule: GoalRule) -> GoalGrid {
        GoalGrid { low: [0.0; 2], cell: [1.0; 2], cells: [8, 2], rule }
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
        assert_eq!(grid.relative([4.0, 2.0]), [0.0, 1.0]);
        assert_eq!(grid.cells(), 16);
    }

    #[test]
    fn a_grid_covers_its_scenes() {
        let positions = vec![[-1.0, 2.0], [3.0, 2.0]];
        let scene = Scene { name: "s".into(), agents: vec![1], steps: 2, positions };
        let config = GoalConfig { cells: [4, 2], rule: GoalRule::Window(1) };
        let grid = config.fit(std::slice::from_ref(&scene)).unwrap();
        assert_eq!(
            [grid.cell([-1.0, 2.0]), grid.cell([2.9, 2.0]), grid.cell([0.5, 2.0])],
            [0, 3, 1]
        );
        assert!(config.fit(&[]).is_err());
        assert!(GoalConfig { cells: [0, 2], ..config.clone() }.fit(&[]).is_err());
        assert!(GoalConfig { rule: GoalRule::Window(0), ..config }.fit(&[scene]).is_err());
    }
}
