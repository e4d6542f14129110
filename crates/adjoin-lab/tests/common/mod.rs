//! Small data of every task, and experiments on it.
#![allow(dead_code)] // every file of tests uses a part

use adjoin::Key;
use adjoin_data::{
    GeneratorConfig, citation_like,
    points::{PointDataset, ShapesConfig},
    trajectory::{Scene, TrajectoryDataset},
};
use adjoin_lab::{
    Result,
    run::{Experiment, Observer, Outcome, Stage, Teachers, Tick, Unobserved},
    settings::Layers,
    task::Task,
    tasks::node::SplitGraph,
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Steps of a walk that are seen and predicted.
pub const LENGTHS: [usize; 2] = [8, 12];

/// A graph of three classes, like one of citations.
pub fn citations(seed: u64) -> SplitGraph {
    let config = GeneratorConfig { nodes: 200, classes: 3, seed, ..GeneratorConfig::default() };
    let dataset = citation_like(&config).unwrap();
    let split = dataset.split(&"ratio:0.3/0.3/0.4".parse().unwrap()).unwrap();
    SplitGraph { dataset, split }
}

/// Four kinds of solids.
pub fn solids() -> Arc<PointDataset> {
    let config = ShapesConfig { per_class: 10, points: 96, noise: 0.0, ..ShapesConfig::default() };
    let mut dataset = adjoin_data::points::shapes(&config).unwrap();
    let clouds = dataset.clouds.clone();
    let few = |part: &mut Vec<u32>| part.retain(|&at| clouds[at as usize].class < 4);
    few(&mut dataset.split.train);
    few(&mut dataset.split.valid);
    few(&mut dataset.split.test);
    Arc::new(dataset)
}

/// Settings that make a network of point clouds quick.
pub const TINY_POINTS: [&str; 6] = [
    "points=48",
    "network.widths=[8, 8]",
    "network.k=6",
    "network.embedding=16",
    "network.hidden=[8]",
    "train.batch=8",
];

/// Agents that walk on circles of different sizes, all at the speed of a pedestrian.
pub fn scene(seed: u64, agents: usize) -> Scene {
    let key = Key::new(seed);
    let positions = (0..agents as u64).flat_map(|agent| {
        let draw = |n: u64| key.child(agent).uniform(n);
        let (mut x, mut y, mut angle) =
            (8.0 * draw(0), 8.0 * draw(1), std::f64::consts::TAU * draw(2));
        let (turn, speed) = (0.3 * (draw(3) - 0.5), 0.3 + 0.3 * draw(4));
        (0..20).map(move |_| {
            angle += turn;
            (x, y) = (x + speed * f64::cos(angle), y + speed * f64::sin(angle));
            [x as f32, y as f32]
        })
    });
    let name = format!("circles {seed}");
    Scene {
        name,
        agents: (0..agents as i64).collect(),
        steps: 20,
        positions: positions.collect(),
        distractors: vec![],
    }
}

/// So many scenes of circles to train, to validate and to test with.
pub fn circles([train, valid, test]: [u64; 3]) -> Arc<TrajectoryDataset> {
    let scenes = |from: u64, count: u64| {
        (from..from + count).map(|seed| scene(seed, 1 + seed as usize % 5)).collect()
    };
    Arc::new(TrajectoryDataset {
        name: "circles".into(),
        observed: LENGTHS[0],
        predicted: LENGTHS[1],
        seconds: 0.4,
        train: scenes(0, train),
        valid: scenes(1000, valid),
        test: scenes(2000, test),
    })
}

/// The scene with another future.
pub fn with_another_future(mut scene: Scene) -> Scene {
    let steps = scene.steps;
    for (at, position) in scene.positions.iter_mut().enumerate() {
        if at % steps >= LENGTHS[0] {
            *position = [99.0, -(at as f32)];
        }
    }
    scene
}

/// The defaults of a network and a learner with settings on top.
pub fn named<T: Task>(backbone: &str, learner: &str, settings: &[&str]) -> Layers<T::Config> {
    let set = |layers: Layers<T::Config>, setting: &&str| layers.set(setting).unwrap();
    settings.iter().fold(T::named(backbone, learner).unwrap(), set)
}

/// An experiment that nobody watches.
pub fn run<T: Task>(
    data: &T::Data,
    layers: &Layers<T::Config>,
    seeds: &[u64],
    threads: usize,
) -> Outcome<T> {
    run_in(data, layers, seeds, threads, &Unobserved, None).unwrap()
}

/// An experiment with or without a folder of checkpoints.
pub fn run_in<T: Task>(
    data: &T::Data,
    layers: &Layers<T::Config>,
    seeds: &[u64],
    threads: usize,
    observer: &dyn Observer,
    folder: Option<&Path>,
) -> Result<Outcome<T>> {
    let (teachers, learner, command) = (&Teachers::default(), "x", "test");
    let experiment = Experiment { data, layers, learner, seeds, threads, teachers, command };
    experiment.run_in(observer, folder)
}

/// Stops after some epochs; those of teachers do not count.
pub struct Stopping {
    after: usize,
    epochs: AtomicUsize,
}

impl Stopping {
    pub fn after(epochs: usize) -> Self {
        Self { after: epochs, epochs: AtomicUsize::new(0) }
    }
}

impl Observer for Stopping {
    fn tick(&self, tick: &Tick) {
        if tick.stage == Stage::Training {
            self.epochs.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn stop(&self) -> bool {
        self.epochs.load(Ordering::SeqCst) >= self.after
    }
}
