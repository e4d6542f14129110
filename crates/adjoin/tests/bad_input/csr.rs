//! Graphs: constructors, round trips, batches.

use crate::no_panic;
use adjoin::{Batch, Csr, Error, SelfLoops};
use proptest::prelude::*;

/// Any directed graph, not necessarily square.
fn graphs() -> impl Strategy<Value = Csr> {
    (0usize..8, 0usize..8).prop_flat_map(|(rows, columns)| {
        let most = if rows * columns == 0 { 0 } else { 20 };
        let edge = (0..rows.max(1) as u32, 0..columns.max(1) as u32);
        prop::collection::vec(edge, 0..=most)
            .prop_map(move |edges| Csr::from_edges(rows, columns, edges, SelfLoops::Keep).unwrap())
    })
}

fn square() -> impl Strategy<Value = Csr> {
    (0usize..7).prop_flat_map(|nodes| {
        let edge = (0..nodes.max(1) as u32, 0..nodes.max(1) as u32);
        prop::collection::vec(edge, 0..=if nodes == 0 { 0 } else { 15 })
            .prop_map(move |edges| Csr::from_edges(nodes, nodes, edges, SelfLoops::Keep).unwrap())
    })
}

fn valid(graph: &Csr) -> bool {
    let (pointers, indices) = (graph.pointers().to_vec(), graph.indices().to_vec());
    Csr::new(graph.columns(), pointers, indices).as_ref() == Ok(graph)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_pointers_and_indices_are_taken_or_refused_with_the_place(
        columns in 0usize..6,
        pointers in prop::collection::vec(0u32..8, 0..6),
        indices in prop::collection::vec(0u32..7, 0..8),
    ) {
        let run = || Csr::new(columns, pointers.clone(), indices.clone());
        match no_panic("Csr::new", run).unwrap() {
            Ok(graph) => {
                prop_assert_eq!(graph.pointers(), &pointers[..]);
                prop_assert_eq!(graph.indices(), &indices[..]);
                for i in 0..graph.rows() {
                    prop_assert!(graph.row(i).is_sorted_by(|a, b| a < b));
                    prop_assert!(graph.row(i).iter().all(|&j| (j as usize) < columns));
                }
            }
            Err(Error::RowPointer { row, found, .. }) => {
                prop_assert_eq!(pointers.get(row).map_or(0, |&p| p as usize), found);
            }
            Err(Error::NodeOutOfRange { entry, row, column, .. }) => {
                prop_assert_eq!(indices[entry] as usize, column);
                prop_assert!(column >= columns);
                prop_assert!((pointers[row] as usize..pointers[row + 1] as usize).contains(&entry));
            }
            Err(Error::UnsortedRow { row, entry, previous, column }) => {
                prop_assert_eq!((indices[entry - 1], indices[entry]), (previous as u32, column as u32));
                prop_assert!(previous >= column);
                prop_assert!((pointers[row] as usize..pointers[row + 1] as usize).contains(&entry));
            }
            Err(other) => prop_assert!(false, "unexpected {other}"),
        }
    }

    #[test]
    fn edge_lists_name_the_first_edge_at_fault(
        rows in 0usize..6,
        columns in 0usize..6,
        edges in prop::collection::vec((0u32..7, 0u32..7), 0..12),
    ) {
        let bad = edges.iter().position(|&(i, j)| i as usize >= rows || j as usize >= columns);
        for loops in [SelfLoops::Keep, SelfLoops::Drop, SelfLoops::Add] {
            match Csr::from_edges(rows, columns, edges.clone(), loops) {
                Ok(graph) => {
                    prop_assert!(bad.is_none() && valid(&graph));
                    let kept = |i: u32, j: u32| i != j || loops != SelfLoops::Drop;
                    for &(i, j) in &edges {
                        prop_assert_eq!(graph.find(i as usize, j).is_some(), kept(i, j));
                    }
                    let diagonal = (0..rows).filter(|&i| graph.find(i, i as u32).is_some()).count();
                    if loops == SelfLoops::Add {
                        prop_assert_eq!(diagonal, rows.min(columns));
                    }
                }
                Err(Error::NodeOutOfRange { entry, row, column, .. }) => {
                    prop_assert_eq!(Some(entry), bad);
                    prop_assert_eq!((row as u32, column as u32), edges[entry]);
                }
                Err(other) => prop_assert!(false, "unexpected {other}"),
            }
        }
        let square = Csr::undirected(rows, edges.clone(), SelfLoops::Keep);
        let bad = edges.iter().position(|&(i, j)| i.max(j) as usize >= rows);
        match square {
            Ok(graph) => prop_assert!(bad.is_none() && graph.is_symmetric()),
            Err(Error::NodeOutOfRange { entry, .. }) => prop_assert_eq!(Some(entry), bad),
            Err(other) => prop_assert!(false, "unexpected {other}"),
        }
    }

    #[test]
    fn coordinates_there_and_back(graph in graphs()) {
        let pairs: Vec<(u32, u32)> = graph.iter().collect();
        prop_assert!(valid(&graph));
        prop_assert_eq!(pairs.len(), graph.edges());
        prop_assert_eq!(pairs.iter().map(|p| p.0).collect::<Vec<_>>(), graph.row_indices());
        let reversed = pairs.iter().rev().chain(&pairs).copied();
        let back = Csr::from_edges(graph.rows(), graph.columns(), reversed, SelfLoops::Keep);
        prop_assert_eq!(back.unwrap(), graph);
    }

    #[test]
    fn transposed_twice_is_the_same(graph in graphs()) {
        let transposed = graph.transposed();
        prop_assert!(valid(&transposed));
        for (i, j) in graph.iter() {
            prop_assert!(transposed.find(j as usize, i).is_some());
        }
        let transpose = graph.transpose();
        let pairs: Vec<(u32, u32)> = graph.iter().collect();
        for (at, (j, i)) in transposed.iter().enumerate() {
            prop_assert_eq!(pairs[transpose.entries[at] as usize], (i, j));
        }
        prop_assert_eq!(transposed.transposed(), graph);
    }

    #[test]
    fn unions_and_filters(a in graphs(), b in graphs()) {
        match a.union(&b) {
            Ok(both) => {
                prop_assert!(valid(&both));
                let has = |g: &Csr, i: u32, j: u32| g.find(i as usize, j).is_some();
                prop_assert!(both.iter().all(|(i, j)| has(&a, i, j) || has(&b, i, j)));
                prop_assert!(a.iter().chain(b.iter()).all(|(i, j)| has(&both, i, j)));
                prop_assert_eq!(both.filter(|_, i, j| has(&a, i, j)), a.clone());
            }
            Err(Error::Shape { .. }) => {
                prop_assert!((a.rows(), a.columns()) != (b.rows(), b.columns()));
            }
            Err(other) => prop_assert!(false, "unexpected {other}"),
        }
        prop_assert_eq!(a.union(&a).unwrap(), a.clone());
        let looped = a.with_self_loops(SelfLoops::Add);
        prop_assert!(valid(&looped));
        prop_assert_eq!(looped.with_self_loops(SelfLoops::Add), looped.clone());
        prop_assert_eq!(looped.with_self_loops(SelfLoops::Drop), a.with_self_loops(SelfLoops::Drop));
    }

    #[test]
    fn blocks_there_and_back(graphs in prop::collection::vec(square(), 0..5)) {
        let (joined, batch) = Csr::block_diagonal(&graphs).unwrap();
        prop_assert!(valid(&joined));
        prop_assert_eq!(batch.graphs(), graphs.len());
        prop_assert_eq!(joined.split(&batch).unwrap(), graphs.clone());
        prop_assert_eq!(batch.graph_of_nodes().len(), joined.rows());
        // Cut elsewhere: refused by the edge that crosses, or nothing crosses.
        let nodes = joined.rows();
        if nodes > 1 {
            let cut = Batch::of_sizes([nodes / 2, nodes - nodes / 2]);
            let half = (nodes / 2) as u32;
            let crossing = joined.iter().position(|(i, j)| (i < half) != (j < half));
            match joined.split(&cut) {
                Ok(_) => prop_assert!(crossing.is_none()),
                Err(Error::BetweenGraphs { entry, row, column }) => {
                    prop_assert_eq!(Some(entry), crossing);
                    let pair = joined.iter().nth(entry).unwrap();
                    prop_assert_eq!((row as u32, column as u32), pair);
                }
                Err(other) => prop_assert!(false, "unexpected {other}"),
            }
        }
        let wrong = Batch::single(nodes + 1);
        let refused = matches!(joined.split(&wrong), Err(Error::Shape { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn blocks_must_be_square(graph in graphs()) {
        let result = Csr::block_diagonal(std::slice::from_ref(&graph));
        prop_assert_eq!(result.is_ok(), graph.rows() == graph.columns());
    }
}
