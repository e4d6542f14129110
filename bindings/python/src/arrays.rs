//! NumPy arrays as slices. Arrays that cross the boundary are one-dimensional and contiguous; shapes go beside them.

use crate::run::{Failure, Outcome};
use adjoin::kernels::Real;
use burn::tensor::{DType, Tensor, TensorData};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// An element type that NumPy and the kernels share.
pub trait Float: Real + Element {}

impl Float for f32 {}
impl Float for f64 {}

/// A view of an array of either type.
pub enum Floats<'py> {
    /// Single precision.
    Single(PyReadonlyArray1<'py, f32>),
    /// Double precision.
    Double(PyReadonlyArray1<'py, f64>),
}

impl<'py> Floats<'py> {
    /// A view of `array`, which the caller knows as `name`.
    pub fn view(name: &str, array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.extract() {
            return Ok(Self::Single(array));
        }
        if let Ok(array) = array.extract() {
            return Ok(Self::Double(array));
        }
        let kind =
            array.getattr("dtype").map_or_else(|_| array.get_type().to_string(), |d| d.to_string());
        Err(Failure::Type(format!(
            "{name} must be a one-dimensional array of float32 or float64, found {kind}"
        ))
        .into())
    }

    /// A copy as a tensor's data.
    pub fn data(&self, name: &str, shape: &[usize]) -> Outcome<TensorData> {
        match self {
            Self::Single(array) => data(name, slice(name, array)?, shape),
            Self::Double(array) => data(name, slice(name, array)?, shape),
        }
    }
}

fn data<T: Float>(name: &str, values: &[T], shape: &[usize]) -> Outcome<TensorData> {
    if values.len() != shape.iter().product::<usize>() {
        let found = values.len();
        return Err(Failure::Value(format!(
            "{name}: expected shape {shape:?}, found {found} values"
        )));
    }
    Ok(TensorData::new(values.to_vec(), shape))
}

/// The values of a view.
pub fn slice<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> Outcome<&'a [T]> {
    array.as_slice().map_err(|_| Failure::Value(format!("{name} must be contiguous")))
}

/// Values of a tensor as an array of its own type.
pub fn to_array<const D: usize>(py: Python<'_>, tensor: Tensor<D>) -> PyResult<Bound<'_, PyAny>> {
    data_array(py, tensor.into_data())
}

/// Values as an array of their own type.
pub fn data_array(py: Python<'_>, data: TensorData) -> PyResult<Bound<'_, PyAny>> {
    let unreadable = |what| Failure::Runtime(format!("a result cannot be read: {what:?}"));
    Ok(match data.dtype() {
        DType::F64 => array(py, data.try_into_vec::<f64>().map_err(unreadable)?),
        _ => array(py, data.try_into_vec::<f32>().map_err(unreadable)?),
    })
}

/// An array that owns the values.
pub fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}
