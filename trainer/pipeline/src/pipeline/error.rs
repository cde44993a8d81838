//! Why a pipeline does not go on.

use hw::{DeviceError, Slr};

use super::{SinkError, SlotError};
use crate::accelerator::AcceleratorError;

/// Why a pipeline does not go on. After any but [`PipelineError::Slot`], [`PipelineError::Running`] and
/// [`PipelineError::Unfinished`] it never does.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The consumer took a step that the protocol of the slots does not allow.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// No way leads from this card to this accelerator.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The device does not take the buffers.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A run failed.
    #[error("iteration {iteration}, {slr}, mini-batch {minibatch}: {source}")]
    Run {
        /// The iteration, counted from 0 since the start.
        iteration: u64,
        /// The SLR.
        slr: Slr,
        /// The mini-batch.
        minibatch: u64,
        /// Why.
        source: DeviceError,
    },
    /// What was sampled could not be brought to the consumer.
    #[error("iteration {iteration}, {slr}: {source}")]
    Transfer {
        /// The iteration, counted from 0 since the start.
        iteration: u64,
        /// The SLR.
        slr: Slr,
        /// Why.
        source: AcceleratorError,
    },
    /// Something went wrong on the accelerator.
    #[error(transparent)]
    Accelerator(#[from] AcceleratorError),
    /// `start` before everything of the last start has been released.
    #[error("{left} iterations of the last start have not been released")]
    Running {
        /// How many.
        left: u64,
    },
    /// `finish` before everything has been released.
    #[error("the pipeline cannot be finished: {left} iterations have not been released")]
    Unfinished {
        /// How many.
        left: u64,
    },
    /// It was told to stop.
    #[error("stopped after {released} iterations")]
    Stopped {
        /// Iterations that had been released.
        released: u64,
    },
    /// The system gives no more threads.
    #[error("cannot start the thread of {slr}: {message}")]
    Threads {
        /// Whose.
        slr: Slr,
        /// What the system says.
        message: String,
    },
    /// A bug.
    #[error("the producer of {slr} ended in a panic, which is a bug in trisage: {message}")]
    Panic {
        /// Whose.
        slr: Slr,
        /// Its message.
        message: String,
    },
}
