//! Buffers of a GPU, lent: the work is launched on the stream's own CUDA stream.

use std::fs;

use super::{CUDA, CudaAccelerator, CudaBuffer, CudaStream, refused, sys, version_name};
use crate::accelerator::{
    Accelerator, Result,
    lend::{Lease, Lend, Loan, Properties, admit},
};

// SAFETY: `admit` checks the lengths. CUDA gives memory back, and ends a stream, only when the GPU has done what was queued; and
// `stream` keeps the CUDA stream while `f` queues it.
unsafe impl Lend for CudaAccelerator {
    fn gpu(&self) -> Option<usize> {
        Some(self.context.ordinal())
    }

    fn properties(&self) -> Result<Properties> {
        let told = |error| refused("what the GPU is", error);
        let mut version = 0;
        // SAFETY: the driver writes an int.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(told)?;
        let cuda = format!("{CUDA} {}", version_name(version));
        // The driver's interface tells what it can do; which release it is, its kernel module does.
        let module = fs::read_to_string("/sys/module/nvidia/version").ok();
        let driver = module.map_or_else(|| cuda.clone(), |module| format!("{}, {cuda}", module.trim()));
        let memory = self.context.total_mem().map_err(told)?;
        Ok(Properties { name: self.describe(), driver: Some(driver), memory: Some(memory as u64) })
    }

    fn free_memory(&self) -> Result<Option<u64>> {
        let (free, _) = self.context.mem_get_info().map_err(|error| refused("how much memory is free", error))?;
        Ok(Some(free as u64))
    }

    fn lend<const N: usize, R>(
        &self,
        stream: &CudaStream,
        site: &'static str,
        loans: [Loan<'_, CudaBuffer>; N],
        f: impl FnOnce(Lease<N>) -> R,
    ) -> Result<R> {
        admit(self, site, &loans, |buffer, len| buffer.check(site, len))?;
        let handle = stream.queue.handle().map_err(stream.failed(site))?;
        let addresses = loans.map(|loan| loan.buffer.memory.address() as *mut _);
        Ok(f(Lease { addresses, stream: Some(handle.cast()) }))
    }
}
