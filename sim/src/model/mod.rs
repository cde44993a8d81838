//! The software model of the card: three SLRs, one thread each, that do what the RTL does in the RTL's terms, as fast as a
//! processor can, and count the same accesses to card memory.
//!
//! It reads the sampling contract on its own: it shares graph, request and ids with `golden`, and no code that samples.
//!
//! Memory traffic of a run (each access is one line of 64 bytes; L is a range of int32 elements in lines):
//!
//! | port | reads | writes |
//! |---|---|---|
//! | `offs` | one for each node of the frontier, in each hop | |
//! | `idx<c>` | one for each drawn edge, shared with the edge drawn before it in the hop if both lie in one line | |
//! | `mem` | L(seeds); in each hop L(frontier) of the node list | L(what each phase appends to the node list); 7 of status |
//! | `out` | | L(samples), L(rows), L(cols), L(edges) |
//!
//! A hop with fan-out 0 reads nothing.

mod chacha;
mod dedup;
mod draw;
mod kernel;
mod traffic;

use golden::Limits;
use hw::{Capabilities, DeviceError, Feature, SLRS, card::MAX_CHANNELS};

use crate::card::{Card, OUTPUT_SPACES};
pub use kernel::ModelKernel;

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
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { channels: 4 }
    }
}

/// The software model of the three-SLR card.
///
/// It writes into host memory and counts bus traffic ([`Feature::Traffic`]); it has no clock.
pub type SoftwareModel = Card<ModelKernel>;

impl SoftwareModel {
    /// A card without a graph.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] for a number of channels that no kernel has, or if the system gives no more threads.
    pub fn new(options: ModelOptions) -> Result<Self, DeviceError> {
        let channels = options.channels;
        if !channels.is_power_of_two() || channels > MAX_CHANNELS {
            let message = format!("a kernel with {channels} index channels does not exist; it has 1, 2, 4 or 8");
            return Err(DeviceError::Backend { backend: BACKEND, message });
        }
        let capabilities = Capabilities {
            backend: BACKEND,
            limits: LIMITS,
            queue_depth: QUEUE_DEPTH,
            features: vec![Feature::Traffic],
            output_spaces: OUTPUT_SPACES.to_vec(),
        };
        let kernels: [_; SLRS] = std::array::from_fn(|_| ModelKernel::new(channels));
        Self::with_kernels(capabilities, kernels)
    }
}
