//! Features, labels and nodes as text: a line for each node, or a node on each line.
//!
//! The lines are those of [`golden_files::read::Table`]. The first one may name the columns, see [`Header`]. A first column that is named as one of nodes, or the first of two
//! columns of labels, says which node a line is about; the lines stand in the order of the nodes all the same.

mod header;

use std::path::Path;

use golden::{NodeId, Silent};
use golden_files::{
    Listener, read,
    read::{Layout, Record, Source, excerpt},
};

use self::header::{First, Kind, Look};
pub use self::header::{Header, HeaderError};
use super::{
    error::{DatasetError, Problem},
    features::number,
    labels::{self, Labels},
    names::Form,
};

/// What is in a table beside its lines: `numpy.savetxt` writes comments, and without its line a node would have the values of
/// the next. The longest line has features of ten thousands of columns.
const LAYOUT: Layout = Layout { limit: 1 << 20, comments: true, empty_lines: false };

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
    pub(super) fn features(path: &'a Path, reading: Reading, progress: &dyn Listener) -> Result<Self, DatasetError> {
        Self::look(path, Kind::Features, reading, progress)
    }

    /// Looks at labels.
    pub(super) fn labels(path: &'a Path, reading: Reading, progress: &dyn Listener) -> Result<Self, DatasetError> {
        Self::look(path, Kind::Labels, reading, progress)
    }

    fn look(path: &'a Path, kind: Kind, reading: Reading, progress: &dyn Listener) -> Result<Self, DatasetError> {
        let mut table = read::Table::open(Source::open(path)?, LAYOUT, progress)?;
        let first = table.first().map_or_else(First::default, |record| First::of(kind, record));
        let mut lines = 0;
        while table.next_record()?.is_some() {
            lines += 1;
        }
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
        self.lines - u64::from(rows.header)
    }

    fn header(&self, nodes: Option<u64>) -> Result<bool, Problem> {
        let is_one_more = nodes.map(|nodes| self.lines == nodes + 1);
        match (self.reading.header, self.first.look, is_one_more) {
            _ if self.lines == 0 => Ok(false),
            (Header::Yes, ..) | (Header::Auto, Look::Names, _) | (Header::Auto, Look::Words, Some(true)) => Ok(true),
            (Header::No, ..) | (Header::Auto, Look::Values, _) => Ok(false),
            (Header::Auto, Look::Counting, Some(is_one_more)) => Ok(is_one_more),
            (Header::Auto, Look::Counting, None) => Err(Problem::Numbered { found: self.first.text.clone() }),
            (Header::Auto, Look::Words, _) => {
                let (found, values, names) = (self.first.text.clone(), self.kind.values(), self.kind.names());
                Err(Problem::Header { found, values, names })
            }
        }
    }

    /// All lines, with the one that may name columns.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }
}

impl<'a> Rows<'a> {
    /// Lines none of which names columns, or says which node it is about.
    pub(super) fn plain(path: &'a Path) -> Self {
        Self { path, header: false, nodes: false, first_id: 0 }
    }

    /// Hands on each line that is not a header; how many there are. Which node a line is about is checked.
    fn each(
        self,
        progress: &dyn Listener,
        mut take: impl FnMut(Record) -> Result<(), DatasetError>,
    ) -> Result<u64, DatasetError> {
        let mut table = read::Table::open(Source::open(self.path)?, LAYOUT, progress)?;
        if self.header && table.first().is_some() {
            table.take_names();
        }
        let mut row = 0;
        while let Some(record) = table.next_record()? {
            if self.nodes {
                let expected = row + u64::from(self.first_id);
                if record.field(0).parse() != Ok(expected) {
                    let (line, found) = (record.line(), excerpt(record.field(0)));
                    return Err(Problem::Order { line, found, expected }.at(self.path));
                }
            }
            row += 1;
            take(record)?;
        }
        Ok(row)
    }

    /// The place of the first cell that holds a value.
    fn start(self) -> usize {
        usize::from(self.nodes)
    }

    /// The one cell of each line, as `convert` makes it of its text.
    fn single<T>(
        self,
        accepted: &str,
        progress: &dyn Listener,
        convert: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, DatasetError> {
        let mut found = Vec::new();
        self.each(progress, |record| {
            let (line, cell) = (record.line(), self.start());
            if record.len() != cell + 1 {
                let (found, accepted) = (record.len(), accepted.to_owned());
                return Err(Problem::Single { line, found, accepted }.at(self.path));
            }
            let text = record.field(cell);
            found.push(convert(text).ok_or_else(|| {
                let (found, accepted) = (excerpt(text), accepted.to_owned());
                Problem::Cell { line, cell: cell + 1, found, accepted }.at(self.path)
            })?);
            Ok(())
        })?;
        Ok(found)
    }

    fn check_count(self, what: &'static str, found: u64, nodes: usize) -> Result<(), DatasetError> {
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
        progress: &dyn Listener,
        start: impl Fn(usize) -> Result<S, DatasetError>,
        push: impl Fn(&mut S, f32) -> Result<(), DatasetError>,
    ) -> Result<Option<S>, DatasetError> {
        const ACCEPTED: &str = "a finite number that float32 holds";
        let mut made = None;
        let count = self.each(progress, |record| {
            let sink = match &mut made {
                Some(made) => made,
                none => none.insert(start(record.len() - self.start())?),
            };
            record.fields().enumerate().skip(self.start()).try_for_each(|(cell, text)| {
                let value = text.parse().ok().and_then(|value| number(value, 0, 1).ok());
                let value = value.ok_or_else(|| {
                    let (found, accepted) = (excerpt(text), ACCEPTED.to_owned());
                    Problem::Cell { line: record.line(), cell: cell + 1, found, accepted }.at(self.path)
                })?;
                push(sink, value)
            })
        })?;
        self.check_count("features", count, nodes)?;
        Ok(made)
    }

    /// The labels of `nodes` nodes: whole numbers, or `nan` or an empty cell where there is none.
    pub(super) fn labels(self, nodes: usize, progress: &dyn Listener) -> Result<Labels, DatasetError> {
        let accepted = format!("one label, 0 to {}, or nan for none", labels::CLASSES_MAX - 1);
        let label = |text: &str| {
            let value = if text.is_empty() { Ok(f64::NAN) } else { text.parse() };
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
