//! Cards that are not there, behind [`hw::SamplerDevice`]: the software model, and the RTL under Verilator.

pub mod model;
pub mod rtl;
mod worker;
