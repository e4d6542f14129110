//! Edge samples.

use crate::{Result, ops, pass::Pass, topology::Csr};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// How noisy scores become samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleForm {
    /// `e = exp(l)`: not normalised, so that the L1 norm of a row says how many are relevant. Scores below
    /// about -87 (in `f32`) give 0; a graph of nothing else is refused with
    /// [`Error::Vanished`](crate::Error::Vanished).
    #[default]
    Exp,
    /// `e = softmax(l / tau)` over the candidates of a node; the L1 norm of a row is always 1.
    Softmax,
}

/// Settings of the samples `e_ij`: the scores after noise (the paper's Eq. 7).
///
/// `l_ij = log p_ij + s g_ij` with `g ~ Gumbel(0, 1)` in training and in draws, none in evaluation; then
/// [`SampleForm`]. The noise of a pair depends on the pass and the pair alone, not on which other pairs are
/// candidates. Gradients flow to the scores; the noise is a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SampleConfig {
    /// The form of the samples.
    pub form: SampleForm,
    /// Temperature of the softmax.
    pub tau: f64,
    /// Scale s of the Gumbel noise in `l = log p + s g`; 0 for none.
    pub noise: f64,
    /// The same noise for (i, j) and (j, i).
    pub symmetric_noise: bool,
}

impl Default for SampleConfig {
    fn default() -> Self {
        Self { form: SampleForm::Exp, tau: 1.0, noise: 0.3, symmetric_noise: false }
    }
}

impl SampleConfig {
    /// The temperature that applies: only the softmax has one.
    pub(super) fn temperature(&self) -> f64 {
        match self.form {
            SampleForm::Exp => 1.0,
            SampleForm::Softmax => self.tau,
        }
    }

    /// The noise of a pass: none in evaluation.
    pub(super) fn scale(&self, pass: &Pass) -> f64 {
        if pass.has_noise() { self.noise } else { 0.0 }
    }

    /// `l = log p + s g`, `[pairs]`.
    pub(super) fn perturb(
        &self,
        log_scores: Tensor<1>,
        pairs: &Csr,
        pass: Pass,
    ) -> Result<Tensor<1>> {
        let scale = self.scale(&pass);
        if scale == 0.0 {
            return Ok(log_scores);
        }
        let noise = ops::gumbel_noise(pairs, pass.key(), self.symmetric_noise, &log_scores)?;
        Ok(log_scores + noise * scale)
    }

    /// Samples `e` from perturbed scores. `log_mass` gives the log of the normaliser of each row for the
    /// softmax form, of `(l - max_j l) / tau`, which it is handed: relative to the largest score of the row
    /// no digits are lost, however large scores are.
    pub(super) fn normalise(
        &self,
        perturbed: Tensor<1>,
        pairs: &Csr,
        log_mass: impl FnOnce(&Tensor<1>) -> Result<Tensor<1>>,
    ) -> Result<Tensor<1>> {
        Ok(match self.form {
            SampleForm::Exp => perturbed.exp(),
            SampleForm::Softmax => {
                // A softmax does not change with what is taken from a row, nor does its gradient.
                let top = ops::segment_max(pairs, &perturbed.clone().detach())?;
                let relative = perturbed - ops::broadcast_rows(pairs, &top)?;
                // A product: Burn rounds the gradient of a quotient by a number to f32.
                let relative = relative * (1.0 / self.tau);
                let shift = ops::broadcast_rows(pairs, &log_mass(&relative)?)?;
                (relative - shift).exp()
            }
        })
    }
}
