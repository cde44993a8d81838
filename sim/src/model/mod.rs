//! The software model of the card: three SLRs, one thread each, that sample as fast as a processor can, and say what the RTL
//! would access in card memory for the same result.
//!
//! It reads the sampling contract on its own: it shares graph, request, sub-graph and ids with `golden`, and no code that
//! samples.
//!
//! [`sample()`] is the sampling loop, and nothing beside it. Traffic and cycles follow from graph, request and sub-graph, and are
//! worked out when a run is over, where they are asked for ([`ModelOptions`]).
//!
//! Memory traffic of a run (each read is one line of 64 bytes; L is a range of int32 elements in lines, which are written in
//! one burst for each aligned block of 8 that the range touches):
//!
//! | port | reads | writes |
//! |---|---|---|
//! | `offs` | one for each node of the frontier, in each hop, shared with the node before it if both records lie in one line | |
//! | `idx<c>` | one for each drawn edge, shared with the edge drawn before it in the hop if both lie in one line | |
//! | `mem` | L(seeds); in each hop L(frontier after its first 64 nodes) | L(what each phase but the last appends to the node list); 8 of status, in 2 bursts |
//! | `out` | | L(samples), L(rows), L(cols), L(edges) |
//!
//! A hop with fan-out 0 reads nothing.
//!
//! How long all that takes in the RTL can be predicted, too ([`ModelOptions::timing`], and the module `timing`).

mod chacha;
mod dedup;
mod draw;
mod hops;
mod kernel;
mod sample;
mod timing;
mod traffic;

use std::num::NonZeroU64;

use golden::Limits;
use hw::{Capabilities, DeviceError, Feature, SLRS, card::MAX_CHANNELS};

use crate::{
    card::{Card, OUTPUT_SPACES},
    memory::Profile,
};
pub use kernel::ModelKernel;
pub use sample::{Scratch, Stop, sample};

const BACKEND: &str = "model";

/// What the software model takes.
pub const LIMITS: Limits = Limits { owner: "the software model", seeds: 1 << 20, hops: 8, fanout: 1024 };

/// Runs of an SLR that may be in flight: one is being sampled, one waits behind it.
const QUEUE_DEPTH: usize = 2;

/// How the modelled card is built. It changes what is counted, never what is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelOptions {
    /// Index channels of each kernel: 1, 2, 4 or 8.
    pub channels: usize,
    /// Count the traffic of each port ([`Feature::Traffic`]). It takes one pass over the edges of a finished run.
    pub traffic: bool,
    /// Predict the cycles that the RTL would take ([`Feature::PredictedCycles`]), with this memory. It takes far longer than
    /// sampling.
    pub timing: Option<TimingOptions>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { channels: 4, traffic: true, timing: None }
    }
}

/// What the cycles of a run depend on beside its request, graph and channels: as in [`crate::rtl::RtlOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingOptions {
    /// How fast memory is. What the hostile profile does cannot be predicted.
    pub memory: Profile,
    /// log2 of the slots of each kernel's hash table, 4 to 21. The model itself has no such limit: of a run
    /// that the RTL would end with a full table, the cycles mean nothing.
    pub table_log2: u32,
    /// Reads that each port may have outstanding; a power of two.
    pub window: u32,
    /// Hz: a run ends no sooner than it would on a card with this clock. The model is then as slow as a card, and like one
    /// leaves the host's processor to others meanwhile; a clock far below a card's own is a card in slow motion.
    pub clock: Option<NonZeroU64>,
}

impl Default for TimingOptions {
    fn default() -> Self {
        Self { memory: Profile::Hbm, table_log2: 19, window: 128, clock: None }
    }
}

/// The software model of the three-SLR card.
///
/// It writes into host memory. It has no bus and no clock, but works out what the RTL would count on them, where it is asked for
/// ([`ModelOptions`]).
pub type SoftwareModel = Card<ModelKernel>;

impl SoftwareModel {
    /// A card without a graph.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] for a kernel that does not exist or whose cycles cannot be predicted, or if the system gives no
    /// more threads.
    pub fn new(options: ModelOptions) -> Result<Self, DeviceError> {
        let ModelOptions { channels, traffic, timing } = options;
        let refuse = |message: String| Err(DeviceError::Backend { backend: BACKEND, message });
        if !channels.is_power_of_two() || channels > MAX_CHANNELS {
            return refuse(format!("a kernel with {channels} index channels does not exist; it has 1, 2, 4 or 8"));
        }
        if let Some(TimingOptions { memory, table_log2, window, clock: _ }) = timing {
            if memory == Profile::Hostile {
                return refuse(format!("cycles with memory profile '{memory}' cannot be predicted"));
            }
            if !window.is_power_of_two() || !(4..=21).contains(&table_log2) {
                return refuse(format!("a kernel with a window of {window} and 2^{table_log2} slots does not exist"));
            }
        }
        let features = [(Feature::Traffic, traffic), (Feature::PredictedCycles, timing.is_some())];
        let capabilities = Capabilities {
            backend: BACKEND,
            limits: LIMITS,
            queue_depth: QUEUE_DEPTH,
            features: features.into_iter().filter_map(|(feature, asked)| asked.then_some(feature)).collect(),
            output_spaces: OUTPUT_SPACES.to_vec(),
        };
        let kernels: [_; SLRS] = std::array::from_fn(|_| ModelKernel::new(options));
        Self::with_kernels(capabilities, kernels)
    }
}
