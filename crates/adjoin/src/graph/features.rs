//! Node features, dense or sparse.

use crate::{
    Error, Result,
    ops::{self, identity},
    pass::Pass,
    topology::Csr,
};
use burn::tensor::{DType, Device, Tensor, TensorData};

/// Features of nodes that are mostly zero (bags of words): never densified.
#[derive(Clone, Debug)]
pub struct SparseFeatures {
    topology: Csr,
    values: Tensor<1>,
}

impl SparseFeatures {
    /// Row i of `topology` lists the features that node i has, `values` how much of each.
    ///
    /// # Errors
    /// If the number of values is not the number of entries, or a value is not finite.
    pub fn new(topology: Csr, values: &[f32], device: &Device) -> Result<Self> {
        if values.len() != topology.edges() {
            return Err(Error::shape("sparse features", topology.edges(), values.len()));
        }
        if let Some(entry) = values.iter().position(|v| !v.is_finite()) {
            let row = topology.pointers().partition_point(|&p| p as usize <= entry) - 1;
            return Err(Error::NotFinite {
                what: "the sparse feature matrix",
                value: values[entry].into(),
                row,
                column: topology.indices()[entry] as usize,
            });
        }
        let values = Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device);
        Ok(Self { topology, values })
    }

    /// Every row divided by its sum of absolute values; rows of zeros stay zero.
    ///
    /// # Errors
    /// If the values are of an element type the kernels do not serve.
    pub fn row_normalised(&self) -> Result<Self> {
        let values = ops::to_f64("sparse features", &self.values)?;
        let mut scaled = Vec::with_capacity(values.len());
        for row in 0..self.topology.rows() {
            let values = &values[self.topology.range(row)];
            let total: f64 = values.iter().map(|v| v.abs()).sum();
            let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
            scaled.extend(values.iter().map(|v| v * scale));
        }
        let data = TensorData::new(scaled, [values.len()]).convert_dtype(self.values.dtype());
        let device = self.values.device();
        let values = Tensor::from_data(data, (&device, self.values.dtype()));
        Ok(Self { topology: self.topology.clone(), values })
    }

    /// Which features each node has.
    pub fn topology(&self) -> &Csr {
        &self.topology
    }

    /// One value per entry of the topology.
    pub fn values(&self) -> &Tensor<1> {
        &self.values
    }

    /// The same with the values in another element type.
    pub fn cast(&self, dtype: DType) -> Self {
        Self { topology: self.topology.clone(), values: self.values.clone().cast(dtype) }
    }
}

/// Features of nodes, `[nodes, width]`, dense or sparse.
#[derive(Clone, Debug)]
pub enum Features {
    /// A dense matrix, through which gradients flow.
    Dense(Tensor<2>),
    /// A sparse constant matrix.
    Sparse(SparseFeatures),
}

impl From<Tensor<2>> for Features {
    fn from(dense: Tensor<2>) -> Self {
        Self::Dense(dense)
    }
}

impl From<SparseFeatures> for Features {
    fn from(sparse: SparseFeatures) -> Self {
        Self::Sparse(sparse)
    }
}

impl Features {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Dense(x) => x.dims()[0],
            Self::Sparse(x) => x.topology.rows(),
        }
    }

    /// Number of features of a node.
    pub fn width(&self) -> usize {
        match self {
            Self::Dense(x) => x.dims()[1],
            Self::Sparse(x) => x.topology.columns(),
        }
    }

    /// Where the features live.
    pub fn device(&self) -> Device {
        match self {
            Self::Dense(x) => x.device(),
            Self::Sparse(x) => x.values.device(),
        }
    }

    /// Sets a fraction of the values to zero and scales the rest, in a training pass; of sparse
    /// features only the stored values take part, which has the same distribution.
    ///
    /// # Errors
    /// If `probability` is outside [0, 1).
    pub fn dropout(&self, probability: f64, pass: Pass) -> Result<Self> {
        Ok(match self {
            Self::Dense(x) => Self::Dense(ops::dropout(x, probability, pass)?),
            Self::Sparse(x) => Self::Sparse(SparseFeatures {
                topology: x.topology.clone(),
                values: ops::dropout(&x.values, probability, pass)?,
            }),
        })
    }

    /// `X W` for a weight matrix `[width, out]`; gradients flow to `W` and to dense features.
    ///
    /// # Errors
    /// If the widths differ.
    pub fn matmul(&self, weight: &Tensor<2>) -> Result<Tensor<2>> {
        if weight.dims()[0] != self.width() {
            let found = weight.dims();
            return Err(Error::shape("weight of a linear map", [self.width(), found[1]], found));
        }
        match self {
            Self::Dense(x) => {
                Error::same_type("linear map", x.dtype(), weight.dtype())?;
                Ok(x.clone().matmul(weight.clone()))
            }
            Self::Sparse(x) => ops::spmm(&x.topology, &x.values, weight),
        }
    }

    /// As a dense matrix; for small data and tests.
    ///
    /// # Errors
    /// If the values are of an element type the kernels do not serve.
    pub fn to_dense(&self) -> Result<Tensor<2>> {
        match self {
            Self::Dense(x) => Ok(x.clone()),
            Self::Sparse(x) => {
                let eye = identity(x.topology.columns(), &x.values);
                ops::spmm(&x.topology, &x.values, &eye)
            }
        }
    }

    /// Whether two matrices hold the same values, to the bit.
    pub(crate) fn same_values(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => {
                a.dims() == b.dims() && a.to_data().as_bytes() == b.to_data().as_bytes()
            }
            (Self::Sparse(a), Self::Sparse(b)) => {
                a.topology == b.topology
                    && a.values.to_data().as_bytes() == b.values.to_data().as_bytes()
            }
            _ => false,
        }
    }

    /// Refuses NaN and infinity, naming the place.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the first such value.
    pub fn check_finite(&self) -> Result<()> {
        let Self::Dense(x) = self else { return Ok(()) };
        ops::check_finite("the feature matrix", x)
    }
}
