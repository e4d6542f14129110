//! Nearest neighbours by matrix product and partial selection.
//!
//! With points centred on their mean, `|x_i - x_j|^2 = |x_i|^2 + (|x_j|^2 - 2 <x_i, x_j>)`, and the
//! bracket, here the *key* of j, orders the candidates of i. It is one inner product of length
//! `width + 1`: of `(-2 x_i, 1)` and `(x_j, |x_j|^2)`. A tile of keys (some rows by some thousand
//! columns) stays in cache while each of its rows is filtered.
//!
//! Points are packed once for all row blocks; the depth is often tiny (4 for points in space).

use super::{Metric, Near, Query, exact::Exact};
use crate::kernels::{
    Real,
    product::{HEIGHT, PANEL, product},
    vectorise,
};
use rayon::prelude::*;

/// Columns of a tile.
const TILE: usize = 64 * PANEL;
/// Rows of a tile.
const ROWS: usize = 6 * HEIGHT;
/// Keys compared at once when a row is filtered; divides a panel.
const RUN: usize = 16;
/// Groups whose minima bound the k-th smallest key come in multiples of this.
const GROUP: usize = 64;

pub(super) fn search<T: Real>(query: &Query<T>, indices: &mut [u32], distances: &mut [T]) {
    let others = query.size - usize::from(!query.include_self);
    // When everyone is a neighbour there is nothing to select.
    let packed = (query.count < others).then(|| Packed::new(&query.exact, query.size));
    // Small graphs use smaller blocks, or there would be too few to share out.
    let rows = (query.size / 8).next_multiple_of(HEIGHT).clamp(HEIGHT, ROWS);
    let workspace = || Workspace::new(query.count);
    query.for_blocks(
        rows,
        indices,
        distances,
        workspace,
        |workspace, first, indices, distances| {
            let rows = indices.len() / query.count;
            match &packed {
                Some(packed) => workspace.shortlist(packed, query, first, rows),
                None => workspace.everyone(query.size, rows),
            }
            let outputs =
                indices.chunks_exact_mut(query.count).zip(distances.chunks_exact_mut(query.count));
            for (row, (indices, distances)) in outputs.enumerate() {
                let own = (first + row) as u32;
                let shortlist = workspace.rows[row].shortlist.iter().filter(|near| {
                    // Padding of the last panel, and the point itself, have infinite keys; they get
                    // here only while the limit is infinite too.
                    (near.index as usize) < query.size && (query.include_self || near.index != own)
                });
                workspace.exact.clear();
                workspace
                    .exact
                    .extend(shortlist.map(|near| Near { value: 0.0, index: near.index }));
                query.exact.measure(first + row, &mut workspace.exact);
                query.write(&mut workspace.exact, indices, distances);
            }
        },
    );
}

/// The points of a graph, centred, scaled and packed for the product.
struct Packed<T> {
    /// `width + 1`.
    depth: usize,
    /// `[panels, depth, PANEL]`.
    panels: Vec<T>,
    /// How far the key of a neighbour may lie above the k-th smallest because of rounding:
    /// `slack * (norms[i] + |key + norms[i]|)`.
    slack: T,
    /// `|x_i|^2` for distances; `|x_i| max_j |x_j|` for products.
    norms: Vec<T>,
    centred: bool,
}

impl<T: Real> Packed<T> {
    fn new(exact: &Exact<T>, size: usize) -> Self {
        let (width, depth) = (exact.width, exact.width + 1);
        let centred = exact.metric == Metric::Euclidean;
        let mut mean = vec![0.0; width];
        if centred {
            for i in 0..size {
                for (sum, &value) in mean.iter_mut().zip(exact.row(i)) {
                    *sum += value.to_f64() * exact.scale;
                }
            }
            mean.iter_mut().for_each(|sum| *sum /= size as f64);
        }
        let count = size.div_ceil(PANEL);
        let mut panels = vec![T::ZERO; count * depth * PANEL];
        let mut norms = vec![T::ZERO; size];
        let pack = |(at, (panel, norms)): (usize, (&mut [T], &mut [T]))| {
            // Padding is infinitely far away.
            panel[width * PANEL + norms.len()..].fill(-T::NEG_INFINITY);
            for (lane, norm) in norms.iter_mut().enumerate() {
                let j = at * PANEL + lane;
                let scale = exact.inverse_norms.get(j).copied().unwrap_or(1.0) * exact.scale;
                let mut square = 0.0;
                for (c, (&value, mean)) in exact.row(j).iter().zip(&mean).enumerate() {
                    let value = T::from_f64(value.to_f64() * scale - mean);
                    square += value.to_f64() * value.to_f64();
                    panel[c * PANEL + lane] = value;
                }
                *norm = T::from_f64(square);
                if centred {
                    panel[width * PANEL + lane] = *norm;
                }
            }
        };
        let panel_len = depth * PANEL;
        let parts = panels.par_chunks_mut(panel_len).zip(norms.par_chunks_mut(PANEL)).enumerate();
        parts.with_min_len(8).for_each(pack);
        if !centred {
            let largest = norms.iter().fold(T::ZERO, |most, &norm| most.max(norm));
            norms.iter_mut().for_each(|norm| *norm = (*norm * largest).sqrt());
        }
        // The error of a key is at most about (width + 8) units of roundoff times
        // |x_i|^2 + |x_j|^2, and |x_j|^2 <= 2 |x_i|^2 + 2 |x_i - x_j|^2; a neighbour and the k-th
        // key can each be off by that. For products: of |x_i| |x_j|.
        let epsilon = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let slack = T::from_f64(4.0 * (width as f64 + 20.0) * epsilon);
        Self { depth, panels, slack, norms, centred }
    }

    /// The largest key that a true neighbour of `i` can have when the k-th smallest is `key`.
    #[inline(always)]
    fn limit(&self, i: usize, key: T) -> T {
        let norm = self.norms[i];
        let size = if self.centred { norm + (key + norm).abs() } else { norm };
        // The smallest normal number covers products that underflow.
        key + (self.slack * size + T::TINY)
    }
}

/// What a thread needs for a block of rows; reused from block to block.
struct Workspace<T> {
    left: Vec<T>,
    keys: Vec<T>,
    minima: Vec<T>,
    rows: Vec<Row<T>>,
    exact: Vec<Near<f64>>,
    count: usize,
}

/// The running selection of one row.
struct Row<T> {
    /// Every column so far whose key may belong to a neighbour.
    shortlist: Vec<Near<T>>,
    /// At least the k-th smallest key so far.
    bound: T,
}

impl<T: Real> Workspace<T> {
    fn new(count: usize) -> Self {
        let row = || Row { shortlist: Vec::with_capacity(4 * count), bound: T::ZERO };
        Self {
            left: Vec::new(),
            keys: Vec::new(),
            minima: vec![T::ZERO; (2 * count).next_multiple_of(GROUP)],
            rows: std::iter::repeat_with(row).take(ROWS).collect(),
            exact: Vec::with_capacity(4 * count),
            count,
        }
    }

    /// Shortlists all points for each of `rows` rows.
    fn everyone(&mut self, size: usize, rows: usize) {
        for row in &mut self.rows[..rows] {
            row.shortlist.clear();
            let all = (0..size as u32).map(|index| Near { value: T::ZERO, index });
            row.shortlist.extend(all);
        }
    }

    /// Shortlists, for each of `rows` rows from `first` on, every point that may be a neighbour.
    fn shortlist(&mut self, packed: &Packed<T>, query: &Query<T>, first: usize, rows: usize) {
        let depth = packed.depth;
        let padded = rows.next_multiple_of(HEIGHT);
        self.left.clear();
        self.left.resize(padded * depth, T::ZERO);
        let factor = T::from_f64(if packed.centred { -2.0 } else { -1.0 });
        for row in 0..rows {
            let left = &mut self.left[row / HEIGHT * depth * HEIGHT + row % HEIGHT..];
            let (panel, lane) = ((first + row) / PANEL, (first + row) % PANEL);
            let right = &packed.panels[panel * depth * PANEL + lane..];
            for c in 0..depth - 1 {
                left[c * HEIGHT] = factor * right[c * PANEL];
            }
            // Adds |x_j|^2; for products 0, or infinity for padding.
            left[(depth - 1) * HEIGHT] = T::ONE;
        }
        for row in &mut self.rows[..rows] {
            row.shortlist.clear();
            row.bound = -T::NEG_INFINITY;
        }
        let panel_len = depth * PANEL;
        for (tile, panels) in packed.panels.chunks(TILE / PANEL * panel_len).enumerate() {
            let start = tile * TILE;
            let columns = panels.len() / depth;
            self.keys.resize(padded * columns, T::ZERO);
            product(&self.left, panels, depth, &mut self.keys, false);
            for (row, keys) in self.keys.chunks_exact_mut(columns).take(rows).enumerate() {
                let i = first + row;
                if !query.include_self && (start..start + columns).contains(&i) {
                    keys[i - start] = -T::NEG_INFINITY;
                }
                let (state, minima) = (&mut self.rows[row], &mut self.minima[..]);
                // Later tiles have the bound of the earlier ones.
                if tile == 0 {
                    state.lower(keys, minima, self.count);
                }
                let limit = packed.limit(i, state.bound);
                vectorise!(filter, (&*keys, start as u32, limit, &mut state.shortlist));
                state.tighten(packed, i, self.count);
            }
        }
    }
}

impl<T: Real> Row<T> {
    /// Lowers the bound by the keys of a tile, without sorting them: of the minima of disjoint
    /// groups, the k-th smallest is at least the k-th smallest key.
    fn lower(&mut self, keys: &[T], minima: &mut [T], count: usize) {
        minima.fill(-T::NEG_INFINITY);
        vectorise!(group_minima, (keys, &mut *minima));
        let (_, kth, _) = minima.select_nth_unstable_by(count - 1, |a, b| {
            a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
        });
        self.bound = self.bound.min(*kth);
    }

    /// Drops what the keys so far rule out, when there is enough of it to be worth the while.
    fn tighten(&mut self, packed: &Packed<T>, i: usize, count: usize) {
        if self.shortlist.len() <= 2 * count + RUN {
            return;
        }
        let (_, kth, _) = self.shortlist.select_nth_unstable_by(count - 1, Near::order);
        self.bound = kth.value;
        let limit = packed.limit(i, self.bound);
        self.shortlist.retain(|near| near.value <= limit);
    }
}

#[inline(always)]
fn group_minima<T: Real>((keys, minima): (&[T], &mut [T])) {
    for chunk in keys.chunks(minima.len()) {
        for (least, &key) in minima.iter_mut().zip(chunk) {
            *least = least.min(key);
        }
    }
}

/// Appends the columns whose key is at most `limit`. Most runs of keys hold none, which a vector
/// comparison finds out at once.
#[inline(always)]
fn filter<T: Real>((keys, start, limit, out): (&[T], u32, T, &mut Vec<Near<T>>)) {
    for (at, chunk) in keys.chunks_exact(RUN).enumerate() {
        if chunk.iter().fold(false, |any, &key| any | (key <= limit)) {
            for (lane, &value) in chunk.iter().enumerate() {
                if value <= limit {
                    out.push(Near { value, index: start + (at * RUN + lane) as u32 });
                }
            }
        }
    }
}
