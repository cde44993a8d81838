//! Memory that the GPU reads and writes. It goes when nothing on the GPU can touch it any more.

use std::{
    os::fd::{FromRawFd, OwnedFd},
    sync::Arc,
};

use cudarc::driver::{CudaContext, DriverError, result, sys};
use hw::{DmaBuf, HostMemory, MemorySpace, OutputMemory};

use super::words;

/// A dma-buf begins and ends at a page of the host: 4 KiB on x86, up to 64 KiB on Arm. The GPU's own mapping for other devices
/// has pages of 64 KiB.
const PAGE: usize = 64 << 10;

/// Memory of the GPU, or of the host.
pub(super) enum Memory {
    Device(Device),
    Pinned(Pinned),
}

impl Memory {
    /// Its first element, as the GPU addresses it.
    pub(super) fn address(&self) -> sys::CUdeviceptr {
        match self {
            Self::Device(device) => device.address,
            Self::Pinned(pinned) => pinned.address,
        }
    }

    /// Elements of int32.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Device(device) => device.len,
            Self::Pinned(pinned) => pinned.memory.len(),
        }
    }
}

/// Waits for everything that was given to the GPU, as the handle of a buffer may be dropped while work on it is queued.
fn settle(context: &CudaContext) -> Result<(), DriverError> {
    // Not `bind_to_thread`, which also returns what went wrong in earlier drops.
    // SAFETY: the context lives as long as `context`.
    unsafe { result::ctx::set_current(context.cu_ctx()) }?;
    result::ctx::synchronize()
}

/// Memory of the GPU, in pages of its own: who imports it as a dma-buf reaches nothing else.
///
/// It is made with `cuMemAlloc`, since CUDA exports no memory of a stream-ordered pool, from which cudarc's `CudaSlice` comes.
pub(super) struct Device {
    context: Arc<CudaContext>,
    allocation: sys::CUdeviceptr,
    /// The first whole page in it.
    address: sys::CUdeviceptr,
    len: usize,
}

impl Device {
    pub(super) fn new(context: &Arc<CudaContext>, len: usize) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // CUDA does not say that the first byte begins a page.
        // SAFETY: the memory is only read by kernels and copies, for which every pattern of bits is an int32.
        let allocation = unsafe { result::malloc_sync(Self::size(len) + PAGE) }?;
        let address = allocation.next_multiple_of(PAGE as sys::CUdeviceptr);
        Ok(Self { context: Arc::clone(context), allocation, address, len })
    }

    /// Bytes of its pages.
    fn size(len: usize) -> usize {
        (len * size_of::<i32>()).next_multiple_of(PAGE)
    }

    /// A dma-buf that is these pages. It stays valid only as long as they are there.
    pub(super) fn export(&self) -> Result<OutputMemory, DriverError> {
        self.context.bind_to_thread()?;
        let mut fd = -1;
        let kind = sys::CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
        let handle = (&raw mut fd).cast();
        // SAFETY: the range is whole pages of our allocation, and this type of handle is an int.
        unsafe { sys::cuMemGetHandleForAddressRange(handle, self.address, Self::size(self.len), kind, 0) }.result()?;
        // SAFETY: the descriptor was opened for us, and nobody else closes it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(OutputMemory::DmaBuf(Arc::new(DmaBuf { fd, offset: 0, len: self.len })))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let freed = settle(&self.context).and_then(|()| {
            // SAFETY: it comes from `malloc_sync`, and no work is queued that could touch it: whoever queues work has a handle.
            unsafe { result::free_sync(self.allocation) }
        });
        self.context.record_err(freed);
    }
}

/// Memory of the host that is pinned and mapped for the GPU.
pub(super) struct Pinned {
    context: Arc<CudaContext>,
    memory: Arc<HostMemory>,
    space: MemorySpace,
    address: sys::CUdeviceptr,
    registered: bool,
}

impl Pinned {
    /// # Errors
    /// What was refused, and why, in words.
    pub(super) fn new(
        context: &Arc<CudaContext>,
        memory: &Arc<HostMemory>,
        space: MemorySpace,
    ) -> Result<Self, String> {
        let (context, memory) = (Arc::clone(context), Arc::clone(memory));
        let mut pinned = Self { context, memory, space, address: 0, registered: false };
        if !pinned.memory.is_empty() {
            pinned.context.bind_to_thread().map_err(words)?;
            pinned.register()?;
            // SAFETY: the pointer is written, and the memory is registered and mapped for the device.
            let mapped =
                unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut pinned.address, pinned.first(), 0) }.result();
            mapped.map_err(|error| format!("it cannot be mapped: {}", words(error)))?;
        }
        Ok(pinned)
    }

    /// The first byte.
    fn first(&self) -> *mut std::ffi::c_void {
        self.memory.as_ptr().cast_mut().cast()
    }

    fn register(&mut self) -> Result<(), String> {
        let register = |flags: u32| {
            let flags = sys::CU_MEMHOSTREGISTER_DEVICEMAP | sys::CU_MEMHOSTREGISTER_PORTABLE | flags;
            // SAFETY: these are whole pages, and they stay in place as long as the Arc. The GPU writes cells that are atomic.
            unsafe { sys::cuMemHostRegister_v2(self.first(), self.memory.bytes(), flags) }.result()
        };
        let outcome = match self.space {
            // Behind a BAR there are no pages of the host, and the system refuses to pin them. The BAR of a simulated card,
            // however, is ordinary memory. CUDA takes a device's memory to be contiguous, so that comes second.
            MemorySpace::CardBar => register(0).or_else(|of_host| {
                let told =
                    |of_device| format!("as the host's: {}; as a device's: {}", words(of_host), words(of_device));
                register(sys::CU_MEMHOSTREGISTER_IOMEMORY).map_err(told)
            }),
            _ => register(0).map_err(words),
        };
        self.registered = outcome.is_ok();
        outcome
    }

    /// It, as a card sees it.
    pub(super) fn export(&self) -> OutputMemory {
        match self.space {
            MemorySpace::CardBar => OutputMemory::CardBar(Arc::clone(&self.memory)),
            _ => OutputMemory::Host(Arc::clone(&self.memory)),
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.registered {
            return;
        }
        let unregistered = settle(&self.context).and_then(|()| {
            // SAFETY: it was registered once, and no work is queued that could touch it: whoever queues work has a handle.
            unsafe { sys::cuMemHostUnregister(self.first()) }.result()
        });
        if unregistered.is_err() {
            // The GPU may reach it still, so it is never given to anybody else.
            std::mem::forget(Arc::clone(&self.memory));
        }
        self.context.record_err(unregistered);
    }
}
