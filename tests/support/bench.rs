//! One device with its buffers, and the check of a run to the last element.

use std::sync::Arc;

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, SampleError, Silent};
use hw::{Deadline, DeviceError, HostMemory, OutputBuffers, OutputMemory, RunReport, SamplerDevice, Slot, Slr};

/// What stands in every element before a run: no valid output is negative.
const POISON: i32 = -0x0BAD_F00D;

/// A request in few words: `fanouts` has -1 for ALL.
pub fn request(seed: u64, minibatch: u64, seeds: impl IntoIterator<Item = u32>, fanouts: &[i32]) -> Request {
    let fanout = |&f: &i32| u32::try_from(f).map_or(Fanout::All, Fanout::Count);
    Request {
        seed,
        minibatch,
        seeds: seeds.into_iter().map(NodeId::new).collect(),
        fanouts: fanouts.iter().map(fanout).collect(),
    }
}

/// A device with a graph loaded.
pub struct Bench<'a> {
    device: &'a dyn SamplerDevice,
    graph: Arc<CscGraph>,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// What the device said.
    pub result: Result<RunReport, DeviceError>,
    /// The four buffers, whole, in the order of [`Buffer::ALL`].
    pub buffers: [Vec<i32>; 4],
}

impl<'a> Bench<'a> {
    /// Loads `graph`.
    pub fn new(device: &'a dyn SamplerDevice, graph: &Arc<CscGraph>) -> Self {
        device.load_graph(graph, &Silent).expect("the graph is loaded");
        Self { device, graph: Arc::clone(graph) }
    }

    /// Runs one request on one SLR into fresh, poisoned buffers.
    pub fn run(&self, slr: Slr, request: &Request, capacity: Capacity) -> Outcome {
        let len = |buffer| if buffer == Buffer::Samples { capacity.nodes } else { capacity.edges };
        let memories = Buffer::ALL.map(|buffer| Arc::new(HostMemory::new(len(buffer))));
        for memory in &memories {
            memory.fill(POISON);
        }
        let outputs = memories.each_ref().map(|memory| OutputMemory::Host(Arc::clone(memory)));
        let slot = Slot(0);
        let result = self
            .device
            .bind_outputs(slr, slot, OutputBuffers::new(outputs))
            .and_then(|()| self.device.start(slr, slot, request))
            .and_then(|()| self.device.wait(slr, Deadline::never()));
        Outcome { result, buffers: memories.map(|memory| memory.to_vec(0..memory.len())) }
    }

    /// Runs a request on one SLR with room for its worst case and compares everything with the reference.
    ///
    /// # Errors
    /// What differs, or that the device did not sample.
    pub fn check(&self, slr: Slr, request: &Request) -> Result<RunReport, String> {
        let capacity = Capacity::worst_case(&self.graph, request.seeds.len(), &request.fanouts);
        self.check_within(slr, request, capacity)?.map_err(|error| error.to_string())
    }

    /// Runs a request and compares with the reference: every element and count; or that both ran out of the same capacity at
    /// the same place, after the same elements. Nothing past the valid elements may have been touched.
    ///
    /// `Ok(Err)` is the overflow, or the refusal, on which both agree.
    ///
    /// # Errors
    /// What differs.
    pub fn check_within(
        &self,
        slr: Slr,
        request: &Request,
        capacity: Capacity,
    ) -> Result<Result<RunReport, DeviceError>, String> {
        let outcome = self.run(slr, request, capacity);
        let (expected, emitted) = match golden::sample(&self.graph, request, capacity) {
            Ok(expected) => {
                let report = outcome.result.as_ref().map_err(|e| format!("{slr}: {e}, where the reference samples"))?;
                let hops = report.hops.clone();
                (expected, hops)
            }
            Err(SampleError::Overflow { overflow, emitted: expected }) => match &outcome.result {
                Err(DeviceError::Overflow { overflow: found, emitted }) if *found == overflow => {
                    (*expected, emitted.clone())
                }
                other => return Err(format!("{slr}: {other:?}, where the reference says: {overflow}")),
            },
            Err(SampleError::Request(refusal)) => {
                return match outcome.result {
                    Err(DeviceError::Request(_)) => Ok(outcome.result),
                    other => Err(format!("{slr}: {other:?}, where the reference refuses: {refusal}")),
                };
            }
        };
        if expected.hops != emitted {
            return Err(format!("{slr}: counts {emitted:?}, where the reference has {:?}", expected.hops));
        }
        for (buffer, found) in Buffer::ALL.into_iter().zip(&outcome.buffers) {
            let valid = expected.buffer(buffer);
            let padded = valid.iter().copied().chain(std::iter::repeat(POISON));
            if let Some(index) = found.iter().zip(padded).position(|(&found, expected)| found != expected) {
                let (value, name) = (found[index], buffer.name());
                let should = valid.get(index).map_or("untouched".to_owned(), ToString::to_string);
                return Err(format!("{slr}: {name}[{index}] is {value}, where the reference has {should}"));
            }
        }
        Ok(outcome.result)
    }
}
