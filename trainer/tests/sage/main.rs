//! GraphSAGE: its formulations against each other and against PyTorch Geometric, and its training.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

mod accelerator;
mod command;
mod forward;
#[cfg(feature = "cuda")]
mod gpu;
mod optimizer;
mod resume;
mod signals;
mod support;
mod train;
mod vectors;
mod world;
