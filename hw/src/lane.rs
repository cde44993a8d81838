//! What every back end keeps of an SLR: whether it can still be used, and how its runs are waited for.
//!
//! What a run is, and how one learns that it is over, is the back end's own ([`Runs`]). Poisoning, cancellation, deadlines and
//! several waiters at a time are the same for all.

use std::{
    ops::{Deref, DerefMut},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Deadline, DeviceError, RunReport, Slr};

/// The runs of an SLR.
pub trait Runs {
    /// Whether a run was started that nobody has waited for.
    fn in_flight(&self) -> bool;

    /// Gives up what is in flight: the SLR is poisoned, and nobody gets a result of it.
    fn give_up(&mut self);
}

/// What a look at the oldest run in flight shows.
#[derive(Debug)]
pub enum Look {
    /// It is over, and is not in flight any more unless it is to be given up.
    Over(Result<RunReport, DeviceError>),
    /// It is not over. It is looked at again when [`Lane::changed`] is called, or after so long, if that is given.
    UnderWay(Option<Duration>),
}

/// One SLR of a device.
#[derive(Debug)]
pub struct Lane<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

/// What the lock of a lane guards: its runs, and whether it can still be used.
#[derive(Debug)]
pub struct State<R> {
    slr: Slr,
    runs: R,
    /// The error after which the SLR cannot go on.
    poison: Option<String>,
    /// What was in flight was cancelled.
    cancelled: bool,
}

impl<R> Deref for State<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.runs
    }
}

impl<R> DerefMut for State<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.runs
    }
}

impl<R: Runs> State<R> {
    /// The SLR.
    pub fn slr(&self) -> Slr {
        self.slr
    }

    /// Whether the SLR can still be used.
    ///
    /// # Errors
    /// [`DeviceError::Poisoned`].
    pub fn check(&self) -> Result<(), DeviceError> {
        self.poison.clone().map_or(Ok(()), |cause| Err(DeviceError::Poisoned { slr: self.slr, cause }))
    }

    /// Whether nothing is in flight, so that the memory of the SLR may be changed.
    ///
    /// # Errors
    /// [`DeviceError::Poisoned`], [`DeviceError::Busy`].
    pub fn require_idle(&self) -> Result<(), DeviceError> {
        self.check()?;
        if self.runs.in_flight() { Err(DeviceError::Busy { slr: self.slr }) } else { Ok(()) }
    }

    /// Nothing goes on after `error`.
    fn poison(&mut self, error: &DeviceError) {
        self.poison.get_or_insert_with(|| error.to_string());
        self.runs.give_up();
    }
}

impl<R: Runs> Lane<R> {
    /// An SLR that can be used.
    pub fn new(slr: Slr, runs: R) -> Self {
        let state = State { slr, runs, poison: None, cancelled: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Takes the lock.
    pub fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the runs have changed, to all who wait.
    pub fn changed(&self) {
        self.changed.notify_all();
    }

    /// Releases the lock until [`Lane::changed`] is called, or for so long, if that is given.
    pub fn pause<'a>(&self, state: MutexGuard<'a, State<R>>, limit: Option<Duration>) -> MutexGuard<'a, State<R>> {
        match limit {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0,
        }
    }

    /// Waits for the oldest run in flight, at which `look` looks. An error that [poisons](DeviceError::poisons) the SLR does so;
    /// so does the end of the deadline, which `detail` says more of.
    ///
    /// # Errors
    /// [`DeviceError::Poisoned`], [`DeviceError::Idle`], [`DeviceError::Timeout`], [`DeviceError::Cancelled`], or what ended
    /// the run.
    pub fn wait(
        &self,
        deadline: Deadline,
        detail: Option<&str>,
        mut look: impl FnMut(&mut R) -> Look,
    ) -> Result<RunReport, DeviceError> {
        let mut state = self.lock();
        let slr = state.slr;
        state.check()?;
        loop {
            if state.cancelled {
                return Err(DeviceError::Cancelled { slr });
            }
            if !state.runs.in_flight() {
                // There was none; or another waiter has taken it, and may have poisoned the SLR.
                state.check()?;
                return Err(DeviceError::Idle { slr });
            }
            let pause = match look(&mut state.runs) {
                Look::Over(outcome) => {
                    if let Err(error) = &outcome
                        && error.poisons()
                    {
                        state.poison(error);
                        self.changed();
                    }
                    return outcome;
                }
                Look::UnderWay(pause) => pause,
            };
            state.check()?;
            let left = deadline.remaining();
            if left == Some(Duration::ZERO) {
                let (limit, detail) = (deadline.limit().unwrap_or_default(), detail.map(str::to_owned));
                let error = DeviceError::Timeout { slr, limit, detail };
                state.poison(&error);
                self.changed();
                return Err(error);
            }
            let pause = pause.into_iter().chain(left).min();
            state = self.pause(state, pause);
        }
    }

    /// Ends what is in flight, if anything is: whoever waits for it is told at once, and the SLR is poisoned.
    pub fn cancel(&self) {
        let mut state = self.lock();
        if state.runs.in_flight() && state.poison.is_none() {
            state.cancelled = true;
            let error = DeviceError::Cancelled { slr: state.slr };
            state.poison(&error);
            self.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden::HopCounts;
    use std::thread;

    const SLR: Slr = Slr::ALL[1];

    /// Runs that end when a test says so.
    #[derive(Default)]
    struct Script {
        in_flight: usize,
        over: Vec<Result<RunReport, DeviceError>>,
        looks: usize,
        given_up: usize,
    }

    impl Runs for Script {
        fn in_flight(&self) -> bool {
            self.in_flight > 0
        }

        fn give_up(&mut self) {
            self.given_up += 1;
        }
    }

    impl Script {
        fn look(&mut self, pause: Option<Duration>) -> Look {
            self.looks += 1;
            match self.over.pop() {
                None => Look::UnderWay(pause),
                Some(outcome) => {
                    self.in_flight -= 1;
                    Look::Over(outcome)
                }
            }
        }
    }

    fn lane(in_flight: usize) -> Lane<Script> {
        Lane::new(SLR, Script { in_flight, ..Script::default() })
    }

    fn report() -> RunReport {
        let hops = HopCounts { nodes: vec![3], edges: vec![] };
        RunReport { hops, elapsed: Duration::ZERO, cycles: None, ports: vec![], stages: vec![] }
    }

    /// Until the other thread has looked.
    fn until_looked(lane: &Lane<Script>, looks: usize) {
        while lane.lock().looks < looks {
            thread::yield_now();
        }
    }

    #[test]
    fn of_two_who_wait_for_one_run_the_other_is_told_that_there_is_none() {
        let lane = lane(1);
        let outcomes = thread::scope(|scope| {
            let waiters = [(); 2].map(|()| scope.spawn(|| lane.wait(Deadline::never(), None, |runs| runs.look(None))));
            until_looked(&lane, 2);
            lane.lock().over.push(Ok(report()));
            lane.changed();
            waiters.map(|waiter| waiter.join().unwrap())
        });
        assert!(
            outcomes.contains(&Ok(report())) && outcomes.contains(&Err(DeviceError::Idle { slr: SLR })),
            "{outcomes:?}"
        );
        assert_eq!(lane.lock().require_idle(), Ok(()));
    }

    #[test]
    fn a_run_that_nobody_speaks_of_is_looked_at_after_pauses() {
        let lane = lane(1);
        let outcome = lane.wait(Deadline::never(), None, |runs| {
            if runs.looks == 3 {
                runs.over.push(Ok(report()));
            }
            runs.look(Some(Duration::from_micros(1)))
        });
        assert_eq!(outcome, Ok(report()));
        assert_eq!(lane.lock().looks, 4);
    }

    #[test]
    fn the_first_error_that_poisons_stays() {
        let lane = lane(2);
        let limit = Duration::from_millis(1);
        let timeout = lane.wait(Deadline::after(limit), Some("so it is"), |runs| runs.look(None)).unwrap_err();
        assert_eq!(timeout, DeviceError::Timeout { slr: SLR, limit, detail: Some("so it is".to_owned()) });
        assert_eq!(lane.lock().given_up, 1);
        let poisoned = DeviceError::Poisoned { slr: SLR, cause: timeout.to_string() };
        lane.cancel();
        assert_eq!(lane.lock().check(), Err(poisoned.clone()));
        assert_eq!(lane.lock().require_idle(), Err(poisoned.clone()));
        assert_eq!(lane.wait(Deadline::never(), None, |runs| runs.look(None)), Err(poisoned));
        assert_eq!(lane.lock().given_up, 1);
    }

    #[test]
    fn an_error_of_a_run_poisons_if_it_says_so() {
        let protocol = DeviceError::Protocol { slr: SLR, what: "no".to_owned() };
        for (error, given_up) in [(DeviceError::NoGraph, 0), (protocol, 1)] {
            let lane = lane(1);
            lane.lock().over.push(Err(error.clone()));
            assert_eq!(lane.wait(Deadline::never(), None, |runs| runs.look(None)), Err(error));
            let state = lane.lock();
            assert_eq!((state.given_up, state.check().is_err()), (given_up, given_up == 1));
        }
    }

    #[test]
    fn who_waits_is_told_at_once_that_the_run_was_cancelled() {
        let lane = lane(1);
        let outcome = thread::scope(|scope| {
            let waiter = scope.spawn(|| lane.wait(Deadline::never(), None, |runs| runs.look(None)));
            until_looked(&lane, 1);
            lane.cancel();
            waiter.join().unwrap()
        });
        assert_eq!(outcome, Err(DeviceError::Cancelled { slr: SLR }));
        assert_eq!(lane.lock().given_up, 1);
    }

    #[test]
    fn without_a_run_there_is_nothing_to_cancel_or_to_wait_for() {
        let lane = lane(0);
        lane.cancel();
        assert_eq!(lane.lock().require_idle(), Ok(()));
        assert_eq!(lane.wait(Deadline::never(), None, |runs| runs.look(None)), Err(DeviceError::Idle { slr: SLR }));
    }
}
