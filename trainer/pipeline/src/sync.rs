//! Threads and locks, of the standard library or of the model checker that explores their schedules.
//!
//! `RUSTFLAGS='--cfg shuttle'` takes those of shuttle (random schedules of the whole pipeline), `--cfg loom` those of loom
//! (every schedule of the slot table). See `just model-check`. Public for tests that run under them too.

#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(shuttle)]
pub use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};
#[cfg(not(any(loom, shuttle)))]
pub use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};

use std::{
    sync::{LockResult, PoisonError},
    time::Duration,
};

#[cfg(loom)]
pub use std::thread;

/// The lock, also after a holder has panicked: what the locks here protect is whole between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mine(mutex.lock())
}

/// Waits for a change of what `guard` protects.
pub fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    mine(changed.wait(guard))
}

/// As [`wait`], but for `limit` at the most; model checkers have no clock and wait for a change.
pub fn wait_for<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>, limit: Duration) -> MutexGuard<'a, T> {
    #[cfg(any(loom, shuttle))]
    return (wait(changed, guard), limit).0;
    #[cfg(not(any(loom, shuttle)))]
    return changed.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner).0;
}

fn mine<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
