//! What should be known about a file although it was read or written: remarks on how it was understood.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use golden::{Progress, Silent};

use crate::format::Format;

/// Hears what readers and writers remark, beside how far they have come.
pub trait Listener: Progress {
    /// There is a remark.
    fn note(&self, _note: &Note) {}
}

impl Listener for Silent {}

/// A remark on a file, one sentence. [`Listener::note`] hears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: PathBuf,
    /// The remark.
    pub remark: Remark,
}

/// How a file was understood, where it can be understood in another way. Lines and columns are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Which columns of an edge list are the ends of its arcs.
    Columns {
        /// The columns of source and destination.
        used: [UsedColumn; 2],
        /// Their names, known as those of source and destination.
        known: bool,
        /// What the others are called; those without a name by their number.
        passed_over: Vec<String>,
    },
    /// The file says that its edges have no direction.
    Undirected {
        /// In which words.
        says: String,
    },
    /// Column 1, taken for the source, has the number of each line.
    LineNumbers {
        /// The first number.
        first: u32,
    },
    /// The first line may state numbers of nodes and edges.
    FirstLine {
        /// Its number.
        line: u64,
        /// Its text.
        text: String,
    },
    /// The ids may start at 1.
    FirstId {
        /// The nodes that have edges: all but node 0.
        others: u32,
    },
    /// The two columns of an edge list number different nodes.
    Bipartite {
        /// Nodes of the first column. The ids of the second are moved up by this number.
        left: u32,
        /// Nodes of the second column.
        right: u32,
        /// The arcs have their reverse ones.
        symmetrised: bool,
    },
    /// A file states other counts than it has.
    Counts {
        /// What is stated.
        stated: String,
        /// What there is.
        found: String,
    },
    /// Entries of a symmetric matrix stand on both sides of the diagonal.
    BothTriangles {
        /// A line with an entry above it.
        above: u64,
        /// A line with an entry below it.
        below: u64,
    },
    /// A file that was written cannot say how many nodes there are, and the last ones have no edge.
    NodesUnstated {
        /// The number of nodes.
        nodes: u32,
    },
}

/// A column that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedColumn {
    /// Its number, from 1.
    pub number: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// A setting of a reader, with which a file is understood in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// [`ReadOptions::symmetrise`](crate::read::ReadOptions::symmetrise).
    Symmetrise,
    /// [`ReadOptions::first_id`](crate::read::ReadOptions::first_id).
    FirstId(u32),
    /// [`ReadOptions::columns`](crate::read::ReadOptions::columns), where it is known which by number.
    Columns(Option<[usize; 2]>),
    /// [`ReadOptions::format`](crate::read::ReadOptions::format), where it is known which.
    Format(Option<Format>),
    /// [`ReadOptions::nodes`](crate::read::ReadOptions::nodes), where it is known how many.
    Nodes(Option<u32>),
}

impl Remark {
    /// This remark, on `path`.
    pub fn on(self, path: &Path) -> Note {
        Note { path: path.to_owned(), remark: self }
    }

    /// The setting with which the file is understood in the other way.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::Columns { known: true, .. }
            | Self::FirstLine { .. }
            | Self::Counts { .. }
            | Self::BothTriangles { .. }
            | Self::Bipartite { symmetrised: true, .. } => None,
            Self::Columns { known: false, .. } => Some(Setting::Columns(None)),
            Self::Undirected { .. } | Self::Bipartite { symmetrised: false, .. } => Some(Setting::Symmetrise),
            Self::LineNumbers { .. } => Some(Setting::Columns(Some([2, 3]))),
            Self::FirstId { .. } => Some(Setting::FirstId(1)),
            Self::NodesUnstated { nodes } => Some(Setting::Nodes(Some(*nodes))),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.remark)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { used: [source, destination], known, passed_over } => {
                let roles = if *known { ["", ""] } else { [" as source", " as destination"] };
                write!(f, "columns used: {source}{}, {destination}{}", roles[0], roles[1])?;
                write_list(f, passed_over)?;
                if *known { Ok(()) } else { f.write_str("; if others are meant, say which") }
            }
            Self::Undirected { says } => write!(
                f,
                "{says}, and each line was read as one arc; if an edge is on one line only, have the reverse arcs added"
            ),
            Self::LineNumbers { first } => write!(
                f,
                "column 1, taken for the source, counts the lines from {first}; if it is no node, say which columns are used"
            ),
            Self::FirstLine { line, text } => write!(
                f,
                "line {line}, {text:?}, was read as an arc, but is also the number of nodes and of edges that follow; if it \
                 states them, remove it"
            ),
            Self::FirstId { others } => {
                write!(f, "node 0 has no edge, but all {others} others have one; if ids start at 1, say so")
            }
            Self::Bipartite { left, right, symmetrised } => {
                write!(
                    f,
                    "its header says bipartite: column 1 numbers {left} nodes, column 2 {right} others, whose ids were moved \
                     up by {left}"
                )?;
                if *symmetrised {
                    Ok(())
                } else {
                    f.write_str("; for arcs in both directions, have the reverse ones added")
                }
            }
            Self::Counts { stated, found } => write!(f, "its header states {stated}, but there are {found}"),
            Self::BothTriangles { above, below } => write!(
                f,
                "the header says symmetric, and line {above} is above the diagonal, line {below} below it; each entry was \
                 mirrored, so an edge that is on both sides has parallel arcs"
            ),
            Self::NodesUnstated { nodes } => write!(
                f,
                "the format has no place for the number of nodes, {nodes}, and the last of them have no edge; give the \
                 number when it is read"
            ),
        }
    }
}

impl fmt::Display for UsedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.number),
            None => self.number.fmt(f),
        }
    }
}

/// The columns that were passed over; of many the first ones.
fn write_list(f: &mut fmt::Formatter<'_>, passed_over: &[String]) -> fmt::Result {
    const SHOWN: usize = 8;
    if let Some((first, others)) = passed_over.split_first() {
        write!(f, "; passed over: {first}")?;
        others.iter().take(SHOWN - 1).try_for_each(|name| write!(f, ", {name}"))?;
        if passed_over.len() > SHOWN {
            write!(f, " and {} more", passed_over.len() - SHOWN)?;
        }
    }
    Ok(())
}
