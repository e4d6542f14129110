//! Training of a node classifier by the lab, below `adjoin.NodeClassifier`.

use crate::{
    arrays::{array, slice},
    edges::coordinates,
    parameters,
    run::{Failure, Outcome, interruptible},
};
use adjoin_data::{EdgeMarks, Features, NodeDataset, Split, UNKNOWN_LABEL};
use adjoin_lab::{
    settings::Layers,
    task::{Metrics, Model, Settings, Task, Validation},
    tasks::{
        Node,
        node::{
            Classified, NodeConfig, NodeData, NodeModel, Scaling, Schema, SplitGraph,
            TrainingLabels,
        },
    },
    train::{Best, Trainer, Visible},
};
use burn::tensor::{Device, TensorData};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

type Array<'py> = Bound<'py, PyAny>;
type Index<'py> = PyReadonlyArray1<'py, i64>;
type Values<'py> = PyReadonlyArray1<'py, f32>;
type Sparse<'py> = (Index<'py>, Index<'py>);

/// Epoch, training loss, validation accuracy and validation loss.
type Epoch = (usize, f64, f64, f64);

fn narrow(name: &str, values: &[i64]) -> Outcome<Vec<u32>> {
    let narrowed: Option<Vec<u32>> = values.iter().map(|&v| u32::try_from(v).ok()).collect();
    narrowed.ok_or_else(|| Failure::Value(format!("{name}: a number is negative or too large")))
}

/// Nodes as the lab knows them; `edges` `[2, edges]` joins both ends.
fn dataset(
    (values, shape, sparse): (&[f32], (usize, usize), Option<(&[i64], &[i64])>),
    edges: &[i64],
    labels: &[i64],
    classes: usize,
) -> Outcome<NodeDataset> {
    let (rows, columns) = shape;
    let values = values.to_vec();
    let features = match sparse {
        None => Features::Dense { rows, columns, values },
        Some((pointers, indices)) => {
            let (pointers, indices) = (narrow("X", pointers)?, narrow("X", indices)?);
            Features::Sparse { rows, columns, pointers, indices, values }
        }
    };
    let (sources, targets) = edges.split_at(edges.len() / 2);
    let pairs = narrow("edges", sources)?.into_iter().zip(narrow("edges", targets)?);
    let mut edges: Vec<(u32, u32)> =
        pairs.filter(|(i, j)| i != j).map(|(i, j)| (i.min(j), i.max(j))).collect();
    if let Some((_, node)) = edges.iter().find(|(_, j)| *j as usize >= rows) {
        return Err(Failure::Value(format!("edges: node {node} is named, but X has {rows} rows")));
    }
    edges.sort_unstable();
    edges.dedup();
    let label = |&label: &i64| u32::try_from(label).unwrap_or(UNKNOWN_LABEL);
    let dataset = NodeDataset {
        name: "the data".into(),
        features,
        missing: None,
        feature_names: Vec::new(),
        edges,
        weights: None,
        marks: EdgeMarks::default(),
        labels: labels.iter().map(label).collect(),
        class_names: (0..classes).map(|class| class.to_string()).collect(),
        node_ids: Vec::new(),
        splits: Vec::new(),
    };
    dataset.validate().map_err(|error| Failure::Value(error.to_string()))?;
    Ok(dataset)
}

/// The configuration of a network, a learner and `key=value` settings.
fn configured(backbone: &str, learner: &str, settings: &[String]) -> Outcome<Layers<NodeConfig>> {
    let mut layers = Node::named(backbone, learner)?;
    for setting in settings {
        layers = layers.set(setting)?;
    }
    Ok(layers)
}

/// Data taken apart, without any test part.
struct Parts {
    schema: Schema,
    context: NodeData,
    training: TrainingLabels,
    validation: Validation<Node>,
}

impl Parts {
    fn of(config: &NodeConfig, data: &SplitGraph) -> Outcome<Self> {
        let device = Device::flex();
        let schema = Node::fit(config, data)?;
        Ok(Self {
            context: Node::context(config, data, &schema, &device)?,
            schema,
            training: Node::training(config, data, &device)?,
            validation: Validation::of(config, data)?,
        })
    }

    fn visible(&self) -> Visible<'_, Node> {
        Visible {
            fitted: &self.schema,
            context: &self.context,
            training: &self.training,
            validation: &self.validation,
        }
    }
}

fn stopped() -> Failure {
    Failure::Runtime("training was stopped".into())
}

/// Trains until the epochs or the patience are used up.
fn finished(
    trainer: &mut Trainer<'_, Node>,
    stop: &AtomicBool,
) -> Outcome<(Best<Node>, Vec<Epoch>)> {
    let mut curve = Vec::new();
    while !trainer.is_finished() {
        if stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        let epoch = trainer.epoch_step()?;
        curve.push((epoch.epoch, epoch.loss, epoch.valid.accuracy, epoch.valid.loss));
    }
    let best = trainer.best().cloned();
    Ok((best.ok_or_else(|| Failure::Value("train.epochs = 0: nothing was trained".into()))?, curve))
}

/// What training gives.
struct Trained {
    /// The model that validation prefers.
    best: Best<Node>,
    /// The graph it was trained with, where there was a choice.
    chosen: Option<&'static str>,
    curve: Vec<Epoch>,
    /// How features are scaled, by the training nodes.
    scaling: Scaling,
}

fn trained(
    config: &NodeConfig,
    data: &SplitGraph,
    seed: u64,
    stop: &AtomicBool,
) -> Outcome<Trained> {
    config.check()?;
    let (parts, device) = (Parts::of(config, data)?, Device::flex());
    let mut first = Trainer::new(config, parts.visible(), seed, &device)?;
    if let Some(teacher) = Node::teacher(config) {
        let mut trainer = Trainer::new(&teacher, parts.visible(), seed, &device)?;
        let (best, _) = finished(&mut trainer, stop)?;
        first.take_teacher(&best.model, &|_, _| {})?;
    }
    let graphs = first.model().alternatives();
    let (mut best, mut curve) = finished(&mut first, stop)?;
    let mut chosen = graphs.first().copied();
    let criterion = |best: &Best<Node>| best.valid.criterion(config.train().choose_by);
    for (at, &graph) in graphs.iter().enumerate().skip(1) {
        let mut trainer = Trainer::of_alternative(config, parts.visible(), seed, &device, at)?;
        let (other, of_other) = finished(&mut trainer, stop)?;
        if criterion(&other) < criterion(&best) {
            (best, curve, chosen) = (other, of_other, Some(graph));
        }
    }
    Ok(Trained { best, chosen, curve, scaling: parts.schema.scaling })
}

/// A trained network and learner.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Classifier {
    model: Arc<Mutex<NodeModel>>,
    config: NodeConfig,
    scaling: Scaling,
    inputs: usize,
    classes: usize,
    /// The graph that validation chose, where it had a choice.
    #[pyo3(get)]
    chosen: Option<String>,
    /// Epoch, training loss, validation accuracy and validation loss of every epoch.
    #[pyo3(get)]
    curve: Vec<Epoch>,
    /// The epoch that validation chose.
    #[pyo3(get)]
    best_epoch: usize,
}

#[pymethods]
impl Classifier {
    /// Trains; `labels` are -1 where they are unknown, `parts` training and validation nodes.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one call across the boundary
    #[pyo3(signature = (x, shape, sparse, edges, labels, classes, parts, model, settings, seed))]
    fn train(
        py: Python<'_>,
        x: Values<'_>,
        shape: (usize, usize),
        sparse: Option<Sparse<'_>>,
        edges: Index<'_>,
        labels: Index<'_>,
        classes: usize,
        parts: (Index<'_>, Index<'_>),
        model: (String, String),
        settings: Vec<String>,
        seed: u64,
    ) -> PyResult<Self> {
        let data = of_arrays(&x, shape, sparse.as_ref(), &edges, slice("y", &labels)?, classes)?;
        let [train, valid] = [&parts.0, &parts.1].map(|part| slice("y", part));
        let split = Split {
            name: "fit".into(),
            train: narrow("y", train?)?,
            valid: narrow("y", valid?)?,
            test: Vec::new(),
        };
        let data = SplitGraph { dataset: data, split };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let work = move || {
            let (backbone, learner) = model;
            let config = configured(&backbone, &learner, &settings)?.config;
            let config = Node::suited(config, &data);
            Ok((trained(&config, &data, seed, &flag)?, config))
        };
        let result = interruptible(py, work);
        // After an interrupt nobody waits for the rest of the epochs.
        stop.store(true, Ordering::Relaxed);
        let (Trained { best, chosen, curve, scaling }, config) = result?;
        let chosen = chosen.map(str::to_string);
        let Best { epoch: best_epoch, model, .. } = best;
        let model = Arc::new(Mutex::new(model));
        let inputs = shape.1;
        Ok(Self { model, config, scaling, inputs, classes, chosen, curve, best_epoch })
    }

    /// Log-probabilities `[nodes, classes]`, and the graph they were found on: `[2, edges]`, weights, degrees.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        x: Values<'py>,
        shape: (usize, usize),
        sparse: Option<Sparse<'py>>,
        edges: Index<'py>,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>, Option<Array<'py>>)> {
        let unknown = vec![-1i64; shape.0];
        let data = of_arrays(&x, shape, sparse.as_ref(), &edges, &unknown, self.classes)?;
        let (model, scaling) = (self.model.clone(), self.scaling.clone());
        let work = move || {
            let mut model = model.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let context = NodeData::new(&data, &scaling, &Device::flex())?;
            // What was prepared is of the nodes that it was trained on.
            model.prepared = None;
            let found: Classified = model.bind(&context)?.classify(&context)?;
            Ok(found)
        };
        let Classified { log_probabilities, graph, .. } = interruptible(py, work)?;
        let weights = crate::arrays::to_array(py, graph.adjacency.weights().clone())?;
        let degrees = graph.degrees.map(|k| crate::arrays::to_array(py, k)).transpose()?;
        let index = array(py, coordinates(graph.adjacency.topology()));
        Ok((array(py, log_probabilities), index, weights, degrees))
    }

    /// What [`restore`](Self::restore) makes the same model of: settings, widths, values, and what is known of the
    /// training.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(String, (usize, usize), Vec<Array<'py>>)> {
        let config = serde_json::to_string(&(&self.config, &self.scaling)).map_err(damaged)?;
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let values = parameters::list(&*model).into_iter().map(|p| array(py, p.values)).collect();
        Ok((config, (self.inputs, self.classes), values))
    }

    /// A model from its state.
    #[staticmethod]
    fn restore(
        state: (String, (usize, usize), Vec<PyReadonlyArray1<'_, f64>>),
        chosen: Option<String>,
        curve: Vec<Epoch>,
        best_epoch: usize,
    ) -> PyResult<Self> {
        let (config, (inputs, classes), values) = state;
        let (config, scaling): (NodeConfig, Scaling) =
            serde_json::from_str(&config).map_err(damaged)?;
        let nothing = dataset((&vec![0.0; inputs], (1, inputs), None), &[], &[-1], classes)?;
        let device = Device::flex();
        let context = NodeData::new(&nothing, &scaling, &device).map_err(Failure::from)?;
        let fresh = NodeModel::new(&config, &context, 0, &device).map_err(Failure::from)?;
        let shapes = parameters::list(&fresh);
        let data = values.iter().zip(&shapes).map(|(values, parameter)| {
            let values: Vec<f32> = slice("state", values)?.iter().map(|&v| v as f32).collect();
            if values.len() != parameter.shape.iter().product::<usize>() {
                return Err(Failure::Value("state: a tensor has another size".into()));
            }
            Ok(TensorData::new(values, &parameter.shape[..]))
        });
        let data = data.collect::<Outcome<Vec<_>>>()?;
        let model = parameters::filled(fresh, &data, &device)?;
        let model = Arc::new(Mutex::new(model));
        Ok(Self { model, config, scaling, inputs, classes, chosen, curve, best_epoch })
    }
}

fn damaged(error: serde_json::Error) -> Failure {
    Failure::Value(format!("state: {error}"))
}

fn of_arrays(
    x: &Values<'_>,
    shape: (usize, usize),
    sparse: Option<&Sparse<'_>>,
    edges: &Index<'_>,
    labels: &[i64],
    classes: usize,
) -> PyResult<NodeDataset> {
    let sparse = match sparse {
        None => None,
        Some((pointers, indices)) => Some((slice("X", pointers)?, slice("X", indices)?)),
    };
    Ok(dataset((slice("X", x)?, shape, sparse), slice("edges", edges)?, labels, classes)?)
}

/// Names and descriptions of all networks.
#[pyfunction]
pub fn backbones() -> Vec<(String, String)> {
    Node::backbones().into_iter().map(|named| (named.name, named.about)).collect()
}
