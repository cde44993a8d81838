//! The card: three kernels behind the one trait.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use golden::{Buffer, Capacity, CscGraph, Limits, Progress, Request};
use hw::{
    Capabilities, Deadline, DeviceError, Feature, HostMemory, MemorySpace, OutputBuffers, OutputMemory, RunReport,
    SLRS, SamplerDevice, Slot, Slr, registers,
};
use verilator_sys::{Model, ModelLibrary, build};

use super::{
    BACKEND,
    kernel::{Job, Kernel, of_slr},
    options::RtlOptions,
};
use crate::worker::Workers;

const LIMITS: Limits = Limits { owner: "the RTL kernel", ..registers::LIMITS };

/// Runs of an SLR that may be in flight.
const QUEUE_DEPTH: usize = 1;

/// The three-SLR card in simulation.
///
/// It writes into host memory, line by line as the kernel does. Its reports hold cycles, traffic and stages; each run is also
/// checked against the bus protocol, and the kernel's own counts against what its memory saw.
#[derive(Debug)]
pub struct RtlDevice {
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

/// The buffers of a slot.
#[derive(Clone, Debug)]
struct Outputs {
    buffers: [Arc<HostMemory>; 4],
    capacity: Capacity,
}

impl RtlDevice {
    /// A card without a graph. The RTL is compiled first if no model of it is in the cache; `said` is told, a line each, what
    /// takes time.
    ///
    /// # Errors
    /// [`DeviceError::Backend`]: no Verilator, RTL that does not compile, a file that cannot be written.
    pub fn new(options: &RtlOptions, said: &dyn Fn(&str)) -> Result<Self, DeviceError> {
        let backend =
            |error: &dyn std::fmt::Display| DeviceError::Backend { backend: BACKEND, message: error.to_string() };
        let path = build::compile(&options.model_spec()?, said).map_err(|error| backend(&error))?;
        let library = ModelLibrary::load(&path).map_err(|error| backend(&error))?;
        let kernel = |slr| {
            let mut model = Model::new(&library, options.fill).map_err(|error| backend(&error))?;
            if let Some(path) = options.waves.as_ref().map(|path| of_slr(path, slr))
                && !model.open_waves(&path)
            {
                return Err(backend(&format!("waves cannot be written to {}", path.display())));
            }
            Ok(Lane { kernel: Arc::new(Mutex::new(Kernel::new(slr, model, options))), slots: Mutex::default() })
        };
        let [s0, s1, s2] = Slr::ALL;
        Ok(Self {
            capabilities: Capabilities {
                backend: BACKEND,
                limits: LIMITS,
                queue_depth: QUEUE_DEPTH,
                features: vec![Feature::Cycles, Feature::Traffic, Feature::StageCycles],
                output_spaces: vec![MemorySpace::Host],
            },
            graph: RwLock::default(),
            lanes: [kernel(s0)?, kernel(s1)?, kernel(s2)?],
            workers: Workers::new(BACKEND, QUEUE_DEPTH)?,
        })
    }

    /// Every handshake of the last run of `slr`, a line each, by port and channel: `idx2.AR indices2+0x40 id 3 beats 1`. It
    /// holds no cycles. `None` unless [`RtlOptions::bus_log`] was set and something ran.
    pub fn bus_log(&self, slr: Slr) -> Option<String> {
        lock(&self.lanes[slr.index()].kernel).bus_log()
    }

    /// Clock cycles that were simulated for `slr`, register accesses and all. Waits for a run in flight.
    pub fn cycles(&self, slr: Slr) -> u64 {
        lock(&self.lanes[slr.index()].kernel).cycles()
    }
}

impl SamplerDevice for RtlDevice {
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
        let Outputs { buffers, capacity } = slots.get(&slot).ok_or(DeviceError::NotBound { slr, slot })?.clone();
        let job = Job { graph, request: request.clone(), outputs: buffers, capacity };
        let kernel = Arc::clone(&lane.kernel);
        self.workers.start(slr, move |cancel| lock(&kernel).run(&job, cancel))
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        let outcome = self.workers.wait(slr, deadline);
        match outcome {
            Err(DeviceError::Timeout { slr, limit, detail: None }) => {
                // The run ends within some thousand cycles; then the kernel stands still and can be looked at.
                let detail = Some(lock(&self.lanes[slr.index()].kernel).waiting_for());
                Err(DeviceError::Timeout { slr, limit, detail })
            }
            other => other,
        }
    }
}

impl Outputs {
    fn new(outputs: &OutputBuffers) -> Result<Self, DeviceError> {
        let host = |buffer| match outputs.get(buffer) {
            OutputMemory::Host(memory) => Ok(Arc::clone(memory)),
            other => {
                let (space, possible) = (other.space(), vec![MemorySpace::Host]);
                Err(DeviceError::OutputSpace { backend: BACKEND, space, possible })
            }
        };
        let [samples, rows, cols, edges] = Buffer::ALL.map(host);
        Ok(Self { buffers: [samples?, rows?, cols?, edges?], capacity: outputs.capacity() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
