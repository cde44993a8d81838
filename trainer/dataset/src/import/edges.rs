//! A graph in one file, and files beside it.

use std::path::Path;

use golden::CscGraph;
use golden_files::{
    Format, read,
    read::{Problem as ReadProblem, ReadError, ReadOptions},
};

use super::{Imported, Job, graph};
use crate::{
    NO_LABEL, Splits, Unread,
    arrays::{Arrays, file_name},
    error::{DatasetError, Problem},
    features, labels,
    names::Role,
    splits,
    text::{Reading, Table},
};

pub(super) fn import(job: &Job) -> Result<Imported, DatasetError> {
    let options = job.options;
    let reading = Reading { header: options.header, first_id: options.reading.first_id.unwrap_or(0) };
    let mut beside = Vec::new();
    for (path, role, what) in
        [(&options.labels, Role::Labels, "labels"), (&options.features, Role::Features, "features")]
    {
        if let Some(path) = path {
            beside.push(Beside::open(path, role, what, reading, job)?);
        }
    }
    let graph = read_graph(job, &beside)?;
    let stated = options.reading.nodes.is_some() || !is_list(job);
    let nodes = number(job, graph.nodes(), stated, &mut beside)?;
    let added = nodes - graph.nodes();
    let graph = graph.padded(nodes).map_err(|error| ReadProblem::Graph(error).at(job.path))?;
    let counts = job.graph(graph, true)?;

    let (mut columns, mut labelled) = (0, (vec![NO_LABEL; nodes], 0));
    // Labels and features may be in one file: what one of them is read of is not unread.
    let (mut unread, mut taken) = (Unread::default(), Vec::new());
    for file in beside {
        match (file.content, file.role) {
            (Content::Text(table), Role::Labels) => {
                labelled = table.rows(Some(nodes as u64))?.labels(nodes, job.progress)?;
            }
            (Content::Text(table), _) => columns = job.features(table.rows(Some(nodes as u64))?, nodes)?,
            (Content::Arrays(mut arrays), role) => {
                if role == Role::Labels {
                    let found = labels::read(&mut arrays, nodes, job.progress)?;
                    labelled = found.ok_or_else(|| arrays.lack("labels", "labels, label, y, node_label or targets"))?;
                } else {
                    columns = copy_features(job, &mut arrays, nodes)?;
                }
                taken.extend(arrays.taken());
                unread = unread.and(arrays.unread());
            }
        }
    }
    let (labels, classes) = labelled;
    let splits = match &options.splits {
        Some(folder) => {
            let mut arrays = Arrays::of_split(folder, reading)?;
            let splits = splits::read(&mut arrays, &labels, classes, job.split_number()?, job.progress)?;
            taken.extend(arrays.taken());
            unread = unread.and(arrays.unread());
            splits
        }
        None => Splits::default(),
    };
    let imported = job.finish(counts, columns, (&labels, classes), &splits, unread.without(&taken))?;
    Ok(Imported { added, ..imported })
}

/// Writes the features that an array has; how many columns there are.
fn copy_features(job: &Job, arrays: &mut Arrays, nodes: usize) -> Result<usize, DatasetError> {
    let features = features::read(arrays, nodes, job.progress)?;
    if features.columns() == 0 {
        return Err(arrays.lack("features", "features, feat, x or node_feat"));
    }
    job.writer.features(&features)?;
    Ok(features.columns())
}

/// A file with something about each node.
struct Beside<'a> {
    path: &'a Path,
    role: Role,
    /// What it holds.
    what: &'static str,
    content: Content<'a>,
    /// For how many nodes, where that is certain.
    rows: Option<u64>,
}

enum Content<'a> {
    Text(Table<'a>),
    Arrays(Arrays),
}

impl<'a> Beside<'a> {
    fn open(path: &'a Path, role: Role, what: &'static str, reading: Reading, job: &Job) -> Result<Self, DatasetError> {
        let (content, rows) = if let Some(mut arrays) = Arrays::of_role(path, role)? {
            let rows = graph::rows(&mut arrays)?.map(u64::from);
            (Content::Arrays(arrays), rows)
        } else {
            let table = match role {
                Role::Labels => Table::labels(path, reading, job.progress),
                _ => Table::features(path, reading, job.progress),
            }?;
            let rows = table.certain();
            (Content::Text(table), rows)
        };
        Ok(Self { path, role, what, content, rows })
    }
}

/// Whether the graph is in a format that does not state its number of nodes.
fn is_list(job: &Job) -> bool {
    let format = job.options.reading.format.or_else(|| Format::of_name(job.path));
    !matches!(format, Some(Format::Folder | Format::Npz | Format::MatrixMarket | Format::Metis))
}

fn read_graph(job: &Job, beside: &[Beside]) -> Result<CscGraph, DatasetError> {
    let options = ReadOptions { symmetrise: job.options.symmetrise, ..job.options.reading.clone() };
    match read::graph(job.path, &options, job.progress) {
        // Files beside it know of so many nodes.
        Err(ReadError { problem: ReadProblem::Sparse { nodes, .. }, .. })
            if beside.iter().any(|file| file.rows >= Some(nodes.into())) =>
        {
            let options = ReadOptions { nodes: Some(nodes), ..options };
            Ok(read::graph(job.path, &options, job.progress)?)
        }
        graph => Ok(graph?),
    }
}

/// The number of nodes of which the graph names so many: these, if its file states them, or else the most that any file
/// has. Files of text with other numbers are refused.
fn number(job: &Job, named: usize, stated: bool, beside: &mut [Beside]) -> Result<usize, DatasetError> {
    let named = named as u64;
    let certain = beside.iter().filter_map(|file| file.rows).max();
    let known = if stated { Some(named) } else { certain.map(|rows| rows.max(named)) };
    for file in beside.iter_mut() {
        if let Content::Text(table) = &file.content {
            // A line for each node that the graph names: no other number is in sight.
            let known = known.or_else(|| (table.lines() == named).then_some(named));
            file.rows = Some(table.count(table.rows(known)?));
        }
    }
    let most = beside.iter().filter_map(|file| file.rows).max();
    let nodes = if stated { named } else { most.unwrap_or(0).max(named) };
    let is_wrong = |file: &&Beside| matches!(file.content, Content::Text(_)) && file.rows != Some(nodes);
    let Some(wrong) = beside.iter().find(is_wrong) else { return Ok(nodes as usize) };

    let graph = file_name(job.path);
    let mut because = match () {
        () if job.options.reading.nodes.is_some() => "the number of nodes that is given".to_owned(),
        () if stated => format!("one for each node of {graph}"),
        () if nodes == named => format!("one for each node: {graph} names node {}", nodes - 1),
        () => {
            let longest = beside.iter().find(|file| file.rows == Some(nodes)).map(|file| file_name(file.path));
            format!("as many as in {}", longest.unwrap_or_default())
        }
    };
    let found = wrong.rows.unwrap_or(0);
    let others = beside.iter().filter(|file| file.path != wrong.path && file.rows == wrong.rows);
    if let Some(other) = others.map(|file| file_name(file.path)).next() {
        because = format!("{because} ({other} has {found}, too)");
    }
    Err(Problem::Lines { what: wrong.what, found, accepted: nodes, because }.at(wrong.path))
}
