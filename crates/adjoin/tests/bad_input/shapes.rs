//! Random shapes into every operation and convolution.

use crate::{common::*, no_panic};
use adjoin::{
    Adjacency, Batch, CandidateRule, Csr, Features, Key, Metric, Normalisation, Pass, SelfLoops,
    SparseFeatures,
    conv::{Conv, EdgeConvConfig, GatConfig, GcnConfig, GcnIIConfig, SageConfig},
    kernels::{pairs::Similarity, selector::Step},
    loss::{TrainingPairs, consistency, low_rank, sparsity},
    ops::{self, Attention, PairNetwork, StreamScorer},
};
use burn::tensor::Tensor;
use proptest::prelude::*;

/// Sizes that often fit and often do not.
#[derive(Clone, Debug)]
struct Sizes {
    rows: usize,
    columns: usize,
    edges: Vec<(u32, u32)>,
    n: [usize; 6],
    single: bool,
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let edges = prop::collection::vec((0u32..4, 0u32..4), 0..8);
    (0usize..4, 0usize..4, edges, prop::array::uniform6(0usize..5), any::<bool>()).prop_map(
        |(rows, columns, edges, n, single)| {
            // Half of the time everything fits a square graph.
            let fit = n[5] % 2 == 0;
            let columns = if fit { rows } else { columns };
            let inside = |(i, j): &(u32, u32)| (*i as usize) < rows && (*j as usize) < columns;
            let edges: Vec<_> = edges.into_iter().filter(inside).collect();
            let n = if fit { [rows, n[1], n[1], n[1], n[4], n[5]] } else { n };
            Sizes { rows, columns, edges, n, single }
        },
    )
}

impl Sizes {
    fn graph(&self) -> Csr {
        let edges = self.edges.iter().copied();
        Csr::from_edges(self.rows, self.columns, edges, SelfLoops::Keep).unwrap()
    }

    fn matrix(&self, rows: usize, columns: usize) -> Tensor<2> {
        let values = normals(1, rows * columns);
        if self.single && self.n[4] == 1 {
            return tensor32(&values, [rows, columns]).require_grad();
        }
        tensor(&values, [rows, columns]).require_grad()
    }

    fn vector(&self, count: usize) -> Tensor<1> {
        tensor(&normals(2, count), [count]).require_grad()
    }
}

/// Runs an operation, and its backward pass if it has a result; neither may panic.
fn run<const D: usize>(
    name: &str,
    operation: impl FnOnce() -> adjoin::Result<Tensor<D>>,
) -> Result<bool, TestCaseError> {
    let run = || operation().map(|out| out.sum().backward()).is_ok();
    no_panic(name, run).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn operations_never_panic(s in sizes()) {
        let graph = s.graph();
        let [a, b, c, d, ..] = s.n;
        let edges = if s.n[4] == 4 { graph.edges() + 1 } else { graph.edges() };
        let (x, z, w) = (s.matrix(a, b), s.matrix(s.rows, c), s.vector(edges));
        let fits = s.columns == a && edges == graph.edges() && x.dtype() == w.dtype();
        prop_assert_eq!(run("spmm", || ops::spmm(&graph, &w, &x))?, fits);
        run("spmm_onto", || ops::spmm_onto(&graph, &w, &x, &z, [0.5, 0.5]))?;
        for normalisation in [Normalisation::Symmetric, Normalisation::Row, Normalisation::None] {
            run("normalise", || ops::normalise(&graph, &w, normalisation))?;
            run("prepare", || {
                let graph = Adjacency::new(graph.clone(), w.clone())?;
                Ok(graph.prepare(normalisation, true)?.weights().clone())
            })?;
        }
        for similarity in [Similarity::Distance, Similarity::Dot, Similarity::Cosine] {
            run("pair_similarity", || ops::pair_similarity(&graph, similarity, &x))?;
        }
        let network = PairNetwork {
            receiver: x.clone(),
            sender: s.matrix(a, c),
            scalar: (s.n[5] > 2).then(|| (w.clone(), s.vector(d))),
            slope: 0.01,
        };
        run("pair_logits", || ops::pair_logits(&graph, &network, &s.vector(c)))?;
        run("pair_embeddings", || ops::pair_embeddings(&graph, &network))?;
        run("edge_messages", || ops::edge_messages(&graph, &s.matrix(edges, b)))?;
        for hard in [false, true] {
            let step = Step { lambda: d as f64 - 1.0, shift: 0.5, hard };
            run("select", || Ok(ops::select(&graph, &w, &s.vector(a), step)?.weights))?;
        }
        for (name, reduce) in [
            ("sum", ops::segment_sum as fn(&Csr, &Tensor<1>) -> _),
            ("mean", ops::segment_mean),
            ("max", ops::segment_max),
            ("softmax", ops::segment_softmax),
            ("logsumexp", ops::segment_logsumexp),
            ("broadcast", ops::broadcast_rows),
            ("gather", ops::gather_columns),
        ] {
            run(name, || reduce(&graph, &w))?;
            run(name, || reduce(&graph, &s.vector(a)))?;
        }
        let options = Attention { heads: d, slope: 0.2, dropout: None };
        let v = s.vector(b);
        run("attention", || ops::attention(&graph, &x, &v, &s.vector(c), Some(&w), options))?;
        run("edgeconv", || {
            let (v, u) = (s.vector(c), s.vector(d));
            Ok(ops::edgeconv(&graph, &x, &z, &v, &u, 0.2, 1e-5)?.0)
        })?;
        let stop = ops::Convergence { tolerance: 1e-6, most: 2 };
        run("nuclear", || ops::nuclear(&graph, &w, d, stop, Key::new(1)))?;
        run("dropout", || ops::dropout(&x, 0.3 * d as f64, Pass::train(1, 1)))?;
        run("relu_dropout", || ops::relu_dropout(&x, 0.3 * d as f64, Pass::train(1, 1)))?;
        run("take", || ops::take(&w, vec![a as u32, ops::ABSENT, 0], 1.0))?;
    }

    #[test]
    fn streams_and_candidates_never_panic(s in sizes()) {
        let [a, b, c, d, ..] = s.n;
        let batch = Batch::of_sizes([s.rows, s.n[4] % 3]);
        let nodes = if s.n[5] > 2 { a } else { batch.nodes() };
        let u = s.matrix(nodes, b);
        let scorers = [
            StreamScorer::Distance { u: u.clone(), t: s.vector(s.n[5] % 2 + usize::from(d > 2)) },
            StreamScorer::Dot { u: u.clone() },
            StreamScorer::Cosine { u: u.clone() },
            StreamScorer::Mlp { a: u.clone(), b: s.matrix(nodes, c), w: s.vector(b), w0: s.vector(1) },
        ];
        for scorer in &scorers {
            run("log_mass", || ops::log_mass(scorer, None, d as f64, &batch))?;
            let limits = vec![d as u32; if d == 3 { a } else { nodes }];
            let top = no_panic("top", || ops::top_candidates(scorer, None, &limits, &batch).is_ok());
            prop_assert!(top.is_ok(), "top_candidates");
        }
        let graph = s.graph();
        for rule in [
            CandidateRule::Complete,
            CandidateRule::InputEdges,
            CandidateRule::Nearest { k: c, metric: Metric::Euclidean },
            CandidateRule::Nearest { k: c, metric: Metric::Cosine },
            CandidateRule::Hops { r: d },
            CandidateRule::PageRank { alpha: 0.3 * d as f64, k: c },
            CandidateRule::Union(vec![]),
        ] {
            for given in [None, Some(&graph)] {
                let found = no_panic("candidates", || {
                    ops::candidates(&rule, given, Some(&u), &batch).map(|c| c.to_pairs(1000))
                });
                prop_assert!(found.is_ok(), "{rule:?}");
            }
        }
    }

    #[test]
    fn convolutions_never_panic(s in sizes()) {
        let [a, b, c, d, ..] = s.n;
        let (key, device) = (Key::new(1), device());
        // Parameters in f32, features in one or the other type: the latter are refused.
        let single = |t: Tensor<2>| if s.single { tensor32(&values(&t), t.dims()) } else { t };
        let topology = s.graph();
        let weights = tensor32(&normals(3, topology.edges()), [topology.edges()]).abs();
        let graphs = [
            Adjacency::new(topology.clone(), weights).unwrap(),
            Adjacency::unweighted(topology.clone(), &device),
        ];
        let entries = Csr::from_edges(a, b, [(0, 0)], SelfLoops::Keep).unwrap_or(Csr::empty(a, b));
        let values = vec![1.0; entries.edges()];
        let sparse = SparseFeatures::new(entries, &values, &device).unwrap();
        let features = [Features::from(single(s.matrix(a, b))), Features::from(sparse)];
        for x in &features {
            prop_assert!(no_panic("to_dense", || x.to_dense()).is_ok());
            for graph in &graphs {
                for pass in [|| Pass::train(1, 1), Pass::evaluate] {
                    run("gcn", || GcnConfig::new(c, d).init(key, &device)?.forward(x, graph, pass()))?;
                    let row = GcnConfig { normalisation: Normalisation::Row, ..GcnConfig::new(c, d) };
                    run("gcn, rows", || row.init(key, &device)?.forward(x, graph, pass()))?;
                    run("sage", || SageConfig::new(c, d).init(key, &device)?.forward(x, graph, pass()))?;
                    let gat = GatConfig { average: d == 1, ..GatConfig::new(c, d, s.n[4]) };
                    run("gat", || gat.init(key, &device)?.forward(x, graph, pass()))?;
                    for variant in [false, true] {
                        let config = GcnIIConfig { variant, ..GcnIIConfig::of_depth(c, 0.5, d) };
                        run("gcnii", || config.init(key, &device)?.forward(x, graph, pass()))?;
                    }
                    let edge = EdgeConvConfig::new(c, d).init(key, &device).unwrap();
                    run("edgeconv", || edge.forward(x, graph, pass()))?;
                }
            }
        }
    }

    #[test]
    fn losses_never_panic(s in sizes()) {
        let [a, b, c, d, ..] = s.n;
        let graph = s.graph();
        let training: Vec<u32> = (0..b as u32).collect();
        let labels: Vec<u32> = (0..c as u32).collect();
        for within in [None, Some(&graph)] {
            let pairs = no_panic("pairs", || TrainingPairs::new(a, &training, &labels, within));
            let pairs = pairs.map_err(TestCaseError::fail)?;
            let fits = b == c && b <= a && within.is_none_or(|g| [g.rows(), g.columns()] == [a; 2]);
            prop_assert_eq!(pairs.is_ok(), fits);
            if let Ok(pairs) = pairs {
                run("loss", || pairs.loss(&s.vector(pairs.pairs().edges()).abs().neg()))?;
                run("loss", || pairs.loss(&s.vector(d)))?;
            }
        }
        let adjacency = Adjacency::new(graph.clone(), s.vector(graph.edges())).unwrap();
        run("low_rank", || low_rank(&adjacency, d, Key::new(1)))?;
        run("sparsity", || Ok(sparsity(&adjacency)))?;
        let draws = [s.matrix(a, b), s.matrix(a, c)];
        run("consistency", || consistency(&draws[..d.min(2)], 0.5))?;
    }
}
