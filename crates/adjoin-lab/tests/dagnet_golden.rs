//! DAG-Net against PyTorch: `golden/dagnet.py` runs it step by step, here losses see all steps at once.

use adjoin::{Adjacency, Batch, Csr, Key};
use adjoin_lab::trajectory::dagnet::{DagNet, DagNetConfig, Losses, Moments};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Device, Gradients, Int, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors};
use std::{collections::HashMap, path::Path};

struct Golden(HashMap<String, (Vec<usize>, Vec<f64>)>);

impl Golden {
    fn load() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/dagnet.safetensors");
        let bytes = std::fs::read(path).unwrap();
        let number = |dtype: Dtype, bytes: &[u8]| match dtype {
            Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
            Dtype::I64 => i64::from_le_bytes(bytes.try_into().unwrap()) as f64,
            other => panic!("{other:?}"),
        };
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.tensors().into_iter().map(|(name, view)| {
            let numbers = view.data().chunks_exact(8).map(|bytes| number(view.dtype(), bytes));
            (name, (view.shape().to_vec(), numbers.collect()))
        });
        Self(tensors.collect())
    }

    fn get(&self, name: &str) -> &(Vec<usize>, Vec<f64>) {
        self.0.get(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    fn size(&self, name: &str) -> usize {
        self.get(name).1[0] as usize
    }

    fn integers(&self, name: &str) -> Vec<u32> {
        self.get(name).1.iter().map(|&v| v as u32).collect()
    }

    fn tensor<const D: usize>(&self, name: &str) -> Tensor<D> {
        let (shape, values) = self.get(name);
        let shape: [usize; D] = shape.as_slice().try_into().unwrap();
        let data = TensorData::new(values.clone(), shape);
        Tensor::from_data(data, (&Device::flex().autodiff(), DType::F64))
    }

    #[track_caller]
    fn check<const D: usize>(&self, name: &str, found: &Tensor<D>) {
        let (shape, expected) = self.get(name);
        assert_eq!(found.dims().as_slice(), shape, "{name}");
        for (at, (a, b)) in found.to_data().iter::<f64>().zip(expected).enumerate() {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{name}[{at}]: {a}, not {b}");
        }
    }

    fn network(&self, faithful: bool) -> DagNet {
        let config = DagNetConfig {
            width: self.size("width"),
            latent: self.size("latent"),
            heads: self.size("heads"),
            head_width: self.size("head_width"),
            faithful,
            ..DagNetConfig::default()
        };
        let device = Device::flex().autodiff();
        let (cells, agents) = (self.size("cells"), self.size("most_agents"));
        let network = config.init(cells, agents, Key::new(1), &device).unwrap();
        network.map(&mut Fill { golden: self, path: Vec::new() })
    }

    fn moments(&self, weights: &Tensor<1>) -> Moments {
        let (agents, moments) = (self.size("agents"), self.size("moments"));
        let (pointers, indices) = (self.integers("pointers"), self.integers("indices"));
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
            let cells: Vec<i64> = self.integers(name).into_iter().map(i64::from).collect();
            let count = cells.len();
            Tensor::from_data(TensorData::new(cells, [count]), &Device::flex())
        };
        Moments {
            steps: self.tensor("steps"),
            places: self.tensor("places"),
            goals_before: cells("goals_before"),
            goals: cells("goals"),
            goal_graph: part(0, moments - 1),
            state_graphs: (1..moments).map(|moment| part(moment, moment + 1)).collect(),
            noise: Some(self.tensor("noise")),
        }
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
    let golden = Golden::load();
    let network = golden.network(false);
    let weights = golden.tensor::<1>("weights").require_grad();
    let moments = golden.moments(&weights);
    let found = network.unroll(&moments).unwrap();
    golden.check("posterior", &found.posterior);
    golden.check("prior", &found.prior);
    golden.check("step", &found.step);
    golden.check("log_goals", &found.goals);
    let [first, second] = network.observe(&moments).unwrap();
    golden.check("state.0", &first);
    golden.check("state.1", &second);

    let agents = golden.size("agents");
    let losses = Losses::new(&found, &moments.steps, &moments.goals, agents, false);
    golden.check("likelihood", &losses.likelihood);
    golden.check("divergence", &losses.divergence);
    golden.check("cross_entropy", &losses.goals);
    let total = losses.total(0.7, 1.3);
    golden.check("total", &total);
    let grads = total.backward();
    golden.check("grad.weights", &weights.grad(&grads).unwrap());
    let mut check = CheckGradients { golden: &golden, grads: &grads, path: Vec::new(), checked: 0 };
    network.visit(&mut check);
    assert_eq!(check.checked, golden.0.keys().filter(|name| name.starts_with("model.")).count());
}

#[test]
fn the_faithful_form_is_that_of_pytorch() {
    let golden = Golden::load();
    let network = golden.network(true);
    let moments = golden.moments(&golden.tensor("weights"));
    let found = network.unroll(&moments).unwrap();
    let losses = Losses::new(&found, &moments.steps, &moments.goals, golden.size("agents"), true);
    golden.check("faithful.cross_entropy", &losses.goals);
    golden.check("faithful.total", &losses.total(0.7, 1.3));
}
