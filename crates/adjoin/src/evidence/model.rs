//! The evidence, fitted and applied.

use super::{
    EvidenceConfig,
    pairs::{Compared, Example, INPUTS, PairMap, sigmoid},
    space::{COARSE, Space, normalise},
    views::{Folded, View},
};
use crate::{
    Error, Result,
    graph::{Adjacency, Evidence, GraphInput, Labels},
    kernels::{knn, random::Key, spmm},
    ops::to_f64,
    topology::{Batch, Csr, Metric, SelfLoops},
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData},
};

/// Most pairs of labelled nodes, and most candidates, that a fit looks at.
const MOST_PAIRS: usize = 40_000;

/// So many candidates with a known or a sure class count as much as all pairs of labelled nodes.
const ENOUGH: f64 = 50.0;

/// Neighbours in feature space have at least this weight.
const LEAST_SIMILARITY: f64 = 1e-3;

/// `p_ij = P(j is of the class of i)` for given edges and for neighbours in feature space.
///
/// `ln(p / (1 - p)) = w . (l_ij, l'_ij, cos_ij, cos'_ij) + b`, with `l_ij = ln(s (C - 1) / (1 - s))`,
/// `s = <q_i, q_j>` by a view, `l'` the same by a second one, and the cosines of the two nodes in a space of
/// features and in its leading directions. A view is `q = mean_f softmax(S^2 E W_f)`: features E propagated
/// over a graph, one map for every fold of the training labels, fitted without it.
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
    #[module(skip)]
    config: EvidenceConfig,
}

/// The fitted numbers.
struct Fitted {
    space: Space,
    views: [View; 3],
    maps: [PairMap; 2],
}

/// What does not depend on labels.
struct Scene {
    /// `[nodes, rank]`.
    space: Vec<f64>,
    rank: usize,
    near: Csr,
    /// Features propagated over the feature neighbours.
    by_features: Vec<f64>,
    given: Option<Csr>,
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
            config: config.clone(),
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
        let space = Space::fit(input.features, self.basis.dims()[1], key.child(2))?;
        let scene = Scene::new(&space, input, &self.config)?;
        let fitting = Fitting { scene: &scene, folded: &folded, classes, key: key.child(3) };
        let first = fitting.view(&scene.by_features);
        let (views, maps) = match &scene.given {
            None => {
                let seen = (&first, &scene.by_features[..]);
                let map = fitting.pair_map(&scene.near, seen, None, &self.config);
                ([first.clone(), first.clone(), first], [PairMap::default(), map])
            }
            Some(given) => {
                let seen = (&first, &scene.by_features[..]);
                let by_graph = scene.over(given, &vec![1.0; given.edges()], &self.config);
                let second = fitting.view(&by_graph);
                let other = (&second, &by_graph[..]);
                let map = fitting.pair_map(given, seen, Some(other), &self.config);
                let [q, r] = [first.mean(&scene.by_features), second.mean(&by_graph)];
                let odds = map.log_odds(given, scene.compared(&q, Some(&r), classes));
                let weighted = scene.over(given, &probabilities(&odds), &self.config);
                let third = fitting.view(&weighted);
                let near = fitting.pair_map(&scene.near, (&third, &weighted), None, &self.config);
                ([first, second, third], [map, near])
            }
        };
        self.keep(&Fitted { space, views, maps });
        Ok(self)
    }

    /// The candidates of some nodes and their log-odds. The nodes need not be those of the fit.
    ///
    /// # Errors
    /// If the features are of another width.
    pub fn apply(&self, input: &GraphInput) -> Result<Evidence> {
        input.check()?;
        let Fitted { space, views: [first, second, third], maps: [map, near_map] } =
            self.fitted()?;
        if input.features.width() != space.scale.len() {
            let (expected, found) = (space.scale.len(), input.features.width());
            return Err(Error::shape("features of the evidence", expected, found));
        }
        let scene = Scene::new(&space, input, &self.config)?;
        let classes = first.classes;
        let q = first.mean(&scene.by_features);
        let Some(given) = &scene.given else {
            let odds = near_map.log_odds(&scene.near, scene.compared(&q, None, classes));
            return Ok(self.evidence(scene.near.clone(), odds, |_| true));
        };
        let r = second.mean(&scene.over(given, &vec![1.0; given.edges()], &self.config));
        let given_odds = map.log_odds(given, scene.compared(&q, Some(&r), classes));
        let weighted = scene.over(given, &probabilities(&given_odds), &self.config);
        let s = third.mean(&weighted);
        let near_odds = near_map.log_odds(&scene.near, scene.compared(&s, None, classes));
        let pairs = given.union(&scene.near)?;
        let (in_given, in_near) = (pairs.positions_in(given), pairs.positions_in(&scene.near));
        let odds = in_given.iter().zip(&in_near).map(|(&own, &near)| {
            given_odds.get(own as usize).or(near_odds.get(near as usize)).copied().unwrap_or(0.0)
        });
        let odds = odds.collect();
        Ok(self.evidence(pairs, odds, |at| in_given[at] as usize >= given_odds.len()))
    }

    fn evidence(&self, pairs: Csr, odds: Vec<f64>, is_added: impl Fn(usize) -> bool) -> Evidence {
        let count = odds.len();
        let added = (0..count).map(|at| f64::from(is_added(at))).collect();
        let tensor = |values: Vec<f64>| self.tensor(values, [count]);
        Evidence { log_odds: tensor(odds), added: tensor(added), pairs }
    }

    fn tensor<const D: usize>(&self, values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
        let like = self.facts.val();
        let data = TensorData::new(values, shape).convert_dtype(like.dtype());
        Tensor::from_data(data, (&like.device(), like.dtype()))
    }

    fn keep(&mut self, fitted: &Fitted) {
        let Fitted { space, views, maps } = fitted;
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
        Ok(Fitted { space, views: [view(0), view(1), view(2)], maps: [map(0), map(1)] })
    }
}

/// A number that training leaves alone.
fn constant<const D: usize>(tensor: Tensor<D>) -> Param<Tensor<D>> {
    Param::from_tensor(tensor).set_require_grad(false)
}

impl Scene {
    fn new(space: &Space, input: &GraphInput, config: &EvidenceConfig) -> Result<Self> {
        let (embedded, rank) = (space.embed(input.features)?, space.rank);
        let (near, weights) = neighbours(&embedded, rank, config.neighbours, input.batch)?;
        let by_features = propagated(&near, &weights, 1.0, &embedded, rank, config.hops);
        let given = input.graph.map(Adjacency::topology);
        let given = given.filter(|given| given.edges() > 0);
        let given = given.map(|given| given.with_self_loops(SelfLoops::Drop));
        Ok(Self { space: embedded, rank, near, by_features, given })
    }

    fn compared<'a>(
        &'a self,
        probabilities: &'a [f64],
        second: Option<&'a [f64]>,
        classes: usize,
    ) -> Compared<'a> {
        Compared { probabilities, second, classes, space: &self.space, rank: self.rank }
    }

    /// Features propagated over weighted edges.
    fn over(&self, given: &Csr, weights: &[f64], config: &EvidenceConfig) -> Vec<f64> {
        propagated(given, weights, config.self_weight, &self.space, self.rank, config.hops)
    }
}

fn probabilities(log_odds: &[f64]) -> Vec<f64> {
    log_odds.iter().map(|&z| sigmoid(z)).collect()
}

/// Nearest nodes by the mean of two cosines, in the space and in its leading directions; each pair in both
/// directions, with that mean as its weight.
fn neighbours(space: &[f64], rank: usize, k: usize, batch: &Batch) -> Result<(Csr, Vec<f64>)> {
    let coarse = COARSE.min(rank);
    let width = rank + coarse;
    let mut joined = Vec::with_capacity(space.len() / rank * width);
    for row in space.chunks_exact(rank) {
        let start = joined.len();
        joined.extend_from_slice(row);
        normalise(&mut joined[start..]);
        joined.extend_from_slice(&row[..coarse]);
        normalise(&mut joined[start + rank..]);
    }
    let points: Vec<f32> = joined.iter().map(|&v| v as f32).collect();
    let found = knn::nearest(&points, width, k, Metric::Cosine, false, batch)?.to_csr();
    let near = found.union(&found.transposed())?;
    let row = |node: u32| &joined[node as usize * width..(node as usize + 1) * width];
    let similarity = |(i, j): (u32, u32)| {
        let dot: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
        (0.5 * dot).max(LEAST_SIMILARITY)
    };
    let weights = near.iter().map(similarity).collect();
    Ok((near, weights))
}

/// `S^hops x` with `S = D^-1/2 (A + s I) D^-1/2`.
fn propagated(
    graph: &Csr,
    weights: &[f64],
    self_weight: f64,
    x: &[f64],
    width: usize,
    hops: usize,
) -> Vec<f64> {
    let degree = |row: usize| self_weight + weights[graph.range(row)].iter().sum::<f64>();
    let roots: Vec<f64> = (0..graph.rows()).map(|row| degree(row).sqrt().recip()).collect();
    let scaled = |mut x: Vec<f64>| {
        for (row, root) in x.chunks_exact_mut(width).zip(&roots) {
            row.iter_mut().for_each(|v| *v *= root);
        }
        x
    };
    (0..hops).fold(x.to_vec(), |x, _| {
        let x = scaled(x);
        scaled(spmm::forward_onto(graph, weights, &x, width, &x, [1.0, self_weight]))
    })
}

/// What the fits of views and pairs share.
struct Fitting<'a> {
    scene: &'a Scene,
    folded: &'a Folded,
    classes: usize,
    key: Key,
}

impl Fitting<'_> {
    fn view(&self, h: &[f64]) -> View {
        View::fit(h, self.scene.rank, self.folded, self.classes)
    }

    /// What a view says of all nodes; of training nodes by the map that has not seen their labels.
    fn held_out(&self, (view, h): (&View, &[f64]), by_fold: &[Vec<f64>]) -> Vec<f64> {
        let (mut q, classes) = (view.mean(h), self.classes);
        for (&node, &fold) in self.folded.nodes.iter().zip(&self.folded.folds) {
            let range = node as usize * classes..(node as usize + 1) * classes;
            q[range.clone()].copy_from_slice(&by_fold[fold][range]);
        }
        q
    }

    /// Evidence for some candidates from one or two views with their inputs. Where a label is missing, the
    /// first view stands in for it.
    fn pair_map(
        &self,
        candidates: &Csr,
        first: (&View, &[f64]),
        second: Option<(&View, &[f64])>,
        config: &EvidenceConfig,
    ) -> PairMap {
        let (folded, classes) = (self.folded, self.classes);
        let folds = |(view, h): (&View, &[f64])| -> Vec<Vec<f64>> {
            (0..view.folds).map(|fold| view.of_fold(h, fold)).collect()
        };
        let by_fold = folds(first);
        let q = self.held_out(first, &by_fold);
        let r = second.map(|second| self.held_out(second, &folds(second)));
        let mut at = vec![usize::MAX; q.len() / classes];
        for (place, &node) in folded.nodes.iter().enumerate() {
            at[node as usize] = place;
        }
        let compared = self.scene.compared(&q, r.as_deref(), classes);
        let mut examples = self.labelled_pairs(compared);
        let mut known: Vec<Example> = Vec::new();
        let mut sure: Vec<Example> = Vec::new();
        for &node in &folded.nodes {
            let place = at[node as usize];
            let (class, fold) = (folded.classes[place], folded.folds[place]);
            for &other in candidates.row(node as usize) {
                let example = |target: f64| {
                    let inputs = compared.inputs(node, other);
                    Example { inputs, target, weight: 1.0, candidate: true }
                };
                if let Some(&theirs) = folded.classes.get(at[other as usize]) {
                    known.push(example(f64::from(theirs == class)));
                    continue;
                }
                let start = other as usize * classes;
                let theirs = &by_fold[fold][start..start + classes];
                if theirs.iter().any(|&p| p > config.confidence) {
                    sure.push(example(theirs[class as usize]));
                }
            }
        }
        for mut group in [known, sure] {
            let stride = group.len().div_ceil(MOST_PAIRS).max(1);
            let total = group.len() as f64;
            group = group.into_iter().step_by(stride).collect();
            let weight = (total / ENOUGH).min(1.0) / group.len().max(1) as f64;
            group.iter_mut().for_each(|example| example.weight = weight);
            examples.append(&mut group);
        }
        PairMap::fit(&examples)
    }

    /// Pairs of labelled nodes, all or a sample; those of one class weigh as much as the others.
    fn labelled_pairs(&self, compared: Compared) -> Vec<Example> {
        let Folded { nodes, classes, .. } = self.folded;
        let count = nodes.len();
        let all = count * count;
        let pair = |n: usize| match all <= MOST_PAIRS {
            true => (n / count, n % count),
            false => {
                let n = n as u64;
                (self.key.below(2 * n, count), self.key.below(2 * n + 1, count))
            }
        };
        let pairs = (0..all.min(MOST_PAIRS)).map(pair).filter(|(a, b)| a != b);
        let example = |(a, b): (usize, usize)| Example {
            inputs: compared.inputs(nodes[a], nodes[b]),
            target: f64::from(classes[a] == classes[b]),
            weight: 1.0,
            candidate: false,
        };
        let mut examples: Vec<Example> = pairs.map(example).collect();
        let same: f64 = examples.iter().map(|example| example.target).sum();
        let others = examples.len() as f64 - same;
        for example in &mut examples {
            example.weight = 0.5 / if example.target > 0.5 { same } else { others };
        }
        examples
    }
}
