//! What a person sees while training lasts, and how they stop it.

use adjoin_lab::{
    node::Observer,
    record::{EpochRecord, SeedRecord},
    trajectory::{TrajectoryEpoch, TrajectoryObserver, TrajectorySeedRecord},
};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{
    collections::HashMap,
    io::{self, IsTerminal},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C stops at the next epoch; a second one at once.
pub fn catch_interrupts() {
    let caught = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(1);
        }
        eprintln!("\nstopping after this epoch (once more to stop at once) ...");
    });
    if let Err(error) = caught {
        eprintln!("note: Ctrl-C will not be caught: {error}");
    }
}

/// How much to say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Nothing but errors.
    Nothing,
    /// A line when a seed is done.
    Lines,
    /// Bars that move.
    Bars,
}

impl Show {
    /// Bars on a terminal, lines elsewhere.
    pub fn of(quiet: bool) -> Self {
        match (quiet, io::stderr().is_terminal()) {
            (true, _) => Self::Nothing,
            (false, true) => Self::Bars,
            (false, false) => Self::Lines,
        }
    }
}

/// Shows the seeds of one learner.
pub struct Watch {
    learner: String,
    show: Show,
    bars: MultiProgress,
    seeds: Mutex<HashMap<u64, ProgressBar>>,
    lines: Mutex<HashMap<u64, Pace>>,
}

/// How fast a seed gets on, where lines stand in for bars.
struct Pace {
    started: Instant,
    first: usize,
    last: usize,
    said: Instant,
}

/// Lines about a seed that is under way come no more often than this.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

impl Watch {
    /// A watch over a learner.
    pub fn new(learner: &str, show: Show) -> Self {
        let (bars, seeds, lines) = (MultiProgress::new(), Mutex::default(), Mutex::default());
        Self { learner: learner.into(), show, bars, seeds, lines }
    }

    fn bar(&self, seed: u64, most: usize) -> ProgressBar {
        let mut seeds = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let template = "{prefix:>16} {bar:24} {pos:>4}/{len} {msg}, {eta} left";
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = self.bars.add(ProgressBar::new(most as u64).with_style(style));
            bar.with_prefix(format!("{} seed {seed}", self.learner))
        };
        seeds.entry(seed).or_insert_with(new).clone()
    }

    fn moved(&self, seed: u64, [epoch, most]: [usize; 2], message: impl FnOnce() -> String) {
        match self.show {
            Show::Nothing => return,
            Show::Lines => return self.say(seed, [epoch, most], message),
            Show::Bars => {}
        }
        let bar = self.bar(seed, most);
        bar.set_message(message());
        bar.set_length(most as u64);
        bar.set_position(epoch as u64);
    }

    /// Now and then a line with the time that is left.
    fn say(&self, seed: u64, [epoch, most]: [usize; 2], message: impl FnOnce() -> String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let new = Pace { started: now, first: epoch, last: epoch, said: now };
        let pace = lines.entry(seed).or_insert(new);
        // After the guide come a student and the learner, each with a pace of its own.
        if epoch < pace.last {
            (pace.started, pace.first) = (now, epoch);
        }
        pace.last = epoch;
        if now - pace.said < BETWEEN_LINES || epoch <= pace.first {
            return;
        }
        pace.said = now;
        let share = most.saturating_sub(epoch) as f64 / (epoch - pace.first) as f64;
        let left = (now - pace.started).as_secs_f64() * share;
        let (learner, message) = (&self.learner, message());
        eprintln!("{learner} seed {seed}: epoch {epoch} of {most}, {message}, {left:.0} s left");
    }

    fn ended(&self, seed: u64, epochs: usize, result: &str) {
        if self.show == Show::Bars {
            self.bar(seed, epochs).finish_and_clear();
        }
        if self.show == Show::Nothing {
            return;
        }
        let line = format!("{} seed {seed}: {result}", self.learner);
        if self.show == Show::Lines || self.bars.println(&line).is_err() {
            eprintln!("{line}");
        }
    }
}

impl Observer for Watch {
    fn epoch(&self, seed: u64, record: &EpochRecord, most: usize) {
        self.moved(seed, [record.epoch, most], || {
            let degree = record.mean_degree.map(|k| format!(", k {k:.1}")).unwrap_or_default();
            let valid = 100.0 * record.valid;
            format!("loss {:.3}, validation {valid:.1}{degree}", record.loss)
        });
    }

    fn guide(&self, seed: u64, record: &EpochRecord, most: usize) {
        self.moved(seed, [record.epoch, most], || {
            let valid = 100.0 * record.valid;
            format!("guide: loss {:.3}, validation {valid:.1}", record.loss)
        });
    }

    fn student(&self, seed: u64, epoch: usize, most: usize) {
        self.moved(seed, [epoch, most], || "student of the guide".into());
    }

    fn seed(&self, record: &SeedRecord) {
        let result = format!(
            "validation {:.2}, test {:.2}, best epoch {} of {}, {:.1} s",
            100.0 * record.valid,
            100.0 * record.test,
            record.best_epoch,
            record.epochs,
            record.seconds
        );
        self.ended(record.seed, record.epochs, &result);
    }

    fn stop(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}

impl TrajectoryObserver for Watch {
    fn epoch(&self, seed: u64, record: &TrajectoryEpoch, most: usize) {
        self.moved(seed, [record.epoch, most], || {
            format!("loss {:.3}, validation {:.3}", record.loss, record.valid.per_agent.ade)
        });
    }

    fn seed(&self, record: &TrajectorySeedRecord) {
        let result = format!(
            "validation {:.3}, test ADE {:.3} m, FDE {:.3} m, best epoch {} of {}, {:.1} s",
            record.valid,
            record.test.per_agent.ade,
            record.test.per_agent.fde,
            record.best_epoch,
            record.epochs,
            record.seconds
        );
        self.ended(record.seed, record.epochs, &result);
    }

    fn stop(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}
