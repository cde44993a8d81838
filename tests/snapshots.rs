//! Recorded reports and bus logs: a change of the RTL or the model that moves a single access shows.

use std::time::Duration;

use golden::Capacity;
use hw::{RunReport, Slr};
use sim::rtl::{Profile, RtlOptions};
use test_support::{Bench, cora, hexagon, model, request, rtl, rtl_options};

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
