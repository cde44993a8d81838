//! Graphs from files. See [`Format`] for what there is; [`graph`] reads any of them.
//!
//! Files are not trusted. Whatever is wrong with one is a [`ReadError`], one sentence that names the file, the place, what
//! is there and what would be accepted; memory grows with what a file holds and not with what it says it holds.

mod edge_list;
mod error;
mod folder;
mod matrix_market;
mod npy;
mod npz;
mod source;
mod text;

use std::path::Path;

pub use error::{Problem, ReadError, excerpt};
pub use npy::Npy;
pub use npz::Npz;
pub use source::Source;
pub use text::{Lines, fields, is_number};

use crate::{format::Format, graph::CscGraph, id::ID_MAX, memory, progress::Progress};

/// How to read a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` goes by the path: a folder is a [`Format::Folder`], a file is what its extension says.
    pub format: Option<Format>,
    /// Adds the reverse of every arc, as [`CscGraph::symmetrised`] does.
    pub symmetrise: bool,
    /// The number of nodes of a text format: at least what the file needs, and more for isolated nodes at the end. `None`
    /// takes the largest id + 1 of an edge list, and the size that a Matrix Market file states.
    pub nodes: Option<u32>,
}

/// Reads a graph.
///
/// In-neighbours keep the order in which they are stored ([`Format::Folder`], and CSC in [`Format::Npz`]), or in which the
/// lines name them (text formats); those of a CSR matrix ascend.
///
/// # Errors
/// See [`Problem`].
pub fn graph(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<CscGraph, ReadError> {
    let is_folder = path.metadata().map_err(|error| Problem::Open { error }.at(path))?.is_dir();
    let format = match options.format {
        Some(format) => format,
        None if is_folder => Format::Folder,
        None => match Format::of_name(path) {
            Some(format) if format != Format::Folder => format,
            _ => return Err(Problem::UnknownFormat.at(path)),
        },
    };
    match (format, is_folder) {
        (Format::Folder, false) => return Err(Problem::IsFile.at(path)),
        (Format::Folder, true) | (_, false) => {}
        (format, true) => return Err(Problem::IsFolder { format }.at(path)),
    }
    match (format, options.nodes) {
        (Format::Folder | Format::Npz, Some(nodes)) => return Err(Problem::NodesGiven { nodes, format }.at(path)),
        (_, Some(nodes)) if !(1..=ID_MAX).contains(&nodes) => return Err(Problem::NodesRange { nodes }.at(path)),
        _ => {}
    }
    let source = || Source::open(path);
    let graph = match format {
        Format::Folder => folder::read(path, progress)?,
        Format::Npz => npz::read(path, progress)?,
        Format::EdgeList => edge_list::read(source()?, false, options, progress)?,
        Format::Csv => edge_list::read(source()?, true, options, progress)?,
        Format::MatrixMarket => matrix_market::read(source()?, options, progress)?,
    };
    if options.symmetrise {
        room(graph.nodes(), 2 * graph.edges()).map_err(|problem| problem.at(path))?;
        return graph.symmetrised().map_err(|error| Problem::Graph(error).at(path));
    }
    Ok(graph)
}

/// Whether there is memory to make a graph of this size from its arcs.
fn room(nodes: usize, edges: usize) -> Result<(), Problem> {
    // Offsets twice, and the sources.
    Ok(memory::check(8 * nodes as u64 + 4 * edges as u64)?)
}
