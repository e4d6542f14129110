//! `adjoin graph`.

use super::deliver;
use crate::failure::{Done, Failure};
use adjoin_lab::{export, run, tasks::Node};
use clap::{Args, ValueEnum};
use std::{io::IsTerminal, path::PathBuf};

/// Export the learned graph of a run
///
/// The graph is that of the first seed, as it is without noise. Edges are directed: source receives
/// from target.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin graph runs/cora-gcn-dgg --format csv | head
  adjoin graph runs/cora-gcn-dgg --format graphml --out learned.graphml
      for Gephi, Cytoscape, NetworkX; with class, prediction and learned k of every node
  adjoin graph runs/cora-gcn-dgg --format npz --out learned.npz
      for scipy.sparse.load_npz(\"learned.npz\")")]
pub struct Graph {
    /// Folder of the run
    run: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    format: Format,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// source, target, weight
    Csv,
    /// Nodes with their classes, edges with their weights
    Graphml,
    /// NumPy arrays, readable by SciPy
    Npz,
}

impl Graph {
    /// Runs the command.
    pub fn run(self) -> Done {
        if self.format == Format::Npz && self.out.is_none() && std::io::stdout().is_terminal() {
            let what = "an archive is not for reading: name a file with --out";
            return Err(Failure::Usage(what.into()));
        }
        let record = run::record::<Node>(&self.run)?;
        let graph = record.exhibit.ok_or_else(|| {
            Failure::Failed(format!("{}: the run has no graph", self.run.display()))
        })?;
        graph.check().map_err(|what| {
            Failure::Failed(format!("{}: the graph is damaged: {what}", self.run.display()))
        })?;
        let bytes = match self.format {
            Format::Csv => export::graph_csv(&graph).into_bytes(),
            Format::Graphml => export::graph_graphml(&graph).into_bytes(),
            Format::Npz => export::graph_npz(&graph)?,
        };
        deliver(&bytes, self.out.as_deref(), self.overwrite)
    }
}
