//! One SLR: its kernel, what is bound, and the run in flight.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use golden::{CscGraph, HopCounts, Request};
use zerocopy::{FromZeros, IntoBytes};

use super::{
    XrtError,
    bo::CardBuffer,
    device::{Kernel, Progress, Run, state},
    graph::LoadedGraph,
    outputs::Outputs,
};
use crate::{
    Deadline, DeviceError, RunReport, Slot, Slr,
    card::LINE_BYTES,
    registers::{ARGS, KernelArgs, LIMITS, id_of},
    status::{RunContext, STATUS_BYTES, StatusBlock},
};

/// Pauses between two looks at a run: at once at first, as most runs take microseconds, then longer and longer.
const FIRST_PAUSE: Duration = Duration::from_micros(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// One SLR.
pub(super) struct Lane {
    slr: Slr,
    state: Mutex<State>,
    changed: Condvar,
}

/// What the lock guards.
pub(super) struct State {
    slr: Slr,
    /// Taken and forgotten when the SLR is poisoned with a run in flight.
    pub(super) parts: Option<Parts>,
    flight: Option<Flight>,
    poison: Option<String>,
    cancelled: bool,
}

/// What XRT holds for an SLR, in the order in which it is closed.
pub(super) struct Parts {
    pub(super) run: Run,
    pub(super) slots: HashMap<Slot, Outputs>,
    pub(super) graph: Option<LoadedGraph>,
    seeds: CardBuffer,
    status: CardBuffer,
}

/// A run in flight.
struct Flight {
    slot: Slot,
    context: RunContext,
    begin: Instant,
}

impl Parts {
    fn new(kernel: Kernel) -> Result<Self, XrtError> {
        let (slr, device) = (kernel.slr, Arc::clone(&kernel.device));
        let place = |name: &'static str, bytes: usize| {
            let buffer = CardBuffer::new(&device, &format!("'{name}' of {slr}"), bytes, kernel.group(id_of(name))?)?;
            kernel.check_bank(id_of(name), &buffer)?;
            buffer.clear()?;
            Ok::<_, XrtError>(buffer)
        };
        let seeds = place("seeds", LIMITS.seeds * size_of::<i32>())?;
        let status = place("status", STATUS_BYTES)?;
        Ok(Self { run: Run::open(kernel)?, slots: HashMap::new(), graph: None, seeds, status })
    }

    /// Hands everything to the kernel and starts it.
    fn start(&self, slot: Slot, request: &Request, graph: &CscGraph) -> Result<RunContext, XrtError> {
        let Self { run, seeds, status, .. } = self;
        let Some(outputs) = self.slots.get(&slot) else { unreachable!("the caller has looked") };
        let mut ids: Vec<u8> = request.seeds.iter().flat_map(|seed| seed.get().to_le_bytes()).collect();
        ids.resize(ids.len().next_multiple_of(LINE_BYTES), 0);
        if !ids.is_empty() {
            seeds.write(&ids, 0)?;
        }
        // What an earlier run has left must not be taken for this one's.
        status.write(&[0; STATUS_BYTES], 0)?;

        let values = KernelArgs::of(request, graph, outputs.capacity).values();
        for (id, _) in ARGS.iter().enumerate().filter(|(_, arg)| arg.port.is_none()) {
            run.set_scalar(id, values[id])?;
        }
        run.set_buffer(id_of("seeds"), seeds)?;
        run.set_buffer(id_of("status"), status)?;
        for (id, buffer) in self.graph.iter().flat_map(LoadedGraph::buffers).chain(outputs.written()) {
            run.set_buffer(id, buffer)?;
        }
        run.start()?;
        Ok(RunContext {
            slr: run.kernel.slr,
            minibatch: request.minibatch,
            fanouts: request.fanouts.clone(),
            capacity: outputs.capacity,
            table_slots: run.kernel.table_slots,
            channels: run.kernel.channels,
            elapsed: Duration::ZERO, // not over yet
        })
    }

    /// What a run that is over has left.
    fn outcome(&self, flight: &Flight) -> Result<RunReport, DeviceError> {
        let mut block = StatusBlock::new_zeroed();
        self.status.read(block.as_mut_bytes())?;
        let context = RunContext { elapsed: flight.begin.elapsed(), ..flight.context.clone() };
        let outcome = block.decode(&context);
        let emitted = match &outcome {
            Ok(report) => Some(&report.hops),
            Err(DeviceError::Overflow { emitted, .. } | DeviceError::TableFull { emitted, .. }) => Some(emitted),
            Err(_) => None,
        };
        if let Some(hops) = emitted {
            within(&context, hops)?;
            if let Some(outputs) = self.slots.get(&flight.slot) {
                outputs.deliver(hops)?;
            }
        }
        outcome
    }
}

/// No kernel has written more than there is room for.
fn within(context: &RunContext, hops: &HopCounts) -> Result<(), DeviceError> {
    let (nodes, edges) = (hops.total_nodes(), hops.total_edges());
    if nodes <= context.capacity.nodes && edges <= context.capacity.edges {
        return Ok(());
    }
    let what = format!("it counted {nodes} nodes and {edges} edges, more than there is room for");
    Err(DeviceError::Protocol { slr: context.slr, what })
}

impl State {
    fn check(&self) -> Result<(), DeviceError> {
        self.poison.clone().map_or(Ok(()), |cause| Err(DeviceError::Poisoned { slr: self.slr, cause }))
    }

    /// What XRT holds, if nothing is in flight.
    pub(super) fn idle(&mut self) -> Result<&mut Parts, DeviceError> {
        self.check()?;
        if self.flight.is_some() {
            return Err(DeviceError::Busy { slr: self.slr });
        }
        self.parts.as_mut().ok_or(DeviceError::Idle { slr: self.slr }) // there, as it is not poisoned
    }

    /// Nothing goes on after `error`. If the kernel may still run, what it uses is neither closed nor freed: XRT would crash,
    /// and the card would write into memory that belongs to someone else.
    fn poison(&mut self, error: &DeviceError) {
        self.poison.get_or_insert_with(|| error.to_string());
        if self.flight.take().is_some() {
            self.abandon();
        }
    }

    fn abandon(&mut self) {
        if let Some(parts) = self.parts.take() {
            mem::forget(parts);
        }
    }
}

impl Lane {
    pub(super) fn new(kernel: Kernel) -> Result<Self, XrtError> {
        let slr = kernel.slr;
        let parts = Some(Parts::new(kernel)?);
        let state = State { slr, parts, flight: None, poison: None, cancelled: false };
        Ok(Self { slr, state: Mutex::new(state), changed: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run; the request has been checked against the graph that is loaded.
    pub(super) fn start(&self, slot: Slot, request: &Request, graph: &CscGraph) -> Result<(), DeviceError> {
        let (slr, mut state) = (self.slr, self.lock());
        state.check()?;
        if !state.parts.as_ref().is_some_and(|parts| parts.slots.contains_key(&slot)) {
            return Err(DeviceError::NotBound { slr, slot });
        }
        let begin = Instant::now();
        let context = state.idle()?.start(slot, request, graph)?;
        state.flight = Some(Flight { slot, context, begin });
        Ok(())
    }

    /// Waits for the run in flight, but not longer than `watchdog` since its start. XRT's own wait has no time-out that works
    /// everywhere, so the state is looked at again and again.
    pub(super) fn wait(&self, deadline: Deadline, watchdog: Duration) -> Result<RunReport, DeviceError> {
        let (slr, mut state) = (self.slr, self.lock());
        state.check()?;
        if state.flight.is_none() {
            return Err(DeviceError::Idle { slr });
        }
        let mut pause = FIRST_PAUSE;
        loop {
            if state.cancelled {
                return Err(DeviceError::Cancelled { slr });
            }
            state.check()?;
            let (Some(parts), Some(flight)) = (&state.parts, &state.flight) else {
                return Err(DeviceError::Idle { slr }); // another waiter has taken the run
            };
            match parts.run.progress() {
                Progress::UnderWay => {}
                Progress::Done => {
                    let outcome = parts.outcome(flight);
                    state.flight = None;
                    if let Err(error @ DeviceError::Protocol { .. }) = &outcome {
                        state.poison(error);
                    }
                    return outcome;
                }
                Progress::Failed(found) => {
                    let error = DeviceError::Protocol { slr, what: state::explain(found) };
                    state.poison(&error);
                    return Err(error);
                }
            }
            let since = flight.begin.elapsed();
            let expired = match deadline.remaining() {
                Some(Duration::ZERO) => {
                    Some((deadline.limit().unwrap_or_default(), "XRT says that it is still running"))
                }
                _ if since >= watchdog => Some((watchdog, "the watchdog of back end 'xrt' ends it")),
                _ => None,
            };
            if let Some((limit, detail)) = expired {
                let error = DeviceError::Timeout { slr, limit, detail: Some(detail.to_owned()) };
                state.poison(&error);
                self.changed.notify_all();
                return Err(error);
            }
            let left = deadline.remaining().unwrap_or(watchdog).min(watchdog.saturating_sub(since));
            let (guard, _) = self.changed.wait_timeout(state, pause.min(left)).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// XRT's C API cannot end a run: it is left alone with everything that it uses.
    pub(super) fn cancel(&self) {
        let mut state = self.lock();
        if state.flight.is_some() && state.poison.is_none() {
            state.cancelled = true;
            state.poison(&DeviceError::Cancelled { slr: self.slr });
            self.changed.notify_all();
        }
    }

    /// Gives a run in flight some time to end; after that, everything is closed, or left open if it has not.
    pub(super) fn shut_down(&self, patience: Duration) {
        let mut state = self.lock();
        let begin = Instant::now();
        while let (Some(parts), Some(_)) = (&state.parts, &state.flight) {
            match parts.run.progress() {
                Progress::Done => state.flight = None,
                Progress::UnderWay if begin.elapsed() < patience => {
                    state = self.changed.wait_timeout(state, LONGEST_PAUSE).unwrap_or_else(PoisonError::into_inner).0;
                }
                Progress::UnderWay | Progress::Failed(_) => {
                    state.flight = None;
                    state.abandon();
                }
            }
        }
        state.parts = None;
    }
}
