//! The numbers after the header of a PLY file.

use std::path::Path;

use super::header::{Element, Format, Header, Kind};
use crate::error::{At, Error, Result};

/// Goes through the numbers one by one.
pub(super) struct Body<'a> {
    path: &'a Path,
    format: Format,
    bytes: &'a [u8],
    /// The next byte, and the line it is in (for text).
    next: usize,
    line: u64,
    /// The row being read, for messages.
    element: &'a Element,
    row: u64,
}

static NOTHING: Element = Element { name: String::new(), count: 0, properties: Vec::new() };

impl<'a> Body<'a> {
    pub fn new(path: &'a Path, bytes: &'a [u8], header: &Header) -> Self {
        let (next, line) = (header.bytes, header.lines + 1);
        Self { path, format: header.format, bytes, next, line, element: &NOTHING, row: 0 }
    }

    /// Says which row comes next.
    pub fn start_row(&mut self, element: &'a Element, row: u64) {
        (self.element, self.row) = (element, row);
        if self.format == Format::Text {
            self.skip_blanks();
        }
    }

    /// Where the next number is.
    pub fn at(&self) -> At {
        match self.format {
            Format::Text => At::line(self.path, self.line),
            _ => At::byte(self.path, self.next as u64),
        }
    }

    /// The next number.
    pub fn value(&mut self, kind: Kind) -> Result<f64> {
        Ok(match kind {
            _ if self.format == Format::Text => self.word()?,
            Kind::I8 => i8::from_le_bytes(self.take()?).into(),
            Kind::U8 => u8::from_le_bytes(self.take()?).into(),
            Kind::I16 => i16::from_le_bytes(self.take()?).into(),
            Kind::U16 => u16::from_le_bytes(self.take()?).into(),
            Kind::I32 => i32::from_le_bytes(self.take()?).into(),
            Kind::U32 => u32::from_le_bytes(self.take()?).into(),
            Kind::F32 => f32::from_le_bytes(self.take()?).into(),
            Kind::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    /// The next number, which must be whole and not negative.
    pub fn index(&mut self, kind: Kind) -> Result<u32> {
        let at = self.at();
        let value = self.value(kind)?;
        // A cast keeps what fits and clips the rest, which then no longer equals the number.
        let index = value as u32;
        if f64::from(index) == value {
            return Ok(index);
        }
        Err(at.error(format!("`{value}` is not the number of something"), "correct it"))
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.bytes.get(self.next).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += u64::from(*byte == b'\n');
            self.next += 1;
        }
    }

    fn word(&mut self) -> Result<f64> {
        self.skip_blanks();
        let rest = &self.bytes[self.next..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.truncated());
        }
        let word = String::from_utf8_lossy(&rest[..length.min(40)]);
        let at = self.at();
        self.next += length;
        let wrong = |_| at.error(format!("`{word}` is not a number"), "correct it");
        word.parse().map_err(wrong)
    }

    /// The next bytes, the least significant first.
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let found = self.bytes.get(self.next..).and_then(|rest| rest.first_chunk::<N>());
        let mut bytes = *found.ok_or_else(|| self.truncated())?;
        self.next += N;
        if self.format == Format::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn truncated(&self) -> Error {
        let Element { name, count, .. } = self.element;
        let what = format!("the file ends after {} of {count} rows of `{name}`", self.row);
        self.at().error(what, "the file is truncated or damaged: get it again")
    }
}
