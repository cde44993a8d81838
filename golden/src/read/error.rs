//! Why a file is not a graph.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{format::Format, graph::GraphError, id::ID_MAX, memory::Shortage};

/// A graph that cannot be read: where, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct ReadError {
    /// The file or folder; an array within an `.npz` is written as a file within it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a file. Lines and Matrix Market entries are counted from 1, bytes and array elements from 0.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It is not there, or may not be read.
    #[error("cannot be opened: {error}")]
    Open {
        /// What the system says.
        error: io::Error,
    },
    /// The system stopped in the middle.
    #[error("cannot be read past byte {byte}: {error}")]
    Read {
        /// Bytes read before.
        byte: u64,
        /// What the system says.
        error: io::Error,
    },
    /// The compressed data is cut short or damaged.
    #[error("the compressed data is damaged after {byte} bytes of content: {error}; compress the file again")]
    Compressed {
        /// Uncompressed bytes that were read before.
        byte: u64,
        /// What the decoder says.
        error: io::Error,
    },
    /// What it holds is more than there is memory for.
    #[error("{0}")]
    Memory(#[from] Shortage),
    /// The extension is of no graph format.
    #[error("its extension is of no graph format; accepted are {}, or a format that is named outright", Format::NAMES)]
    UnknownFormat,
    /// A folder where a file belongs.
    #[error("this is a folder, but format '{format}' is one file")]
    IsFolder {
        /// The format asked for.
        format: Format,
    },
    /// A file where a folder belongs.
    #[error("this is a file, but format 'folder' is a folder with indptr.npy and indices.npy")]
    IsFile,
    /// A folder without one of the two arrays.
    #[error("the folder has neither {array}.npy nor {array}.npy.gz; a graph folder holds indptr and indices")]
    FolderLacks {
        /// "indptr" or "indices".
        array: &'static str,
    },
    /// `nodes` was asked for where the file itself says it.
    #[error("the number of nodes is given as {nodes}, but format '{format}' states it; it can be given for text only")]
    NodesGiven {
        /// The number asked for.
        nodes: u32,
        /// The format of the file.
        format: Format,
    },
    /// A number of nodes that no graph has.
    #[error("the number of nodes is given as {nodes}; accepted are 1 to {ID_MAX}")]
    NodesRange {
        /// The number asked for.
        nodes: u32,
    },
    /// Fewer nodes were asked for than the file states.
    #[error("the number of nodes is given as {nodes}, but the file is for {needed}")]
    NodesTooFew {
        /// The number asked for.
        nodes: u32,
        /// The number in the file.
        needed: u32,
    },

    /// The magic of `.npy` is missing.
    #[error("this is not a .npy file; it starts with \"{found}\", not with \"\\x93NUMPY\"")]
    NotNpy {
        /// The first bytes, escaped as in a byte string.
        found: String,
    },
    /// A version of `.npy` that does not exist.
    #[error("the .npy version is {major}.{minor}; accepted are 1.0, 2.0 and 3.0")]
    NpyVersion {
        /// Its first number.
        major: u8,
        /// Its second number.
        minor: u8,
    },
    /// The header of a `.npy` file is too long or not what `NumPy` writes for a plain array.
    #[error(
        "the .npy header is {found:?}; it must be a dictionary of descr, fortran_order and shape for a plain array"
    )]
    NpyHeader {
        /// The header, or how it starts.
        found: String,
    },
    /// A dtype that is not accepted.
    #[error("the dtype is {found:?}; accepted are {accepted}")]
    Dtype {
        /// The dtype in the file.
        found: String,
        /// Those that are accepted.
        accepted: &'static str,
    },
    /// An array of another rank.
    #[error("the array has {} dimensions {shape:?}{}; it must have {accepted}", shape.len(), if *fortran { " in Fortran order" } else { "" })]
    Rank {
        /// Its extents.
        shape: Vec<u64>,
        /// Whether it is stored by columns.
        fortran: bool,
        /// The rank that is accepted.
        accepted: usize,
    },
    /// More or fewer elements than some limit or other array allows.
    #[error("the array has {found} elements; it must have {accepted}")]
    Length {
        /// Elements that the header states.
        found: u64,
        /// What is accepted.
        accepted: String,
    },
    /// The file ends before its header or its data does.
    #[error("the file ends at byte {byte}, but {expected}")]
    Truncated {
        /// Bytes found.
        byte: u64,
        /// What was still to come.
        expected: String,
    },
    /// There is more after the data.
    #[error("there is data after the last of {elements} elements, from byte {byte} on; the file must end there")]
    Trailing {
        /// Elements that the header states.
        elements: u64,
        /// Where the file should end.
        byte: u64,
    },
    /// A value that is not possible.
    #[error("element {element} is {found}; accepted are 0 to {max}")]
    Element {
        /// Its place in the array.
        element: u64,
        /// The value.
        found: i128,
        /// The largest value possible.
        max: u32,
    },
    /// The arrays are readable, but are no graph.
    #[error("{0}")]
    Graph(GraphError),

    /// Not a zip file, or a damaged one.
    #[error("the .npz cannot be read as a zip file: {error}")]
    Zip {
        /// What the zip reader says.
        error: io::Error,
    },
    /// An array that is missing in an `.npz`.
    #[error("the .npz has no array '{array}', but {found:?}; {accepted}")]
    NpzLacks {
        /// The array.
        array: &'static str,
        /// The members that are there (the first few).
        found: Vec<String>,
        /// What a file of this kind has.
        accepted: &'static str,
    },
    /// A sparse matrix in another layout.
    #[error("the sparse matrix has format {found:?}; accepted are \"csc\", \"csr\" and \"coo\"")]
    Layout {
        /// The layout.
        found: String,
    },
    /// A matrix that is not square.
    #[error("the matrix has {rows} rows and {columns} columns; the adjacency of a graph is square")]
    NotSquare {
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
    },
    /// Ends of arcs without the other end.
    #[error("row has {rows} elements, but col has {columns}; each entry has one of both")]
    Coordinates {
        /// Elements of `row`.
        rows: usize,
        /// Elements of `col`.
        columns: usize,
    },
    /// `indptr` and `shape` disagree.
    #[error("indptr has {offsets} elements, but shape says {nodes} nodes; there must be one more than nodes")]
    Shape {
        /// Elements of `indptr`.
        offsets: usize,
        /// Rows and columns.
        nodes: u64,
    },

    /// A line that is not text.
    #[error("line {line} is not UTF-8; graphs are read from plain text")]
    NotText {
        /// Its number.
        line: u64,
    },
    /// A line without end.
    #[error("line {line} is longer than {limit} bytes; no line may be")]
    LongLine {
        /// Its number.
        line: u64,
        /// The most bytes that a line may have.
        limit: usize,
    },
    /// A line that is something else.
    #[error("line {line} is {found:?}; accepted is {accepted}")]
    Line {
        /// Its number.
        line: u64,
        /// Its text, or how it starts.
        found: String,
        /// What it could be.
        accepted: &'static str,
    },
    /// An id that cannot be one.
    #[error("line {line} has node id {found}; accepted are whole numbers {min} to {max}")]
    Id {
        /// The line.
        line: u64,
        /// The id as it is written.
        found: String,
        /// The smallest possible.
        min: u32,
        /// The largest possible.
        max: u32,
    },
    /// More nodes or edges than there can be.
    #[error("line {line} is one too many: at most {ID_MAX} (2^31 - 1) edges are possible")]
    TooManyEdges {
        /// The line.
        line: u64,
    },
    /// An edge list without edges and without a number of nodes.
    #[error("there is not one edge; for a graph of isolated nodes give the number of nodes")]
    NoEdges,
    /// Hardly any node has an edge.
    #[error(
        "line {line} makes it a graph of {nodes} nodes, but there are only {edges} edges; number the nodes without gaps, or \
         give the number of nodes if so many isolated ones are meant"
    )]
    Sparse {
        /// The number of nodes.
        nodes: u32,
        /// Where it comes from.
        line: u64,
        /// Edges in the file.
        edges: usize,
    },
    /// Another kind of Matrix Market file.
    #[error("the Matrix Market header says {found:?}; accepted is {accepted}")]
    MatrixMarket {
        /// The word in the header.
        found: String,
        /// Those accepted in its place.
        accepted: &'static str,
    },
    /// A Matrix Market file without its size line.
    #[error("there is no size line; it must be {accepted}")]
    NoSize {
        /// What it looks like.
        accepted: &'static str,
    },
    /// Another number of entries than stated.
    #[error("there are {found} entries, but the size line says {stated}")]
    Entries {
        /// Entries found.
        found: u64,
        /// Entries that the size line states.
        stated: u64,
    },
}

impl Problem {
    /// This problem, of `path`.
    pub fn at(self, path: &Path) -> ReadError {
        ReadError { path: path.to_owned(), problem: self }
    }
}

/// The start of a text for an error message.
pub fn excerpt(text: &str) -> String {
    const CHARS: usize = 80;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
