//! Data sets: a graph, and of each of its nodes the features, the label, and the part of the split that it is in.
//!
//! A data set is a folder. It has the graph's two arrays (`indptr.npy` and `indices.npy`), and of what follows as much as
//! there is; any `.npy` may be compressed ([`golden_files::Compression`]), and two arrays that say the same thing are refused:
//!
//! | what | names |
//! |---|---|
//! | features, `[nodes, columns]` | `features`, `feature`, `feats`, `feat`, `x`, `node_features`, `node_feature`, `node_feats` or `node_feat`; or rows of a sparse matrix: `feat_indptr`, `feat_indices`, and `feat_values` where they are not all 1, `feat_shape` where the last columns are empty (also `features_` and `attr_` for `feat_`, and `data` for `values`) |
//! | labels, `[nodes]` or `[nodes, 1]` | `labels`, `label`, `y`, `node_labels`, `node_label`, `targets` or `target`: whole numbers, -1 or NaN where there is none; `num_classes` or `n_classes` where the last classes have no node |
//! | split | `train`; `val`, `valid` or `validation`; and `test`: each followed by `_idx`, `_index`, `_indices`, `_id`, `_ids`, `_nid` or `_nids` (node ids), or by `_mask` or `_masks` (0 and 1, or bools), or led by them (`idx_train`). Without such a word bools are marks, and whole numbers are ids |
//!
//! Marks of several splits have the extents `[splits, nodes]` or `[nodes, splits]`; [`Dataset::load_split`] takes one of them.
//! Marks of one split (`[nodes]`, or with a further extent of 1) beside them are for each of the splits.
//!
//! An array is an `.npy` of its name; or the one array of a `.pt`, `.pth`, `.npz` or `.safetensors` of its name, such as a tensor
//! saved as `x.pt`; or an array of its name in such a file if the file has any of these names, such as `x` and `y` in
//! `features.pt`, or the name `split`, `splits`, `split_idx` or `masks`. `features.npz` may also be what `scipy.sparse.save_npz`
//! writes. In names case does not matter, and `-` and `.` count as `_`.
//!
//! Whatever else in the folder may hold an array is named in [`Dataset::unread`], and so is what lies in the folders in it, but
//! for those that hold a graph of their own or results of training. A folder of which nothing but the graph is read is a data set if there is nothing
//! else; if there are other arrays in it (any file that may hold one, but for `.txt`), it is refused, and they are named.
//!
//! Pickled objects of Python (a `Data` of `PyG`, a graph of DGL, the `ind.*` of Planetoid) are not read.
//!
//! Files are not trusted, as in [`golden_files::read`]: what is wrong with one is one sentence, and memory grows with what is there.

mod array;
mod arrays;
mod bundle;
mod dtype;
mod error;
mod features;
pub mod import;
mod info;
mod labels;
mod names;
mod python;
mod safetensors;
mod sparse;
mod splits;
pub mod stats;
mod text;
mod torch;
mod unread;
mod write;

use std::{path::Path, sync::Arc};

use golden::{CscGraph, NodeId};
use golden_files::{Format, Listener, read};

use self::{
    arrays::Arrays,
    names::{Piece, Role},
};

pub use error::{DatasetError, Problem};
pub use features::{Dense, Features, Sparse};
pub use info::{ClassCount, DatasetInfo, FeatureInfo, SplitInfo};
pub use labels::{CLASSES_MAX, NO_LABEL};
pub use unread::Unread;

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
    /// What lies beside it and may hold an array, but was not read.
    pub unread: Unread,
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
    /// Reads the data set in a folder, which has one split at most, and checks that its parts belong together.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn load(path: &Path, progress: &dyn Listener) -> Result<Self, DatasetError> {
        Self::load_split(path, None, progress)
    }

    /// The same with the split of this number, counted from 0, where the folder has several.
    ///
    /// # Errors
    /// The first thing that is wrong with it, or with the choice.
    pub fn load_split(path: &Path, split: Option<usize>, progress: &dyn Listener) -> Result<Self, DatasetError> {
        if path.is_file() {
            return Err(Problem::Unimported { found: "this is a file".to_owned() }.at(path));
        }
        let arrays = Arrays::of_folder(path)?;
        for (what, piece) in [("the offsets of the graph", Piece::Indptr), ("the arcs of the graph", Piece::Indices)] {
            arrays.only(what, |role| role == Role::Csc(piece))?;
        }
        let is_list = |role| matches!(role, Role::EdgeIndex | Role::Edges | Role::Adjacency(Piece::Indptr));
        if arrays.only("the offsets of the graph", |role| role == Role::Csc(Piece::Indptr))?.is_none()
            && let Some(found) = arrays.only("the arcs of the graph", is_list)?
        {
            let found = format!("the graph is in {}", arrays.name(found));
            return Err(Problem::Unimported { found }.at(path));
        }
        let options = read::ReadOptions { format: Some(Format::Folder), ..read::ReadOptions::default() };
        let graph = read::graph(path, &options, progress)?;
        Self::around(Arc::new(graph), arrays, split, progress)
    }

    /// The data set that arrays make of a graph.
    fn around(
        graph: Arc<CscGraph>,
        mut arrays: Arrays,
        split: Option<usize>,
        progress: &dyn Listener,
    ) -> Result<Self, DatasetError> {
        let nodes = graph.nodes();
        let features = features::read(&mut arrays, nodes, progress)?;
        let labelled = labels::read(&mut arrays, nodes, progress)?;
        let is_labelled = labelled.is_some();
        let (labels, classes) = labelled.unwrap_or_else(|| (vec![NO_LABEL; nodes], 0));
        let splits = splits::read(&mut arrays, &labels, classes, split, progress)?;
        let path = arrays.path().to_owned();
        let unread = arrays.unread();
        let bare = features.columns() == 0 && !is_labelled && splits == Splits::default();
        if bare && unread.has_arrays() {
            return Err(Problem::Unread(unread).at(&path));
        }
        Ok(Self { graph, features, labels, classes, splits, unread })
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
                "features.npy, x.npy, feat_indptr.npy, features.pt or features.safetensors",
            ),
            (self.classes == 0, "labels", "labels.npy or y.npy, or y in features.pt or features.safetensors"),
            (self.splits.train.is_empty(), "nodes to train with", "train_idx.npy or train_mask.npy"),
        ];
        match missing.into_iter().find(|&(lacks, ..)| lacks) {
            Some((_, what, accepted)) => Err(Problem::Lacks { what, accepted }.at(path)),
            None => Ok(()),
        }
    }
}
