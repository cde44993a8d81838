//! What sources of data sets look like.

use std::{
    fmt,
    fs::Metadata,
    path::{Path, PathBuf},
    str::FromStr,
};

use golden_files::{
    Format,
    read::{Npz, array_files},
};

use super::ogb;
use crate::{
    Unread, arrays,
    arrays::file_name,
    error::{DatasetError, Problem},
    names,
    names::{KNOWN, Piece, Role},
    python,
};

/// What a source looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The folder of an OGB node property data set: `raw/edge.csv.gz`, `raw/node-feat.csv.gz`, `raw/node-label.csv.gz`,
    /// `raw/num-node-list.csv.gz`, and `split/NAME/train.csv.gz`, `valid.csv.gz` and `test.csv.gz`.
    Ogb,
    /// The folder with `reddit_data.npz` and `reddit_graph.npz`.
    Reddit,
    /// A folder as of a data set, but with the graph in `raw_indptr.npy` and `raw_indices.npy`: the adjacency lists of the
    /// Planetoid data sets as they were published, by source.
    Planetoid,
    /// A folder that is a data set already.
    Folder,
    /// One file of arrays (`.npz`, `.pt` or `.safetensors`), or a folder of them, with the names of [`dataset`](crate::dataset) and one of these
    /// graphs: `edge_index`, `[2, arcs]`, or `edges`, `[arcs, 2]`, sources first; `adj_indptr` and `adj_indices` (also
    /// `adj_matrix.indptr` and so on), the rows of a matrix, which are sources; or `indptr` and `indices`, by destination.
    /// `num_nodes` says how many nodes there are where the last ones have neither arcs, features nor labels.
    Arrays,
    /// A graph in one file, such as an edge list, and files beside it that are named on their own.
    Edges,
}

impl Source {
    const NAMED: [(&str, Self); 6] = [
        ("ogb", Self::Ogb),
        ("reddit", Self::Reddit),
        ("planetoid", Self::Planetoid),
        ("folder", Self::Folder),
        ("arrays", Self::Arrays),
        ("edges", Self::Edges),
    ];

    /// What a path looks like.
    ///
    /// # Errors
    /// If it looks like nothing that can be imported.
    pub fn of(path: &Path) -> Result<Self, DatasetError> {
        if !check_kind(path)?.is_dir() {
            return Self::of_file(path);
        }
        let has = |name: &str| path.join(name).exists();
        let has_array = |name: &str| array_files(name).any(|name| has(&name));
        let files = arrays::files(path)?;
        let is_graph = |file: &PathBuf| {
            let name = file_name(file);
            let (stem, ending, _) = arrays::split(&name).unwrap_or_default();
            let role = names::role(&stem);
            ending == "npy" && matches!(role, Some(Role::EdgeIndex | Role::Edges | Role::Adjacency(Piece::Indptr)))
        };
        match () {
            () if ogb::is_folder(path) => Ok(Self::Ogb),
            () if has("reddit_data.npz") || has("reddit_graph.npz") => Ok(Self::Reddit),
            () if has_array("raw_indptr") => Ok(Self::Planetoid),
            () if has_array("indptr") => Ok(Self::Folder),
            () if files.iter().any(is_graph) => Ok(Self::Arrays),
            () => Err(unknown(path, files).at(path)),
        }
    }

    fn of_file(path: &Path) -> Result<Self, DatasetError> {
        let name = file_name(path);
        let (_, ending, _) = arrays::split(&name).unwrap_or_default();
        match ending.as_str() {
            "pt" | "pth" | "safetensors" => Ok(Self::Arrays),
            // What SciPy writes of a sparse matrix says its format.
            "npz" if !Npz::open(path)?.names().iter().any(|name| name == "format") => Ok(Self::Arrays),
            _ => match python::object(path) {
                Some(found) => Err(Problem::Object { found }.at(path)),
                None => Ok(Self::Edges),
            },
        }
    }
}

/// Refuses a pipe or a device: what a file holds is looked at first, and read then.
pub(super) fn check_kind(path: &Path) -> Result<Metadata, DatasetError> {
    let found = path.metadata().map_err(|error| Problem::Open(error).at(path))?;
    if found.is_file() || found.is_dir() {
        return Ok(found);
    }
    let (found, accepted) = ("it can be read only once".to_owned(), "a file or a folder");
    Err(Problem::Unknown { found, accepted }.at(path))
}

/// Why a folder cannot be imported.
fn unknown(path: &Path, files: Vec<PathBuf>) -> Problem {
    let found = Unread::of(path, files, KNOWN).and(Unread::below(path));
    let accepted = "an OGB folder (raw/edge.csv.gz), reddit_data.npz with reddit_graph.npz, a folder of arrays (indptr.npy \
                    with indices.npy, edge_index.npy, or raw_indptr.npy as of Planetoid), one file of arrays (.npz, .pt or \
                    .safetensors), or the file of a graph";
    match () {
        () if found.are_objects() => Problem::Object { found: format!("a folder with {found}") },
        () if found.is_empty() => Problem::Unknown { found: "a folder without any arrays".to_owned(), accepted },
        () => Problem::Unknown { found: format!("a folder with {found}"), accepted },
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::NAMED.iter().find(|(_, source)| source == self).map_or(Ok(()), |(name, _)| f.pad(name))
    }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let named = Self::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
        named.map(|&(_, source)| source).ok_or_else(|| {
            let format = text.parse::<Format>().ok();
            let hint = format.map(|format| format!(" ({format} is the format of a graph: --graph-format {format})"));
            SourceError { name: text.to_owned(), hint: hint.unwrap_or_default() }
        })
    }
}

/// A name that no kind of source has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of data set '{name}'; give one of ogb, reddit, planetoid, folder, arrays, edges{hint}")]
pub struct SourceError {
    name: String,
    hint: String,
}
