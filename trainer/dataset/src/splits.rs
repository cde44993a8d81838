//! Which nodes are for what.

use std::path::{Path, PathBuf};

use golden::{NodeId, Progress};
use golden_files::{
    read,
    read::{Npy, Source},
};

use super::{
    Splits,
    array::{Array, NpyArray},
    error::{DatasetError, Problem},
    folder::{Folder, name},
    labels::NO_LABEL,
};

/// The parts of a split: what they are, and how the names of their files start.
const PARTS: [(&str, &[&str], &str); 3] = [
    ("the nodes to train with", &["train_idx", "train_mask"], "train_idx.npy (or train_mask.npy)"),
    (
        "the nodes to choose a model by",
        &["val_idx", "valid_idx", "val_mask", "valid_mask"],
        "val_idx.npy (or valid_idx.npy, val_mask.npy, valid_mask.npy)",
    ),
    ("the nodes to judge a model by", &["test_idx", "test_mask"], "test_idx.npy (or test_mask.npy)"),
];

/// The split of a folder: all three parts, or, of one that has none, three empty ones.
pub(super) fn read(
    folder: &Folder,
    labels: &[i64],
    classes: usize,
    progress: &dyn Progress,
) -> Result<Splits, DatasetError> {
    let paths = PARTS.iter().map(|&(what, names, _)| folder.array(what, names)).collect::<Result<Vec<_>, _>>()?;
    let Some(found) = paths.iter().flatten().next() else { return Ok(Splits::default()) };
    let mut checked = Check::new(labels, classes);
    let mut parts = paths.iter().zip(PARTS).map(|(path, (.., missing))| -> Result<_, DatasetError> {
        let path = path.as_ref().ok_or_else(|| folder.half(found, missing))?;
        let nodes = if name(path).contains("_mask") {
            mask(path, labels.len(), progress)
        } else {
            indices(path, labels.len(), progress)
        }?;
        checked.part(path, &nodes)?;
        Ok(nodes)
    });
    let mut next = || parts.next().unwrap_or_else(|| Ok(Vec::new()));
    Ok(Splits { train: next()?, valid: next()?, test: next()? })
}

fn indices(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<Vec<NodeId>, DatasetError> {
    let npy = Npy::open(Source::open(path)?)?;
    let found = npy.len()?;
    if found > nodes as u64 {
        let accepted = format!("at most {nodes}, the nodes of the graph");
        return Err(npy.error(read::Problem::Length { found, accepted }).into());
    }
    Ok(npy.whole_numbers(nodes.saturating_sub(1) as u32, NodeId::new, progress)?)
}

fn mask(path: &Path, nodes: usize, progress: &dyn Progress) -> Result<Vec<NodeId>, DatasetError> {
    let array = NpyArray::open(path)?;
    if *array.shape() != [nodes as u64] {
        let (found, accepted) = (array.shape().to_vec(), format!("[{nodes}], one for each node of the graph"));
        return Err(Problem::Shape { what: "the marks", found, accepted }.at(path));
    }
    let marks = array.elements(progress, |value, node| match value {
        0.0 => Ok(false),
        1.0 => Ok(true),
        found => Err(Problem::Mask { node, found }),
    })?;
    Ok((0..nodes).filter(|&node| marks[node]).map(NodeId::from_index).collect())
}

/// Sees to it that the parts of a split are distinct and disjoint, and that their nodes have labels.
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

    /// A further part, all of its nodes in the graph.
    pub(super) fn part(&mut self, path: &Path, nodes: &[NodeId]) -> Result<(), DatasetError> {
        self.parts.push(path.to_owned());
        let part = self.parts.len() as u8;
        for node in nodes {
            let (id, index) = (u64::from(node.get()), node.index());
            match std::mem::replace(&mut self.part_of[index], part) {
                0 => {}
                first => {
                    let first = name(&self.parts[usize::from(first) - 1]);
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
