//! Why something is not a data set.

use std::{
    io,
    path::{Path, PathBuf},
};

use golden::{read::ReadError, write::WriteError};

use crate::memory::{Free, Gigabytes};

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
    /// An element of a mask that is neither yes nor no.
    #[error("the mask of node {node} is {found}; accepted are 0 and 1")]
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
        "{found} at byte {byte} of data.pkl; accepted is what torch.save makes of a dict of tensors and numbers, and nothing else is run"
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
    /// A name that means nothing here.
    #[error("there is {found:?} in it; accepted are x (features), y (labels) and num_classes")]
    Name {
        /// The name.
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
    /// A line with more or fewer cells.
    #[error("line {line} has {found} cells; accepted are {accepted}, as on the first line")]
    Cells {
        /// The line.
        line: u64,
        /// Its cells.
        found: usize,
        /// Those of the first line.
        accepted: usize,
    },
    /// Another number of lines than nodes.
    #[error("there are {found} lines with {what}; accepted are {accepted}, one a node")]
    Lines {
        /// What a line holds.
        what: &'static str,
        /// Lines found.
        found: u64,
        /// Nodes.
        accepted: u64,
    },
    /// Nothing that can be imported.
    #[error("this is nothing that can be imported: {found}; accepted is {accepted}")]
    Unknown {
        /// What is there.
        found: &'static str,
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

impl Problem {
    /// This problem, of `path`.
    pub(super) fn at(self, path: &Path) -> DatasetError {
        DatasetError::Refused { path: path.to_owned(), problem: self }
    }
}
