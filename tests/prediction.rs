//! The software model predicts the cycles of the RTL.

use std::sync::Arc;

use golden::{CscGraph, Silent};
use golden_files::generate::GraphSpec;
use hw::{Feature, SamplerDevice, Slr};
use sim::{
    memory::Profile,
    model::{ModelOptions, SoftwareModel, TimingOptions},
    rtl::RtlOptions,
};
use tests::{Bench, cora, random_multigraph, request, rtl, rtl_options};

/// All in-edges.
const ALL: i32 = -1;

/// How far a prediction may be off, of the cycles that the RTL took. What is promised is 5 %; what is left is chance, of which
/// the ideal memory has none.
const fn tolerance(memory: Profile) -> f64 {
    if memory.timing().jitter == 0 { 0.002 } else { 0.03 }
}

fn generated(spec: &str) -> Arc<CscGraph> {
    Arc::new(spec.parse::<GraphSpec>().unwrap_or_else(|e| panic!("{e}")).generate(&Silent))
}

fn predicted(channels: usize, memory: Profile, table_log2: u32) -> SoftwareModel {
    let timing = Some(TimingOptions { memory, table_log2, ..TimingOptions::default() });
    SoftwareModel::new(ModelOptions { channels, timing, ..ModelOptions::default() }).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_model_predicts_the_cycles_of_the_rtl() {
    let works: [(&str, Arc<CscGraph>, &[i32]); 7] = [
        ("cora", cora(), &[10, 10, 10]),
        ("cora", cora(), &[ALL, 5]),
        ("multi 5,000/100,000", random_multigraph(5000, 100_000, 1), &[25, 25, 25]),
        ("multi 12,000/80,000", random_multigraph(12_000, 80_000, 2), &[32, 4]),
        ("multi 600/9,000", random_multigraph(600, 9000, 3), &[5, 5, 5]),
        ("hub", generated("gen:hub:nodes=3000,hubs=4"), &[10, 10, 10]),
        ("power law", generated("gen:power-law:shape=arxiv,scale=1/16,seed=1"), &[15, 10, 5]),
    ];
    let seeds = |graph: &CscGraph| 0..graph.nodes().min(300) as u32;
    let mut wrong = vec![];
    for channels in [1, 2, 4, 8] {
        for memory in [Profile::Ideal, Profile::Hbm, Profile::Ddr4] {
            let options = RtlOptions { channels, memory, ..rtl_options() };
            let (device, model) = (rtl(&options), predicted(channels, memory, options.table_log2));
            for (minibatch, (name, graph, fanouts)) in works.iter().enumerate() {
                let request = request(7, minibatch as u64, seeds(graph), fanouts);
                let cycles = |device: &dyn SamplerDevice| {
                    let report = Bench::new(device, graph).check(Slr::ALL[minibatch % 3], &request);
                    let report = report.unwrap_or_else(|why| panic!("{name}: {why}"));
                    (report.cycles.unwrap() as f64, report.hops.total_edges())
                };
                let ((counted, edges), (predicted, _)) = (cycles(&device), cycles(&model));
                let error = predicted / counted - 1.0;
                let line = format!(
                    "{name:20} {fanouts:?} {memory}, {channels} channels, {edges} edges: {counted} cycles, predicted {predicted}, {:+.2} %",
                    100.0 * error
                );
                println!("{line}");
                if error.abs() > tolerance(memory) {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "too far off:\n{}", wrong.join("\n"));
}

#[test]
fn a_prediction_says_that_it_is_one() {
    let model = predicted(4, Profile::Hbm, 19);
    assert!(model.capabilities().has(Feature::PredictedCycles));
    assert!(model.capabilities().require(Feature::Cycles).is_err());
    assert!(!tests::model().capabilities().has(Feature::PredictedCycles));
    let timing = Some(TimingOptions { memory: Profile::Hostile, ..TimingOptions::default() });
    let refused = SoftwareModel::new(ModelOptions { timing, ..ModelOptions::default() }).unwrap_err();
    assert!(refused.to_string().contains("'hostile' cannot be predicted"), "{refused}");
}

/// The same work takes the same cycles again, on every SLR, and the table starts empty.
#[test]
fn a_prediction_does_not_depend_on_what_ran_before() {
    let graph = cora();
    let model = predicted(4, Profile::Hbm, 14);
    let bench = Bench::new(&model, &graph);
    let cycles = |slr, minibatch| bench.check(slr, &request(1, minibatch, 0..200, &[10, 10])).unwrap().cycles;
    let first = cycles(Slr::ALL[0], 5);
    assert_ne!(cycles(Slr::ALL[0], 6), first);
    assert_eq!([cycles(Slr::ALL[0], 5), cycles(Slr::ALL[1], 5)], [first, first]);
}
