//! Graphs, requests, and a run that is compared with the reference sampler.

use std::sync::Arc;

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, SampleError, Silent, SubGraph};
use hw::{Deadline, DeviceError, HostMemory, OutputBuffers, OutputMemory, RunReport, SamplerDevice, Slot, Slr};
use sim::{
    chance::Chance,
    rtl::{Profile, RtlDevice, RtlOptions, Variant},
};

pub(crate) const SLOT: Slot = Slot(0);
/// What stands in the buffers before a run.
const POISON: i32 = -7;

/// Choices by chance that a seed replays.
pub(crate) struct Choices(Chance);

impl Choices {
    /// Each `stream` of a seed has choices of its own.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Chance::new(seed, stream))
    }

    /// Choices of their own for a part of what is chosen.
    pub(crate) fn split(&mut self) -> Self {
        Self::new(self.0.next(), 0)
    }

    /// One of `0 .. end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0.below(end.into()) as u32
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

/// A graph of these in-degrees, whose sources are drawn by `source`.
pub(crate) fn graph_of(degrees: impl Iterator<Item = u32>, mut source: impl FnMut() -> u32) -> Arc<CscGraph> {
    let mut indptr = vec![0];
    indptr.extend(degrees.scan(0, |end, degree| {
        *end += degree;
        Some(*end)
    }));
    let indices = (0..*indptr.last().unwrap()).map(|_| NodeId::new(source())).collect();
    Arc::new(CscGraph::new(indptr, indices).unwrap())
}

/// A random graph in which a few nodes have many neighbours.
pub(crate) fn hubs(nodes: u32, seed: u64) -> Arc<CscGraph> {
    let (mut degrees, mut sources) = (Choices::new(seed, 0), Choices::new(seed, 1));
    let degree = |v| if v % 37 == 0 { degrees.below(90) } else { degrees.below(14) };
    graph_of((0..nodes).map(degree), || sources.below(nodes))
}

pub(crate) fn request(seeds: impl IntoIterator<Item = u32>, fanouts: &[i32], minibatch: u64) -> Request {
    let fanout = |&f: &i32| u32::try_from(f).map_or(Fanout::All, Fanout::Count);
    Request {
        seed: 42,
        minibatch,
        seeds: seeds.into_iter().map(NodeId::new).collect(),
        fanouts: fanouts.iter().map(fanout).collect(),
    }
}

/// A small kernel, compiled to find mistakes.
pub(crate) fn options(memory: Profile) -> RtlOptions {
    RtlOptions { memory, table_log2: 12, variant: Variant::Test, ..RtlOptions::default() }
}

pub(crate) fn device(options: &RtlOptions, graph: &Arc<CscGraph>) -> RtlDevice {
    let device = RtlDevice::new(&options.clone().measured(), &|line| eprintln!("{line}")).unwrap();
    device.load_graph(graph, &Silent).unwrap();
    device
}

/// Runs a request in buffers of just this capacity. What is in the buffers afterwards is compared with the reference
/// sampler, whether the run ended well or a capacity ran out, and so is the error.
pub(crate) fn run_with(
    device: &RtlDevice,
    slr: Slr,
    graph: &CscGraph,
    request: &Request,
    capacity: Capacity,
) -> Result<RunReport, DeviceError> {
    let outputs = OutputBuffers::host(capacity);
    for buffer in Buffer::ALL {
        memory(&outputs, buffer).fill(POISON);
    }
    device.bind_outputs(slr, SLOT, outputs.clone())?;
    device.start(slr, SLOT, request)?;
    let outcome = device.wait(slr, Deadline::never());
    match (golden::sample(graph, request, capacity), &outcome) {
        (Ok(expected), Ok(report)) => {
            assert_eq!(report.hops, expected.hops);
            compare(&outputs, &expected);
        }
        (Err(SampleError::Overflow { overflow, emitted }), _) => {
            if let Err(DeviceError::Bus { .. } | DeviceError::TableFull { .. }) = outcome {
                return outcome; // that came first; who asks has to know whether it may
            }
            let expected = DeviceError::Overflow { overflow, emitted: emitted.hops.clone() };
            assert_eq!(outcome.as_ref().err(), Some(&expected));
            compare(&outputs, &emitted);
        }
        (_, Err(_)) => {}
        (expected, Ok(report)) => panic!("the reference says {expected:?}, the kernel {report:?}"),
    }
    outcome
}

/// As [`run_with`], with all the room that a request can need.
pub(crate) fn run(device: &RtlDevice, slr: Slr, graph: &CscGraph, request: &Request) -> Result<RunReport, DeviceError> {
    run_with(device, slr, graph, request, Capacity::worst_case(graph, request.seeds.len(), &request.fanouts))
}

fn memory(outputs: &OutputBuffers, buffer: Buffer) -> &HostMemory {
    match outputs.get(buffer) {
        OutputMemory::Host(memory) => memory,
        other => panic!("{other:?} is not in host memory"),
    }
}

fn compare(outputs: &OutputBuffers, expected: &SubGraph) {
    for buffer in Buffer::ALL {
        let (memory, expected) = (memory(outputs, buffer), expected.buffer(buffer));
        let mut wanted = expected.to_vec();
        wanted.resize(memory.len(), POISON);
        let found = memory.to_vec(0..memory.len());
        if let Some(at) = (0..found.len()).find(|&at| found[at] != wanted[at]) {
            let (found, wanted, all) = (found[at], wanted[at], expected.len());
            panic!("element {at} of {} is {found}, not {wanted}; {all} were to come", buffer.name());
        }
    }
}
