//! Which files of a folder hold what.

use std::path::{Path, PathBuf};

use golden::{ID_MAX, Progress, Silent};
use golden_files::{
    read,
    read::{Npy, Source},
};

use super::{
    array::{Array, NpyArray},
    error::{DatasetError, Problem},
    features::{Dense, Features, Sparse},
    labels::{self, Labels},
    safetensors::TensorFile,
    torch::TorchFile,
};

/// A folder with a data set.
pub(super) struct Folder<'a> {
    path: &'a Path,
}

/// Labels that were found beside the features, and the name of their file.
pub(super) type Beside = Option<(Labels, String)>;

impl<'a> Folder<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self { path }
    }

    /// The one file that has `what`, an array, under one of these names, compressed or not.
    pub(super) fn array(&self, what: &'static str, names: &[&str]) -> Result<Option<PathBuf>, DatasetError> {
        let files: Vec<_> = names.iter().flat_map(|name| [format!("{name}.npy"), format!("{name}.npy.gz")]).collect();
        self.only(what, &files.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The one of these files that is there.
    fn only(&self, what: &'static str, files: &[&str]) -> Result<Option<PathBuf>, DatasetError> {
        let mut there = files.iter().filter(|file| self.path.join(file).exists());
        match (there.next(), there.next()) {
            (Some(first), Some(second)) => {
                let (first, second) = ((*first).to_owned(), (*second).to_owned());
                Err(Problem::Ambiguous { what, first, second }.at(self.path))
            }
            (first, _) => Ok(first.map(|file| self.path.join(file))),
        }
    }

    /// The features of `nodes` nodes, and labels that stand beside them.
    pub(super) fn features(&self, nodes: usize, progress: &dyn Progress) -> Result<(Features, Beside), DatasetError> {
        const FILES: [&str; 8] = [
            "features.npy",
            "features.npy.gz",
            "feat.npy",
            "feat.npy.gz",
            "feat_indptr.npy",
            "feat_indptr.npy.gz",
            "features.pt",
            "features.safetensors",
        ];
        let Some(path) = self.only("the features", &FILES)? else {
            for piece in ["feat_indices", "feat_values", "feat_shape"] {
                if let Some(found) = self.array("the features", &[piece])? {
                    return Err(Problem::Half { found: name(&found), missing: "feat_indptr.npy" }.at(self.path));
                }
            }
            return Ok((Features::none(nodes), None));
        };
        let file = name(&path);
        if file.starts_with("feat_indptr") {
            return Ok((Features::Sparse(self.sparse(&path, nodes, progress)?), None));
        }
        let (dense, labels) = match file.as_str() {
            "features.pt" => {
                let mut torch = TorchFile::open(&path)?;
                let dense = Dense::read(torch.features()?, nodes, progress)?;
                (dense, torch.labels(nodes, progress)?)
            }
            "features.safetensors" => {
                let mut tensors = TensorFile::open(&path)?;
                let dense = Dense::read(tensors.features()?, nodes, progress)?;
                (dense, tensors.labels(nodes, progress)?)
            }
            _ => (Dense::read(NpyArray::open(&path)?, nodes, progress)?, None),
        };
        Ok((Features::Dense(dense), labels.map(|labels| (labels, file))))
    }

    /// The labels of `nodes` nodes; `beside` are those that were found with the features.
    pub(super) fn labels(
        &self,
        nodes: usize,
        beside: Beside,
        progress: &dyn Progress,
    ) -> Result<Option<Labels>, DatasetError> {
        match (self.array("the labels", &["labels"])?, beside) {
            (None, beside) => Ok(beside.map(|(labels, _)| labels)),
            (Some(path), None) => labels::read(NpyArray::open(&path)?, nodes, None, progress).map(Some),
            (Some(path), Some((_, second))) => {
                Err(Problem::Ambiguous { what: "the labels", first: name(&path), second }.at(self.path))
            }
        }
    }

    fn sparse(&self, offsets: &Path, nodes: usize, progress: &dyn Progress) -> Result<Sparse, DatasetError> {
        let open = |path: &Path, length: usize| {
            let npy = Npy::open(Source::open(path)?)?;
            match npy.len()? {
                found if found == length as u64 => Ok(npy),
                found => Err(npy.error(read::Problem::Length { found, accepted: length.to_string() })),
            }
        };
        let indptr = open(offsets, nodes + 1)?.whole_numbers(ID_MAX, |offset| offset, progress)?;
        let before = |node: usize| node.checked_sub(1).map_or(0, |node| indptr[node]);
        let wrong = |&node: &usize| indptr[node] < before(node) || node == 0 && indptr[0] > 0;
        if let Some(node) = (0..=nodes).find(wrong) {
            return Err(Problem::Offset { node, found: indptr[node], before: before(node) }.at(offsets));
        }
        let entries = indptr[nodes] as usize;
        let Some(path) = self.array("the columns of the features", &["feat_indices"])? else {
            return Err(Problem::Half { found: name(offsets), missing: "feat_indices.npy" }.at(self.path));
        };
        let stated = self.stated_columns(nodes)?;
        let columns = open(&path, entries)?;
        let indices = match stated {
            // No column is below none.
            Some(0) if entries > 0 => {
                let accepted = "none: feat_shape says 0 columns".to_owned();
                return Err(columns.error(read::Problem::Length { found: entries as u64, accepted }).into());
            }
            Some(stated) => columns.whole_numbers((stated as u32).saturating_sub(1), |column| column, progress)?,
            None => columns.whole_numbers(ID_MAX - 1, |column| column, progress)?,
        };
        let columns = stated.unwrap_or_else(|| indices.iter().max().map_or(0, |&largest| largest as usize + 1));
        let values = match self.array("the values of the features", &["feat_values"])? {
            None => None,
            Some(path) => {
                let array = NpyArray::of(open(&path, entries)?)?;
                Some(array.elements(progress, |value, place| {
                    super::features::number(value, place, u64::MAX).map_err(|_| Problem::Feature {
                        node: indptr.partition_point(|&offset| u64::from(offset) <= place) as u64 - 1,
                        column: indices[place as usize].into(),
                        found: value,
                    })
                })?)
            }
        };
        Ok(Sparse { columns, indptr, indices, values })
    }

    /// The columns that `feat_shape` states.
    fn stated_columns(&self, nodes: usize) -> Result<Option<usize>, DatasetError> {
        let Some(path) = self.array("the extents of the features", &["feat_shape"])? else { return Ok(None) };
        let shape = Npy::open(Source::open(&path)?)?;
        let found = shape.len()?;
        if found != 2 {
            return Err(shape
                .error(read::Problem::Length { found, accepted: "2, rows and columns".to_owned() })
                .into());
        }
        let shape = shape.whole_numbers(ID_MAX, u64::from, &Silent)?;
        super::features::columns(&path, &shape, nodes).map(Some)
    }

    /// A thing of which there is `found`, but not what is `missing`.
    pub(super) fn half(&self, found: &Path, missing: &'static str) -> DatasetError {
        Problem::Half { found: name(found), missing }.at(self.path)
    }
}

/// The name of a file.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
