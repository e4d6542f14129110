//! What is known of the edges of a made-up or damaged graph.

/// What is known of each edge, in the order of the edges; `None` when nothing is.
///
/// Marks judge a learned graph at the end, as test labels judge predictions. Nothing that learns may
/// use them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeMarks {
    /// Whether an edge joins good neighbours of a planted graph (see [`planted`](crate::planted)).
    pub planted: Option<Vec<bool>>,
    /// Whether an edge was injected (see [`add_wrong_edges`](crate::add_wrong_edges)).
    pub injected: Option<Vec<bool>>,
}

impl EdgeMarks {
    /// Names of the marks: columns of `edges.csv`, and with `edge_` before them arrays of an archive.
    pub(crate) const NAMES: [&'static str; 2] = ["planted", "injected"];

    /// Marks in the order of [`NAMES`](Self::NAMES).
    pub(crate) fn new([planted, injected]: [Option<Vec<bool>>; 2]) -> Self {
        Self { planted, injected }
    }

    /// The marks there are, with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &[bool])> {
        let marks = [&self.planted, &self.injected];
        Self::NAMES
            .into_iter()
            .zip(marks)
            .filter_map(|(name, marks)| Some((name, marks.as_deref()?)))
    }
}
