//! The software model of the card: three SLRs, one thread each, that do what the RTL does in the RTL's terms, as fast as a
//! processor can, and count the same accesses to card memory.
//!
//! It reads the sampling contract on its own: it shares graph, request and ids with `golden`, and no code that samples.
//!
//! Memory traffic of a run (each access is one line of 64 bytes; L is a range of int32 elements in lines):
//!
//! | port | reads | writes |
//! |---|---|---|
//! | `offs` | one for each node of the frontier, in each hop | |
//! | `idx<c>` | one for each drawn edge, shared with the edge drawn before it in the hop if both lie in one line | |
//! | `mem` | L(seeds); in each hop L(frontier) of the node list | L(what each phase appends to the node list); 7 of status |
//! | `out` | | L(samples), L(rows), L(cols), L(edges) |
//!
//! A hop with fan-out 0 reads nothing.

mod chacha;
mod dedup;
mod draw;
mod kernel;
mod traffic;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use golden::{CscGraph, Limits, Progress, Request};
use hw::{
    Capabilities, Deadline, DeviceError, Feature, MemorySpace, OutputBuffers, RunReport, SLRS, SamplerDevice, Slot,
    Slr, card::MAX_CHANNELS,
};

use crate::worker::Workers;
use kernel::{Kernel, Outputs};

const BACKEND: &str = "model";

/// What the software model takes.
pub const LIMITS: Limits = Limits { owner: "the software model", seeds: 1 << 20, hops: 8, fanout: 1024 };

/// Runs of an SLR that may be in flight: one is being sampled, one waits behind it.
const QUEUE_DEPTH: usize = 2;

/// How the modelled card is built. It changes what is counted, never what is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelOptions {
    /// Index channels of each kernel: 1, 2, 4 or 8.
    pub channels: usize,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { channels: 4 }
    }
}

/// The software model of the three-SLR card.
///
/// It writes into host memory and counts bus traffic ([`Feature::Traffic`]); it has no clock.
#[derive(Debug)]
pub struct SoftwareModel {
    capabilities: Capabilities,
    graph: RwLock<Option<Arc<CscGraph>>>,
    lanes: [Lane; SLRS],
    workers: Workers,
}

/// What one SLR has of its own.
#[derive(Debug)]
struct Lane {
    kernel: Arc<Mutex<Kernel>>,
    slots: Mutex<HashMap<Slot, Outputs>>,
}

impl SoftwareModel {
    /// A card without a graph.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] for a number of channels that no kernel has, or if the system gives no more threads.
    pub fn new(options: ModelOptions) -> Result<Self, DeviceError> {
        let channels = options.channels;
        if !channels.is_power_of_two() || channels > MAX_CHANNELS {
            let message = format!("a kernel with {channels} index channels does not exist; it has 1, 2, 4 or 8");
            return Err(DeviceError::Backend { backend: BACKEND, message });
        }
        Ok(Self {
            capabilities: Capabilities {
                backend: BACKEND,
                limits: LIMITS,
                queue_depth: QUEUE_DEPTH,
                features: vec![Feature::Traffic],
                output_spaces: vec![MemorySpace::Host],
            },
            graph: RwLock::default(),
            lanes: std::array::from_fn(|_| Lane {
                kernel: Arc::new(Mutex::new(Kernel::new(channels))),
                slots: Mutex::default(),
            }),
            workers: Workers::new(BACKEND, QUEUE_DEPTH)?,
        })
    }
}

impl SamplerDevice for SoftwareModel {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError> {
        let mut loaded = self.graph.write().unwrap_or_else(PoisonError::into_inner);
        for slr in Slr::ALL {
            self.workers.require_idle(slr)?;
        }
        *loaded = Some(Arc::clone(graph));
        let edges = graph.edges() as u64;
        progress.report("edges loaded", edges, edges);
        Ok(())
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        let mut slots = lock(&self.lanes[slr.index()].slots);
        self.workers.require_idle(slr)?;
        slots.insert(slot, Outputs::new(&outputs)?);
        Ok(())
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        // Both locks are held until the run is queued, so that graph and buffers stay as they are.
        let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
        let lane = &self.lanes[slr.index()];
        let slots = lock(&lane.slots);
        let graph = Arc::clone(graph.as_ref().ok_or(DeviceError::NoGraph)?);
        request.check(&graph, &LIMITS)?;
        let outputs = slots.get(&slot).ok_or(DeviceError::NotBound { slr, slot })?.clone();
        let (kernel, request) = (Arc::clone(&lane.kernel), request.clone());
        self.workers.start(slr, move |cancel| lock(&kernel).run(&graph, &request, &outputs, cancel))
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        self.workers.wait(slr, deadline)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
