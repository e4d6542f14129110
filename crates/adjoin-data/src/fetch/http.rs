//! One file over HTTP: continued where it was cut, checked, then named.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;
use ureq::http::StatusCode;

use super::sources::SourceFile;
use super::{Progress, sha256};
use crate::error::{Error, Result};
use crate::read::file_bytes;

/// Times a connection may be cut before we give up; each time the download continues.
const ATTEMPTS: usize = 4;
const CHUNK: usize = 64 << 10;

/// Why a try ended without the whole file.
enum Stop {
    /// Worth another try: what arrived is kept.
    Cut(String),
    Final(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

pub(super) struct Client {
    agent: Agent,
}

impl Client {
    pub fn new(https_only: bool) -> Self {
        let config = Agent::config_builder()
            .https_only(https_only)
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(Duration::from_secs(30)))
            .timeout_recv_body(Some(Duration::from_secs(600)))
            .user_agent(concat!("adjoin/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into() }
    }

    /// Downloads `url` to `target`. Until it is whole and right it is called `target.part`.
    pub fn download(
        &self,
        url: &str,
        file: &SourceFile,
        target: &Path,
        progress: Option<&dyn Fn(&Progress)>,
    ) -> Result<()> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        }
        let part = part_path(target);
        let mut attempt = 1;
        loop {
            match self.receive(url, file, &part, progress) {
                Ok(()) => break,
                Err(Stop::Final(error)) => return Err(error),
                Err(Stop::Cut(what)) if attempt == ATTEMPTS => {
                    let help = "check the network and run the same command again: it continues";
                    return Err(Error::Download { url: url.into(), what, help: help.into() });
                }
                Err(Stop::Cut(_)) => attempt += 1,
            }
        }
        let found = sha256(&file_bytes(&part)?);
        if found != file.sha256 {
            // A wrong beginning would spoil every continuation, so nothing of it is kept.
            fs::remove_file(&part).map_err(|error| Error::io("remove", &part, error))?;
            return Err(Error::Checksum { what: url.into(), found, expected: file.sha256.into() });
        }
        fs::rename(&part, target).map_err(|error| Error::io("create", target, error))
    }

    /// One connection: appends to `part` until the file is whole.
    fn receive(
        &self,
        url: &str,
        file: &SourceFile,
        part: &Path,
        progress: Option<&dyn Fn(&Progress)>,
    ) -> std::result::Result<(), Stop> {
        let mut have = fs::metadata(part).map_or(0, |data| data.len());
        if have > file.bytes {
            have = 0;
        }
        if have == file.bytes && have > 0 {
            return Ok(());
        }
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| Stop::Cut(error.to_string()))?;
        let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
        let continues = range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")));
        match response.status() {
            StatusCode::PARTIAL_CONTENT if continues => {}
            // The server does not continue: take it from the beginning.
            StatusCode::OK => have = 0,
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                fs::remove_file(part).map_err(|error| Error::io("remove", part, error))?;
                return Err(Stop::Cut("the server cannot continue the file".into()));
            }
            status if status.is_server_error() => {
                return Err(Stop::Cut(format!("the server answered {status}")));
            }
            status => {
                return Err(Stop::Final(Error::Download {
                    url: url.into(),
                    what: format!("the server answered {status}"),
                    help: "the file may have moved: see where the dataset is published".into(),
                }));
            }
        }
        let body = response.into_body().into_reader();
        self.store(body, file, part, have, progress)
    }

    fn store(
        &self,
        mut body: impl Read,
        file: &SourceFile,
        part: &Path,
        mut have: u64,
        progress: Option<&dyn Fn(&Progress)>,
    ) -> std::result::Result<(), Stop> {
        let mut out = open_at(part, have)?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Err(Stop::Cut(error.to_string())),
            };
            have += count as u64;
            // More bytes than the public file has cannot be it, and must not fill the disk.
            if have > file.bytes {
                drop(out);
                fs::remove_file(part).map_err(|error| Error::io("remove", part, error))?;
                return Err(Stop::Final(Error::Checksum {
                    what: file.path.into(),
                    found: format!("(more than {} bytes)", file.bytes),
                    expected: file.sha256.into(),
                }));
            }
            out.write_all(&buffer[..count]).map_err(|error| Error::io("write", part, error))?;
            if let Some(progress) = progress {
                progress(&Progress { file: file.path.into(), received: have, total: file.bytes });
            }
        }
        out.sync_all().map_err(|error| Error::io("write", part, error))?;
        if have < file.bytes {
            return Err(Stop::Cut(format!("{have} of {} bytes arrived", file.bytes)));
        }
        Ok(())
    }
}

fn open_at(part: &Path, have: u64) -> Result<File> {
    let opened = match have {
        0 => File::create(part),
        _ => OpenOptions::new().append(true).open(part),
    };
    opened.map_err(|error| Error::io("write", part, error))
}

pub(super) fn part_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    name.into()
}
