//! A module for each command: its options, and what it does.

pub(crate) mod bench;
pub(crate) mod dataset;
pub(crate) mod device;
pub(crate) mod emulate;
pub(crate) mod graph;
pub(crate) mod rtl;
pub(crate) mod sample;
#[cfg_attr(not(feature = "torch"), path = "no_train.rs")]
pub(crate) mod train;
pub(crate) mod verify;
