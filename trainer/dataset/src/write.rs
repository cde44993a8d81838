//! Folders that [`Dataset::load`](super::Dataset::load) reads.

use std::{io::Write, path::Path};

use golden::{CscGraph, NodeId, Silent};
use golden_files::{
    Format, Listener, write,
    write::{StagedFile, Staging, WriteError, WriteOptions},
};

use super::{
    Splits,
    arrays::{self, file_name},
    error::DatasetError,
    features::{Features, Sparse},
};

/// A data set that is being written. Nothing is in its place before [`Writer::finish`].
pub(super) struct Writer<'a> {
    staging: Staging,
    path: &'a Path,
    progress: &'a dyn Listener,
}

impl<'a> Writer<'a> {
    pub(super) fn new(path: &'a Path, overwrite: bool, progress: &'a dyn Listener) -> Result<Self, WriteError> {
        Ok(Self { staging: Staging::new(path, "a data set", overwrite)?, path, progress })
    }

    pub(super) fn graph(&self, graph: &CscGraph) -> Result<(), WriteError> {
        let options = WriteOptions { format: Some(Format::Folder), overwrite: true };
        let written = write::graph(self.staging.folder(), graph, &options, self.progress);
        // The folder in which it is made means nothing to anyone.
        written.map_err(|error| error.problem.at(self.path))
    }

    pub(super) fn features(&self, features: &Features) -> Result<(), WriteError> {
        match features {
            Features::Dense(dense) if dense.columns == 0 => Ok(()),
            Features::Dense(dense) => {
                let mut rows = self.rows(dense.rows, dense.columns)?;
                dense.values.iter().try_for_each(|&value| rows.push(value))?;
                rows.finish()
            }
            Features::Sparse(sparse) => self.sparse(sparse),
        }
    }

    /// Dense features of `nodes` nodes that come number by number.
    pub(super) fn rows(&self, nodes: usize, columns: usize) -> Result<Rows, WriteError> {
        let mut file = self.staging.file("features.npy")?;
        file.write(|out| out.write_all(&write::npy_header("<f4", &[nodes as u64, columns as u64])))?;
        Ok(Rows { file })
    }

    fn sparse(&self, sparse: &Sparse) -> Result<(), WriteError> {
        let Sparse { columns, indptr, indices, values } = sparse;
        self.array("feat_indptr", "<i8", indptr.iter().map(|&offset| i64::from(offset).to_le_bytes()))?;
        self.array("feat_indices", "<i4", indices.iter().map(|column| column.to_le_bytes()))?;
        self.array(
            "feat_shape",
            "<i8",
            [indptr.len() - 1, *columns].map(|extent| (extent as u64).to_le_bytes()).into_iter(),
        )?;
        values.iter().try_for_each(|values| self.array("feat_values", "<f4", values.iter().map(|v| v.to_le_bytes())))
    }

    pub(super) fn labels(&self, labels: &[i64]) -> Result<(), WriteError> {
        self.array("labels", "<i8", labels.iter().map(|label| label.to_le_bytes()))
    }

    pub(super) fn splits(&self, splits: &Splits) -> Result<(), WriteError> {
        if *splits == Splits::default() {
            return Ok(());
        }
        let id = |node: &NodeId| i64::from(node.get()).to_le_bytes();
        self.array("train_idx", "<i8", splits.train.iter().map(id))?;
        self.array("val_idx", "<i8", splits.valid.iter().map(id))?;
        self.array("test_idx", "<i8", splits.test.iter().map(id))
    }

    fn array<const WIDTH: usize>(
        &self,
        name: &str,
        dtype: &str,
        elements: impl ExactSizeIterator<Item = [u8; WIDTH]>,
    ) -> Result<(), WriteError> {
        let mut file = self.staging.file(&format!("{name}.npy"))?;
        file.write(|out| write::npy(out, dtype, elements, &format!("writing {name}.npy"), &Silent))?;
        file.finish()
    }

    /// Puts everything in its place.
    pub(super) fn finish(self) -> Result<(), DatasetError> {
        // What cannot be listed is not there yet, or cannot be written to either.
        let files = arrays::files(self.path).unwrap_or_default();
        let replaced: Vec<_> = files.iter().map(|path| file_name(path)).filter(|name| arrays::is_read(name)).collect();
        Ok(self.staging.finish(&replaced.iter().map(String::as_str).collect::<Vec<_>>())?)
    }
}

/// Dense features that are being written, number by number.
pub(super) struct Rows {
    file: StagedFile,
}

impl Rows {
    pub(super) fn push(&mut self, value: f32) -> Result<(), WriteError> {
        self.file.write(|out| out.write_all(&value.to_le_bytes()))
    }

    pub(super) fn finish(self) -> Result<(), WriteError> {
        self.file.finish()
    }
}
