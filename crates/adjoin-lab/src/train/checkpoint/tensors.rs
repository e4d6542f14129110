//! Modules as named tensors, and back.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::{DType, Tensor, TensorData},
};
use safetensors::Dtype;
use std::collections::{BTreeMap, HashMap};

/// A tensor as it is in the file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

/// Where a visit is in a module, below a prefix. Enums are passed through: a network has its layers by
/// the same names whatever kind it is.
#[derive(Default)]
struct Place {
    prefix: String,
    names: Vec<String>,
}

impl Place {
    fn below(prefix: &str) -> Self {
        Self { prefix: prefix.into(), names: Vec::new() }
    }

    fn enter(&mut self, name: &str, container: &str) {
        if !container.starts_with("Enum:") {
            self.names.push(name.to_string());
        }
    }

    fn exit(&mut self, container: &str) {
        if !container.starts_with("Enum:") {
            self.names.pop();
        }
    }

    /// The path in the module.
    fn path(&self) -> String {
        self.names.join(".")
    }

    /// The name of the tensor in the file.
    fn name(&self) -> String {
        format!("{}.{}", self.prefix, self.path())
    }
}

/// Collects tensors.
#[derive(Default)]
pub(super) struct Writer {
    pub entries: BTreeMap<String, Entry>,
    path: Place,
    ids: Vec<String>,
}

impl Writer {
    /// Adds the weights of a module below a name; gives `path=id` of each parameter.
    pub fn module(&mut self, name: &str, module: &impl Module) -> Vec<String> {
        self.path = Place::below(name);
        self.ids.clear();
        module.visit(self);
        std::mem::take(&mut self.ids)
    }

    pub fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        let entry = Entry { dtype: Dtype::U8, shape: vec![bytes.len()], bytes };
        self.entries.insert(name.into(), entry);
    }

    pub fn floats(&mut self, name: &str, shape: [usize; 2], values: &[f64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let entry = Entry { dtype: Dtype::F64, shape: shape.to_vec(), bytes };
        self.entries.insert(name.into(), entry);
    }
}

impl ModuleVisitor for Writer {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor.to_data().convert::<f32>();
        let bytes = values.iter::<f32>().flat_map(f32::to_le_bytes).collect();
        self.entries.insert(self.path.name(), Entry { dtype: Dtype::F32, shape, bytes });
        self.ids.push(format!("{}={}", self.path.path(), param.id.val()));
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        self.path.exit(container);
    }
}

/// Puts tensors into a module of the same form, with the identities they had: the optimiser knows
/// its moments by them.
pub(super) struct Reader<'a> {
    entries: &'a BTreeMap<String, Entry>,
    ids: HashMap<&'a str, u64>,
    path: Place,
    /// The first tensor that did not fit, and why.
    pub problem: Option<(String, String)>,
}

impl<'a> Reader<'a> {
    pub fn new(entries: &'a BTreeMap<String, Entry>, prefix: &str, ids: &'a str) -> Self {
        let pair = |pair: &'a str| {
            let (path, id) = pair.split_once('=')?;
            Some((path, id.parse().ok()?))
        };
        let ids = ids.split_whitespace().filter_map(pair).collect();
        Self { entries, ids, path: Place::below(prefix), problem: None }
    }

    fn find(&self, shape: &[usize]) -> Result<(ParamId, TensorData), String> {
        let id = self.ids.get(self.path.path().as_str()).ok_or("the parameter has no identity")?;
        let entry = self.entries.get(&self.path.name()).ok_or("no such tensor")?;
        if entry.dtype != Dtype::F32 || entry.shape != shape {
            return Err(format!(
                "{:?} {:?} in the file, F32 {shape:?} in the model",
                entry.dtype, entry.shape
            ));
        }
        let data = TensorData::from_bytes_vec(entry.bytes.clone(), entry.shape.clone(), DType::F32);
        Ok((ParamId::from(*id), data))
    }
}

impl ModuleMapper for Reader<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        match self.find(&old.dims()) {
            Ok((id, data)) => {
                let tensor = Tensor::<D>::from_data(data, &old.device());
                let tensor = tensor.set_require_grad(old.is_require_grad());
                let (_, _, mapper) = param.consume();
                Param::from_mapped_value(id, tensor, mapper)
            }
            Err(what) => {
                let name = self.path.name();
                self.problem.get_or_insert((name, what));
                param
            }
        }
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        self.path.exit(container);
    }
}
