//! Data sets from what people download.
//!
//! Whatever the source, the result is a folder as [`Dataset::load`](super::Dataset::load) reads it: the in-neighbours of each
//! node ascending, dense features as float32, labels as int64. Features that come as text go to their file number by number
//! and never stand in memory; of the graph there are at most two copies.

mod edges;
mod ogb;
mod pieces;
mod reddit;
mod text;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use golden::{CscGraph, Progress};

use super::{
    Splits,
    error::{DatasetError, Problem},
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
    /// A graph in one file, such as an edge list, and files beside it that are named on their own.
    Edges,
}

impl Source {
    const NAMED: [(&str, Self); 5] = [
        ("ogb", Self::Ogb),
        ("reddit", Self::Reddit),
        ("planetoid", Self::Planetoid),
        ("folder", Self::Folder),
        ("edges", Self::Edges),
    ];

    /// What a path looks like.
    fn of(path: &Path) -> Result<Self, DatasetError> {
        let metadata = path.metadata().map_err(|error| Problem::Open(error).at(path))?;
        if !metadata.is_dir() {
            return Ok(Self::Edges);
        }
        let has = |name: &str| path.join(name).exists() || path.join(format!("{name}.gz")).exists();
        let pickles = || {
            let mut names = path.read_dir().into_iter().flatten().flatten().map(|file| file.file_name());
            names.any(|name| name.to_str().is_some_and(|name| name.starts_with("ind.")))
        };
        match () {
            () if has("raw/edge.csv") => Ok(Self::Ogb),
            () if has("reddit_data.npz") || has("reddit_graph.npz") => Ok(Self::Reddit),
            () if has("raw_indptr.npy") => Ok(Self::Planetoid),
            () if has("indptr.npy") => Ok(Self::Folder),
            () => {
                let found = if pickles() { "the ind.* files are pickles of Python objects" } else { "a folder" };
                let accepted = "an OGB folder (raw/edge.csv.gz), reddit_data.npz with reddit_graph.npz, a folder of arrays \
                                (indptr.npy, or raw_indptr.npy as of Planetoid), or the file of a graph";
                Err(Problem::Unknown { found, accepted }.at(path))
            }
        }
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
        named.map(|&(_, source)| source).ok_or_else(|| SourceError(text.to_owned()))
    }
}

/// A name that no kind of source has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of data set '{0}'; give one of ogb, reddit, planetoid, folder, edges")]
pub struct SourceError(String);

/// What to make of a source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What it looks like; `None` goes by the files.
    pub source: Option<Source>,
    /// Adds the reverse of every arc and leaves one of parallel ones, as `PyG`'s `ToUndirected` does.
    pub symmetrise: bool,
    /// Leaves out arcs from a node to itself.
    pub remove_self_loops: bool,
    /// The split to take, where an OGB folder has several.
    pub split: Option<String>,
    /// Nodes of a graph in a file, where they are more than it names and no file of labels or features tells.
    pub nodes: Option<u32>,
    /// Labels for a graph in a file: text, one a line.
    pub labels: Option<PathBuf>,
    /// Features for a graph in a file: text, one node a line, between commas, spaces or tabs.
    pub features: Option<PathBuf>,
    /// A folder with the split for a graph in a file: `train.csv`, `valid.csv` and `test.csv`, one node a line.
    pub splits: Option<PathBuf>,
    /// Replaces what is there.
    pub overwrite: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Makes the folder `out` of what is at `path`. Nothing is changed unless all of it is there.
///
/// # Errors
/// The first thing that is wrong with the source, or what is in the way of the folder.
pub fn import(path: &Path, out: &Path, options: &Options, progress: &dyn Progress) -> Result<Imported, DatasetError> {
    let source = options.source.map_or_else(|| Source::of(path), Ok)?;
    if let (Ok(from), Ok(to)) = (path.canonicalize(), out.canonicalize())
        && from == to
    {
        let accepted = "another folder to write to";
        return Err(Problem::Unknown { found: "it would replace itself", accepted }.at(path));
    }
    let writer = Writer::new(out, options.overwrite, progress)?;
    let job = Job { path, options, progress, writer: &writer };
    let imported = match source {
        Source::Ogb => ogb::import(&job),
        Source::Reddit => reddit::import(&job),
        Source::Planetoid => pieces::import(&job, true),
        Source::Folder => pieces::import(&job, false),
        Source::Edges => edges::import(&job),
    }?;
    writer.finish()?;
    Ok(imported)
}

/// A source that is being imported.
struct Job<'a> {
    path: &'a Path,
    options: &'a Options,
    progress: &'a dyn Progress,
    writer: &'a Writer<'a>,
}

impl Job<'_> {
    /// Makes of a graph what the options say, and writes it; its nodes and edges.
    fn graph(&self, mut graph: CscGraph) -> Result<(usize, usize), DatasetError> {
        if self.options.remove_self_loops {
            graph = graph.without_self_loops();
        }
        graph = if self.options.symmetrise {
            graph.symmetrised().map_err(|error| golden_files::read::Problem::Graph(error).at(self.path))?
        } else {
            graph.ascending()
        };
        self.writer.graph(&graph)?;
        Ok((graph.nodes(), graph.edges()))
    }

    /// Writes labels and split; what came of everything.
    fn finish(
        &self,
        (nodes, edges): (usize, usize),
        columns: usize,
        (labels, classes): (&[i64], usize),
        splits: &Splits,
    ) -> Result<Imported, DatasetError> {
        if classes > 0 {
            self.writer.labels(labels)?;
        }
        self.writer.splits(splits)?;
        let splits = [&splits.train, &splits.valid, &splits.test].map(Vec::len);
        Ok(Imported { nodes, edges, columns, classes, splits })
    }
}
