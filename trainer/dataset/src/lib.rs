//! Data sets: a graph, and of each of its nodes the features, the label, and the part of the split that it is in.
//!
//! A data set is a folder. It has the graph's two arrays (`indptr.npy` and `indices.npy`), and of what follows as much as
//! there is; any `.npy` may be `.npy.gz`, and two files that say the same thing are refused:
//!
//! | what | files |
//! |---|---|
//! | features, `[nodes, columns]` | `features.npy` or `feat.npy`; `features.pt` (see [`torch`]) or `features.safetensors`: tensor `x`; or rows of a sparse matrix: `feat_indptr.npy`, `feat_indices.npy`, and `feat_values.npy` where they are not all 1, `feat_shape.npy` where the last columns are empty |
//! | labels, `[nodes]` or `[nodes, 1]` | `labels.npy`, or tensor `y` beside `x`; -1 or NaN where there is none |
//! | split | `train_idx.npy`, `val_idx.npy` or `valid_idx.npy`, and `test_idx.npy`; or `_mask.npy` for `_idx.npy` |
//!
//! Files are not trusted, as in [`golden_files::read`]: what is wrong with one is one sentence, and memory grows with what is there.

mod array;
mod dtype;
mod error;
mod features;
mod folder;
pub mod import;
mod info;
mod labels;
mod safetensors;
mod splits;
pub mod stats;
pub mod torch;
mod write;

use std::{path::Path, sync::Arc};

use golden::{CscGraph, NodeId, Progress};
use golden_files::{Format, read};

pub use error::{DatasetError, Problem};
pub use features::{Dense, Features, Sparse};
pub use info::{ClassCount, DatasetInfo, FeatureInfo, SplitInfo};
pub use labels::{CLASSES_MAX, NO_LABEL};

/// A graph whose nodes have features, labels, and places in a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The graph.
    pub graph: Arc<CscGraph>,
    /// A row for each node; of no columns if there are no features.
    pub features: Features,
    /// The class of each node, or [`NO_LABEL`].
    pub labels: Vec<i64>,
    /// How many classes there are: every label is below. 0 if there are no labels.
    pub classes: usize,
    /// Which nodes are for what.
    pub splits: Splits,
}

/// Nodes to train with, to choose a model by, and to judge it by: distinct, and each in one list at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Splits {
    /// To train with.
    pub train: Vec<NodeId>,
    /// To choose a model by.
    pub valid: Vec<NodeId>,
    /// To judge it by.
    pub test: Vec<NodeId>,
}

impl Dataset {
    /// Reads the data set in a folder, and checks that its parts belong together.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn load(path: &Path, progress: &dyn Progress) -> Result<Self, DatasetError> {
        let folder = folder::Folder::new(path);
        for (what, array) in [("the offsets of the graph", "indptr"), ("the arcs of the graph", "indices")] {
            folder.array(what, &[array])?;
        }
        let options = read::ReadOptions { format: Some(Format::Folder), ..read::ReadOptions::default() };
        let graph = read::graph(path, &options, progress)?;
        Self::around(Arc::new(graph), &folder, progress)
    }

    /// The data set that the other files of the folder make of a graph.
    fn around(graph: Arc<CscGraph>, folder: &folder::Folder, progress: &dyn Progress) -> Result<Self, DatasetError> {
        let nodes = graph.nodes();
        let (features, beside) = folder.features(nodes, progress)?;
        let labelled = folder.labels(nodes, beside, progress)?;
        let (labels, classes) = labelled.unwrap_or_else(|| (vec![NO_LABEL; nodes], 0));
        let splits = splits::read(folder, &labels, classes, progress)?;
        Ok(Self { graph, features, labels, classes, splits })
    }

    /// Whether there is all that training takes: features, labels, and nodes to train with.
    ///
    /// # Errors
    /// What is missing, and what the files are called in which it would be.
    pub fn check_trainable(&self, path: &Path) -> Result<(), DatasetError> {
        let missing = [
            (
                self.features.columns() == 0,
                "features",
                "features.npy, feat.npy, feat_indptr.npy, features.pt or features.safetensors",
            ),
            (self.classes == 0, "labels", "labels.npy, or y in features.pt or features.safetensors"),
            (self.splits.train.is_empty(), "nodes to train with", "train_idx.npy or train_mask.npy"),
        ];
        match missing.into_iter().find(|&(lacks, ..)| lacks) {
            Some((_, what, accepted)) => Err(Problem::Lacks { what, accepted }.at(path)),
            None => Ok(()),
        }
    }
}
