//! Features, labels and nodes as text, a node a line, compressed where the name ends in `.gz`.

use std::path::{Path, PathBuf};

use golden::{
    NodeId, Progress, Silent,
    read::{self, Lines, Source, excerpt, fields},
};

use super::Job;
use crate::dataset::{
    Splits,
    error::{DatasetError, Problem},
    features::number,
    folder::name,
    labels::{self, Labels},
    splits::Check,
};

/// The longest line: features of ten thousands of columns.
const LINE_LIMIT: usize = 1 << 20;

/// A file of lines, of which the first may name the columns.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) path: &'a Path,
    pub(super) may_have_header: bool,
}

impl Table<'_> {
    /// Hands on every line that belongs to a node, and its number in the file; how many there are.
    fn each(
        self,
        progress: &dyn Progress,
        mut take: impl FnMut(u64, &str) -> Result<(), DatasetError>,
    ) -> Result<u64, DatasetError> {
        let mut lines = Lines::bounded(Source::open(self.path)?, LINE_LIMIT, progress);
        let (mut may_be_header, mut count) = (self.may_have_header, 0);
        while let Some((line, text)) = lines.next_line()? {
            if std::mem::take(&mut may_be_header) && names_columns(text) {
                continue;
            }
            take(line, text)?;
            count += 1;
        }
        Ok(count)
    }

    /// The number of lines that belong to nodes.
    pub(super) fn count(self, progress: &dyn Progress) -> Result<u64, DatasetError> {
        self.each(progress, |_, _| Ok(()))
    }

    fn check_count(self, what: &'static str, found: u64, nodes: usize) -> Result<(), DatasetError> {
        if found == nodes as u64 {
            return Ok(());
        }
        Err(Problem::Lines { what, found, accepted: nodes as u64 }.at(self.path))
    }

    /// Writes the features of all nodes; how many columns there are.
    pub(super) fn features(self, job: &Job, nodes: usize) -> Result<usize, DatasetError> {
        const ACCEPTED: &str = "a finite number that float32 holds";
        let mut rows = None;
        let count = self.each(job.progress, |line, text| {
            let refused = |cell: usize, found: &str| {
                Problem::Cell { line, cell: cell + 1, found: excerpt(found), accepted: ACCEPTED.to_owned() }
                    .at(self.path)
            };
            let (columns, rows) = if let Some(rows) = &mut rows {
                rows
            } else {
                let columns = fields(text).count();
                rows.insert((columns, job.writer.rows(nodes, columns)?))
            };
            let mut found = 0;
            for (cell, field) in fields(text).enumerate() {
                let value = field.parse().map_err(|_| refused(cell, field))?;
                rows.push(number(value, 0, 1).map_err(|_| refused(cell, field))?)?;
                found = cell + 1;
            }
            if found != *columns {
                return Err(Problem::Cells { line, found, accepted: *columns }.at(self.path));
            }
            Ok(())
        })?;
        self.check_count("features", count, nodes)?;
        let Some((columns, rows)) = rows else { return Ok(0) };
        rows.finish()?;
        Ok(columns)
    }

    /// The labels of all nodes: whole numbers, or `nan` where there is none.
    pub(super) fn labels(self, progress: &dyn Progress) -> Result<Labels, DatasetError> {
        let mut found = Vec::new();
        self.each(progress, |line, text| {
            let value = if text == "\"\"" { Ok(f64::NAN) } else { text.parse() };
            let label = value.ok().and_then(|value| labels::label(value, 0, None).ok());
            found.push(label.ok_or_else(|| {
                let accepted = format!("one label, 0 to {}, or nan for none", labels::CLASSES_MAX - 1);
                Problem::Cell { line, cell: 1, found: excerpt(text), accepted }.at(self.path)
            })?);
            Ok(())
        })?;
        let classes = labels::classes_of(&found);
        Ok((found, classes))
    }

    /// The labels of so many nodes.
    pub(super) fn labels_of(self, nodes: usize, progress: &dyn Progress) -> Result<Labels, DatasetError> {
        let labels = self.labels(progress)?;
        self.check_count("labels", labels.0.len() as u64, nodes)?;
        Ok(labels)
    }

    /// Nodes of a graph of so many.
    fn nodes(self, nodes: usize) -> Result<Vec<NodeId>, DatasetError> {
        let mut ids = Vec::new();
        self.each(&Silent, |line, text| {
            let id = text.parse().ok().filter(|&id: &u32| (id as usize) < nodes);
            ids.push(NodeId::new(id.ok_or_else(|| {
                let accepted = format!("one node of the graph, which has {nodes}, counted from 0");
                Problem::Cell { line, cell: 1, found: excerpt(text), accepted }.at(self.path)
            })?));
            Ok(())
        })?;
        Ok(ids)
    }

    /// The one number in a file.
    pub(super) fn number(self, max: u32) -> Result<u32, DatasetError> {
        let mut found = None;
        let lines = self.each(&Silent, |line, text| {
            let number = text.parse().ok().filter(|&number: &u32| number <= max && found.is_none());
            found = Some(number.ok_or_else(|| {
                let accepted = format!("one whole number, 0 to {max}, and nothing after it");
                Problem::Cell { line, cell: 1, found: excerpt(text), accepted }.at(self.path)
            })?);
            Ok(())
        })?;
        found.ok_or_else(|| Problem::Lines { what: "a number", found: lines, accepted: 1 }.at(self.path))
    }
}

/// Whether a first line names columns: it has no number and no place for one.
fn names_columns(text: &str) -> bool {
    !fields(text).any(|cell| cell.is_empty() || cell == "\"\"" || cell.parse::<f64>().is_ok())
}

/// The file of this name in a folder, or its compressed one.
pub(super) fn file(folder: &Path, file: &str) -> Result<PathBuf, DatasetError> {
    let (plain, gzip) = (folder.join(file), folder.join(format!("{file}.gz")));
    match (plain.exists(), gzip.exists()) {
        (true, true) => {
            Err(Problem::Ambiguous { what: "the same lines", first: name(&plain), second: name(&gzip) }.at(folder))
        }
        (true, false) => Ok(plain),
        // If it is not there either, it is the name that is usual.
        (false, _) => Ok(gzip),
    }
}

/// The split in a folder: `train.csv`, `valid.csv` and `test.csv`.
pub(super) fn splits(folder: &Path, labels: &[i64], classes: usize, header: bool) -> Result<Splits, DatasetError> {
    let mut checked = Check::new(labels, classes);
    let mut part = |part: &str| {
        let path = file(folder, part)?;
        let nodes = Table { path: &path, may_have_header: header }.nodes(labels.len())?;
        checked.part(&path, &nodes)?;
        Ok::<_, DatasetError>(nodes)
    };
    Ok(Splits { train: part("train.csv")?, valid: part("valid.csv")?, test: part("test.csv")? })
}

/// Reads a graph of text, of so many nodes if that is known.
pub(super) fn graph(
    path: &Path,
    format: Option<golden::Format>,
    nodes: Option<u32>,
    progress: &dyn Progress,
) -> Result<golden::CscGraph, DatasetError> {
    let options = read::ReadOptions { format, nodes, ..read::ReadOptions::default() };
    Ok(read::graph(path, &options, progress)?)
}
