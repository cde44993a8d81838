//! Buffers for software that brings its own kernels, such as libtorch: where their elements lie, for one piece of work on a
//! stream.

use std::{ffi::c_void, sync::Arc};

use hw::HostMemory;
use serde::{Deserialize, Serialize};

use super::{Accelerator, HostAccelerator, Result, check_length};

/// What a piece of work does to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads elements.
    Read,
    /// It writes some of them.
    Write,
}

/// A buffer that a piece of work uses: its first `len` elements.
#[derive(Debug)]
pub struct Loan<'a, B> {
    /// The buffer.
    pub buffer: &'a B,
    /// Elements of 32 bits.
    pub len: usize,
    /// What is done to them.
    pub access: Access,
}

impl<B> Clone for Loan<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Loan<'_, B> {}

/// Where lent buffers lie, in the order in which they were named.
#[derive(Clone, Copy, Debug)]
pub struct Lease<const N: usize> {
    /// The first element of each: in host memory, or in the memory of the GPU that [`Lend::gpu`] names.
    pub addresses: [*mut c_void; N],
    /// The stream of that GPU, a `CUstream`. Without one, the work is done on the calling thread before it returns.
    pub stream: Option<*mut c_void>,
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

/// An accelerator that lends its buffers.
///
/// # Safety
/// The addresses of a [`Lease`] are those of the buffers' first elements, and each buffer has as many elements of 32 bits as
/// its loan says, in the memory that [`Lend::gpu`] names, until the work that `f` gives to the stream is done. If there is a
/// stream, it is one of that GPU and lives as long.
#[allow(unsafe_code)]
pub unsafe trait Lend: Accelerator {
    /// The number of the GPU that it is; `None` if its buffers are in host memory.
    fn gpu(&self) -> Option<usize> {
        None
    }

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

    /// Calls `f` on this thread with the addresses of these buffers. What it does with them is work of the stream: done after
    /// all that the stream was given before. The addresses are good for that work alone: for accesses of the stated kind, to
    /// the stated elements.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`](super::AcceleratorError::Length), or what the driver says; `f` is not called then.
    fn lend<const N: usize, R>(
        &self,
        stream: &Self::Stream,
        site: &'static str,
        loans: [Loan<'_, Self::Buffer>; N],
        f: impl FnOnce(Lease<N>) -> R,
    ) -> Result<R>;
}

// SAFETY: `admit` checks the lengths, and the caller's references keep the memory until `f` has done its work.
#[allow(unsafe_code)]
unsafe impl Lend for HostAccelerator {
    fn lend<const N: usize, R>(
        &self,
        &(): &(),
        site: &'static str,
        loans: [Loan<'_, Arc<HostMemory>>; N],
        f: impl FnOnce(Lease<N>) -> R,
    ) -> Result<R> {
        admit(self, site, &loans, |buffer, len| check_length(site, &"a buffer", len, buffer.len()))?;
        Ok(f(Lease::of_host(loans.map(|loan| &**loan.buffer))))
    }
}

impl<const N: usize> Lease<N> {
    /// Of host memory.
    pub(super) fn of_host(memory: [&HostMemory; N]) -> Self {
        Self { addresses: memory.map(|memory| memory.as_ptr().cast_mut().cast()), stream: None }
    }
}

/// Has each buffer's length checked, and enters the work in the ledger.
pub(super) fn admit<A: Accelerator>(
    accelerator: &A,
    site: &'static str,
    loans: &[Loan<'_, A::Buffer>],
    check: impl Fn(&A::Buffer, usize) -> Result<()>,
) -> Result<()> {
    loans.iter().try_for_each(|loan| check(loan.buffer, loan.len))?;
    accelerator.ledger().launch(site, loans.iter().map(|loan| loan.len).sum());
    Ok(())
}
