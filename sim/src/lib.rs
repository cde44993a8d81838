//! Cards that are not there, behind [`hw::SamplerDevice`]: the software model, and the RTL under Verilator.

mod card;
pub mod chance;
pub mod emulated;
pub mod faulty;
pub mod memory;
pub mod model;
pub mod rtl;
mod worker;

pub use card::{Card, Job, Kernel, SIMULATED_ACCELERATOR};
pub use worker::Cancel;
