//! The learners, and the table that names them.
//!
//! A new one is a file with its settings, its module and `impl Settings`, a `mod` line here, and a line in
//! the table.

#[macro_use]
mod table;

mod dgg;
mod dgm;
mod dilated;
mod dropedge;
mod gnnguard;
mod jaccard;
mod knn;
mod neural_sparse;
mod nodeformer;
mod none;
mod pagerank;
mod ptdnet;
mod self_weight;
mod slaps;
mod svd;

pub use crate::graph::{KnnConfig, KnnWeights, PageRankConfig};
pub use dgm::{Dgm, DgmConfig};
pub use dilated::{Dilated, DilatedConfig};
pub use dropedge::{DropEdge, DropEdgeConfig};
pub use gnnguard::{GnnGuard, GnnGuardConfig};
pub use jaccard::{Jaccard, JaccardConfig};
pub use knn::Knn;
pub use neural_sparse::{NeuralSparse, NeuralSparseConfig, SparseWeights};
pub use nodeformer::{AttentionNoise, NodeFormer, NodeFormerConfig, NodeFormerLayer, RowNorm};
pub use none::Unchanged;
pub use pagerank::PageRank;
pub use ptdnet::{EdgeGate, PtdNet, PtdNetConfig};
pub use self_weight::{SelfWeight, SelfWeightConfig};
pub use slaps::{
    Autoencoder, AutoencoderConfig, FreePairs, Generator, Masked, MlpPairs, ScaledPairs, Slaps,
    SlapsActivation, SlapsConfig, SlapsGenerator,
};
pub use svd::{Svd, SvdConfig};
pub use table::{LearnerEntry, Shape};

use crate::{
    Result,
    dgg::{Dgg, DggConfig},
    graph::{Adjacency, GraphInput},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
};
use burn::tensor::Device;
use table::Settings;

learners! {
    None => Unchanged {
        "none": "the given graph as it is" => LearnerConfig::None;
    }
    Knn(config: KnnConfig) => Knn {
        "knn": "a fixed graph of the nearest neighbours in feature space"
            => LearnerConfig::Knn(KnnConfig::default());
    }
    PageRank(config: PageRankConfig) => PageRank {
        "pagerank": "a fixed graph of the nodes that random walks visit most"
            => LearnerConfig::PageRank(PageRankConfig::default());
    }
    DropEdge(config: DropEdgeConfig) => DropEdge {
        "dropedge": "the given graph with random edges left out of every training step"
            => LearnerConfig::DropEdge(DropEdgeConfig::default());
    }
    NeuralSparse(config: NeuralSparseConfig) => NeuralSparse {
        "neural-sparse": "NeuralSparse: k of the given neighbours by a Gumbel draw of learned scores"
            => LearnerConfig::NeuralSparse(NeuralSparseConfig::default());
    }
    PtdNet(config: PtdNetConfig) => PtdNet {
        "ptdnet": "PTDNet: every layer closes given edges by what it gets, towards low rank"
            => LearnerConfig::PtdNet(PtdNetConfig::default());
        "ptdnet-wl": "PTDNet without the low-rank term"
            => LearnerConfig::PtdNet(PtdNetConfig::without_low_rank());
    }
    Slaps(config: SlapsConfig) => Slaps {
        "slaps": "SLAPS: a graph from scaled features, helped by a denoising autoencoder"
            => LearnerConfig::Slaps(SlapsConfig::default());
        "slaps-fp": "SLAPS with a number for every candidate pair"
            => LearnerConfig::Slaps(SlapsConfig::of(SlapsGenerator::Fp));
        "slaps-mlp": "SLAPS with an MLP as wide as the features"
            => LearnerConfig::Slaps(SlapsConfig::of(SlapsGenerator::Mlp));
    }
    NodeFormer(config: NodeFormerConfig) => NodeFormer {
        "nodeformer": "NodeFormer: attention to all nodes and along given edges, in layers of its own"
            => LearnerConfig::NodeFormer(NodeFormerConfig::default());
    }
    SelfWeight(config: SelfWeightConfig) => SelfWeight {
        "self-weight": "the given graph with a weighted self-loop at every node"
            => LearnerConfig::SelfWeight(SelfWeightConfig::default());
    }
    Jaccard(config: JaccardConfig) => Jaccard {
        "jaccard": "the given graph without edges between nodes of unlike features"
            => LearnerConfig::Jaccard(JaccardConfig::default());
    }
    Svd(config: SvdConfig) => Svd {
        "svd": "the given graph's nearest matrix of low rank"
            => LearnerConfig::Svd(SvdConfig::default());
    }
    GnnGuard(config: GnnGuardConfig) => GnnGuard {
        "gnnguard": "GNNGuard: each layer weighs the given edges by the cosine of its inputs"
            => LearnerConfig::GnnGuard(GnnGuardConfig::default());
    }
    Dgm(config: DgmConfig) => Dgm {
        "dgm": "the discrete graph module: k neighbours by a Gumbel draw"
            => LearnerConfig::Dgm(DgmConfig::default());
    }
    Dgg(config: Box<DggConfig>) => Dgg {
        "dgg": "the differentiable graph generator"
            => LearnerConfig::Dgg(Box::default());
        "dgg-teacher": "the generator with scores raised by the class probabilities of a teacher"
            => LearnerConfig::Dgg(Box::default());
        "dgg-star": "the generator, to be trained with the intermediate loss"
            => LearnerConfig::Dgg(Box::default());
        "dgg-paper": "the generator by the paper's equations, on complete candidates"
            => LearnerConfig::Dgg(Box::new(DggConfig::paper()));
        "dgg-ref": "the generator as the authors' released code computes it"
            => LearnerConfig::Dgg(Box::new(DggConfig::reference()));
    }
}

/// The graph of a learner that makes the same one of an input every time: prepared, or built now.
fn prepared_or(
    input: &GraphInput,
    build: impl FnOnce() -> Result<Adjacency>,
) -> Result<LearnedGraph> {
    let prepared = input.prepared.and_then(|prepared| prepared.graph.clone());
    Ok(LearnedGraph::plain(prepared.map_or_else(build, Ok)?))
}
