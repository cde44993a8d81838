//! What is said when things go wrong, and what stays usable.

use std::time::Duration;

use golden::{Buffer, Capacity, CscGraph, NodeId, Silent};
use hw::{
    BusAccess, Deadline, DeviceError, Feature, OutputBuffers, SamplerDevice, Slr,
    card::{BURST_BYTES, LINE_BYTES, Port},
    registers::ARGS,
};
use sim::rtl::{Fault, FaultAt, KernelFailure, Place, Profile, Response, RtlDevice, RtlOptions};

use crate::common::{SLOT, device, graph_of, hubs, options, request, run, run_with};

const SLR: Slr = Slr::ALL[1];

fn with_fault(port: Port, access: BusAccess, at: FaultAt, response: Response) -> RtlOptions {
    RtlOptions { faults: vec![Fault { port, access, at, response }], ..options(Profile::Hbm) }
}

#[test]
fn a_bus_error_names_port_address_and_answer_and_the_next_run_is_fine() {
    let graph = hubs(200, 3);
    let request = request(0..10, &[5, 5], 1);
    let cases = [
        (Port::Offs, BusAccess::Read, FaultAt::Burst(3), Response::SlvErr),
        (Port::Idx(2), BusAccess::Read, FaultAt::Burst(5), Response::DecErr),
        (Port::Mem, BusAccess::Read, FaultAt::Burst(0), Response::SlvErr),
        (Port::Mem, BusAccess::Write, FaultAt::Burst(0), Response::DecErr),
        (Port::Out, BusAccess::Write, FaultAt::Burst(2), Response::SlvErr),
    ];
    for (port, access, at, response) in cases {
        let device = device(&with_fault(port, access, at, response), &graph);
        match run(&device, SLR, &graph, &request) {
            Err(DeviceError::Bus { access: a, port: p, response: r, address }) => {
                assert_eq!((a, p, r), (access, port.name(), response.name()));
                assert_eq!(address % 64, 0);
            }
            other => panic!("{port:?}: {other:?}"),
        }
        run(&device, SLR, &graph, &request).unwrap();
    }
}

/// The address is that of the burst; which line of it was at fault nobody knows.
#[test]
fn a_write_error_names_the_burst() {
    let graph = hubs(200, 3);
    // The second block of rows; in its burst the third line.
    let at = FaultAt::Line(Place::Output(Buffer::Rows), (BURST_BYTES + 2 * LINE_BYTES) as u64);
    let device = device(&with_fault(Port::Out, BusAccess::Write, at, Response::SlvErr), &graph);
    let report = run(&device, SLR, &graph, &request(0..10, &[5], 1)).unwrap();
    assert!(report.hops.total_edges() < 128, "one block");
    let Err(DeviceError::Bus { address, .. }) = run(&device, SLR, &graph, &request(0..40, &[5, 5], 1)) else {
        panic!("the line was written")
    };
    assert_eq!(address % 4096, BURST_BYTES as u64);
}

#[test]
fn a_status_block_that_cannot_be_written_is_a_bus_error() {
    let graph = hubs(200, 3);
    for line in [0, 3] {
        let at = FaultAt::Line(Place::Status, 64 * line);
        let device = device(&with_fault(Port::Mem, BusAccess::Write, at, Response::DecErr), &graph);
        let error = run(&device, SLR, &graph, &request(0..10, &[5], 1)).unwrap_err();
        let DeviceError::Bus { access: BusAccess::Write, port: "mem", response: "DECERR", .. } = error else {
            panic!("{error}")
        };
    }
}

#[test]
fn a_read_without_an_answer_is_a_stall_that_names_the_channel() {
    let graph = hubs(200, 3);
    let options = RtlOptions {
        watchdog_cycles: 2000,
        ..with_fault(Port::Idx(1), BusAccess::Read, FaultAt::Burst(4), Response::Never)
    };
    let device = device(&options, &graph);
    let error = run(&device, SLR, &graph, &request(0..10, &[5, 5], 1)).unwrap_err();
    let DeviceError::Kernel { slr: SLR, cause } = &error else { panic!("{error}") };
    let Some(KernelFailure::Stalled { slr: SLR, stuck, .. }) = cause.downcast_ref() else { panic!("{error}") };
    assert!(stuck.contains("idx1.R: ") && stuck.contains("reads outstanding"), "{stuck}");
    let poisoned = DeviceError::Poisoned { slr: SLR, cause: error.to_string() };
    assert_eq!(device.start(SLR, SLOT, &request(0..10, &[5, 5], 1)), Err(poisoned));
    // The other SLRs' memory has the same fault; nothing else of them is touched.
    assert!(run(&device, Slr::ALL[0], &graph, &request(0..1, &[0], 1)).is_ok());
}

#[test]
fn a_deadline_that_passes_says_what_was_waited_for() {
    let graph = hubs(200, 3);
    let options = RtlOptions {
        watchdog_cycles: u64::MAX / 2,
        ..with_fault(Port::Out, BusAccess::Write, FaultAt::Burst(0), Response::Never)
    };
    let device = device(&options, &graph);
    let request = request(0..10, &[5, 5], 1);
    device.bind_outputs(SLR, SLOT, OutputBuffers::host(Capacity { nodes: 500, edges: 500 })).unwrap();
    device.start(SLR, SLOT, &request).unwrap();
    assert_eq!(device.start(SLR, SLOT, &request), Err(DeviceError::Busy { slr: SLR }));
    let limit = Duration::from_millis(80);
    let error = device.wait(SLR, Deadline::after(limit)).unwrap_err();
    let DeviceError::Timeout { slr: SLR, detail: Some(detail), .. } = &error else { panic!("{error}") };
    assert!(detail.contains("out.B: "), "{detail}");
    assert!(matches!(device.wait(SLR, Deadline::never()), Err(DeviceError::Poisoned { .. })));
}

#[test]
fn dropping_the_device_ends_a_run_that_hangs() {
    let graph = hubs(200, 3);
    let options = RtlOptions {
        watchdog_cycles: u64::MAX / 2,
        ..with_fault(Port::Offs, BusAccess::Read, FaultAt::Burst(0), Response::Never)
    };
    let device = device(&options, &graph);
    device.bind_outputs(SLR, SLOT, OutputBuffers::host(Capacity { nodes: 500, edges: 500 })).unwrap();
    device.start(SLR, SLOT, &request(0..10, &[5, 5], 1)).unwrap();
    drop(device);
}

#[test]
fn capacities_end_a_run_where_the_reference_does() {
    let graph = hubs(200, 3);
    let device = device(&options(Profile::Ddr4), &graph);
    let request = request(0..20, &[4, 4], 9);
    let full = run(&device, SLR, &graph, &request).unwrap();
    for missing in [1, 5, 30] {
        let all = Capacity { nodes: full.hops.total_nodes(), edges: full.hops.total_edges() };
        for capacity in [Capacity { nodes: all.nodes - missing, ..all }, Capacity { edges: all.edges - missing, ..all }]
        {
            let error = run_with(&device, SLR, &graph, &request, capacity).unwrap_err();
            assert!(matches!(error, DeviceError::Overflow { .. }), "{error}");
        }
        run_with(&device, SLR, &graph, &request, all).unwrap();
    }
}

#[test]
fn a_full_hash_table_is_an_error_and_the_next_run_is_fine() {
    let graph = graph_of((0..3000).map(|_| 2), {
        let mut source = 0;
        move || {
            source = (source + 1) % 3000;
            source
        }
    });
    let device = device(&RtlOptions { channels: 1, table_log2: 10, window: 8, ..options(Profile::Ideal) }, &graph);
    let error = run(&device, SLR, &graph, &request(0..600, &[-1, -1], 0)).unwrap_err();
    let DeviceError::TableFull { slots: 1024, emitted, .. } = error else { panic!("{error}") };
    assert!(emitted.total_nodes() > 512 && emitted.total_nodes() <= 1024, "{emitted:?}");
    run(&device, SLR, &graph, &request(0..5, &[2, 2], 1)).unwrap();
}

#[test]
fn memory_that_holds_no_graph_is_an_error() {
    let graph = hubs(200, 3);
    for (port, what) in [(Port::Offs, "an offset record points past E"), (Port::Idx(0), "an index is not below N")] {
        let device = device(&with_fault(port, BusAccess::Read, FaultAt::Burst(1), Response::Garbage), &graph);
        let error = run(&device, SLR, &graph, &request(0..10, &[5, 5], 1)).unwrap_err();
        let DeviceError::CorruptGraph { what: found, hop: 1, .. } = error else { panic!("{error}") };
        assert_eq!(found, what);
        run(&device, SLR, &graph, &request(0..10, &[5, 5], 1)).unwrap();
    }
}

#[test]
fn what_the_host_lets_through_the_kernel_refuses() {
    let graph = hubs(200, 3);
    let offset = |name| ARGS.iter().find(|arg| arg.name == name).unwrap().offset;
    let cases = [
        ("num_hops", 0, "num_hops is not 1 to 4"),
        ("num_hops", 5, "num_hops is not 1 to 4"),
        ("fanout2", 33, "a fan-out is not -1 to 32"),
        ("fanout1", u32::MAX - 1, "a fan-out is not -1 to 32"),
        ("num_seeds", 1025, "num_seeds is above 1024"),
        ("offsets", 0x20, "a base address is not a multiple of 64, or of 512 where the kernel writes (12)"),
        ("status", 0x1004, "a base address is not a multiple of 64, or of 512 where the kernel writes (15)"),
        ("rows", 0x10C0, "a base address is not a multiple of 64, or of 512 where the kernel writes (17)"),
        ("indices3", 8, "a base address is not a multiple of 64, or of 512 where the kernel writes (23)"),
        ("num_nodes", 1 << 31, "num_nodes or num_edges is above 2^31 - 1"),
        ("num_nodes", 9, "a seed is not below num_nodes (9)"),
    ];
    for (name, value, why) in cases {
        let options = RtlOptions { registers: vec![(offset(name), value)], ..options(Profile::Hostile) };
        let error = run(&device(&options, &graph), SLR, &graph, &request(0..10, &[5, 5], 1)).unwrap_err().to_string();
        if name == "status" {
            // Where should it be written? The register has it.
            assert!(error.contains("no status block; its register says status 2 detail 0x4"), "{error}");
        } else {
            assert!(error.contains(&format!("had checked: {why}")), "{name}: {error}");
        }
    }
    // All seeds are the same: the kernel is told of so many nodes that they are in range.
    let twice = FaultAt::Line(Place::Seeds, 0);
    let registers = vec![(offset("num_nodes"), 0x7FFF_FFFF)];
    let options = RtlOptions { registers, ..with_fault(Port::Mem, BusAccess::Read, twice, Response::Garbage) };
    let error = run(&device(&options, &graph), SLR, &graph, &request(0..10, &[5, 5], 1)).unwrap_err().to_string();
    assert!(error.contains("a seed is given twice (1)"), "{error}");
}

#[test]
fn what_cannot_be_started_says_why() {
    let device = RtlDevice::new(&options(Profile::Ideal), &|_| {}).unwrap();
    let request = request(0..2, &[1], 0);
    assert_eq!(device.start(SLR, SLOT, &request), Err(DeviceError::NoGraph));
    let graph = std::sync::Arc::new(CscGraph::new(vec![0, 1], vec![NodeId::new(0)]).unwrap());
    device.load_graph(&graph, &Silent).unwrap();
    assert!(matches!(device.start(SLR, SLOT, &request), Err(DeviceError::Request(_))));
    let one = crate::common::request(0..1, &[1], 0);
    assert_eq!(device.start(SLR, SLOT, &one), Err(DeviceError::NotBound { slr: SLR, slot: SLOT }));
    assert_eq!(device.wait(SLR, Deadline::never()), Err(DeviceError::Idle { slr: SLR }));
    let many = crate::common::request(0..1, &[33], 0);
    let refused = device.start(SLR, SLOT, &many).unwrap_err().to_string();
    assert!(refused.contains("the RTL kernel takes 0 to 32"), "{refused}");
    assert_eq!(device.capabilities().require(Feature::StageCycles), Ok(()));

    let odd = RtlOptions { channels: 3, ..options(Profile::Ideal) };
    let refused = RtlDevice::new(&odd, &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("3 index channels"), "{refused}");
}
