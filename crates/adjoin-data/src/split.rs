//! Which nodes train, which choose, which judge.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A named partition of (some of) the nodes. Indices are sorted and in one part only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The name under which it is asked for and reported, e.g. `public` or `random:7`.
    pub name: String,
    /// Nodes whose labels are learned from.
    pub train: Vec<u32>,
    /// Nodes whose labels choose epochs and settings.
    pub valid: Vec<u32>,
    /// Nodes whose labels give the final number.
    pub test: Vec<u32>,
}

impl Split {
    /// Sorts the parts and checks that no node is in two of them, or twice in one.
    pub fn new(
        name: impl Into<String>,
        mut train: Vec<u32>,
        mut valid: Vec<u32>,
        mut test: Vec<u32>,
    ) -> Result<Self> {
        train.sort_unstable();
        valid.sort_unstable();
        test.sort_unstable();
        let split = Self { name: name.into(), train, valid, test };
        split.check_disjoint()?;
        Ok(split)
    }

    /// Fails, naming the node, when a node is in two parts or twice in one.
    pub fn check_disjoint(&self) -> Result<()> {
        let parts = [("train", &self.train), ("valid", &self.valid), ("test", &self.test)];
        let mut seen: Vec<(u32, &str)> = parts
            .iter()
            .flat_map(|(part, nodes)| nodes.iter().map(|node| (*node, *part)))
            .collect();
        seen.sort_by_key(|(node, _)| *node);
        match seen.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(()),
            Some(pair) => {
                let (node, first) = pair[0];
                Err(Error::Split {
                    spec: self.name.clone(),
                    what: format!("node {node} is in `{first}` and again in `{}`", pair[1].1),
                    help: "a node may be in one part only, once; remove it from the other".into(),
                })
            }
        }
    }

    /// Fails when a part names a node that does not exist.
    pub fn check_range(&self, nodes: usize) -> Result<()> {
        let all = self.train.iter().chain(&self.valid).chain(&self.test);
        match all.copied().find(|node| *node as usize >= nodes) {
            None => Ok(()),
            Some(node) => Err(Error::Split {
                spec: self.name.clone(),
                what: format!("node {node} is named but there are only {nodes} nodes"),
                help: "nodes are counted from 0".into(),
            }),
        }
    }

    /// Sixteen hex digits that change when the name or any index changes, and never otherwise: the
    /// start of the SHA-256 of the name and the parts, each with its length, little-endian.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"adjoin split 1");
        hasher.update((self.name.len() as u64).to_le_bytes());
        hasher.update(self.name.as_bytes());
        for part in [&self.train, &self.valid, &self.test] {
            hasher.update((part.len() as u64).to_le_bytes());
            part.iter().for_each(|node| hasher.update(node.to_le_bytes()));
        }
        hex(&hasher.finalize()[..8])
    }

    /// The same training nodes plus the first half of the validation nodes (by index, rounded down);
    /// the other half stays for validation and the test nodes stay as they are.
    pub fn with_half_validation(&self, name: impl Into<String>) -> Result<Self> {
        let (joining, staying) = self.valid.split_at(self.valid.len() / 2);
        let train = self.train.iter().chain(joining).copied().collect();
        Self::new(name, train, staying.to_vec(), self.test.clone())
    }
}

/// Lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_sorted_and_must_not_overlap() {
        let split = Split::new("s", vec![2, 0], vec![1], vec![3]).unwrap();
        assert_eq!(split.train, [0, 2]);
        let error = Split::new("s", vec![0, 5], vec![1], vec![5]).unwrap_err().to_string();
        assert!(error.contains("node 5 is in `train` and again in `test`"), "{error}");
        assert!(Split::new("s", vec![4, 4], vec![], vec![]).is_err());
        assert!(split.check_range(4).is_ok());
        assert!(split.check_range(3).unwrap_err().to_string().contains("node 3"));
    }

    #[test]
    fn the_hash_is_stable_and_sees_everything() {
        let make = |name: &str, train: &[u32], valid: &[u32]| {
            Split::new(name, train.to_vec(), valid.to_vec(), vec![]).unwrap().hash()
        };
        assert_eq!(make("s", &[0, 1], &[2]), FROZEN);
        assert_ne!(make("s", &[0], &[1, 2]), FROZEN);
        assert_ne!(make("t", &[0, 1], &[2]), FROZEN);
    }

    /// Results are published with these digits: they must not change.
    const FROZEN: &str = "2e857dc1ae7d342a";

    #[test]
    fn half_of_the_validation_nodes_move() {
        let split = Split::new("s", vec![9], vec![4, 3, 2], vec![0]).unwrap();
        let half = split.with_half_validation("h").unwrap();
        assert_eq!((half.train, half.valid, half.test), (vec![2, 9], vec![3, 4], vec![0]));
    }
}
