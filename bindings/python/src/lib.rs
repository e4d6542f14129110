//! The native half of the Python package `adjoin`: kernels, learners and training below NumPy arrays.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrays;
mod classifier;
mod datasets;
mod edges;
mod functional;
mod learner;
mod parameters;
mod run;

/// The module `adjoin._rust`. Users see the package `adjoin`, which checks arguments and gives them names.
#[pyo3::pymodule]
mod _rust {
    #[pymodule_export]
    use super::{
        classifier::{Classifier, backbones},
        datasets::cora,
        functional::{Edges, Kept, Segments, knn_index},
        learner::{Inputs, Learner, Prepared, Tape, learners, settings_of},
        run::{get_threads, set_threads},
    };

    /// Version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // as Python calls it
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
