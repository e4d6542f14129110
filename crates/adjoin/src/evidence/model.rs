//! The evidence, fitted and applied.

use super::{
    EvidenceConfig,
    compatibility::Compatibility,
    fitting::{Fitting, Lens},
    judge::{Judged, Kind, Parts, judge},
    pairs::{INPUTS, PairMap},
    scene::Scene,
    space::Space,
    views::{Folded, View},
};
use crate::{
    Error, Result,
    graph::{Adjacency, CandidatePart, Evidence, Features, GraphInput, Labels},
    kernels::random::Key,
    ops::to_f64,
    topology::{Batch, Csr},
};
use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor, TensorData},
};

/// `p_ij = P(j is a good neighbour of i)` for given edges and for neighbours in feature space.
///
/// `ln(p / (1 - p)) = w . (l_ij, l'_ij, cos_ij, cos'_ij) + b`, with `l_ij = ln(s / (1 - s)) - l_0`,
/// `s = q_i T q_j` by a view, `l_0` the log-odds by chance, `l'` the same by a second view, and the cosines of
/// the two nodes in a space of features and in its leading directions. A view is
/// `q = mean_f softmax(S^2 E W_f)`: features E propagated over a graph, one map for every fold of the training
/// labels, fitted without it.
///
/// `T_cd` says how good a neighbour of class d is for a node of class c. For given edges it is learned: 1 for
/// classes that edges join more often than chance does, 0 for those they join less often. For feature
/// neighbours it is the identity.
///
/// There are three views. The first propagates over *feature neighbours* and never sees the graph, so an
/// attack on the graph cannot mislead it. The second propagates over the given edges as they are; held-out
/// labels say how far it can be trusted beside the first. Both judge the given edges. The third propagates
/// over the given edges weighted by that judgement, and judges the feature neighbours: the first would only
/// confirm the edges it was made from. Without a given graph there is only the first view.
///
/// `w` and `b` are a logistic fit to pairs of training nodes, with classes of held-out nodes from their
/// labels and of unlabelled ones from a view that is sure.
///
/// # Shapes
/// `E` `[nodes, rank]`, maps `[folds, rank + 1, classes]` per view.
///
/// # Gradients
/// None: all of it is fitted before training, see [`fit`](Self::fit), and constant then.
#[derive(Module, Debug)]
pub struct EvidenceModel {
    /// Whether features are bags of words (1) or not (0), and how many folds there are; `[2]`.
    pub facts: Param<Tensor<1>>,
    /// Subtracted from the features, `[width]`.
    pub shift: Param<Tensor<1>>,
    /// Multiplied with the features, `[width]`.
    pub scale: Param<Tensor<1>>,
    /// The space of features, `[width, rank]`.
    pub basis: Param<Tensor<2>>,
    /// Maps of the three views, `[3 * folds * (rank + 1), classes]`.
    pub maps: Param<Tensor<2>>,
    /// Slopes and offset for given edges and for feature neighbours, `[2, 5]`.
    pub pairs: Param<Tensor<2>>,
    /// `T` of given edges, `[classes, classes]`.
    pub compatibility: Param<Tensor<2>>,
    #[module(skip)]
    config: EvidenceConfig,
    #[module(skip)]
    fresh: Option<Fresh>,
}

/// What came of a fit, for those who ask for the nodes that it was fitted to.
#[derive(Clone, Debug)]
struct Fresh {
    features: Features,
    graph: Option<Csr>,
    batch: Batch,
    evidence: Evidence,
}

impl Fresh {
    fn new(input: &GraphInput, evidence: Evidence) -> Self {
        let graph = input.graph.map(|graph| graph.topology().clone());
        Self { features: input.features.clone(), graph, batch: input.batch.clone(), evidence }
    }

    fn is_of(&self, input: &GraphInput) -> bool {
        self.graph.as_ref() == input.graph.map(Adjacency::topology)
            && self.batch == *input.batch
            && self.features.same_values(input.features)
    }
}

/// The element type in which fitted numbers are stored.
#[derive(Clone, Copy)]
pub(super) struct Precision(DType);

impl Precision {
    pub(super) fn round(self, values: &mut [f64]) {
        if self.0 != DType::F64 {
            values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        }
    }
}

/// The fitted numbers.
struct Fitted {
    space: Space,
    views: [View; 3],
    maps: [PairMap; 2],
    compatibility: Compatibility,
}

impl Parts for Fitted {
    fn view(&mut self, at: usize, _h: &[f64]) -> View {
        self.views[at].clone()
    }

    fn compatibility(&mut self, _given: &Csr, _lens: Lens) -> Compatibility {
        self.compatibility.clone()
    }

    fn map(
        &mut self,
        at: usize,
        _candidates: &Csr,
        _first: Lens,
        _second: Option<Lens>,
        _compatibility: &Compatibility,
    ) -> PairMap {
        self.maps[at]
    }
}

impl EvidenceModel {
    pub(super) fn blank(
        config: &EvidenceConfig,
        width: usize,
        classes: usize,
        device: &Device,
    ) -> Result<Self> {
        let rank = config.rank.min(width).max(1);
        Error::positive(classes, "classes", "must be at least 1")?;
        let one = |size: usize| constant(Tensor::zeros([size], device));
        let two = |rows: usize, columns: usize| constant(Tensor::zeros([rows, columns], device));
        Ok(Self {
            facts: one(2),
            shift: one(width),
            scale: one(width),
            basis: two(width, rank),
            maps: two(3 * config.folds * (rank + 1), classes),
            pairs: two(2, INPUTS + 1),
            compatibility: two(classes, classes),
            config: config.clone(),
            fresh: None,
        })
    }

    /// Learns from the labels of training nodes; no other label is looked at. `key` draws folds and pairs.
    ///
    /// # Errors
    /// If features, graph and labels do not fit each other, or fewer than two classes have labels.
    pub fn fit(mut self, input: &GraphInput, labels: &Labels, key: Key) -> Result<Self> {
        input.check()?;
        let classes = self.maps.dims()[1];
        Labels { count: classes, ..*labels }.check(input.features.nodes())?;
        let folds = self.config.folds.min(labels.nodes.len() / 2);
        let mut seen = vec![false; classes];
        labels.classes.iter().for_each(|&class| seen[class as usize] = true);
        if folds < 2 || seen.iter().filter(|&&seen| seen).count() < 2 {
            return Err(Error::FewLabels { labels: labels.nodes.len() });
        }
        let folded = Folded::new(labels.nodes, labels.classes, folds, key.child(1));
        let precision = Precision(self.facts.val().dtype());
        let mut space = Space::fit(input.features, self.basis.dims()[1], key.child(2))?;
        for values in [&mut space.shift, &mut space.scale, &mut space.basis] {
            precision.round(values);
        }
        let scene = Scene::new(&space, input, &self.config)?;
        let (config, key) = (&self.config, key.child(3));
        let mut fitting = Fitting::new(&scene, &folded, classes, config, precision, key);
        let judged = judge(&scene, classes, &self.config, &mut fitting)?;
        let Fitting { views, maps, compatibility, .. } = fitting;
        self.keep(&Fitted { space, views, maps, compatibility });
        self.fresh = Some(Fresh::new(input, self.evidence(judged)));
        Ok(self)
    }

    /// Learns nothing from labels: all candidates have even odds. A control.
    ///
    /// # Errors
    /// If features and graph do not fit each other.
    pub(crate) fn unlearned(mut self, input: &GraphInput, key: Key) -> Result<Self> {
        input.check()?;
        let [rank, classes] = [self.basis.dims()[1], self.maps.dims()[1]];
        let space = Space::fit(input.features, rank, key.child(2))?;
        let blank = View::blank(1, rank, classes);
        let (views, maps) = ([blank.clone(), blank.clone(), blank], [PairMap::default(); 2]);
        let compatibility = Compatibility::same(classes);
        self.keep(&Fitted { space, views, maps, compatibility });
        Ok(self)
    }

    /// The candidates of some nodes and their log-odds. The nodes need not be those of the fit.
    ///
    /// # Errors
    /// If the features are of another width.
    pub fn apply(&self, input: &GraphInput) -> Result<Evidence> {
        input.check()?;
        if let Some(fresh) = self.fresh.as_ref().filter(|fresh| fresh.is_of(input)) {
            return Ok(fresh.evidence.clone());
        }
        let mut fitted = self.fitted()?;
        let (expected, found) = (fitted.space.scale.len(), input.features.width());
        if found != expected {
            return Err(Error::shape("features of the evidence", expected, found));
        }
        let scene = Scene::new(&fitted.space, input, &self.config)?;
        let judged = judge(&scene, self.maps.dims()[1], &self.config, &mut fitted)?;
        Ok(self.evidence(judged))
    }

    fn evidence(&self, judged: Judged) -> Evidence {
        let Judged { pairs, log_odds, kinds } = judged;
        let flags = |holds: fn(&Kind) -> bool| -> Tensor<1> {
            let added = kinds.iter().filter(|kind| !kind.given);
            let flags: Vec<f64> = added.map(|kind| f64::from(holds(kind))).collect();
            let count = flags.len();
            self.tensor(flags, [count])
        };
        let (near, walk) = (flags(|kind| kind.near), flags(|kind| kind.walk));
        let given = CandidatePart::of(&pairs, |at| kinds[at].given);
        let added = CandidatePart::of(&pairs, |at| !kinds[at].given);
        let count = pairs.edges();
        let log_odds = self.tensor(log_odds, [count]);
        Evidence { pairs, log_odds, given, added, near, walk }
    }

    fn tensor<const D: usize>(&self, values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
        let like = self.facts.val();
        let data = TensorData::new(values, shape).convert_dtype(like.dtype());
        Tensor::from_data(data, (&like.device(), like.dtype()))
    }

    fn keep(&mut self, fitted: &Fitted) {
        let Fitted { space, views, maps, compatibility } = fitted;
        let (width, rank) = (space.scale.len(), space.rank);
        let mut all = vec![0.0; self.maps.dims().iter().product()];
        let part = all.len() / views.len();
        for (all, view) in all.chunks_exact_mut(part).zip(views) {
            all[..view.maps.len()].copy_from_slice(&view.maps);
        }
        let pairs = maps.iter().flat_map(|map| map.slopes.into_iter().chain([map.offset]));
        let facts = vec![f64::from(space.words), views[0].folds as f64];
        let dims = self.maps.dims();
        let pairs: Vec<f64> = pairs.collect();
        self.facts = constant(self.tensor(facts, [2]));
        self.shift = constant(self.tensor(space.shift.clone(), [width]));
        self.scale = constant(self.tensor(space.scale.clone(), [width]));
        self.basis = constant(self.tensor(space.basis.clone(), [width, rank]));
        self.maps = constant(self.tensor(all, dims));
        self.pairs = constant(self.tensor(pairs, [2, INPUTS + 1]));
        let shape = [compatibility.classes; 2];
        self.compatibility = constant(self.tensor(compatibility.values.clone(), shape));
    }

    fn fitted(&self) -> Result<Fitted> {
        let values = |tensor: Tensor<2>| to_f64("evidence", &tensor);
        let vector = |tensor: Tensor<1>| to_f64("evidence", &tensor);
        let facts = vector(self.facts.val())?;
        let (words, folds) = (facts[0] > 0.5, facts[1] as usize);
        if folds == 0 {
            return Err(Error::NotFitted);
        }
        let (rank, classes) = (self.basis.dims()[1], self.maps.dims()[1]);
        let maps = values(self.maps.val())?;
        let size = folds * (rank + 1) * classes;
        let view = |at: usize| {
            let start = at * maps.len() / 3;
            let maps = maps[start..start + size].to_vec();
            View { maps, folds, inputs: rank, classes }
        };
        let pairs = values(self.pairs.val())?;
        let map = |at: usize| {
            let row = &pairs[at * (INPUTS + 1)..(at + 1) * (INPUTS + 1)];
            PairMap { slopes: std::array::from_fn(|at| row[at]), offset: row[INPUTS] }
        };
        let space = Space {
            words,
            shift: vector(self.shift.val())?,
            scale: vector(self.scale.val())?,
            basis: values(self.basis.val())?,
            rank,
        };
        let compatibility = Compatibility { classes, values: values(self.compatibility.val())? };
        let views = [view(0), view(1), view(2)];
        Ok(Fitted { space, views, maps: [map(0), map(1)], compatibility })
    }
}

/// A number that training leaves alone.
fn constant<const D: usize>(tensor: Tensor<D>) -> Param<Tensor<D>> {
    Param::from_tensor(tensor).set_require_grad(false)
}
