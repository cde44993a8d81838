//! A command that runs with an emulated card.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use super::environment::{Environment, EnvironmentError, cannot_run};
use crate::complain;

/// A command that runs in an [`Environment`], with all processes that it starts.
#[derive(Debug)]
pub struct Running<'a> {
    pub(super) environment: &'a Environment,
    pub(super) program: String,
    pub(super) child: Child,
}

/// The processes of a command. It is theirs as long as the command has not been waited for.
#[derive(Clone, Copy, Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// Sends all of them a signal.
    pub fn signal(self, signal: i32) {
        if let (Some(group), Some(signal)) = (self.0, Signal::from_named_raw(signal)) {
            let _ = kill_process_group(group, signal); // it may have ended
        }
    }
}

impl Running<'_> {
    /// Its processes.
    pub fn group(&self) -> Group {
        Group(i32::try_from(self.child.id()).ok().and_then(Pid::from_raw))
    }

    /// Waits until it ends, and ends what it has left behind. `ended` is called when it has ended, and returns whether it was sent a
    /// signal; from then on its group gets none. Gives the status with which to end: that of the command, 128 and the signal that ended it, or 1
    /// if it was content and the card was not.
    ///
    /// # Errors
    /// [`EnvironmentError::Command`] if it cannot be waited for.
    pub fn wait(mut self, ended: impl FnOnce() -> bool) -> Result<u8, EnvironmentError> {
        let group = self.group();
        if let Some(process) = group.0 {
            // It stays there, so that no other group can have its number.
            let there = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while waitid(WaitId::Pid(process), there).is_err_and(|error| error == Errno::INTR) {}
        }
        let told = ended();
        group.signal(Signal::KILL.as_raw());
        let status = self.child.wait().map_err(|error| cannot_run(self.program.clone(), &error))?;
        let code = code_of(status);
        if told && code != 0 {
            // It was interrupted, and so was the card in whatever it did.
            return Ok(code);
        }
        if let Some(signal) = status.signal() {
            complain(&format_args!("'{}' was ended by signal {signal}", self.program));
        }
        let faults = self.environment.faults();
        for fault in &faults {
            complain(&format_args!("emulated card: {fault}"));
        }
        Ok(if code == 0 && !faults.is_empty() { 1 } else { code })
    }
}

fn code_of(status: ExitStatus) -> u8 {
    let signalled = || 128 + status.signal().unwrap_or_default();
    status.code().unwrap_or_else(signalled).try_into().unwrap_or(u8::MAX)
}
