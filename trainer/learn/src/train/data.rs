//! A data set where training reads it.

use std::{path::Path, sync::Arc};

use golden::{CscGraph, NodeId};
use tch::{Device, Tensor};

use super::{DataIdentity, TrainError};
use crate::{
    sage,
    torch::{Torch, TorchAccelerator},
};
use dataset::Dataset;
use golden_files::memory::Gigabytes;
use pipeline::ledger::Direction;

/// A data set whose features and labels are tensors.
///
/// Its parts cannot be changed, so that it stays the one of its identity.
#[derive(Debug)]
pub struct Data {
    /// The graph.
    pub(super) graph: Arc<CscGraph>,
    /// Float32 `[nodes, columns]`.
    pub(super) features: Tensor,
    /// Int64 `[nodes]`.
    pub(super) labels: Tensor,
    /// How many classes there are.
    pub(super) classes: usize,
    /// The nodes to train with.
    pub(super) train: Vec<NodeId>,
    /// The nodes to choose a model by, int64.
    pub(super) valid: Tensor,
    /// The nodes to judge it by, int64.
    pub(super) test: Tensor,
    identity: DataIdentity,
}

impl Data {
    /// Takes over a data set, which was read from `path`; `normalise` divides each row of its features by its sum.
    ///
    /// # Errors
    /// What it lacks for training, or why its features do not fit.
    pub fn new<A: TorchAccelerator>(
        mut dataset: Dataset,
        path: &Path,
        normalise: bool,
        torch: &Torch<A>,
    ) -> Result<Self, TrainError> {
        dataset.check_trainable(path)?;
        if normalise {
            dataset.features.normalise_rows(path)?;
        }
        let Dataset { graph, features, labels, classes, splits, .. } = dataset;
        let accelerator = &**torch.accelerator();
        if let Some(free) = accelerator.free_memory()? {
            let elements = features.rows() as u64 * features.columns() as u64;
            let needed = elements * size_of::<f32>() as u64 + size_of_val(&*labels) as u64;
            fits(needed, free, path, || accelerator.describe())?;
        }
        let features = features.dense(path)?;
        let shape = [features.rows(), features.columns()];
        let identity = DataIdentity::of(&graph, (shape, features.values()), (&labels, classes), &splits);
        let shape = shape.map(|length| length as i64);
        let ids = |nodes: &[NodeId]| nodes.iter().map(|node| i64::from(node.get())).collect::<Vec<_>>();
        let upload = |site, tensor: Tensor| {
            accelerator.ledger().cross(Direction::Up, site, tensor.numel() * tensor.kind().elt_size_in_bytes());
            tensor.f_to_device(torch.device())
        };
        let [features, labels, valid, test] = torch.compute("the data set", [], |[]| -> sage::Result<_> {
            Ok([
                upload("features", Tensor::f_from_slice(features.values())?.f_reshape(shape)?)?,
                upload("labels", Tensor::f_from_slice(&labels)?)?,
                upload("nodes to evaluate", Tensor::f_from_slice(&ids(&splits.valid))?)?,
                upload("nodes to evaluate", Tensor::f_from_slice(&ids(&splits.test))?)?,
            ])
        })??;
        Ok(Self { graph, features, labels, classes, train: splits.train, valid, test, identity })
    }

    /// The data set by its content.
    pub fn identity(&self) -> &DataIdentity {
        &self.identity
    }

    /// Numbers that are known of each node.
    pub fn columns(&self) -> usize {
        self.features.numel() / self.graph.nodes().max(1)
    }

    /// Where the tensors lie.
    pub fn device(&self) -> Device {
        self.features.device()
    }
}

/// Refuses what is larger than the memory that is free.
fn fits(needed: u64, free: u64, path: &Path, device: impl Fn() -> String) -> Result<(), TrainError> {
    if needed <= free {
        return Ok(());
    }
    let (needed, free) = (Gigabytes(needed), Gigabytes(free));
    Err(TrainError::Memory { path: path.to_owned(), device: device(), needed, free })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_a_gpu_is_refused() {
        let fits = |needed| fits(needed, 80_000_000_000, Path::new("papers"), || "a GPU".to_owned());
        assert!(fits(80_000_000_000).is_ok());
        assert_eq!(
            fits(80_100_000_000).unwrap_err().to_string(),
            "papers: features and labels take 80.1 GB, and a GPU has 80.0 GB of its memory free; train on the processor \
             (--device cpu), or on a GPU with more"
        );
    }
}
