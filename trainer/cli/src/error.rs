//! Why a command could not be done.

use std::io;

use dataset::DatasetError;
use golden_files::{
    memory::{Free, Gigabytes},
    write::WriteProblem,
};
use pipeline::{PipelineError, accelerator::AcceleratorError, batches::NodeListError, verify::VerifyError};

use crate::{bench::BenchError, options::source};

/// Why a command could not be done: one sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Read(#[from] golden_files::read::ReadError),
    #[error(transparent)]
    Write(#[from] golden_files::write::WriteError),
    #[error("{argument}: {error}")]
    Spec { argument: &'static str, error: golden_files::generate::SpecError },
    #[error("{argument}: {spec} needs about {needed} of memory to be generated, and {free}; make it smaller")]
    Memory { argument: &'static str, spec: String, needed: Gigabytes, free: Free },
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Nodes(#[from] NodeListError),
    #[error(transparent)]
    Device(#[from] hw::DeviceError),
    #[error("back end 'xrt': {0}")]
    Xrt(#[from] hw::xrt::XrtError),
    #[error(transparent)]
    Sample(#[from] golden::SampleError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Accelerator(#[from] AcceleratorError),
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Steps(#[from] learn::steps::StepsError),
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Train(#[from] learn::train::TrainError),
    #[error(transparent)]
    Environment(#[from] sim::emulated::EnvironmentError),
    #[error(transparent)]
    Serve(#[from] sim::emulated::ServeError),
    #[error(transparent)]
    Build(#[from] verilator_sys::build::BuildError),
    /// A signal has come that ends the command.
    #[error("its result is not printed")]
    Interrupted,
    #[error("{0}")]
    Usage(String),
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

impl CliError {
    /// What would help.
    pub(crate) fn hint(&self) -> String {
        use golden::SampleError::Overflow;
        let reading = match self {
            Self::Read(error) | Self::Dataset(DatasetError::Read(error)) => error.problem.setting(),
            _ => None,
        };
        if let Some(setting) = reading {
            return format!(" ({})", source::option(&setting));
        }
        let overflow = match self {
            Self::Sample(Overflow { .. }) | Self::Device(hw::DeviceError::Overflow { .. }) => true,
            Self::Verify(VerifyError::Reference { source, .. }) => matches!(source, Overflow { .. }),
            Self::Verify(VerifyError::Pipeline(PipelineError::Run { source, .. })) => {
                matches!(source, hw::DeviceError::Overflow { .. })
            }
            _ => false,
        };
        let writing = match self {
            Self::Write(error) | Self::Dataset(DatasetError::Write(error)) => match error.problem {
                WriteProblem::Exists { .. } => " with --overwrite",
                _ => "",
            },
            _ => "",
        };
        let hint = if overflow {
            "; omit --node-capacity and --edge-capacity to have room for the worst case"
        } else {
            writing
        };
        hint.to_owned()
    }
}
