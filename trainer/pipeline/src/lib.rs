//! What carries sub-graphs from any card to any consumer: accelerators, slots and streams, the mini-batches of a run, a ledger
//! of transfers, a timeline, and the verifier.
//!
//! Nothing here knows which back end there is; everything is written against [`hw::SamplerDevice`].

// `accelerator::cuda` alone has some.
#![deny(unsafe_code)]

pub mod accelerator;
pub mod batches;
pub mod chance;
pub mod ledger;
mod pipeline;
#[doc(hidden)]
pub mod sync;
pub mod timeline;
pub mod units;
pub mod verify;

pub use pipeline::{
    Filled, Generation, Item, MAX_SLOTS, Overlap, POISON, Pipeline, PipelineError, PipelineOptions, Probe,
    ProducerTimes, Requests, Sink, SinkError, SlotError, Slots, Stop, Stopping, Totals, Transport, choose, probe,
};
