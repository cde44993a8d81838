//! What a sampling card is, whatever stands behind it: the one device trait with its capabilities, errors and run report;
//! the register map and the layout of card memory; and, beside this crate's sources, the RTL itself (`hw/rtl`).
//!
//! The software model and the simulated RTL (crate `sim`) implement [`SamplerDevice`], and so does the real card (module
//! [`xrt`], of which the rest knows nothing); trainer and verifier use nothing else.

pub mod board;
pub mod card;
mod device;
mod error;
pub mod kernel_xml;
pub mod lane;
mod memory;
pub mod registers;
mod report;
pub mod status;
pub mod vitis;
pub mod xclbin;
pub mod xrt;

pub use device::{Capabilities, Deadline, Feature, SLRS, SamplerDevice, Slot, Slr};
pub use error::{BusAccess, Cause, DeviceError};
pub use memory::{DmaBuf, HostMemory, MemorySpace, OutputBuffers, OutputMemory};
pub use report::{PortTraffic, RunReport, StageCycles};
