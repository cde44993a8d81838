//! libtorch on the simulated accelerator: it computes on the processor, when the stream comes to it.

use tch::{Device, Tensor};

use super::{Gate, Kind, SimulatedAccelerator, SimulatedBuffer, SimulatedStream};
use crate::accelerator::{
    Accelerator, Result,
    torch::{Lent, TorchAccelerator, admit, with_host_memory},
};

impl TorchAccelerator for SimulatedAccelerator {
    fn open(&self) -> Result<Device> {
        Ok(Device::Cpu)
    }

    /// The stream waits while this thread computes, and this thread waits for its turn. That is a wait in time alone: the host
    /// is not held to know afterwards that anything is done.
    fn compute<const N: usize, R>(
        &self,
        stream: &SimulatedStream,
        site: &'static str,
        lent: [Lent<'_, SimulatedBuffer>; N],
        f: impl FnOnce([Tensor; N]) -> R,
    ) -> Result<R> {
        admit(self.ledger(), site, &lent, |buffer, len| buffer.check(site, len))?;
        let accesses: Vec<_> = lent
            .iter()
            .map(|lent| (lent.buffer(), if matches!(lent, Lent::Read(..)) { Kind::Read } else { Kind::Write }))
            .collect();
        let turn = Gate::default();
        // Dropped however this ends, also if the launch is refused: it has been given to the stream then.
        let over = Opened(Gate::default());
        let (theirs, end) = (turn.clone(), over.0.clone());
        self.launch(stream, site, &accesses, move || {
            theirs.open();
            end.wait();
        })?;
        turn.wait();
        with_host_memory(lent.map(|lent| (lent, &*lent.buffer().elements)), f)
    }
}

/// A gate that is opened in the end.
struct Opened(Gate);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.open();
    }
}
