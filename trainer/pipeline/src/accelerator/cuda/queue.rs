//! What is given to a stream of the GPU.
//!
//! All of it is done later, in order. The memory it touches is there until then, as [`super::memory`] waits before it goes.

use std::{ffi::c_void, sync::Arc};

use cudarc::{
    driver::{CudaContext, CudaEvent, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg, result, sys},
    nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts},
};

use super::memory::Memory;

/// What is called when a stream has come so far.
pub(super) type Callback = Box<dyn FnOnce() + Send>;

/// A stream that waits for no other, not even for the default one.
#[derive(Clone)]
pub(super) struct Queue(Arc<CudaStream>);

impl Queue {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        context.new_stream().map(Self)
    }

    fn bind(&self) -> Result<sys::CUstream, DriverError> {
        self.0.context().bind_to_thread()?;
        Ok(self.0.cu_stream())
    }

    /// It, as CUDA's own functions take it, in a context that is this thread's.
    pub(super) fn handle(&self) -> Result<sys::CUstream, DriverError> {
        self.bind()
    }

    /// An event that comes after all that was given to it so far.
    pub(super) fn record(&self) -> Result<CudaEvent, DriverError> {
        // Without flags it takes no time.
        self.0.record_event(None)
    }

    /// What is given to it from now on begins after the event.
    pub(super) fn wait(&self, event: &CudaEvent) -> Result<(), DriverError> {
        self.0.wait(event)
    }

    /// Returns when everything is done.
    pub(super) fn synchronize(&self) -> Result<(), DriverError> {
        self.0.synchronize()
    }

    /// Whether anything went wrong in the context, as far as is known by now.
    pub(super) fn query(&self) -> Result<(), DriverError> {
        let stream = self.bind()?;
        // SAFETY: the stream lives as long as `self`.
        match unsafe { sys::cuStreamQuery(stream) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(()),
            status => status.result(),
        }
    }

    /// Calls `f` when all that was given so far is done. CUDA does not call it after an error in the context; it is leaked then.
    pub(super) fn call(&self, f: Callback) -> Result<(), DriverError> {
        unsafe extern "C" fn call(f: *mut c_void) {
            // SAFETY: it comes from `Box::into_raw` below, and CUDA calls this once.
            let f = unsafe { Box::from_raw(f.cast::<Callback>()) };
            f();
        }
        let stream = self.bind()?;
        let f = Box::into_raw(Box::new(f));
        // SAFETY: the stream lives as long as `self`; the box lives until `call` takes it.
        let launched = unsafe { result::stream::launch_host_function(stream, call, f.cast()) };
        if launched.is_err() {
            // SAFETY: CUDA has not taken the call, so the box is ours again.
            drop(unsafe { Box::from_raw(f) });
        }
        launched
    }

    /// Sets the first `len` elements.
    pub(super) fn fill(&self, memory: &Memory, len: usize, value: i32) -> Result<(), DriverError> {
        assert!(len <= memory.len(), "no element past the end is filled");
        let stream = self.bind()?;
        if len == 0 {
            return Ok(());
        }
        // SAFETY: that many elements are there until this is done.
        unsafe { sys::cuMemsetD32Async(memory.address(), value.cast_unsigned(), len, stream) }.result()
    }

    /// Copies the first `len` elements.
    pub(super) fn copy(&self, from: &Memory, to: &Memory, len: usize) -> Result<(), DriverError> {
        assert!(len <= from.len() && len <= to.len(), "no element past the end is copied");
        // SAFETY: that many elements are there, on both sides, until this is done.
        unsafe { self.copy_bytes(to.address(), from.address(), len * size_of::<i32>()) }
    }

    /// Brings the first `len` elements here, and waits for them.
    pub(super) fn read(&self, from: &Memory, len: usize) -> Result<Vec<i32>, DriverError> {
        assert!(len <= from.len(), "no element past the end is read");
        let mut elements = vec![0_i32; len];
        let address = elements.as_mut_ptr() as sys::CUdeviceptr;
        // SAFETY: both have that many elements, and nothing else touches the vector before we have waited.
        let copied = unsafe { self.copy_bytes(address, from.address(), len * size_of::<i32>()) };
        if let Err(error) = copied.and_then(|()| self.synchronize()) {
            // The copy may be under way still.
            std::mem::forget(elements);
            return Err(error);
        }
        Ok(elements)
    }

    /// Copies between whatever memories the addresses are in: in CUDA's unified address space every address says that.
    ///
    /// # Safety
    /// So many bytes are there, on both sides, until this is done.
    unsafe fn copy_bytes(&self, to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize) -> Result<(), DriverError> {
        let stream = self.bind()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as the caller says.
        unsafe { sys::cuMemcpyAsync(to, from, bytes, stream) }.result()
    }
}

/// The kernel that compares.
#[derive(Clone)]
pub(super) struct Compare(CudaFunction);

/// Why there is no kernel.
pub(super) enum KernelError {
    Compiler(CompileError),
    Driver(DriverError),
}

impl From<DriverError> for KernelError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

/// Compiles it for the oldest architecture that the compiler knows; the driver translates that for its own.
fn compile() -> Result<Ptx, CompileError> {
    let options = CompileOptions { name: Some("compare.cu".to_owned()), ..CompileOptions::default() };
    compile_ptx_with_opts(include_str!("compare.cu"), options)
}

/// What [`Compare`] compares: memory, and how many elements.
pub(super) struct Compared<'a> {
    pub(super) found: &'a Memory,
    pub(super) expected: &'a Memory,
    pub(super) len: i32,
}

impl Compare {
    const THREADS: u32 = 1024;

    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, KernelError> {
        let code = compile().map_err(KernelError::Compiler)?;
        Ok(Self(context.load_module(code)?.load_function("compare")?))
    }

    /// Gives a comparison to the queue. The record is the four elements of `verdict` from `first` on.
    pub(super) fn launch(
        &self,
        queue: &Queue,
        Compared { found, expected, len }: &Compared<'_>,
        (verdict, first): (&Memory, usize),
        iteration: i32,
    ) -> Result<(), DriverError> {
        let elements = usize::try_from(*len).expect("a length is not negative");
        assert!(elements <= found.len() && elements <= expected.len(), "no element past the end is compared");
        assert!(first + super::VERDICT_ELEMENTS <= verdict.len(), "no record past the end is written");
        let (found, expected) = (found.address(), expected.address());
        let record = verdict.address() + (first * size_of::<i32>()) as sys::CUdeviceptr;
        let mut launch = queue.0.launch_builder(&self.0);
        launch.arg(&found).arg(&expected).arg(len).arg(&record).arg(&iteration);
        let shape = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (Self::THREADS, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: these are the kernel's five parameters. It reads `len` elements of the first two and writes the record, all of
        // which are there until it is done.
        unsafe { launch.launch(shape) }.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_compiles() {
        // SAFETY: loading the library runs its initialiser, which is NVIDIA's.
        let there = unsafe { cudarc::nvrtc::sys::is_culib_present() };
        assert!(there, "there is no libnvrtc.so; .setup/nvrtc.sh COMMAND runs a command with it, as ./just test does");
        let code = compile().unwrap().to_src();
        assert!(code.contains(".entry compare("), "{code}");
    }
}
