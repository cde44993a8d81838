//! Graphs and sub-graphs to files.
//!
//! Nothing is ever half-written: a file is written in a [folder of its own](Scratch) beside its place and takes it only when
//! it is whole, and so is a new folder. What is there already stays unless [`WriteOptions::overwrite`] says otherwise.

mod error;
mod folder;
mod npy;
mod npz;
mod place;
mod scratch;
mod staging;
mod text;

use std::path::Path;

pub use error::{WriteError, WriteProblem};
pub use npy::{npy, npy_header};
pub use place::{Out, PARTS, check_file, file};
pub use scratch::{Names, Scratch, abandon, sweep};
pub use staging::{StagedFile, Staging};

use crate::{Listener, format::Format};
use golden::{CscGraph, SubGraph};

/// How to write a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The format; `None` goes by the path's extension, where none means a [`Format::Folder`].
    pub format: Option<Format>,
    /// Replaces what is there. Of a folder only the arrays of the graph are replaced; other files in it stay.
    pub overwrite: bool,
}

/// Writes a graph; [`read::graph`](crate::read::graph) reads it back, position for position.
///
/// CSV has no place for the number of nodes: where the last nodes are isolated, it must be given to the reader, and a note to
/// `progress` says so.
///
/// # Errors
/// See [`WriteProblem`].
pub fn graph(path: &Path, graph: &CscGraph, options: &WriteOptions, progress: &dyn Listener) -> Result<(), WriteError> {
    let format = options.format.or_else(|| Format::of_name(path));
    let format = format.ok_or_else(|| WriteProblem::UnknownFormat.at(path))?;
    match format {
        Format::Folder => folder::write(path, graph, options.overwrite, progress),
        Format::Npz => npz::write_graph(path, graph, options.overwrite, progress),
        Format::EdgeList | Format::Csv | Format::MatrixMarket | Format::Metis => {
            text::write(path, graph, format, options.overwrite, progress)
        }
    }
}

/// Writes a sub-graph as an `.npz` that `numpy.load` reads: the int32 arrays `samples`, `rows`, `cols` and `edges` (see
/// [`Buffer`](golden::Buffer)), and int32 `nodes_per_hop` (L + 1 elements, the seeds first) and `edges_per_hop` (L).
///
/// # Errors
/// See [`WriteProblem`].
pub fn subgraph_npz(path: &Path, sub: &SubGraph, options: &WriteOptions) -> Result<(), WriteError> {
    npz::write_subgraph(path, sub, options.overwrite)
}
