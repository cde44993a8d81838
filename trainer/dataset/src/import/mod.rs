//! Data sets from what people download.
//!
//! Whatever the source, the result is a folder as [`Dataset::load`](super::Dataset::load) reads it: the in-neighbours of each
//! node ascending, dense features as float32, labels as int64. Features that come as text go to their file number by number
//! and never stand in memory; of the graph there are at most two copies.

mod edges;
mod graph;
mod ogb;
mod pieces;
mod reddit;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use golden::CscGraph;
use golden_files::{
    Format, Listener,
    read::{Npz, ReadOptions, array_files},
};

pub use super::text::{Header, HeaderError};
use super::{
    Splits, Unread,
    arrays::{self, file_name},
    error::{DatasetError, Problem},
    names::{self, KNOWN, Piece, Role},
    python,
    text::Rows,
    write::Writer,
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
    /// One file of arrays (`.npz`, `.pt` or `.safetensors`), or a folder of them, with the names of [`super`] and one of these
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
        let metadata = path.metadata().map_err(|error| Problem::Open(error).at(path))?;
        if !metadata.is_dir() {
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

/// What to make of a source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What it looks like; `None` goes by the files.
    pub source: Option<Source>,
    /// Adds the reverse of every arc and leaves one of parallel ones, as `PyG`'s `ToUndirected` does.
    pub symmetrise: bool,
    /// Leaves out arcs from a node to itself.
    pub remove_self_loops: bool,
    /// The split to take where there are several: of an OGB folder its name, of marks its number, from 0.
    pub split: Option<String>,
    /// How a graph in a file is read. Its number of nodes is needed where it is more than the graph names, and no file of
    /// labels or features tells. The first id is that of the files beside it, too.
    pub reading: ReadOptions,
    /// Labels for a graph in a file: text, one on each line, or an array.
    pub labels: Option<PathBuf>,
    /// Features for a graph in a file: text, one node on each line, or an array.
    pub features: Option<PathBuf>,
    /// A folder with the split for a graph in a file: `train.csv`, `val.csv` and `test.csv`, one node on each line, or arrays
    /// of the names of [`super`].
    pub splits: Option<PathBuf>,
    /// What the first lines of text are.
    pub header: Header,
    /// Replaces what is there.
    pub overwrite: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Nodes of the graph.
    pub nodes: usize,
    /// Edges of the graph.
    pub edges: usize,
    /// Columns of the features.
    pub columns: usize,
    /// Classes of the labels.
    pub classes: usize,
    /// Nodes in the split: to train with, to choose a model by, to judge it by.
    pub splits: [usize; 3],
    /// Nodes at the end that the file of the graph does not name, but files beside it do: they have no edges.
    pub added: usize,
    /// What may hold an array, but was not read.
    pub unread: Unread,
}

impl Imported {
    /// Whether there is nothing but the graph.
    pub fn is_bare(&self) -> bool {
        self.columns == 0 && self.classes == 0 && self.splits == [0; 3]
    }
}

/// Makes the folder `out` of what is at `path`. Nothing is changed unless all of it is there.
///
/// # Errors
/// The first thing that is wrong with the source, or what is in the way of the folder.
pub fn import(path: &Path, out: &Path, options: &Options, progress: &dyn Listener) -> Result<Imported, DatasetError> {
    let source = options.source.map_or_else(|| Source::of(path), Ok)?;
    if is_same(path, out) {
        let (found, accepted) = ("it would replace itself".to_owned(), "another folder to write to");
        return Err(Problem::Unknown { found, accepted }.at(path));
    }
    // What is replaced goes before the new files come, and what is in the old ones may be more than is taken over.
    for file in [Some(path), options.labels.as_deref(), options.features.as_deref()].into_iter().flatten() {
        let beside = file.parent().is_some_and(|folder| is_same(folder, out));
        if options.overwrite && beside && arrays::is_read(&file_name(file)) {
            let (found, accepted) = ("it would be replaced".to_owned(), "another folder to write to");
            return Err(Problem::Unknown { found, accepted }.at(file));
        }
    }
    let writer = Writer::new(out, options.overwrite, progress)?;
    let job = Job { path, options, progress, writer: &writer };
    let imported = match source {
        Source::Ogb => ogb::import(&job),
        Source::Reddit => reddit::import(&job),
        Source::Planetoid | Source::Folder | Source::Arrays => pieces::import(&job, source),
        Source::Edges => edges::import(&job),
    }?;
    writer.finish()?;
    Ok(imported)
}

/// Whether two paths lead to the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let one = if one.as_os_str().is_empty() { Path::new(".") } else { one };
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// A source that is being imported.
struct Job<'a> {
    path: &'a Path,
    options: &'a Options,
    progress: &'a dyn Listener,
    writer: &'a Writer<'a>,
}

impl Job<'_> {
    /// Makes of a graph what the options say, and writes it; its nodes and edges. `symmetrised`: its reader has added the
    /// reverse arcs that are asked for.
    fn graph(&self, mut graph: CscGraph, symmetrised: bool) -> Result<(usize, usize), DatasetError> {
        if self.options.remove_self_loops {
            graph = graph.without_self_loops();
        }
        graph = if self.options.symmetrise && !symmetrised {
            graph.symmetrised().map_err(|error| golden_files::read::Problem::Graph(error).at(self.path))?
        } else {
            graph.ascending()
        };
        self.writer.graph(&graph)?;
        Ok((graph.nodes(), graph.edges()))
    }

    /// Writes the features that are text; how many columns there are.
    fn features(&self, rows: Rows, nodes: usize) -> Result<usize, DatasetError> {
        let start = |columns| Ok((columns, self.writer.rows(nodes, columns)?));
        let made = rows.features(nodes, self.progress, start, |(_, rows), value| Ok(rows.push(value)?))?;
        let Some((columns, rows)) = made else { return Ok(0) };
        rows.finish()?;
        Ok(columns)
    }

    /// The number of the split that is asked for.
    fn split_number(&self) -> Result<Option<usize>, DatasetError> {
        let number = |name: &String| name.parse().map_err(|_| Problem::Number { found: name.clone() }.at(self.path));
        self.options.split.as_ref().map(number).transpose()
    }

    /// Writes labels and split; what came of everything.
    fn finish(
        &self,
        (nodes, edges): (usize, usize),
        columns: usize,
        (labels, classes): (&[i64], usize),
        splits: &Splits,
        unread: Unread,
    ) -> Result<Imported, DatasetError> {
        if classes > 0 {
            self.writer.labels(labels)?;
        }
        self.writer.splits(splits)?;
        let splits = [&splits.train, &splits.valid, &splits.test].map(Vec::len);
        Ok(Imported { nodes, edges, columns, classes, splits, added: 0, unread })
    }
}
