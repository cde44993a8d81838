//! The simulated RTL: against the reference sampler, in every memory profile, and when things go wrong.

mod common;
mod errors;
mod files;
mod profiles;
mod random;
