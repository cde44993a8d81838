//! Recorded reports and bus logs: a change of the RTL or the model that moves a single access shows.

use std::time::Duration;

use golden::Capacity;
use hw::{RunReport, Slr};
use sim::{
    model::{ModelOptions, SoftwareModel, TimingOptions},
    rtl::{Profile, RtlOptions},
};
use tests::{Bench, cora, hexagon, model, random_multigraph, request, rtl, rtl_options};

/// The host's clock is not part of the record.
fn without_time(report: RunReport) -> RunReport {
    RunReport { elapsed: Duration::ZERO, ..report }
}

#[test]
fn model_report_on_cora() {
    let device = model();
    let report = Bench::new(&device, &cora()).check(Slr::ALL[0], &request(1, 0, 0..256, &[10, 10])).unwrap();
    insta::assert_debug_snapshot!(without_time(report));
}

/// Predicted cycles, and all lines that ports move, of runs of many kinds.
#[test]
fn model_figures() {
    let multi = random_multigraph(600, 9000, 3);
    let works = [("cora", cora()), ("hexagon", hexagon()), ("multi", multi)];
    let fanouts: [&[i32]; 5] = [&[10, 10, 10], &[25, 10], &[-1, -1], &[0, 5], &[1]];
    let mut figures = String::new();
    for memory in [Profile::Ideal, Profile::Hbm, Profile::Ddr4] {
        for (channels, table_log2) in [(1, 19), (2, 5), (4, 19), (8, 10)] {
            let timing = Some(TimingOptions { memory, table_log2, ..TimingOptions::default() });
            let model = SoftwareModel::new(ModelOptions { channels, timing, ..ModelOptions::default() }).unwrap();
            for (name, graph) in &works {
                let bench = Bench::new(&model, graph);
                for fanouts in fanouts {
                    let seeds = 0..graph.nodes().min(100) as u32;
                    let report = bench.check(Slr::ALL[channels % 3], &request(7, 3, seeds, fanouts)).unwrap();
                    let (cycles, moved) =
                        (report.cycles.unwrap(), report.ports.iter().map(|p| p.read_beats + p.write_beats));
                    let moved = moved.map(|lines| lines.to_string()).collect::<Vec<_>>().join(" ");
                    let line = format!(
                        "{memory} {channels} {table_log2} {name} {fanouts:?}: {cycles} cycles, lines {moved}\n"
                    );
                    figures.push_str(&line);
                }
            }
        }
    }
    insta::assert_snapshot!(figures);
}

#[test]
fn rtl_report_on_cora() {
    let device = rtl(&RtlOptions { memory: Profile::Ideal, ..rtl_options() });
    let report = Bench::new(&device, &cora()).check(Slr::ALL[0], &request(1, 0, 0..256, &[10, 10])).unwrap();
    insta::assert_debug_snapshot!(without_time(report));
}

#[test]
fn rtl_bus_log_of_a_hexagon() {
    let device = rtl(&RtlOptions { bus_log: true, memory: Profile::Ideal, ..rtl_options() });
    let bench = Bench::new(&device, &hexagon());
    let outcome = bench.run(Slr::ALL[0], &request(1, 0, [2, 3], &[-1, 1]), Capacity { nodes: 6, edges: 12 });
    assert!(outcome.result.is_ok());
    insta::assert_snapshot!(device.bus_log(Slr::ALL[0]).unwrap());
}
