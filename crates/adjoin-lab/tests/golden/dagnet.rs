//! DAG-Net against PyTorch: `golden/dagnet.py` runs it step by step, here losses see all steps at once.

use crate::file::Golden;
use adjoin::{
    Adjacency, Batch, Csr, Key,
    nets::dagnet::{DagNet, DagNetConfig, Losses, Moments},
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Device, Gradients, Int, Tensor, TensorData},
};

fn size(golden: &Golden, name: &str) -> usize {
    golden.get(name)[0] as usize
}

fn integers(golden: &Golden, name: &str) -> Vec<u32> {
    golden.get(name).iter().map(|&v| v as u32).collect()
}

fn network(golden: &Golden, faithful: bool) -> DagNet {
    let config = DagNetConfig {
        width: size(golden, "width"),
        latent: size(golden, "latent"),
        heads: size(golden, "heads"),
        head_width: size(golden, "head_width"),
        faithful,
        ..DagNetConfig::default()
    };
    let device = Device::flex().autodiff();
    let (cells, agents) = (size(golden, "cells"), size(golden, "most_agents"));
    let network = config.init(cells, agents, None, Key::new(1), &device).unwrap();
    network.map(&mut Fill { golden, path: Vec::new() })
}

fn moments(golden: &Golden, weights: &Tensor<1>) -> Moments {
    let (agents, moments) = (size(golden, "agents"), size(golden, "moments"));
    let (pointers, indices) = (integers(golden, "pointers"), integers(golden, "indices"));
    let part = |from: usize, to: usize| {
        let [first, last] = [from, to].map(|moment| pointers[moment * agents]);
        let rows = &pointers[from * agents..=to * agents];
        let indices = &indices[first as usize..last as usize];
        let shifted = indices.iter().map(|&j| j - (from * agents) as u32).collect();
        let rows = rows.iter().map(|&p| p - first).collect();
        let topology = Csr::new((to - from) * agents, rows, shifted).unwrap();
        assert!(topology.split(&Batch::of_sizes(vec![agents; to - from])).is_ok());
        let weights = weights.clone().slice(first as usize..last as usize);
        Adjacency::new(topology, weights).unwrap()
    };
    let cells = |name: &str| -> Tensor<1, Int> {
        let cells: Vec<i64> = integers(golden, name).into_iter().map(i64::from).collect();
        let count = cells.len();
        Tensor::from_data(TensorData::new(cells, [count]), &Device::flex())
    };
    Moments {
        steps: golden.tensor("steps"),
        seen: golden.tensor("steps"),
        places: golden.tensor("places"),
        goals_before: cells("goals_before"),
        goals: cells("goals"),
        goal_graph: part(0, moments - 1),
        state_graphs: (1..moments).map(|moment| part(moment, moment + 1)).collect(),
        encoded: None,
        noise: Some(golden.tensor("noise")),
    }
}

struct Fill<'a> {
    golden: &'a Golden,
    path: Vec<String>,
}

impl ModuleMapper for Fill<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let value = self.golden.tensor::<D>(&format!("model.{}", self.path.join(".")));
        assert_eq!(value.dims(), param.val().dims(), "{:?}", self.path);
        Param::initialized(param.id, value.require_grad())
    }

    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
}

struct CheckGradients<'a> {
    golden: &'a Golden,
    grads: &'a Gradients,
    path: Vec<String>,
    checked: usize,
}

impl ModuleVisitor for CheckGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = format!("grad.{}", self.path.join("."));
        self.golden.check(&name, &param.val().grad(self.grads).unwrap());
        self.checked += 1;
    }

    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }
}

#[test]
fn distributions_losses_and_gradients_are_those_of_pytorch() {
    let golden = Golden::load("dagnet");
    let network = network(&golden, false);
    let weights = golden.tensor::<1>("weights").require_grad();
    let moments = moments(&golden, &weights);
    let found = network.unroll(&moments).unwrap();
    golden.check("posterior", &found.posterior);
    golden.check("prior", &found.prior);
    golden.check("step", &found.step);
    golden.check("log_goals", &found.goals);
    let [first, second, _] = network.observe(&moments).unwrap();
    golden.check("state.0", &first);
    golden.check("state.1", &second);

    let agents = size(&golden, "agents");
    let losses = Losses::new(&found, &moments.steps, &moments.goals, &vec![true; agents], false);
    golden.check("likelihood", &losses.likelihood);
    golden.check("divergence", &losses.divergence);
    golden.check("cross_entropy", &losses.goals);
    let total = losses.total(0.7, 1.3);
    golden.check("total", &total);
    let grads = total.backward();
    golden.check("grad.weights", &weights.grad(&grads).unwrap());
    let mut check = CheckGradients { golden: &golden, grads: &grads, path: Vec::new(), checked: 0 };
    network.visit(&mut check);
    assert_eq!(check.checked, golden.names().filter(|name| name.starts_with("model.")).count());
}

#[test]
fn the_faithful_form_is_that_of_pytorch() {
    let golden = Golden::load("dagnet");
    let network = network(&golden, true);
    let moments = moments(&golden, &golden.tensor("weights"));
    let found = network.unroll(&moments).unwrap();
    let losses = Losses::new(
        &found,
        &moments.steps,
        &moments.goals,
        &vec![true; size(&golden, "agents")],
        true,
    );
    golden.check("faithful.cross_entropy", &losses.goals);
    golden.check("faithful.total", &losses.total(0.7, 1.3));
}
