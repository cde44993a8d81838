//! Cards that are not there, behind [`hw::SamplerDevice`]: the software model, and the RTL under Verilator.

mod card;
pub mod emulated;
pub mod faulty;
pub mod memory;
pub mod model;
pub mod rtl;
mod worker;

pub use card::{Card, Job, Kernel};
pub use worker::Cancel;
