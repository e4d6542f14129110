//! Defaults, files, single keys and where values come from.

use adjoin_lab::settings::{
    Defaults, Layers, Schedule, TrainConfig, from_toml, to_toml, with_setting,
};

const TEXT: &str = r#"
    [base]
    epochs = 10
    [backbones.gat]
    about = "attention"
    rate = 0.5
    [learners.dgg]
    rate = 0.1
    [learners.dgg.with.gat]
    momentum = 0.25
    [learners.star]
    extends = "dgg"
    ema = 0.9
    [options.long]
    epochs = 99
"#;

#[test]
fn parts_follow_their_order_and_say_where_they_are_from() {
    let defaults = Defaults::read("node", TEXT).unwrap();
    let layers =
        |backbone, learner| defaults.layers(TrainConfig::default(), backbone, learner).unwrap();
    assert_eq!(layers("gcn", "none").config.epochs, 10);
    let star = layers("gat", "star+long");
    let TrainConfig { epochs, rate, momentum, ema, .. } = star.config;
    assert_eq!((epochs, rate, momentum, ema), (99, 0.1, 0.25, 0.9));
    assert_eq!(star.origins.of("rate"), "defaults/node.toml: learners.dgg");
    assert_eq!(star.origins.of("epochs"), "defaults/node.toml: options.long");
    let wrong = defaults.layers(TrainConfig::default(), "gcn", "dgg+magic").unwrap_err();
    assert!(wrong.to_string().contains("long"), "{wrong}");
}

#[test]
fn every_value_knows_the_last_layer_that_set_it() {
    let layers = Layers::<TrainConfig>::built_in();
    let layers = layers.text("mine.toml", "epochs = 5\nrate = 0.01\n").unwrap();
    let layers = layers.set("schedule.step.at=3").unwrap_err();
    assert!(layers.to_string().contains("by"), "{layers}");
    let layers = Layers::<TrainConfig>::built_in().text("mine.toml", "epochs = 5\n").unwrap();
    let layers = layers.set("rate=0.5").unwrap().set("schedule.cosine=0.1").unwrap();
    assert_eq!(layers.origins.of("epochs"), "mine.toml");
    assert_eq!(layers.origins.of("rate"), "--set");
    assert_eq!(layers.origins.of("schedule.cosine"), "--set");
    assert_eq!(layers.origins.of("patience"), "built in");
    let text = layers.annotated();
    assert!(text.contains("[schedule]\ncosine = 0.1"), "{text}");
    let again: TrainConfig = toml::from_str(&text).unwrap();
    assert_eq!(again, layers.config);
}

#[test]
fn settings_override_files_and_files_override_defaults() {
    let text = "epochs = 7\nrate = 0.5\nschedule = { step = { at = 3, by = 0.5 } }\n";
    let config = from_toml("x.toml", text, &TrainConfig::default()).unwrap();
    let config = with_setting(&config, "rate=0.25").unwrap();
    let config = with_setting(&config, "schedule.step.at=4").unwrap();
    assert_eq!((config.epochs, config.rate), (7, 0.25));
    assert_eq!(config.schedule, Schedule::Step { at: 4, by: 0.5 });
    let again = from_toml("again", &to_toml(&config), &TrainConfig::default()).unwrap();
    assert_eq!(again, config);
    // Another choice replaces the settings of the one before.
    let other = with_setting(&config, "schedule.cosine=0.1").unwrap();
    assert_eq!(other.schedule, Schedule::Cosine(0.1));
    assert_eq!(with_setting(&config, "schedule=constant").unwrap().schedule, Schedule::Constant);
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let base = TrainConfig::default();
    let wrong = with_setting(&base, "epoch=3").unwrap_err().to_string();
    assert!(wrong.contains("did you mean `epochs`"), "{wrong}");
    let text = "rate = 0.1\nepoch = 3\n";
    let wrong = from_toml("mine.toml", text, &base).unwrap_err().to_string();
    assert!(wrong.starts_with("mine.toml, line 2: "), "{wrong}");
    let wrong = with_setting(&base, "nonsense").unwrap_err().to_string();
    assert!(wrong.contains("key=value"), "{wrong}");
}

#[test]
fn rates_rise_evenly_and_fall_as_scheduled() {
    let base = TrainConfig { epochs: 10, rate: 0.1, ..TrainConfig::default() };
    let step = TrainConfig {
        warmup_steps: 4,
        schedule: Schedule::Step { at: 2, by: 0.5 },
        ..base.clone()
    };
    let factors: Vec<f64> = (0..6).map(|at| step.factor(at, 0, 0.0)).collect();
    assert_eq!(factors, [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]);
    assert_eq!((step.factor(9, 1, 0.9), step.factor(9, 2, 0.0)), (1.0, 0.5));
    let cosine = TrainConfig { schedule: Schedule::Cosine(0.001), ..base.clone() };
    for (epoch, within, rate) in [(0, 0.0, 0.1), (4, 1.0, 0.0505), (10, 0.0, 0.001)] {
        assert!((0.1 * cosine.factor(0, epoch, within) - rate).abs() < 1e-12);
    }
    assert_eq!(base.factor(0, 7, 0.5), 1.0);
}

#[test]
fn fewer_epochs_keep_the_schedule() {
    let schedule = Schedule::Step { at: 25, by: 0.2 };
    let mut train = TrainConfig { epochs: 40, schedule, ..TrainConfig::default() };
    train.shorten(8);
    assert_eq!((train.epochs, train.schedule), (8, Schedule::Step { at: 5, by: 0.2 }));
}

#[test]
fn learners_join_before_the_last_epoch() {
    for (learner_start, epochs, expected) in [(0.5, 12, 6), (0.5, 5, 2), (0.99, 1, 0), (0.0, 9, 0)]
    {
        let train = TrainConfig { learner_start, epochs, ..Default::default() };
        assert_eq!(train.epochs_without_learner(), expected);
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let base = TrainConfig::default();
    for (train, word) in [
        (TrainConfig { rate: -0.1, ..base.clone() }, "train.rate: is -0.1"),
        (TrainConfig { learner_rate: f64::NAN, ..base.clone() }, "train.learner_rate"),
        (TrainConfig { ema: 1.0, ..base.clone() }, "train.ema"),
        (TrainConfig { learner_start: 1.0, ..base.clone() }, "train.learner_start"),
        (TrainConfig { decay: f64::INFINITY, ..base.clone() }, "train.decay: is inf"),
        (TrainConfig { schedule: Schedule::Cosine(-1.0), ..base.clone() }, "train.schedule.cosine"),
        (TrainConfig { batch: 0, ..base.clone() }, "train.batch: must be at least 1"),
        (TrainConfig { epochs: 0, ..base.clone() }, "train.epochs: must be at least 1"),
    ] {
        let error = train.check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    base.check().unwrap();
    TrainConfig { learner_start: 0.99, rate: 0.0, ..base }.check().unwrap();
}
