//! From what a user asks for to the configuration of every learner.

use adjoin::learner::LearnerConfig;
use adjoin_lab::{
    Error,
    run::{Configured, Request, recipe_layers},
    settings::{RECIPES, Schedule, from_toml, to_toml, with_setting},
    task::{Settings, Task},
    tasks::{
        Node, Points, Trajectory,
        node::NodeConfig,
        trajectory::{InputGraph, NetworkConfig, TrajectoryConfig},
    },
};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Learners, or none named, with settings.
fn asked<T: Task>(learners: &[&str], settings: &[&str]) -> Result<Vec<Configured<T>>, Error> {
    let (learners, settings) = (words(learners), words(settings));
    let learners = (!learners.is_empty()).then_some(&learners[..]);
    Request { learners, settings: &settings, ..Request::default() }.configs::<T>()
}

fn refused<T: Task>(learners: &[&str], settings: &[&str]) -> String {
    asked::<T>(learners, settings).unwrap_err().to_string()
}

#[test]
fn without_a_word_the_plain_and_the_learned_graph_are_compared() {
    fn compared<T: Task>(expected: [&str; 2]) {
        let configs = asked::<T>(&[], &[]).unwrap();
        let names: Vec<&str> = configs.iter().map(|(name, _)| name.as_str()).collect();
        let kinds: Vec<String> =
            configs.iter().map(|(_, layers)| layers.config.learner()).collect();
        assert_eq!((names, &kinds), (expected.to_vec(), &words(&expected)));
        assert!(configs.iter().all(|(_, layers)| layers.config.backbone() == T::BACKBONE));
    }
    compared::<Node>(["none", "dgg"]);
    compared::<Trajectory>(["kernel", "dgg"]);
    compared::<Points>(["knn", "dgg"]);
}

#[test]
fn a_setting_of_one_learner_leaves_the_others_alone() {
    let settings = ["learner.dgg.symmetric=true", "train.epochs=3"];
    let configs = asked::<Node>(&[], &settings).unwrap();
    assert_eq!(configs[0].1.config.learner, LearnerConfig::None);
    let LearnerConfig::Dgg(dgg) = &configs[1].1.config.learner else { panic!("{configs:?}") };
    assert!(dgg.symmetric);
    assert!(configs.iter().all(|(_, layers)| layers.config.train.epochs == 3));
}

#[test]
fn a_setting_for_nobody_is_an_error() {
    let error = refused::<Node>(&["none"], &["learner.dropedge.drop=0.5"]);
    assert!(error.contains("--learner") && error.contains("learner.dropedge.drop=0.5"), "{error}");
    assert!(
        refused::<Trajectory>(&["kernel"], &["learner.dgg.symmetric=true"]).contains("--learner")
    );
    assert!(refused::<Points>(&["knn"], &["learner.dgg.symmetric=true"]).contains("--learner"));
    // A network is chosen by name, too.
    for error in [
        refused::<Node>(&["none"], &["backbone.kind=gat"]),
        refused::<Trajectory>(&["kernel"], &["network.dagnet.net.faithful=true"]),
        refused::<Points>(&["knn"], &["network.kind=resgcn"]),
    ] {
        assert!(error.contains("--backbone"), "{error}");
    }
}

#[test]
fn names_beat_the_file_and_the_file_beats_the_default() {
    let text = "[backbone]\nkind = \"gat\"\nhidden = 5\n[learner.dropedge]\ndrop = 0.1\n";
    let file = Some(("x.toml", text));
    let configs = Request { file, ..Request::default() }.configs::<Node>().unwrap();
    assert_eq!((configs.len(), configs[0].0.as_str()), (1, "dropedge"));
    let NodeConfig { backbone, learner, .. } = &configs[0].1.config;
    assert_eq!((backbone.name(), backbone.hidden), ("gat", 5));
    let LearnerConfig::DropEdge(dropedge) = learner else { panic!("{learner:?}") };
    assert_eq!(dropedge.drop, 0.1);
    let named = words(&["dgg"]);
    let (backbone, learners) = (Some("sage"), Some(&named[..]));
    let request = Request { file, backbone, learners, ..Request::default() };
    let other = &request.configs::<Node>().unwrap()[0].1.config;
    assert_eq!((other.backbone(), other.learner()), ("sage".into(), "dgg".into()));
}

#[test]
fn names_beat_the_file_and_keep_their_graph() {
    let layers = Trajectory::named("dagnet", "dgg").unwrap().set("train.epochs=3").unwrap();
    let text = to_toml(&layers.config);
    let named = words(&["kernel", "dgm", "isolated"]);
    let (file, learners) = (Some(("config.toml", text.as_str())), Some(&named[..]));
    let request = Request { file, learners, ..Request::default() };
    for (name, layers) in request.configs::<Trajectory>().unwrap() {
        let config = layers.config;
        assert_eq!((config.learner(), config.train.epochs), (name.clone(), 3));
        assert_eq!(config.backbone(), "dagnet");
        let graph = match name.as_str() {
            "kernel" => InputGraph::Kernel,
            "dgm" => InputGraph::Complete,
            _ => InputGraph::Isolated,
        };
        assert_eq!(config.graph, graph, "{name}");
    }
}

/// The file of a run, or what `adjoin config` prints, names network and learner and gives the same settings.
#[test]
fn the_file_of_a_run_gives_the_same_run() {
    fn same<T: Task>() {
        let mut all = Vec::new();
        for backbone in T::backbones() {
            for learner in T::learners() {
                let layers = T::named(&backbone.name, &learner.name).unwrap();
                // A perceptron takes no graph, so no learner of one either; NodeFormer replaces the network.
                let fits = (backbone.name != "mlp" || learner.name == T::PLAIN)
                    && (backbone.name == "gcn" || learner.name != "nodeformer");
                assert_eq!(
                    layers.config.check().is_ok(),
                    fits,
                    "{} {}",
                    backbone.name,
                    learner.name
                );
                all.extend(fits.then_some(layers));
            }
        }
        let recipes = RECIPES.iter().filter(|recipe| recipe.task == T::NAME);
        all.extend(recipes.map(|recipe| recipe_layers::<T>(recipe.name).unwrap()));
        for layers in all {
            let layers = layers.set("train.epochs=3").unwrap();
            let learner = layers.config.learner();
            for text in [to_toml(&layers.config), layers.annotated()] {
                let file = Some(("config.toml", text.as_str()));
                let again = Request { file, ..Request::default() }.configs::<T>().unwrap();
                let [(name, again)] = &again[..] else { panic!("{again:?}") };
                assert_eq!((name, &again.config), (&learner, &layers.config));
                assert_eq!(again.origins.of("train.epochs"), "config.toml");
            }
        }
    }
    same::<Node>();
    same::<Trajectory>();
    same::<Points>();
}

#[test]
fn recipes_are_whole_and_can_be_changed() {
    let recipes = words(&["pubmed-gcnii", "pubmed-gcnii-dgg"]);
    let settings = words(&["train.epochs=3", "learner.dgg.symmetric=true"]);
    let request = Request { recipes: &recipes, settings: &settings, ..Request::default() };
    let configs = request.configs::<Node>().unwrap();
    let names: Vec<&String> = configs.iter().map(|(name, _)| name).collect();
    assert_eq!(names, recipes.iter().collect::<Vec<_>>());
    for (name, layers) in &configs {
        assert_eq!((layers.config.backbone.layers, layers.config.train.epochs), (16, 3));
        assert_eq!(layers.origins.of("backbone.layers"), format!("recipe {name}"));
        assert_eq!(layers.origins.of("train.epochs"), "--set");
    }
    assert_eq!(configs[0].1.config.learner, LearnerConfig::None);
    let LearnerConfig::Dgg(dgg) = &configs[1].1.config.learner else { panic!("{configs:?}") };
    assert!(dgg.symmetric);
    let unknown = |name: &str| {
        let recipes = words(&[name]);
        let request = Request { recipes: &recipes, ..Request::default() };
        request.configs::<Node>().unwrap_err().to_string()
    };
    assert!(unknown("pubmed-gcni").contains("did you mean `pubmed-gcnii`"));
    // A recipe of another task is none of this one.
    assert!(unknown("published-dgcnn-knn").contains("adjoin list recipes"));
}

#[test]
fn a_learner_twice_is_refused() {
    assert!(refused::<Node>(&["none", "none"], &[]).contains("twice"));
}

#[test]
fn unknown_names_are_refused_with_those_that_there_are() {
    fn backbone<T: Task>(name: &str) -> String {
        T::named(name, "dgg").unwrap_err().to_string()
    }
    assert!(backbone::<Node>("dagnet").contains("gcnii"));
    assert!(backbone::<Trajectory>("gcn").contains("social-stgcnn"));
    assert!(backbone::<Points>("gcn").contains("resgcn"));
    assert!(refused::<Node>(&["magic"], &[]).contains("dropedge"));
    assert!(refused::<Trajectory>(&["magic"], &[]).contains("kernel"));
    assert!(refused::<Points>(&["none"], &[]).contains("knn"));
    assert!(refused::<Node>(&["dgg+magic"], &[]).contains("consistency"));
    // The nearest is named, where one is near.
    assert!(refused::<Node>(&["dropege"], &[]).contains("did you mean \"dropedge\""));
    assert!(refused::<Trajectory>(&["kernal"], &[]).contains("did you mean `kernel`"));
    assert!(backbone::<Points>("dgcn").contains("did you mean `dgcnn`"));
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    for error in [
        refused::<Node>(&["dgg"], &["train.epoch=3"]),
        refused::<Trajectory>(&["dgg"], &["train.epoch=3"]),
        refused::<Points>(&["dgg"], &["train.epoch=3"]),
    ] {
        assert!(error.contains("did you mean `epochs`"), "{error}");
    }
    let wrong = |setting| with_setting(&NodeConfig::default(), setting).unwrap_err().to_string();
    assert!(wrong("epochs=3").contains("did you mean `train.epochs`"), "{}", wrong("epochs=3"));
    assert!(wrong("learner.ddg.symmetric=true").contains("did you mean `dgg`"));
    assert!(wrong("nonsense").contains("key=value"));
    let text = "[train]\nrate = 0.1\nepoch = 3\n";
    let wrong = from_toml("mine.toml", text, &NodeConfig::default()).unwrap_err().to_string();
    assert!(wrong.starts_with("mine.toml, line 3: "), "{wrong}");
    // Within the settings of a network, and of a network that there is not.
    let read = |text: &str| TrajectoryConfig::read("config.toml", text).unwrap_err().to_string();
    let wrong = read("[network.dagnet]\njiter = 3\n");
    assert!(wrong.contains("line 2") && wrong.contains("did you mean `jitter`"), "{wrong}");
    let wrong = read("[network.dagnut]\njitter = 3\n");
    assert!(wrong.contains("did you mean `dagnet`"), "{wrong}");
}

#[test]
fn settings_override_files_and_files_override_defaults() {
    let text = "[train]\nepochs = 7\nrate = 0.5\n[learner.dgg]\nsymmetric = true\n";
    let config = from_toml("x.toml", text, &NodeConfig::default()).unwrap();
    let config = with_setting(&config, "train.rate=0.25").unwrap();
    let config = with_setting(&config, "learner.dgg.sample.noise=1").unwrap();
    assert_eq!((config.train.epochs, config.train.rate), (7, 0.25));
    let LearnerConfig::Dgg(dgg) = &config.learner else { panic!("{config:?}") };
    assert!(dgg.symmetric);
    assert_eq!(dgg.sample.noise, 1.0);
    let again = from_toml("again", &to_toml(&config), &NodeConfig::default()).unwrap();
    assert_eq!(again, config);
    // A learner without settings is a word.
    let plain = with_setting(&config, "learner=none").unwrap();
    assert_eq!(plain.learner, LearnerConfig::None);
    assert!(with_setting(&config, "learner=nobody").is_err());
}

#[test]
fn settings_of_nodes_out_of_range_are_named() {
    for (setting, range) in [
        ("train.rate=-0.1", "at least 0"),
        ("train.decay=nan", "at least 0"),
        ("teacher.rate=inf", "at least 0"),
        ("teacher.confidence=1", "below 1"),
        ("teacher.drop=-0.5", "below 1"),
        ("graph_loss.sparsity=-1", "at least 0"),
        ("draws.samples=0", "at least 1"),
    ] {
        let wrong = refused::<Node>(&["none"], &[setting]);
        let (key, _) = setting.split_once('=').unwrap();
        assert!(wrong.contains(key) && wrong.contains(range), "{wrong}");
    }
    asked::<Node>(&["none"], &["train.rate=0"]).unwrap();
}

/// What a network needs of a learner is on top of what the learner is elsewhere; options come between.
#[test]
fn parts_for_learner_and_network_come_last() {
    let distils = |backbone, learner| Node::named(backbone, learner).unwrap().config.teacher.distil;
    for learner in ["dgg-teacher", "dgg-teacher+consistency"] {
        assert!(distils("sage", learner) && !distils("gcn", learner), "{learner}");
    }
    let consistent = Node::named("gcn", "dgg+consistency").unwrap();
    assert_eq!(consistent.config.draws.samples, 4);
    assert_eq!(consistent.origins.of("draws.samples"), "defaults/node.toml: options.consistency");
}

#[test]
fn networks_of_trajectories_are_alike_for_every_learner_and_graphs_are_their_own() {
    for learner in Trajectory::learners() {
        let name = learner.name.as_str();
        let config = Trajectory::named("social-stgcnn", name).unwrap().config;
        let NetworkConfig::SocialStgcnn(network) = &config.network else { panic!("{name}") };
        assert!(network.relative, "{name}");
        assert_eq!(config.graph == InputGraph::Kernel, ["kernel", "dgg"].contains(&name));
        let LearnerConfig::Dgg(dgg) = &config.learner else { continue };
        assert!(!dgg.keep_weights && dgg.encoder.width == 16, "{dgg:?}");
    }
    let NetworkConfig::SocialStgcnn(published) = TrajectoryConfig::default().network else {
        panic!("the published network is built in")
    };
    assert!(!published.relative);
}

#[test]
fn fewer_epochs_keep_the_schedule_of_trajectories() {
    let mut config = recipe_layers::<Trajectory>("basketball-dagnet-dgg").unwrap().config;
    config.shorten(60);
    let NetworkConfig::Dagnet(network) = &config.network else { panic!("{config:?}") };
    assert_eq!((config.train.epochs, network.kl_warmup), (60, 2));
    let mut config = recipe_layers::<Trajectory>("pedestrians-social-stgcnn-dgg").unwrap().config;
    config.shorten(8);
    assert_eq!(
        (config.train.epochs, config.train.schedule),
        (8, Schedule::Step { at: 5, by: 0.2 })
    );
}
