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
mod source;

use std::path::{Path, PathBuf};

use golden::CscGraph;
use golden_files::{Listener, read::ReadOptions};

pub use self::source::{Source, SourceError};
pub use super::text::{Header, HeaderError};
use super::{
    Splits, Unread,
    arrays::{self, file_name},
    error::{DatasetError, Problem},
    text::Rows,
    write::Writer,
};

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
    for file in [Some(path), options.labels.as_deref(), options.features.as_deref()].into_iter().flatten() {
        source::check_kind(file)?;
    }
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
