//! XRT's C API as safe calls: the one place of this crate that holds unsafe code.
//!
//! What makes a call safe: XRT looks every handle up in a table that a mutex guards, so that a wrong one is an error and any
//! thread may call; a [`Buffer`] knows its length, and nothing past that is asked for; memory that a buffer refers to lives as
//! long as the buffer.

#![allow(unsafe_code, reason = "here and nowhere else")]

mod api;
#[cfg(test)]
mod headers;
mod process;
mod prototypes;

pub(super) use api::{Api, Buffer, Device, Direction, Kernel, Kind, Run};
pub use process::end_at_once;
pub(super) use process::explain_bus_errors;
