//! The generator stage by stage with given noise, and as a whole without.

use crate::file::{Golden, Leaf, both, numbers_of};
use adjoin::{
    Adjacency, Batch, Csr, Dgg, DggConfig, GraphInput, GraphLearner, Key, Linear, Pass,
    dgg::{DegreeConfig, DegreeRule, EncoderConfig, SampleConfig, SampleForm},
    kernels::{pairs::Similarity, selector::Step},
    ops,
};
use burn::tensor::{
    Device, Tensor,
    activation::{leaky_relu, relu, softplus},
};

const SAMPLES: [(&str, SampleForm); 2] =
    [("exp", SampleForm::Exp), ("softmax", SampleForm::Softmax)];
const NAMES: [&str; 10] = ["x", "W", "b", "t", "M", "bm", "S", "bs", "d", "d0"];

struct Leaves {
    matrices: Vec<(&'static str, Tensor<2>)>,
    vectors: Vec<(&'static str, Tensor<1>)>,
}

impl Leaves {
    fn new(file: &Golden) -> Self {
        let (matrices, vectors): (Vec<&str>, _) =
            NAMES.iter().partition(|name| ["x", "W", "M", "S"].contains(name));
        Self {
            matrices: matrices.into_iter().map(|name| (name, file.leaf(name))).collect(),
            vectors: vectors.into_iter().map(|name| (name, file.leaf(name))).collect(),
        }
    }

    fn matrix(&self, name: &str) -> Tensor<2> {
        self.matrices.iter().find(|(n, _)| *n == name).expect("a matrix").1.clone()
    }

    fn vector(&self, name: &str) -> Tensor<1> {
        self.vectors.iter().find(|(n, _)| *n == name).expect("a vector").1.clone()
    }

    fn affine(&self, x: Tensor<2>, weight: &str, bias: &str) -> Tensor<2> {
        x.matmul(self.matrix(weight)) + self.vector(bias).unsqueeze()
    }

    fn all(&self) -> Vec<(&str, &dyn Leaf)> {
        let matrices = self.matrices.iter().map(|(name, leaf)| (*name, leaf as &dyn Leaf));
        matrices.chain(self.vectors.iter().map(|(name, leaf)| (*name, leaf as &dyn Leaf))).collect()
    }
}

/// All stages up to the ranked graph, each compared with the file.
fn stages(file: &Golden, leaves: &Leaves, pairs: &Csr, sample: &str, rule: &str) -> Adjacency {
    let latent = leaky_relu(leaves.affine(leaves.matrix("x"), "W", "b"), 0.01);
    file.check("latent", &latent);
    let distance = ops::pair_similarity(pairs, Similarity::Distance, &latent).unwrap();
    let log_p = distance.neg() * softplus(leaves.vector("t"), 1.0);
    file.check("logp", &log_p);
    let perturbed = log_p + file.constant("gumbel") * file.scalar("noise_scale");
    file.check("logit", &perturbed);
    let e = match sample {
        "exp" => perturbed.exp(),
        _ => {
            let scaled = perturbed / file.scalar("tau");
            let log_mass = ops::segment_logsumexp(pairs, &scaled).unwrap();
            (scaled - ops::broadcast_rows(pairs, &log_mass).unwrap()).exp()
        }
    };
    file.check(&format!("{sample}.e"), &e);
    let norm = ops::segment_sum(pairs, &e).unwrap();
    file.check(&format!("{sample}.norm"), &norm);
    let mu = leaves.affine(latent.clone(), "M", "bm");
    let log_variance = leaves.affine(latent, "S", "bs");
    file.check("mu", &mu);
    file.check("logvar", &log_variance);
    let z = mu + file.constant("eps") * (log_variance * 0.5).exp();
    file.check("z", &z);
    let decoded = z.matmul(leaves.vector("d").unsqueeze_dim(1)).squeeze_dim(1);
    let decoded = decoded + leaves.vector("d0");
    file.check("D", &decoded);
    let k = match rule {
        "literal" => softplus(decoded + norm - 1.0, 1.0) + 1.0,
        "relative" => relu(decoded * file.scalar("degree_std") + file.constant("degree")) + 1.0,
        _ => decoded.full_like(file.scalar("fixed_k")),
    };
    file.check(&format!("{sample}.{rule}.k"), &k);
    let step = Step { lambda: file.scalar("lambda"), shift: 0.5, hard: false };
    let (graph, entries) = crate::common::selected(ops::select(pairs, &e, &k, step));
    // Rows here are short: every candidate is within reach, so nothing is left out.
    assert_eq!(entries.len(), pairs.edges());
    file.check(&format!("{sample}.{rule}.ranked"), graph.weights());
    graph
}

#[test]
fn stage_by_stage_with_given_noise() {
    for name in ["generator", "generator_eval"] {
        both(name, |file| {
            let pairs = file.csr("", 9);
            for (sample, _) in SAMPLES {
                for rule in ["literal", "relative", "fixed"] {
                    for form in ["adjacency", "symmetric"] {
                        let leaves = Leaves::new(file);
                        let graph = stages(file, &leaves, &pairs, sample, rule);
                        let graph = match form {
                            "symmetric" => graph.symmetrised().unwrap(),
                            _ => graph,
                        };
                        let graph = graph.with_self_loops().unwrap();
                        assert_eq!(graph.topology(), &file.csr(&format!("{form}."), 9));
                        let case = format!("{sample}.{rule}.{form}.");
                        file.check(&format!("{case}out"), graph.weights());
                        let probe = file.constant(&format!("{form}.probe"));
                        let grads = (graph.weights().clone() * probe).sum().backward();
                        file.check_grads(&case, &grads, &leaves.all());
                    }
                }
            }
        });
    }
}

fn generator(file: &Golden, form: SampleForm, rule: DegreeRule, symmetric: bool) -> Dgg {
    let config = DggConfig {
        encoder: EncoderConfig { width: 5, ..EncoderConfig::default() },
        sample: SampleConfig { form, tau: file.scalar("tau"), ..SampleConfig::default() },
        degree: DegreeConfig { rule, ..DegreeConfig::default() },
        symmetric,
        ..DggConfig::default()
    };
    let mut dgg =
        config.clone().with_inputs(6).init(Key::new(1), &Device::flex().autodiff()).unwrap();
    let linear = |weight, bias| Linear { weight: file.param(weight), bias: Some(file.param(bias)) };
    dgg.encoder.first = linear("W", "b");
    dgg.scorer.scale = Some(file.param("t"));
    if dgg.degree.mean.is_some() {
        dgg.degree.mean = Some(linear("M", "bm"));
        dgg.degree.log_variance = Some(linear("S", "bs"));
        let weight = file.tensor(file.numbers("d"), [8, 1]);
        let weight = burn::module::Param::from_tensor(weight);
        dgg.degree.decoder = Some(Linear { weight, bias: Some(file.param("d0")) });
    }
    dgg
}

#[test]
fn the_module_in_evaluation() {
    both("generator_eval", |file| {
        let fixed = DegreeRule::Fixed(file.scalar("fixed_k"));
        let rules = [
            ("literal", DegreeRule::Literal),
            ("relative", DegreeRule::Relative),
            ("fixed", fixed),
        ];
        let (topology, batch) = (file.csr("", 9), Batch::single(9));
        let ones = file.tensor(&vec![1.0; topology.edges()], [topology.edges()]);
        let input_graph = Adjacency::new(topology.clone(), ones).unwrap();
        for (sample, form) in SAMPLES {
            for (name, rule) in rules {
                for symmetric in [false, true] {
                    let dgg = generator(file, form, rule, symmetric);
                    let x = file.leaf::<2>("x");
                    let features = x.clone().into();
                    let input = GraphInput::new(&features, Some(&input_graph), &batch);
                    let learned = dgg.learn(&input, Pass::evaluate()).unwrap();
                    file.check(&format!("{sample}.{name}.k"), learned.degrees.as_ref().unwrap());
                    file.check("latent", learned.latent.as_ref().unwrap());
                    let scores = learned.scores.as_ref().unwrap();
                    assert_eq!(scores.pairs, topology);
                    file.check("logp", &scores.log_scores);
                    let graph = learned.adjacency.with_self_loops().unwrap();
                    let form = if symmetric { "symmetric" } else { "adjacency" };
                    let case = format!("{sample}.{name}.{form}.");
                    file.check(&format!("{case}out"), graph.weights());
                    let probe = file.constant(&format!("{form}.probe"));
                    let grads = (graph.weights().clone() * probe).sum().backward();
                    let first = &dgg.encoder.first;
                    let mut inputs: Vec<(&str, &dyn Leaf)> = vec![("x", &x), ("W", &first.weight)];
                    inputs.push(("b", first.bias.as_ref().unwrap()));
                    inputs.push(("t", dgg.scorer.scale.as_ref().unwrap()));
                    if let (Some(mean), Some(decoder)) = (&dgg.degree.mean, &dgg.degree.decoder) {
                        inputs.push(("M", &mean.weight));
                        inputs.push(("bm", mean.bias.as_ref().unwrap()));
                        inputs.push(("d", &decoder.weight));
                        inputs.push(("d0", decoder.bias.as_ref().unwrap()));
                    }
                    file.check_grads(&case, &grads, &inputs);
                    assert_eq!(numbers_of(graph.weights()).len(), graph.topology().edges());
                }
            }
        }
    });
}
