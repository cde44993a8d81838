//! Why nothing was written.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::format::Format;
use golden::NodeId;

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
    /// A graph that the format cannot hold.
    #[error(
        "format 'metis' is for undirected graphs, but there is an arc {from} -> {to} and not as many back; \
         symmetrise the graph, or choose another format"
    )]
    OneWay {
        /// Where the arc starts.
        from: NodeId,
        /// Where it ends.
        to: NodeId,
    },
    /// A self-loop where there can be none.
    #[error("format 'metis' has no self-loops, but node {node} has one; choose another format")]
    SelfLoop {
        /// The node.
        node: NodeId,
    },
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
