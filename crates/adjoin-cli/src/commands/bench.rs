//! `adjoin bench`.

mod reference;

use crate::{
    failure::{Done, print},
    table::table,
};
use adjoin::conv::BackboneKind;
use adjoin_lab::node::step_milliseconds;
use clap::Args;
use std::time::Duration;

/// Time a training step of every network, with and without a learned graph, on Cora
///
/// Prints the median time of a step (forward, backward, Adam) in milliseconds. When PyTorch and
/// PyG are installed and bench/reference.py is found here or above, the same networks are timed there
/// too, and ratios are printed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin bench
  adjoin bench --seconds 5
      time each for longer; close other programs first
  pip install torch torch_geometric && ADJOIN_DATA=./data adjoin bench
      beside PyTorch, from a clone of the repository")]
pub struct Bench {
    /// How long to time each case, in seconds
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

/// A network, its name in tables, and its case in the reference.
const CASES: [(BackboneKind, &str, &str); 4] = [
    (BackboneKind::Gcn, "gcn", "gcn"),
    (BackboneKind::Sage, "sage", "sage"),
    (BackboneKind::Gat, "gat", "gat"),
    (BackboneKind::Gcnii, "gcnii", "gcnii64"),
];

impl Bench {
    /// Runs the command.
    pub fn run(self) -> Done {
        let budget = Duration::try_from_secs_f64(self.seconds.clamp(0.01, 3600.0))
            .unwrap_or(Duration::from_secs(2));
        let reference = reference::find();
        let mut rows = vec![["network", "none", "dgg"].map(String::from).to_vec()];
        if reference.is_ok() {
            rows[0].extend(["PyTorch", "PyTorch / none"].map(String::from));
        }
        for (kind, name, case) in CASES {
            eprintln!("{name} ...");
            let plain = step_milliseconds(kind, "none", budget)?;
            let learned = step_milliseconds(kind, "dgg", budget)?;
            let mut row = vec![name.to_string(), format!("{plain:.2}"), format!("{learned:.2}")];
            if let Ok(script) = &reference {
                row.extend(match script.milliseconds(case, self.seconds) {
                    Ok(theirs) => [format!("{theirs:.2}"), format!("{:.2}", theirs / plain)],
                    Err(why) => {
                        eprintln!("{case}: {why}");
                        ["failed".into(), "-".into()]
                    }
                });
            }
            rows.push(row);
        }
        let note = reference.err().unwrap_or_default();
        print(format!("milliseconds per training step on Cora\n\n{}\n{note}", table(&rows)))
    }
}
