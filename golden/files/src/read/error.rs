//! Why a file is not a graph.

use std::{
    io,
    path::{Path, PathBuf},
};

use golden::{GraphError, ID_MAX};

use super::{
    columns::{Column, Doubt},
    delimiter::Delimiter,
};
use crate::{compression::Compression, format::Format, memory::Shortage, note::Setting};

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
    /// The compressed data asks for more memory than a decoder may have.
    #[error(
        "the compressed data takes a dictionary of more than {} MiB; compress the file again, with a smaller one",
        limit >> 20
    )]
    Dictionary {
        /// The largest dictionary, in bytes.
        limit: u64,
    },
    /// An archive, or a compression that is not read.
    #[error(
        "this is {found}{}; unpack it, and give the file that is in it (gzip, bzip2, xz and zstd around one file are read)",
        inside.map_or_else(String::new, |inside| format!(" inside {}", inside.name()))
    )]
    Container {
        /// What it is.
        found: &'static str,
        /// The compression that is around it.
        inside: Option<Compression>,
    },
    /// The extension is of no graph format.
    #[error("its extension is of no graph format; accepted are {}, or any name if the format is named", Format::NAMES)]
    UnknownFormat,
    /// The extension is of a format that is not read.
    #[error("its extension is of no graph format: {what}")]
    ForeignFormat {
        /// What it is, and what to do.
        what: &'static str,
    },
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
    #[error(
        "the folder has no {array}.npy, nor one with .gz, .bz2, .xz or .zst; a graph folder holds indptr and indices"
    )]
    FolderLacks {
        /// "indptr" or "indices".
        array: &'static str,
    },
    /// A folder with one array in two files.
    #[error("the folder has {first} and {second}; keep one of the two")]
    FolderTwice {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// `nodes` was asked for where the file itself says it.
    #[error(
        "the number of nodes is given as {nodes}, but format '{format}' states it; it can be given for edge lists and \
         Matrix Market"
    )]
    NodesGiven {
        /// The number asked for.
        nodes: u32,
        /// The format of the file.
        format: Format,
    },
    /// Something was asked for that only edge lists have.
    #[error("{what} given, but format '{format}' settles that; edge lists leave it open")]
    EdgeListOnly {
        /// What is given, with "is" or "are".
        what: &'static str,
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
    /// A compressed file where an `.npz` belongs.
    #[error(
        "this is {}, and an .npz is a zip file, compressed in itself; unpack what is around it",
        around.name()
    )]
    PackedZip {
        /// The compression.
        around: Compression,
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
    /// Text in another encoding.
    #[error("this is UTF-16 text; save it as UTF-8")]
    Utf16,
    /// A byte that no text has.
    #[error("line {line} has a NUL byte; text is read as UTF-8")]
    Nul {
        /// The line.
        line: u64,
    },
    /// A quote without its other one, or a quoted field without end.
    #[error("line {line} has a double quote that is never closed")]
    OpenQuote {
        /// The line on which it is.
        line: u64,
    },
    /// A record with more or fewer fields than the first.
    #[error(
        "line {line} has {found} columns, but line {first} has {columns}; every line of a table has the same columns"
    )]
    Ragged {
        /// The line.
        line: u64,
        /// Its fields.
        found: usize,
        /// The first line with fields.
        first: u64,
        /// Its fields.
        columns: usize,
    },
    /// An empty line where each line stands for something.
    #[error("line {line} is empty, but lines with values follow")]
    EmptyLine {
        /// The line.
        line: u64,
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
    /// Something else in the place of an id.
    #[error(
        "line {line} has {found:?} in column {column}, where a node id belongs; accepted are whole numbers {min} to {max}"
    )]
    NotAnId {
        /// The line.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// What is there.
        found: String,
        /// The smallest possible id.
        min: u32,
        /// The largest possible.
        max: u32,
    },
    /// An id before the first one.
    #[error("line {line} has node id {found}, but ids start at {first}: that was asked for, or the header is KONECT's")]
    BelowFirst {
        /// The line.
        line: u64,
        /// The id.
        found: u32,
        /// The first one.
        first: u32,
    },
    /// A line with a single column.
    #[error("line {line} is {found:?}; accepted is 'source destination', two node ids, on each line")]
    OneColumn {
        /// The line.
        line: u64,
        /// Its text.
        found: String,
    },
    /// Lines of different lengths in an edge list.
    #[error(
        "line {line} has {found} column{}{}, but line {first} has {columns}; an edge list has the same columns on every line, \
         and adjacency lists are read in METIS's format",
        if *found == 1 { "" } else { "s" },
        delimiter.between()
    )]
    Adjacency {
        /// The line.
        line: u64,
        /// Its columns.
        found: usize,
        /// The first line with columns.
        first: u64,
        /// Its columns.
        columns: usize,
        /// What separates them.
        delimiter: Delimiter,
    },
    /// Text in a column of an edge list that has no name.
    #[error(
        "line {line} has {found:?} in column {column}, and no line names the columns; accepted are numbers there, or say \
         which columns are used"
    )]
    Unnamed {
        /// The line.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// What is there.
        found: String,
    },
    /// Names of columns that do not say which are source and destination.
    #[error("line {line} names the columns {names:?}{}; say which are used", match doubt {
        Doubt::Unknown => ", of which no two are known as source and destination",
        Doubt::Several => ", of which several may be source or destination",
        Doubt::HeadAndTail => ": in graph theory an arc goes from tail to head, in a knowledge graph from head to tail",
    })]
    Columns {
        /// The line.
        line: u64,
        /// The names.
        names: Vec<String>,
        /// What is not clear.
        doubt: Doubt,
    },
    /// A column that was asked for and is not there.
    #[error("there is no column {wanted}; {}", match names {
        Some(names) => format!("accepted are numbers 1 to {columns}, or one of the names {names:?}"),
        None => format!("accepted are numbers 1 to {columns}, because no line names the columns"),
    })]
    NoColumn {
        /// The column asked for.
        wanted: Column,
        /// The names that there are.
        names: Option<Vec<String>>,
        /// How many columns there are.
        columns: usize,
    },
    /// Source and destination are one column.
    #[error("source and destination are both column {column}; give two columns")]
    SameColumn {
        /// The column, from 1.
        column: usize,
    },
    /// Arcs of several graphs.
    #[error("line {line} is of graph {found:?}, line {first} of graph {graph:?}; a file of one graph is accepted")]
    SeveralGraphs {
        /// The line.
        line: u64,
        /// Its graph.
        found: String,
        /// The first line.
        first: u64,
        /// Its graph.
        graph: String,
    },
    /// A file that says that it is of another format.
    #[error("its header is that of format '{format}', but it is read as an edge list; name the format")]
    OtherFormat {
        /// What it says.
        format: Format,
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
        "{place} makes it a graph of {nodes} nodes, but there are only {edges} edges; number the nodes without gaps, or \
         give the number of nodes if so many isolated ones are meant"
    )]
    Sparse {
        /// The number of nodes.
        nodes: u32,
        /// Where it comes from: a line, or "its header".
        place: String,
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
    /// Something else in the place of a value.
    #[error("line {line} has the value {found:?}; accepted are numbers, nan and inf")]
    Value {
        /// The line.
        line: u64,
        /// What is there.
        found: String,
    },
    /// More or fewer lines than nodes in a METIS file.
    #[error("{}, but the header says {stated} nodes, each of which has one line, which may be empty", match found {
        Ok(found) => format!("there are lines for {found} nodes"),
        Err(line) => format!("line {line} is one more"),
    })]
    NodeLines {
        /// The lines for nodes, or the first one that is too many.
        found: Result<usize, u64>,
        /// Nodes that the header states.
        stated: u32,
    },
    /// More or fewer neighbours than edges in a METIS file.
    #[error(
        "there are {found} neighbours on all lines, but the header says {stated} edges, each of which is on two lines"
    )]
    Neighbours {
        /// Neighbours found.
        found: usize,
        /// Edges that the header states.
        stated: u64,
    },
    /// An edge that a METIS file has in one direction only.
    #[error(
        "node {neighbour} is a neighbour of node {node}, but not the other way round as often; METIS's graphs are undirected"
    )]
    OneWay {
        /// The node whose line has the neighbour, from 1.
        node: u32,
        /// The neighbour, from 1.
        neighbour: u32,
    },
    /// A self-loop in a METIS file.
    #[error("line {line} has node {node} as its own neighbour; METIS's graphs have no self-loops")]
    SelfLoop {
        /// The line.
        line: u64,
        /// The node, from 1.
        node: u32,
    },
    /// A line of a METIS file that is too short.
    #[error("line {line} is too short: the header says that {accepted} numbers stand before the neighbours")]
    NodeWeights {
        /// The line.
        line: u64,
        /// The numbers before the neighbours.
        accepted: usize,
    },
    /// A neighbour without its weight in a METIS file.
    #[error("line {line} ends after neighbour {neighbour}; the header says that a weight follows each neighbour")]
    EdgeWeight {
        /// The line.
        line: u64,
        /// The neighbour, from 1.
        neighbour: u32,
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

    /// The setting that the sentence asks for.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::UnknownFormat => Some(Setting::Format(None)),
            Self::OtherFormat { format } => Some(Setting::Format(Some(*format))),
            Self::Adjacency { .. } => Some(Setting::Format(Some(Format::Metis))),
            Self::BelowFirst { .. } => Some(Setting::FirstId(0)),
            Self::Unnamed { .. } => Some(Setting::Columns(Some([1, 2]))),
            Self::Columns { .. } | Self::NoColumn { .. } | Self::SameColumn { .. } => Some(Setting::Columns(None)),
            Self::NoEdges | Self::Sparse { .. } => Some(Setting::Nodes(None)),
            _ => None,
        }
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
