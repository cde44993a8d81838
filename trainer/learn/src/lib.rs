//! `GraphSAGE` and its training, on libtorch.
//!
//! Without feature `torch` the crate is empty: the rest of the workspace builds where there is no libtorch.

#![cfg(feature = "torch")]
// `torch` alone has some.
#![deny(unsafe_code)]

pub mod sage;
pub mod steps;
pub mod torch;
pub mod train;
