//! The stack machine.

use std::collections::HashMap;
use std::path::Path;

use super::{ArrayState, Element, Global, Id, Object, Pickle};
use crate::error::{At, Error, Result};

/// The largest public graph takes less than a million instructions.
const MAX_STEPS: usize = 50_000_000;
/// The public files never open more than three marks at a time.
const MAX_MARKS: usize = 64;
/// Python's pickler empties the stack every thousand items.
const MAX_STACK: usize = 100_000;
/// Longest line of a `GLOBAL` instruction.
const MAX_NAME: usize = 100;

const REFUSED: &str = "only Planetoid's own files (protocol 2) are read, and nothing in them is executed; get the file again \
     from its public source, or convert it to .npz where you trust it";

pub(super) struct Machine<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    /// Next byte to read.
    next: usize,
    /// Byte of the instruction that runs, for messages.
    at: usize,
    objects: Vec<Object<'a>>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<'a> Machine<'a> {
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            next: 0,
            at: 0,
            objects: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
        }
    }

    pub fn run(mut self) -> Result<Pickle<'a>> {
        if self.bytes.is_empty() {
            return Err(self.error("the file is empty", "get the file again"));
        }
        for _ in 0..MAX_STEPS {
            self.at = self.next;
            let [opcode] = self.array()?;
            if opcode == b'.' {
                let root = self.pop()?;
                let length = self.bytes.len();
                return Ok(Pickle { objects: self.objects, root, path: self.path, length });
            }
            self.step(opcode)?;
            if self.stack.len() > MAX_STACK || self.marks.len() > MAX_MARKS {
                return Err(
                    self.error("the pickle nests or stacks far deeper than a graph", REFUSED)
                );
            }
        }
        Err(self.error(format!("more than {MAX_STEPS} instructions"), REFUSED))
    }

    fn step(&mut self, opcode: u8) -> Result<()> {
        match opcode {
            0x80 => match self.array()? {
                [0..=2] => {}
                [version] => return Err(self.error(format!("pickle protocol {version}"), REFUSED)),
            },
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.push(Object::None),
            0x88 => self.push(Object::Bool(true)),
            0x89 => self.push(Object::Bool(false)),
            b'J' => {
                let value = i32::from_le_bytes(self.array()?);
                self.push(Object::Int(value.into()));
            }
            b'K' => {
                let [value] = self.array()?;
                self.push(Object::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.array()?);
                self.push(Object::Int(value.into()));
            }
            0x8a => {
                let value = self.long()?;
                self.push(Object::Int(value));
            }
            b'U' => {
                let [length] = self.array()?;
                let text = self.take(length.into())?;
                self.push(Object::Bytes(text));
            }
            b'T' => {
                let length = u32::from_le_bytes(self.array()?);
                let text = self.take(length as usize)?;
                self.push(Object::Bytes(text));
            }
            b')' => self.push(Object::Tuple(Vec::new())),
            b']' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b't' => {
                let items = self.pop_mark()?;
                self.push(Object::Tuple(items));
            }
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(opcode - 0x84));
                let items = match start.filter(|start| *start >= self.floor()) {
                    Some(start) => self.stack.split_off(start),
                    None => return Err(self.underflow()),
                };
                self.push(Object::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set_items(&items)?;
            }
            b'q' => {
                let [key] = self.array()?;
                self.memorise(key.into())?;
            }
            b'r' => {
                let key = u32::from_le_bytes(self.array()?);
                self.memorise(key)?;
            }
            b'h' => {
                let [key] = self.array()?;
                self.recall(key.into())?;
            }
            b'j' => {
                let key = u32::from_le_bytes(self.array()?);
                self.recall(key)?;
            }
            b'c' => self.global()?,
            b'R' | 0x81 => self.construct()?,
            b'b' => self.build()?,
            _ => return Err(self.error(format!("pickle instruction 0x{opcode:02x}"), REFUSED)),
        }
        Ok(())
    }

    /// Recognises a name. The first that is not on the list ends everything.
    fn global(&mut self) -> Result<()> {
        let (module, name) = (self.name_line()?, self.name_line()?);
        match Global::named(module, name) {
            Some(global) => self.push(Object::Global(global)),
            None => {
                let shown = format!(
                    "{}.{}",
                    String::from_utf8_lossy(module),
                    String::from_utf8_lossy(name)
                );
                return Err(self.error(format!("the pickle asks for `{shown}`"), REFUSED));
            }
        }
        Ok(())
    }

    /// What a call of a recognised name would make, still without its state.
    fn construct(&mut self) -> Result<()> {
        let (arguments, callee) = (self.pop()?, self.pop()?);
        let (Object::Global(callee), Object::Tuple(arguments)) =
            (self.object(callee), self.object(arguments))
        else {
            return Err(self.error("a call of something that is not a name", REFUSED));
        };
        let first = arguments.first().map(|id| self.object(*id));
        let made = match (callee, first) {
            (Global::Reconstruct, Some(Object::Global(Global::NdArray))) => Object::Array(None),
            (Global::CsrMatrix, None) => Object::Matrix(None),
            (Global::Reconstructor, Some(Object::Global(Global::CsrMatrix))) => {
                Object::Matrix(None)
            }
            (Global::DefaultDict, Some(Object::Global(Global::List))) => Object::Dict(Vec::new()),
            (Global::Dtype, Some(Object::Bytes(name))) => Object::Element(match *name {
                b"i4" => Element::I4,
                b"i8" => Element::I8,
                b"f4" => Element::F4,
                b"f8" => Element::F8,
                other => {
                    let shown = String::from_utf8_lossy(&other[..other.len().min(16)]).into_owned();
                    return Err(self.error(format!("array elements of type `{shown}`"), REFUSED));
                }
            }),
            _ => {
                return Err(
                    self.error(format!("a call of {callee:?} with other arguments"), REFUSED)
                );
            }
        };
        self.push(made);
        Ok(())
    }

    /// Gives the object below the top its state.
    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        let target = self.top()?;
        let built = match (self.object(target), self.object(state)) {
            (Object::Array(_), Object::Tuple(parts)) => {
                self.array_state(parts).map(|state| Object::Array(Some(Box::new(state))))
            }
            (Object::Matrix(_), Object::Dict(_)) => Some(Object::Matrix(Some(state))),
            (Object::Element(element), Object::Tuple(parts)) => {
                // (version, byte order, ...): only little-endian numbers are accepted.
                let order = parts.get(1).map(|id| self.object(*id));
                let little = matches!(order, Some(Object::Bytes(b"<" | b"|" | b"=")));
                little.then_some(Object::Element(*element))
            }
            _ => None,
        };
        match (built, self.objects.get_mut(target as usize)) {
            (Some(built), Some(slot)) => {
                *slot = built;
                Ok(())
            }
            _ => Err(self.error("an object with a state that does not fit it", REFUSED)),
        }
    }

    /// `(version, shape, dtype, column-major?, bytes)`, with as many bytes as the shape needs.
    fn array_state(&self, parts: &[Id]) -> Option<ArrayState<'a>> {
        let [_, shape, element, fortran, data] = parts else { return None };
        let Object::Tuple(sides) = self.object(*shape) else { return None };
        let side = |id: &Id| match self.object(*id) {
            Object::Int(side) => usize::try_from(*side).ok(),
            _ => None,
        };
        let shape: Vec<usize> = sides.iter().map(side).collect::<Option<_>>()?;
        let Object::Element(element) = *self.object(*element) else { return None };
        let Object::Bytes(data) = *self.object(*data) else { return None };
        let matrix = shape.len() > 1;
        let row_major = match self.object(*fortran) {
            Object::Bool(fortran) => !(*fortran && matrix),
            Object::Int(fortran) => *fortran == 0 || !matrix,
            _ => false,
        };
        let count = shape.iter().try_fold(element.width(), |size, side| size.checked_mul(*side));
        (row_major && count == Some(data.len())).then_some(ArrayState { shape, element, data })
    }

    fn append(&mut self, items: &[Id]) -> Result<()> {
        let target = self.top()?;
        match self.objects.get_mut(target as usize) {
            Some(Object::List(list)) => {
                list.extend_from_slice(items);
                Ok(())
            }
            _ => Err(self.error("an item is added to something that is not a list", REFUSED)),
        }
    }

    fn set_items(&mut self, items: &[Id]) -> Result<()> {
        let target = self.top()?;
        match self.objects.get_mut(target as usize) {
            Some(Object::Dict(dict)) if items.len().is_multiple_of(2) => {
                dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
                Ok(())
            }
            _ => Err(self.error("items are put into something that is not a dictionary", REFUSED)),
        }
    }

    fn memorise(&mut self, key: u32) -> Result<()> {
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, key: u32) -> Result<()> {
        match self.memo.get(&key) {
            Some(id) => {
                self.stack.push(*id);
                Ok(())
            }
            None => Err(self.error(format!("memory {key} is read before it is written"), REFUSED)),
        }
    }

    fn push(&mut self, object: Object<'a>) {
        // Every object takes at least one instruction, so their number fits.
        self.stack.push(self.objects.len() as Id);
        self.objects.push(object);
    }

    fn object(&self, id: Id) -> &Object<'a> {
        self.objects.get(id as usize).unwrap_or(&Object::None)
    }

    /// Items below the last mark are out of reach until it is closed.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<Id> {
        match self.stack.last() {
            Some(id) if self.stack.len() > self.floor() => Ok(*id),
            _ => Err(self.underflow()),
        }
    }

    fn pop(&mut self) -> Result<Id> {
        let id = self.top()?;
        self.stack.pop();
        Ok(id)
    }

    fn pop_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| self.underflow())?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.next.checked_add(length);
        match end.and_then(|end| self.bytes.get(self.next..end)) {
            Some(slice) => {
                self.next += length;
                Ok(slice)
            }
            None => Err(self.error("the file ends in the middle", "it is truncated: get it again")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let slice = self.take(N)?;
        slice.try_into().map_err(|_| self.underflow())
    }

    fn long(&mut self) -> Result<i64> {
        let [length] = self.array()?;
        let bytes = self.take(length.into())?;
        if bytes.len() > 8 {
            return Err(self.error(format!("a whole number of {length} bytes"), REFUSED));
        }
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = if negative { [0xFF; 8] } else { [0; 8] };
        wide[..bytes.len()].copy_from_slice(bytes);
        Ok(i64::from_le_bytes(wide))
    }

    fn name_line(&mut self) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.next.min(self.bytes.len())..];
        match rest.iter().take(MAX_NAME).position(|byte| *byte == b'\n') {
            Some(length) => {
                self.next += length + 1;
                Ok(&rest[..length])
            }
            None => Err(self.error("a name without end", REFUSED)),
        }
    }

    fn underflow(&self) -> Error {
        self.error("an instruction finds too little on the stack", REFUSED)
    }

    fn error(&self, what: impl Into<String>, help: &str) -> Error {
        At::byte(self.path, self.at as u64).error(what, help)
    }
}
