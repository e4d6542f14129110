//! Event files, read back.

use adjoin_lab::tensorboard::{Point, write};
use crc32c::crc32c;
use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

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

/// The sum in a file without TensorFlow's mask.
fn unmasked(sum: u32) -> u32 {
    sum.wrapping_sub(0xa282_ead8).rotate_left(15)
}

fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283, "the published check value");
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let sum = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(unmasked(sum(8)), crc32c(&bytes[..8]));
        assert_eq!(unmasked(sum(12 + length)), crc32c(&bytes[12..12 + length]));
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
    let folder = tempfile::tempdir().unwrap();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let before = now();
    write(folder.path(), &curves[..1]).unwrap();
    write(folder.path(), &curves).unwrap();
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 1, "an earlier file is replaced");
    let all = records(&fs::read(files[0].path()).unwrap());
    assert_eq!(all.len(), 3);
    assert_eq!(fields(&all[0])[1], (3, 2, b"brain.Event:2".to_vec()));
    let last = fields(&all[2]);
    let time = f64::from_le_bytes(last[0].2[..].try_into().unwrap());
    assert!(last[0].0 == 1 && last[0].1 == 1 && (before..=now()).contains(&time), "{last:?}");
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
