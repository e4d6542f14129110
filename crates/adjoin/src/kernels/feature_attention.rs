//! Attention through positive features of queries and keys, averaged over draws of weights of the senders.
//!
//! `z_i = 1/K sum_k num_ik / den_ik` with `[num_ik, den_ik] = p_i^T C_k` and `C_k = sum_j a_kj r_j [v_j, 1]^T`: linear in
//! the number of nodes. The backward pass recomputes what is not an input.

use super::{
    Real,
    matmul::{Matrix, matmul},
    rows::{for_row_blocks, zeros},
};

/// Inputs of feature attention.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a, T> {
    /// p, features of the queries, `[nodes, features]`.
    pub queries: &'a [T],
    /// r, features of the keys, `[nodes, features]`.
    pub keys: &'a [T],
    /// v, `[nodes, width]`.
    pub values: &'a [T],
    /// a, weights of the senders, `[draws, nodes]`.
    pub weights: &'a [T],
    /// Number of nodes, features of a query, width of a value.
    pub shape: [usize; 3],
}

/// Gradients of queries, keys and values.
pub(crate) type Gradients<T> = [Vec<T>; 3];

impl<T: Real> Inputs<'_, T> {
    fn draws(&self) -> usize {
        self.weights.len() / self.shape[0].max(1)
    }

    /// `a_kj [v_j, 1]`, `[nodes, width + 1]`.
    fn weighted(&self, draw: usize, out: &mut [T]) {
        let [nodes, _, width] = self.shape;
        let weights = &self.weights[draw * nodes..(draw + 1) * nodes];
        for_row_blocks(out, width + 1, width + 1, |first, block| {
            for (at, row) in block.chunks_exact_mut(width + 1).enumerate() {
                let (a, own) = (weights[first + at], &self.values[(first + at) * width..][..width]);
                row.iter_mut().zip(own).for_each(|(slot, &v)| *slot = a * v);
                row[width] = a;
            }
        });
    }

    /// `C_k` and `[num, den]` of a draw.
    fn sums(&self, weighted: &[T]) -> (Vec<T>, Vec<T>) {
        let [nodes, features, width] = self.shape;
        let keys = Matrix::new(self.keys, nodes, features);
        let sums = matmul(keys.transpose(), Matrix::new(weighted, nodes, width + 1));
        let queries = Matrix::new(self.queries, nodes, features);
        let both = matmul(queries, Matrix::new(&sums, features, width + 1));
        (sums, both)
    }
}

/// z, `[nodes, width]`.
pub(crate) fn forward<T: Real>(inputs: Inputs<T>) -> Vec<T> {
    let [nodes, _, width] = inputs.shape;
    let share = T::ONE / T::from_usize(inputs.draws().max(1));
    let mut out = zeros(nodes * width);
    let mut weighted = zeros(nodes * (width + 1));
    for draw in 0..inputs.draws() {
        inputs.weighted(draw, &mut weighted);
        let (_, both) = inputs.sums(&weighted);
        for_row_blocks(&mut out, width, width, |first, block| {
            for (at, row) in block.chunks_exact_mut(width).enumerate() {
                let own = &both[(first + at) * (width + 1)..][..width + 1];
                let scale = share / own[width];
                row.iter_mut().zip(own).for_each(|(slot, &v)| *slot = v.mul_add(scale, *slot));
            }
        });
    }
    out
}

/// Gradients of all but the weights.
pub(crate) fn backward<T: Real>(inputs: Inputs<T>, grad: &[T]) -> Gradients<T> {
    let [nodes, features, width] = inputs.shape;
    let share = T::ONE / T::from_usize(inputs.draws().max(1));
    let (mut of_queries, mut of_keys) = (zeros(nodes * features), zeros(nodes * features));
    let mut of_values = zeros(nodes * width);
    let (mut weighted, mut of_both) = (zeros(nodes * (width + 1)), zeros(nodes * (width + 1)));
    for draw in 0..inputs.draws() {
        inputs.weighted(draw, &mut weighted);
        let (sums, both) = inputs.sums(&weighted);
        for_row_blocks(&mut of_both, width + 1, 2 * width, |first, block| {
            for (at, row) in block.chunks_exact_mut(width + 1).enumerate() {
                let own = &both[(first + at) * (width + 1)..][..width + 1];
                let grad = &grad[(first + at) * width..][..width];
                let scale = share / own[width];
                let mut along = T::ZERO;
                for ((slot, &g), &num) in row.iter_mut().zip(grad).zip(own) {
                    *slot = g * scale;
                    along = g.mul_add(num, along);
                }
                row[width] = -along * scale / own[width];
            }
        });
        let of_both = Matrix::new(&of_both, nodes, width + 1);
        let sums = Matrix::new(&sums, features, width + 1);
        add(&mut of_queries, &matmul(of_both, sums.transpose()));
        let queries = Matrix::new(inputs.queries, nodes, features);
        let of_sums = matmul(queries.transpose(), of_both);
        let of_sums = Matrix::new(&of_sums, features, width + 1);
        let right = Matrix::new(&weighted, nodes, width + 1);
        add(&mut of_keys, &matmul(right, of_sums.transpose()));
        let of_weighted = matmul(Matrix::new(inputs.keys, nodes, features), of_sums);
        let weights = &inputs.weights[draw * nodes..(draw + 1) * nodes];
        for_row_blocks(&mut of_values, width, width, |first, block| {
            for (at, row) in block.chunks_exact_mut(width).enumerate() {
                let own = &of_weighted[(first + at) * (width + 1)..][..width];
                let a = weights[first + at];
                row.iter_mut().zip(own).for_each(|(slot, &v)| *slot = v.mul_add(a, *slot));
            }
        });
    }
    [of_queries, of_keys, of_values]
}

fn add<T: Real>(sum: &mut [T], more: &[T]) {
    sum.iter_mut().zip(more).for_each(|(slot, &value)| *slot += value);
}
