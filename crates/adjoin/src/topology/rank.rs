//! The entries of a row that rank first.

use super::Csr;

impl Csr {
    /// Positions of the `k` largest values of every row, increasing; of equal ones the first. `values` has
    /// one per edge.
    pub(crate) fn largest(&self, values: &[f64], k: usize) -> Vec<u32> {
        let mut chosen = Vec::with_capacity(self.edges());
        for row in 0..self.rows() {
            let mut entries: Vec<u32> = self.range(row).map(|entry| entry as u32).collect();
            // Stable: equal values stay in the order of their columns.
            entries.sort_by(|&a, &b| values[b as usize].total_cmp(&values[a as usize]));
            entries.truncate(k);
            entries.sort_unstable();
            chosen.extend(entries);
        }
        chosen
    }

    /// The edges at the given positions, which increase.
    pub(crate) fn keep(&self, entries: &[u32]) -> Self {
        let mut kept = entries.iter().peekable();
        self.filter(|entry, _, _| kept.next_if_eq(&&(entry as u32)).is_some())
    }
}
