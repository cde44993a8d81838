//! A compiled model behind a safe face. The only unsafe code of the simulators is here.
#![allow(unsafe_code)]

use std::{
    error::Error,
    ffi::{CStr, CString, c_char},
    fmt, iter,
    marker::PhantomData,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::Arc,
};

use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

use crate::bindings::{self, Library, trisage_bench_pins as BenchPins, trisage_model, trisage_pins as Pins};

/// A compiled model that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The dynamic loader refuses it.
    #[error("{}: {message}; remove its folder and it is compiled again", .path.display())]
    Loader {
        /// The library.
        path: PathBuf,
        /// The loader's words.
        message: String,
    },
    /// It was made for another version of `c/trisage_model.h`.
    #[error("{}: it has version {found} of the model interface, not {expected}; remove the file and run ./just rtl-models", .path.display())]
    Abi {
        /// The library.
        path: PathBuf,
        /// The version that it has.
        found: u32,
        /// The version of this crate.
        expected: u32,
    },
    /// It holds another top module: pins of another shape.
    #[error("{}: it is no model of this top module", .path.display())]
    Top {
        /// The library.
        path: PathBuf,
    },
    /// There is no memory for a model.
    #[error("{}: no memory for a model", .path.display())]
    Memory {
        /// The library.
        path: PathBuf,
    },
}

/// An assertion of the RTL failed (or it called `$finish`, or its simulation broke down). The model is of no use after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}: {message}")]
pub struct AssertionError {
    /// Clock cycles that had passed.
    pub cycle: u64,
    /// The simulator's words; never empty.
    pub message: String,
}

/// How registers without a reset value start, where the model was compiled to ask (variants Test, Waves and Coverage).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fill {
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
    /// Random bits, drawn by this seed.
    Random(u32),
}

/// The pins of one of the top modules. Only this crate's pins are.
pub trait TopPins: sealed::Pins + fmt::Debug {}

impl TopPins for Pins {}
impl TopPins for BenchPins {}

mod sealed {
    /// A type of the header's, of which all bits zero is a value.
    pub trait Pins {
        /// The top module that has them.
        const TOP: u32;
    }
}

impl sealed::Pins for Pins {
    const TOP: u32 = bindings::TRISAGE_TOP_KERNEL;
}

impl sealed::Pins for BenchPins {
    const TOP: u32 = bindings::TRISAGE_TOP_BENCH;
}

/// A loaded library of the kernel.
pub type ModelLibrary = TopLibrary<Pins>;
/// A loaded library of the module benches.
pub type BenchLibrary = TopLibrary<BenchPins>;
/// One kernel: pins and a clock.
pub type Model = TopModel<Pins>;
/// The benches of the modules: pins and a clock.
pub type BenchModel = TopModel<BenchPins>;

/// A loaded library, from which models are made. It is unloaded when it and its last model are gone.
pub struct TopLibrary<P: TopPins> {
    functions: Library,
    path: PathBuf,
    waves: bool,
    coverage: bool,
    verilator: String,
    pins: PhantomData<fn() -> P>,
}

impl<P: TopPins> TopLibrary<P> {
    /// Loads what [`crate::build::compile`] made.
    ///
    /// # Errors
    /// [`LoadError::Loader`], [`LoadError::Abi`], [`LoadError::Top`].
    pub fn load(path: &Path) -> Result<Arc<Self>, LoadError> {
        let refused = |error: libloading::Error| LoadError::Loader { path: path.to_owned(), message: reasons(&error) };
        // SAFETY: loading runs the library's constructors; it is one that `build` linked from Verilator's runtime and our
        // wrapper, whose constructors only set up their own statics.
        let library = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(refused)?;
        // SAFETY: the symbols are looked up by name and have the types of the header from which the bindings were made; that
        // the library has the same version of it is checked before any but `describe` is called, and `describe` keeps its
        // first member in every version.
        let functions = unsafe { Library::from_library(library) }.map_err(refused)?;
        // SAFETY: it takes nothing and returns a plain struct.
        let info = unsafe { functions.trisage_model_describe() };
        if info.abi != bindings::TRISAGE_MODEL_ABI {
            let (found, expected) = (info.abi, bindings::TRISAGE_MODEL_ABI);
            return Err(LoadError::Abi { path: path.to_owned(), found, expected });
        }
        if info.top != P::TOP {
            return Err(LoadError::Top { path: path.to_owned() });
        }
        // SAFETY: with our ABI version it is a C string of the library's own, which is loaded.
        let verilator = unsafe { text(info.verilator) };
        let (waves, coverage) = (info.waves, info.coverage);
        Ok(Arc::new(Self { functions, path: path.to_owned(), waves, coverage, verilator, pins: PhantomData }))
    }

    /// Whether its models can write waves.
    pub fn has_waves(&self) -> bool {
        self.waves
    }

    /// Whether its models collect coverage.
    pub fn has_coverage(&self) -> bool {
        self.coverage
    }

    /// The version of the Verilator that made it.
    pub fn verilator(&self) -> &str {
        &self.verilator
    }
}

impl<P: TopPins> fmt::Debug for TopLibrary<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopLibrary").field("path", &self.path).finish_non_exhaustive()
    }
}

/// One top module: pins and a clock. It may move between threads and is used by one at a time.
#[derive(Debug)]
pub struct TopModel<P: TopPins> {
    handle: NonNull<trisage_model>,
    pins: NonNull<P>,
    library: Arc<TopLibrary<P>>,
}

// SAFETY: a verilated model with a context of its own and one simulation thread touches nothing that belongs to a thread,
// except a thread-local that the wrapper sets at the begin of each call; the pointers are owned by this struct alone.
unsafe impl<P: TopPins> Send for TopModel<P> {}

impl<P: TopPins> TopModel<P> {
    /// A top module in reset, all inputs 0, its clock low.
    ///
    /// # Errors
    /// [`LoadError::Memory`].
    pub fn new(library: &Arc<TopLibrary<P>>, fill: Fill) -> Result<Self, LoadError> {
        let (fill, seed) = match fill {
            Fill::Zeros => (0, 0),
            Fill::Ones => (1, 0),
            Fill::Random(seed) => (2, seed),
        };
        let memory = || LoadError::Memory { path: library.path.clone() };
        // SAFETY: any fill and seed are allowed.
        let handle = unsafe { library.functions.trisage_model_new(fill, seed) };
        let handle = NonNull::new(handle).ok_or_else(memory)?;
        // SAFETY: the model was just made.
        let pins = unsafe { library.functions.trisage_model_pins(handle.as_ptr()) };
        // The library's top module was compared when it was loaded, so that they are of this type.
        let pins = NonNull::new(pins.cast::<P>()).ok_or_else(memory)?;
        Ok(Self { handle, pins, library: Arc::clone(library) })
    }

    /// The pins. Outputs hold what the last clock left there, as `c/trisage_model.h` says of each; what the data buses of a kernel held
    /// is seen only with their valid.
    #[inline]
    pub fn pins(&self) -> &P {
        // SAFETY: the pins are a P, live as long as the model and are written only in `clock`, which borrows it mutably.
        unsafe { self.pins.as_ref() }
    }

    /// The pins, to set inputs for the next clock. Setting an output is of no effect.
    #[inline]
    pub fn pins_mut(&mut self) -> &mut P {
        // SAFETY: as for `pins`, and the borrow is exclusive.
        unsafe { self.pins.as_mut() }
    }

    /// One clock cycle.
    ///
    /// # Errors
    /// [`AssertionError`], and the same one again in every call after it.
    #[inline]
    pub fn clock(&mut self) -> Result<(), AssertionError> {
        // SAFETY: the model is ours, and nothing borrows its pins now.
        let fine = unsafe { self.library.functions.trisage_model_clock(self.handle.as_ptr()) };
        if fine { Ok(()) } else { Err(self.error()) }
    }

    #[cold]
    fn error(&self) -> AssertionError {
        // SAFETY: the model is ours.
        let message = unsafe { self.library.functions.trisage_model_error(self.handle.as_ptr()) };
        // SAFETY: it is a C string that stays until the model's next call.
        let message = unsafe { text(message) };
        AssertionError { cycle: self.cycles(), message }
    }

    /// Clock cycles since the model was made.
    pub fn cycles(&self) -> u64 {
        // SAFETY: the model is ours.
        unsafe { self.library.functions.trisage_model_cycles(self.handle.as_ptr()) }
    }

    /// Writes waves (FST) to `path` from the next clock on. False when the model was compiled without waves, writes some
    /// already, or the file cannot be made.
    pub fn open_waves(&mut self, path: &Path) -> bool {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
        // SAFETY: the model is ours, and the path is a C string that outlives the call.
        unsafe { self.library.functions.trisage_model_waves_open(self.handle.as_ptr(), path.as_ptr()) }
    }

    /// Ends the waves, if there are any. False when their file is not whole: the disk was full. Dropping the model ends them
    /// too, and does not say.
    #[must_use]
    pub fn close_waves(&mut self) -> bool {
        // SAFETY: the model is ours.
        unsafe { self.library.functions.trisage_model_waves_close(self.handle.as_ptr()) }
    }

    /// Writes the coverage collected so far to `path`, as `verilator_coverage` reads it. False when the model was compiled
    /// without coverage or the file cannot be written.
    pub fn write_coverage(&mut self, path: &Path) -> bool {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
        // SAFETY: the model is ours, and the path is a C string that outlives the call.
        unsafe { self.library.functions.trisage_model_coverage_write(self.handle.as_ptr(), path.as_ptr()) }
    }
}

impl<P: TopPins> Drop for TopModel<P> {
    fn drop(&mut self) {
        // SAFETY: the model is ours, nothing borrows it or its pins, and it is not used after this.
        unsafe { self.library.functions.trisage_model_free(self.handle.as_ptr()) }
    }
}

impl Default for Pins {
    /// All pins low.
    fn default() -> Self {
        // SAFETY: it holds nothing but integers, for which all bits zero is a value.
        unsafe { std::mem::zeroed() }
    }
}

/// The error and what it comes from, which has the loader's own words.
fn reasons(error: &dyn Error) -> String {
    iter::successors(error.source(), |&error| error.source())
        .fold(error.to_string(), |text, reason| format!("{text}: {reason}"))
}

/// # Safety
/// `pointer` is a C string that is not changed or freed during the call.
unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
