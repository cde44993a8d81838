//! Why there is no training.

use std::path::PathBuf;

use golden_files::write::WriteError;
use hw::{DeviceError, Slr};
use tch::TchError;

use crate::sage;
use dataset::DatasetError;
use golden_files::memory::Gigabytes;
use pipeline::{PipelineError, accelerator::AcceleratorError};

/// Why there is no training, or no more of it: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting that makes no sense.
    #[error("{setting}: {problem}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of settings that cannot be used.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The data set cannot be trained with.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The device does not take the graph or the mini-batches.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Sampling or transport failed.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// What computes has failed, or is not there.
    #[error(transparent)]
    Accelerator(#[from] AcceleratorError),
    /// The data set is larger than the memory of what computes.
    #[error(
        "{}: features and labels take {needed}, and {device} has {free} of its memory free; train on the processor \
         (--device cpu), or on a GPU with more",
        path.display()
    )]
    Memory {
        /// The data set.
        path: PathBuf,
        /// What computes.
        device: String,
        /// What is needed.
        needed: Gigabytes,
        /// What is there.
        free: Gigabytes,
    },
    /// A loss is infinite or not a number.
    #[error("the loss is {loss} in epoch {epoch}, iteration {iteration}, {slr}; a smaller learning rate may help")]
    Loss {
        /// The loss.
        loss: f32,
        /// The epoch, counted from 1.
        epoch: u64,
        /// The iteration, counted from 0 in each epoch.
        iteration: u64,
        /// The SLR that had sampled the mini-batch.
        slr: Slr,
    },
    /// Parameters of the model are infinite or not numbers.
    #[error("{elements} elements of the parameters are infinite or not numbers; a smaller learning rate may help")]
    Parameters {
        /// How many.
        elements: i32,
    },
    /// The folder for results is another run's.
    #[error("{}: another run writes its results there; give another folder", .0.display())]
    InUse(PathBuf),
    /// The folder for results holds something.
    #[error("{}: the folder is not empty; give --resume to go on with what is there, or --overwrite", .0.display())]
    NotEmpty(PathBuf),
    /// Training cannot go on from what is in the folder.
    #[error("{}: {problem}", path.display())]
    Resume {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A result cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// libtorch cannot do what it is asked for.
    #[error("libtorch: {0}")]
    Torch(String),
}

impl From<TchError> for TrainError {
    fn from(error: TchError) -> Self {
        Self::Torch(sage::sentence(&error))
    }
}
