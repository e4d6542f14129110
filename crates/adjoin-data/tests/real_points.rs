//! ModelNet40 as published, when `ADJOIN_DATA` says where it is.

mod common;

use adjoin_data::points::{Sampling, find, load};
use common::data;

/// Counts and places read from the arrays with NumPy.
#[test]
#[ignore = "needs ADJOIN_DATA"]
fn modelnet40_has_the_published_shapes() {
    let locations = data();
    let made = load("modelnet40", &locations).unwrap();
    let known = find("modelnet40").unwrap();
    assert_eq!(made.parts().map(|(_, part)| part.len()), known.shapes);
    assert_eq!((made.classes(), made.points()), (known.classes, [known.points; 2]));
    let [train, valid, test] = made.parts().map(|(_, part)| part);
    assert_eq!((train.len() + valid.len(), test.len()), (9843, 2468));
    assert_eq!(made.split.name, "official+valid:0.1:0");
    assert_eq!((made.split.hash(), made.fingerprint()), (SPLIT.into(), FINGERPRINT.into()));

    // A tenth of every class, rounded.
    let count = |part: &[u32], class: u32| {
        part.iter().filter(|shape| made.clouds[**shape as usize].class == class).count()
    };
    for class in 0..40 {
        let (stay, held) = (count(train, class), count(valid, class));
        assert_eq!(held, ((stay + held) as f64 / 10.0).round() as usize);
    }
    let chair = made.class_names.iter().position(|name| name == "chair").unwrap() as u32;
    assert_eq!(count(train, chair) + count(valid, chair), 889);
    assert_eq!(count(test, chair), 100);
    assert_eq!((made.clouds[0].name.as_str(), made.clouds[0].class), ("airplane_0001", 0));
    assert_eq!(made.clouds[0].points[0], FIRST.map(|value| value as f32 / 32767.0));

    // Centred and scaled already.
    for cloud in &made.clouds {
        let mean =
            [0, 1, 2].map(|axis| cloud.points.iter().map(|p| f64::from(p[axis])).sum::<f64>());
        assert!(mean.iter().all(|sum| (sum / 1024.0).abs() < 2e-5), "{}", cloud.name);
        let far = cloud.points.iter().map(|p| p.iter().map(|v| v * v).sum::<f32>().sqrt());
        assert!((far.fold(0.0, f32::max) - 1.0).abs() < 3e-5, "{}", cloud.name);
    }

    let quick = made.subset([10, 3, 5], 0).unwrap();
    let quick = quick.with_points(512, Sampling::Farthest { seed: 0 }).unwrap();
    assert_eq!(quick.parts().map(|(_, part)| part.len()), [400, 120, 200]);
    assert_eq!(quick.points(), [512; 2]);
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn modelnet10_is_a_part_of_it() {
    let made = load("modelnet10", &data()).unwrap();
    let known = find("modelnet10").unwrap();
    let [train, valid, test] = made.parts().map(|(_, part)| part.len());
    assert_eq!((train + valid, test), (3991, 908), "as published");
    assert_eq!([train, valid, test], known.shapes);
    assert_eq!(made.classes(), known.classes);
}

/// Results are published with these: they must not change.
const SPLIT: &str = "58a6304d5e6409fe";
const FINGERPRINT: &str = "3d1edd44ce33b55c";
/// First point of the first shape in `train_points_i16.npy`.
const FIRST: [i16; 3] = [494, 11431, 3426];
