//! Why something is not a data set.

use std::{
    io,
    path::{Path, PathBuf},
};

use golden_files::{read::ReadError, write::WriteError};

use super::{names::KNOWN, unread::Unread};
use golden_files::memory::{Free, Gigabytes};

/// What to do with what only Python reads.
const SAVE: &str = "save the arrays instead, for example with numpy.savez('data.npz', edge_index=..., x=..., y=..., \
                    train_mask=..., val_mask=..., test_mask=...), and import that file; objects will be taken by the Python \
                    module, which is planned";

/// A data set that cannot be read or made: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A graph or an array cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The data set cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file or a folder is not what it has to be.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// What is wrong with a file. Nodes, columns and bytes are counted from 0, lines and cells of text from 1.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It cannot be opened, or is no folder.
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// Something that is needed is not there.
    #[error("there are no {what}; accepted is {accepted}")]
    Lacks {
        /// What is missing.
        what: &'static str,
        /// Where it could be.
        accepted: &'static str,
    },
    /// Arrays that are needed are not among those that are there.
    #[error("there are no {what} in it, but {found}; accepted is {accepted}")]
    Absent {
        /// What is missing.
        what: &'static str,
        /// The names of all that is there.
        found: String,
        /// Names that it could have.
        accepted: &'static str,
    },
    /// A source of a data set where a data set belongs.
    #[error("{found}; accepted is a folder with indptr.npy and indices.npy, as trisage dataset import makes it")]
    Unimported {
        /// What it is.
        found: String,
    },
    /// Part of a thing is there, but not the rest.
    #[error("there is {found}, but {missing} is missing; give both, or neither")]
    Half {
        /// The part that is there.
        found: String,
        /// The part that is not.
        missing: &'static str,
    },
    /// Two files say the same thing.
    #[error("{what} are in {first} and in {second}; keep one of the two")]
    Ambiguous {
        /// What they say.
        what: &'static str,
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// An array of other extents.
    #[error("{what} have the extents {found:?}; accepted is {accepted}")]
    Shape {
        /// What the array holds.
        what: &'static str,
        /// Its extents.
        found: Vec<u64>,
        /// Those that belong to the graph.
        accepted: String,
    },
    /// A sparse matrix whose offsets are none.
    #[error("the offset of node {node} is {found}, after {before}; offsets start at 0 and never fall")]
    Offset {
        /// The first node that has such an offset.
        node: usize,
        /// Its offset.
        found: u32,
        /// The offset before.
        before: u32,
    },
    /// A feature that is not a number of float32.
    #[error("column {column} of node {node} is {found}; accepted are finite numbers that float32 holds")]
    Feature {
        /// The node.
        node: u64,
        /// The column.
        column: u64,
        /// What is there.
        found: f64,
    },
    /// A row that cannot be divided by its sum.
    #[error("the features of node {node} have the sum {sum}; divided by it they are no numbers of float32 any more")]
    Sum {
        /// The node.
        node: usize,
        /// The sum.
        sum: f64,
    },
    /// A label that is none.
    #[error("the label of node {node} is {found}; accepted are {accepted}")]
    Label {
        /// The node.
        node: u64,
        /// What is there.
        found: f64,
        /// What could be.
        accepted: String,
    },
    /// A number of classes that is none.
    #[error("the number of classes is {found}; accepted are {accepted}")]
    Classes {
        /// What is there.
        found: f64,
        /// What could be.
        accepted: String,
    },
    /// An element that is no whole number, or one out of range.
    #[error("element {element} is {found}; accepted are whole numbers {min} to {max}")]
    Element {
        /// Its place in the array.
        element: u64,
        /// What is there.
        found: f64,
        /// The smallest number that is accepted.
        min: u32,
        /// The largest number that is accepted.
        max: u32,
    },
    /// An element that is no node of the graph.
    #[error("element {element} is {found}; accepted are the nodes of the graph, {min} to {max}")]
    NodeId {
        /// Its place in the array.
        element: u64,
        /// What is there.
        found: f64,
        /// The first node.
        min: u32,
        /// The last node.
        max: u32,
    },
    /// An element of a mask that is neither yes nor no.
    #[error("the mask of node {node} is {found}; accepted are 0 and 1 (node ids belong in train_idx and the like)")]
    Mask {
        /// The node.
        node: u64,
        /// What is there.
        found: f64,
    },
    /// A type of node that is of no part of the split.
    #[error("the type of node {node} is {found}; accepted are 1 (train), 2 (valid), 3 (test) and 0 (none of them)")]
    NodeType {
        /// The node.
        node: u64,
        /// What is there.
        found: f64,
    },
    /// A node that is in the split twice.
    #[error("node {node} is given twice, first in {first}; the parts of a split are distinct and disjoint")]
    Twice {
        /// The node.
        node: u64,
        /// The file that has it first.
        first: String,
    },
    /// A node of the split about which nothing is known.
    #[error("node {node} is in the split, but has no label; leave it away")]
    Unlabelled {
        /// The node.
        node: u64,
    },
    /// A split without nodes to train with.
    #[error("no node is in it; there must be one to train with")]
    Untrained,
    /// A split that is not named by a number.
    #[error("the splits have numbers, from 0; there is no split {found:?}")]
    Number {
        /// What was asked for.
        found: String,
    },
    /// Several splits, of which none was chosen, or one that is not there.
    #[error("{}", choice(*splits, *asked))]
    Choice {
        /// How many there are.
        splits: u64,
        /// The one that was asked for.
        asked: Option<usize>,
    },
    /// Arrays with different numbers of splits.
    #[error("there are {found} splits in it; accepted are {accepted}, as in {first}")]
    Splits {
        /// How many there are.
        found: u64,
        /// The array that has another number.
        first: String,
        /// That number.
        accepted: u64,
    },
    /// Nothing but the graph was read, and there are other arrays.
    #[error("{}", bare(.0))]
    Unread(Unread),
    /// Something that only Python can read.
    #[error("this is {found}, which only Python reads; {SAVE}")]
    Object {
        /// What it is.
        found: String,
    },
    /// Hardly any node has an arc.
    #[error(
        "the largest node id makes it a graph of {nodes} nodes, but there are only {arcs} arcs; give num_nodes beside it if so many nodes are meant"
    )]
    Sparse {
        /// The number of nodes.
        nodes: usize,
        /// The arcs.
        arcs: u64,
    },
    /// More memory than there is.
    #[error("{what} take {needed} of memory, and {free}")]
    Memory {
        /// What takes it.
        what: &'static str,
        /// How much.
        needed: Gigabytes,
        /// How much there is.
        free: Free,
    },
    /// A zip file that is none, or not one of `torch.save`.
    #[error(
        "cannot be read as what torch.save writes: {found}; accepted is the zip file that torch 1.6 and newer write"
    )]
    Archive {
        /// What is wrong.
        found: String,
    },
    /// A pickle with something else in it than a dict of tensors.
    #[error(
        "{found} at byte {byte} of data.pkl; accepted is what torch.save makes of a tensor, or of a dict of tensors, numbers and words; of anything else {SAVE}"
    )]
    Pickle {
        /// The place.
        byte: usize,
        /// What is there.
        found: String,
    },
    /// A tensor that reaches outside its storage.
    #[error("a tensor needs element {needed} of storage {storage:?}, which has {elements}")]
    Storage {
        /// The storage.
        storage: String,
        /// The last element needed.
        needed: u128,
        /// Elements that it has.
        elements: u64,
    },
    /// Not a safetensors file.
    #[error("cannot be read as safetensors: {found}")]
    Safetensors {
        /// What is wrong.
        found: String,
    },
    /// A type of elements that is not read.
    #[error("{what} are of type {found}; accepted are {accepted}")]
    Type {
        /// What has it.
        what: &'static str,
        /// The type.
        found: String,
        /// Those that are.
        accepted: &'static str,
    },
    /// A cell of text that is something else.
    #[error("cell {cell} of line {line} is {found:?}; accepted is {accepted}")]
    Cell {
        /// The line.
        line: u64,
        /// The cell in it.
        cell: usize,
        /// Its text, or how it starts.
        found: String,
        /// What it could be.
        accepted: String,
    },
    /// Another number of lines than nodes.
    #[error("there are {found} lines with {what}; accepted are {accepted}, {because}")]
    Lines {
        /// What a line holds.
        what: &'static str,
        /// Lines found.
        found: u64,
        /// Nodes.
        accepted: u64,
        /// Why so many.
        because: String,
    },
    /// A line with several cells where one belongs.
    #[error("line {line} has {found} cells; accepted is {accepted}")]
    Single {
        /// The line.
        line: u64,
        /// Its cells.
        found: usize,
        /// What the one could be.
        accepted: String,
    },
    /// A line about another node than its place says.
    #[error(
        "line {line} is about node {found:?}; accepted is node {expected}, as the lines stand in the order of the nodes"
    )]
    Order {
        /// The line.
        line: u64,
        /// The node, as it is written.
        found: String,
        /// The node whose line this is.
        expected: u64,
    },
    /// A first line of words that may name columns, or may not.
    #[error(
        "line 1 is {found:?}; accepted are {values}, names of columns that are known ({names}), or any first line with --header yes"
    )]
    Header {
        /// The line, or how it starts.
        found: String,
        /// What lines hold.
        values: &'static str,
        /// The names that are known.
        names: &'static str,
    },
    /// A first line that counts columns, or has the features of the first node.
    #[error(
        "line 1 is {found:?}: it may number the columns, or be the features of the first node; say with --header yes or no whether it names columns"
    )]
    Numbered {
        /// The line, or how it starts.
        found: String,
    },
    /// A column of node ids that is not the first.
    #[error("column {column} is named as one of node ids; accepted is the first column")]
    Misplaced {
        /// Its place, from 1.
        column: usize,
    },
    /// Nothing that can be imported.
    #[error("this is nothing that can be imported: {found}; accepted is {accepted}")]
    Unknown {
        /// What is there.
        found: String,
        /// What could be.
        accepted: &'static str,
    },
    /// More than one split, or not the one asked for.
    #[error("the splits are {found:?}; choose one of them by its name")]
    Split {
        /// Those that are there.
        found: Vec<String>,
    },
}

/// What there is to choose from.
fn choice(splits: u64, asked: Option<usize>) -> String {
    let range = match splits {
        1 => "0, the only one".to_owned(),
        _ => format!("0 to {}", splits - 1),
    };
    match asked {
        Some(asked) => format!("there is no split {asked}; accepted is {range}"),
        None => format!("there are {splits} splits in it; choose one of {range} (--split)"),
    }
}

/// Why a graph alone is refused.
fn bare(unread: &Unread) -> String {
    let objects = if unread.has_objects() { format!("; of what only Python reads, {SAVE}") } else { String::new() };
    format!(
        "there are no features, no labels and no split, and these were not read: {unread}; known names are {KNOWN}; rename \
         them, or move them elsewhere if the graph is all there is{objects}"
    )
}

impl Problem {
    /// This problem, of `path`.
    pub(super) fn at(self, path: &Path) -> DatasetError {
        DatasetError::Refused { path: path.to_owned(), problem: self }
    }
}
