//! Scenes of different sizes in one batch: the generator makes a graph for each of them.
use adjoin::{
    Batch, CandidateRule, Csr, DggConfig, Features, GraphInput, GraphLearner, Key, Pass,
    dgg::{DegreeConfig, DegreeRule},
};
use burn::tensor::{Device, Tensor, TensorData};

fn main() -> adjoin::Result<()> {
    let (device, key) = (Device::flex(), Key::new(3));
    // Three scenes of 4, 1 and 7 agents; an agent is its position and its velocity.
    let batch = Batch::of_sizes([4, 1, 7]);
    let agents: Vec<f64> = (0..batch.nodes() as u64 * 4).map(|at| key.normal(at)).collect();
    let agents = TensorData::new(agents, [batch.nodes(), 4]);
    let agents = Features::from(Tensor::<2>::from_data(agents, &device));
    // No graph is given: all pairs of a scene are candidates, and none between scenes.
    let config = DggConfig {
        candidates: CandidateRule::Complete,
        degree: DegreeConfig { rule: DegreeRule::Literal, ..DegreeConfig::default() },
        ..DggConfig::default()
    };
    let dgg = config.clone().with_inputs(4).init(key.child(1), &device)?;
    let learned = dgg.learn(&GraphInput::new(&agents, None, &batch), Pass::evaluate())?;
    let scenes: Vec<Csr> = learned.adjacency.topology().split(&batch)?;
    let wanted = learned.degrees.map(|k| k.into_data().iter::<f32>().collect::<Vec<f32>>());
    for (scene, (graph, agents)) in scenes.iter().zip(batch.ranges()).enumerate() {
        let k = wanted.as_deref().map_or(&[][..], |k| &k[agents]);
        println!("scene {scene}: {} edges, neighbours wanted {k:.1?}", graph.edges());
    }
    Ok(())
}
