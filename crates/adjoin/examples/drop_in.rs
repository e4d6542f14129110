//! A two-layer GCN in Burn, before and after it learns its own neighbourhoods.
use adjoin::{Adjacency, Batch, Csr, DggConfig, Features, GraphInput, Key, Learner, Pass, SelfLoops};
use adjoin::{Dgg, conv::{Conv, Gcn, GcnConfig}};
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::tensor::{Device, Int, Tensor, activation::relu};

#[derive(Module, Debug)]
struct Net {
    first: Gcn,
    second: Gcn,
    dgg: Option<Dgg>, // <- added: the generator is a module like any other
}

impl Net {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> adjoin::Result<Tensor<2>> {
        let graph = match &self.dgg {
            None => graph.clone(),
            Some(dgg) => { // <- added: ask it for a graph and use that one
                let batch = Batch::single(x.nodes());
                dgg.learn(&GraphInput::new(x, Some(graph), &batch), pass.child(0))?.adjacency
            }
        };
        let hidden = relu(self.first.forward(x, &graph, pass.child(1))?);
        self.second.forward(&hidden.into(), &graph, pass.child(2))
    }
}

fn main() -> adjoin::Result<()> {
    let (device, key, n) = (Device::flex().autodiff(), Key::new(7), 200usize);
    // Two groups; features say little about the group, and two edges in five lead astray.
    let group = |i: usize| i % 2;
    let noisy = |i: usize, c: usize| key.normal((8 * i + c) as u64) + 0.7 * (c == group(i)) as u8 as f64;
    let x: Vec<f64> = (0..8 * n).map(|at| noisy(at / 8, at % 8)).collect();
    let edges = (0..4 * n).map(|e| {
        let (i, far) = (e % n, key.child(1).below(e as u64, n / 2));
        let wrong = key.child(2).uniform(e as u64) < 0.4;
        (i as u32, (2 * far + if wrong { 1 - group(i) } else { group(i) }) as u32)
    });
    let topology = Csr::undirected(n, edges, SelfLoops::Drop)?;
    let graph = Adjacency::unweighted(topology, &device);
    let x = Features::from(Tensor::<1>::from_data(&x[..], &device).reshape([n, 8]));
    let labels: Vec<i64> = (0..n).map(|i| group(i) as i64).collect();
    let train = Tensor::<1, Int>::from_data(&labels[..40], &device);
    let loss = CrossEntropyLossConfig::new().init(&device);
    for learned in [false, true] {
        let dgg = DggConfig::default().init(8, key.child(5), &device)?;
        let layer = |i, o, k| GcnConfig::new(i, o).init(key.child(k), &device);
        let mut net = Net { first: layer(8, 16, 3), second: layer(16, 2, 4), dgg: learned.then_some(dgg) };
        let mut adam = AdamConfig::new().init();
        for step in 0..100 {
            let logits = net.forward(&x, &graph, Pass::train(1, step))?.slice([0..40, 0..2]);
            let mut grads = loss.forward(logits, train.clone()).backward();
            let grads = GradientsParams::from_module(&mut grads, &net);
            net = adam.step(0.01, net, grads);
        }
        let guess = net.forward(&x, &graph, Pass::evaluate())?.argmax(1).into_data();
        let right = guess.iter::<i64>().zip(&labels).skip(40).filter(|(g, l)| g == *l).count();
        println!("generator: {learned:5}, test accuracy {:.1} %", right as f64 / 1.6);
    }
    Ok(())
}
