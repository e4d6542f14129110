//! The numbers of a learner, by name and in order: PyTorch keeps them, Rust is given them with every call.

use crate::run::{Failure, Outcome};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Device, Gradients, Tensor, TensorData},
};

/// What is known of a parameter.
pub struct Parameter {
    /// Where it is in the module.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Whether training changes it; otherwise it is a constant that was fitted.
    pub trained: bool,
    /// Its values.
    pub values: Vec<f64>,
}

/// All parameters of a module on a device with autodiff.
pub fn list(module: &impl Module) -> Vec<Parameter> {
    let mut list = List::default();
    module.visit(&mut list);
    list.found
}

#[derive(Default)]
struct List {
    path: Vec<String>,
    found: Vec<Parameter>,
}

impl ModuleVisitor for List {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        self.found.push(Parameter {
            name: self.path.join("."),
            shape: tensor.dims().to_vec(),
            trained: tensor.is_require_grad(),
            values: tensor.to_data().iter::<f64>().collect(),
        });
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        // The variant of an enum is no part of a name.
        if !container.starts_with("Enum:") {
            self.path.push(name.to_string());
        }
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        if !container.starts_with("Enum:") {
            self.path.pop();
        }
    }
}

/// A module on a device with autodiff, filled with other values on another device.
pub fn filled<M: Module>(module: M, values: &[TensorData], device: &Device) -> Outcome<M> {
    let mut fill = Fill { values: values.iter(), device, problem: None };
    let module = module.map(&mut fill);
    match (fill.problem, fill.values.len()) {
        (Some(problem), _) => Err(Failure::Value(problem)),
        (None, 0) => Ok(module),
        (None, left) => Err(Failure::Value(format!("{left} parameters too many"))),
    }
}

struct Fill<'a> {
    values: std::slice::Iter<'a, TensorData>,
    device: &'a Device,
    problem: Option<String>,
}

impl ModuleMapper for Fill<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        let shape = old.dims();
        match self.values.next() {
            Some(data) if data.shape().as_slice() == shape.as_slice() => {
                let new = Tensor::<D>::from_data(data.clone(), (self.device, data.dtype()));
                let learned = old.is_require_grad() && self.device.is_autodiff();
                Param::initialized(param.id, if learned { new.require_grad() } else { new })
            }
            Some(data) => {
                let what = format!("a parameter has shape {:?}, expected {shape:?}", data.shape());
                self.problem.get_or_insert(what);
                param
            }
            None => {
                self.problem.get_or_insert("too few parameters".into());
                param
            }
        }
    }
}

/// Gradients of all parameters in order; none for constants and for those that the loss does not depend on.
pub fn gradients(module: &impl Module, grads: &Gradients) -> Vec<Option<TensorData>> {
    let mut collect = Collect { grads, found: Vec::new() };
    module.visit(&mut collect);
    collect.found
}

struct Collect<'a> {
    grads: &'a Gradients,
    found: Vec<Option<TensorData>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let grad = if tensor.is_require_grad() { tensor.grad(self.grads) } else { None };
        self.found.push(grad.map(Tensor::into_data));
    }
}
