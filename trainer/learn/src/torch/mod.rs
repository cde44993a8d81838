//! libtorch on an accelerator: on its streams, in its memory.
//!
//! libtorch knows the processor and GPUs. [`TorchAccelerator`] has it compute on the memory that cards write, in the order that
//! streams and events give: buffers become tensors without a copy, and what libtorch is asked for is work of the stream like
//! any other. [`Torch`] is libtorch on one accelerator, made ready, with one stream for all of its work.
//!
//! libtorch's own tensors (parameters, features) are known to nobody else. They are in order as all work is on one stream.

#[cfg(feature = "cuda")]
mod cuda;
mod shim;

use std::{ffi::c_void, fmt, sync::Arc};

use pipeline::accelerator::{AcceleratorError, Access, Lend, Loan, Result};
use tch::{Device, Kind, Tensor};

/// A buffer that libtorch is to use: its first `len` elements, as a tensor of one dimension.
pub enum Lent<'a, B> {
    /// It reads them, as int32.
    Read(&'a B, usize),
    /// It writes some of them, as int32 or float32.
    Written(&'a B, usize, Kind),
}

impl<B> Clone for Lent<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Lent<'_, B> {}

impl<'a, B> Lent<'a, B> {
    fn loan(self) -> Loan<'a, B> {
        match self {
            Self::Read(buffer, len) => Loan { buffer, len, access: Access::Read },
            Self::Written(buffer, len, _) => Loan { buffer, len, access: Access::Write },
        }
    }

    /// Where it lies.
    ///
    /// # Panics
    /// If elements are to be written as something that has not their size.
    fn place(self, address: *mut c_void) -> Place {
        let (len, kind) = match self {
            Self::Read(_, len) => (len, Kind::Int),
            Self::Written(_, len, kind) => (len, kind),
        };
        assert!(matches!(kind, Kind::Int | Kind::Float), "elements of a buffer have 32 bits, which {kind:?} has not");
        Place { address, len, kind }
    }
}

/// Memory that a tensor is made over.
struct Place {
    address: *mut c_void,
    len: usize,
    kind: Kind,
}

/// An accelerator on which libtorch computes: any that lends its buffers.
pub trait TorchAccelerator: Lend {
    /// Makes libtorch ready for it, and tells where its tensors are.
    ///
    /// # Errors
    /// [`AcceleratorError::Unavailable`] if a part of libtorch is missing.
    fn open(&self) -> Result<Device> {
        match self.gpu() {
            None => Ok(Device::Cpu),
            #[cfg(feature = "cuda")]
            Some(gpu) => cuda::open(gpu),
            #[cfg(not(feature = "cuda"))]
            Some(gpu) => Err(failed(format!("GPU {gpu} needs a build with feature `cuda`"))),
        }
    }

    /// Calls `f` on this thread with tensors over these buffers. What it asks libtorch for is work of the stream: done after all
    /// that the stream was given before, and perhaps much later. `f` keeps none of the tensors, and nothing that shares their
    /// memory.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`], what libtorch or the driver says.
    ///
    /// # Panics
    /// If a tensor is kept.
    #[allow(unsafe_code)]
    fn compute<const N: usize, R>(
        &self,
        stream: &Self::Stream,
        site: &'static str,
        lent: [Lent<'_, Self::Buffer>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R> {
        let gpu = self.gpu();
        self.lend(stream, site, lent.map(Lent::loan), |lease| {
            #[cfg(feature = "cuda")]
            let current = match (gpu, lease.stream) {
                // SAFETY: it is a stream of this GPU, and lives until its work is done.
                (Some(gpu), Some(stream)) => Some(unsafe { shim::Current::enter(gpu, stream) }?),
                _ => None,
            };
            let mut addresses = lease.addresses.into_iter();
            let places = lent.map(|lent| lent.place(addresses.next().expect("each buffer has an address")));
            // SAFETY: each place has so many elements of 32 bits, which stay in place until the work is done (an AtomicI32 is an
            // int32 in size and alignment, and may change through a shared reference). All of it is work of the stream, and
            // whoever has the buffers orders that with other streams, the card and the host: the pipeline has nobody write to a
            // slot that is consumed, nor to memory that a stream was given to write.
            let done = unsafe { shim::lend(gpu, places, f) };
            #[cfg(feature = "cuda")]
            drop(current);
            done
        })?
    }
}

impl<A: Lend> TorchAccelerator for A {}

/// libtorch on an accelerator, ready: all that it is asked for is done on one stream, with algorithms that give the same bits
/// each time.
pub struct Torch<A: TorchAccelerator> {
    accelerator: Arc<A>,
    stream: A::Stream,
    device: Device,
}

impl<A: TorchAccelerator> Torch<A> {
    /// Makes libtorch ready.
    ///
    /// # Errors
    /// As [`TorchAccelerator::open`] and [`Accelerator::stream`](pipeline::accelerator::Accelerator::stream).
    pub fn new(accelerator: Arc<A>) -> Result<Self> {
        let device = accelerator.open()?;
        shim::deterministic()?;
        let stream = accelerator.stream("training".to_owned())?;
        Ok(Self { accelerator, stream, device })
    }

    /// What it computes on.
    pub fn accelerator(&self) -> &Arc<A> {
        &self.accelerator
    }

    /// The stream on which it does.
    pub fn stream(&self) -> &A::Stream {
        &self.stream
    }

    /// Where its tensors are.
    pub fn device(&self) -> Device {
        self.device
    }

    /// See [`TorchAccelerator::compute`].
    ///
    /// # Errors
    /// As it has.
    pub fn compute<const N: usize, R>(
        &self,
        site: &'static str,
        lent: [Lent<'_, A::Buffer>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R> {
        self.accelerator.compute(&self.stream, site, lent, f)
    }
}

impl<A: TorchAccelerator> fmt::Debug for Torch<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torch").field("device", &self.device).finish_non_exhaustive()
    }
}

/// Threads that libtorch computes with.
pub fn threads() -> i32 {
    tch::get_num_threads()
}

/// What libtorch cannot do.
fn failed(message: String) -> AcceleratorError {
    AcceleratorError::Driver { accelerator: "libtorch", message }
}
