//! A slot of the pipeline as tensors, without a copy.

use golden::Buffer;
use hw::{HostMemory, SLRS, Slr};
use tch::{Device, Kind, Tensor};

use super::Sampled;
use crate::{
    accelerator::HostAccelerator,
    pipeline::{Filled, Item, Pipeline, PipelineError},
};

/// Consumes an iteration: gives `f` what each SLR has put into the slot, and then the slot back to the card.
///
/// What `f` gets cannot outlive it, and between `begin_consume` and `release` the card writes nothing there.
///
/// # Errors
/// What `f` says, or the pipeline.
#[expect(clippy::needless_pass_by_value, reason = "nobody has the item, and with it the slot, any more")]
pub(crate) fn consume<E: From<PipelineError>>(
    pipeline: &Pipeline<HostAccelerator>,
    item: Item,
    f: impl FnOnce([Option<Held<'_>>; SLRS]) -> Result<(), E>,
) -> Result<(), E> {
    pipeline.begin_consume(item.slot, item.generation, &())?;
    f(Slr::ALL.map(|slr| {
        let filled = item.slrs[slr.index()].as_ref()?;
        let view = |buffer| &**pipeline.view(item.slot, slr, buffer);
        Some(Held { filled, buffers: [Buffer::Samples, Buffer::Rows, Buffer::Cols].map(view) })
    }))?;
    Ok(pipeline.release(item.slot, item.generation, &())?)
}

/// What one SLR has put into a slot that is held.
pub(crate) struct Held<'a> {
    /// Its counts and what it took.
    pub(crate) filled: &'a Filled,
    buffers: [&'a HostMemory; 3],
}

impl Held<'_> {
    /// The sub-graph as tensors over the slot's memory.
    ///
    /// # Panics
    /// If the card counts more elements than a buffer has.
    pub(crate) fn sampled(&self) -> Sampled<'_> {
        let mut counts = self.filled.counts.into_iter();
        let tensors = self.buffers.map(|buffer| view(buffer, counts.next().unwrap_or(0)));
        Sampled::new(tensors, &self.filled.report.hops)
    }
}

/// The first `len` elements as an int32 tensor. [`Sampled`] says who may keep it, and how long.
#[allow(unsafe_code)]
fn view(memory: &HostMemory, len: usize) -> Tensor {
    assert!(len <= memory.len(), "a card has counted {len} elements in a buffer of {}", memory.len());
    let data = memory.as_ptr().cast();
    // SAFETY: `data` points to at least `len` int32 (an AtomicI32 is one in size and alignment), which stay in place as long
    // as the memory lives. The slot is held, so nobody writes them; libtorch only reads what indices lie in.
    unsafe { Tensor::from_blob(data, &[len as i64], &[], Kind::Int, Device::Cpu) }
}
