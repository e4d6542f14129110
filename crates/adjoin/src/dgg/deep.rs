//! Pair networks of several layers, and messages between the edges of complete graphs.

use super::scorer::Scorer;
use crate::{
    Result,
    kernels::{edge_messages::neighbour_counts, stream::neighbours},
    nn::{Linear, SLOPE, through},
    ops::{self, DeepPairs, PairLayers, PairMessages, PairNetwork},
    topology::{Batch, Csr},
};
use burn::tensor::{
    Tensor, TensorData,
    activation::{leaky_relu, log_sigmoid},
};
use serde::{Deserialize, Serialize};

/// How the paper's Eq. 5 is read: `c'_e = sum_f h(c_e, c_e - c_f)` over the edges f that share a node with e.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageReading {
    /// As the sentence before the equation says: the neighbours are averaged, then passed through h,
    /// `c'_e = h(c_e, c_e - mean_f c_f)`.
    #[default]
    Mean,
    /// As the equation is printed. It is a sum per node for an affine h, `c'_e = n_e h(c_e, c_e - mean_f c_f)`
    /// with n_e the number of neighbours, and only then; the activation follows the sum.
    Sum,
}

/// One number for every pair, beside `[pairs, width]`.
fn column(values: Vec<f64>, like: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(values, [like.dims()[0], 1]);
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

/// `W_1` and `W_2` of the layer that sees messages.
fn halves(refine: &Linear) -> [Tensor<2>; 2] {
    let weight = refine.weight.val();
    let [rows, _] = weight.dims();
    [0, rows / 2].map(|start| weight.clone().narrow(0, start, rows / 2))
}

impl Scorer {
    /// Whether there is more than the two layers of the plain pair network.
    pub(super) fn is_deep(&self) -> bool {
        self.has_messages() || !self.embed.is_empty() || !self.deepen.is_empty()
    }

    /// `log p` at explicit candidates, which send each other messages.
    pub(super) fn deep_scores(
        &self,
        pairs: &Csr,
        network: &PairNetwork,
        w: &Tensor<1>,
        offset: &Tensor<1>,
    ) -> Result<Tensor<1>> {
        let mut c = through(&self.embed, ops::pair_embeddings(pairs, network)?);
        if let Some(refine) = &self.refine {
            let m = ops::edge_messages(pairs, &c)?;
            let joined = Tensor::cat(vec![c.clone(), c - m], 1);
            c = refine.forward_dense(joined);
            if self.reading == MessageReading::Sum {
                let counts = neighbour_counts(pairs).into_iter().map(|n| f64::from(n.max(1)));
                let counts = column(counts.collect(), &c);
                c = c * counts;
            }
            c = leaky_relu(c, SLOPE);
        }
        Ok(self.finish_scores(c, w, offset))
    }

    fn finish_scores(&self, c: Tensor<2>, w: &Tensor<1>, offset: &Tensor<1>) -> Tensor<1> {
        let logits = through(&self.deepen, c).matmul(w.clone().unsqueeze_dim(1)).squeeze_dim(1);
        log_sigmoid(logits + offset.clone())
    }

    /// The network for complete candidates: the sums of its embeddings are streamed here, once for all that is
    /// asked of it.
    pub(super) fn deep_pairs(
        &self,
        network: PairNetwork,
        w: Tensor<1>,
        w0: Tensor<1>,
        batch: &Batch,
    ) -> Result<DeepPairs> {
        let PairNetwork { receiver: a, sender: b, .. } = network;
        let messages = match &self.refine {
            None => None,
            Some(refine) => {
                let sums = ops::pair_sums(&a, &b, stacked(&self.embed).as_ref(), batch)?;
                let [own, other] = halves(refine);
                let options = (&a.device(), a.dtype());
                let bias = refine.bias.as_ref().map(|bias| bias.val());
                let bias = bias.unwrap_or_else(|| Tensor::zeros([own.dims()[0]], options));
                let summed = self.reading == MessageReading::Sum;
                Some(PairMessages { sums: sums.matmul(other.clone()), own, other, bias, summed })
            }
        };
        let layers: Vec<Linear> = self.embed.iter().chain(&self.deepen).cloned().collect();
        let (layers, before) = (stacked(&layers), self.embed.len());
        Ok(DeepPairs { a, b, layers, before, messages, w, w0 })
    }

    /// `log p` at some pairs of complete candidates; the numbers are those that are streamed.
    pub(super) fn scores_in_complete(
        &self,
        deep: &DeepPairs,
        pairs: &Csr,
        batch: &Batch,
    ) -> Result<Tensor<1>> {
        let (receiver, sender) = (deep.a.clone(), deep.b.clone());
        let network = PairNetwork { receiver, sender, scalar: None, slope: SLOPE };
        if pairs.edges() == 0 {
            return Ok(log_sigmoid(ops::pair_logits(pairs, &network, &deep.w)?));
        }
        let mut c = through(&self.embed, ops::pair_embeddings(pairs, &network)?);
        if let Some(PairMessages { sums, own, other, bias, summed }) = &deep.messages {
            // With slope 1 the pair network adds, and no more.
            let (receiver, sender) = (sums.clone(), sums.clone());
            let add = PairNetwork { receiver, sender, scalar: None, slope: 1.0 };
            let around = ops::pair_embeddings(pairs, &add)?;
            let graphs = batch.graph_of_nodes();
            let count = |(i, j): (u32, u32)| {
                let nodes = batch.range(graphs[i as usize] as usize).len();
                if i == j { None } else { Some(neighbours(nodes).max(1) as f64) }
            };
            let counts: Vec<Option<f64>> = pairs.iter().map(count).collect();
            let per_pair = |value: &dyn Fn(f64) -> f64, alone: f64| {
                column(counts.iter().map(|n| n.map_or(alone, value)).collect(), &around)
            };
            let own = c.clone().matmul(own.clone()) + bias.clone().unsqueeze();
            let other = c.matmul(other.clone()) * per_pair(&|n| 1.0 + 2.0 / n, 1.0);
            let y = own + other - around.clone() * per_pair(&|n| 1.0 / n, 0.0);
            let y = if *summed { y * per_pair(&|n| n, 1.0) } else { y };
            c = leaky_relu(y, SLOPE);
        }
        Ok(self.finish_scores(c, &deep.w, &deep.w0))
    }
}

/// The layers as two tensors; none if there are none.
fn stacked(layers: &[Linear]) -> Option<PairLayers> {
    let first = layers.first()?;
    let weights = layers.iter().map(|layer| layer.weight.val()).collect();
    let [width, _] = first.weight.dims();
    let options = (&first.weight.device(), first.weight.val().dtype());
    let bias = |layer: &Linear| match &layer.bias {
        Some(bias) => bias.val(),
        None => Tensor::zeros([width], options),
    };
    let biases = layers.iter().map(bias).collect();
    Some(PairLayers { weights: Tensor::stack(weights, 0), biases: Tensor::stack(biases, 0) })
}
