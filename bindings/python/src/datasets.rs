//! Data that comes with the package.

use crate::{arrays::array, run::Failure};
use adjoin_data::{Features, Split};
use pyo3::prelude::*;

type Array<'py> = Bound<'py, PyAny>;

/// Sparse rows (pointers, columns, values, number of columns), edges `[2, edges]` in both directions, classes, names of
/// classes, and training, validation and test nodes of Cora.
#[pyfunction]
#[allow(clippy::type_complexity)] // arrays that Python gives names
pub fn cora<'py>(
    py: Python<'py>,
) -> PyResult<(
    (Array<'py>, Array<'py>, Array<'py>, usize),
    Array<'py>,
    Array<'py>,
    Vec<String>,
    [Array<'py>; 3],
)> {
    let wrong = |error: adjoin_data::Error| Failure::Runtime(error.to_string());
    let data = adjoin_data::cora().map_err(wrong)?;
    let split = data.default_split().map_err(wrong)?;
    let Features::Sparse { columns, pointers, indices, values, .. } = data.features else {
        return Err(Failure::Runtime("Cora is stored in another form".into()).into());
    };
    let wide = |values: &[u32]| array(py, values.iter().map(|&v| i64::from(v)).collect::<Vec<_>>());
    let sources = data.edges.iter().flat_map(|&(i, j)| [i, j]);
    let targets = data.edges.iter().flat_map(|&(i, j)| [j, i]);
    let edges: Vec<u32> = sources.chain(targets).collect();
    let Split { train, valid, test, .. } = split;
    let parts = [train, valid, test].map(|part| wide(&part));
    let features = (wide(&pointers), wide(&indices), array(py, values), columns);
    Ok((features, wide(&edges), wide(&data.labels), data.class_names, parts))
}
