//! Node features: a bag of words stays sparse, measurements stay dense. A missing value is NaN.

use std::ops::Range;

/// One row of numbers a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Compressed rows: row `i` holds `indices[pointers[i]..pointers[i + 1]]`, strictly ascending.
    Sparse {
        /// Number of nodes.
        rows: usize,
        /// Number of features.
        columns: usize,
        /// `rows + 1` offsets into `indices` and `values`.
        pointers: Vec<u32>,
        /// Column of each stored value.
        indices: Vec<u32>,
        /// The stored values.
        values: Vec<f32>,
    },
    /// Row after row, `rows * columns` values.
    Dense {
        /// Number of nodes.
        rows: usize,
        /// Number of features.
        columns: usize,
        /// The values, row-major.
        values: Vec<f32>,
    },
}

impl Features {
    /// Sparse features from one list of (column, value) a node, in any order; the values of a column
    /// that occurs twice in a row are added. `None` when there are more than `u32::MAX` entries.
    pub fn from_rows(columns: usize, rows: Vec<Vec<(u32, f32)>>) -> Option<Self> {
        let mut pointers = Vec::with_capacity(rows.len() + 1);
        let mut indices: Vec<u32> = Vec::new();
        let mut values: Vec<f32> = Vec::new();
        pointers.push(0);
        let count = rows.len();
        for mut row in rows {
            // Most files are sorted already; the stable sort keeps the order of sums fixed.
            row.sort_by_key(|&(column, _)| column);
            let start = indices.len();
            for (column, value) in row {
                match (indices[start..].last(), values.last_mut()) {
                    (Some(&last), Some(sum)) if last == column => *sum += value,
                    _ => {
                        indices.push(column);
                        values.push(value);
                    }
                }
            }
            pointers.push(u32::try_from(indices.len()).ok()?);
        }
        Some(Self::Sparse { rows: count, columns, pointers, indices, values })
    }

    /// Row-major values, stored sparse when that is clearly smaller: at least 64 columns of which at
    /// most a fifth is not zero. Published bags of words often come as dense arrays.
    pub fn from_dense(rows: usize, columns: usize, values: Vec<f32>) -> Self {
        let stored = values.iter().filter(|value| **value != 0.0).count();
        if columns < 64 || stored > values.len() / 5 || values.len() != rows.saturating_mul(columns)
        {
            return Self::Dense { rows, columns, values };
        }
        let sparse = values
            .chunks_exact(columns)
            .map(|row| {
                let kept = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
                kept.map(|(column, value)| (column as u32, *value)).collect()
            })
            .collect();
        match Self::from_rows(columns, sparse) {
            Some(features) => features,
            None => Self::Dense { rows, columns, values },
        }
    }

    /// Number of nodes.
    pub fn rows(&self) -> usize {
        match self {
            Self::Sparse { rows, .. } | Self::Dense { rows, .. } => *rows,
        }
    }

    /// Number of features of a node.
    pub fn columns(&self) -> usize {
        match self {
            Self::Sparse { columns, .. } | Self::Dense { columns, .. } => *columns,
        }
    }

    /// Number of values that are not zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Self::Sparse { values, .. } | Self::Dense { values, .. } => {
                values.iter().filter(|value| **value != 0.0).count()
            }
        }
    }

    /// True when a value is missing.
    pub fn has_missing(&self) -> bool {
        match self {
            Self::Sparse { values, .. } | Self::Dense { values, .. } => {
                values.iter().any(|value| value.is_nan())
            }
        }
    }

    /// True for compressed rows.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse { .. })
    }

    /// The (column, value) pairs of a row that are not zero; empty for a row that does not exist.
    pub fn row(&self, row: usize) -> Vec<(u32, f32)> {
        match self {
            Self::Sparse { pointers, indices, values, .. } => {
                let (Some(&start), Some(&end)) = (pointers.get(row), pointers.get(row + 1)) else {
                    return Vec::new();
                };
                let range = start as usize..end as usize;
                match (indices.get(range.clone()), values.get(range)) {
                    (Some(indices), Some(values)) => {
                        let pairs = indices.iter().copied().zip(values.iter().copied());
                        pairs.filter(|(_, value)| *value != 0.0).collect()
                    }
                    _ => Vec::new(),
                }
            }
            Self::Dense { columns, values, .. } => {
                let start = row.saturating_mul(*columns);
                let cells = values.get(start..start.saturating_add(*columns)).unwrap_or(&[]);
                let pairs = cells.iter().enumerate().filter(|(_, value)| **value != 0.0);
                pairs.map(|(column, value)| (column as u32, *value)).collect()
            }
        }
    }

    /// All values row-major. Meant for small data and for tests: a bag of words grows a hundredfold.
    pub fn to_dense(&self) -> Vec<f32> {
        match self {
            Self::Dense { values, .. } => values.clone(),
            Self::Sparse { rows, columns, .. } => {
                let mut dense = vec![0.0; rows * columns];
                for row in 0..*rows {
                    for (column, value) in self.row(row) {
                        if let Some(cell) = dense.get_mut(row * columns + column as usize) {
                            *cell = value;
                        }
                    }
                }
                dense
            }
        }
    }

    /// Divides these columns of every row by the sum of their absolute values, as GCN does with bags of words.
    /// Rows of zeros stay as they are.
    pub fn row_normalise(&mut self, of: Range<usize>) {
        match self {
            Self::Sparse { pointers, indices, values, .. } => {
                for pair in pointers.windows(2) {
                    let range = pair[0] as usize..pair[1] as usize;
                    let Some(cells) = indices.get(range.clone()) else { continue };
                    let place = |end: usize| cells.partition_point(|cell| (*cell as usize) < end);
                    let wanted = range.start + place(of.start)..range.start + place(of.end);
                    values.get_mut(wanted).into_iter().for_each(normalise);
                }
            }
            Self::Dense { columns, values, .. } => {
                let rows = values.chunks_mut((*columns).max(1));
                rows.filter_map(|row| row.get_mut(of.clone())).for_each(normalise);
            }
        }
    }

    /// Checks the shape, the order of the columns and that no value is infinite. The message says which row
    /// and column is wrong.
    pub fn validate(&self) -> Result<(), String> {
        match self {
            Self::Dense { rows, columns, values } => {
                if rows.checked_mul(*columns) != Some(values.len()) {
                    return Err(format!(
                        "{rows} rows of {columns} need another count than {}",
                        values.len()
                    ));
                }
                match values.iter().position(|value| value.is_infinite()) {
                    Some(at) => Err(format!(
                        "row {}, column {} is {}, not a finite number",
                        at / columns,
                        at % columns,
                        values[at]
                    )),
                    None => Ok(()),
                }
            }
            Self::Sparse { rows, columns, pointers, indices, values } => {
                if pointers.len() != rows + 1
                    || pointers.first() != Some(&0)
                    || pointers.last().map(|&end| end as usize) != Some(indices.len())
                    || indices.len() != values.len()
                {
                    return Err(format!(
                        "{} row pointers, {} columns and {} values do not describe {rows} rows",
                        pointers.len(),
                        indices.len(),
                        values.len()
                    ));
                }
                for (row, pair) in pointers.windows(2).enumerate() {
                    let range = pair[0] as usize..pair[1] as usize;
                    let (Some(cells), Some(numbers)) =
                        (indices.get(range.clone()), values.get(range))
                    else {
                        return Err(format!("the pointers of row {row} run backwards or too far"));
                    };
                    check_row(row, *columns, cells, numbers)?;
                }
                Ok(())
            }
        }
    }
}

fn check_row(row: usize, columns: usize, cells: &[u32], values: &[f32]) -> Result<(), String> {
    if let Some(cell) = cells.iter().find(|cell| **cell as usize >= columns) {
        return Err(format!("row {row} uses column {cell} of only {columns}"));
    }
    if cells.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(format!("the columns of row {row} are not strictly ascending"));
    }
    match cells.iter().zip(values).find(|(_, value)| value.is_infinite()) {
        Some((cell, value)) => {
            Err(format!("row {row}, column {cell} is {value}, not a finite number"))
        }
        None => Ok(()),
    }
}

fn normalise(row: &mut [f32]) {
    // In f64, so that the result does not depend on the order of the columns.
    let sum: f64 = row.iter().map(|value| f64::from(value.abs())).sum();
    if sum > 0.0 {
        row.iter_mut().for_each(|value| *value = (f64::from(*value) / sum) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_merged_and_normalised() {
        let rows = vec![vec![(3, 1.0), (1, 2.0), (3, 1.0)], vec![], vec![(3, 5.0)]];
        let mut features = Features::from_rows(4, rows).unwrap();
        assert_eq!(features.validate(), Ok(()));
        assert_eq!(features.row(0), [(1, 2.0), (3, 2.0)]);
        assert_eq!(features.row(2), [(3, 5.0)]);
        features.row_normalise(0..4);
        assert_eq!(features.row(0), [(1, 0.5), (3, 0.5)]);
        assert_eq!(features.to_dense()[4..8], [0.0; 4]);
        assert!(features.row(9).is_empty());
    }

    #[test]
    fn mostly_zero_arrays_become_sparse_without_changing() {
        let mut values = vec![0.0; 3 * 100];
        values[150] = 2.5;
        let features = Features::from_dense(3, 100, values.clone());
        assert!(features.is_sparse());
        assert_eq!(features.to_dense(), values);
        assert!(!Features::from_dense(1, 64, vec![1.0; 64]).is_sparse());
    }

    #[test]
    fn faults_are_named() {
        let dense =
            Features::Dense { rows: 2, columns: 2, values: vec![0.0, 1.0, f32::INFINITY, 0.0] };
        assert!(dense.validate().unwrap_err().contains("row 1, column 0 is inf"));
        let sparse = |pointers: Vec<u32>, indices: Vec<u32>| {
            let values = vec![1.0; indices.len()];
            Features::Sparse { rows: 2, columns: 3, pointers, indices, values }.validate()
        };
        assert!(sparse(vec![0, 2, 1], vec![0]).is_err());
        assert!(sparse(vec![0, 1, 1], vec![7]).unwrap_err().contains("column 7 of only 3"));
        assert!(sparse(vec![0, 2, 2], vec![1, 1]).unwrap_err().contains("ascending"));
        assert!(sparse(vec![0, u32::MAX, 1], vec![0]).is_err());
        assert_eq!(sparse(vec![0, 1, 2], vec![2, 0]), Ok(()));
    }
}
