//! The few Python 2 pickles that Planetoid's files are, read without executing anything.
//!
//! A pickle is a program for a stack machine. [`machine`] runs only the instructions those files use,
//! and where Python would call a function it recognises eight names and builds plain data.
//! [`values`] takes the results out. All objects live in one flat list and refer to each other by
//! number: nothing here recurses, so nesting cannot exhaust the stack.

mod machine;
#[cfg(test)]
mod tests;
mod values;

use std::path::Path;

use crate::error::{At, Error, Result};

/// Place of an object in the list.
type Id = u32;

/// The functions and classes whose names are recognised. None of them is ever called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Global {
    Reconstruct,
    NdArray,
    Dtype,
    CsrMatrix,
    Reconstructor,
    DefaultDict,
    List,
    Object,
}

impl Global {
    fn named(module: &[u8], name: &[u8]) -> Option<Self> {
        Some(match (module, name) {
            (b"numpy.core.multiarray", b"_reconstruct") => Self::Reconstruct,
            (b"numpy", b"ndarray") => Self::NdArray,
            (b"numpy", b"dtype") => Self::Dtype,
            (b"scipy.sparse.csr", b"csr_matrix") => Self::CsrMatrix,
            (b"copy_reg", b"_reconstructor") => Self::Reconstructor,
            (b"collections", b"defaultdict") => Self::DefaultDict,
            (b"__builtin__", b"list") => Self::List,
            (b"__builtin__", b"object") => Self::Object,
            _ => return None,
        })
    }
}

/// Element types of the arrays: 4- and 8-byte whole numbers and floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    I4,
    I8,
    F4,
    F8,
}

impl Element {
    fn width(self) -> usize {
        match self {
            Self::I4 | Self::F4 => 4,
            Self::I8 | Self::F8 => 8,
        }
    }
}

/// A NumPy array once its state is known.
#[derive(Debug, Clone, PartialEq)]
struct ArrayState<'a> {
    shape: Vec<usize>,
    element: Element,
    data: &'a [u8],
}

#[derive(Debug, Clone)]
enum Object<'a> {
    None,
    Bool(bool),
    Int(i64),
    Bytes(&'a [u8]),
    Global(Global),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Element(Element),
    /// Boxed to keep the other, far more numerous objects small.
    Array(Option<Box<ArrayState<'a>>>),
    /// A sparse matrix and the dictionary of its attributes.
    Matrix(Option<Id>),
}

/// A finished pickle.
pub(crate) struct Pickle<'a> {
    objects: Vec<Object<'a>>,
    root: Id,
    path: &'a Path,
    /// Length of the file, which bounds how much honest content there can be.
    length: usize,
}

impl<'a> Pickle<'a> {
    /// Runs the pickle in `bytes`; `path` is for messages.
    pub fn parse(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        machine::Machine::new(path, bytes).run()
    }

    fn error(&self, what: impl Into<String>) -> Error {
        At::file(self.path)
            .error(what, "this is not the Planetoid file its name says: get it again")
    }
}
