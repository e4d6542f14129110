//! `adjoin completions`.

use crate::failure::{Done, print_bytes};
use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands and options in a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin completions bash > ~/.local/share/bash-completion/completions/adjoin
  adjoin completions zsh > ~/.zfunc/_adjoin
  adjoin completions fish > ~/.config/fish/completions/adjoin.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Runs the command.
    pub fn run(self) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "adjoin", &mut script);
        print_bytes(&script)
    }
}
