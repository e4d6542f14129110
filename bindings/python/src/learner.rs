//! A learner of the library below a `torch.nn.Module`.
//!
//! PyTorch owns the parameters. A forward pass puts them into the Burn module, learns a graph on a device with
//! autodiff and keeps its tape; the backward pass feeds the gradients of the results into that tape.

use crate::{
    arrays::{Floats, array, data_array, slice, to_array},
    edges::{EdgeList, batch_of, coordinates},
    parameters,
    run::{Failure, Outcome, blocking, interruptible},
};
use adjoin::{
    Adjacency, Batch, Csr, Features, GraphInput, GraphLearner, Key, Labels, LearnedGraph, Pass,
    Prepared as Ready, SparseFeatures,
    learner::{AnyLearner, LEARNERS, LearnerConfig, Shape},
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Array<'py> = Bound<'py, PyAny>;
type Index<'py> = PyReadonlyArray1<'py, i64>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves values that are still right: nothing is changed in place.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names and descriptions of all learners.
#[pyfunction]
pub fn learners() -> Vec<(&'static str, &'static str)> {
    LEARNERS.iter().map(|entry| (entry.name, entry.about)).collect()
}

/// The settings of a learner by name, as JSON.
#[pyfunction]
pub fn settings_of(name: &str) -> PyResult<String> {
    let config = LearnerConfig::named(name).map_err(Failure::from)?;
    Ok(serde_json::to_string(&config).map_err(not_json)?)
}

fn not_json(error: serde_json::Error) -> Failure {
    Failure::Value(format!("settings: {error}"))
}

/// What a learner looks at: features, perhaps a graph, and which nodes belong together.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Inputs(Arc<Held>);

struct Held {
    features: Features,
    edges: Option<EdgeList>,
    /// One per entry of the topology.
    weights: Option<Tensor<1>>,
    batch: Batch,
    dtype: DType,
}

impl Held {
    fn new(
        features: Features,
        edges: Option<EdgeList>,
        weights: Option<TensorData>,
        batch: Batch,
    ) -> Self {
        let dtype = match &features {
            Features::Dense(x) => x.dtype(),
            Features::Sparse(x) => x.values().dtype(),
        };
        let weights = weights
            .map(|data| Tensor::from_data(data.convert_dtype(dtype), (&Device::flex(), dtype)));
        Self { features, edges, weights, batch, dtype }
    }

    fn adjacency(&self, weights: Option<&Tensor<1>>) -> Outcome<Option<Adjacency>> {
        let Some(edges) = &self.edges else { return Ok(None) };
        let topology = edges.topology.clone();
        Ok(Some(match weights.or(self.weights.as_ref()) {
            Some(weights) => Adjacency::new(topology, weights.clone())?,
            None => Adjacency::unweighted(topology, (&Device::flex(), self.dtype)),
        }))
    }
}

#[pymethods]
impl Inputs {
    /// `x` is `[nodes, width]` row by row, or the values of sparse rows with pointers and columns.
    #[new]
    #[pyo3(signature = (x, shape, sparse=None, edge_index=None, edge_weight=None, batch=None))]
    fn new<'py>(
        x: &Array<'py>,
        shape: (usize, usize),
        sparse: Option<(Index<'py>, Index<'py>)>,
        edge_index: Option<Index<'py>>,
        edge_weight: Option<&Array<'py>>,
        batch: Option<Index<'py>>,
    ) -> PyResult<Self> {
        let (py, (nodes, width)) = (x.py(), shape);
        let features = match (Floats::view("x", x)?, &sparse) {
            (x, None) => {
                let data = x.data("x", &[nodes, width])?;
                let dtype = data.dtype();
                Features::from(Tensor::<2>::from_data(data, (&Device::flex(), dtype)))
            }
            (Floats::Single(values), Some((pointers, columns))) => {
                let (pointers, columns) = (slice("x", pointers)?, slice("x", columns)?);
                let topology = Csr::new(width, narrow(pointers)?, narrow(columns)?)
                    .map_err(|error| Failure::Value(format!("sparse x: {error}")))?;
                let values = slice("x", &values)?;
                let sparse = SparseFeatures::new(topology, values, &Device::flex());
                Features::from(sparse.map_err(Failure::from)?)
            }
            (Floats::Double(_), Some(_)) => {
                return Err(Failure::Type("sparse x must be float32".into()).into());
            }
        };
        let index = edge_index.as_ref().map(|index| slice("edge_index", index)).transpose()?;
        let edges =
            index.map(|index| blocking(py, || EdgeList::new(index, nodes, nodes))).transpose()?;
        let weights = match (&edges, edge_weight) {
            (Some(edges), Some(weight)) => Some(given_weights(edges, weight)?),
            (None, Some(_)) => {
                return Err(Failure::Value("edge_weight needs edge_index".into()).into());
            }
            _ => None,
        };
        let batch = batch.as_ref().map(|batch| slice("batch", batch)).transpose()?;
        let batch = batch_of(batch, nodes)?;
        Ok(Self(Arc::new(Held::new(features, edges, weights, batch))))
    }
}

fn narrow(values: &[i64]) -> Outcome<Vec<u32>> {
    let narrow = |&value: &i64| u32::try_from(value).ok();
    let narrowed: Option<Vec<u32>> = values.iter().map(narrow).collect();
    narrowed.ok_or_else(|| Failure::Value("sparse x: an index does not fit 32 bits".into()))
}

fn given_weights(edges: &EdgeList, weight: &Array<'_>) -> PyResult<TensorData> {
    fn checked<T: crate::arrays::Float>(edges: &EdgeList, weight: &[T]) -> Outcome<TensorData> {
        if weight.len() != edges.count() {
            let (found, expected) = (weight.len(), edges.count());
            let what = format!("edge_weight has {found} values for {expected} edges");
            return Err(Failure::Value(what));
        }
        if let Some(at) = weight.iter().position(|value| !value.is_finite()) {
            let value = weight[at].to_f64();
            return Err(Failure::Value(format!("edge_weight holds {value} at edge {at}")));
        }
        let values = edges.gathered(weight);
        let count = values.len();
        Ok(TensorData::new(values, [count]))
    }
    Ok(match Floats::view("edge_weight", weight)? {
        Floats::Single(weight) => checked(edges, slice("edge_weight", &weight)?),
        Floats::Double(weight) => checked(edges, slice("edge_weight", &weight)?),
    }?)
}

/// What a learner worked out once for inputs that stay the same.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Prepared(Mutex<Ready>);

/// Whether noise and dropout are on, and where they come from.
#[derive(Clone, Copy)]
enum Mode {
    Evaluate,
    Train { seed: u64, step: u64 },
}

impl Mode {
    fn pass(self) -> Pass {
        match self {
            Self::Evaluate => Pass::evaluate(),
            Self::Train { seed, step } => Pass::train(seed, step),
        }
    }
}

/// A learner of the table, without parameters of its own.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Learner {
    template: Mutex<AnyLearner>,
}

#[pymethods]
impl Learner {
    /// `settings` are JSON, `{"dgg": {..}}`: the name of a kind of learner and its settings.
    #[new]
    fn new(
        py: Python<'_>,
        settings: &str,
        inputs: usize,
        classes: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let config: LearnerConfig = serde_json::from_str(settings).map_err(not_json)?;
        let template = blocking(py, || {
            let device = Device::flex().autodiff();
            let shape = Shape { features: inputs, classes, ..Shape::default() };
            let x = Features::from(Tensor::<2>::zeros([0, inputs], &device));
            let batch = Batch::single(0);
            let nothing = GraphInput::new(&x, None, &batch);
            Ok(config.init(&nothing, &shape, Key::new(seed), &device)?)
        })?;
        Ok(Self { template: Mutex::new(template) })
    }

    /// Name, shape, whether it is trained, and the first values of every parameter.
    fn parameters<'py>(&self, py: Python<'py>) -> Vec<(String, Vec<usize>, bool, Array<'py>)> {
        let list = parameters::list(&*lock(&self.template));
        list.into_iter().map(|p| (p.name, p.shape, p.trained, array(py, p.values))).collect()
    }

    /// Works out what stays the same while the inputs do.
    fn prepare(
        &self,
        inputs: &Bound<'_, Inputs>,
        values: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Prepared> {
        let module = self.filled(&values, true)?;
        let held = inputs.get().0.clone();
        let work = move || {
            let graph = held.adjacency(None)?;
            let input = GraphInput::new(&held.features, graph.as_ref(), &held.batch);
            Ok(module.prepare(&input)?)
        };
        Ok(Prepared(Mutex::new(interruptible(inputs.py(), work)?)))
    }

    /// Fits what can be fitted to labels of training nodes; gives all parameters as they are then.
    fn fit<'py>(
        &self,
        inputs: &Bound<'py, Inputs>,
        values: Vec<Bound<'py, PyAny>>,
        labels: (Index<'py>, Index<'py>, usize),
        seed: u64,
    ) -> PyResult<Vec<Array<'py>>> {
        let (py, (nodes, classes, count)) = (inputs.py(), labels);
        let module = self.filled(&values, true)?;
        let held = inputs.get().0.clone();
        let nodes = narrow(slice("train_mask", &nodes)?)?;
        let classes = narrow(slice("y", &classes)?).map_err(|_| {
            Failure::Value("y: classes of training nodes are numbered from 0".into())
        })?;
        let work = move || {
            let graph = held.adjacency(None)?;
            let input = GraphInput::new(&held.features, graph.as_ref(), &held.batch);
            let labels = Labels { nodes: &nodes, classes: &classes, count };
            let fitted = module.fit(&input, &labels, Key::new(seed))?;
            Ok(parameters::list(&fitted).into_iter().map(|p| p.values).collect::<Vec<_>>())
        };
        let values = interruptible(py, work)?;
        Ok(values.into_iter().map(|values| array(py, values)).collect())
    }

    /// Learns a graph. `step` is none in evaluation; `tracked` says whether gradients will be asked for of
    /// anything, of the features, and of the edge weights.
    #[pyo3(signature = (inputs, values, seed, step, tracked, prepared=None))]
    fn forward(
        &self,
        inputs: &Bound<'_, Inputs>,
        values: Vec<Bound<'_, PyAny>>,
        seed: u64,
        step: Option<u64>,
        tracked: (bool, bool, bool),
        prepared: Option<&Bound<'_, Prepared>>,
    ) -> PyResult<Tape> {
        let held = inputs.get().0.clone();
        let module = self.filled(&values, tracked.0)?;
        let mode = step.map_or(Mode::Evaluate, |step| Mode::Train { seed, step });
        let prepared = prepared.map(|prepared| lock(&prepared.get().0).clone());
        let work = move || {
            let x = match &held.features {
                Features::Dense(x) if tracked.1 => Some(x.clone().autodiff().require_grad()),
                _ => None,
            };
            let weights = held.weights.clone().filter(|_| tracked.2);
            let weights = weights.map(|weights| weights.autodiff().require_grad());
            let call = Call { held, module, x, weights, mode, prepared };
            let learned = call.learn()?;
            Ok((call, learned))
        };
        let (call, learned) = interruptible(inputs.py(), work)?;
        Ok(Tape {
            topology: learned.adjacency.topology().clone(),
            state: Mutex::new((call, Some(learned))),
        })
    }
}

impl Learner {
    fn filled(&self, values: &[Bound<'_, PyAny>], tracked: bool) -> PyResult<AnyLearner> {
        let template = lock(&self.template).clone();
        let list = parameters::list(&template);
        let data = values
            .iter()
            .zip(&list)
            .map(|(values, parameter)| {
                Ok(Floats::view(&parameter.name, values)?
                    .data(&parameter.name, &parameter.shape)?)
            })
            .collect::<PyResult<Vec<_>>>()?;
        let device = if tracked { Device::flex().autodiff() } else { Device::flex() };
        Ok(parameters::filled(template, &data, &device)?)
    }
}

/// One forward pass, which can be made again: the tape of Burn serves one backward pass only.
struct Call {
    held: Arc<Held>,
    module: AnyLearner,
    x: Option<Tensor<2>>,
    weights: Option<Tensor<1>>,
    mode: Mode,
    prepared: Option<Ready>,
}

impl Call {
    fn learn(&self) -> Outcome<LearnedGraph> {
        let features = self.x.clone().map(Features::from);
        let features = features.as_ref().unwrap_or(&self.held.features);
        let graph = self.held.adjacency(self.weights.as_ref())?;
        let mut input = GraphInput::new(features, graph.as_ref(), &self.held.batch);
        input.prepared = self.prepared.as_ref();
        Ok(self.module.learn(&input, self.mode.pass())?)
    }
}

/// A learned graph and the way back from it.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Tape {
    topology: Csr,
    state: Mutex<(Call, Option<LearnedGraph>)>,
}

type Gradient<'py> = Option<Array<'py>>;

#[pymethods]
impl Tape {
    /// `[2, edges]`: sources, then targets.
    fn edge_index<'py>(&self, py: Python<'py>) -> Array<'py> {
        array(py, coordinates(&self.topology))
    }

    /// The weight of every edge.
    fn edge_weight<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        to_array(py, self.graph()?.adjacency.weights().clone())
    }

    /// Learned neighbourhood sizes.
    fn degree<'py>(&self, py: Python<'py>) -> PyResult<Gradient<'py>> {
        self.graph()?.degrees.map(|degrees| to_array(py, degrees)).transpose()
    }

    /// Latent features with their width.
    fn latent<'py>(&self, py: Python<'py>) -> PyResult<Option<(Array<'py>, usize)>> {
        let with_width = |latent: Tensor<2>| {
            let width = latent.dims()[1];
            Ok((to_array(py, latent)?, width))
        };
        self.graph()?.latent.map(with_width).transpose()
    }

    /// Candidates `[2, pairs]` and their log-scores.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<(Array<'py>, Array<'py>)>> {
        let both = |scores: adjoin::EdgeScores| {
            Ok((array(py, coordinates(&scores.pairs)), to_array(py, scores.log_scores)?))
        };
        self.graph()?.scores.map(both).transpose()
    }

    /// Whether gradients flow through edge weights, degrees, scores and latent features.
    fn tracked(&self) -> PyResult<[bool; 4]> {
        let graph = self.graph()?;
        Ok([
            graph.adjacency.weights().is_tracked(),
            graph.degrees.is_some_and(|degrees| degrees.is_tracked()),
            graph.scores.is_some_and(|scores| scores.log_scores.is_tracked()),
            graph.latent.is_some_and(|latent| latent.is_tracked()),
        ])
    }

    /// Gradients of all parameters, of the features and of the edge weights, from those of edge weights,
    /// degrees, scores and latent features.
    fn backward<'py>(
        &self,
        py: Python<'py>,
        grads: [Gradient<'py>; 4],
    ) -> PyResult<(Vec<Gradient<'py>>, Gradient<'py>, Gradient<'py>)> {
        let mut upstream: [Option<TensorData>; 4] = Default::default();
        for (slot, grad) in upstream.iter_mut().zip(&grads) {
            if let Some(grad) = grad {
                let length = grad.len()?;
                *slot = Some(Floats::view("gradient", grad)?.data("gradient", &[length])?);
            }
        }
        let (of_parameters, of_x, of_weights) = blocking(py, || self.pulled_back(upstream))?;
        let given = |data: Option<TensorData>| data.map(|data| data_array(py, data)).transpose();
        let of_parameters = of_parameters.into_iter().map(given).collect::<PyResult<_>>()?;
        Ok((of_parameters, given(of_x)?, given(of_weights)?))
    }
}

type Pulled = (Vec<Option<TensorData>>, Option<TensorData>, Option<TensorData>);

impl Tape {
    fn graph(&self) -> PyResult<LearnedGraph> {
        let state = lock(&self.state);
        let graph = state.1.clone();
        Ok(graph
            .ok_or_else(|| Failure::Runtime("the graph was used up by a backward pass".into()))?)
    }

    fn pulled_back(&self, upstream: [Option<TensorData>; 4]) -> Outcome<Pulled> {
        let mut state = lock(&self.state);
        let graph = match state.1.take() {
            Some(graph) => graph,
            None => state.0.learn()?,
        };
        let call = &state.0;
        let LearnedGraph { adjacency, degrees, latent, scores, .. } = graph;
        let flat = |latent: Tensor<2>| {
            let count = latent.dims().iter().product::<usize>();
            latent.reshape([count])
        };
        let results = [
            Some(adjacency.weights().clone()),
            degrees,
            scores.map(|scores| scores.log_scores),
            latent.map(flat),
        ];
        let mut loss: Option<Tensor<1>> = None;
        for (result, grad) in results.into_iter().zip(upstream) {
            let (Some(result), Some(grad)) = (result, grad) else { continue };
            if !result.is_tracked() || result.dims() == [0] {
                continue;
            }
            let (device, dtype) = (result.device(), result.dtype());
            let grad = Tensor::<1>::from_data(grad.convert_dtype(dtype), (&device, dtype));
            let part = (result * grad).sum();
            loss = Some(loss.map_or(part.clone(), |loss| loss + part));
        }
        let Some(loss) = loss else {
            return Ok((parameters::list(&call.module).iter().map(|_| None).collect(), None, None));
        };
        let grads = loss.backward();
        let of_x = call.x.as_ref().and_then(|x| x.grad(&grads)).map(Tensor::into_data);
        let of_weights = call.weights.as_ref().and_then(|weights| weights.grad(&grads));
        let of_weights = of_weights.map(|grad| call.held.spread(grad)).transpose()?;
        Ok((parameters::gradients(&call.module, &grads), of_x, of_weights))
    }
}

impl Held {
    /// Gradients of the entries of the topology as those of the edges that were given.
    fn spread(&self, grad: Tensor<1>) -> Outcome<TensorData> {
        let Some(edges) = &self.edges else { return Ok(grad.into_data()) };
        let data = grad.into_data();
        let unreadable = |what| Failure::Runtime(format!("a gradient cannot be read: {what:?}"));
        Ok(match data.dtype() {
            DType::F64 => TensorData::new(
                edges.spread(data.try_into_vec::<f64>().map_err(unreadable)?),
                [edges.count()],
            ),
            _ => TensorData::new(
                edges.spread(data.try_into_vec::<f32>().map_err(unreadable)?),
                [edges.count()],
            ),
        })
    }
}
