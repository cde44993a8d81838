//! Graphs from files. See [`Format`] for what there is; [`graph`] reads any of them.
//!
//! Files are not trusted. Whatever is wrong with one is a [`ReadError`], one sentence that names the file, the place, what
//! is there and what would be accepted; memory grows with what a file holds and not with what it says it holds.

mod columns;
mod csv;
mod delimiter;
mod edge_list;
mod error;
mod folder;
mod matrix_market;
mod metis;
mod npy;
mod npz;
mod plan;
mod seen;
mod source;
mod stated;
mod table;
mod text;

use std::path::Path;

pub use columns::{Column, Columns, ColumnsError, Doubt};
pub use delimiter::{Delimiter, is_value};
pub use error::{Problem, ReadError, excerpt};
pub use folder::array_files;
pub use npy::Npy;
pub use npz::Npz;
pub use source::Source;
pub use table::{Layout, Record, Table};
pub use text::{Lines, fields, is_number};

use crate::{Listener, format::Format, memory};
use golden::{CscGraph, ID_MAX};

/// How to read a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` goes by the path: a folder is a [`Format::Folder`], a file is what its extension says.
    pub format: Option<Format>,
    /// Adds the reverse of every arc, as [`CscGraph::symmetrised`] does.
    pub symmetrise: bool,
    /// The number of nodes of an edge list or a Matrix Market file: at least what the file needs, and more for isolated nodes
    /// at the end. `None` takes the number that a Matrix Market file states; of an edge list the largest id + 1, or what its
    /// header states if that is more.
    pub nodes: Option<u32>,
    /// The columns of an edge list that are source and destination; `None` goes by their names, and without names takes the
    /// first two.
    pub columns: Option<Columns>,
    /// The smallest id that an edge list may have, which becomes node 0; `None` is 1 for a file with KONECT's header, and 0
    /// for all others.
    pub first_id: Option<u32>,
}

/// Reads a graph. What should be known about a file although it could be read is a note to `progress`.
///
/// In-neighbours keep the order in which they are stored ([`Format::Folder`], CSC in [`Format::Npz`], [`Format::Metis`]), or in
/// which the lines name them (other text formats); those of a CSR matrix ascend.
///
/// # Errors
/// See [`Problem`].
pub fn graph(path: &Path, options: &ReadOptions, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let is_folder = path.metadata().map_err(|error| Problem::Open { error }.at(path))?.is_dir();
    let format = match options.format {
        Some(format) => format,
        None if is_folder => Format::Folder,
        None => of_file(path).map_err(|problem| problem.at(path))?,
    };
    match (format, is_folder) {
        (Format::Folder, false) => return Err(Problem::IsFile.at(path)),
        (Format::Folder, true) | (_, false) => {}
        (format, true) => return Err(Problem::IsFolder { format }.at(path)),
    }
    check(format, options).map_err(|problem| problem.at(path))?;
    let source = || Source::open(path);
    let graph = match format {
        Format::Folder => folder::read(path, progress)?,
        Format::Npz => npz::read(path, progress)?,
        Format::EdgeList | Format::Csv => edge_list::read(source()?, options, progress)?,
        Format::MatrixMarket => matrix_market::read(source()?, options, progress)?,
        Format::Metis => metis::read(source()?, progress)?,
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

/// The format of a file, by its name.
fn of_file(path: &Path) -> Result<Format, Problem> {
    match (Format::of_name(path), Format::foreign(path)) {
        (Some(Format::Folder), _) | (None, None) => {
            // KONECT calls its edge lists "out." and the name of the network.
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("out.") { Ok(Format::EdgeList) } else { Err(Problem::UnknownFormat) }
        }
        (Some(format), _) => Ok(format),
        (None, Some(what)) => Err(Problem::ForeignFormat { what }),
    }
}

/// Whether the options are for files of this format.
fn check(format: Format, options: &ReadOptions) -> Result<(), Problem> {
    if let Some(nodes) = options.nodes {
        if matches!(format, Format::Folder | Format::Npz | Format::Metis) {
            return Err(Problem::NodesGiven { nodes, format });
        }
        if !(1..=ID_MAX).contains(&nodes) {
            return Err(Problem::NodesRange { nodes });
        }
    }
    let given = [("columns are", options.columns.is_some()), ("the first id is", options.first_id.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        Some((what, _)) if !matches!(format, Format::EdgeList | Format::Csv) => {
            Err(Problem::EdgeListOnly { what, format })
        }
        _ => Ok(()),
    }
}
