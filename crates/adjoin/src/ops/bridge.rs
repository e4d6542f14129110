//! From plain-slice kernels to differentiable Burn operations.
//!
//! Burn's Flex backend runs eagerly on the CPU, so an operation is: read the inputs as slices, run
//! the kernel, and, if an input is tracked, hang the result into Burn's autodiff graph together
//! with the kernel's backward function. An [`Op`] says what those two functions are, for both
//! element types; [`apply`] does the rest, once, for all operations.
//!
//! Tensors of any other device go to Flex and the result goes back, by way of the host. Burn's
//! transfers carry gradients, so all of this works on every device, with autodiff or without, only
//! slower. (Burn's `backend_extension` would have to list the backends, each behind a feature of this
//! crate, and panics on all others.)

use crate::{Error, Result, kernels::Real};
use burn::backend::{
    Autodiff, AutodiffBackend, BackendTensor, DispatchAutodiffContext, DispatchTensor,
    DispatchTensorKind, Flex, GradientCheckpointingStrategy, TensorMetadata,
    autodiff::{
        checkpoint::{
            base::Checkpointer,
            strategy::{BalancedCheckpointing, CheckpointStrategy, NoCheckpointing},
        },
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};
use burn::tensor::{DType, Device, Shape, Tensor, TensorData};
use burn_flex::FlexTensor;
use std::sync::Arc;

/// A differentiable operation on `N` float tensors with one float tensor as result.
pub(crate) trait Op<const N: usize>: Send + Sync + 'static {
    /// What the forward pass leaves for the backward pass, beside inputs and output.
    type Saved<T: Real>: Send + Sync + 'static;

    /// The values and shape of the result.
    fn forward<T: Real>(&self, inputs: [&[T]; N]) -> (Vec<T>, Shape, Self::Saved<T>);

    /// Gradients of the inputs; those for which `wanted` is false may be left out.
    fn backward<T: Real>(
        &self,
        inputs: [&[T]; N],
        output: &[T],
        saved: &Self::Saved<T>,
        grad: &[T],
        wanted: [bool; N],
    ) -> [Option<Vec<T>>; N];
}

/// A float tensor of any rank on the Flex device, as an input of an [`Op`].
pub(crate) struct Input {
    tensor: DispatchTensor,
    /// Where it was, if that was another device.
    home: Option<Device>,
}

impl<const D: usize> From<Tensor<D>> for Input {
    fn from(tensor: Tensor<D>) -> Self {
        let tensor = tensor.into_dispatch();
        if is_flex(&tensor.kind) {
            return Self { tensor, home: None };
        }
        let tensor = Tensor::<D>::from_dispatch(tensor);
        let home = tensor.device().without_autodiff();
        Self { tensor: tensor.to_device(&Device::flex()).into_dispatch(), home: Some(home) }
    }
}

fn is_flex(kind: &DispatchTensorKind) -> bool {
    match kind {
        DispatchTensorKind::Autodiff(inner) => is_flex(inner),
        other => matches!(other, DispatchTensorKind::Flex(_)),
    }
}

impl<const D: usize> From<&Tensor<D>> for Input {
    fn from(tensor: &Tensor<D>) -> Self {
        tensor.clone().into()
    }
}

type Tracked = FloatTensor<Autodiff<Flex>>;

/// An input taken apart: the values, and its place in the autodiff graph if it has one.
struct Operand {
    values: FlexTensor,
    tracked: Option<Tracked>,
}

impl Operand {
    fn new(what: &'static str, input: Input) -> Result<Self> {
        let found = format!("{:?}", input.tensor.device());
        let unsupported = |found| Error::Unsupported { what, found };
        let operand = match input.tensor.kind {
            DispatchTensorKind::Flex(BackendTensor::Float(values)) => {
                Self { values, tracked: None }
            }
            DispatchTensorKind::Autodiff(inner) => match *inner {
                DispatchTensorKind::Flex(BackendTensor::Autodiff(tracked)) => {
                    Self { values: tracked.primitive().clone(), tracked: Some(tracked) }
                }
                _ => return Err(unsupported(found)),
            },
            _ => return Err(unsupported(found)),
        };
        // Kernels read plain slices: views that are not contiguous are copied once, here.
        Ok(Self { values: operand.values.to_contiguous(), ..operand })
    }

    fn into_tracked(self) -> Tracked {
        self.tracked.unwrap_or_else(|| Autodiff::<Flex>::from_inner(self.values))
    }
}

/// Reads a float tensor as a slice of `T` and hands it to `read`.
pub(crate) fn with_values<const D: usize, R>(
    what: &'static str,
    tensor: &Tensor<D>,
    read: impl FnOnce(&FlexTensor) -> R,
) -> Result<R> {
    Ok(read(&Operand::new(what, tensor.into())?.values))
}

/// Values of a float tensor as `f64`, whatever its element type.
pub(crate) fn to_f64<const D: usize>(what: &'static str, tensor: &Tensor<D>) -> Result<Vec<f64>> {
    with_values(what, tensor, |values| match values.dtype() {
        DType::F32 => slice::<f32>(values).iter().map(|&v| v as f64).collect(),
        _ => slice::<f64>(values).to_vec(),
    })
}

/// Runs an operation and makes its result differentiable with respect to its inputs.
pub(crate) fn apply<O: Op<N>, const N: usize, const D: usize>(
    what: &'static str,
    op: O,
    inputs: [Input; N],
) -> Result<Tensor<D>> {
    let context = inputs.iter().fold(DispatchAutodiffContext::Disabled, |context, input| {
        context.merge(input.tensor.autodiff)
    });
    let home = home(what, &inputs)?;
    let result = match operands(what, inputs)? {
        (operands, true) => run::<O, f64, N, D>(op, operands, context),
        (operands, false) => run::<O, f32, N, D>(op, operands, context),
    };
    Ok(match home {
        None => result,
        Some(home) => result.to_device(&home),
    })
}

/// The device that the inputs share, if that is not Flex.
fn home<const N: usize>(what: &'static str, inputs: &[Input; N]) -> Result<Option<Device>> {
    let first = &inputs[0].home;
    match inputs.iter().find(|input| input.home != *first) {
        None => Ok(first.clone()),
        Some(other) => {
            let name =
                |home: &Option<Device>| format!("{:?}", home.clone().unwrap_or(Device::flex()));
            let found = format!("inputs on {} and on {}", name(first), name(&other.home));
            Err(Error::Unsupported { what, found })
        }
    }
}

/// Takes the inputs apart; they must all be `f32` or all `f64`, and true stands for the latter.
fn operands<const N: usize>(
    what: &'static str,
    inputs: [Input; N],
) -> Result<(Vec<Operand>, bool)> {
    let mut operands = Vec::with_capacity(N);
    for input in inputs {
        operands.push(Operand::new(what, input)?);
    }
    let dtype = operands[0].values.dtype();
    if let Some(other) = operands.iter().map(|o| o.values.dtype()).find(|&d| d != dtype) {
        let found = format!("inputs of types {dtype:?} and {other:?}");
        return Err(Error::Unsupported { what, found });
    }
    match dtype {
        DType::F32 => Ok((operands, false)),
        DType::F64 => Ok((operands, true)),
        other => Err(Error::Unsupported { what, found: format!("element type {other:?}") }),
    }
}

/// A question about `N` float tensors whose answer is not a tensor.
pub(crate) trait Query<const N: usize> {
    /// The answer.
    type Answer;

    /// Finds it.
    fn run<T: Real>(&self, inputs: [&[T]; N]) -> Self::Answer;
}

/// Answers a question about tensors; no gradient flows.
pub(crate) fn ask<Q: Query<N>, const N: usize>(
    what: &'static str,
    query: Q,
    inputs: [Input; N],
) -> Result<Q::Answer> {
    home(what, &inputs)?;
    let (operands, double) = operands(what, inputs)?;
    let values: [&FlexTensor; N] = std::array::from_fn(|n| &operands[n].values);
    Ok(if double {
        query.run(values.map(slice::<f64>))
    } else {
        query.run(values.map(slice::<f32>))
    })
}

/// Whether there are values and all of them are 0.
pub(crate) fn all_zero<const D: usize>(what: &'static str, tensor: &Tensor<D>) -> Result<bool> {
    struct Zero;
    impl Query<1> for Zero {
        type Answer = bool;

        fn run<T: Real>(&self, [values]: [&[T]; 1]) -> bool {
            !values.is_empty() && values.iter().all(|&value| value == T::ZERO)
        }
    }
    ask(what, Zero, [tensor.into()])
}

/// Refuses tensors that hold a NaN or an infinity.
pub(crate) fn check_finite<const D: usize>(what: &'static str, tensor: &Tensor<D>) -> Result<()> {
    struct First;
    impl Query<1> for First {
        type Answer = Option<(usize, f64)>;

        fn run<T: Real>(&self, [values]: [&[T]; 1]) -> Self::Answer {
            let at = values.iter().position(|value| !value.is_finite())?;
            Some((at, values[at].to_f64()))
        }
    }
    let width = tensor.dims().last().copied().unwrap_or(1).max(1);
    match ask(what, First, [tensor.into()])? {
        None => Ok(()),
        Some((at, value)) => {
            Err(Error::NotFinite { what, value, row: at / width, column: at % width })
        }
    }
}

fn run<O: Op<N>, T: Real, const N: usize, const D: usize>(
    op: O,
    operands: Vec<Operand>,
    context: DispatchAutodiffContext,
) -> Tensor<D> {
    let values: [FlexTensor; N] = std::array::from_fn(|n| operands[n].values.clone());
    let (result, shape, saved) = op.forward(values.each_ref().map(slice::<T>));
    debug_assert_eq!(result.len(), shape.num_elements());
    let output = FlexTensor::from_data(TensorData::new(result, shape));
    let DispatchAutodiffContext::Enabled(strategy) = context else {
        return Tensor::from_dispatch(DispatchTensor {
            kind: DispatchTensorKind::Flex(BackendTensor::Float(output)),
            autodiff: context,
        });
    };
    let saved = Arc::new(Saved { op, inputs: values, output: output.clone(), saved });
    let state = State(saved);
    let parents: Vec<Tracked> = operands.into_iter().map(Operand::into_tracked).collect();
    let tracked = match strategy {
        GradientCheckpointingStrategy::Disabled => {
            attach::<O, T, NoCheckpointing, N>(state, &parents, output)
        }
        GradientCheckpointingStrategy::Balanced => {
            attach::<O, T, BalancedCheckpointing, N>(state, &parents, output)
        }
    };
    Tensor::from_dispatch(DispatchTensor {
        kind: DispatchTensorKind::Autodiff(Box::new(DispatchTensorKind::Flex(
            BackendTensor::Autodiff(tracked),
        ))),
        autodiff: context,
    })
}

fn attach<O: Op<N>, T: Real, C: CheckpointStrategy, const N: usize>(
    state: State<O, T, N>,
    parents: &[Tracked],
    output: FlexTensor,
) -> Tracked {
    let nodes = std::array::from_fn(|n| parents[n].node());
    match Step(std::marker::PhantomData::<fn(O, T)>).prepare::<C>(nodes).compute_bound().stateful()
    {
        OpsKind::Tracked(prep) => prep.finish(state, output),
        OpsKind::UnTracked(prep) => prep.finish(output),
    }
}

struct Saved<O: Op<N>, T: Real, const N: usize> {
    op: O,
    inputs: [FlexTensor; N],
    output: FlexTensor,
    saved: O::Saved<T>,
}

/// Shared, because Burn wants backward state to be `Clone` and `Debug`.
struct State<O: Op<N>, T: Real, const N: usize>(Arc<Saved<O, T, N>>);

impl<O: Op<N>, T: Real, const N: usize> Clone for State<O, T, N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<O: Op<N>, T: Real, const N: usize> std::fmt::Debug for State<O, T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::any::type_name::<O>())
    }
}

struct Step<O, T>(std::marker::PhantomData<fn(O, T)>);

impl<O, T> std::fmt::Debug for Step<O, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::any::type_name::<O>())
    }
}

impl<O: Op<N>, T: Real, const N: usize> Backward<Flex, N> for Step<O, T> {
    type State = State<O, T, N>;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<Flex>(&ops.node).to_contiguous();
        let Saved { op, inputs, output, saved } = &*ops.state.0;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let values = inputs.each_ref().map(slice::<T>);
        let results = op.backward(values, slice(output), saved, slice(&grad), wanted);
        for ((parent, result), input) in ops.parents.iter().zip(results).zip(inputs) {
            if let (Some(parent), Some(result)) = (parent, result) {
                let data = TensorData::new(result, input.layout().shape().clone());
                grads.register::<Flex>(parent.id, FlexTensor::from_data(data));
            }
        }
    }
}

fn slice<T: Real>(tensor: &FlexTensor) -> &[T] {
    let storage: &[T] = tensor.storage();
    // `to_contiguous` has run: the values are the whole buffer.
    &storage[..tensor.layout().num_elements()]
}

/// A constant tensor on the device of `like`.
pub(crate) fn constant<T: Real, const D: usize, const E: usize>(
    values: Vec<T>,
    shape: [usize; D],
    like: &Tensor<E>,
) -> Result<Tensor<D>> {
    if like.dtype() != T::dtype() {
        let found = format!("element type {:?}", like.dtype());
        return Err(Error::Unsupported { what: "noise", found });
    }
    Ok(Tensor::from_data(TensorData::new(values, shape), (&like.device(), like.dtype())))
}

/// The identity; Burn's own panics at size 0.
pub(crate) fn identity<const D: usize>(size: usize, like: &Tensor<D>) -> Tensor<2> {
    if size == 0 {
        return Tensor::zeros([0, 0], (&like.device(), like.dtype()));
    }
    Tensor::<2>::eye(size, &like.device()).cast(like.dtype())
}
