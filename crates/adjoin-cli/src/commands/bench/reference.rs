//! PyTorch's side of the benchmark, when it is there.

use serde::Deserialize;
use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

/// The script that times PyTorch.
pub struct Reference {
    script: PathBuf,
}

#[derive(Deserialize)]
struct Line {
    seconds: f64,
}

/// The reference, or what to do to have one.
pub fn find() -> Result<Reference, String> {
    let here = std::env::current_dir().unwrap_or_default();
    let script = here.ancestors().map(|folder| folder.join("bench/reference.py"));
    let Some(script) = script.into_iter().find(|path| path.is_file()) else {
        return Err("to compare with PyTorch, run this in a clone of the repository\n".into());
    };
    let imports = Command::new("python3")
        .args(["-c", "import torch, torch_geometric"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match imports {
        Ok(status) if status.success() => Ok(Reference { script }),
        _ => Err("to compare with PyTorch: pip install torch torch_geometric\n".into()),
    }
}

impl Reference {
    /// Milliseconds of a step of a case.
    pub fn milliseconds(&self, case: &str, seconds: f64) -> Result<f64, String> {
        let output = Command::new("python3")
            .arg(&self.script)
            .args([case, "--seconds", &seconds.to_string()])
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().last().unwrap_or_default();
        let line: Line = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        Ok(1e3 * line.seconds)
    }
}
