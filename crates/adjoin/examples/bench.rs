//! One case of the comparison with PyTorch: `bench CASE [--n N]` prints a JSON line.
//!
//! `bench/compare.py` runs this beside the references; `bench/README.md` says what both share.
use adjoin::{
    Adjacency, Batch, CandidateRule, Csr, DggConfig, Features, GraphInput, GraphLearner, Key,
    Metric, Pass, Prepared, SelfLoops, SparseFeatures,
    conv::{Backbone, BackboneConfig, BackboneKind, Conv},
    dgg::{
        DegreeConfig, DegreeRule, EncoderConfig, SampleConfig, SampleForm, Score, ScorerConfig,
        SelfLoopRule,
    },
    kernels::knn,
    ops,
};
use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams, decay::WeightDecayConfig},
    tensor::{Device, Int, Tensor, TensorData, activation::log_softmax},
};
use std::{error::Error, time::Instant};

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let case = arguments.first().ok_or("which case? see bench/README.md")?.clone();
    let n = match arguments.iter().position(|a| a == "--n") {
        Some(at) => arguments.get(at + 1).ok_or("--n needs a number")?.parse()?,
        None => 2708,
    };
    keep_pages();
    // Inside the pool: a call from outside would wake a worker and sleep for every operation.
    rayon::ThreadPoolBuilder::new()
        .build()?
        .install(|| measure(&case, n).map_err(|e| e.to_string()))?;
    Ok(())
}

fn measure(case: &str, n: usize) -> Outcome<()> {
    let mut step = prepare(case, n)?;
    reset_peak();
    let before = memory("VmRSS:");
    let mut times = Vec::new();
    let started = Instant::now();
    // At least three steps, the first of which only warms up; then for about two seconds.
    while times.len() < 3 || (started.elapsed().as_secs_f64() < 2.0 && times.len() < 2000) {
        let at = Instant::now();
        step(times.len() as u64)?;
        times.push(at.elapsed().as_secs_f64());
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    let seconds = times[times.len() / 2];
    let peak_bytes = memory("VmHWM:").saturating_sub(before);
    println!("{}", serde_json::json!({"case": case, "seconds": seconds, "peak_bytes": peak_bytes}));
    Ok(())
}

type Step = Box<dyn FnMut(u64) -> Outcome<()>>;

fn prepare(case: &str, n: usize) -> Outcome<Step> {
    match case {
        "gcn" => training(BackboneKind::Gcn, None),
        "sage" => training(BackboneKind::Sage, None),
        "gat" => training(BackboneKind::Gat, None),
        "gcnii64" => training(BackboneKind::Gcnii, None),
        "gcn_dgg" => training(BackboneKind::Gcn, Some(on_input_edges())),
        "dense_distance" => complete(n, Score::Distance),
        "dense_mlp" => complete(n, Score::Mlp),
        "edgeconv" => edgeconv(),
        other => match other.strip_prefix("knn_").and_then(|rest| rest.split_once('_')) {
            Some((points, width)) => nearest(points.parse()?, width.parse()?),
            None => Err(format!("no case {other}").into()),
        },
    }
}

/// The generator of the authors' code: pair network on input edges and self-loops, no noise.
fn on_input_edges() -> DggConfig {
    DggConfig {
        scorer: ScorerConfig { kind: Score::Mlp, ..ScorerConfig::default() },
        sample: SampleConfig { noise: 0.0, ..SampleConfig::default() },
        degree: DegreeConfig { stochastic: false, ..DegreeConfig::default() },
        self_loops: SelfLoopRule::Ranked,
        ..DggConfig::default()
    }
}

#[derive(Module, Debug)]
struct Model {
    backbone: Backbone,
    learner: Option<adjoin::Dgg>,
}

/// Forward, cross-entropy of 140 nodes, backward, Adam with weight decay, on Cora.
fn training(kind: BackboneKind, learner: Option<DggConfig>) -> Outcome<Step> {
    let device = Device::flex();
    let tracked = device.clone().autodiff();
    let (features, graph, labels) = cora(&device)?;
    let mut config = BackboneConfig::of_kind(kind);
    if learner.is_some() {
        config.hidden = 64;
    }
    let key = Key::new(1);
    let learner =
        learner.map(|c| c.clone().with_inputs(1433).init(key.child(2), &tracked)).transpose()?;
    let backbone = config.with_widths(1433, 7).init(key.child(1), &tracked)?;
    let mut model = Some(Model { backbone, learner });
    let decay = WeightDecayConfig::new(5e-4);
    let mut adam = AdamConfig::new().with_weight_decay(Some(decay)).init();
    let batch = Batch::single(features.nodes());
    let mut prepared = Prepared::default();
    if let Some(Model { learner: Some(dgg), .. }) = &model {
        prepared = dgg.prepare(&GraphInput::new(&features, Some(&graph), &batch))?;
    }
    Ok(Box::new(move |at| {
        let current = model.take().ok_or("a failed step cannot be repeated")?;
        let pass = Pass::train(1, at);
        let graph = match &current.learner {
            None => graph.clone(),
            Some(dgg) => {
                let input = GraphInput::new(&features, Some(&graph), &batch);
                dgg.learn(&input.with_prepared(&prepared), pass.child(1))?.adjacency
            }
        };
        let logits = current.backbone.forward(&features, &graph, pass)?;
        let rows = log_softmax(logits.slice([0..140, 0..7]), 1);
        let loss = rows.gather(1, labels.clone()).mean().neg();
        let mut grads = loss.backward();
        let grads = GradientsParams::from_module(&mut grads, &current);
        model = Some(adam.step(0.01, current, grads));
        Ok(())
    }))
}

fn cora(device: &Device) -> Outcome<(Features, Adjacency, Tensor<2, Int>)> {
    let data = adjoin_data::cora()?;
    let adjoin_data::Features::Sparse { columns, pointers, indices, values, .. } = data.features
    else {
        return Err("Cora's features are sparse".into());
    };
    let topology = Csr::new(columns, pointers, indices)?;
    let features = SparseFeatures::new(topology, &values, device)?.row_normalised()?;
    let graph = Csr::undirected(data.labels.len(), data.edges, SelfLoops::Drop)?;
    let labels: Vec<i64> = data.labels[..140].iter().map(|&l| i64::from(l)).collect();
    let labels = Tensor::from_data(TensorData::new(labels, [140, 1]), device);
    Ok((features.into(), Adjacency::unweighted(graph, device), labels))
}

/// The generator on all pairs of n nodes, forward and backward.
fn complete(n: usize, kind: Score) -> Outcome<Step> {
    let device = Device::flex().autodiff();
    let key = Key::new(1);
    let config = DggConfig {
        candidates: CandidateRule::Complete,
        encoder: EncoderConfig { dropout: 0.0, ..EncoderConfig::default() },
        scorer: ScorerConfig { kind, ..ScorerConfig::default() },
        sample: SampleConfig { form: SampleForm::Softmax, noise: 1.0, ..SampleConfig::default() },
        degree: DegreeConfig { rule: DegreeRule::Literal, ..DegreeConfig::default() },
        ..DggConfig::default()
    };
    let dgg = config.clone().with_inputs(64).init(key, &device)?;
    let x = Features::from(normal([n, 64], key.child(9), &device));
    let batch = Batch::single(n);
    Ok(Box::new(move |at| {
        let learned = dgg.learn(&GraphInput::new(&x, None, &batch), Pass::train(1, at))?;
        let latent = learned.latent.ok_or("the generator gives latent features")?;
        let y = learned.adjacency.aggregate(&latent)?;
        std::hint::black_box(y.square().mean_dim(1).mean().backward());
        Ok(())
    }))
}

/// EdgeConv with training-mode batch norm on 8 clouds of 1024 points, 20 neighbours, 64 channels.
fn edgeconv() -> Outcome<Step> {
    let device = Device::flex().autodiff();
    let key = Key::new(1);
    let batch = Batch::of_sizes([1024; 8]);
    let points = normal([batch.nodes(), 64], key, &device);
    let rule = CandidateRule::Nearest { k: 20, metric: Metric::Euclidean };
    let neighbours = ops::candidates(&rule, None, Some(&points), &batch)?.to_pairs(usize::MAX)?;
    let x = points.detach().require_grad();
    let weight = |child| (normal([64, 64], key.child(child), &device) * 0.1).require_grad();
    let (theta, phi) = (weight(1), weight(2));
    let scale = normal([1, 64], key.child(3), &device).reshape([64]).detach().require_grad();
    let shift = Tensor::<1>::zeros([64], &device).require_grad();
    Ok(Box::new(move |_| {
        let p = x.clone().matmul(theta.clone());
        let q = x.clone().matmul(phi.clone() - theta.clone());
        let (y, _, _) = ops::edgeconv(&neighbours, &p, &q, &scale, &shift, 0.2, 1e-5)?;
        std::hint::black_box(y.square().mean_dim(1).mean().backward());
        Ok(())
    }))
}

/// Exact nearest neighbours, each point among its own.
fn nearest(n: usize, width: usize) -> Outcome<Step> {
    let key = Key::new(1);
    let points: Vec<f32> = (0..(n * width) as u64).map(|at| key.normal(at) as f32).collect();
    let batch = Batch::single(n);
    Ok(Box::new(move |_| {
        let found = knn::nearest(&points, width, 20, Metric::Euclidean, true, &batch)?;
        std::hint::black_box(found);
        Ok(())
    }))
}

fn normal(shape: [usize; 2], key: Key, device: &Device) -> Tensor<2> {
    let values = (0..(shape[0] * shape[1]) as u64).map(|at| key.normal(at) as f32).collect();
    Tensor::from_data(TensorData::new::<f32, _>(values, shape), device)
}

fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().map_or(0, |kb| kb * 1024)
}

/// Tells the allocator to keep what is freed: tensors come and go in every step, and giving their
/// pages back to the system each time costs as much as the arithmetic. A program of yours can do the
/// same, or use an allocator that keeps pages by itself, as the `adjoin` command does.
#[allow(unsafe_code)] // one call into the C library, before any other thread exists
fn keep_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
    }
}

/// Starts the peak anew where the system allows it, so that preparation does not count.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
