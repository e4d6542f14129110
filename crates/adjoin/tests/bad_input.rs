//! Input that does not fit: typed errors or right results, never a panic.

mod common;

#[path = "bad_input/csr.rs"]
mod csr;
#[path = "bad_input/learners.rs"]
mod learners;
#[path = "bad_input/shapes.rs"]
mod shapes;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`, and gives its result or, if it panicked, the name of the case.
fn no_panic<T>(name: &str, f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|_| format!("{name} panicked"))
}
