//! The exponential moving average (EMA) of a model's weights over the steps of training.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Tensor, TensorData},
};

/// `m <- keep m + (1 - keep) w` after every step, for every weight w and running statistic of a model. While steps
/// are few, less is kept, `(1 + t) / (10 + t)` after t of them, so that the first weights do not stay in it.
///
/// Large steps throw weights about the place they tend to; their average is nearer to it than any of them.
#[derive(Clone, Debug)]
pub(crate) struct Ema {
    keep: f64,
    steps: u64,
    /// In the order in which the model shows its weights.
    values: Vec<Vec<f32>>,
}

impl Ema {
    /// The average from a model after a number of steps on, if any of it is to be kept.
    pub fn wanted(keep: f64, steps: u64, model: &impl Module) -> Option<Self> {
        (keep > 0.0).then(|| Self::new(keep, steps, model))
    }

    /// The average from a model after a number of steps on.
    pub fn new(keep: f64, steps: u64, model: &impl Module) -> Self {
        let mut start = Follow { keep: 0.0, values: Vec::new(), at: 0 };
        model.visit(&mut start);
        Self { keep, steps, values: start.values }
    }

    /// Takes the weights after a step into the average.
    pub fn follow(&mut self, model: &impl Module) {
        self.steps += 1;
        let risen = (1 + self.steps) as f64 / (10 + self.steps) as f64;
        let values = std::mem::take(&mut self.values);
        let mut step = Follow { keep: self.keep.min(risen), values, at: 0 };
        model.visit(&mut step);
        self.values = step.values;
    }

    /// A model of the same form with the average for weights. Not of a clone: clones share running statistics.
    pub fn fill<M: Module>(&self, model: M) -> M {
        model.map(&mut Fill { values: self.values.iter() })
    }
}

/// A model of the same form with the weights of another.
pub(crate) fn copied<M: Module>(from: &M, into: M) -> M {
    Ema::new(0.0, 0, from).fill(into)
}

struct Follow {
    keep: f64,
    values: Vec<Vec<f32>>,
    at: usize,
}

impl ModuleVisitor for Follow {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().to_data().convert::<f32>();
        let (keep, weights) = (self.keep as f32, data.iter::<f32>());
        match self.values.get_mut(self.at) {
            Some(mean) => {
                mean.iter_mut().zip(weights).for_each(|(m, w)| *m = keep * *m + (1.0 - keep) * w);
            }
            None => self.values.push(weights.collect()),
        }
        self.at += 1;
    }
}

struct Fill<'a> {
    values: std::slice::Iter<'a, Vec<f32>>,
}

impl ModuleMapper for Fill<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(values) = self.values.next() else { return param };
        let old = param.val();
        let data = TensorData::new(values.clone(), old.dims());
        let tensor = Tensor::from_data(data, (&old.device(), old.dtype()));
        let tensor = tensor.set_require_grad(old.is_require_grad());
        let (id, _, mapper) = param.consume();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn weights(values: [f32; 2]) -> Vec<Param<Tensor<1>>> {
        let one = |value: f32| Param::from_tensor(Tensor::from_data([value], &Device::flex()));
        values.map(one).to_vec()
    }

    fn close(ema: &Ema, expected: [f32; 2]) {
        let filled = ema.fill(weights([0.0; 2]));
        for (weight, expected) in filled.iter().zip(expected) {
            let weight: f32 = weight.val().into_scalar();
            assert!((weight - expected).abs() < 1e-6, "{weight} instead of {expected}");
        }
    }

    #[test]
    fn little_is_kept_at_first_and_never_more_than_asked_for() {
        let mut ema = Ema::new(0.25, 0, &weights([1.0, -4.0]));
        close(&ema, [1.0, -4.0]);
        ema.follow(&weights([3.0, 0.0]));
        close(&ema, [3.0 - 2.0 * 2.0 / 11.0, -4.0 * 2.0 / 11.0]);
        let mut late = Ema::new(0.25, 1000, &weights([1.0, -4.0]));
        late.follow(&weights([3.0, 0.0]));
        close(&late, [2.5, -1.0]);
    }
}
