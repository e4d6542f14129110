//! The loss of DAG-Net: agents that are not to be predicted have no part in it.

mod common;

use adjoin::nets::dagnet::{Losses, Unrolled};
use burn::tensor::{Int, Tensor, TensorData};
use common::*;

const AGENTS: usize = 3;
const STEPS: usize = 2;
const CELLS: usize = 4;

fn goals(values: &[i64]) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &device())
}

fn picked(values: &[f64], width: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|row| &values[row * width..(row + 1) * width]).copied().collect()
}

#[test]
fn agents_that_do_not_count_change_nothing_and_learn_nothing() {
    let rows = AGENTS * STEPS;
    let all: Vec<Vec<f64>> = [(1, 4), (2, 4), (3, 4), (4, CELLS), (5, 2)]
        .map(|(seed, width)| normals(seed, rows * width).iter().map(|v| 0.5 * v).collect())
        .to_vec();
    let cells: Vec<i64> = (0..rows as i64).map(|n| n % CELLS as i64).collect();
    // The second agent is a distractor.
    let kept: Vec<usize> = (0..rows).filter(|row| row % AGENTS != 1).collect();
    let losses = |rows: &[usize], counted: &[bool], faithful: bool| {
        let leaf = |at: usize, width: usize| {
            tensor(&picked(&all[at], width, rows), [rows.len(), width]).require_grad()
        };
        let unrolled = Unrolled {
            posterior: leaf(0, 4),
            prior: leaf(1, 4),
            step: leaf(2, 4),
            goals: leaf(3, CELLS),
        };
        let goals = goals(&rows.iter().map(|row| cells[*row]).collect::<Vec<i64>>());
        let found = Losses::new(&unrolled, &leaf(4, 2), &goals, counted, faithful);
        let terms =
            [&found.likelihood, &found.divergence, &found.goals].map(|term| values(term)[0]);
        let grads = found.total(0.7, 0.3).backward();
        let of = [&unrolled.posterior, &unrolled.prior, &unrolled.step, &unrolled.goals];
        let grads = of.map(|tensor| values(&tensor.grad(&grads).unwrap()));
        (terms.to_vec(), grads)
    };
    for faithful in [false, true] {
        let everybody: Vec<usize> = (0..rows).collect();
        let (masked, grads) = losses(&everybody, &[true, false, true], faithful);
        let (alone, expected) = losses(&kept, &[true, true], faithful);
        assert_close(&masked, &alone, 1e-9);
        for (found, expected) in grads.iter().zip(&expected) {
            let width = found.len() / rows;
            assert_close(&picked(found, width, &kept), expected, 1e-9);
            let others = picked(found, width, &[1, 4]);
            assert!(others.iter().all(|g| *g == 0.0), "{others:?}");
        }
        let (with, _) = losses(&everybody, &[true; 3], faithful);
        assert!(with.iter().zip(&masked).all(|(a, b)| (a - b).abs() > 1e-6), "{with:?} {masked:?}");
    }
}
