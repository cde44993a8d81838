//! Where sub-graphs are consumed: memory, streams and events of whatever computes on them.
//!
//! [`Accelerator`] is the one trait. [`HostAccelerator`] computes at once in host memory; [`SimulatedAccelerator`] has
//! memory, streams and events that behave like a GPU's, and reports races, for machines that have no GPU; with feature
//! `cuda`, [`CudaAccelerator`] is a GPU.

#[cfg(feature = "cuda")]
mod cuda;
mod host;
mod lend;
mod simulated;

use std::{fmt, sync::Arc};

use hw::{HostMemory, MemorySpace, OutputMemory, Slr};

#[cfg(feature = "cuda")]
pub use cuda::CudaAccelerator;
pub use host::HostAccelerator;
pub use lend::{Access, Lease, Lend, Loan, Properties};
pub use simulated::{Race, SimulatedAccelerator, SimulatedOptions};

use crate::ledger::{Direction, Ledger};

/// Why an accelerator did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceleratorError {
    /// Two accesses to a buffer that nothing orders. Whatever was computed since may be wrong.
    #[error(transparent)]
    Race(#[from] Box<Race>),
    /// More elements than a buffer has.
    #[error("{what} on {buffer} wants {wanted} elements, but it has {len}")]
    Length {
        /// The operation.
        what: &'static str,
        /// The buffer's label.
        buffer: String,
        /// Elements asked for.
        wanted: usize,
        /// Elements there are.
        len: usize,
    },
    /// There is no such accelerator here.
    #[error("there is no {accelerator}: {reason}")]
    Unavailable {
        /// What was asked for.
        accelerator: &'static str,
        /// Why it is not there, and what would help.
        reason: String,
    },
    /// What its driver or the system says.
    #[error("{accelerator}: {message}")]
    Driver {
        /// The accelerator.
        accelerator: &'static str,
        /// The driver's words, and what was asked of it.
        message: String,
    },
}

/// Result of an operation on an accelerator.
pub type Result<T, E = AcceleratorError> = std::result::Result<T, E>;

/// int32 elements in each record of a verdict buffer: differs (0 or 1), iteration, index, found.
pub const VERDICT_ELEMENTS: usize = 4;

/// Work for the accelerator: are the first `len` elements of two buffers equal?
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a, B> {
    /// What arrived.
    pub found: &'a B,
    /// What should have.
    pub expected: &'a B,
    /// Elements to compare.
    pub len: usize,
    /// Records of [`VERDICT_ELEMENTS`], all zero in the beginning.
    pub verdict: &'a B,
    /// The record that takes the first difference: if it has none yet, it becomes 1, `iteration`, the lowest index at which
    /// the buffers differ, and the element found there.
    pub record: usize,
    /// The iteration.
    pub iteration: i32,
}

/// Memory, streams and events.
///
/// Buffers, streams and events are handles: clones stand for the same thing. Work given to one stream is done in order;
/// between streams, and between a stream and the host or the card, order comes from events, [`Accelerator::synchronize`]
/// and [`Accelerator::then`] alone. A handle may be dropped while work on it is queued. Every transfer is entered in the ledger under its `site`.
pub trait Accelerator: Send + Sync + 'static {
    /// int32 elements that streams can touch: in the accelerator's memory, or pinned host memory.
    type Buffer: Clone + Send + Sync + 'static;
    /// A queue of work.
    type Stream: Clone + Send + Sync + 'static;
    /// A point in a stream.
    type Event: Clone + Send + Sync + 'static;

    /// What it is, in a few words.
    fn describe(&self) -> String;

    /// Where its transfers and launches are counted.
    fn ledger(&self) -> &Ledger;

    /// `len` elements of its memory; what they hold is not defined. `label` names them in errors.
    ///
    /// # Errors
    /// [`AcceleratorError::Driver`] if there is no memory.
    fn allocate(&self, label: String, len: usize) -> Result<Self::Buffer>;

    /// Makes host memory, or what lies behind a card's BAR, reachable for its streams. It stays so as long as the handle lives;
    /// as long as one handle lives, the same memory may not be pinned again.
    ///
    /// # Errors
    /// What the driver says.
    fn pin(&self, label: String, memory: &Arc<HostMemory>, space: MemorySpace) -> Result<Self::Buffer>;

    /// The kind of memory that [`Accelerator::export`] gives.
    ///
    /// # Errors
    /// Why no card can write its memory in place, in a sentence.
    fn export_space(&self) -> Result<MemorySpace, String>;

    /// A buffer as a card sees it that writes it in place.
    ///
    /// # Errors
    /// What the driver says.
    fn export(&self, buffer: &Self::Buffer) -> Result<OutputMemory>;

    /// A new stream.
    ///
    /// # Errors
    /// What the driver says.
    fn stream(&self, label: String) -> Result<Self::Stream>;

    /// An event that comes when all work given to the stream so far is done.
    ///
    /// # Errors
    /// What the driver says.
    fn record(&self, stream: &Self::Stream) -> Result<Self::Event>;

    /// What is given to the stream from now on begins after the event.
    ///
    /// # Errors
    /// What the driver says.
    fn wait(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()>;

    /// Returns when all work given to the stream so far is done.
    ///
    /// # Errors
    /// What went wrong in it.
    fn synchronize(&self, stream: &Self::Stream) -> Result<()>;

    /// Calls `f` when all work given to the stream so far is done; what is given to it later waits for that. `f` is short,
    /// asks nothing of the accelerator, and drops none of its handles. It may never be called once something has gone wrong:
    /// who waits for it asks [`Accelerator::check`].
    ///
    /// # Errors
    /// What the driver says; `f` is not called then.
    fn then(&self, stream: &Self::Stream, f: Box<dyn FnOnce() + Send>) -> Result<()>;

    /// Sets the first `len` elements to `value`.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`], or what the driver says.
    fn fill(
        &self,
        stream: &Self::Stream,
        site: &'static str,
        buffer: &Self::Buffer,
        len: usize,
        value: i32,
    ) -> Result<()>;

    /// Copies the first `len` elements across the bus: in this direction, for this site.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`], or what the driver says.
    fn copy(
        &self,
        stream: &Self::Stream,
        way: (Direction, &'static str),
        from: &Self::Buffer,
        to: &Self::Buffer,
        len: usize,
    ) -> Result<()>;

    /// Brings the first `len` elements to the host, and waits for them.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`], or what went wrong in the stream.
    fn download(&self, stream: &Self::Stream, site: &'static str, from: &Self::Buffer, len: usize) -> Result<Vec<i32>>;

    /// Compares two buffers where they lie.
    ///
    /// # Errors
    /// [`AcceleratorError::Length`], or what the driver says.
    fn compare(&self, stream: &Self::Stream, site: &'static str, work: &Comparison<'_, Self::Buffer>) -> Result<()>;

    /// A card begins to write these buffers in place, after all that the host knows to be done.
    ///
    /// # Errors
    /// [`AcceleratorError::Race`] if work may still touch them, where that is watched.
    fn card_begins(&self, slr: Slr, buffers: &[Self::Buffer]) -> Result<()>;

    /// The card has written them; the host knows.
    fn card_ended(&self, slr: Slr);

    /// Whether all is well.
    ///
    /// # Errors
    /// The first thing that went wrong in any stream.
    fn check(&self) -> Result<()>;
}

/// Refuses to touch more elements than there are.
fn check_length(what: &'static str, buffer: &impl fmt::Display, wanted: usize, len: usize) -> Result<()> {
    if wanted > len {
        return Err(AcceleratorError::Length { what, buffer: buffer.to_string(), wanted, len });
    }
    Ok(())
}

/// What [`Accelerator::compare`] does, in memory that the processor addresses.
fn compare_elements(found: &HostMemory, expected: &HostMemory, len: usize, record: Record<'_>) {
    if let Some(index) = found.first_difference(expected, len) {
        record.differs(index, found.load(index));
    }
}

/// One record of a verdict buffer.
#[derive(Clone, Copy)]
struct Record<'a> {
    verdict: &'a HostMemory,
    number: usize,
    iteration: i32,
}

impl Record<'_> {
    fn differs(self, index: usize, found: i32) {
        let first = self.number * VERDICT_ELEMENTS;
        if self.verdict.load(first) == 0 {
            self.verdict.write(first, &[1, self.iteration, (index as u32).cast_signed(), found]);
        }
    }
}
