//! One NumPy array (`.npy`, versions 1 to 3): numbers, truth values and fixed-width text.
//!
//! Arrays of Python objects are pickles in disguise and are refused.

use crate::error::{At, Error, Result};

const MAGIC: &[u8] = b"\x93NUMPY";
/// A header of the arrays here has about 100 bytes; versions 2 and 3 would allow 4 GiB.
const MAX_HEADER: usize = 64 << 10;

/// What one element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// UTF-32, padded with zeros.
    Unicode,
}

/// A parsed array that still borrows its bytes.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    kind: Kind,
    /// Bytes of one element.
    width: usize,
    fortran: bool,
    pub shape: Vec<usize>,
    data: &'a [u8],
    at: At,
}

impl<'a> Array<'a> {
    /// Parses the bytes of a `.npy` file found at `at`.
    pub fn parse(bytes: &'a [u8], at: At) -> Result<Self> {
        let short = || at.clone().error("the array ends early", "get the file again");
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(at.error("not a NumPy array", "write it with numpy.save or numpy.savez"));
        };
        let version = *rest.first().ok_or_else(short)?;
        let (length, start) = match (version, rest) {
            (1, [_, _, a, b, ..]) => (u16::from_le_bytes([*a, *b]) as usize, 4),
            (2 | 3, [_, _, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 6),
            (1..=3, _) => return Err(short()),
            _ => {
                let what = format!("array format version {version} is not known");
                return Err(at.error(what, "write it with version 1, 2 or 3"));
            }
        };
        if length > MAX_HEADER {
            let what =
                format!("the array's header claims {length} bytes, the limit is {MAX_HEADER}");
            return Err(Error::TooLarge { at: Box::new(at), what });
        }
        let header = rest.get(start..start + length).ok_or_else(short)?;
        let data = &rest[start + length..];
        let (descr, fortran, shape) =
            std::str::from_utf8(header).ok().and_then(header_fields).ok_or_else(|| {
                at.clone()
                    .error("the array's header is not as NumPy writes it", "get the file again")
            })?;
        let (kind, width) = kind_of(descr, &at)?;
        let elements = shape.iter().try_fold(1usize, |product, side| product.checked_mul(*side));
        let expected = elements.and_then(|elements| elements.checked_mul(width));
        if expected != Some(data.len()) {
            let what =
                format!("shape {shape:?} of `{descr}` does not fit {} data bytes", data.len());
            return Err(at.error(what, "the file is truncated or damaged: get it again"));
        }
        if fortran && shape.len() > 2 {
            let help = "store numpy.ascontiguousarray of it";
            return Err(at.error("more than two axes in column-major order", help));
        }
        Ok(Self { kind, width, fortran, shape, data, at })
    }

    /// Fails unless the elements are whole numbers with sign, of this many bytes.
    pub fn signed_of(self, width: usize) -> Result<Self> {
        if self.kind == Kind::Signed && self.width == width {
            return Ok(self);
        }
        let what = format!("the elements are not signed whole numbers of {width} bytes");
        Err(self.at().error(what, format!("store the array as int{}", 8 * width)))
    }

    /// Where the array is, for messages.
    pub fn at(&self) -> At {
        self.at.clone()
    }

    /// Fails unless the array has this many axes.
    pub fn axes(&self, count: usize) -> Result<&[usize]> {
        if self.shape.len() == count {
            return Ok(&self.shape);
        }
        let what = format!("shape {:?} where {count} axes are expected", self.shape);
        Err(self.at().error(what, "check which array was stored under this name"))
    }

    /// All elements, row-major, as whole numbers; `None` for what is negative.
    pub fn indices(&self) -> Result<Vec<Option<u32>>> {
        let width = self.width;
        let narrow = |value: u64| u32::try_from(value).ok().filter(|value| *value != u32::MAX);
        let read = |element: &[u8]| match self.kind {
            Kind::Bool | Kind::Unsigned => narrow(unsigned(element)).map(Some),
            Kind::Signed => match signed(element, width) {
                value if value < 0 => Some(None),
                value => narrow(value as u64).map(Some),
            },
            Kind::Float | Kind::Unicode => None,
        };
        self.elements(read, "a whole number below 4294967295")
    }

    /// All elements, row-major, as numbers.
    pub fn floats(&self) -> Result<Vec<f32>> {
        let width = self.width;
        let read = |element: &[u8]| match (self.kind, element) {
            (Kind::Float, [a, b, c, d]) => Some(f32::from_le_bytes([*a, *b, *c, *d])),
            (Kind::Float, _) => {
                element.try_into().ok().map(|bytes| f64::from_le_bytes(bytes) as f32)
            }
            (Kind::Bool | Kind::Unsigned, _) => Some(unsigned(element) as f32),
            (Kind::Signed, _) => Some(signed(element, width) as f32),
            (Kind::Unicode, _) => None,
        };
        self.elements(read, "a number")
    }

    /// All elements, row-major, as truth values.
    pub fn bools(&self) -> Result<Vec<bool>> {
        let integer = matches!(self.kind, Kind::Bool | Kind::Unsigned);
        self.elements(|element| integer.then(|| unsigned(element) != 0), "true or false")
    }

    /// All elements, row-major, as text.
    pub fn texts(&self) -> Result<Vec<String>> {
        let read = |element: &[u8]| {
            if self.kind != Kind::Unicode {
                return None;
            }
            let codes = element.chunks_exact(4).map(unsigned).take_while(|code| *code != 0);
            codes.map(|code| u32::try_from(code).ok().and_then(char::from_u32)).collect()
        };
        self.elements(read, "text")
    }

    fn elements<T>(&self, read: impl Fn(&[u8]) -> Option<T>, expected: &str) -> Result<Vec<T>> {
        // An array of empty texts has elements of no bytes: nothing to read, and none is needed.
        let chunks = self.data.chunks_exact(self.width.max(1));
        let one = |(place, element)| {
            read(element).ok_or_else(|| {
                let what = format!("element {place} is not {expected}");
                self.at().error(what, "store the array with the right type")
            })
        };
        let values: Vec<T> = chunks.enumerate().map(one).collect::<Result<_>>()?;
        Ok(if self.fortran { self.row_major(values) } else { values })
    }

    /// Puts column-major elements in row-major order; only matrices can differ here.
    fn row_major<T>(&self, values: Vec<T>) -> Vec<T> {
        let [rows, columns] = self.shape[..] else { return values };
        let mut slots: Vec<Option<T>> = values.into_iter().map(Some).collect();
        let mut ordered = Vec::with_capacity(slots.len());
        for row in 0..rows {
            let column = (0..columns).map(|column| column * rows + row);
            ordered.extend(column.filter_map(|place| slots.get_mut(place).and_then(Option::take)));
        }
        ordered
    }
}

fn unsigned(element: &[u8]) -> u64 {
    element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn signed(element: &[u8], width: usize) -> i64 {
    let unused = 64 - 8 * width as u32;
    (unsigned(element) << unused) as i64 >> unused
}

fn kind_of(descr: &str, at: &At) -> Result<(Kind, usize)> {
    let known = match descr {
        "|b1" => Some((Kind::Bool, 1)),
        "|u1" => Some((Kind::Unsigned, 1)),
        "<u2" => Some((Kind::Unsigned, 2)),
        "<u4" => Some((Kind::Unsigned, 4)),
        "<u8" => Some((Kind::Unsigned, 8)),
        "|i1" => Some((Kind::Signed, 1)),
        "<i2" => Some((Kind::Signed, 2)),
        "<i4" => Some((Kind::Signed, 4)),
        "<i8" => Some((Kind::Signed, 8)),
        "<f4" => Some((Kind::Float, 4)),
        "<f8" => Some((Kind::Float, 8)),
        _ => descr.strip_prefix("<U").and_then(|digits| {
            let characters = digits.parse::<usize>().ok()?.checked_mul(4)?;
            Some((Kind::Unicode, characters))
        }),
    };
    known.ok_or_else(|| match descr.contains('O') {
        true => at.clone().error(
            "an array of Python objects, which is a pickle and is never opened",
            "store plain numbers: numpy.savez refuses objects with allow_pickle=False",
        ),
        false => at.clone().error(
            format!("element type `{descr}` is not read"),
            "store little-endian numbers of 1 to 8 bytes, truth values or text",
        ),
    })
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }` and nothing more general.
fn header_fields(header: &str) -> Option<(&str, bool, Vec<usize>)> {
    let inner = header.trim().strip_prefix('{')?.strip_suffix('}')?;
    let after = |key: &str| {
        let start = inner.find(key)? + key.len();
        inner.get(start..)?.trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = after("'descr'")?.strip_prefix('\'')?.split('\'').next()?;
    let order = after("'fortran_order'")?;
    let fortran = order.starts_with("True");
    if !fortran && !order.starts_with("False") {
        return None;
    }
    let sides = after("'shape'")?.strip_prefix('(')?.split_once(')')?.0;
    let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
    // No array here has more than two axes; a few more cost nothing.
    let shape: Vec<usize> = sides.map(|side| side.parse().ok()).collect::<Option<_>>()?;
    (shape.len() <= 8).then_some((descr, fortran, shape))
}

/// The bytes of a `.npy` file, row-major.
#[cfg(test)]
pub(crate) fn written_npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    tests::npy(descr, "False", shape, data)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Array<'_>> {
        Array::parse(bytes, At::file("x.npy"))
    }

    #[test]
    fn numbers_of_every_width() {
        let bytes = npy("<i2", "False", "(3,)", &[1, 0, 255, 255, 0, 1]);
        assert_eq!(parse(&bytes).unwrap().indices().unwrap(), [Some(1), None, Some(256)]);
        assert_eq!(parse(&bytes).unwrap().floats().unwrap(), [1.0, -1.0, 256.0]);
        let bytes = npy("<f8", "False", "(1,)", &2.5f64.to_le_bytes());
        assert_eq!(parse(&bytes).unwrap().floats().unwrap(), [2.5]);
        assert!(parse(&bytes).unwrap().indices().is_err());
        let bytes = npy("|b1", "False", "(2,)", &[0, 1]);
        assert_eq!(parse(&bytes).unwrap().bools().unwrap(), [false, true]);
        let bytes = npy("<U2", "False", "(1,)", &[65, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parse(&bytes).unwrap().texts().unwrap(), ["A"]);
        let bytes = npy("<u8", "False", "(1,)", &u64::MAX.to_le_bytes());
        assert!(parse(&bytes).unwrap().indices().unwrap_err().to_string().contains("element 0"));
    }

    #[test]
    fn the_element_type_can_be_insisted_on() {
        let bytes = npy("<i2", "False", "(1,)", &[1, 0]);
        assert!(parse(&bytes).unwrap().signed_of(2).is_ok());
        let error = parse(&bytes).unwrap().signed_of(4).unwrap_err().to_string();
        assert!(error.contains("int32"), "{error}");
        let bytes = npy("<f4", "False", "(1,)", &[0; 4]);
        assert!(parse(&bytes).unwrap().signed_of(4).is_err());
    }

    #[test]
    fn column_major_matrices_are_turned() {
        let bytes = npy("|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
        let values = parse(&bytes).unwrap().floats().unwrap();
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn objects_lies_and_cuts_are_refused() {
        let error = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        assert!(error(&npy("|O", "False", "(1,)", b"cos\nsystem\n.")).contains("never opened"));
        assert!(error(&npy("<f4", "False", "(99999999999, 99999999999)", &[])).contains("shape"));
        assert!(error(&npy("<f4", "False", "(2,)", &[0; 7])).contains("truncated"));
        assert!(error(&npy(">f4", "False", "(1,)", &[0; 4])).contains("little-endian"));
        assert!(error(&npy("<f4", "Maybe", "(1,)", &[0; 4])).contains("header"));
        assert!(error(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("the limit is"));
        assert!(error(b"\x93NUMPY\x09\x00\xff\xff\xff\xff").contains("version 9"));
        assert!(error(&npy("|u1", "True", "(1, 1, 1)", &[0])).contains("column-major"));
        assert!(error(b"\x93NUMPY\x01").contains("ends early"));
        assert!(error(b"PK").contains("not a NumPy array"));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, descr in "[<|>][a-zA-Z][0-9]{0,3}", shape in "\\([0-9, ]{0,12}\\)?") {
            let whole = npy(&descr, "True", &shape, &bytes);
            for bytes in [&bytes, &whole] {
                if let Ok(array) = parse(bytes) {
                    let _ = (array.indices(), array.floats(), array.bools(), array.texts());
                }
            }
        }
    }
}
