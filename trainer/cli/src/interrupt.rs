//! Signals that end a command: SIGINT (Ctrl-C), SIGTERM and SIGHUP. This is their one owner.
//!
//! A thread of its own gets them. All others block them, so that no call of a library is interrupted, and what a library starts is
//! not ended by a signal that is for the command. One that was ignored when the process began, as with `nohup` or in the background
//! of a script, stays ignored.
//!
//! The first signal ends the command in order. A pipeline is told to stop, and the command returns with what it has: waves and
//! traces are whole, training has its checkpoint. Where there is no pipeline, [`ending`] does what is left to do, whatever the
//! command waits for. The second signal ends the process at once. `timeout` tells a process and then its group, so what comes within
//! [`SAME`] of the first is the same signal.

use std::{
    fs,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::{SigSet, Signal};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    flag::register_conditional_shutdown,
    iterator::{Handle, Signals},
    low_level::emulate_default_handler,
};
use sim::emulated::{EnvironmentError, Group, Running};

use pipeline::{Stop, Stopping};

use crate::ending::{self, Cause};

/// What ends a command.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
/// Signals that come so soon after the first are taken for the same.
const SAME: Duration = Duration::from_millis(500);

/// What is done with a signal.
struct State {
    owner: Owner,
    /// The pipelines of the command.
    stop: Option<Stop>,
    /// The first signal, and when it came.
    first: Option<(i32, Instant)>,
    /// A signal was handed on.
    handed_on: bool,
}

/// Whom signals are for.
enum Owner {
    /// This process.
    Process,
    /// The command that it runs.
    Command(Group),
    /// Somebody else: the command whose card this process is.
    Nobody,
}

static STATE: Mutex<State> = Mutex::new(State { owner: Owner::Process, stop: None, first: None, handed_on: false });
/// What this process listens to.
static LISTENING: OnceLock<(SigSet, Handle)> = OnceLock::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before [`listen`], a signal ends the process with its exit code.
static EARLY: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on signals end the process with their exit codes: there is nothing yet that could be left. This may be called before
/// `main`, as libraries take their time until then.
pub(crate) fn begin() {
    let early = EARLY.get_or_init(|| Arc::new(AtomicBool::new(true)));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in ENDING.into_iter().filter(|signal| !ignores(&status, *signal as i32)) {
        let _ = register_conditional_shutdown(signal as i32, exit_code(signal as i32).into(), Arc::clone(early));
    }
}

/// From now on signals end the process in order. There are no other threads yet.
pub(crate) fn listen() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let signals = ENDING.into_iter().filter(|signal| !ignores(&status, *signal as i32));
    let signals: Vec<_> = signals.collect();
    let (tell, told) = mpsc::channel();
    let set = signals.iter().copied().collect::<SigSet>();
    let thread = move || {
        // Without the thread there would be nobody to do what the handlers ask for, so it comes first.
        let Ok(mut all) = Signals::new(signals.into_iter().map(|signal| signal as i32)) else { return };
        let _ = tell.send(all.handle());
        drop(tell);
        all.forever().for_each(on_signal);
    };
    let started = thread::Builder::new().name("signals".to_owned()).spawn(thread);
    // Otherwise a signal ends the process as it does everywhere.
    if let Some(handle) = started.ok().and_then(|_| told.recv().ok()) {
        if let Some(early) = EARLY.get() {
            early.store(false, SeqCst);
        }
        let _ = set.thread_block();
        let _ = LISTENING.set((set, handle));
    }
    ending::prepare();
}

/// Whether a process with this status ignores a signal.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn on_signal(signal: i32) {
    let mut state = state();
    match state.owner {
        Owner::Nobody => return,
        Owner::Command(group) => {
            state.handed_on = true;
            return group.signal(signal);
        }
        Owner::Process => {}
    }
    if signal == SIGQUIT {
        drop(state);
        let _ = emulate_default_handler(SIGQUIT); // it dumps core
        return;
    }
    match state.first {
        None => {
            state.first = Some((signal, Instant::now()));
            // One that is told so ends by itself, and the command with it.
            if state.stop.as_ref().is_none_or(|stop| stop.stop() != Stopping::Told) {
                drop(state);
                ending::begin(Cause::Signal(signal));
            }
        }
        Some((_, when)) if when.elapsed() < SAME => {}
        Some((first, _)) => {
            drop(state);
            ending::at_once(first);
        }
    }
}

/// From now on the first signal stops what runs in a pipeline with `stop`, if one does.
pub(crate) fn stops(stop: &Stop) {
    state().stop = Some(stop.clone());
}

/// From now on signals change nothing: this process is the card of a command, and ends with it.
pub(crate) fn leave_to_the_command() {
    state().owner = Owner::Nobody;
}

/// Starts a command in a process group of its own. Until [`take_back`] all signals are for it alone, also SIGQUIT.
pub(crate) fn hand_on<'a>(
    start: impl FnOnce() -> Result<Running<'a>, EnvironmentError>,
) -> Result<Running<'a>, EnvironmentError> {
    // A signal that comes meanwhile waits.
    let mut state = state();
    if state.first.is_some() {
        drop(state);
        ending::wait();
    }
    let listening = LISTENING.get();
    if let Some((set, handle)) = listening {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        if !ignores(&status, SIGQUIT) {
            let _ = handle.add_signal(SIGQUIT);
        }
        // The command begins with those blocked that are blocked here.
        let _ = set.thread_unblock();
    }
    let running = start();
    if let Some((set, _)) = listening {
        let _ = set.thread_block();
    }
    let running = running?;
    state.owner = Owner::Command(running.group());
    Ok(running)
}

/// The command has ended, and signals are for this process again. Returns whether it was sent one.
pub(crate) fn take_back() -> bool {
    let mut state = state();
    state.owner = Owner::Process;
    state.handed_on
}

/// Whether a signal has come that ends the command.
pub(crate) fn came() -> bool {
    state().first.is_some()
}

/// The command is over, and the process ends with its result. Returns the signal that has ended the command, if one has; and not
/// at all if the process is being ended already.
pub(crate) fn settle() -> Option<i32> {
    ending::settle();
    state().first.map(|(signal, _)| signal)
}

/// The exit code of a process that a signal has ended, as a shell has it.
pub(crate) fn exit_code(signal: i32) -> u8 {
    128 + signal.unsigned_abs() as u8
}

/// The name of a signal.
pub(crate) fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "a signal",
    }
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

    #[test]
    fn exit_codes_are_those_of_a_shell() {
        let codes = ENDING.map(|signal| (name(signal as i32), exit_code(signal as i32)));
        assert_eq!(codes, [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)]);
    }
}
