//! The space in which features of nodes are compared.

use crate::{
    Result,
    graph::Features,
    kernels::{
        nuclear::{self, Convergence},
        random::Key,
        spmm,
    },
    ops::to_f64,
    topology::Csr,
};

/// Leading directions that make up the coarse half of the comparison.
pub(super) const COARSE: usize = 32;

/// Close enough for directions of a feature space.
const CONVERGENCE: Convergence = Convergence { tolerance: 1e-2, most: 6 };

/// A map from features to a space of few dimensions: `E = row(x) V`.
///
/// Bags of words (no negative value, at least half of them zero): `row(x)` is 1 where a word occurs, times
/// the rarity of the word `ln((n + 1) / (n_w + 1))`, scaled to length 1: latent semantic analysis. Others:
/// every column with mean 0 and standard deviation 1: principal components.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Whether features are bags of words.
    pub words: bool,
    /// Subtracted from every column; 0 for words.
    pub shift: Vec<f64>,
    /// Every column is multiplied by it.
    pub scale: Vec<f64>,
    /// `V`, `[width, rank]`.
    pub basis: Vec<f64>,
    /// Dimensions of the space.
    pub rank: usize,
}

/// Features on the host, row by row.
struct Rows {
    topology: Csr,
    values: Vec<f64>,
}

impl Rows {
    fn of(features: &Features) -> Result<Self> {
        let (topology, values) = match features {
            Features::Sparse(x) => (x.topology().clone(), to_f64("sparse features", x.values())?),
            Features::Dense(x) => {
                let [nodes, width] = x.dims();
                let pointers = (0..=nodes).map(|row| (row * width) as u32).collect();
                let indices = (0..nodes).flat_map(|_| 0..width as u32).collect();
                (Csr::new(width, pointers, indices)?, to_f64("features", x)?)
            }
        };
        Ok(Self { topology, values })
    }

    /// No value below zero, and zeros for at least half of them.
    fn are_words(&self) -> bool {
        let (nodes, width) = (self.topology.rows(), self.topology.columns());
        let there = self.values.iter().filter(|&&v| v != 0.0).count();
        self.values.iter().all(|&v| v >= 0.0) && 2 * there <= nodes * width
    }
}

impl Space {
    /// The space of some features; `rank` dimensions, those that do not exist being zero.
    pub(super) fn fit(features: &Features, rank: usize, key: Key) -> Result<Self> {
        let mut rows = Rows::of(features)?;
        let (nodes, width) = (rows.topology.rows(), rows.topology.columns());
        let words = rows.are_words();
        let mut sums = vec![[0.0; 2]; width];
        for (&column, &value) in rows.topology.indices().iter().zip(&rows.values) {
            let [sum, square] = &mut sums[column as usize];
            let value = if words { f64::from(value > 0.0) } else { value };
            *sum += value;
            *square += value * value;
        }
        let count = nodes.max(1) as f64;
        let shift = match words {
            true => vec![0.0; width],
            false => sums.iter().map(|[sum, _]| sum / count).collect(),
        };
        let of = |([sum, square], mean): (&[f64; 2], &f64)| match words {
            true => ((count + 1.0) / (sum + 1.0)).ln(),
            false => {
                let deviation = (square / count - mean * mean).max(0.0).sqrt();
                if deviation > 1e-9 * mean.abs() { 1.0 / deviation } else { 0.0 }
            }
        };
        let scale = sums.iter().zip(&shift).map(of).collect();
        let mut space = Self { words, shift, scale, basis: Vec::new(), rank };
        if !words && let Features::Sparse(_) = features {
            rows = Rows::of(&Features::Dense(features.to_dense()?))?;
        }
        space.transform(&mut rows);
        let (_, leading) = nuclear::forward(&rows.topology, &rows.values, rank, CONVERGENCE, key);
        space.basis = vec![0.0; width * rank];
        if leading.rank > 0 {
            let found = leading.right.chunks_exact(leading.rank);
            for (basis, found) in space.basis.chunks_exact_mut(rank).zip(found) {
                basis[..leading.rank].copy_from_slice(found);
            }
        }
        Ok(space)
    }

    /// Features as the basis wants them.
    fn transform(&self, rows: &mut Rows) {
        for row in 0..rows.topology.rows() {
            let range = rows.topology.range(row);
            let columns = &rows.topology.indices()[range.clone()];
            let values = &mut rows.values[range];
            for (value, &column) in values.iter_mut().zip(columns) {
                let at = column as usize;
                let own = if self.words { f64::from(*value > 0.0) } else { *value };
                *value = (own - self.shift[at]) * self.scale[at];
            }
            if self.words {
                normalise(values);
            }
        }
    }

    /// Which words occur in the features of every node.
    pub(super) fn occurrences(&self, features: &Features) -> Result<Csr> {
        let Rows { topology, values } = Rows::of(features)?;
        Ok(topology.filter(|entry, _, _| values[entry] > 0.0))
    }

    /// `E`, `[nodes, rank]`.
    pub(super) fn embed(&self, features: &Features) -> Result<Vec<f64>> {
        let mut rows = match features {
            // Zeros move too when the columns are centred.
            Features::Sparse(_) if !self.words => Rows::of(&Features::Dense(features.to_dense()?))?,
            _ => Rows::of(features)?,
        };
        self.transform(&mut rows);
        Ok(spmm::forward(&rows.topology, &rows.values, &self.basis, self.rank))
    }
}

/// Scales a vector to length 1; zeros stay.
pub(super) fn normalise(values: &mut [f64]) {
    let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|v| *v /= length);
    }
}
