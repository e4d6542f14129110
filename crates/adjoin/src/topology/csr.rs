//! The topology of a sparse graph: compressed sparse rows.

use crate::{Error, Result};
use std::sync::{Arc, OnceLock};

/// The position that stands for "no such edge".
pub const ABSENT: u32 = u32::MAX;

/// A sparse 0/1 matrix in compressed-sparse-row form: the topology of a graph, without weights.
///
/// Row i lists, in increasing order, the nodes that node i receives from. Indices are `u32`. The
/// data is shared: cloning costs a reference count. The transpose is computed once, on first use,
/// and kept.
#[derive(Clone)]
pub struct Csr {
    inner: Arc<Inner>,
}

struct Inner {
    columns: usize,
    pointers: Vec<u32>,
    indices: Vec<u32>,
    transpose: OnceLock<Transpose>,
}

/// The transpose of a [`Csr`], with the way back to the entries of the original.
#[derive(Debug)]
pub struct Transpose {
    /// Row pointers of the transpose, `columns + 1` of them.
    pub pointers: Vec<u32>,
    /// Column indices of the transpose: rows of the original, increasing within a row.
    pub indices: Vec<u32>,
    /// For every entry of the transpose, its position among the entries of the original.
    pub entries: Vec<u32>,
}

/// What becomes of edges from a node to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfLoops {
    /// Leave them as they are.
    Keep,
    /// Remove them.
    Drop,
    /// Make sure that every node has exactly one.
    Add,
}

impl Csr {
    /// Checks and takes row pointers and column indices.
    ///
    /// # Errors
    /// Names the first row pointer or entry that is wrong: pointers must start at 0, not decrease
    /// and end at the number of entries; columns must be in range and strictly increase in a row.
    pub fn new(columns: usize, pointers: Vec<u32>, indices: Vec<u32>) -> Result<Self> {
        fits("number of columns", columns)?;
        fits("number of edges", indices.len())?;
        let pointer_error = |row, found, expected: &str| Error::RowPointer {
            row,
            found,
            expected: expected.to_string(),
        };
        match (pointers.first(), pointers.last()) {
            (Some(0), Some(&last)) if last as usize == indices.len() => {}
            (Some(0), Some(&last)) => {
                let expected = format!("{} (the number of entries)", indices.len());
                return Err(pointer_error(pointers.len() - 1, last as usize, &expected));
            }
            (Some(&first), _) => return Err(pointer_error(0, first as usize, "0")),
            (None, _) => return Err(pointer_error(0, 0, "at least one row pointer")),
        }
        for (row, pair) in pointers.windows(2).enumerate() {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if end < start || end > indices.len() {
                let expected = format!("between {start} and {}", indices.len());
                return Err(pointer_error(row + 1, end, &expected));
            }
            for entry in start..end {
                let column = indices[entry] as usize;
                if column >= columns {
                    return Err(Error::NodeOutOfRange {
                        entry,
                        row,
                        column,
                        rows: pointers.len() - 1,
                        columns,
                    });
                }
                if entry > start && indices[entry] <= indices[entry - 1] {
                    let previous = indices[entry - 1] as usize;
                    return Err(Error::UnsortedRow { row, entry, previous, column });
                }
            }
        }
        Ok(Self::trusted(columns, pointers, indices))
    }

    /// Takes parts that are right by construction.
    pub(crate) fn trusted(columns: usize, pointers: Vec<u32>, indices: Vec<u32>) -> Self {
        debug_assert_eq!(*pointers.last().unwrap_or(&0) as usize, indices.len());
        Self { inner: Arc::new(Inner { columns, pointers, indices, transpose: OnceLock::new() }) }
    }

    /// A graph without edges.
    pub fn empty(rows: usize, columns: usize) -> Self {
        Self::trusted(columns, vec![0; rows + 1], Vec::new())
    }

    /// The graph in which every node is joined to itself only.
    pub fn identity(nodes: usize) -> Self {
        Self::trusted(nodes, (0..=nodes as u32).collect(), (0..nodes as u32).collect())
    }

    /// From a list of directed edges (row, column), in any order; repeated edges become one.
    ///
    /// # Errors
    /// Names the first edge whose ends do not exist.
    pub fn from_edges(
        rows: usize,
        columns: usize,
        edges: impl IntoIterator<Item = (u32, u32)>,
        self_loops: SelfLoops,
    ) -> Result<Self> {
        fits("number of rows", rows)?;
        fits("number of columns", columns)?;
        let mut list = Vec::new();
        for (entry, (row, column)) in edges.into_iter().enumerate() {
            if row as usize >= rows || column as usize >= columns {
                let (row, column) = (row as usize, column as usize);
                return Err(Error::NodeOutOfRange { entry, row, column, rows, columns });
            }
            if row != column || self_loops == SelfLoops::Keep {
                list.push((row, column));
            }
        }
        if self_loops == SelfLoops::Add {
            list.extend((0..rows.min(columns) as u32).map(|i| (i, i)));
        }
        list.sort_unstable();
        list.dedup();
        fits("number of edges", list.len())?;
        let mut pointers = vec![0u32; rows + 1];
        for &(row, _) in &list {
            pointers[row as usize + 1] += 1;
        }
        for row in 0..rows {
            pointers[row + 1] += pointers[row];
        }
        Ok(Self::trusted(columns, pointers, list.into_iter().map(|(_, column)| column).collect()))
    }

    /// An undirected graph: every edge of the list in both directions.
    ///
    /// # Errors
    /// As [`from_edges`](Self::from_edges).
    pub fn undirected(
        nodes: usize,
        edges: impl IntoIterator<Item = (u32, u32)>,
        self_loops: SelfLoops,
    ) -> Result<Self> {
        // Both directions of an edge are checked under the position of that edge.
        let mut both = Vec::new();
        for (entry, (row, column)) in edges.into_iter().enumerate() {
            if row.max(column) as usize >= nodes {
                let (row, column) = (row as usize, column as usize);
                return Err(Error::NodeOutOfRange {
                    entry,
                    row,
                    column,
                    rows: nodes,
                    columns: nodes,
                });
            }
            both.extend([(row, column), (column, row)]);
        }
        Self::from_edges(nodes, nodes, both, self_loops)
    }

    /// From rows that each list their columns in increasing order.
    pub(crate) fn from_sorted_rows<R: AsRef<[u32]>>(columns: usize, rows: &[R]) -> Self {
        let mut pointers = Vec::with_capacity(rows.len() + 1);
        pointers.push(0);
        let mut indices = Vec::with_capacity(rows.iter().map(|row| row.as_ref().len()).sum());
        for row in rows {
            indices.extend_from_slice(row.as_ref());
            pointers.push(indices.len() as u32);
        }
        Self::trusted(columns, pointers, indices)
    }

    /// Number of rows: the nodes that receive.
    pub fn rows(&self) -> usize {
        self.inner.pointers.len() - 1
    }

    /// Number of columns: the nodes that are received from.
    pub fn columns(&self) -> usize {
        self.inner.columns
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.inner.indices.len()
    }

    /// Row pointers, `rows + 1` of them.
    pub fn pointers(&self) -> &[u32] {
        &self.inner.pointers
    }

    /// Column indices, one per edge, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.inner.indices
    }

    /// Positions of the entries of a row.
    #[inline]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.inner.pointers[row] as usize..self.inner.pointers[row + 1] as usize
    }

    /// The columns of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.inner.indices[self.range(row)]
    }

    /// Number of entries of a row.
    #[inline]
    pub fn degree(&self, row: usize) -> usize {
        self.range(row).len()
    }

    /// Position of the entry (row, column), if there is one.
    pub fn find(&self, row: usize, column: u32) -> Option<usize> {
        self.row(row).binary_search(&column).ok().map(|at| self.range(row).start + at)
    }

    /// All edges as (row, column), row after row: coordinate form.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.rows()).flat_map(|i| self.row(i).iter().map(move |&j| (i as u32, j)))
    }

    /// The row of every entry: the other half of coordinate form.
    pub fn row_indices(&self) -> Vec<u32> {
        self.iter().map(|(row, _)| row).collect()
    }

    /// The transpose, computed once and kept.
    pub fn transpose(&self) -> &Transpose {
        self.inner.transpose.get_or_init(|| {
            let mut pointers = vec![0u32; self.columns() + 1];
            for &column in self.indices() {
                pointers[column as usize + 1] += 1;
            }
            for column in 0..self.columns() {
                pointers[column + 1] += pointers[column];
            }
            let mut next = pointers.clone();
            let mut indices = vec![0u32; self.edges()];
            let mut entries = vec![0u32; self.edges()];
            for (entry, (row, column)) in self.iter().enumerate() {
                let at = next[column as usize] as usize;
                next[column as usize] += 1;
                indices[at] = row;
                entries[at] = entry as u32;
            }
            Transpose { pointers, indices, entries }
        })
    }

    /// The transpose as a graph of its own.
    pub fn transposed(&self) -> Self {
        let transpose = self.transpose();
        Self::trusted(self.rows(), transpose.pointers.clone(), transpose.indices.clone())
    }

    /// Whether (i, j) is an edge exactly when (j, i) is.
    pub fn is_symmetric(&self) -> bool {
        let transpose = self.transpose();
        self.rows() == self.columns()
            && transpose.pointers == self.pointers()
            && transpose.indices == self.indices()
    }

    /// The edges of either graph.
    ///
    /// # Errors
    /// If the shapes differ.
    pub fn union(&self, other: &Self) -> Result<Self> {
        self.same_shape("union", other)?;
        let mut pointers = Vec::with_capacity(self.rows() + 1);
        pointers.push(0);
        let mut indices = Vec::with_capacity(self.edges().max(other.edges()));
        for i in 0..self.rows() {
            let (mut a, mut b) = (self.row(i).iter().peekable(), other.row(i).iter().peekable());
            loop {
                let next = match (a.peek(), b.peek()) {
                    (Some(&&x), Some(&&y)) => x.min(y),
                    (Some(&&x), None) | (None, Some(&&x)) => x,
                    (None, None) => break,
                };
                a.next_if(|&&x| x == next);
                b.next_if(|&&y| y == next);
                indices.push(next);
            }
            pointers.push(indices.len() as u32);
        }
        fits("number of edges", indices.len())?;
        Ok(Self::trusted(self.columns(), pointers, indices))
    }

    /// The same graph with self-loops kept, dropped or added.
    pub fn with_self_loops(&self, self_loops: SelfLoops) -> Self {
        match self_loops {
            SelfLoops::Keep => self.clone(),
            SelfLoops::Drop => self.filter(|_, i, j| i != j),
            SelfLoops::Add => {
                let mut pointers = Vec::with_capacity(self.rows() + 1);
                pointers.push(0);
                let mut indices = Vec::with_capacity(self.edges() + self.rows());
                for i in 0..self.rows() {
                    let row = self.row(i);
                    let own = i as u32;
                    let at = row.partition_point(|&j| j < own);
                    indices.extend_from_slice(&row[..at]);
                    if i < self.columns() && row.get(at) != Some(&own) {
                        indices.push(own);
                    }
                    indices.extend_from_slice(&row[at..]);
                    pointers.push(indices.len() as u32);
                }
                Self::trusted(self.columns(), pointers, indices)
            }
        }
    }

    /// The edges for which `keep(entry, row, column)` holds.
    pub fn filter(&self, mut keep: impl FnMut(usize, u32, u32) -> bool) -> Self {
        let mut pointers = Vec::with_capacity(self.rows() + 1);
        pointers.push(0);
        let mut indices = Vec::with_capacity(self.edges());
        for i in 0..self.rows() {
            for entry in self.range(i) {
                if keep(entry, i as u32, self.indices()[entry]) {
                    indices.push(self.indices()[entry]);
                }
            }
            pointers.push(indices.len() as u32);
        }
        Self::trusted(self.columns(), pointers, indices)
    }

    /// For every edge, its position in `inner`, or [`ABSENT`].
    pub(crate) fn positions_in(&self, inner: &Self) -> Vec<u32> {
        let mut positions = Vec::with_capacity(self.edges());
        for i in 0..self.rows() {
            let mut own = inner.range(i).peekable();
            for &j in self.row(i) {
                while own.next_if(|&at| inner.indices()[at] < j).is_some() {}
                let found = own.next_if(|&at| inner.indices()[at] == j);
                positions.push(found.map_or(ABSENT, |at| at as u32));
            }
        }
        positions
    }

    pub(crate) fn same_shape(&self, what: &'static str, other: &Self) -> Result<()> {
        if (self.rows(), self.columns()) == (other.rows(), other.columns()) {
            return Ok(());
        }
        let shape = |csr: &Self| [csr.rows(), csr.columns()];
        Err(Error::shape(what, shape(self), shape(other)))
    }
}

pub(crate) fn fits(what: &'static str, found: usize) -> Result<()> {
    let limit = u32::MAX as usize - 1;
    if found > limit { Err(Error::TooLarge { what, found, limit }) } else { Ok(()) }
}

impl PartialEq for Csr {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
            || (self.columns() == other.columns()
                && self.pointers() == other.pointers()
                && self.indices() == other.indices())
    }
}

impl Eq for Csr {}

impl std::fmt::Debug for Csr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csr")
            .field("rows", &self.rows())
            .field("columns", &self.columns())
            .field("edges", &self.edges())
            .finish()
    }
}
