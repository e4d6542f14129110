//! Basketball: NBA possessions tracked by SportVU, packed as NumPy arrays.

use std::collections::BTreeSet;
use std::path::Path;

use super::scene::{Scene, TrajectoryDataset};
use super::text::MAX_RECORDING_BYTES;
use crate::error::{At, Error, Result};
use crate::read::{Array, limited_bytes};

/// Which five players make the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Team {
    /// Those with the ball.
    Attack,
    /// Those without.
    Defence,
}

/// Steps of a scene, 0.2 s apart.
const STEPS: usize = 50;
/// Frames (0.12 s apart) a window takes; the last step is at frame 81 2/3.
const WINDOW: usize = 84;
/// A window starts at every eighth frame of a possession, about every second.
const STRIDE: usize = 8;
/// Of the games in order of their number, every eighth is for validation.
const VALID_GAME: usize = 8;
/// The ball and two teams of five.
const TRACKED: usize = 11;
const METRES_IN_UNIT: f32 = 0.3048 / 256.0;
/// Length and width of the court in units (feet times 256).
const COURT: [f32; 2] = [94.0 * 256.0, 50.0 * 256.0];

/// Reads the possessions that end in a shot: scenes of 50 steps at 5 Hz, of which `observed` are seen.
///
/// `folder` holds `segments.tsv` and, for `PART` train and test, `score_PART_xy_i16.npy` (frames, 11,
/// 2; feet x 256; the ball, then two teams of five), `score_PART_offsets_i32.npy` (rows of each
/// possession) and `score_PART_player_ids_i32.npy`.
///
/// - Windows of 84 frames start at every eighth frame; positions at steps of 0.2 s lie on straight
///   lines between frames, which are 0.12 s apart. Shorter possessions are left out.
/// - The attacking team is the one that has the player nearest to the ball in more frames of the
///   possession.
/// - Possessions that end at the left basket are turned by half a turn, so that all attack the right
///   one. This uses the end of the possession, but tells a predictor nothing that players do not know:
///   which team attacks which basket.
/// - Positions are in metres on a court of 28.65 x 15.24, from its lower left corner. The other team and
///   the ball are left out.
/// - The test part is the published one. Every eighth game of the train part, by number, is for
///   validation with all its possessions.
pub fn sportvu(folder: &Path, team: Team, observed: usize) -> Result<TrajectoryDataset> {
    if !(1..STEPS).contains(&observed) {
        let what = format!("{observed} of {STEPS} steps");
        return Err(Error::Setting { setting: "observed", what, help: "give 1 to 49".into() });
    }
    let names = Names::read(&folder.join("segments.tsv"))?;
    let train = Possessions::read(folder, "train", &names.train)?;
    let test = Possessions::read(folder, "test", &names.test)?;
    let games: BTreeSet<&str> = names.train.iter().map(|name| game(name)).collect();
    let held_out: BTreeSet<&str> = games.into_iter().step_by(VALID_GAME).collect();
    let valid = |name: &str| held_out.contains(game(name));
    let short = if team == Team::Attack { "atk" } else { "def" };
    let dataset = TrajectoryDataset {
        name: format!("nba-{short}-{observed}"),
        observed,
        predicted: STEPS - observed,
        seconds: 0.2,
        train: train.scenes(team, |name| !valid(name)),
        valid: train.scenes(team, valid),
        test: test.scenes(team, |_| true),
    };
    dataset.validate()?;
    Ok(dataset)
}

/// The game in a name like `ATL_BKN_0021500159_1_395.97_384.85`.
fn game(name: &str) -> &str {
    name.split('_').nth(2).unwrap_or(name)
}

/// Names of the possessions in `score`, in order.
#[derive(Debug, Default, PartialEq)]
struct Names {
    train: Vec<String>,
    test: Vec<String>,
}

impl Names {
    fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &limited_bytes(path, MAX_RECORDING_BYTES)?)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(bytes);
        let header = reader.headers().map_err(|error| Error::from((error, path)))?.clone();
        if header.iter().ne(["set", "part", "segment", "name", "frames"]) {
            let help = "the first line must be set, part, segment, name, frames, with tabs";
            return Err(At::line(path, 1).error("the columns are not as expected", help));
        }
        let mut names = Self::default();
        for record in reader.records() {
            let record = record.map_err(|error| Error::from((error, path)))?;
            let cell = |column: usize| record.get(column).unwrap_or("");
            let list = match (cell(0), cell(1)) {
                ("score", "train") => &mut names.train,
                ("score", "test") => &mut names.test,
                _ => continue,
            };
            if cell(2).parse() != Ok(list.len()) {
                let at = At::line(path, record.position().map_or(0, csv::Position::line));
                let what = format!("`{}` where {} is next", cell(2), list.len());
                return Err(at.field("segment").error(what, "get the file again"));
            }
            list.push(cell(3).to_string());
        }
        Ok(names)
    }
}

/// The possessions of one part.
struct Possessions<'a> {
    names: &'a [String],
    /// First row of each possession, and the number of rows.
    offsets: Vec<usize>,
    /// Ten a possession.
    players: Vec<u32>,
    /// `[rows, 11, 2]`, feet x 256.
    places: Vec<f32>,
}

impl<'a> Possessions<'a> {
    fn read(folder: &Path, part: &str, names: &'a [String]) -> Result<Self> {
        let file = |what: &str| {
            let path = folder.join(format!("score_{part}_{what}.npy"));
            limited_bytes(&path, MAX_RECORDING_BYTES).map(|bytes| (bytes, At::file(path)))
        };
        let [(xy, xy_at), (offsets, offsets_at), (players, players_at)] =
            [file("xy_i16")?, file("offsets_i32")?, file("player_ids_i32")?];
        Self::parse(
            names,
            Array::parse(&xy, xy_at)?,
            Array::parse(&offsets, offsets_at)?,
            Array::parse(&players, players_at)?,
        )
    }

    fn parse(names: &'a [String], xy: Array, offsets: Array, players: Array) -> Result<Self> {
        let (xy, offsets, players) =
            (xy.signed_of(2)?, offsets.signed_of(4)?, players.signed_of(4)?);
        let damaged = |array: &Array, what: String| array.at().error(what, "get the file again");
        let rows = xy.axes(3)?[0];
        if xy.shape[1..] != [TRACKED, 2] {
            return Err(damaged(
                &xy,
                format!("shape {:?} where (rows, 11, 2) is expected", xy.shape),
            ));
        }
        if offsets.axes(1)? != [names.len() + 1] {
            let what = format!("{:?} offsets for {} possessions", offsets.shape, names.len());
            return Err(damaged(&offsets, what));
        }
        if players.axes(2)? != [names.len(), TRACKED - 1] {
            let what = format!("shape {:?} for {} possessions", players.shape, names.len());
            return Err(damaged(&players, what));
        }
        let whole = |array: &Array| -> Result<Vec<u32>> {
            let values = array.indices()?;
            if let Some(place) = values.iter().position(Option::is_none) {
                return Err(damaged(array, format!("element {place} is negative")));
            }
            Ok(values.into_iter().flatten().collect())
        };
        let starts: Vec<usize> = whole(&offsets)?.into_iter().map(|value| value as usize).collect();
        let ordered = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ordered || starts[0] != 0 || starts[names.len()] != rows {
            return Err(damaged(&offsets, format!("the offsets do not rise from 0 to {rows}")));
        }
        let players = whole(&players)?;
        Ok(Self { names, offsets: starts, players, places: xy.floats()? })
    }

    /// The scenes of the possessions whose name is wanted.
    fn scenes(&self, team: Team, wanted: impl Fn(&str) -> bool) -> Vec<Scene> {
        let mut scenes = Vec::new();
        for (segment, name) in self.names.iter().enumerate().filter(|(_, name)| wanted(name)) {
            let frames = &self.places[self.offsets[segment] * TRACKED * 2..];
            let frames =
                &frames[..(self.offsets[segment + 1] - self.offsets[segment]) * TRACKED * 2];
            let frames: Vec<Frame> = frames.chunks_exact(TRACKED * 2).map(Frame).collect();
            let Some(last) = frames.len().checked_sub(WINDOW) else { continue };
            let second = second_team_attacks(&frames) == (team == Team::Attack);
            let first = if second { 6 } else { 1 };
            let turned = frames.last().is_some_and(|frame| frame.place(0)[0] < COURT[0] / 2.0);
            let agents = &self.players[segment * 10 + first - 1..][..5];
            for start in (0..=last).step_by(STRIDE) {
                let window = &frames[start..start + WINDOW];
                let places = (first..first + 5)
                    .flat_map(|player| (0..STEPS).map(move |step| between(window, player, step)));
                scenes.push(Scene {
                    name: format!("{name} {start}"),
                    agents: agents.iter().map(|player| i64::from(*player)).collect(),
                    steps: STEPS,
                    positions: places.map(|place| metres(place, turned)).collect(),
                    distractors: Vec::new(),
                });
            }
        }
        scenes
    }
}

/// One moment: the ball and ten players.
#[derive(Clone, Copy)]
struct Frame<'a>(&'a [f32]);

impl Frame<'_> {
    fn place(&self, who: usize) -> [f32; 2] {
        [self.0[2 * who], self.0[2 * who + 1]]
    }
}

/// True when a player of the second team is nearest to the ball in more than half of the frames.
fn second_team_attacks(frames: &[Frame]) -> bool {
    let nearest = |frame: &Frame| {
        let ball = frame.place(0);
        let distance = |who: &usize| {
            let [x, y] = frame.place(*who);
            (x - ball[0]).powi(2) + (y - ball[1]).powi(2)
        };
        (1..TRACKED).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    let second = frames.iter().filter(|frame| nearest(frame).is_some_and(|who| who > 5)).count();
    2 * second > frames.len()
}

/// Where a player is at a step of 0.2 s, which is 5/3 frames.
fn between(window: &[Frame], player: usize, step: usize) -> [f32; 2] {
    let (frame, thirds) = (5 * step / 3, (5 * step % 3) as f32);
    let (from, to) = (window[frame].place(player), window[frame + 1].place(player));
    [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * (thirds / 3.0))
}

fn metres(place: [f32; 2], turned: bool) -> [f32; 2] {
    [0, 1].map(|axis| {
        let value = if turned { COURT[axis] - place[axis] } else { place[axis] };
        value * METRES_IN_UNIT
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::written_npy as npy;

    fn whole(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// A possession in which the ball goes with player 7 (of the second team), who runs one foot a
    /// frame towards the left basket. Player `n` runs at a height of `n` feet.
    fn run(frames: usize) -> Vec<u8> {
        let mut xy: Vec<u8> = Vec::new();
        for frame in 0..frames as i16 {
            for who in 0..TRACKED as i16 {
                let y = if who == 0 { 7 } else { who };
                let x = if y == 7 { 93 - frame } else { 47 };
                xy.extend([x * 256, y * 256].iter().flat_map(|value| value.to_le_bytes()));
            }
        }
        xy
    }

    fn read(xy: &[u8], offsets: &[u8], players: &[u8]) -> Result<Vec<Scene>> {
        let names = ["A_B_7_1".to_string()];
        let parse = |bytes, name: &str| Array::parse(bytes, At::file(name.to_string()));
        let [xy, offsets, players] =
            [parse(xy, "xy.npy")?, parse(offsets, "offsets.npy")?, parse(players, "ids.npy")?];
        Ok(Possessions::parse(&names, xy, offsets, players)?.scenes(Team::Attack, |_| true))
    }

    const PLAYERS: [i32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

    fn players() -> Vec<u8> {
        npy("<i4", "(1, 10)", &whole(&PLAYERS))
    }

    #[test]
    fn the_team_with_the_ball_attacks_to_the_right() {
        let xy = npy("<i2", "(92, 11, 2)", &run(92));
        let offsets = npy("<i4", "(2,)", &whole(&[0, 92]));
        let scenes = read(&xy, &offsets, &players()).unwrap();
        let names: Vec<&str> = scenes.iter().map(|scene| scene.name.as_str()).collect();
        assert_eq!(names, ["A_B_7_1 0", "A_B_7_1 8"]);
        assert_eq!(scenes[0].agents, [6, 7, 8, 9, 10]);
        let path = scenes[0].path(1);
        // From 1 foot off the left line, 5/3 feet a step.
        for (step, place) in path.iter().enumerate() {
            let x = 0.3048 * (1.0 + step as f32 * 5.0 / 3.0);
            assert!((place[0] - x).abs() < 1e-4 && (place[1] - 0.3048 * 43.0).abs() < 1e-4);
        }
    }

    #[test]
    fn damaged_arrays_are_refused() {
        let good_xy = npy("<i2", "(90, 11, 2)", &run(90));
        let good = npy("<i4", "(2,)", &whole(&[0, 90]));
        assert_eq!(read(&good_xy, &good, &players()).unwrap().len(), 1);
        let error = |xy: &[u8], offsets: &[u8], players: &[u8]| {
            read(xy, offsets, players).unwrap_err().to_string()
        };
        let cases = [
            (error(&good_xy[..good_xy.len() - 1], &good, &players()), "xy.npy: shape"),
            (error(&npy("<f4", "(0, 11, 2)", &[]), &good, &players()), "int16"),
            (error(&npy("<i2", "(0, 10, 2)", &[]), &good, &players()), "(rows, 11, 2)"),
            (error(&npy("<i2", "(0, 11)", &[]), &good, &players()), "3 axes"),
            (error(&good_xy, &npy("<i4", "(2,)", &whole(&[0, 91])), &players()), "from 0 to 90"),
            (error(&good_xy, &npy("<i4", "(2,)", &whole(&[1, 90])), &players()), "from 0 to 90"),
            (error(&good_xy, &npy("<i4", "(2,)", &whole(&[-1, 90])), &players()), "negative"),
            (error(&good_xy, &npy("<i4", "(1,)", &whole(&[0])), &players()), "for 1 possessions"),
            (error(&good_xy, &npy("<i8", "(0,)", &[]), &players()), "offsets.npy: the elements"),
            (error(&good_xy, &good, &npy("<i4", "(0, 10)", &[])), "ids.npy: shape"),
        ];
        for (error, part) in cases {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }

    const HEADER: &str = "set\tpart\tsegment\tname\tframes\n";

    #[test]
    fn the_names_must_be_in_order() {
        let parse = |text: &str| Names::parse(Path::new("segments.tsv"), text.as_bytes());
        let text = format!(
            "{HEADER}score\ttrain\t0\ta\t9\nrebound\ttest\t7\tb\t9\nscore\ttest\t0\tc\t9\n"
        );
        let names = Names { train: vec!["a".into()], test: vec!["c".into()] };
        assert_eq!(parse(&text).unwrap(), names);
        let error = parse(&format!("{HEADER}score\ttrain\t1\ta\t9\n")).unwrap_err().to_string();
        assert!(error.contains("segments.tsv, line 2, field `segment`"), "{error}");
        assert!(parse("").unwrap_err().to_string().contains("line 1"));
        assert_eq!(game("ATL_BKN_0021500159_1_395.97_384.85"), "0021500159");
        assert_eq!(game("odd"), "odd");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            bytes: Vec<u8>,
            rows in 0usize..100,
            offsets in proptest::collection::vec(-1i32..101, 2),
        ) {
            let xy = npy("<i2", &format!("({rows}, 11, 2)"), &run(rows));
            let limits = npy("<i4", "(2,)", &whole(&offsets));
            let _ = read(&xy, &limits, &players());
            let _ = read(&bytes, &limits, &players());
            let _ = read(&xy, &bytes, &players());
            let text = [HEADER.as_bytes(), &bytes].concat();
            let _ = Names::parse(Path::new("segments.tsv"), &text);
        }
    }
}
