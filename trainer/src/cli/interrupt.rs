//! Ctrl-C.

use super::{CliError, say};
#[cfg(feature = "torch")]
use crate::train::TrainError;
use crate::{
    pipeline::{PipelineError, Stop},
    verify::VerifyError,
};

/// How a process ends that was interrupted: 128 and the number of SIGINT.
pub(super) const EXIT_CODE: u8 = 130;

/// The first Ctrl-C (or SIGTERM) stops what runs in a pipeline with `stop`; a second one, or one while nothing does, ends the
/// process at once.
pub(super) fn stops(stop: &Stop) {
    let stop = stop.clone();
    let handler = move || {
        if !stop.stop() {
            say("error: interrupted");
            std::process::exit(EXIT_CODE.into());
        }
    };
    // Without a handler Ctrl-C ends the process, as it does everywhere.
    let _ = ctrlc::set_handler(handler);
}

/// Whether this error says that a pipeline was stopped.
pub(super) fn stopped(error: &CliError) -> bool {
    #[cfg(feature = "torch")]
    if let CliError::Train(TrainError::Pipeline(PipelineError::Stopped { .. })) = error {
        return true;
    }
    matches!(
        error,
        CliError::Pipeline(PipelineError::Stopped { .. })
            | CliError::Verify(VerifyError::Pipeline(PipelineError::Stopped { .. }))
    )
}
