//! The end of the process while its command is not done: by a signal, or because there is no memory.
//!
//! A thread that does nothing else is there from the beginning, as there may be no memory for one when it is needed. It ends
//! what writes (tools, simulated kernels with waves), removes what is unfinished, says why in a sentence, and ends the process without
//! destructors, as the command's threads may be anywhere.

use std::{
    cell::Cell,
    io::{self, IsTerminal, Write},
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread::{self, Thread},
    time::Duration,
};

use golden_files::{memory, memory::Gigabytes, write};
use hw::{SamplerDevice, Slr, xrt};
use verilator_sys::build;

use crate::{interrupt, output::say};

/// Why the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A signal.
    Signal(i32),
    /// So many bytes could not be had.
    Memory(usize),
}

/// How long somebody who does not read what is said keeps the process.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why the process ends, as [`Cause::word`] has it; [`NOTHING`] while it does not, and [`SETTLED`] once its command is over.
static CAUSE: AtomicU64 = AtomicU64::new(NOTHING);
const NOTHING: u64 = 0;
const SETTLED: u64 = u64::MAX;
const MEMORY: u64 = 1 << 63;

/// The thread that ends the process.
static THREAD: OnceLock<Thread> = OnceLock::new();
/// Devices that record something.
static RECORDS: Mutex<Vec<Weak<dyn SamplerDevice>>> = Mutex::new(Vec::new());

thread_local! {
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

impl Cause {
    fn word(self) -> u64 {
        match self {
            Self::Signal(signal) => u64::from(signal.unsigned_abs()),
            Self::Memory(bytes) => MEMORY | bytes as u64,
        }
    }

    fn of_word(word: u64) -> Self {
        if word & MEMORY == 0 { Self::Signal(word as i32) } else { Self::Memory((word & !MEMORY) as usize) }
    }

    fn exit_code(self) -> u8 {
        match self {
            Self::Signal(signal) => interrupt::exit_code(signal),
            Self::Memory(_) => 2,
        }
    }

    fn sentence(self) -> String {
        match self {
            Self::Signal(signal) => format!("interrupted by {}", interrupt::name(signal)),
            Self::Memory(bytes) => {
                let free = memory::available().map(|free| format!(", and {free}")).unwrap_or_default();
                format!("out of memory: {} more are needed at once{free}", Gigabytes(bytes as u64))
            }
        }
    }
}

/// Makes the thread.
pub(crate) fn prepare() {
    let (tell, told) = mpsc::channel();
    let thread = move || {
        ENDS.set(true);
        let _ = tell.send(());
        loop {
            thread::park();
            if !matches!(CAUSE.load(SeqCst), NOTHING | SETTLED) {
                end(Cause::of_word(CAUSE.load(SeqCst)));
            }
        }
    };
    if let Ok(started) = thread::Builder::new().name("end".to_owned()).spawn(thread) {
        // What it takes of the address space is taken before anybody asks how much is left.
        let _ = told.recv();
        let _ = THREAD.set(started.thread().clone());
    }
}

/// The waves of this device are to be whole, whatever ends the process.
pub(crate) fn record(device: Weak<dyn SamplerDevice>) {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner).push(device);
}

/// Begins to end the process, and returns. If its command is over, the process ends at once.
pub(crate) fn begin(cause: Cause) {
    match (CAUSE.compare_exchange(NOTHING, cause.word(), SeqCst, SeqCst), THREAD.get()) {
        (Ok(_), Some(thread)) => thread.unpark(),
        (Ok(_), None) => end(cause),
        (Err(SETTLED), _) => xrt::end_at_once(cause.exit_code().into()),
        (Err(_), _) => {}
    }
}

/// There is no memory for so many bytes: ends the process. Returns if that cannot be done.
pub(crate) fn out_of_memory(bytes: usize) {
    let Some(thread) = THREAD.get() else { return };
    if ENDS.get() {
        return;
    }
    if CAUSE.compare_exchange(NOTHING, Cause::Memory(bytes).word(), SeqCst, SeqCst) == Err(SETTLED) {
        return;
    }
    thread.unpark();
    wait();
}

/// The command is over, and the process ends as it says. Does not return if the process is being ended already.
pub(crate) fn settle() {
    if !matches!(CAUSE.compare_exchange(NOTHING, SETTLED, SeqCst, SeqCst), Ok(_) | Err(SETTLED)) {
        wait();
    }
}

/// Waits for the end of the process.
pub(crate) fn wait() -> ! {
    loop {
        thread::sleep(Duration::from_hours(1));
    }
}

fn end(cause: Cause) -> ! {
    build::end_tools();
    let devices = std::mem::take(&mut *RECORDS.lock().unwrap_or_else(PoisonError::into_inner));
    let mut sentence = cause.sentence();
    if let Cause::Signal(_) = cause {
        if let Err(error) = finish(&devices) {
            sentence = format!("{sentence}; {error}");
        }
    } else {
        // Who got no memory may hold what this waits for.
        within_patience(move || {
            let _ = finish(&devices);
        });
    }
    write::abandon();
    say_to_who_listens(&format!("error: {sentence}"));
    xrt::end_at_once(cause.exit_code().into())
}

/// Ends what devices record, and what they are doing.
fn finish(devices: &[Weak<dyn SamplerDevice>]) -> Result<(), hw::DeviceError> {
    let devices = devices.iter().filter_map(Weak::upgrade).map(|device| {
        Slr::ALL.into_iter().for_each(|slr| device.cancel(slr));
        device.finish()
    });
    // All of them, also when one has failed.
    devices.fold(Ok(()), Result::and)
}

/// Ends the process that a signal was to end in order, at once. What is unfinished is removed if that takes no time.
pub(crate) fn at_once(signal: i32) -> ! {
    within_patience(move || {
        build::end_tools();
        write::abandon();
        clear_line();
        say(&format!("error: interrupted by {}, and ended at once by another signal", interrupt::name(signal)));
    });
    xrt::end_at_once(interrupt::exit_code(signal).into())
}

/// Says something on stderr, unless nobody reads what was said before.
pub(crate) fn say_to_who_listens(message: &str) {
    let message = message.to_owned();
    within_patience(move || {
        clear_line();
        say(&message);
    });
}

/// Removes the bar of progress.
fn clear_line() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[2K");
    }
}

/// Does what may have to wait for others, but waits only so long.
fn within_patience(act: impl Fn() + Send + Sync + 'static) {
    let (tell, told) = mpsc::channel();
    let act = Arc::new(act);
    let other = Arc::clone(&act);
    let thread = move || {
        other();
        let _ = tell.send(());
    };
    match thread::Builder::new().spawn(thread) {
        Ok(_) => drop(told.recv_timeout(PATIENCE)),
        // There is no memory for a thread.
        Err(_) => act(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_a_word() {
        for cause in [Cause::Signal(1), Cause::Signal(15), Cause::Memory(0), Cause::Memory(1 << 40)] {
            assert_eq!(Cause::of_word(cause.word()), cause);
            assert!(![NOTHING, SETTLED].contains(&cause.word()), "{cause:?}");
        }
    }

    #[test]
    fn who_does_not_read_keeps_nobody_for_ever() {
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        within_patience(move || assert!(held.lock().unwrap().recv().is_err()));
        drop(release);
    }
}
