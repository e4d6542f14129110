//! A made-up crowd: people who cross a square, walk towards a goal and keep out of each other's way.

use super::scene::{Scene, TrajectoryDataset};
use crate::error::{Error, Result};
use crate::random::SplitMix64;

/// Settings of [`crowd()`].
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdConfig {
    /// Number of scenes: 70 % for training, 10 % for validation, the rest for testing.
    pub scenes: usize,
    /// Fewest people in a scene.
    pub min_agents: usize,
    /// Most people in a scene.
    pub max_agents: usize,
    /// Steps that are seen.
    pub observed: usize,
    /// Steps that are to be predicted.
    pub predicted: usize,
    /// Seconds between steps.
    pub seconds: f64,
    /// Probability that someone walks beside the one before, with the same goal and speed.
    pub company: f64,
    /// Push away from a person one could touch, in m/s².
    pub avoidance: f64,
    /// Distance in metres from which a person is avoided.
    pub reach: f64,
    /// Deviation of the measured from the true position, in metres.
    pub noise: f64,
    /// People in every scene who interact with nobody: they walk straight on, nobody avoids them, and they
    /// avoid nobody. The others walk as they would without them.
    pub distractors: usize,
    /// The same seed gives the same crowd, everywhere and for ever.
    pub seed: u64,
}

impl Default for CrowdConfig {
    fn default() -> Self {
        Self {
            scenes: 300,
            min_agents: 2,
            max_agents: 12,
            observed: 8,
            predicted: 12,
            seconds: 0.4,
            company: 0.3,
            avoidance: 6.0,
            reach: 2.5,
            noise: 0.01,
            distractors: 0,
            seed: 0,
        }
    }
}

impl CrowdConfig {
    fn check(&self) -> Result<()> {
        let wrong = |setting, what: String, help: &str| {
            Err(Error::Setting { setting, what, help: help.into() })
        };
        if !(10..=1_000_000).contains(&self.scenes) {
            let help = "give 10 to a million, so that every part has some";
            return wrong("scenes", format!("{} scenes", self.scenes), help);
        }
        if self.min_agents == 0 || self.min_agents > self.max_agents || self.max_agents > 100 {
            let what = format!("{} to {} people in a scene", self.min_agents, self.max_agents);
            return wrong("max_agents", what, "give at least one and at most a hundred");
        }
        if self.distractors > 100 {
            let what = format!("{} in a scene", self.distractors);
            return wrong("distractors", what, "give at most a hundred");
        }
        let steps = self.observed.saturating_add(self.predicted);
        if self.observed == 0 || self.predicted == 0 || steps > 1000 {
            let what = format!("{} observed and {} predicted", self.observed, self.predicted);
            return wrong("observed", what, "give at least one each and at most 1000 together");
        }
        if self.scenes * (self.max_agents + self.distractors) * steps > 1 << 27 {
            let what = format!("{} scenes of {steps} steps", self.scenes);
            return wrong("scenes", what, "ask for fewer or shorter scenes, or for fewer people");
        }
        let ranges = [
            ("seconds", self.seconds, 0.01, 10.0),
            ("company", self.company, 0.0, 1.0),
            ("avoidance", self.avoidance, 0.0, 100.0),
            ("reach", self.reach, 0.1, 100.0),
            ("noise", self.noise, 0.0, 10.0),
        ];
        for (setting, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let help = format!("give {least} to {most}");
                return wrong(setting, format!("{value} is out of range"), &help);
            }
        }
        Ok(())
    }
}

/// Scenes of a crowd on a square, in metres.
///
/// Everyone enters from one of four sides and heads for a point beyond the opposite one. With
/// position `p`, velocity `v`, desired velocity `u` and the unit vector `n` from the other to oneself,
///
/// ```text
/// dv/dt = (u - v) / 0.5 s + avoidance * sum over others of (1 - distance / reach)_+^2 * sight * n
/// ```
///
/// where `sight` is 1 for someone ahead and falls to 0.2 behind. Only additions, multiplications,
/// divisions and square roots are used, which every machine rounds alike.
pub fn crowd(config: &CrowdConfig) -> Result<TrajectoryDataset> {
    config.check()?;
    let mut scenes: Vec<Scene> =
        (0..config.scenes).map(|number| Square::new(config, number).film()).collect();
    let trained = config.scenes * 7 / 10;
    let mut valid = scenes.split_off(trained);
    let test = valid.split_off(config.scenes / 10);
    let dataset = TrajectoryDataset {
        name: "crowd".into(),
        observed: config.observed,
        predicted: config.predicted,
        seconds: config.seconds,
        train: scenes,
        valid,
        test,
    };
    dataset.validate()?;
    Ok(dataset)
}

type Vector = [f64; 2];

fn plus(a: Vector, scale: f64, b: Vector) -> Vector {
    [a[0] + scale * b[0], a[1] + scale * b[1]]
}

fn length(a: Vector) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

struct Person {
    place: Vector,
    velocity: Vector,
    goal: Vector,
    speed: f64,
}

impl Person {
    /// Someone who enters alone, to be filmed for so many seconds.
    fn alone(filmed: f64, random: &mut SplitMix64) -> Self {
        // Along the x axis first, then turned to one of the four sides.
        let place = [random.within(-8.0, -3.0), random.within(-4.0, 4.0)];
        // Farther than anyone gets while being filmed.
        let goal = [10.0 + 2.0 * filmed, 3.0 * random.within(-4.0, 4.0)];
        let speed = (1.3 + 0.25 * random.bell()).clamp(0.5, 2.0);
        let turns = random.below(4);
        let turn = |point: Vector| (0..turns).fold(point, |[x, y], _| [-y, x]);
        let way = plus(goal, -1.0, place);
        let velocity = plus([0.0; 2], speed / length(way), way);
        Self { place: turn(place), velocity: turn(velocity), goal: turn(goal), speed }
    }
}

/// Longest step of the simulation, in seconds.
const TICK: f64 = 0.1;
/// Seconds in which a person takes up the desired velocity.
const REACTION: f64 = 0.5;

struct Square<'a> {
    config: &'a CrowdConfig,
    number: usize,
    random: SplitMix64,
    people: Vec<Person>,
}

impl<'a> Square<'a> {
    /// People who have just entered. Scenes depend on the seed and their number only.
    fn new(config: &'a CrowdConfig, number: usize) -> Self {
        let random = SplitMix64::keyed(config.seed, number as u64);
        let mut square = Self { config, number, random, people: Vec::new() };
        let span = config.max_agents - config.min_agents + 1;
        let count = config.min_agents + square.random.below(span);
        for _ in 0..count {
            let person = square.enter();
            square.people.push(person);
        }
        square
    }

    fn enter(&mut self) -> Person {
        let joins = self.random.chance(self.config.company);
        let beside: Vector = [self.random.within(-0.8, 0.8), self.random.within(-0.8, 0.8)];
        if let Some(other) = self.people.last().filter(|_| joins) {
            let goal = plus(other.goal, 1.0, beside);
            let place = plus(other.place, 1.0, beside);
            return Person { place, goal, velocity: other.velocity, speed: other.speed };
        }
        Person::alone(self.filmed(), &mut self.random)
    }

    /// Measured paths of those who interact with nobody. Their own random numbers leave those of the others as
    /// they are.
    fn distractors(&self) -> Vec<[f32; 2]> {
        let CrowdConfig { observed, predicted, seconds, noise, distractors, seed, .. } =
            *self.config;
        let mut random = SplitMix64::keyed(!seed, self.number as u64);
        let mut positions = Vec::new();
        for _ in 0..distractors {
            let Person { place, velocity, .. } = Person::alone(self.filmed(), &mut random);
            for step in 0..observed + predicted {
                let here = plus(place, (step + 2) as f64 * seconds, velocity);
                let measured = here.map(|value| value + noise * random.bell());
                positions.push(measured.map(|value| value as f32));
            }
        }
        positions
    }

    /// Seconds from the first to the last step.
    fn filmed(&self) -> f64 {
        (self.config.observed + self.config.predicted) as f64 * self.config.seconds
    }

    /// Change of velocity of one person.
    fn push(&self, who: usize) -> Vector {
        let me = &self.people[who];
        let way = plus(me.goal, -1.0, me.place);
        let wanted = plus([0.0; 2], me.speed / length(way).max(1e-6), way);
        let mut push = plus([0.0; 2], 1.0 / REACTION, plus(wanted, -1.0, me.velocity));
        for other in self.people.iter().enumerate().filter(|(at, _)| *at != who) {
            let away = plus(me.place, -1.0, other.1.place);
            let distance = length(away).max(1e-6);
            let near = (1.0 - distance / self.config.reach).max(0.0);
            let ahead = -(away[0] * wanted[0] + away[1] * wanted[1]) / (distance * me.speed);
            let sight = 0.6 + 0.4 * ahead;
            push = plus(push, self.config.avoidance * near * near * sight / distance, away);
        }
        push
    }

    fn tick(&mut self, seconds: f64) {
        let pushes: Vec<Vector> = (0..self.people.len()).map(|who| self.push(who)).collect();
        for (person, push) in self.people.iter_mut().zip(pushes) {
            let velocity = plus(person.velocity, seconds, push);
            // Nobody runs.
            let slower = (1.5 * person.speed / length(velocity).max(1e-6)).min(1.0);
            person.velocity = plus([0.0; 2], slower, velocity);
            person.place = plus(person.place, seconds, person.velocity);
        }
    }

    /// Lets everyone walk and writes down where they are.
    fn film(mut self) -> Scene {
        let steps = self.config.observed + self.config.predicted;
        let ticks = (self.config.seconds / TICK).ceil() as usize;
        let mut frames: Vec<Vec<Vector>> = Vec::with_capacity(steps);
        // The first step is not written down: those who entered too close move apart.
        for step in 0..=steps {
            for _ in 0..ticks {
                self.tick(self.config.seconds / ticks as f64);
            }
            if step > 0 {
                frames.push(self.people.iter().map(|person| person.place).collect());
            }
        }
        let agents = self.people.len();
        let mut positions = Vec::with_capacity(agents * steps);
        for agent in 0..agents {
            for frame in &frames {
                let measured =
                    frame[agent].map(|value| value + self.config.noise * self.random.bell());
                positions.push(measured.map(|value| value as f32));
            }
        }
        positions.extend(self.distractors());
        let all = (agents + self.config.distractors) as i64;
        Scene {
            name: format!("crowd {}", self.number),
            agents: (0..all).collect(),
            steps,
            positions,
            distractors: (agents as i64..all).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closest(dataset: &TrajectoryDataset) -> f32 {
        let mut closest = f32::INFINITY;
        for scene in &dataset.train {
            for a in 0..scene.agents.len() {
                for b in 0..a {
                    for (p, q) in scene.path(a).iter().zip(scene.path(b)) {
                        closest = closest.min((p[0] - q[0]).hypot(p[1] - q[1]));
                    }
                }
            }
        }
        closest
    }

    #[test]
    fn the_crowd_is_the_same_for_ever() {
        let first = crowd(&CrowdConfig::default()).unwrap();
        assert_eq!(first.fingerprint(), FROZEN);
        assert_eq!(first.parts().map(|(_, scenes)| scenes.len()), [210, 30, 60]);
        let other = crowd(&CrowdConfig { seed: 1, ..Default::default() }).unwrap();
        assert_ne!(other.fingerprint(), FROZEN);
        let more = crowd(&CrowdConfig { scenes: 400, ..Default::default() }).unwrap();
        assert_eq!(more.train[..210], first.train[..]);
    }

    /// Results of examples and tests rest on it.
    const FROZEN: &str = "9d0631c4341a7887";

    #[test]
    fn people_walk_forward_and_keep_apart() {
        let made = crowd(&CrowdConfig { noise: 0.0, ..Default::default() }).unwrap();
        for scene in &made.train {
            for agent in 0..scene.agents.len() {
                for pair in scene.path(agent).windows(2) {
                    let step = (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
                    assert!(step < 0.4 * 2.0 * 1.5 + 1e-4, "{step} m in 0.4 s");
                }
            }
        }
        let blind =
            crowd(&CrowdConfig { noise: 0.0, avoidance: 0.0, ..Default::default() }).unwrap();
        assert!(closest(&made) > 0.2, "{}", closest(&made));
        assert!(closest(&blind) < 0.05, "{}", closest(&blind));
    }

    #[test]
    fn distractors_walk_straight_and_change_nobody() {
        let without = crowd(&CrowdConfig { noise: 0.0, ..Default::default() }).unwrap();
        let config = CrowdConfig { noise: 0.0, distractors: 5, ..Default::default() };
        let with = crowd(&config).unwrap();
        assert_ne!(with.fingerprint(), without.fingerprint());
        for ((_, alone), (_, among)) in without.parts().into_iter().zip(with.parts()) {
            for (alone, among) in alone.iter().zip(among) {
                let real = alone.agents.len();
                assert_eq!((among.agents.len(), among.counted()), (real + 5, real));
                assert_eq!(among.positions[..alone.positions.len()], alone.positions[..]);
                for agent in real..real + 5 {
                    assert!(!among.counts(agent));
                    let path = among.path(agent);
                    let step = |at: usize| [0, 1].map(|axis| path[at + 1][axis] - path[at][axis]);
                    for at in 1..19 {
                        let bend = [0, 1].map(|axis| (step(at)[axis] - step(0)[axis]).abs());
                        assert!(bend[0].max(bend[1]) < 1e-5, "{bend:?}");
                    }
                }
            }
        }
        // Noise on the real paths is drawn as before, too.
        let noisy = crowd(&CrowdConfig::default()).unwrap();
        let among = crowd(&CrowdConfig { distractors: 16, ..Default::default() }).unwrap();
        for (alone, among) in noisy.test.iter().zip(&among.test) {
            assert_eq!(among.positions[..alone.positions.len()], alone.positions[..]);
        }
        assert!(closest(&with) < 0.2, "nobody avoids them: {}", closest(&with));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let default = CrowdConfig::default;
        for (setting, config) in [
            ("scenes", CrowdConfig { scenes: 9, ..default() }),
            ("max_agents", CrowdConfig { min_agents: 13, ..default() }),
            ("max_agents", CrowdConfig { min_agents: 0, ..default() }),
            ("observed", CrowdConfig { predicted: 0, ..default() }),
            ("observed", CrowdConfig { observed: usize::MAX, ..default() }),
            ("scenes", CrowdConfig { scenes: 1_000_000, ..default() }),
            ("noise", CrowdConfig { noise: f64::NAN, ..default() }),
            ("company", CrowdConfig { company: 1.5, ..default() }),
            ("distractors", CrowdConfig { distractors: 101, ..default() }),
        ] {
            let error = crowd(&config).unwrap_err().to_string();
            assert!(error.contains(&format!("`{setting}`")), "{error}");
        }
    }
}
