//! A two-layer GCN in Burn, before and after it learns its own neighbourhoods.
use adjoin::conv::{Conv, Gcn, GcnConfig};
use adjoin::{Adjacency, Csr, Dgg, DggConfig, Features, Key, Pass};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, activation::relu};

#[derive(burn::module::Module, Debug)]
struct Net {
    first: Gcn,
    second: Gcn,
    dgg: Option<Dgg>, // added: the generator is a module like any other
}

impl Net {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> adjoin::Result<Tensor<2>> {
        let graph = match &self.dgg {
            None => graph.clone(),
            // added: ask it for a graph, and use that one
            Some(dgg) => dgg.forward(x, graph, pass.child(0))?.adjacency,
        };
        let hidden = relu(self.first.forward(x, &graph, pass.child(1))?);
        self.second.forward(&hidden.into(), &graph, pass.child(2))
    }
}

fn main() -> adjoin::Result<()> {
    let (device, key, n) = (Device::flex().autodiff(), Key::new(7), 400u64);
    // Two groups, even and odd; features say a little, and three edges in ten join the groups.
    let value = |at: u64| key.normal(at) + if at % 8 == at / 8 % 2 { 1.2 } else { 0.0 };
    let other = |e: u64| 2 * key.child(1).below(e, n as usize / 2) as u64;
    let wrong = |e: u64| (key.child(2).uniform(e) < 0.3) as u64;
    let edges = (0..2 * n).map(|e| ((e % n) as u32, (other(e) + (e + wrong(e)) % 2) as u32));
    let topology = Csr::undirected(n as usize, edges, adjoin::SelfLoops::Drop)?;
    let graph = Adjacency::unweighted(topology, &device);
    let x: Vec<f64> = (0..8 * n).map(value).collect();
    let x = Features::from(Tensor::<1>::from_data(&x[..], &device).reshape([-1, 8]));
    let labels: Vec<i64> = (0..n as i64).map(|i| i % 2).collect();
    let train = Tensor::<1, Int>::from_data(&labels[..40], &device);
    let loss = CrossEntropyLossConfig::new().init(&device);
    for learned in [false, true] {
        let layer = |i, o, k| GcnConfig::new(i, o).init(key.child(k), &device);
        let dgg = DggConfig::new(8).init(key.child(5), &device)?;
        let dgg = learned.then_some(dgg);
        let mut net = Net { first: layer(8, 16, 3)?, second: layer(16, 2, 4)?, dgg };
        let mut adam = AdamConfig::new().init();
        for step in 0..100 {
            let logits = net.forward(&x, &graph, Pass::train(1, step))?.slice([0..40, 0..2]);
            let mut grads = loss.forward(logits, train.clone()).backward();
            let grads = GradientsParams::from_module(&mut grads, &net);
            net = adam.step(0.01, net, grads);
        }
        let guess = net.forward(&x, &graph, Pass::evaluate())?.argmax(1).into_data();
        let right = guess.iter::<i64>().zip(&labels).skip(40).filter(|(g, l)| g == *l).count();
        println!("generator {learned}: {:.1} % of the other nodes right", right as f64 / 3.6);
    }
    Ok(())
}
