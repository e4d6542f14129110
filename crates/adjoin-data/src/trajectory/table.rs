//! A user's own trajectories: a CSV file of `scene, frame, agent, x, y`.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use csv::StringRecord;

use super::recording::{Cut, Recording, Row, usual_frame_step};
use super::scene::{Scene, TrajectoryDataset};
use super::text::{MAX_RECORDING_BYTES, place, whole};
use crate::error::{At, Error, Result};
use crate::read::{Rows, limited_bytes};

/// How a user's recordings are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Of every recording, the first 70 % of the frames (rounded up) for training, the next 10 %
    /// (rounded up) for validation, the rest for testing. A track that crosses a border is cut there.
    Time,
    /// Whole recordings, in the order in which the file names them first: the last 20 % for testing,
    /// the 10 % before them for validation (both rounded down, but at least one), the rest for training.
    Scene,
}

/// What new recordings are for, when a model is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To compare predictions with what happened: scenes need all steps.
    Compare,
    /// To predict: scenes need the observed steps only.
    Predict,
}

/// Settings of [`csv()`].
#[derive(Debug, Clone, PartialEq)]
pub struct TableConfig {
    /// Steps that are seen.
    pub observed: usize,
    /// Steps that are to be predicted.
    pub predicted: usize,
    /// A scene starts at every `stride`-th frame of a recording.
    pub stride: usize,
    /// Difference of the frame numbers of consecutive steps; `None` takes the commonest of each recording.
    pub frame_step: Option<i64>,
    /// Seconds between steps.
    pub seconds: f64,
    /// Scenes with fewer agents are left out.
    pub min_agents: usize,
    /// How the recordings are divided; `None` divides by time if every part gets scenes so, or else whole
    /// recordings.
    pub split: Option<SplitBy>,
}

impl Default for TableConfig {
    /// 8 + 12 steps of 0.4 s from every frame, as for pedestrians; one agent is enough.
    fn default() -> Self {
        Self {
            observed: 8,
            predicted: 12,
            stride: 1,
            frame_step: None,
            seconds: 0.4,
            min_agents: 1,
            split: None,
        }
    }
}

impl FromStr for TableConfig {
    type Err = Error;

    /// `time` or `scene`, and after a colon the numbers of steps seen and predicted: `scene:8/12`. Either
    /// may be left out.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Setting {
            setting: "split",
            what: format!("`{text}` divides no recordings"),
            help: "write time or scene, and if wanted the steps seen and predicted: scene:8/12"
                .into(),
        };
        let mut config = Self::default();
        let (split, steps) = match text.split_once(':') {
            Some((split, steps)) => (split, Some(steps)),
            None if text.contains('/') => ("", Some(text)),
            None => (text, None),
        };
        config.split = match split {
            "time" => Some(SplitBy::Time),
            "scene" => Some(SplitBy::Scene),
            "" => None,
            _ => return Err(wrong()),
        };
        if let Some(steps) = steps {
            let (seen, told) = steps.split_once('/').ok_or_else(wrong)?;
            config.observed = seen.parse().map_err(|_| wrong())?;
            config.predicted = told.parse().map_err(|_| wrong())?;
        }
        config.check()?;
        Ok(config)
    }
}

impl TableConfig {
    fn check(&self) -> Result<()> {
        let least = [
            ("observed", self.observed),
            ("predicted", self.predicted),
            ("stride", self.stride),
            ("min_agents", self.min_agents),
        ];
        let mut wrong = least.iter().filter(|(_, value)| *value == 0).map(|(name, _)| *name);
        let mut wrong = wrong.next();
        if self.observed.checked_add(self.predicted).is_none() {
            wrong = Some("observed");
        }
        if self.frame_step.is_some_and(|step| step <= 0) {
            wrong = Some("frame_step");
        }
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            wrong = Some("seconds");
        }
        match wrong {
            None => Ok(()),
            Some(setting) => Err(Error::Setting {
                setting,
                what: "out of range".into(),
                help: "it must be positive".into(),
            }),
        }
    }

    /// How scenes of so many steps are cut out of a recording.
    fn cut(&self, recording: &Recording, steps: usize) -> Cut {
        // Without a pair of steps there is no scene, whatever the distance.
        let frame_step = self.frame_step.or(usual_frame_step(recording)).unwrap_or(1);
        Cut { steps, stride: self.stride, frame_step, min_agents: self.min_agents }
    }

    /// The scenes of a file, to train, to validate and to test with.
    fn dataset(&self, path: &Path, [train, valid, test]: [Vec<Scene>; 3]) -> TrajectoryDataset {
        TrajectoryDataset {
            // With its ending: the name of a known dataset means that dataset.
            name: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into()),
            observed: self.observed,
            predicted: self.predicted,
            seconds: self.seconds,
            train,
            valid,
            test,
        }
    }
}

pub(super) const COLUMNS: [&str; 6] = ["scene", "frame", "agent", "x", "y", "distractor"];

/// Reads a user's trajectories.
///
/// The first line names the columns `scene` (any text: one recording), `frame` and `agent` (whole
/// numbers), `x` and `y` (metres), in any order. If wanted, `distractor` marks with 1 who interacts with
/// nobody ([`Scene::distractors`]), others with 0. Lines may be in any order too. A line that is there
/// twice counts once; an agent at two places in one frame is an error. An agent that is missing in the
/// middle of its track is left out of the windows it does not cover.
pub fn csv(path: &Path, config: &TableConfig) -> Result<TrajectoryDataset> {
    csv_bytes(path, &limited_bytes(path, MAX_RECORDING_BYTES)?, config)
}

/// As [`csv()`], from memory; the path is for messages and the name.
pub fn csv_bytes(path: &Path, bytes: &[u8], config: &TableConfig) -> Result<TrajectoryDataset> {
    config.check()?;
    let recordings = recordings(path, bytes)?;
    let parts = match config.split {
        Some(split) => divided(&recordings, split, config, path)?,
        None => match divided(&recordings, SplitBy::Time, config, path)? {
            parts if parts.iter().all(|part| !part.is_empty()) || recordings.len() < 3 => parts,
            _ => divided(&recordings, SplitBy::Scene, config, path)?,
        },
    };
    let dataset = config.dataset(path, parts);
    dataset.validate()?;
    Ok(dataset)
}

/// As [`csv()`], for a model that is there already: all scenes are to test with, and there are none to train
/// and to validate with.
///
/// To predict, observed steps are enough, and what comes after them is not looked at: everybody stands
/// still there.
pub fn new_csv(path: &Path, config: &TableConfig, purpose: Purpose) -> Result<TrajectoryDataset> {
    config.check()?;
    let recordings = recordings(path, &limited_bytes(path, MAX_RECORDING_BYTES)?)?;
    let steps = match purpose {
        Purpose::Compare => config.observed + config.predicted,
        Purpose::Predict => config.observed,
    };
    let mut test = Vec::new();
    for recording in &recordings {
        test.extend(recording.scenes(&config.cut(recording, steps))?);
    }
    if test.is_empty() {
        let what = format!("nobody is seen in {steps} steps after each other");
        return Err(At::file(path).error(what, "the model needs as many: give longer recordings"));
    }
    if purpose == Purpose::Predict {
        test.iter_mut().for_each(|scene| stand_still(scene, config.predicted));
    }
    Ok(config.dataset(path, [Vec::new(), Vec::new(), test]))
}

/// Adds steps at the end in which nobody moves.
fn stand_still(scene: &mut Scene, steps: usize) {
    let mut positions = Vec::with_capacity(scene.agents.len() * (scene.steps + steps));
    for path in scene.positions.chunks_exact(scene.steps) {
        positions.extend_from_slice(path);
        positions.extend(std::iter::repeat_n(path[scene.steps - 1], steps));
    }
    scene.positions = positions;
    scene.steps += steps;
}

/// Scenes to train, to validate and to test with.
fn divided(
    recordings: &[Recording],
    split: SplitBy,
    config: &TableConfig,
    path: &Path,
) -> Result<[Vec<Scene>; 3]> {
    let mut parts: [Vec<Scene>; 3] = Default::default();
    let count = recordings.len();
    if split == SplitBy::Scene && count < 3 {
        let what = format!("{count} recordings in {}", path.display());
        let help = "name at least three in column `scene`, or split by time".into();
        return Err(Error::Setting { setting: "split", what, help });
    }
    let (tested, checked) = ((count / 5).max(1), (count / 10).max(1));
    for (at, recording) in recordings.iter().enumerate() {
        let cut = config.cut(recording, config.observed + config.predicted);
        match split {
            SplitBy::Time => {
                for (part, piece) in parts.iter_mut().zip(recording.by_time([0.7, 0.1])) {
                    part.extend(piece.scenes(&cut)?);
                }
            }
            SplitBy::Scene => {
                let left = count - at;
                let part = if left <= tested { 2 } else { usize::from(left <= tested + checked) };
                parts[part].extend(recording.scenes(&cut)?);
            }
        }
    }
    Ok(parts)
}

/// The recordings of the file, in the order of their first lines.
fn recordings(path: &Path, bytes: &[u8]) -> Result<Vec<Recording>> {
    let mut lines = Rows::open(path, bytes)?;
    let ([scene, frame, agent, x, y], distractor) = columns(&lines.header, path)?;
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<(String, Vec<Row>)> = Vec::new();
    while let Some((line, at)) = lines.next()? {
        let cell = |column: usize| line.get(column).unwrap_or("");
        let row = Row {
            frame: whole(cell(frame), "frame", &at)?,
            agent: whole(cell(agent), "agent", &at)?,
            place: [place(cell(x), "x", &at)?, place(cell(y), "y", &at)?],
            distractor: distractor.map_or(Ok(false), |column| mark(cell(column), &at))?,
            line: at.line.unwrap_or(0),
        };
        let name = cell(scene);
        let place = match places.get(name) {
            Some(place) => *place,
            None => {
                places.insert(name.to_string(), all.len());
                all.push((name.to_string(), Vec::new()));
                all.len() - 1
            }
        };
        all[place].1.push(row);
    }
    if all.is_empty() {
        return Err(At::file(path).error("there is no line below the header", "add positions"));
    }
    all.into_iter().map(|(name, rows)| Recording::new(name, rows, path)).collect()
}

fn mark(cell: &str, at: &At) -> Result<bool> {
    match cell {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(at.clone().field("distractor").error("not a mark", "write 1 or 0")),
    }
}

/// Places of scene, frame, agent, x and y, and of the marks of distractors if there are any.
fn columns(header: &StringRecord, path: &Path) -> Result<([usize; 5], Option<usize>)> {
    let help = "the first line must name scene, frame, agent, x and y, in any order, and if wanted distractor";
    let mut places = [None; 6];
    for (at, name) in header.iter().enumerate() {
        let wrong = |what: &str| Err(At::line(path, 1).field(name).error(what, help));
        match COLUMNS.iter().position(|known| *known == name) {
            Some(known) if places[known].is_none() => places[known] = Some(at),
            Some(_) => return wrong("the column occurs twice"),
            None => return wrong("an unknown column"),
        }
    }
    match places {
        [Some(scene), Some(frame), Some(agent), Some(x), Some(y), distractor] => {
            Ok(([scene, frame, agent, x, y], distractor))
        }
        _ => Err(At::line(path, 1).error("columns are missing", help)),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    const SMALL: TableConfig = TableConfig {
        observed: 1,
        predicted: 1,
        stride: 1,
        frame_step: None,
        seconds: 1.0,
        min_agents: 1,
        split: Some(SplitBy::Time),
    };

    fn parse(text: &str, config: &TableConfig) -> Result<TrajectoryDataset> {
        csv_bytes(Path::new("own.csv"), text.as_bytes(), config)
    }

    /// One agent, walking along x, in each of these scenes.
    fn walks(scenes: usize, steps: usize) -> String {
        let mut text = "y,agent,frame,scene,x\n".to_string();
        for scene in 0..scenes {
            for step in (0..steps).rev() {
                writeln!(text, "0.5,3,{},place {scene},{step}", 5 * step).unwrap();
            }
        }
        text
    }

    #[test]
    fn columns_and_lines_are_in_any_order() {
        let dataset = parse(&walks(1, 20), &SMALL).unwrap();
        assert_eq!(dataset.name, "own.csv");
        // 14, 2 and 4 frames, two a scene.
        assert_eq!(dataset.parts().map(|(_, scenes)| scenes.len()), [13, 1, 3]);
        let last = &dataset.test[2];
        assert_eq!((last.name.as_str(), &last.agents[..]), ("place 0 90", &[3][..]));
        assert_eq!(last.path(0), [[18.0, 0.5], [19.0, 0.5]]);
        let error = parse(&walks(1, 20), &TableConfig { min_agents: 2, ..SMALL }).unwrap_err();
        assert!(error.to_string().contains("train: no scene of 2 steps"), "{error}");
    }

    #[test]
    fn short_recordings_are_held_out_whole_and_each_has_its_own_frame_step() {
        let config = TableConfig { split: None, ..SMALL };
        let short = parse(&walks(20, 2), &config).unwrap();
        assert_eq!(short.parts().map(|(_, scenes)| scenes.len()), [14, 2, 4]);
        let long = parse(&walks(3, 20), &config).unwrap();
        assert_eq!(long.parts().map(|(_, scenes)| scenes.len()), [39, 3, 9]);
        // Frames of the others are 5 apart.
        let mut mixed = walks(2, 20);
        (0..20).for_each(|step| writeln!(mixed, "0,1,{step},other,{step}").unwrap());
        let mixed = parse(&mixed, &config).unwrap();
        assert_eq!(mixed.parts().map(|(_, scenes)| scenes.len()), [39, 3, 9]);
    }

    #[test]
    fn a_split_is_written_in_words() {
        let read = |text: &str| {
            let TableConfig { observed, predicted, split, .. } = text.parse().unwrap();
            (observed, predicted, split)
        };
        assert_eq!(read("scene:5/10"), (5, 10, Some(SplitBy::Scene)));
        assert_eq!(read("time"), (8, 12, Some(SplitBy::Time)));
        assert_eq!(read("4/6"), (4, 6, None));
        for wrong in ["by", "scene:5", "scene:0/3", "time:a/b"] {
            assert!(wrong.parse::<TableConfig>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn places_that_single_precision_blurs_are_refused() {
        let wrong = parse("scene,frame,agent,x,y\na,0,1,450000,2\n", &SMALL).unwrap_err();
        let wrong = wrong.to_string();
        assert!(wrong.contains("common origin") && wrong.contains("line 2"), "{wrong}");
    }

    #[test]
    fn whole_scenes_can_be_held_out() {
        let config = TableConfig { split: Some(SplitBy::Scene), ..SMALL };
        let dataset = parse(&walks(20, 2), &config).unwrap();
        assert_eq!(dataset.parts().map(|(_, scenes)| scenes.len()), [14, 2, 4]);
        assert_eq!(dataset.valid[0].name, "place 14 0");
        assert_eq!(dataset.test[0].name, "place 16 0");
        let least = parse(&walks(3, 2), &config).unwrap();
        assert_eq!(least.parts().map(|(_, scenes)| scenes.len()), [1, 1, 1]);
        assert!(parse(&walks(2, 2), &config).unwrap_err().to_string().contains("split by time"));
    }

    #[test]
    fn wrong_files_and_settings_are_explained() {
        let head = "scene,frame,agent,x,y\n";
        for (text, part) in [
            (String::new(), "own.csv: the file is empty"),
            (head.into(), "no line below the header"),
            ("scene,frame,agent,x\n".into(), "line 1: columns are missing"),
            ("scene,frame,agent,x,y,z\n".into(), "line 1, field `z`: an unknown column"),
            ("scene,frame,agent,x,x\n".into(), "line 1, field `x`: the column occurs twice"),
            (format!("{head}a,0,1,2\n"), "line 2: 4 cells"),
            (format!("{head}a,0,1,2,3\na,1,b,2,3\n"), "line 3, field `agent`: `b`"),
            (format!("{head}a,0,1,2,nan\n"), "line 2, field `y`: `nan`"),
            (format!("{head}a,0,1,2,3\na,0,1,2,4\n"), "line 3: agent 1 is at"),
            (format!("{head}a,0,1,2,3\na,0,1,2,3\n"), "no scene of 2 steps"),
        ] {
            let error = parse(&text, &SMALL).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        for (setting, config) in [
            ("observed", TableConfig { observed: 0, ..SMALL }),
            ("observed", TableConfig { observed: usize::MAX, ..SMALL }),
            ("stride", TableConfig { stride: 0, ..SMALL }),
            ("frame_step", TableConfig { frame_step: Some(0), ..SMALL }),
            ("seconds", TableConfig { seconds: f64::NAN, ..SMALL }),
        ] {
            let error = parse(&walks(1, 20), &config).unwrap_err().to_string();
            assert!(error.contains(setting), "{error}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let whole = [b"scene,frame,agent,x,y\n", &bytes[..]].concat();
            let _ = csv_bytes(Path::new("own.csv"), &bytes, &SMALL);
            let _ = csv_bytes(Path::new("own.csv"), &whole, &SMALL);
        }

        #[test]
        fn what_is_read_is_whole(text in "([ab],[0-9]{1,2},[0-2],[0-9.e-]{1,3},1\n){0,40}", by_scene: bool) {
            let split = if by_scene { SplitBy::Scene } else { SplitBy::Time };
            let text = format!("scene,frame,agent,x,y\n{text}");
            if let Ok(dataset) = parse(&text, &TableConfig { split: Some(split), ..SMALL }) {
                prop_assert!(dataset.validate().is_ok());
            }
        }
    }
}
