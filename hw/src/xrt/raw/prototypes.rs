//! The functions of XRT's C API that are used, as `xrt_device.h`, `xrt_bo.h` and `xrt_kernel.h` declare them (2.11 and newer).
//!
//! Every type has a name of its own here, so that a test can compare the list with the headers (`headers.rs`).

#![allow(non_snake_case, reason = "the names are XRT's")]

use std::{
    error::Error,
    ffi::{c_char, c_int, c_uint, c_void},
    fs,
    path::Path,
};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

pub(super) type DeviceHandle = *mut c_void;
pub(super) type KernelHandle = *mut c_void;
pub(super) type RunHandle = *mut c_void;
pub(super) type BufferHandle = *mut c_void;
/// A file descriptor; -1 is none.
pub(super) type ExportHandle = i32;
/// Exactly one of the kinds of `xrt_mem.h`, in bits 31..24.
pub(super) type BufferFlags = u64;
/// A memory group, as `xrtKernelArgGroupId` returns it.
pub(super) type MemoryGroup = u32;
pub(super) type SyncDirection = c_int;
pub(super) type CommandState = c_int;
pub(super) type Int = c_int;
pub(super) type UnsignedInt = c_uint;
pub(super) type Size = usize;
pub(super) type Word = u32;
pub(super) type Address = u64;
pub(super) type WordOut = *mut u32;
pub(super) type Text = *const c_char;
pub(super) type Uuid = *const u8;
pub(super) type UuidOut = *mut u8;
pub(super) type Source = *const c_void;
pub(super) type Memory = *mut c_void;

/// One prototype, by the names of its types.
#[cfg(test)]
pub(super) struct Prototype {
    pub(super) name: &'static str,
    pub(super) returns: &'static str,
    pub(super) arguments: &'static [&'static str],
    pub(super) variadic: bool,
}

macro_rules! prototypes {
    ($(fn $name:ident($($argument:ident: $type:ident),* $(; $dots:tt)?) -> $returns:ident;)*) => {
        /// The functions, from one library. XRT is C++ and does not catch every exception of its own (2.13: not that of a shim that
        /// cannot be loaded): `C-unwind` lets one end the process, where `C` would leave open what happens.
        pub(super) struct Prototypes {
            $(pub(super) $name: unsafe extern "C-unwind" fn($($type),* $(, $dots)?) -> $returns,)*
        }

        #[cfg(test)]
        pub(super) const PROTOTYPES: &[Prototype] = &[$(Prototype {
            name: stringify!($name),
            returns: stringify!($returns),
            arguments: &[$(stringify!($type)),*],
            variadic: false $(|| { stringify!($dots); true })?,
        }),*];

        impl Prototypes {
            fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the type is that of XRT's header, which a test compares.
                        let symbol = unsafe { library.get(name.as_bytes()) };
                        *symbol.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }
    };
}

prototypes! {
    fn xrtDeviceOpen(index: UnsignedInt) -> DeviceHandle;
    fn xrtDeviceOpenByBDF(bdf: Text) -> DeviceHandle;
    fn xrtDeviceClose(device: DeviceHandle) -> Int;
    fn xrtDeviceLoadXclbinFile(device: DeviceHandle, path: Text) -> Int;
    fn xrtDeviceGetXclbinUUID(device: DeviceHandle, uuid: UuidOut) -> Int;
    fn xrtPLKernelOpenExclusive(device: DeviceHandle, xclbin: Uuid, name: Text) -> KernelHandle;
    fn xrtKernelClose(kernel: KernelHandle) -> Int;
    fn xrtKernelArgGroupId(kernel: KernelHandle, argument: Int) -> Int;
    fn xrtKernelArgOffset(kernel: KernelHandle, argument: Int) -> Word;
    fn xrtKernelReadRegister(kernel: KernelHandle, offset: Word, value: WordOut) -> Int;
    fn xrtRunOpen(kernel: KernelHandle) -> RunHandle;
    fn xrtRunSetArg(run: RunHandle, argument: Int; ...) -> Int;
    fn xrtRunStart(run: RunHandle) -> Int;
    fn xrtRunState(run: RunHandle) -> CommandState;
    fn xrtRunClose(run: RunHandle) -> Int;
    fn xrtBOAlloc(device: DeviceHandle, size: Size, flags: BufferFlags, group: MemoryGroup) -> BufferHandle;
    fn xrtBOAllocUserPtr(device: DeviceHandle, memory: Memory, size: Size, flags: BufferFlags, group: MemoryGroup) -> BufferHandle;
    fn xrtBOImport(device: DeviceHandle, exported: ExportHandle) -> BufferHandle;
    fn xrtBOFree(buffer: BufferHandle) -> Int;
    fn xrtBOSize(buffer: BufferHandle) -> Size;
    fn xrtBOAddress(buffer: BufferHandle) -> Address;
    fn xrtBOMap(buffer: BufferHandle) -> Memory;
    fn xrtBOSync(buffer: BufferHandle, direction: SyncDirection, size: Size, offset: Size) -> Int;
    fn xrtBOWrite(buffer: BufferHandle, source: Source, size: Size, seek: Size) -> Int;
    fn xrtBORead(buffer: BufferHandle, destination: Memory, size: Size, skip: Size) -> Int;
    fn xrtBOCopy(destination: BufferHandle, source: BufferHandle, size: Size, to: Size, from: Size) -> Int;
}

/// Why there are no functions.
#[derive(Debug)]
pub(super) enum LoadError {
    /// The dynamic linker's words.
    Library(String),
    /// The first function that is missing.
    Symbol(&'static str),
}

impl Prototypes {
    /// Loads the library at `path`, or the one that the dynamic linker finds under that name.
    ///
    /// It is never unloaded: XRT's threads and destructors are not made for that (XRT pull request 3022). Its symbols are
    /// global, as the shim that XRT loads by itself looks for them.
    pub(super) fn load(path: &Path) -> Result<Self, LoadError> {
        if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
            return Err(LoadError::Library("it is no regular file".to_owned())); // of a pipe the linker would wait for bytes
        }
        // SAFETY: whoever names the library vouches for what it does when it is loaded; XRT's sets up its own statics.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let library = library.map_err(|error| LoadError::Library(words(&error)))?;
        let functions = Self::of(&library).map_err(LoadError::Symbol);
        std::mem::forget(library);
        functions
    }
}

/// What the dynamic linker says, which is the source of the error.
fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
