//! What the card is for: the seed nodes of the mini-batches, the pipeline that carries sub-graphs to whoever consumes them,
//! the verifier, and the `trisage` command.
//!
//! Nothing but the factory in [`cli`] knows which back end there is; everything else is written against
//! [`hw::SamplerDevice`].

// `accelerator::cuda` and `accelerator::torch` alone have some.
#![deny(unsafe_code)]

pub mod accelerator;
pub mod batches;
pub mod bench;
mod chance;
pub mod cli;
pub mod dataset;
pub mod ledger;
pub mod pipeline;
#[cfg(feature = "torch")]
pub mod sage;
pub mod stats;
#[doc(hidden)]
pub mod sync;
mod table;
pub mod timeline;
#[cfg(feature = "torch")]
pub mod train;
pub mod verify;

pub(crate) use golden::memory;
