//! The simulated RTL: three kernels under Verilator, each with its own memory, clock and bus checks.
//!
//! [`RtlDevice`] is the card. A kernel is run as XRT's driver runs one ([`kernel`]), through an AXI4-Lite master
//! ([`control`]); behind each of its AXI4 masters stands a memory ([`axi`]) that keeps a profile's timing, answers with errors
//! on request, and checks what the kernel does. Nothing in here knows what a right result is.

mod axi;
mod control;
mod device;
mod failure;
mod kernel;
mod options;
mod outcome;
mod waves;

pub use crate::memory::Profile;
pub(crate) use axi::{AddressSpace, Line, Wrong, merge};
pub use axi::{Fault, FaultAt, Place, Response};
pub(crate) use control::Access;
pub use device::RtlDevice;
pub use failure::KernelFailure;
pub(crate) use kernel::Clocked;
pub use kernel::RtlKernel;
pub use options::RtlOptions;
pub use verilator_sys::{Fill, build::Variant};

pub(crate) const BACKEND: &str = "rtl";
