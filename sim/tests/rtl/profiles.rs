//! Timing decides nothing.

use hw::Slr;
use sim::rtl::{Fill, Profile, RtlOptions};

use crate::common::{device, hubs, options, request, run};

#[test]
fn every_profile_gives_the_reference_sub_graph() {
    let graph = hubs(300, 1);
    let batches = [(0, &[3][..]), (1, &[10, 5]), (2, &[0, 4]), (3, &[-1, 2, 3]), (4, &[2, 2, 2, 2])];
    for memory in Profile::ALL {
        let device = device(&options(memory), &graph);
        for (minibatch, fanouts) in batches {
            let request = request(5..25, fanouts, minibatch);
            let report = run(&device, Slr::ALL[minibatch as usize % 3], &graph, &request).unwrap();
            assert!(report.cycles.unwrap() > 0 && report.ports.len() == 7 && report.stages.len() == 5);
        }
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
