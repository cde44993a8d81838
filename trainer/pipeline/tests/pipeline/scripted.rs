//! A card that does what a script says, and a consumer's view of what it writes.
#![allow(dead_code, unreachable_pub, reason = "shared by several test programs")]

use std::{collections::HashMap, sync::Arc, time::Duration};

use golden::{Buffer, Capacity, CscGraph, Fanout, HopCounts, Limits, Progress, Request};
use hw::{
    Capabilities, Deadline, DeviceError, MemorySpace, OutputBuffers, OutputMemory, RunReport, SLRS, SamplerDevice,
    Slot, Slr,
};
use pipeline::sync::{Condvar, Mutex, lock, wait};

/// What a run does.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Writes so many nodes and edges: [`element`].
    Write(usize, usize),
    /// Fails.
    Fail(DeviceError),
    /// Never ends, unless it is cancelled.
    Hang,
    /// A bug of the back end.
    Panic,
}

/// What each run does, by SLR and its number.
pub type Script = dyn Fn(Slr, u64) -> Behaviour + Send + Sync;

/// The card.
pub struct Scripted {
    capabilities: Capabilities,
    script: Box<Script>,
    lanes: [Lane; SLRS],
}

#[derive(Default)]
struct Lane {
    state: Mutex<State>,
    cancelled: Condvar,
}

#[derive(Default)]
struct State {
    bound: HashMap<Slot, OutputBuffers>,
    started: Option<(Slot, u64)>,
    runs: u64,
    cancelled: bool,
}

/// Room in the buffers of all tests.
pub const CAPACITY: Capacity = Capacity { nodes: 9, edges: 17 };

impl Scripted {
    pub fn new(script: impl Fn(Slr, u64) -> Behaviour + Send + Sync + 'static) -> Arc<Self> {
        let limits = Limits { owner: "the script", seeds: 1, hops: 1, fanout: 1 };
        let capabilities = Capabilities {
            backend: "scripted",
            limits,
            queue_depth: 1,
            features: vec![],
            output_spaces: vec![
                MemorySpace::Host,
                MemorySpace::CardBar,
                MemorySpace::Named(sim::SIMULATED_ACCELERATOR),
            ],
        };
        Arc::new(Self { capabilities, script: Box::new(script), lanes: Default::default() })
    }

    /// A card that always writes this.
    pub fn writing(nodes: usize, edges: usize) -> Arc<Self> {
        Self::new(move |_, _| Behaviour::Write(nodes, edges))
    }

    /// Runs that were started.
    pub fn runs(&self, slr: Slr) -> u64 {
        lock(&self.lanes[slr.index()].state).runs
    }
}

/// What mini-batch `minibatch` has at `index` of a buffer.
pub fn element(minibatch: u64, buffer: Buffer, index: usize) -> i32 {
    (minibatch as u32 * 1000 + buffer as u32 * 100 + index as u32).cast_signed()
}

/// Mini-batch 3 g + s, as in training.
#[expect(clippy::unnecessary_wraps, reason = "as a pipeline asks for it")]
pub fn request(iteration: u64, slr: Slr) -> Option<Request> {
    let minibatch = iteration * SLRS as u64 + slr.index() as u64;
    Some(Request { seed: 0, minibatch, seeds: vec![], fanouts: vec![Fanout::All] })
}

impl SamplerDevice for Scripted {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn load_graph(&self, _: &Arc<CscGraph>, _: &dyn Progress) -> Result<(), DeviceError> {
        Ok(())
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        lock(&self.lanes[slr.index()].state).bound.insert(slot, outputs);
        Ok(())
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        let mut state = lock(&self.lanes[slr.index()].state);
        assert!(state.started.is_none(), "{slr} was started twice");
        assert!(state.bound.contains_key(&slot));
        state.started = Some((slot, request.minibatch));
        state.runs += 1;
        Ok(())
    }

    fn wait(&self, slr: Slr, _: Deadline) -> Result<RunReport, DeviceError> {
        let lane = &self.lanes[slr.index()];
        let mut state = lock(&lane.state);
        let (slot, minibatch) = state.started.expect("a run was started");
        let (nodes, edges) = match (self.script)(slr, state.runs - 1) {
            Behaviour::Write(nodes, edges) => (nodes, edges),
            Behaviour::Fail(error) => return Err(error),
            Behaviour::Panic => panic!("as the script says"),
            Behaviour::Hang => {
                while !state.cancelled {
                    state = wait(&lane.cancelled, state);
                }
                return Err(DeviceError::Cancelled { slr });
            }
        };
        let hops = HopCounts { nodes: vec![nodes as u32, 0], edges: vec![edges as u32] };
        for buffer in Buffer::ALL {
            let memory = state.bound[&slot].get(buffer).elements().expect("memory of this process");
            let elements = 0..hops.len_of(buffer).min(memory.len());
            memory.write(0, &elements.map(|index| element(minibatch, buffer, index)).collect::<Vec<_>>());
        }
        state.started = None;
        Ok(RunReport { hops, elapsed: Duration::ZERO, cycles: None, ports: vec![], stages: vec![] })
    }

    fn cancel(&self, slr: Slr) {
        let lane = &self.lanes[slr.index()];
        lock(&lane.state).cancelled = true;
        lane.cancelled.notify_all();
    }

    fn bar_outputs(&self, _: Slr, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        Ok(OutputBuffers::new_in(capacity, OutputMemory::CardBar))
    }
}
