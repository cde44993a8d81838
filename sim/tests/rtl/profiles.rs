//! Timing decides nothing.

use golden::Silent;
use hw::{SamplerDevice, Slr};
use sim::rtl::{Fill, Profile, RtlOptions};
use strum::VariantArray;

use crate::common::{device, hubs, options, request, run};

#[test]
fn every_profile_gives_the_reference_sub_graph() {
    let graph = hubs(300, 1);
    let batches = [(0, &[3][..]), (1, &[10, 5]), (2, &[0, 4]), (3, &[-1, 2, 3]), (4, &[2, 2, 2, 2])];
    for &memory in Profile::VARIANTS {
        let device = device(&options(memory), &graph);
        for (minibatch, fanouts) in batches {
            let request = request(5..25, fanouts, minibatch);
            let report = run(&device, Slr::ALL[minibatch as usize % 3], &graph, &request).unwrap();
            assert!(report.cycles.unwrap() > 0 && report.ports.len() == 7 && report.stages.len() == 5);
        }
    }
}

#[test]
fn three_kernels_run_at_the_same_time_and_another_graph_takes_the_place_of_the_first() {
    let first = hubs(300, 1);
    let device = device(&options(Profile::Ddr4), &first);
    for graph in [first, hubs(90, 4)] {
        device.load_graph(&graph, &Silent).unwrap();
        std::thread::scope(|scope| {
            for slr in Slr::ALL {
                let (device, graph) = (&device, &graph);
                scope.spawn(move || {
                    for minibatch in 0..3 {
                        run(device, slr, graph, &request(7..37, &[4, 3], minibatch)).unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn registers_without_reset_decide_nothing() {
    let graph = hubs(300, 1);
    for fill in [Fill::Zeros, Fill::Ones, Fill::Random(3)] {
        let device = device(&RtlOptions { fill, ..options(Profile::Hbm) }, &graph);
        for minibatch in 0..3 {
            run(&device, Slr::ALL[0], &graph, &request(7..17, &[4, 3], minibatch)).unwrap();
        }
    }
}

#[test]
fn the_bus_sees_the_same_in_every_regular_profile() {
    let graph = hubs(40, 8);
    let request = request([3, 9], &[2], 7);
    let log = |memory| {
        let device = device(&RtlOptions { bus_log: true, ..options(memory) }, &graph);
        assert_eq!(device.bus_log(Slr::ALL[0]), None);
        run(&device, Slr::ALL[0], &graph, &request).unwrap();
        device.bus_log(Slr::ALL[0]).unwrap()
    };
    let ideal = log(Profile::Ideal);
    assert!(ideal.contains("offs.AR offsets+0x0 id"), "{ideal}");
    assert!(ideal.contains("mem.AR seeds+0x0 id 0 beats 1\n"), "{ideal}");
    // The status block counts cycles, so what is written of it differs.
    let without_cycles =
        |log: &str| log.lines().filter(|line| !line.starts_with("mem.W")).collect::<Vec<_>>().join("\n");
    assert_eq!(without_cycles(&ideal), without_cycles(&log(Profile::Hbm)));
}
