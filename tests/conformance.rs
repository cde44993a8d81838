//! One suite over the device trait, run for each back end.

use std::{sync::Arc, thread, time::Duration};

use golden::{Capacity, CscGraph, Limits, RequestError, Resource, Silent};
use hw::{Deadline, DeviceError, Feature, OutputBuffers, SLRS, SamplerDevice, Slot, Slr};
use tests::{Bench, cora, from_arcs, hexagon, model, random_multigraph, request, rtl, rtl_options, star, xrt};

/// Runs each check on each back end.
macro_rules! on_every_back_end {
    ($($check:ident),* $(,)?) => {
        mod model {
            $(#[test] fn $check() { super::$check(&super::model()); })*
        }
        mod rtl {
            $(#[test] fn $check() { super::$check(&super::rtl(&super::rtl_options())); })*
        }
        mod xrt {
            $(#[test] fn $check() { super::$check(&super::xrt()); })*
        }
    };
}

on_every_back_end!(
    all_slrs_at_once_give_what_each_gives_alone,
    every_fanout_and_hop_count,
    every_number_of_seeds,
    graphs_of_every_shape,
    a_capacity_ends_every_run_at_the_same_edge,
    requests_over_a_limit_are_refused_and_nothing_else_changes,
    calls_out_of_order_are_refused,
    slots_are_separate_and_a_graph_can_be_replaced,
    extreme_seeds_and_minibatch_numbers,
    a_feature_is_there_or_its_absence_is_an_error,
    a_run_that_is_late_poisons_its_slr_only,
);

const ALL: i32 = -1;

fn check(bench: &Bench, slr: Slr, request: &golden::Request) {
    if let Err(why) = bench.check(slr, request) {
        panic!("{why}\n{request:?}");
    }
}

fn all_slrs_at_once_give_what_each_gives_alone(device: &dyn SamplerDevice) {
    let graph = cora();
    let bench = Bench::new(device, &graph);
    // Each thread drives its own SLR, as producers do; the mini-batches rotate.
    thread::scope(|scope| {
        for slr in Slr::ALL {
            let bench = &bench;
            scope.spawn(move || {
                for iteration in 0..4 {
                    let minibatch = ((slr.index() + iteration) % SLRS) as u64;
                    let first = minibatch as u32 * 900;
                    check(bench, slr, &request(11, minibatch, first..first + 900, &[10, 5]));
                }
            });
        }
    });
}

fn every_fanout_and_hop_count(device: &dyn SamplerDevice) {
    let graph = random_multigraph(300, 6000, 5);
    let bench = Bench::new(device, &graph);
    for fanout in 0..=32u8 {
        check(&bench, Slr::ALL[0], &request(1, fanout.into(), 0..20, &[fanout.into()]));
    }
    for fanouts in [&[ALL][..], &[3, 2], &[ALL, 1, ALL], &[4, 3, 2, 1], &[0, 5], &[5, 0, 5], &[32, 32], &[1, 1, 1, 1]] {
        check(&bench, Slr::ALL[1], &request(2, 7, (0..40).rev(), fanouts));
    }
}

fn every_number_of_seeds(device: &dyn SamplerDevice) {
    let graph = random_multigraph(1500, 4000, 6);
    let bench = Bench::new(device, &graph);
    for seeds in [0, 1, 2, 15, 16, 17, 31, 32, 33, 1023, 1024] {
        check(&bench, Slr::ALL[2], &request(3, 1, (0..seeds).map(|i| (i * 7) % 1500), &[2, 2]));
    }
}

fn graphs_of_every_shape(device: &dyn SamplerDevice) {
    let loops: Vec<_> = (0..40).map(|v| (v, v)).collect();
    let parallel: Vec<_> = (0..200).map(|e| (e % 3, 3)).collect();
    let path: Vec<_> = (1..50).map(|v| (v - 1, v)).collect();
    let shapes: [(&str, Arc<CscGraph>); 7] = [
        ("one node", from_arcs(1, &[])),
        ("no edges", from_arcs(100, &[])),
        ("self-loops", from_arcs(40, &loops)),
        ("parallel edges", from_arcs(4, &parallel)),
        ("path", from_arcs(50, &path)),
        ("star", star(2000)),
        ("hexagon", hexagon()),
    ];
    for (shape, graph) in shapes {
        let bench = Bench::new(device, &graph);
        for fanouts in [&[ALL, ALL, ALL][..], &[2, 2, 2], &[32]] {
            let seeds = 0..graph.nodes().min(4) as u32;
            if let Err(why) = bench.check(Slr::ALL[0], &request(9, 0, seeds, fanouts)) {
                panic!("{shape}, {fanouts:?}: {why}");
            }
        }
    }
}

fn a_capacity_ends_every_run_at_the_same_edge(device: &dyn SamplerDevice) {
    let graph = random_multigraph(40, 150, 8);
    let bench = Bench::new(device, &graph);
    let request = request(4, 2, [3, 1, 4, 15, 9, 26], &[3, 3]);
    let full = golden::sample(&graph, &request, Capacity::UNBOUNDED).unwrap();
    let (nodes, edges) = (full.samples.len(), full.edges.len());
    let mut overflows = (0, 0);
    let capacities =
        (0..=nodes).map(|n| Capacity { nodes: n, edges }).chain((0..=edges).map(|edges| Capacity { nodes, edges }));
    for capacity in capacities.chain((0..nodes).map(|n| Capacity { nodes: n, edges: n })) {
        match bench.check_within(Slr::ALL[1], &request, capacity).unwrap_or_else(|why| panic!("{capacity:?}: {why}")) {
            Ok(_) => assert_eq!(capacity, Capacity { nodes, edges }),
            Err(DeviceError::Overflow { overflow, .. }) => match overflow.resource {
                Resource::Nodes => overflows.0 += 1,
                Resource::Edges => overflows.1 += 1,
            },
            Err(other) => panic!("{capacity:?}: {other}"),
        }
    }
    assert!(overflows.0 >= nodes && overflows.1 >= edges, "both capacities ran out: {overflows:?}");
}

fn requests_over_a_limit_are_refused_and_nothing_else_changes(device: &dyn SamplerDevice) {
    let graph = random_multigraph(2000, 4000, 9);
    let bench = Bench::new(device, &graph);
    let limits: Limits = device.capabilities().limits.clone();
    let refused = |request| match bench.run(Slr::ALL[0], &request, Capacity { nodes: 10, edges: 10 }).result {
        Err(DeviceError::Request(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    let beyond = limits.fanout + 1;
    assert_eq!(
        refused(request(1, 1, [0], &[1, beyond.cast_signed()])),
        RequestError::Fanout { found: beyond, hop: 2, limit: limits.fanout, owner: limits.owner }
    );
    let hops = vec![1; limits.hops + 1];
    assert_eq!(
        refused(request(1, 1, [0], &hops)),
        RequestError::Hops { found: limits.hops + 1, limit: limits.hops, owner: limits.owner }
    );
    if limits.seeds < graph.nodes() {
        let seeds = limits.seeds + 1;
        assert_eq!(
            refused(request(1, 1, 0..seeds as u32, &[1])),
            RequestError::Seeds { found: seeds, limit: limits.seeds, owner: limits.owner }
        );
    }
    assert_eq!(refused(request(1, 1, [0], &[])), RequestError::NoHops);
    assert!(matches!(refused(request(1, 1, [5, 2000], &[1])), RequestError::SeedOutOfRange { position: 1, .. }));
    assert!(matches!(refused(request(1, 1, [5, 6, 5], &[1])), RequestError::DuplicateSeed { first: 0, second: 2, .. }));
    check(&bench, Slr::ALL[0], &request(1, 1, [5, 6], &[1]));
}

fn calls_out_of_order_are_refused(device: &dyn SamplerDevice) {
    let (slr, slot) = (Slr::ALL[0], Slot(0));
    let graph = random_multigraph(1000, 30_000, 10);
    let request = request(1, 1, 0..1000, &[10, 10]);
    let buffers = || OutputBuffers::host(Capacity { nodes: 1000, edges: 30_000 });

    assert_eq!(device.start(slr, slot, &request), Err(DeviceError::NoGraph));
    device.load_graph(&graph, &Silent).unwrap();
    assert_eq!(device.start(slr, slot, &request), Err(DeviceError::NotBound { slr, slot }));
    assert_eq!(device.wait(slr, Deadline::never()), Err(DeviceError::Idle { slr }));
    device.bind_outputs(slr, slot, buffers()).unwrap();

    let depth = device.capabilities().queue_depth;
    for _ in 0..depth {
        device.start(slr, slot, &request).unwrap();
    }
    assert_eq!(device.start(slr, slot, &request), Err(DeviceError::Busy { slr }));
    assert_eq!(device.bind_outputs(slr, slot, buffers()), Err(DeviceError::Busy { slr }));
    assert_eq!(device.load_graph(&graph, &Silent), Err(DeviceError::Busy { slr }));
    // Another SLR does not care.
    assert_eq!(device.wait(Slr::ALL[1], Deadline::never()), Err(DeviceError::Idle { slr: Slr::ALL[1] }));
    device.bind_outputs(Slr::ALL[1], slot, buffers()).unwrap();

    for _ in 0..depth {
        device.wait(slr, Deadline::never()).unwrap();
    }
    assert_eq!(device.wait(slr, Deadline::never()), Err(DeviceError::Idle { slr }));
    assert_eq!(device.bind_outputs(slr, slot, buffers()), Ok(()));
}

fn slots_are_separate_and_a_graph_can_be_replaced(device: &dyn SamplerDevice) {
    let (slr, graph) = (Slr::ALL[2], hexagon());
    device.load_graph(&graph, &Silent).unwrap();
    let read = |outputs: &OutputBuffers, edges| match outputs.get(golden::Buffer::Edges) {
        hw::OutputMemory::Host(memory) => memory.to_vec(0..edges),
        other => panic!("{other:?}"),
    };
    let outputs = [0, 1].map(|_| OutputBuffers::host(Capacity { nodes: 6, edges: 12 }));
    for (slot, outputs) in (0..).map(Slot).zip(&outputs) {
        device.bind_outputs(slr, slot, outputs.clone()).unwrap();
    }
    let run = |slot, node| {
        device.start(slr, Slot(slot), &request(1, 1, [node], &[ALL])).unwrap();
        device.wait(slr, Deadline::never()).unwrap();
    };
    run(0, 2);
    run(1, 4);
    assert_eq!(read(&outputs[0], 2), [4, 5]);
    assert_eq!(read(&outputs[1], 2), [8, 9]);

    let other = random_multigraph(500, 5000, 12);
    check(&Bench::new(device, &other), slr, &request(1, 1, 0..50, &[4, 4]));
    check(&Bench::new(device, &graph), slr, &request(1, 1, 0..6, &[1, 1]));
}

fn extreme_seeds_and_minibatch_numbers(device: &dyn SamplerDevice) {
    let graph = random_multigraph(100, 3000, 13);
    let bench = Bench::new(device, &graph);
    for value in [0, 1, u64::from(u32::MAX), 1 << 32, 1 << 63, u64::MAX] {
        check(&bench, Slr::ALL[0], &request(value, 5, 0..10, &[5, 5]));
        check(&bench, Slr::ALL[1], &request(5, value, 0..10, &[5, 5]));
    }
}

fn a_feature_is_there_or_its_absence_is_an_error(device: &dyn SamplerDevice) {
    let graph = hexagon();
    let report = Bench::new(device, &graph).check(Slr::ALL[0], &request(1, 1, [0], &[2])).unwrap();
    let capabilities = device.capabilities();
    let filled = [
        (Feature::Cycles, report.cycles.is_some() && !capabilities.has(Feature::PredictedCycles)),
        (Feature::PredictedCycles, report.cycles.is_some() && !capabilities.has(Feature::Cycles)),
        (Feature::Traffic, !report.ports.is_empty()),
        (Feature::StageCycles, !report.stages.is_empty()),
    ];
    for (feature, filled) in filled {
        assert_eq!(capabilities.has(feature), filled, "{feature}");
        match capabilities.require(feature) {
            Ok(()) => assert!(filled),
            Err(error) => {
                assert!(!filled);
                let sentence = error.to_string();
                assert!(sentence.contains(&format!("'{}' has no {feature}", capabilities.backend)), "{sentence}");
            }
        }
    }
}

fn a_run_that_is_late_poisons_its_slr_only(device: &dyn SamplerDevice) {
    // Long enough that no machine finishes it before the first look at the clock.
    let graph = random_multigraph(20_000, 2_000_000, 14);
    device.load_graph(&graph, &Silent).unwrap();
    let (late, other) = (Slr::ALL[0], Slr::ALL[1]);
    let seeds = device.capabilities().limits.seeds.min(20_000) as u32;
    let slow = request(1, 1, 0..seeds, &[ALL, ALL]);
    let capacity = Capacity { nodes: 20_000, edges: 2_000_000 };
    device.bind_outputs(late, Slot(0), OutputBuffers::host(capacity)).unwrap();
    device.start(late, Slot(0), &slow).unwrap();
    let limit = Duration::ZERO;
    match device.wait(late, Deadline::after(limit)) {
        Err(DeviceError::Timeout { slr, limit: found, .. }) => assert_eq!((slr, found), (late, limit)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(device.start(late, Slot(0), &slow), Err(DeviceError::Poisoned { slr, .. }) if slr == late));
    device.bind_outputs(other, Slot(0), OutputBuffers::host(capacity)).unwrap();
    device.start(other, Slot(0), &request(1, 1, 0..3, &[2])).unwrap();
    assert_eq!(device.wait(other, Deadline::never()).unwrap().hops.nodes[0], 3);
}

fn dropping_ends_runs(device: impl SamplerDevice) {
    let graph = random_multigraph(20_000, 2_000_000, 15);
    device.load_graph(&graph, &Silent).unwrap();
    for slr in Slr::ALL {
        let capacity = Capacity { nodes: 20_000, edges: 2_000_000 };
        device.bind_outputs(slr, Slot(0), OutputBuffers::host(capacity)).unwrap();
        device.start(slr, Slot(0), &request(1, 1, 0..1000, &[ALL, ALL])).unwrap();
    }
    assert!(Arc::strong_count(&graph) > 1);
    drop(device);
    assert_eq!(Arc::strong_count(&graph), 1, "a run goes on and keeps its graph");
}

#[test]
fn dropping_the_model_ends_its_runs() {
    dropping_ends_runs(model());
}

#[test]
fn dropping_the_rtl_ends_its_runs() {
    dropping_ends_runs(rtl(&rtl_options()));
}

#[test]
fn dropping_a_card_ends_its_runs() {
    dropping_ends_runs(xrt());
}

/// The model predicts the RTL's bus traffic, access for access.
#[test]
fn model_and_rtl_count_the_same_traffic() {
    let graph = cora();
    for channels in [1, 2, 4, 8] {
        let options = sim::model::ModelOptions { channels, ..Default::default() };
        let software = sim::model::SoftwareModel::new(options).unwrap();
        let simulated = rtl(&sim::rtl::RtlOptions { channels, ..rtl_options() });
        let (software, simulated) = (Bench::new(&software, &graph), Bench::new(&simulated, &graph));
        for (minibatch, fanouts) in [&[10, 10, 10][..], &[25, 10], &[ALL], &[0, 3], &[3, 0, 3], &[1]].iter().enumerate()
        {
            for seeds in [0, 1, 100, 1024] {
                let request = request(21, minibatch as u64, 0..seeds, fanouts);
                let expected = software.check(Slr::ALL[0], &request).unwrap().ports;
                let found = simulated.check(Slr::ALL[0], &request).unwrap().ports;
                assert_eq!(expected, found, "{channels} channels, {request:?}");
            }
        }
    }
}
