//! What a row of a table says of an edge besides its ends.

use super::table::{number, shorten};
use crate::error::{At, Result};
use crate::marks::EdgeMarks;

/// Cells as written; `None` where there is no such column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EdgeRow<'a> {
    pub weight: Option<&'a str>,
    /// In the order of [`EdgeMarks::NAMES`].
    pub marks: [Option<&'a str>; 2],
}

/// Cells as understood.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct EdgeCells {
    pub weight: Option<f32>,
    pub marks: [Option<bool>; 2],
}

impl EdgeRow<'_> {
    pub fn read(self, at: &At) -> Result<EdgeCells> {
        let weight = self.weight.map(|cell| weight(cell, at)).transpose()?;
        let mut marks = [None; 2];
        for ((mark, cell), name) in marks.iter_mut().zip(self.marks).zip(EdgeMarks::NAMES) {
            *mark = match cell.map(str::trim) {
                None => None,
                Some("1") => Some(true),
                Some("0") => Some(false),
                Some(other) => {
                    let what = format!("`{}` is not a mark", shorten(other));
                    return Err(at.clone().field(name).error(what, "write 1 or 0 for every edge"));
                }
            };
        }
        Ok(EdgeCells { weight, marks })
    }
}

impl EdgeCells {
    /// Fails when the same edge was described otherwise at another place.
    pub fn check_same(self, first: &(Self, At), at: &At) -> Result<()> {
        let (other, place) = first;
        let name = match (other.weight == self.weight, other.marks == self.marks) {
            (true, true) => return Ok(()),
            (false, _) => "weight",
            (true, false) => "mark",
        };
        let what = format!("the edge has another {name} here than at {place}");
        let help = format!("edges are undirected: give one {name}");
        Err(at.clone().field(name).error(what, help))
    }
}

fn weight(cell: &str, at: &At) -> Result<f32> {
    let at = at.clone().field("weight");
    let help = "give every edge a weight, or leave the column out";
    let weight = number(cell.trim(), at.clone(), help)?;
    match weight < 0.0 {
        true => Err(at.error(format!("{weight} is negative"), "weights start at 0")),
        false => Ok(weight),
    }
}
