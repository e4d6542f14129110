//! Message passing between the edges of complete graphs, streamed, against all pairs written out.

use adjoin::{
    Batch, Candidates, Csr, Error, Key, SelfLoops,
    ops::{self, AllPairs, DeepPairs, PairLayers, PairMessages, PairNetwork, StreamScorer},
};
use burn::tensor::{
    DType, Device, Tensor, TensorData,
    activation::{leaky_relu, log_sigmoid},
};

const WIDTH: usize = 11;
const SLOPE: f64 = 0.01;

#[derive(Clone, Copy, Debug)]
struct Case {
    before: usize,
    after: usize,
    messages: bool,
    summed: bool,
    itself: bool,
}

const CASES: [Case; 6] = [
    Case { before: 0, after: 0, messages: true, summed: false, itself: false },
    Case { before: 0, after: 0, messages: true, summed: false, itself: true },
    Case { before: 0, after: 0, messages: true, summed: true, itself: true },
    Case { before: 1, after: 2, messages: true, summed: false, itself: true },
    Case { before: 2, after: 0, messages: true, summed: false, itself: false },
    Case { before: 1, after: 1, messages: false, summed: false, itself: true },
];

/// a, b, W_1, W_2, bias, weights and biases of layers, w, w0.
struct Leaves {
    a: Tensor<2>,
    b: Tensor<2>,
    own: Tensor<2>,
    other: Tensor<2>,
    bias: Tensor<1>,
    weights: Tensor<3>,
    biases: Tensor<2>,
    w: Tensor<1>,
    w0: Tensor<1>,
}

fn leaf<const D: usize>(shape: [usize; D], stream: u64, scale: f64, dtype: DType) -> Tensor<D> {
    let key = Key::new(5).child(stream);
    let count = shape.iter().product::<usize>() as u64;
    let values: Vec<f64> = (0..count).map(|n| scale * key.normal(n)).collect();
    let data = TensorData::new(values, shape).convert_dtype(dtype);
    Tensor::from_data(data, (&Device::flex().autodiff(), dtype)).require_grad()
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().convert_dtype(DType::F64).try_to_vec().expect("f64")
}

impl Leaves {
    fn new(case: Case, nodes: usize, dtype: DType) -> Self {
        let layers = case.before + case.after;
        // A sum is many times a mean: smaller weights keep it where a sigmoid has a slope.
        let scale = if case.summed { 0.01 } else { 0.4 };
        Self {
            a: leaf([nodes, WIDTH], 0, 0.7, dtype),
            b: leaf([nodes, WIDTH], 1, 0.7, dtype),
            own: leaf([WIDTH, WIDTH], 2, scale, dtype),
            other: leaf([WIDTH, WIDTH], 3, scale, dtype),
            bias: leaf([WIDTH], 4, scale, dtype),
            weights: leaf([layers.max(1), WIDTH, WIDTH], 5, 0.4, dtype),
            biases: leaf([layers.max(1), WIDTH], 6, 0.4, dtype),
            w: leaf([WIDTH], 7, 0.7, dtype),
            w0: leaf([1], 8, 0.7, dtype),
        }
    }

    fn layers(&self, from: usize, to: usize) -> Option<PairLayers> {
        let part = |from, count| PairLayers {
            weights: self.weights.clone().narrow(0, from, count),
            biases: self.biases.clone().narrow(0, from, count),
        };
        (to > from).then(|| part(from, to - from))
    }

    fn scorer(&self, case: Case, batch: &Batch) -> StreamScorer {
        let messages = case.messages.then(|| {
            let before = self.layers(0, case.before);
            let sums = ops::pair_sums(&self.a, &self.b, before.as_ref(), batch).expect("valid");
            PairMessages {
                sums: sums.matmul(self.other.clone()),
                own: self.own.clone(),
                other: self.other.clone(),
                bias: self.bias.clone(),
                summed: case.summed,
            }
        });
        let (a, b, w, w0) = (self.a.clone(), self.b.clone(), self.w.clone(), self.w0.clone());
        let layers = self.layers(0, case.before + case.after);
        StreamScorer::Deep(DeepPairs { a, b, layers, before: case.before, messages, w, w0 })
    }

    /// `log p` of all pairs by the definition: every embedding written out, neighbours of an edge found in the
    /// adjoint graph `L^T L - 2 I`.
    fn written_out(&self, case: Case, pairs: &Csr) -> Tensor<1> {
        let (receiver, sender) = (self.a.clone(), self.b.clone());
        let network = PairNetwork { receiver, sender, scalar: None, slope: SLOPE };
        let c = ops::pair_embeddings(pairs, &network).expect("valid");
        let mut c = self.through(c, 0, case.before);
        if case.messages {
            let adjoint = adjoint(pairs, &c);
            let counts = adjoint.clone().sum_dim(1);
            let means = adjoint.matmul(c.clone()) / counts.clone().clamp_min(1.0);
            let y = c.clone().matmul(self.own.clone())
                + (c - means).matmul(self.other.clone())
                + self.bias.clone().unsqueeze();
            c = leaky_relu(if case.summed { y * counts.clamp_min(1.0) } else { y }, SLOPE);
        }
        let c = self.through(c, case.before, case.before + case.after);
        let logits = c.matmul(self.w.clone().unsqueeze_dim(1)).squeeze_dim(1);
        log_sigmoid(logits + self.w0.clone())
    }

    fn through(&self, c: Tensor<2>, from: usize, to: usize) -> Tensor<2> {
        (from..to).fold(c, |c, at| {
            let weight = self.weights.clone().narrow(0, at, 1).squeeze_dim(0);
            leaky_relu(c.matmul(weight) + self.biases.clone().narrow(0, at, 1), SLOPE)
        })
    }

    fn gradients(&self, case: Case, loss: Tensor<1>) -> Vec<(&'static str, Vec<f64>)> {
        let grads = loss.backward();
        let mut all = vec![
            ("a", values(&self.a.grad(&grads).expect("a"))),
            ("b", values(&self.b.grad(&grads).expect("b"))),
            ("w", values(&self.w.grad(&grads).expect("w"))),
            ("w0", values(&self.w0.grad(&grads).expect("w0"))),
        ];
        if case.messages {
            all.push(("own", values(&self.own.grad(&grads).expect("own"))));
            all.push(("other", values(&self.other.grad(&grads).expect("other"))));
            all.push(("bias", values(&self.bias.grad(&grads).expect("bias"))));
        }
        if case.before + case.after > 0 {
            all.push(("weights", values(&self.weights.grad(&grads).expect("weights"))));
            all.push(("biases", values(&self.biases.grad(&grads).expect("biases"))));
        }
        all
    }
}

/// `L^T L - 2 I` over pairs, self-loops left out.
fn adjoint(pairs: &Csr, like: &Tensor<2>) -> Tensor<2> {
    let edges: Vec<(u32, u32)> = pairs.iter().collect();
    let shared = |e: &(u32, u32), f: &(u32, u32)| {
        let ends = |v: u32| u8::from(f.0 == v) + u8::from(f.1 == v);
        if e.0 == e.1 || f.0 == f.1 { 0.0 } else { f64::from(ends(e.0) + ends(e.1)) }
    };
    let entry = |i: usize, j: usize| if i == j { 0.0 } else { shared(&edges[i], &edges[j]) };
    let n = edges.len();
    let values: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
    Tensor::from_data(TensorData::new(values, [n, n]), (&like.device(), like.dtype()))
}

fn all_pairs(case: Case, batch: &Batch) -> Csr {
    let pairs = Candidates::Complete(batch.clone()).to_pairs(usize::MAX).expect("few");
    pairs.with_self_loops(if case.itself { SelfLoops::Add } else { SelfLoops::Drop })
}

fn upstream(nodes: usize, dtype: DType) -> Tensor<1> {
    let values: Vec<f64> = (0..nodes).map(|i| 1.0 + (i % 3) as f64 - (i % 4) as f64).collect();
    let data = TensorData::new(values, [nodes]).convert_dtype(dtype);
    Tensor::from_data(data, (&Device::flex().autodiff(), dtype))
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |scale, e| scale.max(e.abs()));
    for (n, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * scale, "{what}, element {n}: {f}, expected {e}");
    }
}

/// Two graphs of different sizes, one of them larger than a panel of columns.
#[test]
fn streamed_scores_and_gradients_are_those_of_all_pairs_written_out() {
    let batch = Batch::of_sizes([7, 35]);
    let tau = 0.7;
    for case in CASES {
        let (nodes, dtype) = (batch.nodes(), DType::F64);
        let pairs = all_pairs(case, &batch);
        let all = AllPairs { batch: &batch, itself: case.itself };
        let leaves = Leaves::new(case, nodes, dtype);
        let scorer = leaves.scorer(case, &batch);
        let mass = ops::log_mass(&scorer, None, tau, all).expect("valid");
        let expected = Leaves::new(case, nodes, dtype);
        let log_p = expected.written_out(case, &pairs);
        let dense = ops::segment_logsumexp(&pairs, &(log_p.clone() * (1.0 / tau))).expect("valid");
        assert_close(&format!("{case:?}"), &values(&mass), &values(&dense), 1e-12);

        let limits = vec![5; nodes];
        let top = ops::top_candidates(&scorer, None, &limits, all).expect("valid");
        let scores = values(&log_p);
        for i in 0..nodes {
            let mut row: Vec<(f64, u32)> =
                pairs.range(i).map(|at| (-scores[at], pairs.indices()[at])).collect();
            row.sort_by(|x, y| x.partial_cmp(y).expect("finite"));
            let mut best: Vec<u32> = row.iter().take(5).map(|entry| entry.1).collect();
            best.sort_unstable();
            assert_eq!(top.row(i), best, "{case:?}, row {i}");
        }

        let weight = || upstream(nodes, dtype);
        let found = leaves.gradients(case, (mass * weight()).sum());
        let expected = expected.gradients(case, (dense * weight()).sum());
        for ((name, found), (_, expected)) in found.iter().zip(&expected) {
            assert_close(&format!("{case:?}: {name}"), found, expected, 1e-12);
        }
    }
}

#[test]
fn sums_are_those_of_all_pairs() {
    let batch = Batch::of_sizes([3, 1, 0, 70]);
    let case = CASES[4];
    let leaves = Leaves::new(case, batch.nodes(), DType::F64);
    let layers = leaves.layers(0, case.before);
    let sums = ops::pair_sums(&leaves.a, &leaves.b, layers.as_ref(), &batch).expect("valid");
    let pairs = all_pairs(case, &batch);
    let (receiver, sender) = (leaves.a.clone(), leaves.b.clone());
    let network = PairNetwork { receiver, sender, scalar: None, slope: SLOPE };
    let c = leaves.through(ops::pair_embeddings(&pairs, &network).expect("valid"), 0, case.before);
    let c = values(&c);
    let mut expected = vec![0.0; batch.nodes() * WIDTH];
    for ((i, j), c) in pairs.iter().zip(c.chunks_exact(WIDTH)) {
        for v in [i, j] {
            let sums = &mut expected[v as usize * WIDTH..][..WIDTH];
            sums.iter_mut().zip(c).for_each(|(sum, c)| *sum += c);
        }
    }
    assert_close("sums", &values(&sums), &expected, 1e-12);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let batch = Batch::of_sizes([300, 20, 41]);
    let case = CASES[3];
    let run = || {
        let leaves = Leaves::new(case, batch.nodes(), DType::F32);
        let scorer = leaves.scorer(case, &batch);
        let all = AllPairs { batch: &batch, itself: case.itself };
        let mass = ops::log_mass(&scorer, None, 1.0, all).expect("valid");
        let loss = (mass.clone() * upstream(batch.nodes(), DType::F32)).sum();
        (values(&mass), leaves.gradients(case, loss))
    };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(run)
    };
    let one = with(1);
    for threads in [2, 4] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let batch = Batch::single(6);
    let case = CASES[3];
    let leaves = Leaves::new(case, 6, DType::F64);
    let StreamScorer::Deep(good) = leaves.scorer(case, &batch) else { panic!("deep") };
    let refused = |change: &dyn Fn(&mut DeepPairs)| {
        let mut pairs = good.clone();
        change(&mut pairs);
        let error = ops::log_mass(&StreamScorer::Deep(pairs), None, 1.0, &batch).unwrap_err();
        assert!(matches!(error, Error::Shape { .. }), "{error}");
    };
    let short = leaf([5, WIDTH], 0, 1.0, DType::F64);
    refused(&|pairs| pairs.b = short.clone());
    refused(&|pairs| pairs.w = leaf([WIDTH + 1], 0, 1.0, DType::F64));
    refused(&|pairs| pairs.before = 4);
    refused(&|pairs| pairs.messages.as_mut().expect("messages").own = short.clone());
    refused(&|pairs| {
        pairs.layers = leaves
            .layers(0, 2)
            .map(|l| PairLayers { weights: leaf([3, WIDTH, WIDTH], 0, 1.0, DType::F64), ..l })
    });
    assert!(ops::pair_sums(&leaves.a, &short, None, &batch).is_err());
}
