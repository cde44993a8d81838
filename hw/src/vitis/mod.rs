//! What Vivado and Vitis are told of the kernel: its pins, how it is packaged, and what a link file connects it with. Everything
//! here comes from the register map, the ports and the boards; `hw/vitis` has the scripts that use it.

pub mod link;
pub mod package;
pub mod pins;
