//! A slot of the pipeline as what libtorch reads, without a copy.

use golden::Buffer;
use hw::{SLRS, Slr};

use crate::torch::{Lent, Torch, TorchAccelerator};
use pipeline::{Filled, Item, Pipeline, PipelineError};

/// Consumes an iteration: gives `f` what each SLR has put into the slot, and then the slot back to the card.
///
/// What `f` gets cannot outlive it, and until the work that it gives to libtorch is done the card writes nothing there.
///
/// # Errors
/// What `f` says, or the pipeline.
#[expect(clippy::needless_pass_by_value, reason = "nobody has the item, and with it the slot, any more")]
pub(crate) fn consume<A: TorchAccelerator, E: From<PipelineError>>(
    pipeline: &Pipeline<A>,
    torch: &Torch<A>,
    item: Item,
    f: impl FnOnce([Option<Held<'_, A>>; SLRS]) -> Result<(), E>,
) -> Result<(), E> {
    pipeline.begin_consume(item.slot, item.generation, torch.stream())?;
    f(Slr::ALL.map(|slr| {
        let filled = item.slrs[slr.index()].as_ref()?;
        let view = |buffer| pipeline.view(item.slot, slr, buffer);
        Some(Held { filled, buffers: [Buffer::Samples, Buffer::Rows, Buffer::Cols].map(view) })
    }))?;
    Ok(pipeline.release(item.slot, item.generation, torch.stream())?)
}

/// What one SLR has put into a slot that is held.
pub(crate) struct Held<'a, A: TorchAccelerator> {
    /// Its counts and what it took.
    pub(crate) filled: &'a Filled,
    buffers: [&'a A::Buffer; 3],
}

impl<'a, A: TorchAccelerator> Held<'a, A> {
    /// What is valid of `samples`, `rows` and `cols`, to be read; as tensors they make a [`super::Sampled`].
    pub(crate) fn lent(&self) -> [Lent<'a, A::Buffer>; 3] {
        let mut counts = self.filled.counts.into_iter();
        self.buffers.map(|buffer| Lent::Read(buffer, counts.next().unwrap_or(0)))
    }
}
