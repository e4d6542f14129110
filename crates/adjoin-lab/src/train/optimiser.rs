//! Optimisers of the network and of the learner, which have rates of their own.

use crate::settings::{OptimiserKind, TrainConfig};
use burn::{
    grad_clipping::GradientClippingConfig,
    module::{Module, ParamGroup, ParamId, list_param_ids},
    optim::{
        AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig, decay::WeightDecayConfig,
        momentum::MomentumConfig,
    },
    tensor::Gradients,
};

/// The optimiser of the network and that of the learner.
pub(super) struct Optimisers {
    pub network: ModuleOptimizer,
    pub learner: ModuleOptimizer,
}

impl Optimisers {
    /// Fresh ones; `first` names parts of the paths of the parameters with a decay of their own.
    pub fn new(train: &TrainConfig, first: Vec<&'static str>) -> Self {
        let decay = |decay: f64| (decay > 0.0).then(|| WeightDecayConfig::new(decay as f32));
        let clip = (train.clip > 0.0).then_some(GradientClippingConfig::Norm(train.clip as f32));
        let adam = |rate: f64| {
            let adam = AdamConfig::new().with_epsilon(1e-8).with_weight_decay(decay(rate));
            adam.with_grad_clipping(clip.clone())
        };
        let sgd = |rate: f64| {
            let momentum = MomentumConfig::new().with_momentum(train.momentum).with_dampening(0.0);
            let momentum = (train.momentum > 0.0).then_some(momentum);
            let sgd = SgdConfig::new().with_momentum(momentum).with_weight_decay(decay(rate));
            sgd.with_gradient_clipping(clip.clone())
        };
        let group = (!first.is_empty()).then(|| ParamGroup::from_any_predicates(first));
        let network = match (train.optimiser, group) {
            (OptimiserKind::Adam, None) => adam(train.decay).init(),
            (OptimiserKind::Sgd, None) => sgd(train.decay).init(),
            (OptimiserKind::Adam, Some(group)) => {
                let clip = clip.as_ref().map(GradientClippingConfig::init);
                adam(train.decay).init().with_group(group, adam(train.first_decay).build(), clip)
            }
            (OptimiserKind::Sgd, Some(group)) => {
                let clip = clip.as_ref().map(GradientClippingConfig::init);
                sgd(train.decay).init().with_group(group, sgd(train.first_decay).build(), clip)
            }
        };
        Self { network, learner: adam(train.learner_decay).init() }
    }

    /// One step of the parts that train now; `learner` are the parameters of the learner.
    pub fn step<M: Module>(
        &mut self,
        mut model: M,
        grads: &mut Gradients,
        learner: &[ParamId],
        rates: [Option<f64>; 2],
    ) -> M {
        let (learner, network): (Vec<_>, Vec<_>) =
            list_param_ids(&model).into_iter().partition(|id| learner.contains(id));
        let parts = [(network, &mut self.network), (learner, &mut self.learner)];
        for ((ids, optimiser), rate) in parts.into_iter().zip(rates) {
            let grads = GradientsParams::from_params(grads, &model, &ids);
            if let Some(rate) = rate {
                model = optimiser.step(rate, model, grads);
            }
        }
        model
    }
}
