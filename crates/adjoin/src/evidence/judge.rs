//! The stages in which candidates are judged, the same when they are fitted and when they are used.

use super::{
    EvidenceConfig,
    compatibility::Compatibility,
    fitting::Lens,
    pairs::{PairMap, sigmoid},
    scene::Scene,
    views::View,
};
use crate::{
    Result,
    topology::{ABSENT, Csr, pagerank_neighbours},
};

/// Probability that a walk which looks for candidates goes back to its start.
const RETURN: f64 = 0.1;

/// What walks may leave undecided at a node, as a part of its degree: the best few are found long before.
const EPSILON: f64 = 1e-4;

/// Edges that walks follow are at least so likely to be good.
const FOLLOWED: f64 = 0.5;

/// The parts of the evidence, in the order of the stages: fitted when they are asked for, or taken from an earlier fit.
pub(super) trait Parts {
    /// View `at` of 3, of inputs `h` `[nodes, rank]`.
    fn view(&mut self, at: usize, h: &[f64]) -> View;

    /// Which classes the given edges join.
    fn compatibility(&mut self, given: &Csr, lens: Lens) -> Compatibility;

    /// Map `at` of 2, for some candidates.
    fn map(
        &mut self,
        at: usize,
        candidates: &Csr,
        first: Lens,
        second: Option<Lens>,
        compatibility: &Compatibility,
    ) -> PairMap;
}

/// Candidates with their log-odds.
pub(super) struct Judged {
    pub pairs: Csr,
    pub log_odds: Vec<f64>,
    /// Of every pair: a given edge, a feature neighbour, a node that walks visit.
    pub kinds: Vec<Kind>,
}

/// Where a candidate comes from; feature neighbours and walks may agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub given: bool,
    pub near: bool,
    pub walk: bool,
}

/// Judges the candidates of a scene. The first view sees features alone. With the second, over the given graph, it
/// judges given edges. The third sees the given edges by that judgement, and with the first it judges added candidates.
pub(super) fn judge(
    scene: &Scene,
    classes: usize,
    config: &EvidenceConfig,
    parts: &mut dyn Parts,
) -> Result<Judged> {
    let same = Compatibility::same(classes);
    let base = scene.base();
    let first = parts.view(0, &scene.by_features);
    let first = Lens { view: &first, h: &scene.by_features };
    let odds = match &scene.given {
        None => {
            let map = parts.map(0, base, first, None, &same);
            map.log_odds(base, scene.compared(&first.opinion(&same), None))
        }
        Some(given) => {
            let h = scene.over(&vec![1.0; given.edges()], config);
            let second = parts.view(1, &h);
            let second = Lens { view: &second, h: &h };
            let compatibility = match config.compatibility {
                true => parts.compatibility(given, first),
                false => same.clone(),
            };
            let map = parts.map(0, given, first, Some(second), &compatibility);
            let [q, r] = [first, second].map(|lens| lens.opinion(&compatibility));
            map.log_odds(given, scene.compared(&q, Some(&r)))
        }
    };
    let likely: Vec<f64> = odds.iter().map(|&z| sigmoid(z)).collect();
    let h = scene.over(&likely, config);
    let third = parts.view(2, &h);
    let third = Lens { view: &third, h: &h };
    let walks = match config.walks {
        0 => Csr::empty(base.rows(), base.columns()),
        k => {
            let good = base.filter(|at, _, _| likely[at] > FOLLOWED);
            let (found, _) = pagerank_neighbours(&good, RETURN, k, EPSILON, false)?;
            found.union(&found.transposed())?
        }
    };
    let added = scene.near.union(&walks)?;
    let map = parts.map(1, &added, first, Some(third), &same);
    let [q, s] = [first, third].map(|lens| lens.opinion(&same));
    let added_odds = map.log_odds(&added, scene.compared(&q, Some(&s)));
    let pairs = match &scene.given {
        Some(given) => given.union(&added)?,
        None => added.clone(),
    };
    let there = |graph: &Csr| pairs.positions_in(graph);
    let (near, walk, in_added) = (there(&scene.near), there(&walks), there(&added));
    let given = match &scene.given {
        Some(given) => there(given),
        None => vec![ABSENT; pairs.edges()],
    };
    let value = |(&given, &added): (&u32, &u32)| match given {
        ABSENT => added_odds[added as usize],
        given => odds[given as usize],
    };
    let log_odds = given.iter().zip(&in_added).map(value).collect();
    let kind = |at: usize| Kind {
        given: given[at] != ABSENT,
        near: near[at] != ABSENT,
        walk: walk[at] != ABSENT,
    };
    let kinds = (0..pairs.edges()).map(kind).collect();
    Ok(Judged { log_odds, kinds, pairs })
}
