//! Graphs in files: [readers](mod@read), [writers](mod@write) and [generators](generate).
//!
//! Data sets share what stands under the formats: `.npy` headers, lines of text, files and folders that appear whole or not
//! at all, and the question how much [memory] is left.

#![forbid(unsafe_code)]

mod compression;
mod format;
pub mod generate;
pub mod memory;
mod note;
mod npy;
pub mod read;
pub mod write;

pub use compression::Compression;
pub use format::{Format, FormatError};
pub use note::{Listener, Note, Remark, Setting, UsedColumn};
