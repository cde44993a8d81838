//! The one trait that stands for the card.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Capacity, CscGraph, Limits, Progress, Request};

use crate::{DeviceError, MemorySpace, OutputBuffers, RunReport};

/// Super logic regions of the card, with one sampling kernel each.
pub const SLRS: usize = 3;

/// One SLR, and so one kernel: 0, 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slr(u8);

impl Slr {
    /// All of them, in order.
    pub const ALL: [Self; SLRS] = [Self(0), Self(1), Self(2)];

    /// Its number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Slr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SLR{}", self.0)
    }
}

/// One set of output buffers of an SLR. While the consumer reads one slot, the card fills another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}

/// Until when to wait, by the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    start: Instant,
    limit: Option<Duration>,
}

impl Deadline {
    /// `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self { start: Instant::now(), limit: Some(limit) }
    }

    /// Waits as long as it takes. A back end's own watchdog still ends a run that makes no progress.
    pub fn never() -> Self {
        Self { start: Instant::now(), limit: None }
    }

    /// What is left: `None` for [`Deadline::never`], zero once it has passed.
    pub fn remaining(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// The whole span, as it was given.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }
}

/// What a back end may offer beyond sampling; ask with [`Capabilities::require`] before the work starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// [`RunReport::cycles`] is filled with cycles that a clock has counted.
    Cycles,
    /// [`RunReport::cycles`] is filled with a prediction of what a clock would count. A back end offers this or
    /// [`Feature::Cycles`], not both.
    PredictedCycles,
    /// [`RunReport::ports`] is filled.
    Traffic,
    /// [`RunReport::stages`] is filled.
    StageCycles,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cycles => "cycle counts",
            Self::PredictedCycles => "predicted cycle counts",
            Self::Traffic => "bus traffic counts",
            Self::StageCycles => "cycle counts of the stages",
        })
    }
}

/// What a back end is and can do. Fixed for the life of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The back end's name, as `--backend` takes it.
    pub backend: &'static str,
    /// Limits of a request.
    pub limits: Limits,
    /// Runs that may be started on one SLR before the first has been waited for; at least 1.
    pub queue_depth: usize,
    /// What it offers beyond sampling.
    pub features: Vec<Feature>,
    /// Memory into which it writes results in place.
    pub output_spaces: Vec<MemorySpace>,
}

impl Capabilities {
    /// Whether the back end offers `feature`.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Asks for a feature before the work starts.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`], which names the feature, the back end and what it does offer.
    pub fn require(&self, feature: Feature) -> Result<(), DeviceError> {
        if self.has(feature) {
            return Ok(());
        }
        let offered = self.features.iter().map(ToString::to_string).collect();
        Err(DeviceError::Unsupported { backend: self.backend, needed: feature, offered })
    }
}

/// A sampling card: three kernels, one per SLR, that share the graph and nothing else.
///
/// All methods take `&self`, and a call for one SLR never waits for another SLR, so a producer thread per SLR can drive
/// its own kernel. A run goes through `start` and `wait`, in that order, at most [`Capabilities::queue_depth`] in flight
/// on one SLR; results of one SLR come back in the order of their starts. Between them the bound buffers belong to the
/// device. Dropping the device ends whatever is in flight.
///
/// The result of a run depends on the graph and the request alone, never on timing, back end or SLR.
pub trait SamplerDevice: Send + Sync {
    /// What the back end is and can do.
    fn capabilities(&self) -> &Capabilities;

    /// Puts `graph` into the memory of every SLR, in place of any other. No run may be in flight.
    ///
    /// # Errors
    /// [`DeviceError::Busy`], or why the graph does not fit or could not be transferred.
    fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError>;

    /// Binds `slot` of `slr` to four output buffers, in place of any it had. The capacity of each is its length; nothing is
    /// written past it. No run of this SLR may be in flight.
    ///
    /// # Errors
    /// [`DeviceError::Busy`], [`DeviceError::OutputSpace`], or why the memory cannot be bound.
    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError>;

    /// Starts sampling `request` into `slot` and returns at once.
    ///
    /// # Errors
    /// [`DeviceError::Request`] for a request that is refused, [`DeviceError::NoGraph`], [`DeviceError::NotBound`],
    /// [`DeviceError::Busy`], [`DeviceError::Poisoned`]. Nothing was started then.
    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError>;

    /// Waits for the oldest run of `slr`. On success the four buffers hold the sub-graph: every write has arrived.
    ///
    /// # Errors
    /// [`DeviceError::Idle`] without a run; [`DeviceError::Timeout`] at the deadline, after which the SLR is poisoned;
    /// [`DeviceError::Cancelled`];
    /// otherwise what ended the run: overflow, a full hash table, a bus error, a stall.
    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError>;

    /// Ends what is in flight on `slr`, as soon as the back end can, without a result: whoever waits for it is told
    /// [`DeviceError::Cancelled`] at once, and the SLR is poisoned. Without a run in flight nothing happens.
    fn cancel(&self, slr: Slr);

    /// Four new buffers in the card's own memory, which others on the bus reach through the card's BAR.
    ///
    /// # Errors
    /// [`DeviceError::OutputSpace`] from a back end without [`MemorySpace::CardBar`] among its
    /// [`Capabilities::output_spaces`]; or why there is no memory.
    fn bar_outputs(&self, slr: Slr, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        let (_, _, capabilities) = (slr, capacity, self.capabilities());
        Err(DeviceError::OutputSpace {
            backend: capabilities.backend,
            space: MemorySpace::CardBar,
            possible: capabilities.output_spaces.clone(),
        })
    }

    /// Ends what is recorded of all runs, such as waves, when the last was waited for. Dropping the device does it too, but
    /// then nobody learns that a record is not whole.
    ///
    /// # Errors
    /// What could not be recorded; the results of the runs are good.
    fn finish(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
