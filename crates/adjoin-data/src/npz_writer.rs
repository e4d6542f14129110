//! NumPy archives (`.npz`) in the making.

use std::io::{self, Cursor, Write};
use zip::{ZipWriter, write::SimpleFileOptions};

/// Packs plain arrays, one `.npy` file each, for NumPy and [`read::npz`](crate::read::npz).
pub struct NpzWriter {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Default for NpzWriter {
    fn default() -> Self {
        Self { zip: ZipWriter::new(Cursor::new(Vec::new())) }
    }
}

impl NpzWriter {
    /// The bytes of the archive.
    ///
    /// # Errors
    /// If it cannot be packed.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self.zip.finish().map_err(io::Error::other)?.into_inner())
    }

    /// Whole numbers.
    ///
    /// # Errors
    /// If they cannot be packed.
    pub fn numbers(
        &mut self,
        key: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = u32>,
    ) -> io::Result<()> {
        let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_le_bytes).collect();
        self.array(key, "<u4", shape, &bytes)
    }

    /// Numbers.
    ///
    /// # Errors
    /// If they cannot be packed.
    pub fn floats(&mut self, key: &str, shape: &[usize], values: &[f32]) -> io::Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.array(key, "<f4", shape, &bytes)
    }

    /// Texts, one after the other.
    ///
    /// # Errors
    /// If they cannot be packed.
    pub fn texts(&mut self, key: &str, texts: &[String]) -> io::Result<()> {
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(4 * width * texts.len());
        for text in texts {
            let start = bytes.len();
            bytes.extend(text.chars().flat_map(|character| u32::from(character).to_le_bytes()));
            bytes.resize(start + 4 * width, 0);
        }
        self.array(key, &format!("<U{width}"), &[texts.len()], &bytes)
    }

    /// Any array: its NumPy type, its shape (empty for a single value) and its bytes.
    ///
    /// # Errors
    /// If it cannot be packed.
    pub fn array(
        &mut self,
        key: &str,
        descr: &str,
        shape: &[usize],
        data: &[u8],
    ) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(data.len() >= 1 << 31);
        self.zip.start_file(format!("{key}.npy"), options).map_err(io::Error::other)?;
        self.zip.write_all(&npy_header(descr, shape))?;
        self.zip.write_all(data)
    }
}

/// An array as the bytes of a `.npy` file.
pub(crate) fn npy(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let mut bytes = npy_header(descr, shape);
    bytes.extend(data);
    bytes
}

/// What stands before the data of a `.npy` file.
fn npy_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        sides.trim_end()
    );
    // NumPy wants the data to start at a multiple of 64 bytes, ten of which are before the header.
    let padding = 63 - (10 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}
