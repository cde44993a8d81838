//! Why nothing was written.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::format::Format;

/// A file or folder that was not written: which, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct WriteError {
    /// The file or folder asked for.
    pub path: PathBuf,
    /// Why it was not written.
    pub problem: WriteProblem,
}

/// Why something was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteProblem {
    /// Something is there already.
    #[error("this {what} is there already; give another name, or ask for it to be overwritten")]
    Exists {
        /// "file" or "folder that is not empty".
        what: &'static str,
    },
    /// There is a folder where a file is to be, or the other way round.
    #[error("there is a {found} of this name, but {what} is written to a {needed}")]
    Kind {
        /// "file" or "folder".
        found: &'static str,
        /// What is to be written.
        what: &'static str,
        /// "file" or "folder".
        needed: &'static str,
    },
    /// The folder that it would be in is missing.
    #[error("there is no folder {} to write it in", parent.display())]
    NoParent {
        /// That folder.
        parent: PathBuf,
    },
    /// The extension is of no format.
    #[error("its extension is of no graph format; accepted are {}", Format::NAMES)]
    UnknownFormat,
    /// The system refuses.
    #[error("cannot be written: {error}")]
    Write {
        /// What the system says.
        error: io::Error,
    },
}

impl WriteProblem {
    /// This problem, of `path`.
    pub fn at(self, path: &Path) -> WriteError {
        WriteError { path: path.to_owned(), problem: self }
    }
}
