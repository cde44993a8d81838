//! Features, labels and nodes as text: a line for each node, or a node on each line.
//!
//! The first line may name the columns, see [`Header`]. A first column that is named as one of nodes, or the first of two
//! columns of labels, says which node a line is about; the lines stand in the order of the nodes all the same.

mod header;
mod lines;

use std::path::Path;

use golden::{NodeId, Progress, Silent, read::excerpt};

use self::header::{First, Kind};
pub use self::header::{Header, HeaderError};
use super::{
    error::{DatasetError, Problem},
    features::number,
    labels::{self, Labels},
    names::Form,
};

/// How tables are read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub(super) header: Header,
    /// The id of the first node.
    pub(super) first_id: u32,
}

/// A table that has been looked at once.
pub(super) struct Table<'a> {
    path: &'a Path,
    kind: Kind,
    reading: Reading,
    /// All lines, with the one that may name columns.
    lines: u64,
    first: First,
}

/// A table of which it is known what its lines are.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    path: &'a Path,
    /// Whether the first line names the columns.
    header: bool,
    /// Whether the first column says which node a line is about.
    nodes: bool,
    first_id: u32,
}

impl<'a> Table<'a> {
    /// Looks at features.
    pub(super) fn features(path: &'a Path, reading: Reading, progress: &dyn Progress) -> Result<Self, DatasetError> {
        Self::look(path, Kind::Features, reading, progress)
    }

    /// Looks at labels.
    pub(super) fn labels(path: &'a Path, reading: Reading, progress: &dyn Progress) -> Result<Self, DatasetError> {
        Self::look(path, Kind::Labels, reading, progress)
    }

    fn look(path: &'a Path, kind: Kind, reading: Reading, progress: &dyn Progress) -> Result<Self, DatasetError> {
        let (mut lines, mut first) = (0, First::default());
        lines::each(path, progress, |_, cells| {
            if lines == 0 {
                first = First::of(kind, cells);
            }
            lines += 1;
            Ok(())
        })?;
        Ok(Self { path, kind, reading, lines, first })
    }

    /// How many nodes it has lines for, where that is certain without knowing how many there are.
    pub(super) fn certain(&self) -> Option<u64> {
        Some(self.lines - u64::from(self.header(None).ok()?))
    }

    /// Decides what the lines are; `nodes` is how many nodes there are, where that is known.
    pub(super) fn rows(&self, nodes: Option<u64>) -> Result<Rows<'a>, DatasetError> {
        let header = self.header(nodes).map_err(|problem| problem.at(self.path))?;
        let nodes = match self.kind {
            Kind::Features => header && self.first.nodes,
            Kind::Labels => self.first.columns == 2 && (!header || self.first.nodes),
            Kind::Nodes | Kind::Marks => false,
        };
        if let (true, Some(column)) = (header, self.first.misplaced) {
            return Err(Problem::Misplaced { column: column + 1 }.at(self.path));
        }
        Ok(Rows { path: self.path, header, nodes, first_id: self.reading.first_id })
    }

    /// How many nodes there are lines for.
    pub(super) fn count(&self, rows: Rows) -> u64 {
        self.lines - u64::from(rows.header && self.lines > 0)
    }

    fn header(&self, nodes: Option<u64>) -> Result<bool, Problem> {
        match self.reading.header {
            Header::Yes => Ok(self.lines > 0),
            Header::No => Ok(false),
            Header::Auto if !self.first.words || self.lines == 0 => Ok(false),
            Header::Auto if self.first.names || nodes.is_some_and(|nodes| self.lines == nodes + 1) => Ok(true),
            Header::Auto => Err(Problem::Header { found: excerpt(&self.first.text), names: self.kind.names() }),
        }
    }
}

impl<'a> Rows<'a> {
    /// Lines none of which names columns, or says which node it is about.
    pub(super) fn plain(path: &'a Path) -> Self {
        Self { path, header: false, nodes: false, first_id: 0 }
    }

    /// Hands on the number of each line that is not a header, and its cells but for the one that names its node; how many
    /// such lines there are.
    fn each(
        self,
        progress: &dyn Progress,
        mut take: impl FnMut(u64, &[&str]) -> Result<(), DatasetError>,
    ) -> Result<u64, DatasetError> {
        let (mut header, mut row) = (self.header, 0);
        lines::each(self.path, progress, |line, cells| {
            if std::mem::take(&mut header) {
                return Ok(());
            }
            let values = if self.nodes {
                let expected = row + u64::from(self.first_id);
                if cells[0].parse() != Ok(expected) {
                    let found = excerpt(cells[0]);
                    return Err(Problem::Order { line, found, expected }.at(self.path));
                }
                &cells[1..]
            } else {
                cells
            };
            row += 1;
            take(line, values)
        })?;
        Ok(row)
    }

    /// The one cell of each line, as `convert` makes it of its text.
    fn single<T>(
        self,
        accepted: &str,
        progress: &dyn Progress,
        convert: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, DatasetError> {
        let mut found = Vec::new();
        self.each(progress, |line, cells| {
            let cell = usize::from(self.nodes);
            let refused = |cell: usize, text: &str| {
                Problem::Cell { line, cell: cell + 1, found: excerpt(text), accepted: accepted.to_owned() }
                    .at(self.path)
            };
            match cells {
                [text] => found.push(convert(text).ok_or_else(|| refused(cell, text))?),
                _ => return Err(Problem::Single { line, found: cells.len(), accepted: accepted.to_owned() }.at(self.path)),
            }
            Ok(())
        })?;
        Ok(found)
    }

    pub(super) fn check_count(self, what: &'static str, found: u64, nodes: usize) -> Result<(), DatasetError> {
        if found == nodes as u64 {
            return Ok(());
        }
        let because = "one for each node of the graph".to_owned();
        Err(Problem::Lines { what, found, accepted: nodes as u64, because }.at(self.path))
    }

    /// Hands on the features of `nodes` nodes number by number, after `start` has been told how many there are of each node;
    /// how many these are.
    pub(super) fn features<S>(
        self,
        nodes: usize,
        progress: &dyn Progress,
        start: impl Fn(usize) -> Result<S, DatasetError>,
        push: impl Fn(&mut S, f32) -> Result<(), DatasetError>,
    ) -> Result<Option<S>, DatasetError> {
        const ACCEPTED: &str = "a finite number that float32 holds";
        let mut made: Option<(usize, S)> = None;
        let count = self.each(progress, |line, cells| {
            let (columns, sink) = match &mut made {
                Some(made) => made,
                none => none.insert((cells.len(), start(cells.len())?)),
            };
            if cells.len() != *columns {
                let more = usize::from(self.nodes);
                return Err(Problem::Cells { line, found: cells.len() + more, accepted: *columns + more }.at(self.path));
            }
            cells.iter().zip(1 + usize::from(self.nodes)..).try_for_each(|(text, cell)| {
                let value = text.parse().ok().and_then(|value| number(value, 0, 1).ok());
                let refused = || Problem::Cell { line, cell, found: excerpt(text), accepted: ACCEPTED.to_owned() };
                push(sink, value.ok_or_else(|| refused().at(self.path))?)
            })
        })?;
        self.check_count("features", count, nodes)?;
        Ok(made.map(|(_, sink)| sink))
    }

    /// The labels of `nodes` nodes: whole numbers, or `nan` or nothing between quotes where there is none.
    pub(super) fn labels(self, nodes: usize, progress: &dyn Progress) -> Result<Labels, DatasetError> {
        let accepted = format!("one label, 0 to {}, or nan for none", labels::CLASSES_MAX - 1);
        let label = |text: &str| {
            let value = if text == "\"\"" { Ok(f64::NAN) } else { text.parse() };
            value.ok().and_then(|value| labels::label(value, 0, None).ok())
        };
        let found = self.single(&accepted, progress, label)?;
        self.check_count("labels", found.len() as u64, nodes)?;
        let classes = labels::classes_of(&found);
        Ok((found, classes))
    }

    /// The one number in a file.
    pub(super) fn number(self, max: u32) -> Result<u32, DatasetError> {
        let accepted = format!("one whole number, 0 to {max}, and nothing after it");
        let number = |text: &str| text.parse().ok().filter(|&number: &u32| number <= max);
        match *self.single(&accepted, &Silent, number)? {
            [number] => Ok(number),
            ref numbers => {
                let (found, because) = (numbers.len() as u64, "a number and nothing else".to_owned());
                Err(Problem::Lines { what: "a number", found, accepted: 1, because }.at(self.path))
            }
        }
    }
}

/// The nodes of a part of a split, of a graph of so many: their ids, one on each line, or a mark on each line.
pub(super) fn part(path: &Path, form: Form, reading: Reading, nodes: usize) -> Result<Vec<NodeId>, DatasetError> {
    let kind = if form == Form::Mask { Kind::Marks } else { Kind::Nodes };
    let table = Table::look(path, kind, reading, &Silent)?;
    let rows = table.rows((kind == Kind::Marks).then_some(nodes as u64))?;
    if kind == Kind::Marks {
        let mark = |text: &str| match text.to_lowercase().as_str() {
            "0" | "false" => Some(false),
            "1" | "true" => Some(true),
            _ => None,
        };
        let marks = rows.single("a mark, 0 or 1", &Silent, mark)?;
        rows.check_count("marks", marks.len() as u64, nodes)?;
        return Ok((0..nodes).filter(|&node| marks[node]).map(NodeId::from_index).collect());
    }
    let first = reading.first_id;
    let accepted = format!("one node of the graph, which has {nodes}, counted from {first}");
    let node = |text: &str| {
        let node = text.parse::<u32>().ok()?.checked_sub(first)?;
        ((node as usize) < nodes).then(|| NodeId::new(node))
    };
    rows.single(&accepted, &Silent, node)
}
