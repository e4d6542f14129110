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
///
/// # Errors
/// What the system says.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a message back: (field, wire type, number or bytes).
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let (field, wire) = (key >> 3, key & 7);
            let length = match wire {
                0 => {
                    found.push((field, wire, varint(&mut bytes).to_le_bytes().to_vec()));
                    continue;
                }
                1 => 8,
                5 => 4,
                2 => varint(&mut bytes) as usize,
                other => panic!("wire type {other}"),
            };
            let (value, rest) = bytes.split_at(length);
            found.push((field, wire, value.to_vec()));
            bytes = rest;
        }
        found
    }

    fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let sum = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(sum(8), masked_crc(&bytes[..8]));
            assert_eq!(sum(12 + length), masked_crc(&bytes[12..12 + length]));
            found.push(bytes[12..12 + length].to_vec());
            bytes = &bytes[16 + length..];
        }
        found
    }

    #[test]
    fn events_decode_to_what_was_written() {
        let point = |epoch, loss, k| Point {
            seed: 7,
            epoch,
            values: [("loss", Some(loss)), ("valid", Some(0.25)), ("mean_degree", k)]
                .map(|(name, value)| (name.to_string(), value))
                .to_vec(),
        };
        let curves = [point(1, 2.0, None), point(300, 1.0, Some(3.5))];
        let all = records(&events(&curves, 12.5));
        assert_eq!(all.len(), 3);
        assert_eq!(fields(&all[0])[1], (3, 2, b"brain.Event:2".to_vec()));
        let last = fields(&all[2]);
        assert_eq!(last[0], (1, 1, 12.5f64.to_le_bytes().to_vec()));
        assert_eq!(last[1], (2, 0, 300u64.to_le_bytes().to_vec()));
        let scalars: Vec<(String, f32)> = fields(&last[2].2)
            .iter()
            .map(|(_, _, value)| {
                let value = fields(value);
                let number = f32::from_le_bytes(value[1].2[..].try_into().unwrap());
                (String::from_utf8(value[0].2.clone()).unwrap(), number)
            })
            .collect();
        assert_eq!(scalars.len(), 3);
        assert_eq!(scalars[0], ("loss/seed-7".into(), 1.0));
        assert_eq!(scalars[2], ("mean_degree/seed-7".into(), 3.5));
    }

    #[test]
    fn the_mask_is_that_of_tensorflow() {
        // crc32c("123456789") is the published check value e3069283.
        let turned = 0xe306_9283u32.rotate_right(15).wrapping_add(0xa282_ead8);
        assert_eq!(masked_crc(b"123456789"), turned);
    }
}
