//! Graphs in files: [readers](mod@read), [writers](mod@write) and [generators](generate).
//!
//! Data sets share what stands under the formats: `.npy` headers, lines of text, files and folders that appear whole or not
//! at all, and the question how much [memory] is left.

#![forbid(unsafe_code)]

mod format;
pub mod generate;
pub mod memory;
mod npy;
pub mod read;
pub mod write;

pub use format::{Format, FormatError};
