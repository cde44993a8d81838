//! The RTL as a shared library made by Verilator: compiled, cached, loaded, clocked.
//!
//! [`build::compile`] turns `hw/rtl` into a library with the C interface of `c/trisage_model.h`. [`ModelLibrary`] loads it,
//! and a [`Model`] is one kernel with its pins and its clock; [`BenchLibrary`] and [`BenchModel`] are the same for the benches of
//! single modules in `hw/bench`. `src/bindings.rs` is made by bindgen from that header, in a step
//! of its own (feature `bindgen`), so that nobody needs libclang to build this crate.

#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    dead_code,
    missing_docs,
    non_camel_case_types,
    unreachable_pub,
    unsafe_code
)]
mod bindings {
    include!("bindings.rs");
}
pub mod build;
#[cfg(feature = "bindgen")]
pub mod generate;
mod model;

pub use bindings::{
    TRISAGE_BENCH_WORDS, TRISAGE_LINE_BYTES, TRISAGE_READ_PORTS, TRISAGE_WRITE_PORTS, trisage_bench_pins as BenchPins,
    trisage_control_pins as ControlPins, trisage_pins as Pins, trisage_read_pins as ReadPins,
    trisage_write_pins as WritePins,
};
pub use model::{
    AssertionError, BenchLibrary, BenchModel, Fill, LoadError, Model, ModelLibrary, TopLibrary, TopModel, TopPins,
};
