//! Curves as an event file that TensorBoard reads.
//!
//! The format is small enough to write by hand: records framed by length and masked CRC-32C, each a
//! protocol-buffer `Event` with one `Summary` of scalar values.

use crate::{Error, Result, files};
use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// What TensorBoard knows its files by.
const EVENTS: &str = "events.out.tfevents.";

/// An epoch of a seed, with the quantities that are known of it by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The seed.
    pub seed: u64,
    /// The epoch, from 1.
    pub epoch: usize,
    /// Names and values; what is absent is left out.
    pub values: Vec<(String, Option<f64>)>,
}

/// Writes curves into one event file in `folder`, in place of an earlier one.
pub fn write(folder: &Path, curves: &[Point]) -> Result<()> {
    remove_old(folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("{EVENTS}{:010}.adjoin", now.as_secs());
    files::write(&folder.join(name), &events(curves, now.as_secs_f64()))
}

/// Whether a file of this name holds events.
pub(crate) fn is_events(name: &str) -> bool {
    name.starts_with(EVENTS)
}

fn remove_old(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(Error::file(folder))?;
    for entry in entries.flatten() {
        if is_events(&entry.file_name().to_string_lossy()) {
            std::fs::remove_file(entry.path()).map_err(Error::file(entry.path()))?;
        }
    }
    Ok(())
}

fn events(curves: &[Point], time: f64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut version = Message::default();
    version.double(1, time).bytes(3, b"brain.Event:2");
    frame(&mut out, &version.0);
    for Point { seed, epoch, values } in curves {
        let mut summary = Message::default();
        for (name, value) in values {
            let Some(value) = value else { continue };
            let mut scalar = Message::default();
            // The part before the slash groups the seeds of a quantity into one section.
            let tag = format!("{name}/seed-{seed}");
            scalar.bytes(1, tag.as_bytes()).float(2, *value as f32);
            summary.bytes(1, &scalar.0);
        }
        let mut event = Message::default();
        event.double(1, time).varint(2, *epoch as u64).bytes(5, &summary.0);
        frame(&mut out, &event.0);
    }
    out
}

/// Length, its sum, the record, its sum.
fn frame(out: &mut Vec<u8>, record: &[u8]) {
    let length = (record.len() as u64).to_le_bytes();
    out.extend(length);
    out.extend(masked_crc(&length).to_le_bytes());
    out.extend(record);
    out.extend(masked_crc(record).to_le_bytes());
}

/// Sums of data that holds sums would be weak, so TFRecord turns and shifts them.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A protocol-buffer message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.raw_varint(field << 3 | wire);
    }

    fn varint(&mut self, field: u64, value: u64) -> &mut Self {
        self.key(field, 0);
        self.raw_varint(value);
        self
    }

    fn double(&mut self, field: u64, value: f64) -> &mut Self {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn float(&mut self, field: u64, value: f32) -> &mut Self {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(&mut self, field: u64, value: &[u8]) -> &mut Self {
        self.key(field, 2);
        self.raw_varint(value.len() as u64);
        self.0.extend(value);
        self
    }
}
