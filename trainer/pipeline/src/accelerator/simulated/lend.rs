//! Buffers of the simulated accelerator, lent: the work is done on the processor, when the stream comes to it.

use super::{Gate, Kind, SimulatedAccelerator, SimulatedBuffer, SimulatedStream};
use crate::accelerator::{
    Result,
    lend::{Access, Lease, Lend, Loan, admit},
};

// SAFETY: `admit` checks the lengths, and the caller's references keep the memory until `f` has done its work.
#[allow(unsafe_code)]
unsafe impl Lend for SimulatedAccelerator {
    /// The stream waits while this thread works, and this thread waits for its turn. That is a wait in time alone: the host
    /// does not count as knowing afterwards that anything is done.
    fn lend<const N: usize, R>(
        &self,
        stream: &SimulatedStream,
        site: &'static str,
        loans: [Loan<'_, SimulatedBuffer>; N],
        f: impl FnOnce(Lease<N>) -> R,
    ) -> Result<R> {
        admit(self, site, &loans, |buffer, len| buffer.check(site, len))?;
        let accesses = loans.map(|loan| {
            let kind = match loan.access {
                Access::Read => Kind::Read,
                Access::Write => Kind::Write,
            };
            (loan.buffer, kind)
        });
        let turn = Gate::default();
        // Dropped however this ends, also if the launch is refused: it has been given to the stream then.
        let over = Opened(Gate::default());
        let (theirs, end) = (turn.clone(), over.0.clone());
        self.launch(stream, site, &accesses, move || {
            theirs.open();
            end.wait();
        })?;
        turn.wait();
        Ok(f(Lease::of_host(loans.map(|loan| &*loan.buffer.elements))))
    }
}

/// A gate that is opened in the end.
struct Opened(Gate);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.open();
    }
}
