//! Weights that others trained.

use super::{SceneNorm, SocialStgcnn};
use crate::{Error, Result};
use adjoin::Linear;
use burn::{
    module::{Param, RunningState},
    tensor::{DType, Device, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors};
use std::path::Path;

/// Puts the weights of the authors' PyTorch network, saved as safetensors under their own names, into
/// a network of the same size. The network takes the element type of the file.
///
/// # Errors
/// If the file cannot be read, or a tensor is missing or has another size.
pub fn load_published(network: &SocialStgcnn, path: &Path) -> Result<SocialStgcnn> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| Error::Format {
        path: path.into(),
        what: format!("not a whole safetensors file: {error}"),
    })?;
    let reader = Reader { file, path, device: network.slope.val().device() };
    let mut network = network.clone();
    reader.linear(&mut network.spatial, "st_gcns.0.gcn.conv")?;
    reader.norm(&mut network.spatial_norm, "st_gcns.0.tcn.0")?;
    reader.fill(&mut network.spatial_slope, "st_gcns.0.tcn.1.weight")?;
    reader.fill(&mut network.temporal, "st_gcns.0.tcn.2.weight")?;
    reader.fill(&mut network.temporal_bias, "st_gcns.0.tcn.2.bias")?;
    reader.norm(&mut network.temporal_norm, "st_gcns.0.tcn.3")?;
    reader.linear(&mut network.residual, "st_gcns.0.residual.0")?;
    reader.norm(&mut network.residual_norm, "st_gcns.0.residual.1")?;
    reader.fill(&mut network.slope, "st_gcns.0.prelu.weight")?;
    for (at, layer) in network.extrapolators.iter_mut().enumerate() {
        reader.fill(&mut layer.kernel, &format!("tpcnns.{at}.weight"))?;
        reader.fill(&mut layer.bias, &format!("tpcnns.{at}.bias"))?;
    }
    for (at, slope) in network.slopes.iter_mut().enumerate() {
        reader.fill(slope, &format!("prelus.{at}.weight"))?;
    }
    // Their spelling.
    reader.fill(&mut network.output.kernel, "tpcnn_ouput.weight")?;
    reader.fill(&mut network.output.bias, "tpcnn_ouput.bias")?;
    Ok(network)
}

struct Reader<'a> {
    file: SafeTensors<'a>,
    path: &'a Path,
    device: Device,
}

impl Reader<'_> {
    fn tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Result<Tensor<D>> {
        let wrong = |what: String| Error::Format { path: self.path.into(), what };
        let view = self.file.tensor(name).map_err(|error| wrong(format!("{name}: {error}")))?;
        let count: usize = shape.iter().product();
        let (size, dtype) = match view.dtype() {
            Dtype::F32 => (4, DType::F32),
            Dtype::F64 => (8, DType::F64),
            other => return Err(wrong(format!("{name} is of type {other:?}, not F32 or F64"))),
        };
        if view.data().len() != size * count {
            return Err(wrong(format!("{name} has shape {:?}, not {shape:?}", view.shape())));
        }
        let data = TensorData::from_bytes_vec(view.data().to_vec(), shape, dtype);
        Ok(Tensor::from_data(data, (&self.device, dtype)))
    }

    fn fill<const D: usize>(&self, param: &mut Param<Tensor<D>>, name: &str) -> Result<()> {
        *param = Param::from_tensor(self.tensor(name, param.val().dims())?);
        Ok(())
    }

    /// A convolution of width 1: its kernel is the transposed matrix.
    fn linear(&self, linear: &mut Linear, prefix: &str) -> Result<()> {
        let [inputs, outputs] = linear.weight.val().dims();
        let weight = self.tensor(&format!("{prefix}.weight"), [outputs, inputs])?;
        linear.weight = Param::from_tensor(weight.transpose());
        linear.bias.as_mut().map_or(Ok(()), |bias| self.fill(bias, &format!("{prefix}.bias")))
    }

    fn norm(&self, norm: &mut SceneNorm, prefix: &str) -> Result<()> {
        self.fill(&mut norm.scale, &format!("{prefix}.weight"))?;
        self.fill(&mut norm.shift, &format!("{prefix}.bias"))?;
        let shape = norm.scale.val().dims();
        let running = |name: &str| self.tensor(&format!("{prefix}.{name}"), shape);
        norm.running_mean = RunningState::new(running("running_mean")?);
        norm.running_variance = RunningState::new(running("running_var")?);
        Ok(())
    }
}
