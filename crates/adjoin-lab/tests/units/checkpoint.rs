//! Checkpoints: resuming, and files that are refused.

use super::world;
use adjoin::learner::LearnerConfig;
use adjoin_data::GeneratorConfig;
use adjoin_lab::{
    Error, Result,
    settings::Schedule,
    task::{Dataset, Model, Part, Task},
    tasks::{
        Node,
        node::{NodeConfig, NodeMetrics, NodeModel},
    },
    train::{
        History, Trainer,
        checkpoint::{Checkpoint, Identity, Problem},
    },
};
use burn::tensor::Device;
use safetensors::{SafeTensors, tensor::TensorView};
use std::{collections::BTreeMap, fs};

const SEED: u64 = 5;

struct World {
    config: NodeConfig,
    world: world::World,
}

impl World {
    fn new(learner: &str) -> Self {
        let generator = GeneratorConfig { nodes: 90, features: 40, seed: 3, ..Default::default() };
        let learner = LearnerConfig::named(learner).unwrap();
        let mut config = NodeConfig { learner, ..NodeConfig::default() };
        config.train.epochs = 8;
        Self { config, world: world::World::new(&generator) }
    }

    fn trainer(&self) -> Trainer<'_, Node> {
        self.world.trainer(&self.config, SEED)
    }

    fn identified<R>(
        &self,
        config: &NodeConfig,
        seed: u64,
        with: impl FnOnce(&Identity<Node>) -> Result<R>,
    ) -> Result<R> {
        let (dataset, split) = (self.world.data.fingerprint(), self.world.data.split_hash());
        with(&Identity { config, dataset: &dataset, split: &split, seed })
    }

    fn checkpoint(&self, (trainer, history): &(Trainer<Node>, History<Node>)) -> Checkpoint {
        let of = |identity: &Identity<Node>| Checkpoint::of(trainer, history, identity);
        self.identified(&self.config, SEED, of).unwrap()
    }

    fn check(&self, checkpoint: &Checkpoint, config: &NodeConfig, seed: u64) -> Result<()> {
        self.identified(config, seed, |identity| checkpoint.check(identity))
    }

    fn test(&self, model: &NodeModel) -> NodeMetrics {
        let held = Node::held(&self.config, &self.world.data, Part::Test).unwrap().unwrap();
        model.evaluate(&self.world.context, &held, SEED).unwrap().metrics
    }
}

fn epochs((trainer, history): &mut (Trainer<Node>, History<Node>), count: usize) {
    for _ in 0..count {
        history.curve.push(trainer.epoch_step().unwrap());
    }
}

/// Weights without the optimiser, whose pack holds ids that differ from model to model.
fn weights(checkpoint: &Checkpoint) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    checkpoint.save(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let weight = |(name, _): &(&str, TensorView)| !name.starts_with("optimiser");
    let owned = |(name, view): (&str, TensorView)| (name.to_string(), view.data().to_vec());
    tensors.iter().filter(weight).map(owned).collect()
}

/// Trains 8 epochs, and 4 with 4 more after a restart. With a teacher, its weights are those of another seed.
fn resumes_bit_for_bit(world: &World, teacher: Option<u64>) {
    let start = || {
        let mut trainer = world.trainer();
        if let Some(seed) = teacher {
            let device = Device::flex().autodiff();
            let other = NodeModel::new(&world.config, &world.world.context, seed, &device).unwrap();
            trainer.take_teacher(&other, &|_, _| ()).unwrap();
        }
        (trainer, History::default())
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed-5.safetensors");
    let mut whole = start();
    epochs(&mut whole, 8);

    let mut half = start();
    epochs(&mut half, 4);
    world.checkpoint(&half).save(&path).unwrap();
    drop(half);
    // A crash while the next one was being written leaves this behind; it is not looked at.
    fs::write(folder.path().join("seed-5.safetensors.tmp-1"), b"half a file").unwrap();

    let mut trainer = world.trainer();
    let loaded = Checkpoint::load(&path).unwrap();
    world.check(&loaded, &world.config, SEED).unwrap();
    let history = loaded.restore(&mut trainer).unwrap();
    assert_eq!((trainer.epoch(), history.curve.len()), (4, 4));
    let mut resumed = (trainer, history);
    epochs(&mut resumed, 4);

    assert_eq!(resumed.1.curve, whole.1.curve);
    let [a, b] = [&whole, &resumed].map(|run| world.checkpoint(run));
    assert_eq!(weights(&a), weights(&b));
    let [a, b] = [&whole, &resumed].map(|(trainer, _)| {
        let best = trainer.best().unwrap();
        (best.epoch, best.valid, world.test(&best.model))
    });
    assert_eq!(a, b);
}

#[test]
fn training_resumes_bit_for_bit_without_a_learner() {
    resumes_bit_for_bit(&World::new("none"), None);
}

#[test]
fn training_resumes_bit_for_bit_with_a_generator() {
    resumes_bit_for_bit(&World::new("dgg"), None);
}

/// It has no degrees before it joins, and some after; training stops and resumes in either part.
#[test]
fn training_resumes_bit_for_bit_with_a_generator_that_joins_later() {
    let mut world = World::new("dgg");
    for epochs in [1, 6] {
        world.config.train.learner_start = f64::from(epochs) / 8.0;
        resumes_bit_for_bit(&world, None);
    }
}

/// Nothing but the checkpoint tells the resumed trainer what its teacher was.
#[test]
fn training_resumes_bit_for_bit_with_a_teacher() {
    let mut world = World::new("dgg");
    let LearnerConfig::Dgg(dgg) = &mut world.config.learner else { panic!() };
    dgg.agreement = true;
    resumes_bit_for_bit(&world, Some(4));
    world.config.teacher.resume = true;
    resumes_bit_for_bit(&world, Some(4));
    world.config.teacher.distil = true;
    resumes_bit_for_bit(&world, Some(4));
}

#[test]
fn training_resumes_bit_for_bit_with_averaged_weights() {
    let mut world = World::new("none");
    world.config.train.ema = 0.9;
    resumes_bit_for_bit(&world, None);
}

#[test]
fn training_resumes_bit_for_bit_with_rewards() {
    resumes_bit_for_bit(&World::new("dgm"), None);
}

#[test]
fn training_resumes_bit_for_bit_with_rates_that_rise_and_fall() {
    let mut world = World::new("none");
    world.config.train.warmup_steps = 6;
    for schedule in [Schedule::Cosine(0.001), Schedule::Step { at: 5, by: 0.1 }] {
        world.config.train.schedule = schedule;
        resumes_bit_for_bit(&world, None);
    }
}

#[test]
fn the_wrong_file_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.safetensors");
    let world = World::new("none");
    let mut run = (world.trainer(), History::default());
    epochs(&mut run, 2);
    let checkpoint = world.checkpoint(&run);
    checkpoint.save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let problem = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        match Checkpoint::load(&path).unwrap_err() {
            Error::Checkpoint { problem, .. } => problem,
            other => panic!("{other}"),
        }
    };

    for length in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(problem(&whole[..length]), Problem::NotSafetensors(_)), "{length}");
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(matches!(problem(&flipped), Problem::Damaged { .. }));
    let foreign = safetensors::serialize(Vec::<(String, TensorView)>::new(), None).unwrap();
    assert!(matches!(problem(&foreign), Problem::Foreign));

    let other = World::new("dgg");
    let error = checkpoint.restore(&mut other.trainer()).unwrap_err();
    assert!(matches!(error, Error::Checkpoint { problem: Problem::Entry { .. }, .. }), "{error}");
}

#[test]
fn another_seed_or_configuration_is_refused_and_another_end_is_not() {
    let mut world = World::new("none");
    let saved = |world: &World| {
        let mut run = (world.trainer(), History::default());
        epochs(&mut run, 2);
        world.checkpoint(&run)
    };
    let checkpoint = saved(&world);
    let differs = |world: &World, checkpoint: &Checkpoint, config: &NodeConfig, seed: u64| {
        let error = world.check(checkpoint, config, seed).unwrap_err();
        assert!(matches!(error, Error::Checkpoint { problem: Problem::Mismatch { .. }, .. }));
        error.to_string()
    };
    assert!(differs(&world, &checkpoint, &world.config, SEED + 1).contains("another seed"));
    let mut other = world.config.clone();
    other.train.rate = 0.5;
    assert!(differs(&world, &checkpoint, &other, SEED).contains("rate = 0.5"));

    let mut longer = world.config.clone();
    (longer.train.epochs, longer.train.patience) = (100, 7);
    world.check(&checkpoint, &longer, SEED).unwrap();
    // What is a share of all epochs is another one with more of them.
    type Change = fn(&mut NodeConfig);
    let changes: [Change; 2] =
        [|c| c.train.schedule = Schedule::Cosine(0.1), |c| c.train.learner_start = 0.5];
    for change in changes {
        world.config = World::new("none").config;
        change(&mut world.config);
        let checkpoint = saved(&world);
        let mut longer = world.config.clone();
        longer.train.patience = 7;
        world.check(&checkpoint, &longer, SEED).unwrap();
        longer.train.epochs = 100;
        assert!(differs(&world, &checkpoint, &longer, SEED).contains("epochs = 100"));
    }
}

#[test]
fn weights_are_named_by_their_place_in_the_model() {
    let world = World::new("dgg");
    let mut run = (world.trainer(), History::default());
    epochs(&mut run, 1);
    let weights = weights(&world.checkpoint(&run));
    for part in ["backbone.layers.0.linear.weight", "learner.encoder.first.bias"] {
        for prefix in ["best", "last"] {
            let name = format!("{prefix}.{part}");
            assert!(weights.contains_key(&name), "{name} in {:?}", weights.keys());
        }
    }
}
