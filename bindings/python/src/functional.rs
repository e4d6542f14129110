//! The kernels by themselves, forward and backward, on NumPy arrays.

use crate::{
    arrays::{Float, Floats, array, slice},
    edges::{EdgeList, Groups, batch_of},
    run::{Failure, Outcome, blocking},
};
use adjoin::{
    Metric,
    kernels::{
        knn,
        pairs::{self, Similarity},
        segment,
        selector::{self, Selection, Step},
        spmm,
    },
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::Arc;

type Array<'py> = Bound<'py, PyAny>;
type Index<'py> = PyReadonlyArray1<'py, i64>;

fn of_one_type(names: &str) -> PyErr {
    Failure::Type(format!("{names} must have the same dtype, float32 or float64")).into()
}

/// Refuses arrays of another length.
fn of_length<T>(name: &str, values: &[T], expected: usize) -> Outcome<()> {
    if values.len() == expected {
        return Ok(());
    }
    let found = values.len();
    Err(Failure::Value(format!("{name} has {found} values, but {expected} are expected")))
}

/// Edges sorted once, for sparse products and similarities over them.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Edges(EdgeList);

#[pymethods]
impl Edges {
    #[new]
    fn new(
        py: Python<'_>,
        edge_index: Index<'_>,
        targets: usize,
        sources: usize,
    ) -> PyResult<Self> {
        let index = slice("edge_index", &edge_index)?;
        blocking(py, || EdgeList::new(index, targets, sources)).map(Self)
    }

    /// `y_i = sum_j w_ij x_j`.
    fn spmm<'py>(&self, weight: &Array<'py>, x: &Array<'py>, width: usize) -> PyResult<Array<'py>> {
        let py = weight.py();
        match (Floats::view("edge_weight", weight)?, Floats::view("x", x)?) {
            (Floats::Single(w), Floats::Single(x)) => self.product(py, &w, &x, width),
            (Floats::Double(w), Floats::Double(x)) => self.product(py, &w, &x, width),
            _ => Err(of_one_type("edge_weight and x")),
        }
    }

    /// Gradients of weights and features, each if it is wanted.
    fn spmm_backward<'py>(
        &self,
        weight: &Array<'py>,
        x: &Array<'py>,
        grad: &Array<'py>,
        width: usize,
        wanted: (bool, bool),
    ) -> PyResult<(Option<Array<'py>>, Option<Array<'py>>)> {
        let py = weight.py();
        let (weight, x) = (Floats::view("edge_weight", weight)?, Floats::view("x", x)?);
        match (weight, x, Floats::view("grad", grad)?) {
            (Floats::Single(w), Floats::Single(x), Floats::Single(g)) => {
                self.product_backward(py, [&w, &x, &g], width, wanted)
            }
            (Floats::Double(w), Floats::Double(x), Floats::Double(g)) => {
                self.product_backward(py, [&w, &x, &g], width, wanted)
            }
            _ => Err(of_one_type("edge_weight, x and grad")),
        }
    }

    /// How alike the two ends of every edge are.
    fn similarity<'py>(&self, kind: &str, x: &Array<'py>, width: usize) -> PyResult<Array<'py>> {
        let (py, kind) = (x.py(), similarity(kind)?);
        match Floats::view("x", x)? {
            Floats::Single(x) => self.measured(py, kind, &x, width),
            Floats::Double(x) => self.measured(py, kind, &x, width),
        }
    }

    /// Gradient of the features.
    fn similarity_backward<'py>(
        &self,
        kind: &str,
        x: &Array<'py>,
        width: usize,
        grad: &Array<'py>,
    ) -> PyResult<Array<'py>> {
        let (py, kind) = (x.py(), similarity(kind)?);
        match (Floats::view("x", x)?, Floats::view("grad", grad)?) {
            (Floats::Single(x), Floats::Single(g)) => {
                self.measured_backward(py, kind, &x, width, &g)
            }
            (Floats::Double(x), Floats::Double(g)) => {
                self.measured_backward(py, kind, &x, width, &g)
            }
            _ => Err(of_one_type("x and grad")),
        }
    }
}

impl Edges {
    fn check<T>(&self, weight: &[T], x: &[T], width: usize) -> Outcome<()> {
        of_length("edge_weight", weight, self.0.count())?;
        of_length("x", x, self.0.topology.columns() * width)
    }

    fn product<'py, T: Float>(
        &self,
        py: Python<'py>,
        weight: &PyReadonlyArray1<'py, T>,
        x: &PyReadonlyArray1<'py, T>,
        width: usize,
    ) -> PyResult<Array<'py>> {
        let (weight, x) = (slice("edge_weight", weight)?, slice("x", x)?);
        self.check(weight, x, width)?;
        if width == 0 {
            return Ok(array(py, Vec::<T>::new()));
        }
        let work = || Ok(spmm::forward(&self.0.topology, &self.0.gathered(weight), x, width));
        blocking(py, work).map(|values| array(py, values))
    }

    fn product_backward<'py, T: Float>(
        &self,
        py: Python<'py>,
        [weight, x, grad]: [&PyReadonlyArray1<'py, T>; 3],
        width: usize,
        (for_weight, for_x): (bool, bool),
    ) -> PyResult<(Option<Array<'py>>, Option<Array<'py>>)> {
        let (weight, x) = (slice("edge_weight", weight)?, slice("x", x)?);
        let grad = slice("grad", grad)?;
        let topology = &self.0.topology;
        self.check(weight, x, width)?;
        of_length("grad", grad, topology.rows() * width)?;
        if width == 0 {
            let zeros = for_weight.then(|| array(py, vec![T::ZERO; weight.len()]));
            return Ok((zeros, for_x.then(|| array(py, Vec::<T>::new()))));
        }
        let (of_weight, of_x) = blocking(py, || {
            let weights = self.0.gathered(weight);
            let of_weight =
                for_weight.then(|| self.0.spread(spmm::backward_weights(topology, x, grad, width)));
            let of_x = for_x.then(|| spmm::backward_features(topology, &weights, grad, width));
            Ok((of_weight, of_x))
        })?;
        Ok((of_weight.map(|values| array(py, values)), of_x.map(|values| array(py, values))))
    }

    fn measured<'py, T: Float>(
        &self,
        py: Python<'py>,
        kind: Similarity,
        x: &PyReadonlyArray1<'py, T>,
        width: usize,
    ) -> PyResult<Array<'py>> {
        let x = slice("x", x)?;
        of_length("x", x, self.0.topology.columns() * width)?;
        let work = || Ok(self.0.spread(pairs::forward(&self.0.topology, kind, x, width)));
        blocking(py, work).map(|values| array(py, values))
    }

    fn measured_backward<'py, T: Float>(
        &self,
        py: Python<'py>,
        kind: Similarity,
        x: &PyReadonlyArray1<'py, T>,
        width: usize,
        grad: &PyReadonlyArray1<'py, T>,
    ) -> PyResult<Array<'py>> {
        let (x, grad, topology) = (slice("x", x)?, slice("grad", grad)?, &self.0.topology);
        of_length("x", x, topology.columns() * width)?;
        of_length("grad", grad, self.0.count())?;
        let work = || {
            let output = pairs::forward(topology, kind, x, width);
            Ok(pairs::backward(topology, kind, x, width, &output, &self.0.gathered(grad)))
        };
        blocking(py, work).map(|values| array(py, values))
    }
}

fn similarity(kind: &str) -> Outcome<Similarity> {
    match kind {
        "distance" => Ok(Similarity::Distance),
        "dot" => Ok(Similarity::Dot),
        "cosine" => Ok(Similarity::Cosine),
        _ => Err(Failure::Value(format!(
            "kind = {kind:?}: must be \"distance\", \"dot\" or \"cosine\""
        ))),
    }
}

/// Entries grouped once by their rows, for reductions over the entries of a row.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Segments(Arc<Groups>);

#[pymethods]
impl Segments {
    #[new]
    fn new(py: Python<'_>, index: Index<'_>, rows: usize) -> PyResult<Self> {
        let index = slice("index", &index)?;
        blocking(py, || Groups::new(index, rows)).map(|groups| Self(Arc::new(groups)))
    }

    /// Softmax of the entries of every row.
    fn softmax<'py>(&self, values: &Array<'py>) -> PyResult<Array<'py>> {
        let py = values.py();
        match Floats::view("src", values)? {
            Floats::Single(values) => self.shares(py, &values),
            Floats::Double(values) => self.shares(py, &values),
        }
    }

    /// Its gradient, from its result.
    fn softmax_backward<'py>(
        &self,
        result: &Array<'py>,
        grad: &Array<'py>,
    ) -> PyResult<Array<'py>> {
        let py = result.py();
        match (Floats::view("src", result)?, Floats::view("grad", grad)?) {
            (Floats::Single(s), Floats::Single(g)) => self.shares_backward(py, &s, &g),
            (Floats::Double(s), Floats::Double(g)) => self.shares_backward(py, &s, &g),
            _ => Err(of_one_type("src and grad")),
        }
    }

    /// The entries of the highest values of every row, `k` of them, softly: positions, weights, and what the
    /// backward pass needs.
    fn soft_topk<'py>(
        &self,
        score: &Array<'py>,
        k: &Array<'py>,
        step: (f64, f64, bool),
    ) -> PyResult<(Array<'py>, Array<'py>, Kept)> {
        let (py, (lambda, shift, hard)) = (score.py(), step);
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Failure::Value(format!("lam = {lambda}: must be above 0")).into());
        }
        if !shift.is_finite() {
            return Err(Failure::Value(format!("shift = {shift}: must be finite")).into());
        }
        let step = Step { lambda, shift, hard };
        match (Floats::view("score", score)?, Floats::view("k", k)?) {
            (Floats::Single(e), Floats::Single(k)) => self.kept(py, &e, &k, step, Steps::Single),
            (Floats::Double(e), Floats::Double(k)) => self.kept(py, &e, &k, step, Steps::Double),
            _ => Err(of_one_type("score and k")),
        }
    }
}

impl Segments {
    fn check<T>(&self, name: &str, values: &[T]) -> Outcome<()> {
        of_length(name, values, self.0.order.len())
    }

    fn shares<'py, T: Float>(
        &self,
        py: Python<'py>,
        values: &PyReadonlyArray1<'py, T>,
    ) -> PyResult<Array<'py>> {
        let (values, groups) = (slice("src", values)?, &self.0);
        self.check("src", values)?;
        let work =
            || Ok(groups.spread(&segment::softmax(&groups.topology, &groups.gathered(values))));
        blocking(py, work).map(|values| array(py, values))
    }

    fn shares_backward<'py, T: Float>(
        &self,
        py: Python<'py>,
        result: &PyReadonlyArray1<'py, T>,
        grad: &PyReadonlyArray1<'py, T>,
    ) -> PyResult<Array<'py>> {
        let (result, grad, groups) = (slice("src", result)?, slice("grad", grad)?, &self.0);
        self.check("src", result)?;
        self.check("grad", grad)?;
        let work = || {
            let (result, grad) = (groups.gathered(result), groups.gathered(grad));
            Ok(groups.spread(&segment::softmax_backward(&groups.topology, &result, &grad)))
        };
        blocking(py, work).map(|values| array(py, values))
    }

    fn kept<'py, T: Float>(
        &self,
        py: Python<'py>,
        score: &PyReadonlyArray1<'py, T>,
        k: &PyReadonlyArray1<'py, T>,
        step: Step,
        wrap: fn(Vec<T>) -> Steps,
    ) -> PyResult<(Array<'py>, Array<'py>, Kept)> {
        let (score, k, groups) = (slice("score", score)?, slice("k", k)?, &self.0);
        self.check("score", score)?;
        of_length("k", k, groups.topology.rows())?;
        for (name, values) in [("score", score), ("k", k)] {
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let value = values[at].to_f64();
                return Err(Failure::Value(format!("{name} holds {value} at position {at}")).into());
            }
        }
        let (positions, weights, selection, h) = blocking(py, || {
            let e = groups.gathered(score);
            let selection = selector::select(&groups.topology, &e, k, step);
            let h = selector::steps(&selection, k, step);
            let weights = selector::forward(&selection, &e, &h, step);
            let at = |&entry: &u32| i64::from(groups.order[entry as usize]);
            let positions: Vec<i64> = selection.entries.iter().map(at).collect();
            Ok((positions, weights, selection, h))
        })?;
        let kept = Kept { groups: groups.clone(), selection, step, h: wrap(h) };
        Ok((array(py, positions), array(py, weights), kept))
    }
}

enum Steps {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// What a soft top-k kept.
#[pyclass(frozen, module = "adjoin._rust")]
pub struct Kept {
    groups: Arc<Groups>,
    selection: Selection,
    step: Step,
    h: Steps,
}

#[pymethods]
impl Kept {
    /// Gradients of the scores and of k.
    fn backward<'py>(
        &self,
        score: &Array<'py>,
        grad: &Array<'py>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let py = score.py();
        match (Floats::view("score", score)?, Floats::view("grad", grad)?, &self.h) {
            (Floats::Single(e), Floats::Single(g), Steps::Single(h)) => self.pulled(py, &e, &g, h),
            (Floats::Double(e), Floats::Double(g), Steps::Double(h)) => self.pulled(py, &e, &g, h),
            _ => Err(of_one_type("score and grad")),
        }
    }
}

impl Kept {
    fn pulled<'py, T: Float>(
        &self,
        py: Python<'py>,
        score: &PyReadonlyArray1<'py, T>,
        grad: &PyReadonlyArray1<'py, T>,
        h: &[T],
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let (score, grad) = (slice("score", score)?, slice("grad", grad)?);
        of_length("score", score, self.groups.order.len())?;
        of_length("grad", grad, h.len())?;
        let (of_score, of_k) = blocking(py, || {
            let e = self.groups.gathered(score);
            let (of_score, of_k) = selector::backward(&self.selection, &e, h, self.step, grad);
            Ok((self.groups.spread(&of_score), of_k))
        })?;
        Ok((array(py, of_score), array(py, of_k)))
    }
}

/// `[2, edges]` of the `k` nearest neighbours of every point, nearest first: neighbours, then points.
#[pyfunction]
#[pyo3(signature = (x, width, k, metric, include_self, batch=None))]
pub fn knn_index<'py>(
    x: &Array<'py>,
    width: usize,
    k: usize,
    metric: &str,
    include_self: bool,
    batch: Option<Index<'py>>,
) -> PyResult<Array<'py>> {
    let (py, metric) = (x.py(), metric_of(metric)?);
    let batch = batch.as_ref().map(|batch| slice("batch", batch)).transpose()?;
    let ask = Nearest { width, k, metric, include_self, batch };
    match Floats::view("x", x)? {
        Floats::Single(x) => ask.search(py, &x),
        Floats::Double(x) => ask.search(py, &x),
    }
}

struct Nearest<'a> {
    width: usize,
    k: usize,
    metric: Metric,
    include_self: bool,
    batch: Option<&'a [i64]>,
}

impl Nearest<'_> {
    fn search<'py, T: Float>(
        &self,
        py: Python<'py>,
        x: &PyReadonlyArray1<'py, T>,
    ) -> PyResult<Array<'py>> {
        let x = slice("x", x)?;
        if self.width == 0 {
            return Err(Failure::Value("x has no columns".into()).into());
        }
        let index = blocking(py, || {
            let batch = batch_of(self.batch, x.len() / self.width)?;
            let found =
                knn::nearest(x, self.width, self.k, self.metric, self.include_self, &batch)?;
            let targets = (0..found.rows()).flat_map(|i| found.range(i).map(move |_| i as i64));
            let sources = found.indices().iter().map(|&j| i64::from(j));
            Ok(sources.chain(targets).collect::<Vec<i64>>())
        })?;
        Ok(array(py, index))
    }
}

fn metric_of(metric: &str) -> Outcome<Metric> {
    match metric {
        "euclidean" => Ok(Metric::Euclidean),
        "cosine" => Ok(Metric::Cosine),
        "dot" => Ok(Metric::Dot),
        _ => Err(Failure::Value(format!(
            "metric = {metric:?}: must be \"euclidean\", \"cosine\" or \"dot\""
        ))),
    }
}
