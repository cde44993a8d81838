//! The simulated RTL against the reference sampler, in every memory profile.

use std::sync::Arc;

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, Silent};
use hw::{Deadline, DeviceError, OutputBuffers, OutputMemory, RunReport, SamplerDevice, Slot, Slr};
use sim::rtl::{Profile, RtlDevice, RtlOptions, Variant};

const SLOT: Slot = Slot(0);

/// A random graph in which a few nodes have many neighbours.
fn graph(nodes: u32, seed: u64) -> Arc<CscGraph> {
    let mut state = seed;
    let mut next = move |end: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(end)) as u32
    };
    let degrees: Vec<u32> = (0..nodes).map(|v| if v % 37 == 0 { next(90) } else { next(14) }).collect();
    let ends = degrees.iter().scan(0, |end, degree| {
        *end += degree;
        Some(*end)
    });
    let indptr: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let indices = (0..indptr[nodes as usize]).map(|_| NodeId::new(next(nodes))).collect();
    Arc::new(CscGraph::new(indptr, indices).unwrap())
}

fn request(seeds: impl Iterator<Item = u32>, fanouts: &[i32], minibatch: u64) -> Request {
    let fanout = |&f: &i32| u32::try_from(f).map_or(Fanout::All, Fanout::Count);
    Request {
        seed: 42,
        minibatch,
        seeds: seeds.map(NodeId::new).collect(),
        fanouts: fanouts.iter().map(fanout).collect(),
    }
}

fn options(memory: Profile) -> RtlOptions {
    RtlOptions { memory, table_log2: 12, variant: Variant::Test, ..RtlOptions::default() }
}

fn device(options: &RtlOptions, graph: &Arc<CscGraph>) -> RtlDevice {
    let device = RtlDevice::new(options, &|line| eprintln!("{line}")).unwrap();
    device.load_graph(graph, &Silent).unwrap();
    device
}

/// Runs a request and compares the four buffers with the reference sampler's.
fn run(device: &RtlDevice, slr: Slr, graph: &CscGraph, request: &Request) -> Result<RunReport, DeviceError> {
    let capacity = Capacity::worst_case(graph, request.seeds.len(), &request.fanouts);
    let outputs = OutputBuffers::host(capacity);
    device.bind_outputs(slr, SLOT, outputs.clone()).unwrap();
    device.start(slr, SLOT, request)?;
    let report = device.wait(slr, Deadline::never())?;
    let expected = golden::sample(graph, request, capacity).unwrap();
    assert_eq!(report.hops, expected.hops);
    for buffer in Buffer::ALL {
        let OutputMemory::Host(memory) = outputs.get(buffer) else { unreachable!() };
        let found = memory.to_vec(0..report.hops.len_of(buffer));
        let wrong = found.iter().zip(expected.buffer(buffer)).position(|(f, e)| f != e);
        assert_eq!(wrong, None, "{} differs: {:?} {:?}", buffer.name(), found, expected.buffer(buffer));
    }
    Ok(report)
}

#[test]
fn every_profile_gives_the_reference_sub_graph() {
    let graph = graph(300, 1);
    for memory in Profile::ALL {
        let device = device(&options(memory), &graph);
        for (minibatch, fanouts) in [(0, &[3][..]), (1, &[10, 5]), (2, &[0, 4]), (3, &[-1, 2, 3]), (4, &[2, 2, 2, 2])] {
            let slr = Slr::ALL[minibatch % 3];
            let report = run(&device, slr, &graph, &request(5..25, fanouts, minibatch as u64)).unwrap();
            eprintln!("{memory} {fanouts:?}: {:?} cycles {:?}", report.cycles, report.elapsed);
        }
    }
}
