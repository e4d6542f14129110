//! A file of golden tensors, and comparisons with it.

use burn::tensor::{DType, Device, Tensor, TensorData};
use safetensors::{Dtype, SafeTensors};
use std::{collections::HashMap, path::PathBuf};

/// Where the tensors of a network are.
pub fn path(network: &str) -> PathBuf {
    let file = format!("../../golden/{network}.safetensors");
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Shapes and numbers by name.
pub struct Golden(HashMap<String, (Vec<usize>, Vec<f64>)>);

impl Golden {
    pub fn load(network: &str) -> Self {
        let bytes = std::fs::read(path(network)).unwrap();
        let number = |dtype: Dtype, bytes: &[u8]| match dtype {
            Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
            Dtype::I64 => i64::from_le_bytes(bytes.try_into().unwrap()) as f64,
            other => panic!("{other:?}"),
        };
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.tensors().into_iter().map(|(name, view)| {
            let numbers = view.data().chunks_exact(8).map(|bytes| number(view.dtype(), bytes));
            (name, (view.shape().to_vec(), numbers.collect()))
        });
        Self(tensors.collect())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn entry(&self, name: &str) -> &(Vec<usize>, Vec<f64>) {
        self.0.get(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    pub fn get(&self, name: &str) -> &[f64] {
        &self.entry(name).1
    }

    pub fn tensor<const D: usize>(&self, name: &str) -> Tensor<D> {
        let (shape, values) = self.entry(name);
        let shape: [usize; D] = shape.as_slice().try_into().unwrap();
        let data = TensorData::new(values.clone(), shape);
        Tensor::from_data(data, (&Device::flex().autodiff(), DType::F64))
    }

    #[track_caller]
    pub fn check<const D: usize>(&self, name: &str, found: &Tensor<D>) {
        // In order, whatever the shape: kernels of size 1 are matrices here.
        let expected = self.get(name);
        assert_eq!(found.shape().num_elements(), expected.len(), "{name}");
        for (at, (a, b)) in found.to_data().iter::<f64>().zip(expected).enumerate() {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{name}[{at}]: {a}, not {b}");
        }
    }
}
