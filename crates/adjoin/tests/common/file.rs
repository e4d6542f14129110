//! Golden vectors: the files that `golden/make.py` writes, and comparisons with them.
#![allow(dead_code)] // every test file uses a part of it

use adjoin::Csr;
use burn::{
    module::Param,
    tensor::{DType, Device, Gradients, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors};
use std::{collections::HashMap, path::Path};

/// One file, read in one element type.
pub struct Golden {
    name: &'static str,
    tensors: HashMap<String, (Vec<usize>, Vec<f64>)>,
    dtype: DType,
    tolerance: f64,
}

/// Runs a test on a golden file in f64 and in f32.
pub fn both(name: &'static str, test: impl Fn(&Golden)) {
    test(&Golden::load(name, DType::F64, 1e-9));
    test(&Golden::load(name, DType::F32, 1e-5));
}

/// Runs a test on a golden file in f64.
pub fn double(name: &'static str, test: impl Fn(&Golden)) {
    test(&Golden::load(name, DType::F64, 1e-9));
}

impl Golden {
    fn load(name: &'static str, dtype: DType, tolerance: f64) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
        let bytes = std::fs::read(folder.join(format!("{name}.safetensors"))).expect("golden file");
        let file = SafeTensors::deserialize(&bytes).expect("a safetensors file");
        let number = |dtype: Dtype, bytes: &[u8]| {
            let bytes = bytes.try_into().expect("eight bytes");
            match dtype {
                Dtype::F64 => f64::from_le_bytes(bytes),
                Dtype::I64 => i64::from_le_bytes(bytes) as f64,
                other => panic!("unexpected type {other:?}"),
            }
        };
        let tensors = file
            .tensors()
            .into_iter()
            .map(|(key, view)| {
                let numbers = view.data().chunks_exact(8).map(|b| number(view.dtype(), b));
                (key, (view.shape().to_vec(), numbers.collect()))
            })
            .collect();
        Self { name, tensors, dtype, tolerance }
    }

    fn get(&self, key: &str) -> &(Vec<usize>, Vec<f64>) {
        self.tensors.get(key).unwrap_or_else(|| panic!("{}: no tensor {key}", self.name))
    }

    /// The numbers of a tensor.
    pub fn numbers(&self, key: &str) -> &[f64] {
        &self.get(key).1
    }

    /// The only number of a tensor.
    pub fn scalar(&self, key: &str) -> f64 {
        let numbers = self.numbers(key);
        assert_eq!(numbers.len(), 1, "{key}");
        numbers[0]
    }

    /// The integers of a tensor.
    pub fn integers(&self, key: &str) -> Vec<u32> {
        self.numbers(key).iter().map(|&v| v as u32).collect()
    }

    /// `prefix + "pointers"` and `prefix + "indices"` as a graph.
    pub fn csr(&self, prefix: &str, columns: usize) -> Csr {
        let [pointers, indices] =
            ["pointers", "indices"].map(|part| self.integers(&format!("{prefix}{part}")));
        Csr::new(columns, pointers, indices).expect("a valid graph")
    }

    /// A tensor that gradients flow to.
    pub fn leaf<const D: usize>(&self, key: &str) -> Tensor<D> {
        self.constant(key).require_grad()
    }

    /// A tensor without gradient, on the device that tracks gradients.
    pub fn constant<const D: usize>(&self, key: &str) -> Tensor<D> {
        let (shape, numbers) = self.get(key);
        let shape: [usize; D] = shape.as_slice().try_into().expect("the rank of the tensor");
        self.tensor(numbers, shape)
    }

    /// Numbers as a tensor of this file's element type.
    pub fn tensor<const D: usize>(&self, numbers: &[f64], shape: [usize; D]) -> Tensor<D> {
        let data = TensorData::new(numbers.to_vec(), shape);
        Tensor::from_data(data, (&Device::flex().autodiff(), self.dtype))
    }

    /// A parameter with the values of a tensor.
    pub fn param<const D: usize>(&self, key: &str) -> Param<Tensor<D>> {
        Param::from_tensor(self.constant(key))
    }

    /// Asserts that numbers are those of the file.
    #[track_caller]
    pub fn check_numbers(&self, key: &str, found: &[f64]) {
        let expected = self.numbers(key);
        assert_eq!(found.len(), expected.len(), "{}: length of {key}", self.name);
        for (at, (&a, &b)) in found.iter().zip(expected).enumerate() {
            let error = (a - b).abs() / b.abs().max(1.0);
            let same = error <= self.tolerance || a == b;
            assert!(same, "{} {key} [{at}] in {:?}: {a}, not {b}", self.name, self.dtype);
        }
    }

    /// Asserts that a tensor has the shape and the values of the file.
    #[track_caller]
    pub fn check<const D: usize>(&self, key: &str, found: &Tensor<D>) {
        assert_eq!(found.dims().as_slice(), self.get(key).0, "{}: shape of {key}", self.name);
        assert_eq!(found.dtype(), self.dtype, "{}: type of {key}", self.name);
        self.check_numbers(key, &numbers_of(found));
    }

    /// Checks an output `CASE.out`, and the gradients `CASE.grad.NAME` of `sum(out * CASE.probe)`.
    #[track_caller]
    pub fn check_case<const D: usize>(
        &self,
        case: &str,
        out: &Tensor<D>,
        inputs: &[(&str, &dyn Leaf)],
    ) {
        self.check(&format!("{case}out"), out);
        let probe = self.constant::<D>(&format!("{case}probe"));
        self.check_grads(case, &(out.clone() * probe).sum().backward(), inputs);
    }

    /// Checks the gradients `CASE.grad.NAME`.
    #[track_caller]
    pub fn check_grads(&self, case: &str, grads: &Gradients, inputs: &[(&str, &dyn Leaf)]) {
        for (name, leaf) in inputs {
            let key = format!("{case}grad.{name}");
            let count = self.numbers(&key).len();
            // What does not depend on a leaf has no gradient: the file says 0.
            self.check_numbers(&key, &leaf.gradient(grads).unwrap_or(vec![0.0; count]));
        }
    }
}

/// Something that gradients flow to.
pub trait Leaf {
    /// Its gradient, flat.
    fn gradient(&self, grads: &Gradients) -> Option<Vec<f64>>;
}

impl<const D: usize> Leaf for Tensor<D> {
    fn gradient(&self, grads: &Gradients) -> Option<Vec<f64>> {
        self.grad(grads).map(|grad| numbers_of(&grad))
    }
}

impl<const D: usize> Leaf for Param<Tensor<D>> {
    fn gradient(&self, grads: &Gradients) -> Option<Vec<f64>> {
        self.val().gradient(grads)
    }
}

/// The values of a tensor.
pub fn numbers_of<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}
