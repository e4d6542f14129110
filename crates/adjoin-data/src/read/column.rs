//! A column of features: numbers, or words that stand for categories.

use std::collections::HashMap;

use super::table::shorten;
use crate::error::{At, Result};

/// Most categories of a column; more are a name or a text.
const CATEGORIES: usize = 1000;
/// So few categories are never too many.
const FEW: usize = 20;

/// Cells that mean that nothing is known, in any case.
const MISSING: [&str; 6] = ["", "nan", "na", "n/a", "null", "?"];

/// The cells of a column so far. The first that is not missing says of which kind they are, and all must be alike:
/// a slip of the pen in a column of numbers must not make categories of it.
#[derive(Debug, Default)]
pub(super) struct Column {
    cells: Cells,
    /// Where the first missing cell is.
    missing: Option<At>,
}

#[derive(Debug)]
enum Cells {
    /// So many, all missing.
    Unknown(usize),
    /// NaN where missing.
    Numbers(Vec<f32>),
    Categories {
        numbers: HashMap<String, u32>,
        cells: Vec<Option<u32>>,
    },
}

impl Default for Cells {
    fn default() -> Self {
        Self::Unknown(0)
    }
}

/// A column when all rows are read.
#[derive(Debug)]
pub(super) enum Known {
    /// One number a row, NaN where missing, and where the first missing one is.
    Numbers(Vec<f32>, Option<At>),
    /// The categories in alphabetical order, and that of each row, none where missing.
    Categories(Vec<String>, Vec<Option<u32>>),
}

impl Column {
    /// Adds the cell of the next row.
    pub fn push(&mut self, cell: &str, at: impl Fn() -> At) -> Result<()> {
        if MISSING.iter().any(|word| word.eq_ignore_ascii_case(cell)) {
            match &mut self.cells {
                Cells::Unknown(count) => *count += 1,
                Cells::Numbers(cells) => cells.push(f32::NAN),
                Cells::Categories { cells, .. } => cells.push(None),
            }
            self.missing.get_or_insert_with(at);
            return Ok(());
        }
        let number = cell.parse::<f32>().ok();
        if number.is_some_and(|number| !number.is_finite()) {
            let what = format!("`{}` is not a finite number", shorten(cell));
            return Err(at().error(what, "correct it, or leave the cell empty"));
        }
        if let Cells::Unknown(count) = self.cells {
            self.cells = match number {
                Some(_) => Cells::Numbers(vec![f32::NAN; count]),
                None => Cells::Categories { numbers: HashMap::new(), cells: vec![None; count] },
            };
        }
        match (&mut self.cells, number) {
            (Cells::Numbers(cells), Some(number)) => cells.push(number),
            (Cells::Categories { numbers, cells }, None) => {
                let next = numbers.len() as u32;
                let number = match numbers.get(cell) {
                    Some(number) => *number,
                    None => *numbers.entry(cell.to_string()).or_insert(next),
                };
                cells.push(Some(number));
            }
            (_, number) => {
                let (is, holds) = match number {
                    Some(_) => ("a number", "categories"),
                    None => ("not a number", "numbers"),
                };
                let what = format!("`{}` is {is}, but the column holds {holds}", shorten(cell));
                let help = "correct the cell, or leave it empty; categories must not be numbers, and \
                            free text belongs into a column called `words`";
                return Err(at().error(what, help));
            }
        }
        Ok(())
    }

    /// The column as a whole; `header` is where it is named.
    pub fn finish(self, header: At) -> Result<Known> {
        let (numbers, cells) = match self.cells {
            Cells::Unknown(count) => {
                return Ok(Known::Numbers(vec![f32::NAN; count], self.missing));
            }
            Cells::Numbers(cells) => return Ok(Known::Numbers(cells, self.missing)),
            Cells::Categories { numbers, cells } => (numbers, cells),
        };
        let count = numbers.len();
        if count > CATEGORIES || (count > FEW && count > cells.len() / 2) {
            let what = format!("{count} different texts in {} rows are no categories", cells.len());
            let help = "leave the column out, or call it `words` if its words are to be counted";
            return Err(header.error(what, help));
        }
        // The order of the rows must not matter.
        let mut sorted: Vec<(String, u32)> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut place = vec![0; count];
        for (new, (_, old)) in sorted.iter().enumerate() {
            place[*old as usize] = new as u32;
        }
        let cells = cells.into_iter().map(|cell| cell.map(|old| place[old as usize])).collect();
        Ok(Known::Categories(sorted.into_iter().map(|(name, _)| name).collect(), cells))
    }
}
