use super::*;
use crate::{
    BeliefsOf, Config, LearnerConfig,
    labels::SplitLabels,
    node::{NodeData, NodeModel, Trainer},
    record::EpochRecord,
};
use adjoin_data::{GeneratorConfig, NodeDataset, Split, citation_like};
use burn::tensor::Device;

struct World {
    config: Config,
    dataset: NodeDataset,
    split: Split,
    data: NodeData,
    labels: SplitLabels,
}

impl World {
    fn new(learner: &str) -> Self {
        let generator = GeneratorConfig { nodes: 90, features: 40, seed: 3, ..Default::default() };
        let dataset = citation_like(&generator).unwrap();
        let split = dataset.split(&"ratio:0.3/0.3/0.4".parse().unwrap()).unwrap();
        let mut config =
            Config { learner: LearnerConfig::named(learner).unwrap(), ..Config::default() };
        config.train.epochs = 8;
        config.train.warm_up = 1;
        let data = NodeData::new(&dataset, true, &Device::flex()).unwrap();
        let labels = SplitLabels::new(&dataset, &split).unwrap();
        Self { config, dataset, split, data, labels }
    }

    fn trainer(&self) -> Trainer<'_> {
        let SplitLabels { training, validation, .. } = &self.labels;
        Trainer::new(&self.config, &self.data, training, validation, 5, &Device::flex()).unwrap()
    }

    fn checkpoint(&self, trainer: &Trainer, progress: &Progress<EpochRecord>) -> Checkpoint {
        let (dataset, split) = (self.dataset.fingerprint(), self.split.hash());
        let identity = Identity { config: &self.config, dataset: &dataset, split: &split, seed: 5 };
        Checkpoint::of(trainer, progress, &identity).unwrap()
    }

    fn check(&self, checkpoint: &Checkpoint, config: &Config, seed: u64) -> Result<()> {
        let (dataset, split) = (self.dataset.fingerprint(), self.split.hash());
        checkpoint.check(&Identity { config, dataset: &dataset, split: &split, seed })
    }
}

fn epochs(trainer: &mut Trainer, progress: &mut Progress<EpochRecord>, count: usize) {
    for _ in 0..count {
        progress.curve.push(trainer.step().unwrap());
    }
}

/// Weights without the optimiser, whose pack holds ids that differ from model to model.
fn weights(checkpoint: &Checkpoint) -> Vec<(&String, &Vec<u8>)> {
    let weight = |(name, _): &(&String, &Entry)| !name.starts_with("optimiser");
    checkpoint.entries.iter().filter(weight).map(|(name, entry)| (name, &entry.bytes)).collect()
}

fn resumes_bit_for_bit(learner: &str) {
    resumes_bit_for_bit_in(&World::new(learner), None);
}

/// With a guide, its weights are those of another seed.
fn resumes_bit_for_bit_in(world: &World, guide: Option<u64>) {
    let trainer = || {
        let mut trainer = world.trainer();
        if let Some(seed) = guide {
            let device = Device::flex().autodiff();
            let other = NodeModel::new(&world.config, &world.data, seed, &device).unwrap();
            trainer.guided_by(other.backbone, |_, _| ()).unwrap();
        }
        trainer
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed-5.safetensors");
    let mut whole = (trainer(), Progress::default());
    epochs(&mut whole.0, &mut whole.1, 8);

    let mut half = (trainer(), Progress::default());
    epochs(&mut half.0, &mut half.1, 4);
    world.checkpoint(&half.0, &half.1).save(&path).unwrap();
    drop(half);
    // A crash while the next one was being written leaves this behind; it is not looked at.
    std::fs::write(folder.path().join("seed-5.safetensors.tmp-1"), b"half a file").unwrap();

    let mut resumed = world.trainer();
    let loaded = Checkpoint::load(&path).unwrap();
    world.check(&loaded, &world.config, 5).unwrap();
    let mut progress = loaded.restore(&mut resumed).unwrap();
    assert_eq!((resumed.epoch(), progress.curve.len()), (4, 4));
    epochs(&mut resumed, &mut progress, 4);

    assert_eq!(progress.curve, whole.1.curve);
    let [a, b] = [(&whole.0, &whole.1), (&resumed, &progress)]
        .map(|(trainer, progress)| world.checkpoint(trainer, progress));
    assert_eq!(weights(&a), weights(&b));
    let test = |trainer: &Trainer| {
        let best = trainer.best().unwrap();
        (best.epoch, best.loss, world.labels.test.accuracy(&best.evaluation.predicted))
    };
    assert_eq!(test(&whole.0), test(&resumed));
}

#[test]
fn training_goes_on_bit_for_bit_without_a_learner() {
    resumes_bit_for_bit("none");
}

#[test]
fn training_goes_on_bit_for_bit_with_a_generator() {
    resumes_bit_for_bit("dgg");
}

/// Nothing but the checkpoint tells the resumed trainer what its guide was.
#[test]
fn training_goes_on_bit_for_bit_with_a_guide() {
    let mut world = World::new("dgg");
    let LearnerConfig::Dgg(dgg) = &mut world.config.learner else { panic!() };
    dgg.agreement = true;
    resumes_bit_for_bit_in(&world, Some(4));
    world.config.train.from_guide = true;
    resumes_bit_for_bit_in(&world, Some(4));
    world.config.train.beliefs_of = BeliefsOf::Student;
    resumes_bit_for_bit_in(&world, Some(4));
}

#[test]
fn training_goes_on_bit_for_bit_with_mean_weights() {
    let mut world = World::new("none");
    world.config.train.average = 0.9;
    resumes_bit_for_bit_in(&world, None);
}

#[test]
fn training_goes_on_bit_for_bit_with_rewards() {
    resumes_bit_for_bit("dgm");
}

#[test]
fn the_wrong_file_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.safetensors");
    let world = World::new("none");
    let mut trainer = world.trainer();
    let mut progress = Progress::default();
    epochs(&mut trainer, &mut progress, 2);
    let checkpoint = world.checkpoint(&trainer, &progress);
    checkpoint.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let problem = |bytes: &[u8]| Checkpoint::parse(bytes, &path).unwrap_err();

    for length in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(problem(&whole[..length]), Problem::NotSafetensors(_)), "{length}");
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(matches!(problem(&flipped), Problem::Damaged { .. }));
    let foreign = safetensors::serialize(Vec::<(String, TensorView)>::new(), None).unwrap();
    assert!(matches!(problem(&foreign), Problem::Foreign));

    let differs = |config: &Config, seed: u64| {
        let error = world.check(&checkpoint, config, seed).unwrap_err();
        assert!(matches!(error, Error::Checkpoint { problem: Problem::Mismatch { .. }, .. }));
        error.to_string()
    };
    assert!(differs(&world.config, 6).contains("another seed"));
    let mut other = world.config.clone();
    other.train.rate = 0.5;
    assert!(differs(&other, 5).contains("rate = 0.5"));
    let mut longer = world.config.clone();
    longer.train.epochs = 100;
    world.check(&checkpoint, &longer, 5).unwrap();

    let other = World::new("dgg");
    let mut trainer = other.trainer();
    let error = checkpoint.restore(&mut trainer).unwrap_err();
    assert!(matches!(error, Error::Checkpoint { problem: Problem::Entry { .. }, .. }), "{error}");
}

#[test]
fn weights_are_named_by_their_place_in_the_model() {
    let world = World::new("dgg");
    let mut trainer = world.trainer();
    let mut progress = Progress::default();
    epochs(&mut trainer, &mut progress, 1);
    let checkpoint = world.checkpoint(&trainer, &progress);
    let names: Vec<&str> = checkpoint.entries.keys().map(String::as_str).collect();
    for part in ["backbone.layers.0.linear.weight", "learner.encoder.first.bias"] {
        for prefix in ["best", "last"] {
            let name = format!("{prefix}.{part}");
            assert!(names.contains(&name.as_str()), "{name} in {names:?}");
        }
    }
}
