//! libtorch on an accelerator: on its streams, in its memory.
//!
//! libtorch knows the processor and GPUs. [`TorchAccelerator`] is what it takes to have it compute on the memory that cards
//! write, in the order that streams and events give: buffers become tensors without a copy, and what libtorch is asked for is
//! work of the stream like any other. [`Torch`] is libtorch on one accelerator, made ready, with one stream for all of its work.
//!
//! libtorch's own tensors (parameters, features) are known to nobody else. They are in order as all work is on one stream.

mod shim;

use std::{ffi::c_void, fmt, sync::Arc};

use hw::HostMemory;
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

#[cfg(feature = "cuda")]
pub(super) use shim::Current;
pub(super) use shim::lend;

use super::{Accelerator, AcceleratorError, HostAccelerator, Result, check_length};
use crate::ledger::Ledger;

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
    pub(super) fn buffer(&self) -> &'a B {
        let (&Self::Read(buffer, _) | &Self::Written(buffer, ..)) = self;
        buffer
    }

    pub(super) fn len(&self) -> usize {
        let (&Self::Read(_, len) | &Self::Written(_, len, _)) = self;
        len
    }

    /// Where it lies.
    ///
    /// # Panics
    /// If elements are to be written as something that has not their size.
    pub(super) fn place(&self, address: *mut c_void) -> Place {
        let kind = match *self {
            Self::Read(..) => Kind::Int,
            Self::Written(_, _, kind) => kind,
        };
        assert!(matches!(kind, Kind::Int | Kind::Float), "elements of a buffer have 32 bits, which {kind:?} has not");
        Place { address, len: self.len(), kind }
    }
}

/// Memory that a tensor is made over.
pub(super) struct Place {
    address: *mut c_void,
    len: usize,
    kind: Kind,
}

/// What an accelerator is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// What it is, in a few words.
    pub name: String,
    /// Its driver, where it has one.
    pub driver: Option<String>,
    /// Bytes of memory of its own.
    pub memory: Option<u64>,
}

/// An accelerator on which libtorch computes.
pub trait TorchAccelerator: Accelerator {
    /// Makes libtorch ready for it, and tells where its tensors are.
    ///
    /// # Errors
    /// [`AcceleratorError::Unavailable`] if a part of libtorch is missing.
    fn open(&self) -> Result<Device>;

    /// What it is.
    ///
    /// # Errors
    /// What the driver says.
    fn properties(&self) -> Result<Properties> {
        Ok(Properties { name: self.describe(), driver: None, memory: None })
    }

    /// Bytes of its own memory that are free; `None` if it has no memory of its own.
    ///
    /// # Errors
    /// What the driver says.
    fn free_memory(&self) -> Result<Option<u64>> {
        Ok(None)
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
    fn compute<const N: usize, R>(
        &self,
        stream: &Self::Stream,
        site: &'static str,
        lent: [Lent<'_, Self::Buffer>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R>;
}

impl TorchAccelerator for HostAccelerator {
    fn open(&self) -> Result<Device> {
        Ok(Device::Cpu)
    }

    fn compute<const N: usize, R>(
        &self,
        &(): &(),
        site: &'static str,
        lent: [Lent<'_, Arc<HostMemory>>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R> {
        admit(self.ledger(), site, &lent, |buffer, len| check_length(site, &"a buffer", len, buffer.len()))?;
        with_host_memory(lent.map(|lent| (lent, &**lent.buffer())), f)
    }
}

/// Has each buffer's length checked, and enters the work in the ledger.
pub(super) fn admit<B>(
    ledger: &Ledger,
    site: &'static str,
    lent: &[Lent<'_, B>],
    check: impl Fn(&B, usize) -> Result<()>,
) -> Result<()> {
    lent.iter().try_for_each(|lent| check(lent.buffer(), lent.len()))?;
    ledger.launch(site, lent.iter().map(Lent::len).sum());
    Ok(())
}

/// Calls `f` with tensors over host memory, which whoever calls has the use of.
#[allow(unsafe_code)]
pub(super) fn with_host_memory<B, const N: usize, R>(
    lent: [(Lent<'_, B>, &HostMemory); N],
    f: impl FnOnce([Tensor; N]) -> R,
) -> Result<R> {
    let places = lent.map(|(lent, memory)| {
        assert!(lent.len() <= memory.len(), "no element past the end is lent");
        lent.place(memory.as_ptr().cast_mut().cast())
    });
    // SAFETY: each place has so many elements of 32 bits (an AtomicI32 is an int32 in size and alignment, and may change through
    // a shared reference), which stay in place as long as the memory lives. The pipeline has nobody write to a slot that is
    // consumed, nor to memory that a stream was given to write.
    unsafe { lend(None, places, f) }
}

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
    /// As [`TorchAccelerator::open`] and [`Accelerator::stream`].
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

/// What libtorch cannot do.
fn failed(message: String) -> AcceleratorError {
    AcceleratorError::Driver { accelerator: "libtorch", message }
}
