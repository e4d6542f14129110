//! The header of a PLY file: which elements follow, how many, and what each is made of.

use std::path::Path;

use crate::error::{At, Result};

/// A header of real files has about 300 bytes.
const MAX_HEADER: usize = 64 << 10;

/// How the numbers after the header are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Little,
    Big,
}

/// What a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }
}

/// A number, or a list of numbers, in every row of an element.
#[derive(Debug, PartialEq)]
pub(super) struct Property {
    pub kind: Kind,
    /// What the length of the list is written as; `None` for a single number.
    pub list: Option<Kind>,
    /// For x, y and z of a corner.
    pub axis: Option<usize>,
    /// True for the list of a face's corners.
    pub corners: bool,
}

/// Rows of the same make.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

#[derive(Debug)]
pub(super) struct Header {
    pub format: Format,
    pub elements: Vec<Element>,
    /// Where the rows start, in bytes and in lines.
    pub bytes: usize,
    pub lines: u64,
}

impl Header {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(b"ply") {
            let help = "the first line must be: ply";
            return Err(At::line(path, 1).error("not a PLY file", help));
        }
        let mut header = Self { format: Format::Text, elements: Vec::new(), bytes: 0, lines: 0 };
        let (mut format, mut ended) = (None, false);
        let most = &bytes[..bytes.len().min(MAX_HEADER)];
        for line in most.split_inclusive(|byte| *byte == b'\n') {
            header.bytes += line.len();
            header.lines += 1;
            let at = At::line(path, header.lines);
            let wrong = |what: &str, help: &str| Err(at.clone().error(what, help));
            let text = std::str::from_utf8(line).unwrap_or("?");
            let words: Vec<&str> = text.split_whitespace().collect();
            match words[..] {
                [] | ["comment" | "obj_info", ..] => {}
                ["ply"] if header.lines == 1 => {}
                ["format", name, _] => {
                    format = match name {
                        "ascii" => Some(Format::Text),
                        "binary_little_endian" => Some(Format::Little),
                        "binary_big_endian" => Some(Format::Big),
                        _ => {
                            let help =
                                "it must be ascii, binary_little_endian or binary_big_endian";
                            return wrong("a format that is not known", help);
                        }
                    }
                }
                ["element", name, count] => {
                    let Ok(count) = count.parse() else {
                        return wrong("the number of elements is not whole", "correct the line");
                    };
                    let name = name.to_string();
                    header.elements.push(Element { name, count, properties: Vec::new() });
                }
                ["property", "list", length, kind, name] => {
                    let (list, kind) = (Kind::of(length), Kind::of(kind));
                    header.property(&at, list, kind, list.is_some(), name)?;
                }
                ["property", kind, name] => {
                    header.property(&at, None, Kind::of(kind), true, name)?;
                }
                ["end_header"] => {
                    ended = true;
                    break;
                }
                _ => return wrong("a line that is not understood", "correct or remove it"),
            }
        }
        let last = At::line(path, header.lines);
        if !ended {
            return Err(last.error("the header does not end", "end it with: end_header"));
        }
        header.format =
            format.ok_or_else(|| last.clone().error("the header names no format", "name one"))?;
        header.check(&last)?;
        Ok(header)
    }

    fn property(
        &mut self,
        at: &At,
        list: Option<Kind>,
        kind: Option<Kind>,
        length_known: bool,
        name: &str,
    ) -> Result<()> {
        let (Some(element), Some(kind), true) = (self.elements.last_mut(), kind, length_known)
        else {
            let help = "properties follow an element and are char, uchar, short, ushort, int, \
                        uint, float, double, or lists of them";
            return Err(at.clone().error("a property that is not understood", help));
        };
        let vertex = element.name == "vertex" && list.is_none();
        let axis = ["x", "y", "z"].iter().position(|axis| vertex && name == *axis);
        let corners = element.name == "face"
            && list.is_some()
            && matches!(name, "vertex_indices" | "vertex_index");
        element.properties.push(Property { kind, list, axis, corners });
        Ok(())
    }

    /// Corners must have places, faces corners, and corners must come first.
    fn check(&self, at: &At) -> Result<()> {
        let wrong = |what: &str, help: &str| -> Result<()> { Err(at.clone().error(what, help)) };
        let mut vertices = false;
        for Element { name, count, properties } in &self.elements {
            let with_axis =
                |axis| properties.iter().filter(|property| property.axis == Some(axis)).count();
            match name.as_str() {
                "vertex" if vertices => return wrong("two elements `vertex`", "join them"),
                "vertex" if [0, 1, 2].map(with_axis) != [1; 3] => {
                    return wrong("the element `vertex` has no place", "give it x, y and z");
                }
                "vertex" => vertices = true,
                "face" if *count == 0 => {}
                "face" if !vertices => {
                    return wrong("faces without corners before them", "put `vertex` first");
                }
                "face" if properties.iter().filter(|property| property.corners).count() != 1 => {
                    return wrong("the element `face` has no corners", "give it vertex_indices");
                }
                _ => {}
            }
        }
        Ok(())
    }
}
