//! The generator: all stages joined.

use super::{
    Agreement, DegreeEstimator, DggConfig, EdgeFeatures, Encoder, Informed, InputDegrees, Merge,
    Normalise, PairTerm, SampleForm, Scorer, SelfLoopRule,
    scorer::{NodeLevel, beside},
};
use crate::{
    Error, Result,
    graph::{Adjacency, CandidatePart, Evidence, Features, GraphInput, Labels, Prepared, Progress},
    kernels::{
        normalise::Normalisation,
        random::{Key, PairNoise},
    },
    nn::{EdgeScores, GraphLearner, LearnedGraph, Network, Outcome, run_draws},
    ops::{self, AllPairs, Selected, StreamScorer},
    pass::Pass,
    topology::{Batch, CandidateRule, Candidates, Csr, SelfLoops},
};
use burn::{
    module::Module,
    tensor::{Tensor, TensorData},
};
use std::{iter::repeat_n, ops::Range};

/// Rows of complete candidates keep this many of the best in the first pass over all pairs; rows
/// that turn out to want more are streamed once more.
const FIRST_PASS: usize = 64;

/// An input weight of 0 has no logarithm.
const LEAST_WEIGHT: f64 = 1e-12;

/// The differentiable graph generator.
///
/// For every node i and its candidates j:
///
/// | step | | part |
/// |---|---|---|
/// | encode | `x^ = leaky(x W + b)` | [`Encoder`] |
/// | score | `p_ij`, how relevant j is to i | [`Scorer`], [`Agreement`], [`PairTerm`] |
/// | perturb | `e_ij` from `log p_ij + s g_ij`, Gumbel noise `g` | [`SampleConfig`](super::SampleConfig) |
/// | size | `k_i`, how many neighbours | [`DegreeEstimator`] |
/// | select | `a_ij = e_ij h(rank_ij; k_i)`, a smooth step | [`SelectorConfig`](super::SelectorConfig) |
/// | join | with the transpose, with the input graph | [`Merge`] |
///
/// All of it is differentiable, so the graph is learned with the network that uses it. Complete candidates
/// are streamed: nothing of size `[nodes, nodes]` is built.
///
/// # Shapes
/// Features `[nodes, inputs]`, dense or sparse; the result is a sparse weighted directed graph `a`, `k`
/// `[nodes]`, `x^` `[nodes, width]` and the scores of the candidates.
///
/// # Gradients
/// Flow from the weights of the graph to all parts and to dense features. Which pairs are candidates, ranks
/// and noise are constants.
#[derive(Module, Debug)]
pub struct Dgg {
    /// The node encoder.
    pub encoder: Encoder,
    /// The edge scorer.
    pub scorer: Scorer,
    /// The degree estimator.
    pub degree: DegreeEstimator,
    /// Agreement of class probabilities.
    pub agreement: Agreement,
    /// The merger with the input graph.
    pub merge: Merge,
    /// What is known of pairs beside the features, if that counts.
    pub extras: Option<PairTerm>,
    /// Scores that start from evidence, if they do.
    pub informed: Option<Informed>,
    #[module(skip)]
    pub(super) config: DggConfig,
}

/// What all samples of one step share.
struct Shared<'a> {
    input: GraphInput<'a>,
    latent: Tensor<2>,
    /// What degrees are made of: the latent features, and extras of the nodes.
    sizes_from: Tensor<2>,
    degrees: Option<InputDegrees>,
}

impl GraphLearner for Dgg {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        let mut graphs = self.sample(input, pass, 1)?;
        Ok(graphs.remove(0))
    }

    /// Encodes and scores once; draws noise, degrees and graphs `samples` times.
    fn sample(&self, input: &GraphInput, pass: Pass, samples: usize) -> Result<Vec<LearnedGraph>> {
        input.check()?;
        input.features.check_finite()?;
        if let Some(informed) = &self.informed
            && let Some(graph) = informed.instead(input)?
        {
            return Ok(vec![graph; samples.max(1)]);
        }
        let augmented = self.augmented(input)?;
        let input = &GraphInput { graph: augmented.as_ref().or(input.graph), ..*input };
        let latent = self.encoder.forward(input.features, input.graph, pass.child(1))?;
        let degrees = input
            .graph
            .map(|graph| InputDegrees::new(graph.topology(), input.batch, &latent))
            .transpose()?;
        let shared = Shared { input: *input, sizes_from: latent.clone(), latent, degrees };
        let draws = (0..samples.max(1) as u64).map(|draw| pass.child(2).child(draw));
        if let Some(informed) = &self.informed {
            let prepared = input.prepared.and_then(|prepared| prepared.evidence.clone());
            let evidence = prepared.map_or_else(|| informed.apply(input), Ok)?;
            let (graph, batch) = (input.graph, input.batch);
            let learned = self.log_scores_in(&shared.latent, &evidence.pairs, graph, batch)?;
            let log_scores = informed.log_scores(&evidence, &learned);
            return draws
                .map(|pass| self.draw_informed(informed, &shared, &evidence, &log_scores, pass))
                .collect();
        }
        match self.candidates(input, &shared.latent)? {
            Candidates::Complete(batch) => {
                // Prepared ones may be complete although the settings name others.
                self.config.check_complete()?;
                draws.map(|pass| self.draw_from_complete(&shared, &batch, pass)).collect()
            }
            Candidates::Pairs(pairs) => {
                let log_scores =
                    self.log_scores_in(&shared.latent, &pairs, input.graph, input.batch)?;
                let log_scores = self.agreement.forward(log_scores, &pairs, input)?;
                let (shared, log_scores) = self.with_extras(shared, log_scores, &pairs)?;
                draws.map(|pass| self.draw(&shared, &pairs, &log_scores, pass)).collect()
            }
        }
    }

    fn fit(mut self, input: &GraphInput, labels: &Labels, key: Key) -> Result<Self> {
        self.informed =
            self.informed.map(|informed| informed.fit(input, labels, key)).transpose()?;
        Ok(self)
    }

    fn start_of(mut self, trained: &Self) -> Self {
        if let (Some(fresh), Some(trained)) = (&mut self.informed, &trained.informed) {
            fresh.model = trained.model.clone();
        }
        self
    }

    fn alternatives(&self) -> &'static [&'static str] {
        self.informed.as_ref().map_or(&[], Informed::alternatives)
    }

    fn choose(mut self, alternative: usize) -> Self {
        self.informed = self.informed.map(|informed| informed.choose(alternative));
        self
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        input.check()?;
        if let Some(informed) = &self.informed {
            if informed.instead(input)?.is_some() {
                return Ok(Prepared::default());
            }
            let evidence = Some(informed.apply(input)?);
            return Ok(Prepared { evidence, ..Prepared::default() });
        }
        let (rule, graph) = (&self.config.candidates, self.augmented(input)?);
        if rule.uses_features() {
            return Ok(Prepared { graph, ..Prepared::default() });
        }
        let topology = graph.as_ref().or(input.graph).map(Adjacency::topology);
        let candidates = ops::candidates(rule, topology, None, input.batch)?;
        let candidates = Some(self.with_loops(candidates));
        Ok(Prepared { candidates, graph, ..Prepared::default() })
    }

    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let graphs = self.sample(input, pass.child(1), draws.max(1))?;
        run_draws(graphs, input, network, &pass, self.config.hand_on)
    }

    fn rests(&self, at: Progress) -> bool {
        self.informed.as_ref().is_some_and(|informed| informed.rests(at))
    }

    fn drive_on(
        &self,
        graph: &LearnedGraph,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let draw = |draw: u64| {
            let pass = pass.child(1).child(draw);
            let adjacency = self.thinned(graph.adjacency.clone(), pass)?;
            Ok(LearnedGraph { adjacency, ..graph.clone() })
        };
        let graphs = (0..draws.max(1) as u64).map(draw).collect::<Result<_>>()?;
        run_draws(graphs, input, network, &pass, self.config.hand_on)
    }

    fn wants_probabilities(&self) -> bool {
        self.config.agreement
    }

    fn wants_extras(&self) -> bool {
        self.extras.is_some()
    }

    fn candidate_rule(&self) -> Option<&CandidateRule> {
        Some(&self.config.candidates)
    }

    fn pair_scores(
        &self,
        learned: &LearnedGraph,
        pairs: &Csr,
        input: &GraphInput,
    ) -> Result<Option<Tensor<1>>> {
        let Some(latent) = &learned.latent else { return Ok(None) };
        if self.config.candidates.is_complete() && self.scorer.is_deep() {
            let scorer = self.stream_scorer(latent, input.batch)?;
            return self.scores_of(&scorer, latent, pairs, input.batch).map(Some);
        }
        if let (true, Some(scores)) = (self.is_limited(), &learned.scores) {
            return scores.of(pairs).map(Some);
        }
        // Edge features are those of the graph that was learned from.
        let augmented = if self.scorer.has_edge_features() { self.augmented(input)? } else { None };
        let graph = augmented.as_ref().or(input.graph);
        self.log_scores_in(latent, pairs, graph, input.batch).map(Some)
    }

    /// With messages between edges a score depends on the other candidates, and extras are known of them alone.
    fn scored_pairs<'a>(&self, learned: &'a LearnedGraph) -> Option<&'a Csr> {
        // Complete candidates are all pairs there are.
        let limited = self.is_limited() && !self.config.candidates.is_complete();
        learned.scores.as_ref().filter(|_| limited).map(|scores| &scores.pairs)
    }
}

impl Dgg {
    /// The graph of one pass over one given graph; for batches, prepared inputs or nodes without a
    /// graph see [`learn`](GraphLearner::learn).
    ///
    /// # Errors
    /// If features and graph do not fit each other or the generator.
    pub fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<LearnedGraph> {
        self.learn(&GraphInput::new(x, Some(graph), &Batch::single(x.nodes())), pass)
    }

    /// The settings this generator was made with.
    pub fn config(&self) -> &DggConfig {
        &self.config
    }

    /// `log p` of any pairs, `[pairs]`, without noise. All nodes belong to one graph; for a batch see
    /// [`log_scores_in`](Self::log_scores_in).
    ///
    /// With messages between edges the given pairs are taken for all candidates there are; scores in a graph
    /// that was learned are [`pair_scores`](GraphLearner::pair_scores).
    ///
    /// # Errors
    /// If pairs, graph and `latent` are not over the same nodes.
    pub fn log_scores(
        &self,
        latent: &Tensor<2>,
        pairs: &Csr,
        graph: Option<&Adjacency>,
    ) -> Result<Tensor<1>> {
        self.log_scores_in(latent, pairs, graph, &Batch::single(latent.dims()[0]))
    }

    /// [`log_scores`](Self::log_scores) in a batch of graphs: edge features are relative to the
    /// degrees of each graph.
    ///
    /// # Errors
    /// If pairs, graph, batch and `latent` are not over the same nodes.
    pub fn log_scores_in(
        &self,
        latent: &Tensor<2>,
        pairs: &Csr,
        graph: Option<&Adjacency>,
        batch: &Batch,
    ) -> Result<Tensor<1>> {
        if !self.scorer.has_edge_features() {
            return self.scorer.log_scores(latent, pairs, None);
        }
        let graph = graph.ok_or(Error::NoInputGraph("a scorer with edge features"))?;
        graph.topology().same_shape("pairs to score", pairs)?;
        let positions = pairs.positions_in(graph.topology());
        let extra = EdgeFeatures {
            weights: ops::take(graph.weights(), positions, 0.0)?,
            degrees: InputDegrees::new(graph.topology(), batch, latent)?.standardised(),
        };
        self.scorer.log_scores(latent, pairs, Some(&extra))
    }

    /// Whether scores exist for candidates alone.
    fn is_limited(&self) -> bool {
        self.scorer.has_messages() || self.extras.is_some()
    }

    /// Scores and what degrees are made of, with the extras of candidates and nodes.
    fn with_extras<'a>(
        &self,
        shared: Shared<'a>,
        log_scores: Tensor<1>,
        pairs: &Csr,
    ) -> Result<(Shared<'a>, Tensor<1>)> {
        let Some(term) = &self.extras else { return Ok((shared, log_scores)) };
        let extras = shared.input.prepared.and_then(|prepared| prepared.extras.as_ref());
        let extras = extras.ok_or(Error::Setting {
            name: "extras",
            value: "set".into(),
            expected: "needs extras of nodes and candidates, prepared with the candidates",
        })?;
        extras.check(pairs)?;
        let log_scores = log_scores + term.forward(&extras.pairs)?;
        let sizes_from = beside(shared.latent.clone(), extras.nodes.clone());
        Ok((Shared { sizes_from, ..shared }, log_scores))
    }

    /// The input graph with edges added, if that is enabled.
    fn augmented(&self, input: &GraphInput) -> Result<Option<Adjacency>> {
        let Some(augment) = &self.config.augment else { return Ok(None) };
        match input.prepared.and_then(|prepared| prepared.graph.clone()) {
            Some(graph) => Ok(Some(graph)),
            None => Ok(Some(augment.join(input)?)),
        }
    }

    /// Prepared candidates, or new ones; nearest neighbours are sought in the latent space.
    fn candidates(&self, input: &GraphInput, latent: &Tensor<2>) -> Result<Candidates> {
        if let Some(candidates) = input.prepared.and_then(|prepared| prepared.candidates.as_ref()) {
            return Ok(candidates.clone());
        }
        let graph = input.graph.map(Adjacency::topology);
        let candidates =
            ops::candidates(&self.config.candidates, graph, Some(latent), input.batch)?;
        Ok(self.with_loops(candidates))
    }

    fn with_loops(&self, candidates: Candidates) -> Candidates {
        let self_loops = match self.config.self_loops {
            SelfLoopRule::Outside => SelfLoops::Drop,
            SelfLoopRule::Ranked => SelfLoops::Add,
        };
        match candidates {
            Candidates::Pairs(pairs) => Candidates::Pairs(pairs.with_self_loops(self_loops)),
            complete => complete,
        }
    }

    fn draw(
        &self,
        shared: &Shared,
        pairs: &Csr,
        log_scores: &Tensor<1>,
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let sample = &self.config.sample;
        let mut perturbed = sample.perturb(log_scores.clone(), pairs, pass.child(1))?;
        if let (true, Some(input)) = (self.config.keep_weights, shared.input.graph) {
            let positions = pairs.positions_in(input.topology());
            let given = ops::take(input.weights(), positions, 1.0)?;
            perturbed = perturbed + given.clamp_min(LEAST_WEIGHT).log();
        }
        let log_mass = |relative: &Tensor<1>| ops::segment_logsumexp(pairs, relative);
        let e = sample.normalise(perturbed, pairs, log_mass)?;
        let mass = || ops::segment_sum(pairs, &e);
        let (from, degrees) = (&shared.sizes_from, shared.degrees.as_ref());
        let k = self.degree.forward(from, mass, degrees, pass.child(2))?;
        let scores = EdgeScores { pairs: pairs.clone(), log_scores: log_scores.clone() };
        let graph = self.selected(pairs, &e, &k, None, &pass)?;
        self.finish(shared, scores, graph, [Some(k), None], pass)
    }

    /// Candidates of evidence: given edges and added ones are selected apart, in the proportion of what is
    /// expected of each.
    fn draw_informed(
        &self,
        informed: &Informed,
        shared: &Shared,
        evidence: &Evidence,
        log_scores: &Tensor<1>,
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let (given, added) = (&evidence.given, &evidence.added);
        let expected = log_scores.clone().exp();
        let noisy =
            self.config.sample.perturb(log_scores.clone(), &evidence.pairs, pass.child(1))?;
        let e = informed.samples(noisy);
        let of =
            |part: &CandidatePart, values: &Tensor<1>| ops::take(values, part.entries.clone(), 0.0);
        let mass = |part: &CandidatePart| ops::segment_sum(&part.pairs, &of(part, &expected)?);
        let (own, both) = (mass(given)?, mass(given)? + mass(added)?);
        let (latent, degrees) = (&shared.latent, shared.degrees.as_ref());
        let k = self.degree.forward(latent, || Ok(both.clone()), degrees, pass.child(2))?;
        let share = own / (both + LEAST_WEIGHT);
        let kept = informed.sizes(k.clone() * share.clone(), given)?;
        let extra = informed.sizes(k * (share - 1.0).neg(), added)?;
        let graph = |part: &CandidatePart, k: &Tensor<1>, scale: Option<Tensor<1>>| {
            self.selected(&part.pairs, &of(part, &e)?, k, scale, &pass)
        };
        let graph = graph(given, &kept, None)?.plus(&graph(
            added,
            &extra,
            Some(informed.added_weights(evidence)),
        )?)?;
        let k = kept.clone() + extra;
        let scores = EdgeScores { pairs: evidence.pairs.clone(), log_scores: log_scores.clone() };
        self.finish(shared, scores, graph, [Some(k), Some(kept)], pass)
    }

    /// Complete candidates: one pass over all pairs finds the best of every row and, if the samples
    /// or degrees need it, the total mass; from there on everything is sparse.
    fn draw_from_complete(
        &self,
        shared: &Shared,
        batch: &Batch,
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let sample = &self.config.sample;
        let itself = self.config.self_loops == SelfLoopRule::Ranked;
        let all = AllPairs { batch, itself };
        let scorer = self.stream_scorer(&shared.latent, batch)?;
        let scale = sample.scale(&pass);
        // The same key as `perturb` uses on the sparse pairs: both see the same noise.
        let noise = (scale > 0.0).then(|| PairNoise {
            key: pass.child(1).key(),
            scale,
            symmetric: sample.symmetric_noise,
        });
        let softmax = sample.form == SampleForm::Softmax;
        // Rows that are scaled to sum 1 do not change with the normaliser of the softmax, nor do gradients.
        let cancels = softmax && self.config.scales_rows();
        let needs_mass = if softmax { !cancels } else { self.degree.needs_mass() };
        let (mut row_mass, first) = if needs_mass {
            let tau = sample.temperature();
            let (mass, top) = ops::row_mass_and_top(&scorer, noise, tau, FIRST_PASS, all)?;
            (Some(mass), Some(top))
        } else {
            (None, None)
        };
        let unknown_mass = || Error::Setting {
            name: "sample.form",
            value: format!("{:?}", sample.form),
            expected: "the mass of a row was not computed",
        };
        // The samples of a softmax sum to 1, but for a node without candidates.
        let mass = || {
            if !softmax {
                return Ok(row_mass.as_ref().ok_or_else(unknown_mass)?.log.clone().exp());
            }
            let of =
                |range: Range<usize>| repeat_n(f64::from(itself || range.len() > 1), range.len());
            let ones: Vec<f64> = batch.ranges().flat_map(of).collect();
            let data = TensorData::new(ones, [batch.nodes()]);
            Ok(Tensor::from_data(data, (&shared.latent.device(), shared.latent.dtype())))
        };
        let k =
            self.degree.forward(&shared.latent, mass, shared.degrees.as_ref(), pass.child(2))?;
        let step = self.config.selector.step();
        let reach = |k: f64| step.reach(k).min(u32::MAX as f64) as u32;
        let limits: Vec<u32> = ops::to_f64("degrees", &k)?.into_iter().map(reach).collect();
        let pairs = match (&mut row_mass, &first) {
            (Some(mass), Some(first)) => {
                mass.extend_top(first, FIRST_PASS, &scorer, noise, &limits, all)?
            }
            _ => ops::top_candidates(&scorer, noise, &limits, all)?,
        };
        let log_scores = self.scores_of(&scorer, &shared.latent, &pairs, batch)?;
        let perturbed = sample.perturb(log_scores.clone(), &pairs, pass.child(1))?;
        // The mass of all candidates relative to the best: that of the kept ones over their share of it.
        // The share is a constant; gradients are those of the mass that was streamed.
        let log_mass = |relative: &Tensor<1>| {
            if cancels {
                return Ok(Tensor::zeros([batch.nodes()], (&relative.device(), relative.dtype())));
            }
            let mass = row_mass.as_ref().ok_or_else(unknown_mass)?;
            let own = ops::segment_logsumexp(&pairs, &relative.clone().detach())?;
            let data = TensorData::new(mass.shares.clone(), [batch.nodes()]);
            let shares = Tensor::from_data(data, (&own.device(), own.dtype()));
            Ok(own - shares + (mass.log.clone() - mass.log.clone().detach()))
        };
        let e = sample.normalise(perturbed, &pairs, log_mass)?;
        let graph = self.selected(&pairs, &e, &k, None, &pass)?;
        self.finish(shared, EdgeScores { pairs, log_scores }, graph, [Some(k), None], pass)
    }

    fn stream_scorer(&self, latent: &Tensor<2>, batch: &Batch) -> Result<StreamScorer> {
        let u = latent.clone();
        Ok(match self.scorer.node_level(latent, None)? {
            NodeLevel::Distance(t) => StreamScorer::Distance { u, t },
            NodeLevel::Dot => StreamScorer::Dot { u },
            NodeLevel::Cosine => StreamScorer::Cosine { u },
            NodeLevel::Mlp(network, w, w0) if self.scorer.is_deep() => {
                StreamScorer::Deep(self.scorer.deep_pairs(network, w, w0, batch)?)
            }
            NodeLevel::Mlp(network, w, w0) => {
                StreamScorer::Mlp { a: network.receiver, b: network.sender, w, w0 }
            }
        })
    }

    /// `log p` of some pairs of complete candidates.
    fn scores_of(
        &self,
        scorer: &StreamScorer,
        latent: &Tensor<2>,
        pairs: &Csr,
        batch: &Batch,
    ) -> Result<Tensor<1>> {
        match scorer {
            StreamScorer::Deep(deep) => self.scorer.scores_in_complete(deep, pairs, batch),
            _ => self.scorer.log_scores(latent, pairs, None),
        }
    }

    /// The graph as the network is to use it.
    fn normalised(&self, graph: Adjacency) -> Result<Adjacency> {
        Ok(match self.config.normalise {
            Normalise::Network => graph,
            Normalise::Rows => {
                let rows = graph.normalise(Normalisation::Row)?;
                match self.config.self_loops {
                    SelfLoopRule::Ranked => rows.as_normalised(),
                    SelfLoopRule::Outside => rows,
                }
            }
            Normalise::None => graph.as_normalised(),
        })
    }

    /// The candidates of every row that its size leaves, with their weights, each times its `scale`.
    fn selected(
        &self,
        pairs: &Csr,
        e: &Tensor<1>,
        k: &Tensor<1>,
        scale: Option<Tensor<1>>,
        pass: &Pass,
    ) -> Result<Adjacency> {
        // Evidence may find that nobody has a good neighbour.
        if self.informed.is_none() && ops::all_zero("edge samples", e)? {
            return Err(Error::Vanished);
        }
        let step = self.config.selector.step();
        let Selected { topology, mut weights, entries } = ops::select(pairs, e, k, step)?;
        if let Some(scale) = scale {
            weights = weights * ops::take(&scale, entries, 0.0)?;
        }
        let graph = Adjacency::new(topology, weights)?;
        if !step.hard || pass.has_noise() || graph.weights().device().is_autodiff() {
            return Ok(graph);
        }
        // Without a gradient to carry, edges of weight 0 have no purpose.
        let weights = ops::to_f64("weights", graph.weights())?;
        let mut weights = weights.into_iter();
        graph.filter(|_, _| weights.next().is_some_and(|w| w > 0.0))
    }

    /// The graph with edges left out at random, in training.
    fn thinned(&self, graph: Adjacency, pass: Pass) -> Result<Adjacency> {
        if self.config.edge_dropout == 0.0 {
            return Ok(graph);
        }
        let weights = ops::dropout(graph.weights(), self.config.edge_dropout, pass)?;
        graph.map_weights(|_| weights)
    }

    /// The graph joined with its transpose and the input graph, and scaled.
    fn finish(
        &self,
        shared: &Shared,
        scores: EdgeScores,
        mut graph: Adjacency,
        [degrees, kept]: [Option<Tensor<1>>; 2],
        pass: Pass,
    ) -> Result<LearnedGraph> {
        if self.config.symmetric {
            graph = graph.symmetrised()?;
        }
        if let Some(informed) = &self.informed {
            graph = informed.beside_self(&graph)?;
        }
        let graph = self.thinned(graph, pass.child(3))?;
        let adjacency = self.normalised(self.merge.forward(graph, shared.input.graph)?)?;
        Ok(LearnedGraph {
            adjacency,
            degrees,
            kept,
            latent: Some(shared.latent.clone()),
            scores: Some(scores),
        })
    }
}
