//! An NVIDIA GPU, through CUDA's driver.
//!
//! Nothing of CUDA is linked. Libraries are loaded when a GPU is asked for, and their absence is an error like any other.
//!
//! # What a card writes into the GPU's memory
//!
//! Before the card begins no fence is needed: the host knows that all work on the buffers is done, and what a finished kernel
//! or copy has written is in the memory that others on the bus see.
//!
//! When the card has ended, a kernel that is launched after the host has learnt of it sees what the card has written. That rests
//! on three things. First, when the card reports its end to the host, its writes have reached the GPU: `PCIe` keeps the order of
//! posted writes on one path only, and those to the GPU and the report to the host take different ones, so the card's back end
//! sees to that. Second, the driver launches by writing to the GPU, after the host's read of the report. Third, inside the GPU
//! a kernel does not overtake writes that have come in from the bus before it was launched. Whether the GPU holds to the third
//! is in `CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING`. With `OWNER` or more it does, for its own kernels, and those are
//! the only ones that read here. With `NONE` the host calls `cuFlushGPUDirectRDMAWrites` once the card has ended; and where the
//! driver does not offer that, no card is let into the GPU's memory.
//!
//! # Errors
//!
//! An error in a kernel or copy stays: each later call in the context returns it, [`Accelerator::check`] too, and callbacks are
//! not called any more. So whoever waits for a callback asks [`Accelerator::check`] now and then.

#![allow(unsafe_code)]

mod lend;
mod memory;
mod queue;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

use cudarc::driver::{CudaContext, CudaEvent, DriverError, result, sys};
use hw::{HostMemory, MemorySpace, OutputMemory, Slr};
use sys::CUdevice_attribute as Attribute;

use memory::{Device, Memory, Pinned};
use queue::{Compare, Compared, KernelError, Queue};

use super::{Accelerator, AcceleratorError, Comparison, Result, VERDICT_ELEMENTS, check_length};
use crate::ledger::{Direction, Ledger};

const CUDA: &str = "CUDA";

/// `cuMemGetHandleForAddressRange`, the youngest function that is called, came with 11.7.
const OLDEST_DRIVER: i32 = 11_070;

/// A GPU.
#[derive(Clone)]
pub struct CudaAccelerator {
    ledger: Ledger,
    context: Arc<CudaContext>,
    name: Arc<str>,
    compare: Compare,
    peers: Result<Peers, String>,
    /// It never has work; asking for its state tells the context's.
    idle: Queue,
    /// The first thing that went wrong where nobody could be told.
    failure: Arc<OnceLock<AcceleratorError>>,
}

/// When the GPU sees what a card has written into its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peers {
    /// In whatever is launched after the write.
    Ordered,
    /// The same, once the host has called for a flush.
    Flushed,
}

/// Memory of the GPU, or pinned memory of the host.
#[derive(Clone)]
pub struct CudaBuffer {
    memory: Arc<Memory>,
    label: Arc<str>,
}

impl CudaBuffer {
    fn new(memory: Memory, label: String) -> Self {
        Self { memory: Arc::new(memory), label: label.into() }
    }

    fn check(&self, what: &'static str, len: usize) -> Result<()> {
        check_length(what, &self.label, len, self.memory.len())
    }
}

/// A stream of the GPU.
#[derive(Clone)]
pub struct CudaStream {
    queue: Queue,
    label: Arc<str>,
}

impl CudaStream {
    /// How an error in `what` is told.
    fn failed(&self, what: impl fmt::Display) -> impl FnOnce(DriverError) -> AcceleratorError {
        move |error| refused(format_args!("{what} on stream '{}'", self.label), error)
    }
}

/// An error as CUDA names and explains it.
fn words(error: DriverError) -> String {
    let text = error.error_string().map_or("an unknown error".into(), |text| text.to_string_lossy());
    format!("{:?}, {text}", error.0)
}

fn refused(what: impl fmt::Display, error: DriverError) -> AcceleratorError {
    AcceleratorError::Driver { accelerator: CUDA, message: format!("{what}: {}", words(error)) }
}

fn unavailable(reason: impl Into<String>) -> AcceleratorError {
    AcceleratorError::Unavailable { accelerator: CUDA, reason: reason.into() }
}

/// A version as CUDA numbers it: 13000 is 13.0.
fn version_name(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Loads the driver and makes it ready.
fn open_driver() -> Result<()> {
    // SAFETY: loading the libraries runs their initialisers, which are NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable("the library of NVIDIA's driver, libcuda.so, cannot be loaded; install the driver"));
    }
    // SAFETY: as above.
    if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        let reason = "the library of CUDA's compiler, libnvrtc.so, cannot be loaded; \
                      install NVRTC, which the CUDA toolkit has, or name its folder in LD_LIBRARY_PATH";
        return Err(unavailable(reason));
    }
    let mut version = 0;
    // SAFETY: the driver writes an int.
    let asked = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
    asked.and_then(|()| result::init()).map_err(|error| unavailable(format!("the driver says {}", words(error))))?;
    if version < OLDEST_DRIVER {
        let [found, oldest] = [version, OLDEST_DRIVER].map(version_name);
        let reason = format!("the driver is for CUDA {found}, and {oldest} is needed");
        return Err(unavailable(reason));
    }
    Ok(())
}

impl CudaAccelerator {
    /// GPU number `ordinal`, as CUDA counts them.
    ///
    /// # Errors
    /// [`AcceleratorError::Unavailable`] if there is none or CUDA is not installed, [`AcceleratorError::Driver`] if it cannot be
    /// used.
    pub fn new(ordinal: usize, ledger: Ledger) -> Result<Self> {
        open_driver()?;
        let opening = |error| refused(format_args!("GPU {ordinal} cannot be opened"), error);
        let gpus = CudaContext::device_count().map_err(opening)?;
        if usize::try_from(gpus).unwrap_or(0) <= ordinal {
            return Err(unavailable(format!("the driver has no GPU {ordinal}; it counts {gpus}, from 0 on")));
        }
        let context = CudaContext::new(ordinal).map_err(opening)?;
        let name: Arc<str> = context.name().map_err(opening)?.into();
        let peers = peers(&context, &name).map_err(opening)?;
        let compare = Compare::new(&context).map_err(|error| match error {
            KernelError::Compiler(error) => {
                let message = format!("the comparing kernel does not compile: {}", log(&error));
                AcceleratorError::Driver { accelerator: CUDA, message }
            }
            KernelError::Driver(error) => {
                refused("the driver does not take the comparing kernel, perhaps as libnvrtc is newer than it is", error)
            }
        })?;
        let idle = Queue::new(&context).map_err(opening)?;
        Ok(Self { ledger, context, name, compare, peers, idle, failure: Arc::default() })
    }

    /// Keeps what went wrong for [`Accelerator::check`].
    fn keep(failure: &OnceLock<AcceleratorError>, error: AcceleratorError) {
        // Only the first counts.
        let _ = failure.set(error);
    }
}

/// What the compiler says, in a line.
fn log(error: &cudarc::nvrtc::CompileError) -> String {
    let text = match error {
        cudarc::nvrtc::CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => other.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether cards may write the GPU's memory, or why not.
fn peers(context: &CudaContext, name: &str) -> Result<Result<Peers, String>, DriverError> {
    let offers = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)?;
    if offers != 1 {
        return Ok(Err(format!(
            "{name} exports no dma-buf; that takes the open kernel modules of NVIDIA's driver, and Linux 5.12 or later"
        )));
    }
    let order = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING)?;
    if order >= sys::CUGPUDirectRDMAWritesOrdering::CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER as i32 {
        return Ok(Ok(Peers::Ordered));
    }
    let flushes = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)?;
    let host = sys::CUflushGPUDirectRDMAWritesOptions::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST as i32;
    Ok(if flushes & host == 0 {
        Err(format!("{name} may miss what a card has written into its memory, and cannot be told to wait for it"))
    } else {
        Ok(Peers::Flushed)
    })
}

impl fmt::Debug for CudaAccelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaAccelerator").field("name", &self.name).field("peers", &self.peers).finish_non_exhaustive()
    }
}

impl Accelerator for CudaAccelerator {
    type Buffer = CudaBuffer;
    type Stream = CudaStream;
    type Event = Arc<CudaEvent>;

    fn describe(&self) -> String {
        self.name.as_ref().to_owned()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn allocate(&self, label: String, len: usize) -> Result<CudaBuffer> {
        let device = Device::new(&self.context, len)
            .map_err(|error| refused(format_args!("{len} elements for {label}"), error))?;
        Ok(CudaBuffer::new(Memory::Device(device), label))
    }

    fn pin(&self, label: String, memory: &Arc<HostMemory>, space: MemorySpace) -> Result<CudaBuffer> {
        let pinned = Pinned::new(&self.context, memory, space).map_err(|reason| AcceleratorError::Driver {
            accelerator: CUDA,
            message: format!("{label} in {space} cannot be pinned: {reason}"),
        })?;
        Ok(CudaBuffer::new(Memory::Pinned(pinned), label))
    }

    fn export_space(&self) -> Result<MemorySpace, String> {
        self.peers.clone().map(|_| MemorySpace::DmaBuf)
    }

    fn export(&self, buffer: &CudaBuffer) -> Result<OutputMemory> {
        match &*buffer.memory {
            Memory::Device(device) => {
                if let Err(reason) = &self.peers {
                    return Err(AcceleratorError::Driver { accelerator: CUDA, message: reason.clone() });
                }
                device.export().map_err(|error| refused(format_args!("{} as a dma-buf", buffer.label), error))
            }
            Memory::Pinned(pinned) => Ok(pinned.export()),
        }
    }

    fn stream(&self, label: String) -> Result<CudaStream> {
        let queue = Queue::new(&self.context).map_err(|error| refused(format_args!("stream '{label}'"), error))?;
        Ok(CudaStream { queue, label: label.into() })
    }

    fn record(&self, stream: &CudaStream) -> Result<Arc<CudaEvent>> {
        stream.queue.record().map(Arc::new).map_err(stream.failed("an event"))
    }

    fn wait(&self, stream: &CudaStream, event: &Arc<CudaEvent>) -> Result<()> {
        stream.queue.wait(event).map_err(stream.failed("a wait for an event"))
    }

    fn synchronize(&self, stream: &CudaStream) -> Result<()> {
        stream.queue.synchronize().map_err(stream.failed("some work"))
    }

    fn then(&self, stream: &CudaStream, f: Box<dyn FnOnce() + Send>) -> Result<()> {
        let (failure, label) = (Arc::clone(&self.failure), Arc::clone(&stream.label));
        let guarded = move || {
            // No panic may leave a function that C calls.
            if catch_unwind(AssertUnwindSafe(f)).is_err() {
                let message = format!("what stream '{label}' calls ended in a panic, which is a bug in trisage");
                Self::keep(&failure, AcceleratorError::Driver { accelerator: CUDA, message });
            }
        };
        stream.queue.call(Box::new(guarded)).map_err(stream.failed("a callback"))
    }

    fn fill(&self, stream: &CudaStream, site: &'static str, buffer: &CudaBuffer, len: usize, value: i32) -> Result<()> {
        buffer.check(site, len)?;
        self.ledger.launch(site, len);
        stream.queue.fill(&buffer.memory, len, value).map_err(stream.failed(site))
    }

    fn copy(
        &self,
        stream: &CudaStream,
        (direction, site): (Direction, &'static str),
        from: &CudaBuffer,
        to: &CudaBuffer,
        len: usize,
    ) -> Result<()> {
        from.check(site, len)?;
        to.check(site, len)?;
        self.ledger.cross(direction, site, len * size_of::<i32>());
        stream.queue.copy(&from.memory, &to.memory, len).map_err(stream.failed(site))
    }

    fn download(&self, stream: &CudaStream, site: &'static str, from: &CudaBuffer, len: usize) -> Result<Vec<i32>> {
        from.check(site, len)?;
        self.ledger.cross(Direction::Down, site, len * size_of::<i32>());
        stream.queue.read(&from.memory, len).map_err(stream.failed(site))
    }

    fn compare(&self, stream: &CudaStream, site: &'static str, work: &Comparison<'_, CudaBuffer>) -> Result<()> {
        let &Comparison { found, expected, len, verdict, record, iteration } = work;
        found.check(site, len)?;
        expected.check(site, len)?;
        verdict.check(site, (record + 1) * VERDICT_ELEMENTS)?;
        self.ledger.launch(site, len);
        let compared = Compared {
            found: &found.memory,
            expected: &expected.memory,
            // A record has room for no larger index.
            len: i32::try_from(len).map_err(|_| {
                let message = format!("{site} takes fewer than 2^31 elements, not the {len} of {}", found.label);
                AcceleratorError::Driver { accelerator: CUDA, message }
            })?,
        };
        let verdict = (&*verdict.memory, record * VERDICT_ELEMENTS);
        self.compare.launch(&stream.queue, &compared, verdict, iteration).map_err(stream.failed(site))
    }

    fn card_begins(&self, _: Slr, _: &[CudaBuffer]) -> Result<()> {
        // The host has waited for all work on them; see above.
        Ok(())
    }

    fn card_ended(&self, slr: Slr) {
        if self.peers != Ok(Peers::Flushed) {
            return;
        }
        let target = sys::CUflushGPUDirectRDMAWritesTarget::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        let scope = sys::CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER;
        let flushed = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: it takes no pointers, and the context is current.
            unsafe { sys::cuFlushGPUDirectRDMAWrites(target, scope) }.result()
        });
        if let Err(error) = flushed {
            Self::keep(&self.failure, refused(format_args!("the flush of what {slr} has written"), error));
        }
    }

    fn check(&self) -> Result<()> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        self.idle.query().map_err(|error| refused("some work", error))
    }
}
