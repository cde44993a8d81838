//! What can go wrong between host and card.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use golden::{HopCounts, LocalId, Overflow, RequestError};

use crate::{Feature, MemorySpace, Slot, Slr};

/// Which way a bus access went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusAccess {
    /// The kernel read.
    Read,
    /// The kernel wrote.
    Write,
}

impl fmt::Display for BusAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// Why a device did not do what it was asked. No error leaves a part of a result that could be taken for a whole one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The request was refused; nothing was started.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A buffer is too small.
    #[error("{overflow}")]
    Overflow {
        /// What ran out, and where.
        overflow: Overflow,
        /// What was emitted before it; these elements are valid.
        emitted: HopCounts,
    },
    /// The kernel's on-chip hash table has no place for one more node.
    #[error(
        "the kernel's hash table of {slots} slots found no place within its probe limit in hop {hop} at local node \
         {node}; take a smaller mini-batch or smaller fan-outs, or a kernel with a larger table"
    )]
    TableFull {
        /// Slots of the table.
        slots: u64,
        /// The hop; 0 while the seeds are entered.
        hop: usize,
        /// The node that was being expanded.
        node: LocalId,
        /// What was emitted before it; these elements are valid.
        emitted: HopCounts,
    },
    /// The card's memory answered an access with an error.
    #[error("the kernel's {access} at address {address:#x} (port {port}) was answered with {response}")]
    Bus {
        /// Read or write.
        access: BusAccess,
        /// The port, as in [`crate::card::Port::name`].
        port: &'static str,
        /// Byte address of the access, rounded down to 64 bytes.
        address: u64,
        /// SLVERR or DECERR.
        response: &'static str,
    },
    /// What the kernel read from card memory is not the graph that was loaded.
    #[error("card memory does not hold a valid graph: {what} in hop {hop} at local node {node}")]
    CorruptGraph {
        /// What is wrong with it.
        what: &'static str,
        /// The hop.
        hop: usize,
        /// The node that was being expanded.
        node: LocalId,
    },
    /// The deadline passed before the run was done. The SLR is poisoned.
    #[error("{slr} was not done after {limit:?}{}", .detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default())]
    Timeout {
        /// The SLR.
        slr: Slr,
        /// The deadline's span.
        limit: Duration,
        /// What it was waiting for, where that is known.
        detail: Option<String>,
    },
    /// The run was cancelled while it was waited for. The SLR is poisoned.
    #[error("the run of {slr} was cancelled")]
    Cancelled {
        /// The SLR.
        slr: Slr,
    },
    /// The kernel failed in a way that only its back end knows. The SLR is poisoned.
    #[error("{cause}")]
    Kernel {
        /// The SLR.
        slr: Slr,
        /// What the back end says; its sentence names the SLR.
        cause: Cause,
    },
    /// The kernel broke the protocol between host and kernel, or the bus protocol.
    #[error("{slr} broke the protocol: {what}")]
    Protocol {
        /// The SLR.
        slr: Slr,
        /// What it did.
        what: String,
    },
    /// A run was started or buffers were bound before a graph was loaded.
    #[error("no graph is loaded; load one before a run is started")]
    NoGraph,
    /// The graph does not fit.
    #[error("the graph needs {needed} bytes for {what}, but {owner} has {available}")]
    GraphTooLarge {
        /// Which part of it.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes there are.
        available: u64,
        /// Whose memory it is.
        owner: &'static str,
    },
    /// The slot has no buffers.
    #[error("{slot} of {slr} has no output buffers; bind some before a run is started")]
    NotBound {
        /// The SLR.
        slr: Slr,
        /// The slot.
        slot: Slot,
    },
    /// The back end cannot write into this memory in place.
    #[error("back end '{backend}' cannot write into {space}; it writes into {}", list(.possible))]
    OutputSpace {
        /// The back end.
        backend: &'static str,
        /// The memory that was offered.
        space: MemorySpace,
        /// What it can write into.
        possible: Vec<MemorySpace>,
    },
    /// As many runs as possible are in flight.
    #[error("{slr} is busy: a run is in flight; wait for it first")]
    Busy {
        /// The SLR.
        slr: Slr,
    },
    /// There is no run to wait for.
    #[error("{slr} is idle: no run was started")]
    Idle {
        /// The SLR.
        slr: Slr,
    },
    /// An earlier error left the SLR in a state from which it cannot go on; make a new device.
    #[error("{slr} cannot be used any more after an earlier error: {cause}")]
    Poisoned {
        /// The SLR.
        slr: Slr,
        /// That error.
        cause: String,
    },
    /// The back end lacks a feature.
    #[error("back end '{backend}' has no {needed}; it offers {}", list(.offered))]
    Unsupported {
        /// The back end.
        backend: &'static str,
        /// The feature asked for.
        needed: Feature,
        /// Those it has.
        offered: Vec<String>,
    },
    /// Anything of the back end's own: a library, a tool or a file that it needs.
    #[error("back end '{backend}': {message}")]
    Backend {
        /// The back end.
        backend: &'static str,
        /// What is wrong, and what would help.
        message: String,
    },
}

impl DeviceError {
    /// Whether the SLR of a run that ends with this error cannot go on.
    pub fn poisons(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::Kernel { .. } | Self::Protocol { .. })
    }
}

/// An error of a back end's own. Two are equal if they say the same.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Of an error of any type.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

fn list(items: &[impl ToString]) -> String {
    match items {
        [] => "nothing beyond sampling".to_owned(),
        _ => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
