//! Does a device compute what the reference computes? Element by element, and with other data in every buffer each time.
//!
//! In iteration g SLR s samples mini-batch (s + g) mod 3, so consecutive iterations fill every buffer with other data; and
//! before each run the elements that it is to write are filled with [`POISON`], so a transfer that did nothing is seen.

mod compare;
mod report;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Buffer, Capacity, CscGraph, Fanout, Progress, Request, SampleError, SubGraph};
use hw::{Deadline, DeviceError, HostMemory, OutputBuffers, OutputMemory, SLRS, SamplerDevice, Slot, Slr};

use crate::batches::Batches;
pub use compare::{Difference, POISON, first_difference};
pub(crate) use report::WayTotals;
pub use report::{Located, PortTotals, Reference, Report, SlrTotals, StageTotals};

/// What to verify.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed nodes of the mini-batches; 0, 1 and 2 are sampled.
    pub batches: Batches,
    /// Fan-out of each hop.
    pub fanouts: Vec<Fanout>,
    /// The user's seed.
    pub seed: u64,
    /// How often each SLR samples a mini-batch.
    pub iterations: u64,
    /// Elements of the output buffers; see [`Capacity::worst_case`].
    pub capacity: Capacity,
    /// How long one run may take; `None` waits for as long as the device does.
    pub timeout: Option<Duration>,
}

/// Why a verification has no verdict.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The reference refuses a mini-batch, or it does not fit.
    #[error("mini-batch {minibatch} cannot be sampled: {source}")]
    Reference {
        /// The mini-batch.
        minibatch: u64,
        /// Why.
        source: SampleError,
    },
    /// The device did not take the graph or the buffers.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A run failed.
    #[error("iteration {iteration}, {slr}, mini-batch {minibatch}: {source}")]
    Run {
        /// The iteration, from 0.
        iteration: u64,
        /// The SLR.
        slr: Slr,
        /// The mini-batch.
        minibatch: u64,
        /// Why.
        source: DeviceError,
    },
}

/// Four output buffers in host memory, as their reader sees them.
#[derive(Clone, Debug)]
pub struct HostBuffers {
    memory: [Arc<HostMemory>; 4],
    capacity: Capacity,
}

impl HostBuffers {
    /// New buffers of this capacity.
    pub fn new(capacity: Capacity) -> Self {
        let elements = |buffer| if buffer == Buffer::Samples { capacity.nodes } else { capacity.edges };
        Self { memory: Buffer::ALL.map(|buffer| Arc::new(HostMemory::new(elements(buffer)))), capacity }
    }

    /// One of the four.
    pub fn get(&self, buffer: Buffer) -> &HostMemory {
        &self.memory[buffer as usize]
    }

    /// Elements that fit.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// The same memory, to be bound to a device.
    pub fn outputs(&self) -> OutputBuffers {
        OutputBuffers::new(self.memory.clone().map(OutputMemory::Host))
    }

    /// Poisons the elements that a run with this result writes.
    fn poison(&self, expected: &SubGraph) {
        for buffer in Buffer::ALL {
            for index in 0..expected.buffer(buffer).len() {
                self.get(buffer).store(index, POISON);
            }
        }
    }
}

/// Compares a device with the reference until the first difference, or to the end of the plan.
///
/// After an error of the device, runs may still be in flight on it.
///
/// # Errors
/// Whatever keeps the comparison from having a result; a difference is a result ([`Report::difference`]).
pub fn run(
    device: &dyn SamplerDevice,
    graph: &Arc<CscGraph>,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Report, VerifyError> {
    let requests: [Request; SLRS] = std::array::from_fn(|minibatch| Request {
        seed: plan.seed,
        minibatch: minibatch as u64,
        seeds: plan.batches.get(minibatch as u64),
        fanouts: plan.fanouts.clone(),
    });
    for request in &requests {
        request.check(graph, &device.capabilities().limits).map_err(DeviceError::from)?;
    }
    let begin = Instant::now();
    let expected = sample_all(graph, &requests, plan.capacity, progress)?;
    let mut report = Report::new(device.capabilities().backend, Reference::new(&expected, begin.elapsed()));

    device.load_graph(graph, progress)?;
    let buffers: [HostBuffers; SLRS] = std::array::from_fn(|_| HostBuffers::new(plan.capacity));
    for slr in Slr::ALL {
        device.bind_outputs(slr, SLOT, buffers[slr.index()].outputs())?;
    }

    for iteration in 0..plan.iterations {
        let minibatch = |slr: Slr| ((slr.index() as u64 + iteration % SLRS as u64) % SLRS as u64) as usize;
        let failed = |slr| move |source| VerifyError::Run { iteration, slr, minibatch: minibatch(slr) as u64, source };
        for slr in Slr::ALL {
            buffers[slr.index()].poison(&expected[minibatch(slr)]);
        }
        let begin = Instant::now();
        for slr in Slr::ALL {
            device.start(slr, SLOT, &requests[minibatch(slr)]).map_err(failed(slr))?;
        }
        let mut runs = Vec::with_capacity(SLRS);
        for slr in Slr::ALL {
            let deadline = plan.timeout.map_or_else(Deadline::never, Deadline::after);
            runs.push((slr, device.wait(slr, deadline).map_err(failed(slr))?));
        }
        report.sampling += begin.elapsed();
        for (slr, run) in runs {
            let m = minibatch(slr);
            report.slrs[slr.index()].add(&run);
            if let Some(difference) = first_difference(&expected[m], &run.hops, &buffers[slr.index()]) {
                report.difference = Some(Located { iteration, slr: slr.index(), minibatch: m as u64, difference });
                return Ok(report);
            }
        }
        report.iterations += 1;
        progress.report("iterations verified", report.iterations, plan.iterations);
    }
    Ok(report)
}

const SLOT: Slot = Slot(0);

fn sample_all(
    graph: &CscGraph,
    requests: &[Request],
    capacity: Capacity,
    progress: &dyn Progress,
) -> Result<Vec<SubGraph>, VerifyError> {
    let mut expected = Vec::with_capacity(requests.len());
    for request in requests {
        let minibatch = request.minibatch;
        let sub =
            golden::sample(graph, request, capacity).map_err(|source| VerifyError::Reference { minibatch, source })?;
        expected.push(sub);
        progress.report("mini-batches sampled by the reference", expected.len() as u64, requests.len() as u64);
    }
    Ok(expected)
}
