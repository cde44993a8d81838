//! A card made of three simulated kernels: what the software model and the simulated RTL have in common.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use golden::{Buffer, Capacity, CscGraph, Progress, Request};
use hw::{
    Capabilities, Deadline, DeviceError, HostMemory, MemorySpace, OutputBuffers, OutputMemory, RunReport, SLRS,
    SamplerDevice, Slot, Slr,
};

use crate::worker::{Cancel, Workers};

/// What the memory of a simulated accelerator is called ([`MemorySpace::Named`]): simulated cards alone can reach it.
/// `pipeline::accelerator::SimulatedAccelerator` has it too; neither crate sees the other, and the tests of both do.
pub const SIMULATED_ACCELERATOR: &str = "memory of a simulated accelerator";

/// Where simulated kernels write results in place.
pub(crate) const OUTPUT_SPACES: [MemorySpace; 3] =
    [MemorySpace::Host, MemorySpace::CardBar, MemorySpace::Named(SIMULATED_ACCELERATOR)];

/// One simulated kernel.
pub trait Kernel: Send + 'static {
    /// Samples a mini-batch; the request has been checked. It looks at `cancel` often enough to end within milliseconds.
    ///
    /// # Errors
    /// Whatever keeps it from a whole sub-graph.
    fn run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError>;

    /// What a run that was cancelled was waiting for, where that is known.
    fn waiting_for(&self) -> Option<String> {
        None
    }

    /// Ends what it records of its runs.
    ///
    /// # Errors
    /// What could not be recorded.
    fn finish(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// What a run samples, and into what.
#[derive(Debug)]
pub struct Job {
    pub(crate) graph: Arc<CscGraph>,
    pub(crate) request: Request,
    pub(crate) outputs: Outputs,
}

/// The bound buffers of a slot, in the order of [`Buffer::ALL`].
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    pub(crate) buffers: [Arc<HostMemory>; 4],
    pub(crate) capacity: Capacity,
}

impl Outputs {
    /// # Errors
    /// [`DeviceError::OutputSpace`] if they are not in memory that this process can address.
    fn new(backend: &'static str, outputs: &OutputBuffers) -> Result<Self, DeviceError> {
        let elements = |buffer| {
            let memory = outputs.get(buffer);
            let refused =
                || DeviceError::OutputSpace { backend, space: memory.space(), possible: OUTPUT_SPACES.to_vec() };
            memory.elements().cloned().ok_or_else(refused)
        };
        let [samples, rows, cols, edges] = Buffer::ALL.map(elements);
        Ok(Self { buffers: [samples?, rows?, cols?, edges?], capacity: outputs.capacity() })
    }

    pub(crate) fn get(&self, buffer: Buffer) -> &HostMemory {
        &self.buffers[buffer as usize]
    }
}

/// Three simulated kernels behind the one trait, each with a worker thread of its own.
#[derive(Debug)]
pub struct Card<K> {
    capabilities: Capabilities,
    graph: RwLock<Option<Arc<CscGraph>>>,
    lanes: [Lane<K>; SLRS],
    workers: Workers,
}

/// What one SLR has of its own.
#[derive(Debug)]
struct Lane<K> {
    kernel: Arc<Mutex<K>>,
    slots: Mutex<HashMap<Slot, Outputs>>,
}

impl<K> Card<K> {
    /// A card without a graph.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] if the system gives no more threads.
    pub(crate) fn with_kernels(capabilities: Capabilities, kernels: [K; SLRS]) -> Result<Self, DeviceError> {
        let workers = Workers::new(capabilities.backend, capabilities.queue_depth)?;
        let lane = |kernel| Lane { kernel: Arc::new(Mutex::new(kernel)), slots: Mutex::default() };
        Ok(Self { capabilities, graph: RwLock::default(), lanes: kernels.map(lane), workers })
    }

    /// The kernel of an SLR. Waits for a run in flight.
    pub(crate) fn kernel(&self, slr: Slr) -> MutexGuard<'_, K> {
        lock(&self.lanes[slr.index()].kernel)
    }
}

impl<K: Kernel> SamplerDevice for Card<K> {
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
        slots.insert(slot, Outputs::new(self.capabilities.backend, &outputs)?);
        Ok(())
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        // Both locks are held until the run is queued, so that graph and buffers stay as they are.
        let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
        let lane = &self.lanes[slr.index()];
        let slots = lock(&lane.slots);
        let graph = Arc::clone(graph.as_ref().ok_or(DeviceError::NoGraph)?);
        request.check(&graph, &self.capabilities.limits)?;
        let outputs = slots.get(&slot).ok_or(DeviceError::NotBound { slr, slot })?.clone();
        let job = Job { graph, request: request.clone(), outputs };
        let kernel = Arc::clone(&lane.kernel);
        self.workers.start(slr, move |cancel| lock(&kernel).run(&job, cancel))
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        match self.workers.wait(slr, deadline) {
            Err(DeviceError::Timeout { slr, limit, detail: None }) => {
                // The run ends soon; then the kernel stands still and can be looked at.
                Err(DeviceError::Timeout { slr, limit, detail: self.kernel(slr).waiting_for() })
            }
            outcome => outcome,
        }
    }

    fn cancel(&self, slr: Slr) {
        self.workers.cancel(slr);
    }

    fn bar_outputs(&self, _: Slr, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        Ok(OutputBuffers::new_in(capacity, OutputMemory::CardBar))
    }

    fn finish(&self) -> Result<(), DeviceError> {
        // All end, also when one has failed.
        let ended = Slr::ALL.map(|slr| self.kernel(slr).finish());
        ended.into_iter().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
