//! Losses on scores, graphs and predictions.

use crate::file::{both, double, numbers_of};
use adjoin::{
    Adjacency, Key,
    loss::{TrainingPairs, consistency, low_rank, sparsity},
    ops,
};
use burn::tensor::Tensor;

#[test]
fn intermediate() {
    both("losses", |file| {
        let candidates = file.csr("intermediate.", 9);
        let classes = file.integers("intermediate.classes");
        let train = file.integers("intermediate.train");
        let training: Vec<u32> = (0..9).filter(|&i| train[i as usize] == 1).collect();
        let labels: Vec<u32> = training.iter().map(|&i| classes[i as usize]).collect();
        let pairs = TrainingPairs::new(9, &training, &labels, Some(&candidates)).unwrap();
        let entries: Vec<u32> = pairs
            .pairs()
            .iter()
            .map(|(i, j)| candidates.find(i as usize, j).unwrap() as u32)
            .collect();
        let log_p = file.leaf("intermediate.logp");
        let loss = pairs.loss(&ops::take(&log_p, entries, 0.0).unwrap()).unwrap();
        file.check("intermediate.out", &loss);
        file.check_grads("intermediate.", &loss.backward(), &[("logp", &log_p)]);
    });
}

#[test]
fn leading_singular_values() {
    double("losses", |file| {
        let topology = file.csr("low_rank.", 8);
        for rank in 1..=3 {
            let (case, weights) = (format!("low_rank.{rank}."), file.leaf("low_rank.weights"));
            let stop = ops::Convergence { tolerance: 1e-12, most: 100 };
            let loss = ops::nuclear(&topology, &weights, rank, stop, Key::new(3)).unwrap();
            file.check(&format!("{case}out"), &loss);
            file.check_grads(&case, &loss.backward(), &[("weights", &weights)]);
            // The loss itself takes a few steps only.
            let graph = Adjacency::new(topology.clone(), weights.clone()).unwrap();
            let found = numbers_of(&low_rank(&graph, rank, Key::new(3)).unwrap())[0];
            let exact = file.scalar(&format!("{case}out"));
            assert!(found <= exact + 1e-9 && found > 0.98 * exact, "{found}, exact {exact}");
        }
        let graph = Adjacency::new(topology, file.leaf("low_rank.weights")).unwrap();
        let total: f64 = file.numbers("low_rank.weights").iter().sum();
        assert!((numbers_of(&sparsity(&graph))[0] - total / 8.0).abs() < 1e-9);
    });
}

#[test]
fn agreement_of_predictions() {
    both("losses", |file| {
        let logits = file.leaf::<3>("consistency.logits");
        let draw = |s: usize| -> Tensor<2> {
            logits.clone().slice([s..s + 1, 0..6, 0..4]).reshape([6, 4])
        };
        let temperature = file.scalar("consistency.temperature");
        let loss = consistency(&[draw(0), draw(1), draw(2)], temperature).unwrap();
        file.check("consistency.out", &loss);
        file.check_grads("consistency.", &loss.backward(), &[("logits", &logits)]);
    });
}
