//! Inner products between rows: of a sparse matrix, and of two dense ones at chosen entries.

use super::bridge::{Op, Query, apply, ask};
use crate::{
    Error, Result,
    kernels::{Real, sparse_rows, spmm},
    topology::{Batch, Csr},
};
use burn::tensor::{Shape, Tensor};

struct RowDots {
    pairs: Csr,
    rows: Csr,
}

impl Op<1> for RowDots {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [values]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        let dots = sparse_rows::dots(&self.pairs, &self.rows, values);
        (dots, Shape::new([self.pairs.edges()]), ())
    }

    fn backward<T: Real>(
        &self,
        [values]: [&[T]; 1],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(sparse_rows::backward(&self.pairs, &self.rows, values, grad))]
    }
}

/// `<v_i, v_j>` at every pair of rows of a sparse matrix, `[pairs]`; gradients flow to its values `[entries]`.
///
/// # Errors
/// If the values do not fit the rows, or the pairs are not between them.
pub fn row_dots(pairs: &Csr, rows: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    check_values("row_dots: values", rows, values)?;
    pairs.same_shape("row_dots: pairs", &Csr::empty(rows.rows(), rows.rows()))?;
    apply("row_dots", RowDots { pairs: pairs.clone(), rows: rows.clone() }, [values.into()])
}

struct NearestRows<'a> {
    rows: &'a Csr,
    k: usize,
    batch: &'a Batch,
}

impl Query<1> for NearestRows<'_> {
    type Answer = Csr;

    fn run<T: Real>(&self, [values]: [&[T]; 1]) -> Csr {
        sparse_rows::nearest(self.rows, values, self.k, self.batch)
    }
}

/// The graph that joins every row of a sparse matrix to the `k` others of its graph with the largest inner
/// product above 0, of equal ones the first. No gradient flows.
///
/// # Errors
/// If the values do not fit the rows, or the rows the batch.
pub fn nearest_rows(rows: &Csr, values: &Tensor<1>, k: usize, batch: &Batch) -> Result<Csr> {
    check_values("nearest_rows: values", rows, values)?;
    if rows.rows() != batch.nodes() {
        return Err(Error::shape("nearest_rows: rows", batch.nodes(), rows.rows()));
    }
    ask("nearest_rows", NearestRows { rows, k, batch }, [values.into()])
}

fn check_values(what: &'static str, rows: &Csr, values: &Tensor<1>) -> Result<()> {
    Error::expect_shape(what, [rows.edges()], values.dims())
}

struct Products {
    pairs: Csr,
    width: usize,
}

impl Op<2> for Products {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [a, b]: [&[T]; 2]) -> (Vec<T>, Shape, ()) {
        let products = spmm::backward_weights(&self.pairs, b, a, self.width);
        (products, Shape::new([self.pairs.edges()]), ())
    }

    fn backward<T: Real>(
        &self,
        [a, b]: [&[T]; 2],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        wanted: [bool; 2],
    ) -> [Option<Vec<T>>; 2] {
        let Self { pairs, width } = self;
        [
            wanted[0].then(|| spmm::forward(pairs, grad, b, *width)),
            wanted[1].then(|| spmm::backward_features(pairs, grad, a, *width)),
        ]
    }
}

/// `<a_i, b_j>` at chosen entries of `A B^T`, `[pairs]`; gradients flow to both.
///
/// # Shapes
/// `a` `[rows, width]`, `b` `[columns, width]`.
///
/// # Errors
/// If the shapes do not fit.
pub fn sampled_products(pairs: &Csr, a: &Tensor<2>, b: &Tensor<2>) -> Result<Tensor<1>> {
    let width = a.dims()[1];
    Error::expect_shape("sampled_products: left side", [pairs.rows(), width], a.dims())?;
    Error::expect_shape("sampled_products: right side", [pairs.columns(), width], b.dims())?;
    apply("sampled_products", Products { pairs: pairs.clone(), width }, [a.into(), b.into()])
}
