//! What can go wrong, said precisely.

use burn::tensor::DType;

/// Why a graph, a configuration or an input was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An edge names a node that does not exist.
    #[error(
        "edge {entry} is ({row}, {column}), but the graph has {rows} rows and {columns} columns"
    )]
    NodeOutOfRange {
        /// Position of the edge in the input.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows of the graph.
        rows: usize,
        /// Columns of the graph.
        columns: usize,
    },
    /// Row pointers of a CSR that do not start at 0, decrease, or do not end at the entry count.
    #[error("row pointer {row} is {found}, expected {expected}")]
    RowPointer {
        /// The row.
        row: usize,
        /// What stood there.
        found: usize,
        /// What would be right.
        expected: String,
    },
    /// Columns of a row that are not strictly increasing.
    #[error(
        "row {row} holds column {column} after column {previous} (entry {entry}): columns must increase"
    )]
    UnsortedRow {
        /// The row.
        row: usize,
        /// Position of the entry.
        entry: usize,
        /// The entry before it.
        previous: usize,
        /// The entry at fault.
        column: usize,
    },
    /// Two shapes that must fit do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which argument of which operation.
        what: &'static str,
        /// The shape that fits.
        expected: String,
        /// The shape given.
        found: String,
    },
    /// A NaN or infinity where only numbers are allowed.
    #[error("{what} holds {value} at row {row}, column {column}")]
    NotFinite {
        /// Which input.
        what: &'static str,
        /// The value.
        value: f64,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// More nodes or edges than 32-bit indices can hold.
    #[error("{what} is {found}, but at most {limit} fit 32-bit indices")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A setting outside its range.
    #[error("{name} = {value}: {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Agreement is enabled, but there are no class probabilities to compare.
    #[error("agreement needs class probabilities of all nodes in Prepared::probabilities")]
    NoProbabilities,
    /// Evidence is fitted to labels that are held out, and there are too few to hold any out.
    #[error(
        "evidence needs at least 4 training labels of at least 2 classes, found {labels}: label more nodes, or learn without evidence"
    )]
    FewLabels {
        /// How many there are.
        labels: usize,
    },
    /// Evidence is used before it was fitted.
    #[error("the evidence was never fitted to labels: call fit first")]
    NotFitted,
    /// There is nothing of that name.
    #[error("there is no {what} {name:?}{}; choose one of {known}", near.map(|near| format!(" (did you mean {near:?}?)")).unwrap_or_default())]
    Unknown {
        /// A learner, a backbone, ...
        what: &'static str,
        /// The name.
        name: String,
        /// The name that is most like it, if one is.
        near: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// An input graph is needed and none was given.
    #[error("{0} needs an input graph, and none was given")]
    NoInputGraph(&'static str),
    /// Edges are needed, and a linear map over nodes that has none was given.
    #[error("{0} needs edges, and the map over nodes that it was given has none")]
    NoEdges(&'static str),
    /// Node features are needed and none were given.
    #[error("{0} needs node features, and none were given")]
    NoFeatures(&'static str),
    /// An edge joins two graphs of a batch.
    #[error("edge {entry}, ({row}, {column}), joins two different graphs of the batch")]
    BetweenGraphs {
        /// Position of the edge.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Every edge sample of a graph is 0.
    #[error(
        "every edge sample is 0, because all scores are below the smallest number: \
         scale the features, or use sample.form = \"softmax\""
    )]
    Vanished,
    /// A pair without a score is asked for one.
    #[error(
        "pair ({row}, {column}) is not among the candidates of the learned graph and has no score"
    )]
    NotCandidate {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// More pairs than the caller allows to be written out.
    #[error("{pairs} candidate pairs, but at most {limit} may be listed one by one")]
    TooManyPairs {
        /// How many there are.
        pairs: u64,
        /// The limit.
        limit: usize,
    },
    /// Tensors of an element type that the kernels do not serve, or that do not go together.
    #[error("{what}: {found}; operations take tensors in f32 or f64, all of one type and device")]
    Unsupported {
        /// Which argument.
        what: &'static str,
        /// What it was.
        found: String,
    },
}

impl Error {
    /// A width that was set, or an error that says how to.
    pub(crate) fn width(
        width: Option<usize>,
        name: &'static str,
        expected: &'static str,
    ) -> Result<usize> {
        width.ok_or(Self::Setting { name, value: "never set".into(), expected })
    }

    /// Refuses a count of 0.
    pub(crate) fn positive(value: usize, name: &'static str, expected: &'static str) -> Result<()> {
        if value > 0 {
            return Ok(());
        }
        Err(Self::Setting { name, value: "0".into(), expected })
    }

    /// Refuses a number of which something expected does not hold.
    pub(crate) fn holds(
        holds: bool,
        name: &'static str,
        value: f64,
        expected: &'static str,
    ) -> Result<()> {
        if holds { Ok(()) } else { Err(Self::Setting { name, value: value.to_string(), expected }) }
    }

    /// Refuses weights of terms of a loss that are no numbers from 0 on.
    pub(crate) fn weights(weights: &[(&'static str, f64)]) -> Result<()> {
        weights.iter().try_for_each(|&(name, value)| {
            let fits = (0.0..f64::INFINITY).contains(&value);
            Self::holds(fits, name, value, "must be a number from 0")
        })
    }

    /// Refuses a name that is none of `known`.
    pub(crate) fn unknown(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        /// Below this two names have little in common.
        const ALIKE: f64 = 0.7;
        let known: Vec<&str> = known.collect();
        let likeness = |other: &&&str| strsim::jaro_winkler(name, other);
        let near = known
            .iter()
            .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
            .filter(|near| likeness(near) > ALIKE)
            .copied();
        Self::Unknown { what, name: name.to_string(), near, known: known.join(", ") }
    }

    /// Refuses two element types that differ.
    pub(crate) fn same_type(what: &'static str, a: DType, b: DType) -> Result<()> {
        if a == b {
            return Ok(());
        }
        Err(Self::Unsupported { what, found: format!("inputs of types {a:?} and {b:?}") })
    }

    /// Refuses any other shape than the one expected.
    pub(crate) fn expect_shape<const D: usize>(
        what: &'static str,
        expected: [usize; D],
        found: [usize; D],
    ) -> Result<()> {
        if found == expected { Ok(()) } else { Err(Self::shape(what, expected, found)) }
    }

    pub(crate) fn shape(
        what: &'static str,
        expected: impl std::fmt::Debug,
        found: impl std::fmt::Debug,
    ) -> Self {
        Self::Shape { what, expected: format!("{expected:?}"), found: format!("{found:?}") }
    }
}

/// Result of an operation on graphs.
pub type Result<T> = std::result::Result<T, Error>;
