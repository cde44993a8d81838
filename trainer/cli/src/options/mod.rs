//! Options that several commands have.

pub(crate) mod accelerator;
pub(crate) mod faults;
pub(crate) mod source;
