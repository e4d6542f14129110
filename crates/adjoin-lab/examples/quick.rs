use adjoin_lab::*;
struct P;
impl node::Observer for P { fn epoch(&self,_:u64,_:&record::EpochRecord,_:usize){} fn seed(&self,_:&record::SeedRecord){} }
fn main() {
    let mut a = std::env::args().skip(1);
    let dataset = a.next().unwrap(); let backbone = a.next().unwrap(); let learner = a.next().unwrap(); let n: u64 = a.next().unwrap().parse().unwrap();
    let sets: Vec<String> = a.collect();
    let locations = adjoin_data::Locations::from_environment(None);
    let ds = adjoin_data::load(&dataset, &locations).unwrap();
    let split = ds.default_split().unwrap();
    let kind = serde_json::from_value(serde_json::Value::String(backbone)).unwrap();
    let base = Config { backbone: adjoin::conv::BackboneConfig::of_kind(kind), learner: LearnerConfig::named(&learner).unwrap(), ..Config::default() };
    let config = base.with_settings(sets.iter().map(String::as_str)).unwrap();
    let seeds: Vec<u64> = (0..n).collect();
    let e = node::Experiment { dataset: &ds, split: &split, config: &config, learner: &learner, seeds: &seeds, threads: std::env::var("T").ok().and_then(|t| t.parse().ok()).unwrap_or(2) };
    let t = std::time::Instant::now();
    let o = e.run(&P).unwrap();
    let (v, s) = (o.record.valid().unwrap(), o.record.test().unwrap());
    let k = o.record.seeds[0].curve.last().unwrap();
    println!("{dataset} {learner} {:?} valid {:.2} +- {:.2} test {:.2} +- {:.2} ms/step {:.2} wall {:.1}s epochs {:?} k {:?}", sets, 100.0*v.mean, 100.0*v.deviation.unwrap_or(0.0), 100.0*s.mean, 100.0*s.deviation.unwrap_or(0.0), o.record.ms_per_step, t.elapsed().as_secs_f64(), o.record.seeds.iter().map(|s| s.best_epoch).sum::<usize>()/o.record.seeds.len(), k.mean_degree);
}
