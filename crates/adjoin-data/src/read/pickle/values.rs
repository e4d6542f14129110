//! Takes arrays, sparse matrices and adjacency lists out of a finished pickle.

use super::{ArrayState, Element, Id, Object, Pickle};
use crate::error::Result;

/// One list of (column, value) a row.
pub(crate) struct SparseRows {
    pub columns: usize,
    pub rows: Vec<Vec<(u32, f32)>>,
}

/// A matrix of which each row marks one column: classes.
pub(crate) struct OneHot {
    pub columns: usize,
    /// The column marked in each row; `None` for a row of zeros.
    pub rows: Vec<Option<u32>>,
}

impl<'a> Pickle<'a> {
    /// The sparse matrix that the file is.
    pub fn sparse_rows(&self) -> Result<SparseRows> {
        let Object::Matrix(Some(state)) = self.object(self.root) else {
            return Err(self.error("not a sparse matrix"));
        };
        let (rows, columns) = match self.attribute(*state, &[b"_shape", b"shape"]) {
            Some(Object::Tuple(sides)) => match (sides.first(), sides.get(1), sides.len()) {
                (Some(rows), Some(columns), 2) => (self.size(*rows)?, self.size(*columns)?),
                _ => return Err(self.error("a matrix without two sides")),
            },
            _ => return Err(self.error("a matrix without shape")),
        };
        let pointers = self.whole_numbers(self.attribute_array(*state, b"indptr")?)?;
        let indices = self.whole_numbers(self.attribute_array(*state, b"indices")?)?;
        let values = self.floats(self.attribute_array(*state, b"data")?)?;
        if pointers.len().checked_sub(1) != Some(rows) {
            return Err(self.error(format!("{} row pointers for {rows} rows", pointers.len())));
        }
        let place = |pointer: i64| usize::try_from(pointer).ok();
        let row = |pair: &[i64]| {
            let range = place(pair[0])?..place(pair[1])?;
            let cells = indices.get(range.clone())?.iter().zip(values.get(range)?);
            cells.map(|(column, value)| Some((u32::try_from(*column).ok()?, *value))).collect()
        };
        match pointers.windows(2).map(row).collect() {
            Some(rows) => Ok(SparseRows { columns, rows }),
            None => Err(self.error("a matrix whose row pointers or columns are out of range")),
        }
    }

    /// The class matrix that the file is.
    pub fn one_hot(&self) -> Result<OneHot> {
        let Object::Array(Some(array)) = self.object(self.root) else {
            return Err(self.error("not an array"));
        };
        let [rows, columns] = array.shape[..] else {
            return Err(self.error(format!("an array of shape {:?}, not a matrix", array.shape)));
        };
        let values = self.whole_numbers(array)?;
        if columns == 0 {
            return Err(self.error("a matrix of no classes"));
        }
        let marked = values
            .chunks_exact(columns)
            .map(|row| row.iter().position(|value| *value != 0).map(|column| column as u32));
        let rows_found: Vec<Option<u32>> = marked.collect();
        if rows_found.len() != rows {
            return Err(self.error(format!("{} rows instead of {rows}", rows_found.len())));
        }
        Ok(OneHot { columns, rows: rows_found })
    }

    /// The graph that the file is: pairs (node, neighbour) and the number of nodes listed.
    pub fn adjacency(&self) -> Result<(Vec<(u32, u32)>, usize)> {
        let Object::Dict(entries) = self.object(self.root) else {
            return Err(self.error("not a dictionary of neighbours"));
        };
        let mut pairs = Vec::new();
        let mut nodes = 0;
        for (key, neighbours) in entries {
            let node = self.node(*key)?;
            nodes = nodes.max(node as usize + 1);
            let Object::List(neighbours) = self.object(*neighbours) else {
                return Err(self.error(format!("the neighbours of node {node} are not a list")));
            };
            // A list may be referred to again and again, but an honest file spends bytes on each item.
            if pairs.len() + neighbours.len() > self.length {
                return Err(self.error("more neighbours than the file could hold"));
            }
            for neighbour in neighbours {
                pairs.push((node, self.node(*neighbour)?));
            }
        }
        Ok((pairs, nodes))
    }

    fn object(&self, id: Id) -> &Object<'a> {
        self.objects.get(id as usize).unwrap_or(&Object::None)
    }

    fn node(&self, id: Id) -> Result<u32> {
        match self.object(id) {
            // Bounded, so that one wild number cannot make billions of nodes.
            Object::Int(node @ 0..=0x0FFF_FFFF) => Ok(*node as u32),
            _ => Err(self.error("a node that is not a number from 0 to 268435455")),
        }
    }

    fn size(&self, id: Id) -> Result<usize> {
        match self.object(id) {
            Object::Int(size @ 0..=0x0FFF_FFFF) => Ok(*size as usize),
            _ => Err(self.error("a matrix side that is not a number from 0 to 268435455")),
        }
    }

    fn attribute(&self, state: Id, names: &[&[u8]]) -> Option<&Object<'a>> {
        let Object::Dict(entries) = self.object(state) else { return None };
        let matches =
            |key: &Id| matches!(self.object(*key), Object::Bytes(name) if names.contains(name));
        entries.iter().find(|(key, _)| matches(key)).map(|(_, value)| self.object(*value))
    }

    fn attribute_array(&self, state: Id, name: &'static [u8]) -> Result<&ArrayState<'a>> {
        match self.attribute(state, &[name]) {
            Some(Object::Array(Some(array))) if array.shape.len() == 1 => Ok(array),
            _ => Err(self
                .error(format!("a matrix without the array `{}`", String::from_utf8_lossy(name)))),
        }
    }

    fn whole_numbers(&self, array: &ArrayState<'a>) -> Result<Vec<i64>> {
        let numbers = array.data.chunks_exact(array.element.width());
        match array.element {
            Element::I4 => Ok(numbers
                .map(|b| i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])))
                .collect()),
            Element::I8 => Ok(numbers.map(|b| i64::from_le_bytes(eight(b))).collect()),
            Element::F4 | Element::F8 => Err(self.error("fractions where whole numbers belong")),
        }
    }

    fn floats(&self, array: &ArrayState<'a>) -> Result<Vec<f32>> {
        let numbers = array.data.chunks_exact(array.element.width());
        Ok(match array.element {
            Element::F4 => numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
            Element::F8 => numbers.map(|b| f64::from_le_bytes(eight(b)) as f32).collect(),
            Element::I4 | Element::I8 => {
                self.whole_numbers(array)?.into_iter().map(|value| value as f32).collect()
            }
        })
    }
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    out
}
