//! The fits of views and pairs to labels.

use super::{
    EvidenceConfig,
    compatibility::{Compatibility, Opinion},
    judge::Parts,
    model::Precision,
    pairs::{Compared, Example, PairMap},
    scene::Scene,
    views::{Folded, View},
};
use crate::{kernels::random::Key, topology::Csr};

/// Most pairs of labelled nodes, and most candidates, that a fit looks at.
const MOST_PAIRS: usize = 40_000;

/// So many candidates with a known or a sure class count as much as all pairs of labelled nodes.
const ENOUGH: f64 = 50.0;

/// Fits views and maps to labels, and keeps them as they will be stored: what is judged now and what is judged
/// after loading are the same, to the bit.
pub(super) struct Fitting<'a> {
    scene: &'a Scene,
    folded: &'a Folded,
    classes: usize,
    config: &'a EvidenceConfig,
    precision: Precision,
    key: Key,
    pub views: [View; 3],
    pub maps: [PairMap; 2],
    pub compatibility: Compatibility,
}

/// A view with its inputs.
#[derive(Clone, Copy)]
pub(super) struct Lens<'a> {
    pub view: &'a View,
    pub h: &'a [f64],
}

impl Lens<'_> {
    /// What the view says of every node.
    pub(super) fn opinion(&self, compatibility: &Compatibility) -> Opinion {
        Opinion::new(self.view.mean(self.h), compatibility)
    }
}

impl Parts for Fitting<'_> {
    fn view(&mut self, at: usize, h: &[f64]) -> View {
        self.views[at] = View::fit(h, self.scene.rank, self.folded, self.classes);
        self.precision.round(&mut self.views[at].maps);
        self.views[at].clone()
    }

    /// From labels and from what a view is sure of.
    fn compatibility(&mut self, given: &Csr, lens: Lens) -> Compatibility {
        let classes = self.classes;
        let mut known = lens.view.mean(lens.h);
        for row in known.chunks_exact_mut(classes) {
            if row.iter().all(|&p| p <= self.config.confidence) {
                row.fill(0.0);
            }
        }
        for (&node, &class) in self.folded.nodes.iter().zip(&self.folded.classes) {
            let row = &mut known[node as usize * classes..][..classes];
            row.fill(0.0);
            row[class as usize] = 1.0;
        }
        self.compatibility = Compatibility::fit(given, &known, classes);
        self.precision.round(&mut self.compatibility.values);
        self.compatibility.clone()
    }

    fn map(
        &mut self,
        at: usize,
        candidates: &Csr,
        first: Lens,
        second: Option<Lens>,
        compatibility: &Compatibility,
    ) -> PairMap {
        let mut map = self.pair_map(candidates, first, second, compatibility);
        self.precision.round(&mut map.slopes);
        self.precision.round(std::slice::from_mut(&mut map.offset));
        self.maps[at] = map;
        map
    }
}

impl<'a> Fitting<'a> {
    pub(super) fn new(
        scene: &'a Scene,
        folded: &'a Folded,
        classes: usize,
        config: &'a EvidenceConfig,
        precision: Precision,
        key: Key,
    ) -> Self {
        let blank = View::blank(folded.count, scene.rank, classes);
        let (views, maps) = ([blank.clone(), blank.clone(), blank], [PairMap::default(); 2]);
        let compatibility = Compatibility::same(classes);
        Self { scene, folded, classes, config, precision, key, views, maps, compatibility }
    }

    /// What a view says of all nodes; of training nodes by the map that has not seen their labels.
    fn held_out(&self, lens: Lens, by_fold: &[Vec<f64>]) -> Vec<f64> {
        let (mut q, classes) = (lens.view.mean(lens.h), self.classes);
        for (&node, &fold) in self.folded.nodes.iter().zip(&self.folded.folds) {
            let range = node as usize * classes..(node as usize + 1) * classes;
            q[range.clone()].copy_from_slice(&by_fold[fold][range]);
        }
        q
    }

    /// Evidence for some candidates from one or two views. Where a label is missing, the first view stands
    /// in for it.
    fn pair_map(
        &self,
        candidates: &Csr,
        first: Lens,
        second: Option<Lens>,
        compatibility: &Compatibility,
    ) -> PairMap {
        let (folded, classes) = (self.folded, self.classes);
        let folds = |Lens { view, h }: Lens| -> Vec<Vec<f64>> {
            (0..view.folds).map(|fold| view.of_fold(h, fold)).collect()
        };
        let by_fold = folds(first);
        let opinion = |q: Vec<f64>| Opinion::new(q, compatibility);
        let q = opinion(self.held_out(first, &by_fold));
        let r = second.map(|second| opinion(self.held_out(second, &folds(second))));
        let mut at = vec![usize::MAX; q.own.len() / classes];
        for (place, &node) in folded.nodes.iter().enumerate() {
            at[node as usize] = place;
        }
        let compared = self.scene.compared(&q, r.as_ref());
        let mut examples = self.labelled_pairs(compared, compatibility);
        let mut known: Vec<Example> = Vec::new();
        let mut sure: Vec<Example> = Vec::new();
        for &node in &folded.nodes {
            let place = at[node as usize];
            let (class, fold) = (folded.classes[place], folded.folds[place]);
            for &other in candidates.row(node as usize) {
                let example = |target: f64| {
                    let inputs = compared.inputs(node, other);
                    Example { inputs, target, weight: 1.0, candidate: true, folds: [fold; 2] }
                };
                if let Some(&theirs) = folded.classes.get(at[other as usize]) {
                    known.push(example(compatibility.of(class, theirs)));
                    continue;
                }
                let start = other as usize * classes;
                let theirs = &by_fold[fold][start..start + classes];
                if theirs.iter().any(|&p| p > self.config.confidence) {
                    sure.push(example(compatibility.expected(class, theirs)));
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
        PairMap::fit(&examples, folded.count)
    }

    /// Pairs of labelled nodes, all or a sample; good ones weigh as much as the others.
    fn labelled_pairs(&self, compared: Compared, compatibility: &Compatibility) -> Vec<Example> {
        let Folded { nodes, classes, folds, .. } = self.folded;
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
            target: compatibility.of(classes[a], classes[b]),
            weight: 1.0,
            candidate: false,
            folds: [folds[a], folds[b]],
        };
        let mut examples: Vec<Example> = pairs.map(example).collect();
        let good: f64 = examples.iter().map(|example| example.target).sum();
        let others = examples.len() as f64 - good;
        let share = |part: f64, whole: f64| if whole > 0.0 { 0.5 * part / whole } else { 0.0 };
        for example in &mut examples {
            example.weight = share(example.target, good) + share(1.0 - example.target, others);
        }
        examples
    }
}
