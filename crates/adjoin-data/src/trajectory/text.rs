//! Lines of `frame agent x y`, as ETH/UCY (tabs) and TrajNet (spaces) write them.

use std::path::Path;

use super::recording::{Recording, Row};
use crate::error::{At, Result};
use crate::read::{coordinate, limited_bytes, stem, text_of, wrong_cell};

/// Largest file of positions that is read, 256 MiB. The largest public one here has 13 MB.
pub(super) const MAX_RECORDING_BYTES: u64 = 256 << 20;

/// Beyond this a number written as `780.0` no longer names one whole number.
const MAX_WHOLE: f64 = (1u64 << 53) as f64;

/// Reads a recording.
pub(super) fn recording(path: &Path) -> Result<Recording> {
    recording_bytes(path, &limited_bytes(path, MAX_RECORDING_BYTES)?)
}

/// As [`recording`], from memory. Positions are rounded to four decimals, as the public readers of
/// these files do.
pub(super) fn recording_bytes(path: &Path, bytes: &[u8]) -> Result<Recording> {
    let mut rows = Vec::new();
    let text = text_of(path, bytes)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate() {
        let at = At::line(path, at as u64 + 1);
        let cells: Vec<&str> = line.split_whitespace().take(5).collect();
        match cells[..] {
            [] => continue,
            [frame, agent, x, y] => rows.push(Row {
                frame: whole(frame, "frame", &at)?,
                agent: whole(agent, "agent", &at)?,
                place: [place(x, "x", &at)?, place(y, "y", &at)?].map(four_decimals),
                distractor: false,
                line: at.line.unwrap_or(0),
            }),
            _ => {
                let count = line.split_whitespace().count();
                let what = format!("{count} columns where 4 are expected");
                return Err(at.error(what, "write frame, agent, x and y"));
            }
        }
    }
    if rows.is_empty() {
        return Err(At::file(path).error("the file is empty", "write frame, agent, x and y a line"));
    }
    Recording::new(stem(path), rows, path)
}

/// Farthest place from the origin, in metres.
const MAX_PLACE: f64 = 1e5;

/// A whole number, perhaps written as `780.0`.
pub(super) fn whole(cell: &str, field: &str, at: &At) -> Result<i64> {
    match cell.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() < MAX_WHOLE => Ok(value as i64),
        Ok(value) if value.fract() == 0.0 => {
            let help = "number frames and agents from 0 on";
            Err(wrong_cell(cell, "a number below 2^53", help, field, at))
        }
        _ => Err(wrong_cell(cell, "a whole number", "number frames and agents", field, at)),
    }
}

/// A coordinate in metres. Steps are computed in single precision, which is finer than a centimetre only
/// this near to the origin.
pub(super) fn place(cell: &str, field: &str, at: &At) -> Result<f64> {
    let value = coordinate(cell, field, at)?;
    if value.abs() <= MAX_PLACE {
        return Ok(value);
    }
    let help = "subtract a common origin from all positions, in metres";
    Err(at.clone().field(field).error(format!("`{cell}` is more than 100 km away"), help))
}

/// Rounds half to even after scaling, the way NumPy does.
fn four_decimals(value: f64) -> f64 {
    (value * 1e4).round_ties_even() / 1e4
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recording::Cut;
    use super::*;

    fn parse(text: &[u8]) -> Result<Recording> {
        recording_bytes(Path::new("eth.txt"), text)
    }

    const CUT: Cut = Cut { steps: 2, stride: 1, frame_step: 10, min_agents: 1 };

    #[test]
    fn tabs_spaces_and_windows_line_ends() {
        let text = b"10.0\t1.0\t8.46\t3.59005\r\n0 1 9.57 3.79\r\n\r\n";
        let scenes = parse(text).unwrap().scenes(&CUT).unwrap();
        assert_eq!(scenes[0].name, "eth 0");
        assert_eq!(scenes[0].path(0), [[9.57, 3.79], [8.46, 3.59]]);
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |text: &[u8]| parse(text).unwrap_err().to_string();
        for (text, part) in [
            (&b"0 1 2 3\n0 1 2\n"[..], "eth.txt, line 2: 3 columns"),
            (b"0 1 2 3 4\n", "line 1: 5 columns"),
            (b"0 1 2 NaN\n", "line 1, field `y`: `NaN` is not a finite number"),
            (b"0 1 -inf 3\n", "field `x`: `-inf`"),
            (b"0 1 1e300 3\n", "field `x`: `1e300`"),
            (b"0.5 1 2 3\n", "field `frame`: `0.5` is not a whole number"),
            (b"0 1e30 2 3\n", "field `agent`: `1e30`"),
            (b"0 nan 2 3\n", "field `agent`: `nan`"),
            (b"0 1 2 3\n0 1 2 4\n", "line 2: agent 1 is at"),
            (b"0 1 2 3\n\xff\n", "line 2: not text"),
            (b" \n\n", "the file is empty"),
        ] {
            assert!(error(text).contains(part), "`{part}` is not in: {}", error(text));
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn random_lines_give_errors_or_whole_scenes(
            text in "([-]?[0-9]{1,3}(\\.[05])?[ \t][0-3][ \t][0-9.eE-]{1,5} [0-9]{1,2}\n){0,12}",
        ) {
            if let Ok(recording) = parse(text.as_bytes()) {
                for part in recording.by_time([0.5, 0.2]) {
                    for scene in part.scenes(&CUT).unwrap() {
                        prop_assert_eq!(scene.positions.len(), scene.agents.len() * 2);
                    }
                }
            }
        }
    }
}
