//! What the card is for: the seed nodes of the mini-batches, the verifier, and the `trisage` command.
//!
//! Nothing but the factory in [`cli`] knows which back end there is; everything else is written against
//! [`hw::SamplerDevice`].

#![forbid(unsafe_code)]

pub mod batches;
pub mod bench;
pub mod cli;
pub mod stats;
mod table;
pub mod verify;
