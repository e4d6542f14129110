//! Modules in f64, and derivatives along random directions of all their parameters.
#![allow(dead_code)] // every test file uses a part of it

use adjoin::Key;
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Gradients, Tensor, TensorData},
};

/// The values of a tensor.
fn numbers<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// A parameter with new values in f64; buffers stay buffers.
fn renewed<const D: usize>(param: Param<Tensor<D>>, values: Vec<f64>) -> Param<Tensor<D>> {
    let old = param.val();
    let data = TensorData::new(values, old.dims());
    let new = Tensor::<D>::from_data(data, (&old.device(), DType::F64));
    let learned = old.is_require_grad();
    Param::initialized(param.id, if learned { new.require_grad() } else { new })
}

struct Widen;

impl ModuleMapper for Widen {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let values = numbers(&param.val());
        renewed(param, values)
    }
}

/// The same module in f64.
pub fn widened<M: Module>(module: M) -> M {
    module.map(&mut Widen)
}

/// A direction in the space of all parameters.
struct Direction {
    key: Key,
    at: u64,
}

impl Direction {
    fn next(&mut self, count: usize) -> Vec<f64> {
        self.at += 1;
        (0..count as u64).map(|n| self.key.child(self.at).normal(n)).collect()
    }
}

struct Shift {
    direction: Direction,
    step: f64,
}

impl ModuleMapper for Shift {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        if !old.is_require_grad() {
            return param;
        }
        let values = numbers(&old);
        let direction = self.direction.next(values.len());
        let moved = values.iter().zip(direction).map(|(v, d)| v + self.step * d).collect();
        renewed(param, moved)
    }
}

struct Slope<'a> {
    direction: Direction,
    grads: &'a Gradients,
    total: f64,
}

impl ModuleVisitor for Slope<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        if !tensor.is_require_grad() {
            return;
        }
        let direction = self.direction.next(tensor.dims().iter().product());
        if let Some(grad) = tensor.grad(self.grads) {
            self.total += numbers(&grad).iter().zip(direction).map(|(g, d)| g * d).sum::<f64>();
        }
    }
}

struct Collect<'a> {
    grads: &'a Gradients,
    values: Vec<Vec<f64>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        if tensor.is_require_grad() {
            let zeros = vec![0.0; tensor.dims().iter().product()];
            self.values.push(tensor.grad(self.grads).map_or(zeros, |grad| numbers(&grad)));
        }
    }
}

/// The same module in f64 a little way off: biases that start at 0 put nodes without features
/// exactly on the kink of an activation.
pub fn moved<M: Module>(module: M) -> M {
    let direction = Direction { key: Key::new(77), at: 0 };
    widened(module).map(&mut Shift { direction, step: 0.03 })
}

/// Gradients of all parameters of a module, in order; zeros where there is none.
pub fn gradients<M: Module>(module: &M, grads: &Gradients) -> Vec<Vec<f64>> {
    let mut collect = Collect { grads, values: Vec::new() };
    module.visit(&mut collect);
    collect.values
}

/// Checks derivatives of `f` along random directions of all parameters of the module and of `x`
/// against central differences, and gives the gradients of the module's parameters.
///
/// What is differentiated is a fixed random combination of the numbers that `f` gives.
#[track_caller]
pub fn check_module<M: Module>(
    name: &str,
    module: &M,
    x: &Tensor<2>,
    f: impl Fn(&M, Tensor<2>) -> Tensor<1>,
) -> Vec<Vec<f64>> {
    const STEP: f64 = 1e-6;
    let leaf = |values: Vec<f64>| -> Tensor<2> {
        let data = TensorData::new(values, x.dims());
        Tensor::from_data(data, (&x.device(), DType::F64)).require_grad()
    };
    let loss = |out: Tensor<1>| {
        let [count] = out.dims();
        let mix: Vec<f64> = (0..count as u64).map(|n| Key::new(99).normal(n)).collect();
        let data = TensorData::new(mix, [count]);
        (out.clone() * Tensor::from_data(data, (&out.device(), DType::F64))).sum()
    };
    let values = numbers(x);
    let tracked = leaf(values.clone());
    let grads = loss(f(module, tracked.clone())).backward();
    let slope_x = tracked.grad(&grads).map_or(vec![0.0; values.len()], |grad| numbers(&grad));
    for seed in 0..2 {
        let key = Key::new(seed);
        let direction = || Direction { key, at: 0 };
        let mut slope = Slope { direction: direction(), grads: &grads, total: 0.0 };
        module.visit(&mut slope);
        let along: Vec<f64> = (0..values.len() as u64).map(|n| key.normal(n)).collect();
        let found = slope.total + slope_x.iter().zip(&along).map(|(g, d)| g * d).sum::<f64>();
        let shifted = |step: f64| {
            let module = module.clone().map(&mut Shift { direction: direction(), step });
            let x = values.iter().zip(&along).map(|(v, d)| v + step * d).collect();
            numbers(&loss(f(&module, leaf(x))))[0]
        };
        let expected = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-6, "{name}: slope {found}, difference {expected}");
    }
    gradients(module, &grads)
}
