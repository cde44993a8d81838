//! Cards that are not there, behind [`hw::SamplerDevice`]: the RTL under Verilator.

pub mod rtl;
