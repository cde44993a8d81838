//! Which nodes are for what.

use std::path::{Path, PathBuf};

use golden::NodeId;
use golden_files::{Listener, read};

use super::{
    Splits,
    array::{AnyArray, Array, length, whole_numbers},
    arrays::{Arrays, Found, file_name},
    dtype::Dtype,
    error::{DatasetError, Problem},
    labels::NO_LABEL,
    names::{Form, Part, Role},
    text,
};

/// The parts of a split: what they are, and the usual names of their arrays and of their text.
const PARTS: [(Part, &str, &str, &str); 3] = [
    (
        Part::Train,
        "the nodes to train with",
        "train_idx.npy (or train_mask.npy)",
        "train.csv (also .txt, .tsv or .npy, compressed, or as train_idx or train_mask)",
    ),
    (
        Part::Valid,
        "the nodes to choose a model by",
        "val_idx.npy (or val_mask.npy, or valid_ or validation_ instead of val_)",
        "val.csv, valid.csv or validation.csv (also .txt, .tsv or .npy, compressed, or as val_idx or val_mask)",
    ),
    (
        Part::Test,
        "the nodes to judge a model by",
        "test_idx.npy (or test_mask.npy)",
        "test.csv (also .txt, .tsv or .npy, compressed, or as test_idx or test_mask)",
    ),
];

/// Reads the split: all three parts, or, where there is none, three empty ones. `choice` is which of several to take.
pub(super) fn read(
    arrays: &mut Arrays,
    labels: &[i64],
    classes: usize,
    choice: Option<usize>,
    progress: &dyn Listener,
) -> Result<Splits, DatasetError> {
    let find = |(part, what, ..): (Part, &'static str, _, _)| {
        arrays.only(what, |role| matches!(role, Role::Part(found, _) if found == part))
    };
    let found = PARTS.map(find).into_iter().collect::<Result<Vec<_>, _>>()?;
    let Some(first) = found.iter().flatten().next() else {
        if arrays.takes_text() {
            let accepted = "train.csv, val.csv (or valid.csv or validation.csv) and test.csv (also .txt, .tsv or .npy, \
                            compressed, or with _idx or _mask)";
            return Err(Problem::Lacks { what: "parts of a split", accepted }.at(arrays.path()));
        }
        return match choice {
            None => Ok(Splits::default()),
            Some(_) => Err(Problem::Lacks { what: "splits to choose from", accepted: ACCEPTED }.at(arrays.path())),
        };
    };
    let mut missing = found.iter().zip(PARTS).filter(|(part, _)| part.is_none());
    if let Some((_, (.., array, text))) = missing.next() {
        return Err(arrays.half(*first, if arrays.takes_text() { text } else { array }));
    }
    let mut choice = Choice { asked: choice, several: None };
    let mut checked = Check::new(labels, classes);
    let mut parts = Vec::new();
    for part in found.into_iter().flatten() {
        let (path, nodes) = read_part(arrays, part, labels.len(), &mut choice, progress)?;
        checked.part(&path, &nodes)?;
        parts.push(nodes);
    }
    choice.check(arrays.path())?;
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    Ok(Splits { train: next(), valid: next(), test: next() })
}

const ACCEPTED: &str = "train_masks, val_masks and test_masks, each of the extents [splits, nodes]";

/// Which split to take.
struct Choice {
    /// The one that was asked for.
    asked: Option<usize>,
    /// How many there are, and the array that has so many.
    several: Option<(u64, String)>,
}

impl Choice {
    /// The split to take of an array with so many; those with one have the same for all.
    fn of(&mut self, splits: u64, name: &str) -> Result<u64, Problem> {
        match &self.several {
            Some((found, first)) if *found != splits => {
                return Err(Problem::Splits { found: splits, first: first.clone(), accepted: *found });
            }
            _ => self.several = Some((splits, name.to_owned())),
        }
        match self.asked {
            Some(asked) if (asked as u64) < splits => Ok(asked as u64),
            asked => Err(Problem::Choice { splits, asked }),
        }
    }

    /// Refuses a choice where there is none.
    fn check(&self, path: &Path) -> Result<(), DatasetError> {
        match (self.asked, &self.several) {
            (Some(asked), None) if asked > 0 => Err(Problem::Choice { splits: 1, asked: Some(asked) }.at(path)),
            _ => Ok(()),
        }
    }
}

/// The nodes of a part, and the path of its array.
fn read_part(
    arrays: &mut Arrays,
    part: Found,
    nodes: usize,
    choice: &mut Choice,
    progress: &dyn Listener,
) -> Result<(PathBuf, Vec<NodeId>), DatasetError> {
    let (role, name) = (arrays.role(part), arrays.name(part).to_owned());
    if let (Some((path, reading)), Role::Part(_, form)) = (arrays.text(part), role) {
        return Ok((path.to_owned(), text::part(path, form, reading, nodes)?));
    }
    let first = arrays.first_id();
    let array = arrays.open(part)?;
    let (path, is_bool) = (array.path(), array.dtype() == Dtype::Bool);
    let nodes = match role {
        Role::Part(_, Form::Ids) if is_bool => {
            let (found, accepted) = ("bool".to_owned(), "whole numbers (marks belong in train_mask and the like)");
            return Err(Problem::Type { what: "node ids", found, accepted }.at(&path));
        }
        Role::Part(_, Form::Mask) => marked(array, nodes, choice, &name, progress)?,
        _ if is_bool => marked(array, nodes, choice, &name, progress)?,
        _ => listed(array, nodes, first, progress)?,
    };
    Ok((path, nodes))
}

/// The nodes whose ids, counted from `first`, are in an array.
fn listed(array: AnyArray, nodes: usize, first: u32, progress: &dyn Listener) -> Result<Vec<NodeId>, DatasetError> {
    let found = length(&array)?;
    if found > nodes as u64 {
        let accepted = format!("at most {nodes}, the nodes of the graph");
        return Err(read::Problem::Length { found, accepted }.at(&array.path()).into());
    }
    let last = first + nodes.saturating_sub(1) as u32;
    whole_numbers(array, first..=last, |id| NodeId::new(id - first), progress).map_err(|error| match error {
        DatasetError::Refused { path, problem: Problem::Element { element, found, min, max } } => {
            Problem::NodeId { element, found, min, max }.at(&path)
        }
        error => error,
    })
}

/// The nodes that an array marks: that of one split, `[nodes]`, or of several, `[splits, nodes]` or `[nodes, splits]`.
fn marked(
    array: AnyArray,
    nodes: usize,
    choice: &mut Choice,
    name: &str,
    progress: &dyn Listener,
) -> Result<Vec<NodeId>, DatasetError> {
    let (path, n) = (array.path(), nodes as u64);
    if !array.dtype().is_whole() && array.dtype() != Dtype::Bool {
        let (found, accepted) = (array.dtype().to_string(), "bool, and whole numbers 0 and 1");
        return Err(Problem::Type { what: "the marks", found, accepted }.at(&path));
    }
    // By which places of the array a node and a split go on.
    let (splits, node_step, split_step) = match *array.shape() {
        [found] if found == n => (1, 1, 1),
        [found, 1] | [1, found] if found == n => (1, 1, 1),
        [splits, found] if found == n && splits != n && splits > 0 => (splits, 1, n),
        [found, splits] if found == n && splits != n && splits > 0 => (splits, splits, 1),
        ref found => {
            let accepted = if *found == [n, n] {
                format!("[{nodes}], one split: which of two equal extents counts the splits is not known")
            } else {
                format!("[{nodes}], one for each node of the graph, or [splits, {nodes}] or [{nodes}, splits]")
            };
            return Err(Problem::Shape { what: "the marks", found: found.to_vec(), accepted }.at(&path));
        }
    };
    let chosen = if splits == 1 { 0 } else { choice.of(splits, name).map_err(|problem| problem.at(&path))? };
    let mut marks = vec![false; nodes];
    array.elements(progress, |value, place| {
        let (node, split) = (place / node_step % n, place / split_step % splits);
        let mark = match value {
            0.0 => false,
            1.0 => true,
            found => return Err(Problem::Mask { node, found }),
        };
        if split == chosen {
            marks[node as usize] = mark;
        }
        Ok(())
    })?;
    Ok((0..nodes).filter(|&node| marks[node]).map(NodeId::from_index).collect())
}

/// Sees to it that the parts of a split are distinct and disjoint, that their nodes have labels, and that there are nodes to
/// train with.
pub(super) struct Check<'a> {
    /// The part in which each node is: 1 for the first; 0 for none.
    part_of: Vec<u8>,
    labels: &'a [i64],
    /// Whether there are labels at all.
    labelled: bool,
    parts: Vec<PathBuf>,
}

impl<'a> Check<'a> {
    pub(super) fn new(labels: &'a [i64], classes: usize) -> Self {
        Self { part_of: vec![0; labels.len()], labels, labelled: classes > 0, parts: Vec::new() }
    }

    /// A further part, all of its nodes in the graph. The first one is that to train with.
    pub(super) fn part(&mut self, path: &Path, nodes: &[NodeId]) -> Result<(), DatasetError> {
        if self.parts.is_empty() && nodes.is_empty() {
            return Err(Problem::Untrained.at(path));
        }
        self.parts.push(path.to_owned());
        let part = self.parts.len() as u8;
        for node in nodes {
            let (id, index) = (u64::from(node.get()), node.index());
            match std::mem::replace(&mut self.part_of[index], part) {
                0 => {}
                first => {
                    let first = file_name(&self.parts[usize::from(first) - 1]);
                    return Err(Problem::Twice { node: id, first }.at(path));
                }
            }
            if self.labelled && self.labels[index] == NO_LABEL {
                return Err(Problem::Unlabelled { node: id }.at(path));
            }
        }
        Ok(())
    }
}
