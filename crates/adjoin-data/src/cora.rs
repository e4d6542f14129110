//! Cora, carried inside the program: 2708 papers, so that a first run needs no file and no network.
//!
//! `scripts/make_cora_asset.py` makes the asset and describes its layout.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::dataset::NodeDataset;
use crate::edges::simplify;
use crate::error::{At, Error, Result};
use crate::features::Features;
use crate::split::Split;

static ASSET: &[u8] = include_bytes!("../assets/cora.bin");
const MAGIC: &[u8] = b"ADJCORA1";
/// More than twice what Cora needs, so that a damaged asset cannot ask for all memory.
const LIMIT: u64 = 1 << 20;

/// The Cora citation graph (Sen et al. 2008) in Planetoid's order, with its `public` split of
/// 140 / 500 / 1000 nodes. Node ids are the paper ids of the LINQS files.
///
/// An error means that the program file itself is damaged.
pub fn cora() -> Result<NodeDataset> {
    decode(ASSET)
}

fn decode(asset: &[u8]) -> Result<NodeDataset> {
    let Some(packed) = asset.strip_prefix(MAGIC) else {
        return Err(damaged(0));
    };
    let mut plain = Vec::new();
    ZlibDecoder::new(packed).take(LIMIT).read_to_end(&mut plain).map_err(|_| damaged(8))?;
    let mut input = Varints { bytes: &plain, at: 0 };

    let nodes = input.count()?;
    let columns = input.count()?;
    let classes = input.count()?;
    let edge_count = input.count()?;
    let class_names = (0..classes).map(|_| input.text()).collect::<Result<_>>()?;
    let labels = (0..nodes).map(|_| input.number()).collect::<Result<_>>()?;
    let node_ids = (0..nodes).map(|_| input.text()).collect::<Result<_>>()?;
    let mut rows = Vec::new();
    for _ in 0..nodes {
        let length = input.count()?;
        let mut column = 0;
        let mut row = Vec::new();
        for _ in 0..length {
            column = input.after(column)?;
            row.push((column, 1.0));
        }
        rows.push(row);
    }
    let mut edges = Vec::new();
    let (mut u, mut v) = (0, 0);
    for _ in 0..edge_count {
        let next = input.after(u)?;
        v = input.after(if next == u { v } else { next })?;
        u = next;
        edges.push((u, v));
    }
    let dataset = NodeDataset {
        name: "cora".into(),
        features: Features::from_rows(columns, rows).ok_or_else(|| damaged(input.at))?,
        missing: None,
        feature_names: Vec::new(),
        edges: simplify(edges),
        marks: Default::default(),
        weights: None,
        labels,
        class_names,
        node_ids,
        splits: vec![Split::new(
            "public",
            (0..140).collect(),
            (140..640).collect(),
            (1708..2708).collect(),
        )?],
    };
    dataset.validate()?;
    Ok(dataset)
}

fn damaged(byte: usize) -> Error {
    At::byte(Path::new("embedded cora.bin"), byte as u64)
        .error("the data inside the program is damaged", "build or install adjoin again")
}

/// Unsigned LEB128 numbers, one after the other.
struct Varints<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Varints<'_> {
    fn number(&mut self) -> Result<u32> {
        let mut value = 0u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = *self.bytes.get(self.at).ok_or_else(|| damaged(self.at))?;
            self.at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| damaged(self.at));
            }
        }
        Err(damaged(self.at))
    }

    /// A number of things that follow; each takes at least a byte, which bounds it.
    fn count(&mut self) -> Result<usize> {
        let count = self.number()? as usize;
        if count > self.bytes.len() { Err(damaged(self.at)) } else { Ok(count) }
    }

    /// The next number, stored as its distance from `base`.
    fn after(&mut self, base: u32) -> Result<u32> {
        let gap = self.number()?;
        base.checked_add(gap).ok_or_else(|| damaged(self.at))
    }

    fn text(&mut self) -> Result<String> {
        let length = self.count()?;
        let bytes = self.bytes.get(self.at..self.at + length).ok_or_else(|| damaged(self.at))?;
        self.at += length;
        String::from_utf8(bytes.to_vec()).map_err(|_| damaged(self.at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_asset_is_cora() {
        let cora = cora().unwrap();
        assert!(ASSET.len() < 200_000);
        assert_eq!((cora.nodes(), cora.edges.len(), cora.classes()), (2708, 5278, 7));
        assert_eq!((cora.features.columns(), cora.features.nonzeros()), (1433, 49216));
        assert_eq!(cora.class_names[3], "Neural_Networks");
        assert_eq!(cora.node_ids[0], "1110563");
        // Twenty training nodes of each class, as published.
        for class in 0..7 {
            let of_class = |node: &&u32| cora.label(**node) == Some(class);
            assert_eq!(cora.splits[0].train.iter().filter(of_class).count(), 20);
        }
    }

    proptest! {
        #[test]
        fn damage_is_an_error_not_a_panic(place in 0..ASSET.len(), byte: u8, cut in 0..ASSET.len()) {
            let mut asset = ASSET.to_vec();
            asset[place] = byte;
            let _ = decode(&asset);
            prop_assert!(decode(&ASSET[..cut]).is_err());
        }
    }
}
