//! A call, a result: sentinels become errors, with what `errno` says. XRT sets `errno` for some failures only, so it is cleared
//! before each call, and 0 after it means that nothing but XRT's own message on stderr tells the reason.

use std::{
    ffi::{CStr, c_int, c_void},
    ops::Range,
    os::fd::{AsRawFd, BorrowedFd},
    path::Path,
    ptr::NonNull,
    sync::{Arc, atomic::AtomicI32},
};

use errno::{Errno, errno, set_errno};

use super::{
    super::error::{CallError, XrtError},
    prototypes::{LoadError, Prototypes},
};
use crate::HostMemory;

/// Owns what a C handle stands for; who drops it without closing it leaks it.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub(crate) struct $name(NonNull<c_void>);

            // SAFETY: XRT finds what the handle stands for in a table that a mutex guards; nothing here follows it.
            unsafe impl Send for $name {}
            // SAFETY: as above.
            unsafe impl Sync for $name {}
        )*
    };
}

handles!(
    /// An open device.
    Device,
    /// An open compute unit.
    Kernel,
    /// A command of a compute unit, which can be started again and again.
    Run,
    /// What a buffer's handle is.
    BufferId
);

/// A buffer object (BO).
#[derive(Debug)]
pub(crate) struct Buffer {
    id: BufferId,
    bytes: usize,
    /// The host's memory that it shares.
    _shared: Option<Arc<HostMemory>>,
}

impl Buffer {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn contains(&self, range: &Range<usize>) -> Result<(), XrtError> {
        if range.start <= range.end && range.end <= self.bytes {
            return Ok(());
        }
        Err(XrtError::Bounds { start: range.start, end: range.end, bytes: self.bytes })
    }
}

/// What a buffer is (`xrt_mem.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Card memory with a copy in the host.
    Normal,
    /// Card memory behind the card's BAR.
    PeerToPeer,
}

impl Kind {
    const fn flags(self) -> u64 {
        match self {
            Self::Normal => 0,
            Self::PeerToPeer => 1 << 30,
        }
    }
}

/// Which way a buffer is synchronised (`enum xclBOSyncDirection`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From host to card.
    ToDevice = 0,
    /// From card to host.
    FromDevice = 1,
}

/// The library.
pub(crate) struct Api {
    c: Prototypes,
}

type Outcome<T> = Result<T, CallError>;

/// Calls with `errno` 0.
fn call<T>(function: &'static str, call: impl FnOnce() -> T, failed: impl FnOnce(&T) -> bool) -> Outcome<T> {
    set_errno(Errno(0));
    let value = call();
    if failed(&value) { Err(CallError { function, errno: errno().0 }) } else { Ok(value) }
}

/// A call that returns 0.
fn done(function: &'static str, body: impl FnOnce() -> c_int) -> Outcome<()> {
    call(function, body, |&code| code != 0).map(drop)
}

/// A call that returns a handle, or NULL.
fn handle(function: &'static str, body: impl FnOnce() -> *mut c_void) -> Outcome<NonNull<c_void>> {
    set_errno(Errno(0));
    NonNull::new(body()).ok_or_else(|| CallError { function, errno: errno().0 })
}

/// An argument's id as C has it.
fn id(argument: usize) -> c_int {
    c_int::try_from(argument).unwrap_or(-1)
}

impl Api {
    /// Loads the library.
    pub(crate) fn load(path: &Path) -> Result<Self, XrtError> {
        match Prototypes::load(path) {
            Ok(c) => Ok(Self { c }),
            Err(LoadError::Library(reason)) => Err(XrtError::Library { path: path.to_owned(), reason }),
            Err(LoadError::Symbol(symbol)) => Err(XrtError::Symbol { path: path.to_owned(), symbol }),
        }
    }

    pub(crate) fn device_open(&self, index: u32) -> Outcome<Device> {
        // SAFETY: any index may be asked for.
        handle("xrtDeviceOpen", || unsafe { (self.c.xrtDeviceOpen)(index) }).map(Device)
    }

    pub(crate) fn device_open_by_bdf(&self, bdf: &CStr) -> Outcome<Device> {
        // SAFETY: the string ends with 0.
        handle("xrtDeviceOpenByBDF", || unsafe { (self.c.xrtDeviceOpenByBDF)(bdf.as_ptr()) }).map(Device)
    }

    pub(crate) fn device_close(&self, device: &Device) -> Outcome<()> {
        // SAFETY: a handle that is not known is an error.
        done("xrtDeviceClose", || unsafe { (self.c.xrtDeviceClose)(device.0.as_ptr()) })
    }

    pub(crate) fn load_xclbin(&self, device: &Device, path: &CStr) -> Outcome<()> {
        // SAFETY: the string ends with 0.
        let body = || unsafe { (self.c.xrtDeviceLoadXclbinFile)(device.0.as_ptr(), path.as_ptr()) };
        done("xrtDeviceLoadXclbinFile", body)
    }

    pub(crate) fn xclbin_uuid(&self, device: &Device) -> Outcome<[u8; 16]> {
        let mut uuid = [0; 16];
        // SAFETY: `xuid_t` has 16 bytes.
        let body = || unsafe { (self.c.xrtDeviceGetXclbinUUID)(device.0.as_ptr(), uuid.as_mut_ptr()) };
        done("xrtDeviceGetXclbinUUID", body).map(|()| uuid)
    }

    /// Exclusive: without it, registers cannot be read.
    pub(crate) fn kernel_open(&self, device: &Device, xclbin: &[u8; 16], name: &CStr) -> Outcome<Kernel> {
        let device = device.0.as_ptr();
        // SAFETY: `xuid_t` has 16 bytes, the string ends with 0.
        let body = || unsafe { (self.c.xrtPLKernelOpenExclusive)(device, xclbin.as_ptr(), name.as_ptr()) };
        handle("xrtPLKernelOpenExclusive", body).map(Kernel)
    }

    pub(crate) fn kernel_close(&self, kernel: &Kernel) -> Outcome<()> {
        // SAFETY: a handle that is not known is an error.
        done("xrtKernelClose", || unsafe { (self.c.xrtKernelClose)(kernel.0.as_ptr()) })
    }

    /// The memory group of an argument; what XRT returns for one that is not connected to memory (-1, or 65,535 in its low 16
    /// bits) is an error.
    pub(crate) fn argument_group(&self, kernel: &Kernel, argument: usize) -> Outcome<u32> {
        // SAFETY: XRT checks the index.
        let body = || unsafe { (self.c.xrtKernelArgGroupId)(kernel.0.as_ptr(), id(argument)) };
        let group = call("xrtKernelArgGroupId", body, |&group| group < 0 || group & 0xFFFF == 0xFFFF)?;
        Ok(group.cast_unsigned())
    }

    pub(crate) fn argument_offset(&self, kernel: &Kernel, argument: usize) -> Outcome<u32> {
        // SAFETY: XRT checks the index.
        let body = || unsafe { (self.c.xrtKernelArgOffset)(kernel.0.as_ptr(), id(argument)) };
        call("xrtKernelArgOffset", body, |&offset| offset == u32::MAX)
    }

    pub(crate) fn read_register(&self, kernel: &Kernel, offset: u32) -> Outcome<u32> {
        let mut value = 0;
        // SAFETY: XRT checks the offset, and writes one word.
        let body = || unsafe { (self.c.xrtKernelReadRegister)(kernel.0.as_ptr(), offset, &raw mut value) };
        done("xrtKernelReadRegister", body).map(|()| value)
    }

    pub(crate) fn run_open(&self, kernel: &Kernel) -> Outcome<Run> {
        // SAFETY: a handle that is not known is an error.
        handle("xrtRunOpen", || unsafe { (self.c.xrtRunOpen)(kernel.0.as_ptr()) }).map(Run)
    }

    /// Sets a scalar of 4 bytes. XRT takes the value by the type that the xclbin says.
    pub(crate) fn set_word(&self, run: &Run, argument: usize, value: u32) -> Outcome<()> {
        // SAFETY: the caller has compared the arguments with the register map; `unsigned int` is what XRT takes.
        done("xrtRunSetArg", || unsafe { (self.c.xrtRunSetArg)(run.0.as_ptr(), id(argument), value) })
    }

    /// Sets a scalar of 8 bytes.
    pub(crate) fn set_long(&self, run: &Run, argument: usize, value: u64) -> Outcome<()> {
        // SAFETY: as for a word; `uint64_t` is what XRT takes.
        done("xrtRunSetArg", || unsafe { (self.c.xrtRunSetArg)(run.0.as_ptr(), id(argument), value) })
    }

    /// Sets an address: XRT takes the buffer's handle.
    pub(crate) fn set_buffer(&self, run: &Run, argument: usize, buffer: &Buffer) -> Outcome<()> {
        let buffer = buffer.id.0.as_ptr();
        // SAFETY: as for a word; `xrtBufferHandle` is what XRT takes.
        done("xrtRunSetArg", || unsafe { (self.c.xrtRunSetArg)(run.0.as_ptr(), id(argument), buffer) })
    }

    pub(crate) fn run_start(&self, run: &Run) -> Outcome<()> {
        // SAFETY: a handle that is not known is an error.
        done("xrtRunStart", || unsafe { (self.c.xrtRunStart)(run.0.as_ptr()) })
    }

    /// `enum ert_cmd_state`.
    pub(crate) fn run_state(&self, run: &Run) -> i32 {
        // SAFETY: a handle that is not known is an error, for which XRT returns ABORT.
        unsafe { (self.c.xrtRunState)(run.0.as_ptr()) }
    }

    pub(crate) fn run_close(&self, run: &Run) -> Outcome<()> {
        // SAFETY: a handle that is not known is an error.
        done("xrtRunClose", || unsafe { (self.c.xrtRunClose)(run.0.as_ptr()) })
    }

    pub(crate) fn buffer(&self, device: &Device, bytes: usize, kind: Kind, group: u32) -> Result<Buffer, XrtError> {
        // SAFETY: any size may be asked for.
        let body = || unsafe { (self.c.xrtBOAlloc)(device.0.as_ptr(), bytes, kind.flags(), group) };
        self.sized(handle("xrtBOAlloc", body)?, bytes, None)
    }

    /// A buffer that shares `memory` with the host, all of its pages.
    pub(crate) fn shared_buffer(
        &self,
        device: &Device,
        memory: &Arc<HostMemory>,
        group: u32,
    ) -> Result<Buffer, XrtError> {
        let (device, start, bytes) = (device.0.as_ptr(), memory.as_ptr().cast_mut().cast(), memory.bytes());
        let flags = Kind::Normal.flags();
        // SAFETY: the pages are the memory's, lie on a border of 4,096 bytes, and live as long as the buffer holds them. They
        // are cells that may change under everyone's eyes.
        let body = || unsafe { (self.c.xrtBOAllocUserPtr)(device, start, bytes, flags, group) };
        self.sized(handle("xrtBOAllocUserPtr", body)?, bytes, Some(Arc::clone(memory)))
    }

    /// Buffers of other drivers tell their size.
    pub(crate) fn import(&self, device: &Device, exported: BorrowedFd<'_>) -> Result<Buffer, XrtError> {
        // SAFETY: the descriptor is open during the call; the driver takes a reference of its own.
        let body = || unsafe { (self.c.xrtBOImport)(device.0.as_ptr(), exported.as_raw_fd()) };
        self.sized(handle("xrtBOImport", body)?, 0, None)
    }

    /// A buffer that has at least `bytes`; one that has less is given back.
    fn sized(&self, id: NonNull<c_void>, bytes: usize, shared: Option<Arc<HostMemory>>) -> Result<Buffer, XrtError> {
        let mut buffer = Buffer { id: BufferId(id), bytes, _shared: shared };
        // SAFETY: a handle that is not known is an error.
        let size = || unsafe { (self.c.xrtBOSize)(id.as_ptr()) };
        let found = match call("xrtBOSize", size, |&found| found == usize::MAX) {
            Ok(found) if found >= bytes => found,
            wrong => {
                let _ = self.free(&buffer); // the first error is told
                return Err(wrong.map_or_else(XrtError::from, |found| XrtError::Short { bytes, found }));
            }
        };
        if bytes == 0 {
            buffer.bytes = found;
        }
        Ok(buffer)
    }

    pub(crate) fn free(&self, buffer: &Buffer) -> Outcome<()> {
        // SAFETY: a handle that is not known is an error.
        done("xrtBOFree", || unsafe { (self.c.xrtBOFree)(buffer.id.0.as_ptr()) })
    }

    pub(crate) fn address(&self, buffer: &Buffer) -> Outcome<u64> {
        // SAFETY: a handle that is not known is an error.
        call("xrtBOAddress", || unsafe { (self.c.xrtBOAddress)(buffer.id.0.as_ptr()) }, |&address| address == u64::MAX)
    }

    pub(crate) fn sync(&self, buffer: &Buffer, direction: Direction, range: Range<usize>) -> Result<(), XrtError> {
        buffer.contains(&range)?;
        let (id, direction, size) = (buffer.id.0.as_ptr(), direction as c_int, range.len());
        // SAFETY: the range lies in the buffer. What the driver writes in the host are XRT's own pages, or the cells of a
        // shared memory.
        let body = || unsafe { (self.c.xrtBOSync)(id, direction, size, range.start) };
        Ok(done("xrtBOSync", body)?)
    }

    /// Into the host's copy of a buffer, at byte `seek`.
    pub(crate) fn write(&self, buffer: &Buffer, bytes: &[u8], seek: usize) -> Result<(), XrtError> {
        buffer.contains(&(seek..seek.saturating_add(bytes.len())))?;
        let (id, source) = (buffer.id.0.as_ptr(), bytes.as_ptr().cast());
        // SAFETY: the source has so many bytes, and the destination lies in the buffer.
        Ok(done("xrtBOWrite", || unsafe { (self.c.xrtBOWrite)(id, source, bytes.len(), seek) })?)
    }

    /// From the host's copy of a buffer, at byte `skip`.
    pub(crate) fn read(&self, buffer: &Buffer, bytes: &mut [u8], skip: usize) -> Result<(), XrtError> {
        buffer.contains(&(skip..skip.saturating_add(bytes.len())))?;
        let (id, destination) = (buffer.id.0.as_ptr(), bytes.as_mut_ptr().cast());
        // SAFETY: the destination has so many bytes, and the source lies in the buffer.
        Ok(done("xrtBORead", || unsafe { (self.c.xrtBORead)(id, destination, bytes.len(), skip) })?)
    }

    /// Copies `bytes` from the begin of `source` to byte `at` of `destination`.
    pub(crate) fn copy(&self, destination: &Buffer, source: &Buffer, bytes: usize, at: usize) -> Result<(), XrtError> {
        source.contains(&(0..bytes))?;
        destination.contains(&(at..at.saturating_add(bytes)))?;
        let (to, from) = (destination.id.0.as_ptr(), source.id.0.as_ptr());
        // SAFETY: both ranges lie in their buffers.
        Ok(done("xrtBOCopy", || unsafe { (self.c.xrtBOCopy)(to, from, bytes, at, 0) })?)
    }

    /// Where the host sees a buffer. `owner` frees the buffer when it is dropped, and not before.
    pub(crate) fn map<O: AsRef<Buffer>>(&self, owner: O) -> Outcome<MappedMemory<O>> {
        let buffer = owner.as_ref();
        // SAFETY: a handle that is not known is an error.
        let start = handle("xrtBOMap", || unsafe { (self.c.xrtBOMap)(buffer.id.0.as_ptr()) })?.cast::<AtomicI32>();
        if !start.is_aligned() {
            return Err(CallError { function: "xrtBOMap", errno: 0 });
        }
        let len = buffer.bytes / size_of::<AtomicI32>();
        Ok(MappedMemory { start, len, _owner: owner })
    }
}

/// A buffer in the address space of this process.
pub(crate) struct MappedMemory<O> {
    start: NonNull<AtomicI32>,
    len: usize,
    _owner: O,
}

// SAFETY: every access is an atomic one, and the owner may be sent.
unsafe impl<O: Send> Send for MappedMemory<O> {}
// SAFETY: as above, and the owner may be shared.
unsafe impl<O: Sync> Sync for MappedMemory<O> {}

impl<O> AsRef<[AtomicI32]> for MappedMemory<O> {
    fn as_ref(&self) -> &[AtomicI32] {
        // SAFETY: XRT has mapped the whole buffer and unmaps it when it is freed, which the owner does after this.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}
