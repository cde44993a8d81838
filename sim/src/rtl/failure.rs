//! How a simulated kernel fails: what no card can tell of itself.

use hw::{Cause, DeviceError, Slr};

/// Why a simulated kernel cannot go on, as the cause of [`DeviceError::Kernel`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelFailure {
    /// It made no progress for longer than its watchdog allows.
    #[error("{slr} made no progress for {cycles} cycles; stuck: {stuck}")]
    Stalled {
        /// The SLR.
        slr: Slr,
        /// Cycles without a handshake on any channel.
        cycles: u64,
        /// The channels that wait, by name.
        stuck: String,
    },
    /// An assertion of the RTL failed.
    #[error("an assertion failed in the RTL of {slr} at cycle {cycle}: {message}")]
    Assertion {
        /// The SLR.
        slr: Slr,
        /// Its clock cycle.
        cycle: u64,
        /// The simulator's words.
        message: String,
    },
}

impl From<KernelFailure> for DeviceError {
    fn from(failure: KernelFailure) -> Self {
        let (KernelFailure::Stalled { slr, .. } | KernelFailure::Assertion { slr, .. }) = failure;
        Self::Kernel { slr, cause: Cause::new(failure) }
    }
}
