//! A data set where training reads it.

use std::{path::Path, sync::Arc};

use golden::{CscGraph, NodeId};
use tch::{Device, Tensor};

use super::TrainError;
use crate::{accelerator::Accelerator, dataset::Dataset, ledger::Direction};

/// A data set whose features and labels are tensors.
#[derive(Debug)]
pub struct Data {
    /// The graph.
    pub graph: Arc<CscGraph>,
    /// Float32 `[nodes, columns]`.
    pub features: Tensor,
    /// Int64 `[nodes]`.
    pub labels: Tensor,
    /// How many classes there are.
    pub classes: usize,
    /// The nodes to train with.
    pub train: Vec<NodeId>,
    /// The nodes to choose a model by, int64.
    pub valid: Tensor,
    /// The nodes to judge it by, int64.
    pub test: Tensor,
}

impl Data {
    /// Takes over a data set, which was read from `path`; `normalise` divides each row of its features by its sum.
    ///
    /// # Errors
    /// What it lacks for training, or why its features do not fit.
    pub fn new(
        mut dataset: Dataset,
        path: &Path,
        normalise: bool,
        accelerator: &impl Accelerator,
    ) -> Result<Self, TrainError> {
        dataset.check_trainable(path)?;
        if normalise {
            dataset.features.normalise_rows(path)?;
        }
        let Dataset { graph, features, labels, classes, splits } = dataset;
        let shape = [features.rows() as i64, features.columns() as i64];
        let features = Tensor::f_from_slice(features.dense(path)?.values())?.f_reshape(shape)?;
        let ids = |nodes: &[NodeId]| {
            Tensor::f_from_slice(&nodes.iter().map(|node| i64::from(node.get())).collect::<Vec<_>>())
        };
        let (valid, test) = (ids(&splits.valid)?, ids(&splits.test)?);
        let labels = Tensor::f_from_slice(&labels)?;
        let ledger = accelerator.ledger();
        ledger.cross(Direction::Up, "features", features.numel() * size_of::<f32>());
        ledger.cross(Direction::Up, "labels", labels.numel() * size_of::<i64>());
        Ok(Self { graph, features, labels, classes, train: splits.train, valid, test })
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
