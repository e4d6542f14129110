//! What a person sees while training lasts, and how they stop it.

use adjoin_lab::run::{Observer, SeedDone, Stage, Tick};
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
    stage: Stage,
    started: Instant,
    first: usize,
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

    /// Now and then a line with the time that is left.
    fn say(&self, tick: &Tick, message: &str) {
        let Tick { seed, stage, epoch, epochs, .. } = *tick;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let pace =
            lines.entry(seed).or_insert(Pace { stage, started: now, first: epoch, said: now });
        // Every stage has a pace of its own.
        if stage != pace.stage {
            (pace.stage, pace.started, pace.first) = (stage, now, epoch);
        }
        if now - pace.said < BETWEEN_LINES || epoch <= pace.first {
            return;
        }
        pace.said = now;
        let share = epochs.saturating_sub(epoch) as f64 / (epoch - pace.first) as f64;
        let left = (now - pace.started).as_secs_f64() * share;
        let learner = &self.learner;
        eprintln!("{learner} seed {seed}: epoch {epoch} of {epochs}, {message}, {left:.0} s left");
    }
}

impl Observer for Watch {
    fn tick(&self, tick: &Tick) {
        let message = match tick.stage {
            Stage::Teacher => format!("teacher: {}", tick.message),
            Stage::Alternative(graph) => format!("graph {graph}: {}", tick.message),
            Stage::Distillation | Stage::Training => tick.message.clone(),
        };
        match self.show {
            Show::Nothing => {}
            Show::Lines => self.say(tick, &message),
            Show::Bars => {
                let bar = self.bar(tick.seed, tick.epochs);
                bar.set_message(message);
                bar.set_length(tick.epochs as u64);
                bar.set_position(tick.epoch as u64);
            }
        }
    }

    fn seed(&self, done: &SeedDone) {
        let SeedDone { seed, valid, best_epoch, epochs, seconds } = done;
        let line = format!(
            "{} seed {seed}: validation {valid}, best epoch {best_epoch} of {epochs}, {seconds:.1} s",
            self.learner
        );
        match self.show {
            Show::Nothing => {}
            Show::Lines => eprintln!("{line}"),
            Show::Bars => {
                self.bar(*seed, *epochs).finish_and_clear();
                if self.bars.println(&line).is_err() {
                    eprintln!("{line}");
                }
            }
        }
    }

    fn stop(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}
