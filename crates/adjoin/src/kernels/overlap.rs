//! How alike the sparse rows of two nodes are, at given pairs.

use super::spmm::for_entries;
use crate::topology::Csr;

/// What is measured between two sparse rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// `|A and B| / |A or B|` of the columns that are not zero, 0 if there are none.
    Jaccard,
    /// `<a, b> / (|a| |b|)`, 0 if a row is zero.
    Cosine,
}

/// The measure at every pair; `rows` are the entries that are not zero, `values` what they are.
pub(crate) fn forward(pairs: &Csr, overlap: Overlap, rows: &Csr, values: &[f64]) -> Vec<f64> {
    let square = |row: usize| values[rows.range(row)].iter().map(|v| v * v).sum::<f64>();
    let norms: Vec<f64> = match overlap {
        Overlap::Jaccard => Vec::new(),
        Overlap::Cosine => (0..rows.rows()).map(|row| square(row).sqrt()).collect(),
    };
    let mut out = vec![0.0; pairs.edges()];
    let cost = 2 * rows.edges() / rows.rows().max(1) + 1;
    for_entries(pairs, &mut out, cost, |i, columns, slots| {
        for (slot, &j) in slots.iter_mut().zip(columns) {
            let j = j as usize;
            let (shared, product) = common(rows, values, i, j);
            let (part, whole) = match overlap {
                Overlap::Jaccard => {
                    let either = rows.degree(i) + rows.degree(j) - shared;
                    (shared as f64, either as f64)
                }
                Overlap::Cosine => (product, norms[i] * norms[j]),
            };
            *slot = if whole > 0.0 { part / whole } else { 0.0 };
        }
    });
    out
}

/// How many columns two rows share, and the inner product of the rows.
fn common(rows: &Csr, values: &[f64], i: usize, j: usize) -> (usize, f64) {
    let (mut shared, mut product) = (0, 0.0);
    let mut others = rows.range(j).peekable();
    for (entry, &column) in rows.range(i).zip(rows.row(i)) {
        while others.next_if(|&other| rows.indices()[other] < column).is_some() {}
        if let Some(other) = others.next_if(|&other| rows.indices()[other] == column) {
            shared += 1;
            product += values[entry] * values[other];
        }
    }
    (shared, product)
}
