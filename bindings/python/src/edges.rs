//! Edges in coordinate form, as PyTorch Geometric has them, and as compressed sparse rows.

use crate::run::{Failure, Outcome};
use adjoin::{Batch, Csr, kernels::Real};

/// A list of edges sorted into rows.
#[derive(Clone, Debug)]
pub struct EdgeList {
    /// Row i: the nodes that node i receives from.
    pub topology: Csr,
    /// For every edge of the list, its entry in the topology; none if that is its own position.
    slots: Option<Vec<u32>>,
    count: usize,
}

impl EdgeList {
    /// Row 0 of `index` `[2, edges]` holds sources (columns), row 1 targets (rows). Repeated edges become one.
    pub fn new(index: &[i64], rows: usize, columns: usize) -> Outcome<Self> {
        let (sources, targets) = index.split_at(index.len() / 2);
        let mut pairs = Vec::with_capacity(sources.len());
        for (at, (&source, &target)) in sources.iter().zip(targets).enumerate() {
            let column = usize::try_from(source).ok().filter(|&j| j < columns);
            let row = usize::try_from(target).ok().filter(|&i| i < rows);
            let (Some(row), Some(column)) = (row, column) else {
                return Err(Failure::Value(format!(
                    "edge_index: edge {at} goes from {source} to {target}, but there are {columns} sources and {rows} targets"
                )));
            };
            pairs.push((row as u32, column as u32));
        }
        let count = pairs.len();
        let sorted = pairs.windows(2).all(|pair| pair[0] < pair[1]);
        let topology =
            Csr::from_edges(rows, columns, pairs.iter().copied(), adjoin::SelfLoops::Keep)?;
        if sorted {
            return Ok(Self { topology, slots: None, count });
        }
        let slot = |&(row, column): &(u32, u32)| {
            // Every edge of the list is in the topology that was made from it.
            topology.find(row as usize, column).map_or(0, |at| at as u32)
        };
        let slots = Some(pairs.iter().map(slot).collect());
        Ok(Self { topology, slots, count })
    }

    /// Number of edges in the list.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Values of the list as values of the topology; those of repeated edges are added.
    pub fn gathered<T: Real>(&self, values: &[T]) -> Vec<T> {
        let Some(slots) = &self.slots else { return values.to_vec() };
        let mut out = vec![T::ZERO; self.topology.edges()];
        for (&slot, &value) in slots.iter().zip(values) {
            out[slot as usize] += value;
        }
        out
    }

    /// Values of the topology as values of the list: the adjoint of [`gathered`](Self::gathered).
    pub fn spread<T: Real>(&self, values: Vec<T>) -> Vec<T> {
        match &self.slots {
            None => values,
            Some(slots) => slots.iter().map(|&slot| values[slot as usize]).collect(),
        }
    }
}

/// Entries grouped by the row they belong to, in any order.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Row i: its entries, numbered from 0.
    pub topology: Csr,
    /// Entries of the list, row after row.
    pub order: Vec<u32>,
}

impl Groups {
    /// `index` names the row of every entry.
    pub fn new(index: &[i64], rows: usize) -> Outcome<Self> {
        let mut counts = vec![0u32; rows + 1];
        for (at, &row) in index.iter().enumerate() {
            match usize::try_from(row).ok().filter(|&row| row < rows) {
                Some(row) => counts[row + 1] += 1,
                None => {
                    let what = format!("index: entry {at} is {row}, but there are {rows} rows");
                    return Err(Failure::Value(what));
                }
            }
        }
        let widest = counts.iter().copied().max().unwrap_or(0);
        for row in 0..rows {
            counts[row + 1] += counts[row];
        }
        let pointers = counts.clone();
        let mut next = counts;
        let mut order = vec![0u32; index.len()];
        for (at, &row) in index.iter().enumerate() {
            let slot = &mut next[row as usize];
            order[*slot as usize] = at as u32;
            *slot += 1;
        }
        let indices = pointers.windows(2).flat_map(|pair| 0..pair[1] - pair[0]).collect();
        let topology = Csr::new(widest as usize, pointers, indices)?;
        Ok(Self { topology, order })
    }

    /// Values of the list, row after row.
    pub fn gathered<T: Real>(&self, values: &[T]) -> Vec<T> {
        self.order.iter().map(|&at| values[at as usize]).collect()
    }

    /// The adjoint of [`gathered`](Self::gathered).
    pub fn spread<T: Real>(&self, values: &[T]) -> Vec<T> {
        let mut out = vec![T::ZERO; values.len()];
        for (&at, &value) in self.order.iter().zip(values) {
            out[at as usize] = value;
        }
        out
    }
}

/// `[2, edges]` of a topology, row after row: sources, then targets.
pub fn coordinates(topology: &Csr) -> Vec<i64> {
    let sources = topology.indices().iter().map(|&j| i64::from(j));
    sources.chain(topology.iter().map(|(i, _)| i64::from(i))).collect()
}

/// The graph that every node belongs to, as sizes; `batch` must not decrease.
pub fn batch_of(batch: Option<&[i64]>, nodes: usize) -> Outcome<Batch> {
    let Some(batch) = batch else { return Ok(Batch::single(nodes)) };
    if batch.len() != nodes {
        let found = batch.len();
        return Err(Failure::Value(format!("batch has {found} entries for {nodes} nodes")));
    }
    if batch.first().is_some_and(|&first| first < 0) {
        return Err(Failure::Value("batch: graphs are numbered from 0".into()));
    }
    if let Some(at) = batch.windows(2).position(|pair| pair[1] < pair[0]) {
        let what = format!("batch must not decrease, but entry {} is below entry {at}", at + 1);
        return Err(Failure::Value(what));
    }
    let sizes = batch.chunk_by(|a, b| a == b).map(<[i64]>::len);
    Ok(Batch::of_sizes(sizes))
}
