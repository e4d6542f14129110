//! Nearest neighbours of points in up to three dimensions by a k-d tree.
//!
//! Splits are by rank, so repeated points do no harm, and leaves hold enough points to be scanned
//! with vector instructions.

use super::{Near, Query};
use crate::kernels::{Real, vectorised};

/// Most dimensions served; fewer are padded with zeros.
pub(super) const MAX_WIDTH: usize = 3;
/// Most points of a leaf.
const LEAF: usize = 32;

pub(super) fn search<T: Real>(query: &Query<T>, indices: &mut [u32], distances: &mut [T]) {
    const ROWS: usize = 128;
    let tree = Tree::new(query);
    let workspace = || Workspace { stack: Vec::with_capacity(64), near: Vec::new() };
    query.for_blocks(ROWS, indices, distances, workspace, |workspace, first, indices, distances| {
        let outputs =
            indices.chunks_exact_mut(query.count).zip(distances.chunks_exact_mut(query.count));
        for (row, (indices, distances)) in outputs.enumerate() {
            vectorised(collect, (&tree, query, first + row, &mut *workspace));
            query.write(&mut workspace.near, indices, distances);
        }
    });
}

/// A point in scaled units.
type Point = [f64; MAX_WIDTH];

struct Node {
    low: Point,
    high: Point,
    /// Points of a leaf, as positions in the tree's order.
    start: u32,
    len: u32,
    /// Second child; the first follows its parent. 0 for a leaf.
    second: u32,
}

struct Tree {
    nodes: Vec<Node>,
    /// Points in tree order, and the same coordinates side by side, a leaf's worth of padding last.
    order: Vec<u32>,
    coordinates: [Vec<f64>; MAX_WIDTH],
    points: Vec<Point>,
}

struct Workspace {
    stack: Vec<(f64, u32)>,
    near: Vec<Near<f64>>,
}

impl Tree {
    fn new<T: Real>(query: &Query<T>) -> Self {
        let points: Vec<Point> = (0..query.size)
            .map(|i| {
                let mut point = [0.0; MAX_WIDTH];
                for (to, &from) in point.iter_mut().zip(query.exact.row(i)) {
                    *to = from.to_f64() * query.exact.scale;
                }
                point
            })
            .collect();
        let mut order: Vec<u32> = (0..query.size as u32).collect();
        let mut nodes = Vec::with_capacity(4 * query.size.div_ceil(LEAF));
        grow(&points, &mut order, 0, &mut nodes);
        let coordinates = std::array::from_fn(|axis| {
            let ordered = order.iter().map(|&i| points[i as usize][axis]);
            ordered.chain(std::iter::repeat_n(0.0, LEAF)).collect()
        });
        Self { nodes, order, coordinates, points }
    }
}

/// Adds the nodes over `order`, which starts at position `start` of the whole order.
fn grow(points: &[Point], order: &mut [u32], start: usize, nodes: &mut Vec<Node>) {
    let (mut low, mut high) = ([f64::INFINITY; MAX_WIDTH], [f64::NEG_INFINITY; MAX_WIDTH]);
    for &i in order.iter() {
        for axis in 0..MAX_WIDTH {
            low[axis] = low[axis].min(points[i as usize][axis]);
            high[axis] = high[axis].max(points[i as usize][axis]);
        }
    }
    let own = nodes.len();
    let len = order.len();
    nodes.push(Node { low, high, start: start as u32, len: len as u32, second: 0 });
    if len <= LEAF {
        return;
    }
    let extent = |axis: usize| high[axis] - low[axis];
    let axis = (1..MAX_WIDTH).fold(0, |widest, a| if extent(a) > extent(widest) { a } else { widest });
    // Whole leaves on the left, so that most leaves are full.
    let middle = (len / 2).next_multiple_of(LEAF).min(len - 1);
    order.select_nth_unstable_by(middle, |&a, &b| {
        points[a as usize][axis].total_cmp(&points[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = order.split_at_mut(middle);
    grow(points, left, start, nodes);
    nodes[own].second = nodes.len() as u32;
    grow(points, right, start + middle, nodes);
}

/// Collects every point that may be among the nearest of point `i`, with its squared distance.
#[inline(always)]
fn collect<T: Real>((tree, query, i, workspace): (&Tree, &Query<T>, usize, &mut Workspace)) {
    let point = tree.points[i];
    let Workspace { stack, near } = workspace;
    near.clear();
    stack.clear();
    stack.push((0.0, 0));
    let mut bound = f64::INFINITY;
    // Sorting out less often than a leaf at a time saves more than the wider bound costs.
    let full = query.count + 2 * LEAF;
    while let Some((distance, at)) = stack.pop() {
        // A box as far as the bound may hold a tie of lower index.
        if distance > bound {
            continue;
        }
        let node = &tree.nodes[at as usize];
        if node.second != 0 {
            let [first, second] = [at + 1, node.second].map(|child| {
                (box_distance(&tree.nodes[child as usize], &point), child)
            });
            // The nearer box goes on top.
            let (top, below) = if second.0 < first.0 { (second, first) } else { (first, second) };
            stack.extend([below, top]);
            continue;
        }
        let start = node.start as usize;
        let mut squares = [0.0f64; LEAF];
        let [x, y, z] = &tree.coordinates;
        let lanes = start..start + LEAF;
        let (x, y, z) = (&x[lanes.clone()], &y[lanes.clone()], &z[lanes]);
        for lane in 0..LEAF {
            squares[lane] = square_sum([x[lane] - point[0], y[lane] - point[1], z[lane] - point[2]]);
        }
        let leaf = &tree.order[start..start + node.len as usize];
        for (&index, &value) in leaf.iter().zip(&squares) {
            if value <= bound && (query.include_self || index as usize != i) {
                near.push(Near { value, index });
            }
        }
        if near.len() >= full || (bound == f64::INFINITY && near.len() >= query.count) {
            let (_, kth, _) = near.select_nth_unstable_by(query.count - 1, Near::order);
            bound = kth.value;
            near.truncate(query.count);
        }
    }
}

/// Squared distance to the nearest point of a node's box. In floating point, too, it is never above
/// that of a point in the box: every operation rounds monotonically.
#[inline(always)]
fn box_distance(node: &Node, point: &Point) -> f64 {
    square_sum(std::array::from_fn(|axis| {
        f64::max(0.0, f64::max(node.low[axis] - point[axis], point[axis] - node.high[axis]))
    }))
}

/// Adds in the order in which `Exact` does, so that both ways of searching agree in every bit.
#[inline(always)]
fn square_sum([x, y, z]: Point) -> f64 {
    (x * x + z * z) + y * y
}
