//! Cards that are not there, behind [`hw::SamplerDevice`]: the software model, and the RTL under Verilator.

use std::{
    fmt,
    io::{self, Write},
};

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

/// Says on stderr what cannot be returned. Nothing can be said any more if that is closed.
fn complain(what: &dyn fmt::Display) {
    let _ = writeln!(io::stderr(), "{what}");
}
