//! Ctrl-C.

use std::fs;

use crate::{backends, error::CliError, output::say};
#[cfg(feature = "torch")]
use learn::train::TrainError;
use pipeline::{PipelineError, Stop, Stopping, verify::VerifyError};

/// How a process ends that was interrupted: 128 and the number of SIGINT.
pub(crate) const EXIT_CODE: u8 = 130;
const SIGINT: u32 = 2;

/// The first Ctrl-C stops what runs in a pipeline with `stop`. One before there is a pipeline, and a second one, end the
/// process at once; one after it changes nothing, as the result is being written.
pub(crate) fn stops(stop: &Stop) {
    // A shell lets jobs in the background ignore it.
    if fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, SIGINT)) {
        return;
    }
    let stop = stop.clone();
    let handler = move || match stop.stop() {
        Stopping::Told | Stopping::Over => {}
        Stopping::Early | Stopping::Again => {
            say("error: interrupted");
            backends::exit(EXIT_CODE);
        }
    };
    // Without a handler Ctrl-C ends the process, as it does everywhere.
    let _ = ctrlc::set_handler(handler);
}

/// Whether a process with this status ignores a signal.
fn ignores(status: &str, signal: u32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether this error says that a pipeline was stopped.
pub(crate) fn stopped(error: &CliError) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001006\n";
        assert_eq!([1, 2, 3, 13, 15].map(|signal| ignores(status, signal)), [false, true, true, true, false]);
        assert!(!ignores("", SIGINT) && !ignores("SigIgn: x", SIGINT));
    }
}
