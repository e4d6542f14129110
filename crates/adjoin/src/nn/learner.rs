//! Ways to learn a structure: from nodes, and perhaps a graph, to a graph.

use super::{Draw, Network, Outcome, Outer, Reading, Stage};
use crate::{
    Error, Result,
    graph::{Adjacency, Features, GraphInput, Labels, Prepared, Progress},
    kernels::random::Key,
    ops,
    pass::Pass,
    topology::{ABSENT, CandidateRule, Csr},
};
use burn::tensor::Tensor;

/// A graph that a learner made, with what losses, plots and exports want to know of it.
#[derive(Clone, Debug)]
pub struct LearnedGraph {
    /// Topology and differentiable weights; without self-loops unless the learner ranks them.
    pub adjacency: Adjacency,
    /// Learned neighbourhood sizes `k`, `[nodes]`.
    pub degrees: Option<Tensor<1>>,
    /// How many of these are given neighbours, `[nodes]`, of learners that tell them from added ones.
    pub kept: Option<Tensor<1>>,
    /// Latent features `x^`, `[nodes, width]`.
    pub latent: Option<Tensor<2>>,
    /// Scores of the candidates that were ranked.
    pub scores: Option<EdgeScores>,
}

impl LearnedGraph {
    /// A graph about which nothing more is known.
    pub fn plain(adjacency: Adjacency) -> Self {
        Self { adjacency, degrees: None, kept: None, latent: None, scores: None }
    }
}

/// Log-scores of candidate pairs.
#[derive(Clone, Debug)]
pub struct EdgeScores {
    /// The pairs.
    pub pairs: Csr,
    /// `log p` of each, `[pairs]`, without noise.
    pub log_scores: Tensor<1>,
}

impl EdgeScores {
    /// Those of some of the pairs; gradients flow to them.
    ///
    /// # Errors
    /// If one of `some` is not among the pairs.
    pub fn of(&self, some: &Csr) -> Result<Tensor<1>> {
        self.pairs.same_shape("pairs to score", some)?;
        let positions = some.positions_in(&self.pairs);
        if let Some(at) = positions.iter().position(|&position| position == ABSENT) {
            let (row, column) = some.iter().nth(at).unwrap_or_default();
            let (row, column) = (row as usize, column as usize);
            return Err(Error::NotCandidate { row, column });
        }
        ops::take(&self.log_scores, positions, 0.0)
    }
}

/// The network on every graph that was drawn, in equal shares; with `hand_on` on the latent features that came
/// with the graph, where there are any, and not on the given ones.
pub(crate) fn run_draws(
    graphs: Vec<LearnedGraph>,
    input: &GraphInput,
    network: &dyn Network,
    pass: &Pass,
    hand_on: bool,
) -> Result<Outcome> {
    let share = 1.0 / graphs.len() as f64;
    let run = |(draw, graph): (usize, LearnedGraph)| {
        let pass = pass.child(2).child(draw as u64);
        let latent = graph.latent.clone().filter(|_| hand_on).map(Features::from);
        let features = latent.as_ref().unwrap_or(input.features);
        let logits = network.run(features, &graph.adjacency, pass)?;
        Ok(Draw { graph, logits, share, log_weight: None })
    };
    Ok(Outcome {
        draws: graphs.into_iter().enumerate().map(run).collect::<Result<_>>()?,
        reading: Reading::MeanOfLosses,
        terms: Vec::new(),
    })
}

/// Turns nodes, and perhaps a graph, into a graph.
///
/// [`learn`](Self::learn) is all that most learners need: graphs are drawn before the network runs, and the
/// provided [`drive`](Self::drive) runs it on each of them. A method that needs more overrides `drive`: it
/// may run the network layer by layer, several times, or not at all, and add terms to the loss. Labels
/// never reach a learner: losses that need them read the draws. What else a trainer must know, the learner
/// says of itself, so that nobody asks which one it is.
///
/// How published methods fit:
///
/// | method | `learn` | `drive` | terms | `stage` | `outer`, `project` | data at `init` |
/// |---|---|---|---|---|---|---|
/// | NeuralSparse | once for all layers, temperature by [`Progress`](crate::graph::Progress) | provided | | | | |
/// | PTDNet | | a graph for each layer from its input, 3 draws, [`Reading::LossOfMean`] | L0, nuclear, consistency | | | widths |
/// | IDGL | | runs until the graph stays, reads the state after layer 0, sums of maps, [`Reading::Last`] with shares 1, 1/t, 1/t, .. | smoothness, degrees, Frobenius | | | widths |
/// | LDS | straight-through draw of pair parameters | [`Reading::Bound`] without weights at evaluation, 16 draws | | | both | candidate pairs |
/// | SLAPS | graph from features | adds its denoising autoencoder | reconstruction | task off at first | | pairs |
/// | NodeFormer | | own layers, [`Reading::Last`] | edges | | | classes |
/// | VGCN | draw from the posterior | [`Reading::Bound`] with log-weights, 16 draws at evaluation | | may alternate | | candidate pairs |
pub trait GraphLearner {
    /// The graph of one pass. In evaluation passes the result is deterministic.
    ///
    /// # Errors
    /// If the input does not fit, or the learner needs something that is not there.
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph>;

    /// Several independent draws for one step.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    fn sample(&self, input: &GraphInput, pass: Pass, samples: usize) -> Result<Vec<LearnedGraph>> {
        (0..samples as u64).map(|draw| self.learn(input, pass.child(draw))).collect()
    }

    /// Learns what it can from the labels of training nodes before training starts; provided: nothing.
    ///
    /// # Errors
    /// If input and labels do not fit, or there are too few labels.
    fn fit(self, _input: &GraphInput, _labels: &Labels, _key: Key) -> Result<Self>
    where
        Self: Sized,
    {
        Ok(self)
    }

    /// This fresh learner with what `trained` learned from labels before training started: its start, to be
    /// compared with where training led; provided: as it is.
    #[must_use]
    fn start_of(self, _trained: &Self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Names of the graphs that validation chooses among, the learned one first; none for no choice. One
    /// model is trained with each.
    fn alternatives(&self) -> &'static [&'static str] {
        &[]
    }

    /// The learner set to one of its [`alternatives`](Self::alternatives).
    #[must_use]
    fn choose(self, _alternative: usize) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// What can be worked out once for an input that stays the same.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    fn prepare(&self, _input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared::default())
    }

    /// Drives the network for one pass.
    ///
    /// Provided: `draws` graphs by [`sample`](Self::sample) with `pass.child(1)`, the network on draw d with
    /// `pass.child(2).child(d)`, equal shares, [`Reading::MeanOfLosses`], no terms.
    ///
    /// # Errors
    /// If input, learner and network do not fit.
    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let graphs = self.sample(input, pass.child(1), draws.max(1))?;
        run_draws(graphs, input, network, &pass, false)
    }

    /// Whether its graph stays as it is during an epoch: it gets no step then, and its graph is learned once,
    /// without noise, and handed to [`drive_on`](Self::drive_on).
    fn rests(&self, _at: Progress) -> bool {
        false
    }

    /// Drives the network for one pass on a graph that was learned before; provided: as it is.
    ///
    /// # Errors
    /// If input, graph and network do not fit.
    fn drive_on(
        &self,
        graph: &LearnedGraph,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        run_draws(vec![graph.clone(); draws.max(1)], input, network, &pass, false)
    }

    /// Graphs to draw at evaluation; 0 for the one graph without noise.
    fn evaluation_draws(&self) -> usize {
        0
    }

    /// What takes part in a step of training.
    fn stage(&self, _at: Progress) -> Stage {
        Stage::ALL
    }

    /// The two loops that the learner is trained in, if it is. No learner has them yet, and the trainer of the
    /// lab runs one loop: whoever adds one adds both.
    fn outer(&self) -> Option<Outer> {
        None
    }

    /// The learner after a step of its optimiser, back within its bounds.
    #[must_use]
    fn project(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Whether its graphs are hard choices that it learns from by REINFORCE.
    fn is_rewarded(&self) -> bool {
        false
    }

    /// Whether the network trains on the given graph or random parts of it.
    fn keeps_given_edges(&self) -> bool {
        false
    }

    /// Whether the given graph is handed on as it is.
    fn hands_on(&self) -> bool {
        false
    }

    /// Whether it looks at class probabilities of a teacher, in [`Prepared::probabilities`].
    fn wants_probabilities(&self) -> bool {
        false
    }

    /// Whether it looks at what is known of nodes and candidates beside the features, in
    /// [`Prepared::extras`]; the candidates must be prepared too.
    fn wants_extras(&self) -> bool {
        false
    }

    /// The rule that its candidates are chosen by, if it chooses among candidates.
    fn candidate_rule(&self) -> Option<&CandidateRule> {
        None
    }

    /// `log p` of pairs in the graph that was learned, `[pairs]`, for the intermediate loss; none if the
    /// learner has no such score. Any pairs may be asked for, unless
    /// [`scored_pairs`](Self::scored_pairs) says which.
    ///
    /// # Errors
    /// If the pairs are not over the nodes of the input, or one of them has no score.
    fn pair_scores(
        &self,
        _learned: &LearnedGraph,
        _pairs: &Csr,
        _input: &GraphInput,
    ) -> Result<Option<Tensor<1>>> {
        Ok(None)
    }

    /// The pairs that [`pair_scores`](Self::pair_scores) is limited to, if it is: scores that depend on
    /// which other pairs are candidates exist for the candidates alone. The loss is then over the training
    /// pairs among them, `TrainingPairs::new(.., Some(pairs))`.
    fn scored_pairs<'a>(&self, _learned: &'a LearnedGraph) -> Option<&'a Csr> {
        None
    }
}
