//! GraphSAGE: its formulations against each other and against PyTorch Geometric, and its training.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

mod accelerator;
mod damaged;
mod forward;
#[cfg(feature = "cuda")]
mod gpu;
mod identity;
mod killed;
mod optimizer;
mod resume;
mod runs;
mod support;
mod train;
mod vectors;
mod world;
