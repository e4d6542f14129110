//! How Rust code runs below Python: outside the interpreter lock, on a pool of threads of its own, without panics
//! that cross the boundary.

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

/// How often a long call looks whether the user pressed Ctrl-C.
const LOOK_FOR_SIGNALS: Duration = Duration::from_millis(50);

/// The variable that says how many threads to use.
const THREADS: &str = "ADJOIN_THREADS";

/// What a call ends in when it does not succeed.
#[derive(Debug)]
pub enum Failure {
    /// A value that does not fit.
    Value(String),
    /// A value of another kind than is served.
    Type(String),
    /// Anything that the caller is not to blame for.
    Runtime(String),
}

/// Result of a call.
pub type Outcome<T> = Result<T, Failure>;

impl From<adjoin::Error> for Failure {
    fn from(error: adjoin::Error) -> Self {
        match error {
            adjoin::Error::Unsupported { .. } => Self::Type(error.to_string()),
            _ => Self::Value(error.to_string()),
        }
    }
}

impl From<adjoin_lab::Error> for Failure {
    fn from(error: adjoin_lab::Error) -> Self {
        Self::Value(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(what) => PyValueError::new_err(what),
            Failure::Type(what) => PyTypeError::new_err(what),
            Failure::Runtime(what) => PyRuntimeError::new_err(what),
        }
    }
}

/// The pool, and the process that its threads live in: a child that was forked has none of them.
struct Threads {
    process: u32,
    pool: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Threads>> = Mutex::new(None);

fn build(count: usize) -> Outcome<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map(Arc::new).map_err(|error| Failure::Runtime(format!("no threads: {error}")))
}

/// 0 stands for as many as there are cores.
fn wanted_threads() -> Outcome<usize> {
    match std::env::var(THREADS) {
        Err(_) => Ok(0),
        Ok(text) => match text.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(Failure::Value(format!("{THREADS} = {text:?}: must be a number above 0"))),
        },
    }
}

fn pool() -> Outcome<Arc<ThreadPool>> {
    let mut threads = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(threads) = threads.as_ref().filter(|threads| threads.process == process) {
        return Ok(threads.pool.clone());
    }
    let count = match threads.as_ref() {
        Some(parent) => parent.pool.current_num_threads(),
        None => wanted_threads()?,
    };
    let pool = build(count)?;
    *threads = Some(Threads { process, pool: pool.clone() });
    Ok(pool)
}

/// Uses so many threads from now on.
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    if count == 0 {
        return Err(Failure::Value("count = 0: must be at least 1".into()).into());
    }
    let pool = build(count)?;
    let threads = Threads { process: std::process::id(), pool };
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some(threads);
    Ok(())
}

/// How many threads are used.
#[pyfunction]
pub fn get_threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Runs something short without the interpreter lock.
pub fn blocking<R: Send>(py: Python<'_>, work: impl FnOnce() -> Outcome<R> + Send) -> PyResult<R> {
    let pool = pool()?;
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))));
    Ok(settled(result)?)
}

/// Runs something that may take long without the interpreter lock. After Ctrl-C the call returns at once; the work
/// goes on in the background until it ends by itself, and what it gives is dropped.
pub fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Outcome<R> + Send + 'static,
) -> PyResult<R> {
    let (sender, mut receiver) = mpsc::channel();
    pool()?.spawn(move || {
        // Nobody listens after an interrupt.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(LOOK_FOR_SIGNALS);
            (receiver, received)
        });
        receiver = back;
        match received {
            Ok(result) => return Ok(settled(result)?),
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Failure::Runtime("the worker thread ended early".into()).into());
            }
        }
    }
}

fn settled<R>(result: Result<Outcome<R>, Box<dyn Any + Send>>) -> Outcome<R> {
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Failure::Runtime(format!("adjoin failed inside: {text}; please report this")))
    })
}
