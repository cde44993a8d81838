//! The slots, shared between producers and consumer: who waits for what.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use golden::Request;
use hw::{RunReport, SLRS, Slot, Slr};

use super::{Generation, PipelineError, Slots, Totals};
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait, wait_for};

/// Which mini-batch an SLR samples in an iteration, counted from 0 since the start; `None` leaves the SLR out of it.
pub type Requests = dyn Fn(u64, Slr) -> Option<Request> + Send + Sync;

/// What an SLR has put into its buffers of a slot.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The mini-batch.
    pub minibatch: u64,
    /// Valid elements of samples, rows, cols and edges.
    pub counts: [usize; 4],
    /// Nodes and edges of each hop, and what the device measured.
    pub report: RunReport,
    /// From the start of the run until its end was seen.
    pub sampling: Duration,
    /// From then until the consumer could have read it.
    pub transfer: Duration,
}

/// One iteration in the consumer's hands.
#[derive(Clone, Debug)]
pub struct Item {
    /// Counted from 0 since the start.
    pub iteration: u64,
    /// The slot that holds it.
    pub slot: Slot,
    /// Which iteration of the pipeline's life the slot holds.
    pub generation: Generation,
    /// `iteration` mod 3: in verification SLR s has mini-batch (s + rotation) mod 3.
    pub rotation: u64,
    /// What each SLR has put there; `None` for one that was left out.
    pub slrs: [Option<Filled>; SLRS],
}

/// What a producer is to do next.
pub(super) struct Task {
    /// When the iterations were asked for.
    pub(super) begun: Instant,
    pub(super) iteration: u64,
    pub(super) slot: Slot,
    pub(super) generation: Generation,
    pub(super) requests: Arc<Requests>,
}

/// Slots that threads share.
pub(super) struct Table {
    state: Mutex<State>,
    /// A slot is free, or nothing more will be.
    freed: Condvar,
    /// A slot is ready, or nothing more will be.
    ready: Condvar,
}

struct State {
    slots: Slots,
    /// What each slot holds.
    filled: Vec<[Option<Filled>; SLRS]>,
    /// The first generation of the last start.
    first: Generation,
    requests: Arc<Requests>,
    failure: Option<PipelineError>,
    /// No more is produced.
    closed: bool,
    begun: Instant,
    /// When the last transfer of each SLR was done.
    arrived: [Instant; SLRS],
    /// When the consumer's stream came to each slot.
    consuming: Vec<Option<Instant>>,
    /// When it had last done with one.
    consumed: Instant,
    totals: Totals,
}

impl State {
    fn check(&self) -> Result<(), PipelineError> {
        self.failure.clone().map_or(Ok(()), Err)
    }
}

impl Table {
    pub(super) fn new(slots: usize) -> Self {
        let state = State {
            slots: Slots::new(slots),
            filled: (0..slots).map(|_| [const { None }; SLRS]).collect(),
            first: Generation(0),
            requests: Arc::new(|_, _| None),
            failure: None,
            closed: false,
            begun: Instant::now(),
            arrived: [Instant::now(); SLRS],
            consuming: vec![None; slots],
            consumed: Instant::now(),
            totals: Totals::default(),
        };
        Self { state: Mutex::new(state), freed: Condvar::new(), ready: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn changed(&self) {
        self.freed.notify_all();
        self.ready.notify_all();
    }

    /// Asks for iterations.
    pub(super) fn start(&self, iterations: u64, requests: Arc<Requests>) -> Result<(), PipelineError> {
        let mut state = self.lock();
        state.check()?;
        if !state.slots.all_free() {
            return Err(PipelineError::Running { left: state.slots.unreleased() });
        }
        state.first = state.slots.extend(iterations);
        state.requests = requests;
        state.begun = Instant::now();
        state.totals = Totals::default();
        self.freed.notify_all();
        Ok(())
    }

    /// # Errors
    /// Why nothing goes on.
    pub(super) fn check(&self) -> Result<(), PipelineError> {
        self.lock().check()
    }

    /// What the producer of `slr` is to do next; waits for it. `None`: the producer is to end.
    pub(super) fn begin_fill(&self, slr: Slr) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.closed || state.failure.is_some() {
                return None;
            }
            if let Some((slot, generation)) = state.slots.begin_fill(slr) {
                let (iteration, requests) = (generation.0 - state.first.0, Arc::clone(&state.requests));
                return Some(Task { begun: state.begun, iteration, slot, generation, requests });
            }
            state = wait(&self.freed, state);
        }
    }

    /// Does `f` unless the producers are to end; they are not told to while it is being done.
    pub(super) fn unless_closed<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        let state = self.lock();
        (!state.closed).then(f)
    }

    /// A transfer of an SLR is done that was asked for at `asked`. Returns from when to when it was under way.
    pub(super) fn arrived(&self, slr: Slr, asked: Instant) -> [Instant; 2] {
        let mut state = self.lock();
        let before = std::mem::replace(&mut state.arrived[slr.index()], Instant::now());
        [before.max(asked), state.arrived[slr.index()]]
    }

    /// An SLR has filled its part of a slot.
    pub(super) fn filled(&self, slr: Slr, slot: Slot, filled: Option<Filled>) {
        let mut state = self.lock();
        if let Some(filled) = &filled {
            let times = &mut state.totals.slrs[slr.index()];
            times.sampling += filled.sampling;
            times.transfer += filled.transfer;
        }
        state.filled[slot.0 as usize][slr.index()] = filled;
        if state.slots.filled(slot) {
            self.ready.notify_all();
        }
    }

    /// Nothing goes on after this; the first reason is kept.
    pub(super) fn fail(&self, failure: PipelineError) {
        self.lock().failure.get_or_insert(failure);
        self.changed();
    }

    /// Nothing goes on after this, as somebody wishes it.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        let released = state.totals.iterations;
        state.failure.get_or_insert(PipelineError::Stopped { released });
        drop(state);
        self.changed();
    }

    /// Tells the producers to end.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed();
    }

    /// The next iteration, when all SLRs have filled it; `None` when the last has been handed out. Calls `check` now and then
    /// while it waits.
    pub(super) fn acquire(&self, check: &dyn Fn() -> Result<(), PipelineError>) -> Result<Option<Item>, PipelineError> {
        /// How long an accelerator's failure may go unseen.
        const LOOK: Duration = Duration::from_millis(100);
        let mut state = self.lock();
        loop {
            state.check()?;
            if let Some((slot, generation)) = state.slots.acquire() {
                let iteration = generation.0 - state.first.0;
                let slrs = std::mem::take(&mut state.filled[slot.0 as usize]);
                return Ok(Some(Item { iteration, slot, generation, rotation: iteration % SLRS as u64, slrs }));
            }
            if state.slots.all_acquired() {
                return Ok(None);
            }
            check()?;
            state = wait_for(&self.ready, state, LOOK);
        }
    }

    /// The consumer begins.
    pub(super) fn begin_consume(&self, slot: Slot, generation: Generation) -> Result<(), PipelineError> {
        Ok(self.lock().slots.begin_consume(slot, generation)?)
    }

    /// The consumer wants no more of the slot.
    pub(super) fn release(&self, slot: Slot, generation: Generation) -> Result<(), PipelineError> {
        let mut state = self.lock();
        state.slots.release(slot, generation)?;
        state.totals.iterations += 1;
        Ok(())
    }

    /// The consumer's stream has come to its work on a slot.
    pub(super) fn consuming(&self, slot: Slot) {
        self.lock().consuming[slot.0 as usize] = Some(Instant::now());
    }

    /// The consumer's stream has done its work on a slot. Returns from when to when that was.
    pub(super) fn consumed(&self, slot: Slot) -> [Instant; 2] {
        let mut state = self.lock();
        let end = Instant::now();
        // It may have come to this slot while it had work on another.
        let begin = state.consuming[slot.0 as usize].take().map_or(end, |begin| begin.max(state.consumed));
        state.consumed = end;
        state.totals.consuming += end.saturating_duration_since(begin);
        state.totals.wall = end - state.begun;
        [begin.min(end), end]
    }

    /// A slot that was released may be filled again.
    pub(super) fn freed(&self, slot: Slot) {
        self.lock().slots.free(slot);
        self.changed();
    }

    /// Waits until everything that was released is free, and tells what it all took.
    pub(super) fn finish(&self, check: &dyn Fn() -> Result<(), PipelineError>) -> Result<Totals, PipelineError> {
        const LOOK: Duration = Duration::from_millis(100);
        let mut state = self.lock();
        loop {
            state.check()?;
            match state.slots.unreleased() {
                0 if state.slots.all_free() => return Ok(state.totals.clone()),
                0 => {}
                left => return Err(PipelineError::Unfinished { left }),
            }
            check()?;
            state = wait_for(&self.ready, state, LOOK);
        }
    }

    /// Adds to what is measured.
    pub(super) fn measure(&self, add: impl FnOnce(&mut Totals)) {
        add(&mut self.lock().totals);
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("slots", &self.lock().slots).finish_non_exhaustive()
    }
}
