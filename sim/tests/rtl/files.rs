//! Waves and coverage.

use std::fs;

use hw::Slr;
use sim::rtl::{Profile, RtlDevice, RtlOptions};

use crate::common::{device, hubs, options, request, run};

#[test]
fn waves_are_a_file_for_each_slr() {
    let folder = tempfile::tempdir().unwrap();
    let graph = hubs(50, 1);
    let waves = Some(folder.path().join("run.fst"));
    let device = device(&RtlOptions { waves, ..options(Profile::Ideal) }, &graph);
    run(&device, Slr::ALL[2], &graph, &request(0..4, &[3], 0)).unwrap();
    drop(device);
    let size = |slr| fs::metadata(folder.path().join(format!("run.slr{slr}.fst"))).unwrap().len();
    assert!(size(2) > 10_000 && size(2) > 2 * size(0), "{} and {} bytes", size(2), size(0));

    let nowhere = Some(folder.path().join("no/such/run.fst"));
    let error = RtlDevice::new(&RtlOptions { waves: nowhere, ..options(Profile::Ideal) }, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no/such/run.slr0.fst"), "{error}");
}

#[test]
fn coverage_is_a_file_for_each_slr() {
    let folder = tempfile::tempdir().unwrap();
    let graph = hubs(50, 1);
    let coverage = Some(folder.path().join("coverage.dat"));
    let device = device(&RtlOptions { coverage, ..options(Profile::Ideal) }, &graph);
    run(&device, Slr::ALL[0], &graph, &request(0..4, &[3], 0)).unwrap();
    drop(device);
    let text = fs::read_to_string(folder.path().join("coverage.slr0.dat")).unwrap();
    assert!(text.contains("dedup_table.sv"));
    assert!(fs::exists(folder.path().join("coverage.slr2.dat")).unwrap());
}
