//! How a command ends when it does not end well.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

/// Why a command ended, and with which exit code.
#[derive(Debug)]
pub enum Failure {
    /// It could not be done: 1.
    Failed(String),
    /// It was not asked for in a way that can be understood: 2.
    Usage(String),
    /// The reader of the output went away, as `head` does: no error of ours.
    Closed,
}

/// Result of a command.
pub type Done = Result<(), Failure>;

impl Failure {
    /// Says it on standard error.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Failed(text) => (text, 1),
            Self::Usage(text) => (text, 2),
            Self::Closed => return ExitCode::SUCCESS,
        };
        let (red, plain) =
            if io::stderr().is_terminal() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        // Nobody is left to tell if this fails.
        let _ = writeln!(io::stderr(), "{red}error:{plain} {text}");
        ExitCode::from(code)
    }
}

/// Any error, with what the errors below it say when it does not say so itself.
fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        below = cause.source();
    }
    text
}

impl From<adjoin_lab::Error> for Failure {
    fn from(error: adjoin_lab::Error) -> Self {
        let text = full(&error);
        match error {
            // The words on the command line, or a file named there.
            adjoin_lab::Error::Config { .. }
            | adjoin_lab::Error::Graph(adjoin::Error::Setting { .. }) => Self::Usage(text),
            _ => Self::Failed(text),
        }
    }
}

impl From<adjoin_data::Error> for Failure {
    fn from(error: adjoin_data::Error) -> Self {
        Self::Failed(full(&error))
    }
}

/// Writes to standard output.
pub fn print(text: impl Display) -> Done {
    print_bytes(text.to_string().as_bytes())
}

/// Writes bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Done {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(error) => Err(Failure::Failed(format!("standard output: {error}"))),
    }
}
