//! One SLR: its kernel, what is bound, and the run in flight.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, MutexGuard},
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
    lane::{self, Look, Runs},
    registers::{ARGS, KernelArgs, LIMITS, id_of},
    status::{RunContext, STATUS_BYTES, StatusBlock},
};

/// Pauses between two looks at a run: at once at first, as most runs take microseconds, then longer and longer.
const FIRST_PAUSE: Duration = Duration::from_micros(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// One SLR.
pub(super) struct Lane {
    slr: Slr,
    lane: lane::Lane<CardRuns>,
}

/// What the lock of a lane guards.
pub(super) type State = lane::State<CardRuns>;

/// The run of an SLR, and what it needs.
pub(super) struct CardRuns {
    /// Taken and forgotten when the SLR is poisoned with a run in flight.
    pub(super) parts: Option<Parts>,
    flight: Option<Flight>,
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
    /// What XRT holds, if nothing is in flight.
    pub(super) fn idle(&mut self) -> Result<&mut Parts, DeviceError> {
        self.require_idle()?;
        let slr = self.slr();
        self.parts.as_mut().ok_or(DeviceError::Idle { slr }) // there, as it is not poisoned
    }
}

impl CardRuns {
    /// XRT's own wait has no time-out that works everywhere, so the state is looked at again and again, after pauses. A run ends
    /// when `watchdog` has passed since its start, unless `deadline` has passed, too.
    fn look(&mut self, slr: Slr, deadline: Deadline, watchdog: Duration, pause: &mut Duration) -> Look {
        let (Some(parts), Some(flight)) = (&self.parts, &self.flight) else {
            return Look::Over(Err(DeviceError::Idle { slr })); // not so, as one is in flight
        };
        match parts.run.progress() {
            Progress::UnderWay => {}
            Progress::Done => {
                let outcome = parts.outcome(flight);
                self.flight = None;
                return Look::Over(outcome);
            }
            Progress::Failed(found) => {
                return Look::Over(Err(DeviceError::Protocol { slr, what: state::explain(found) }));
            }
        }
        let since = flight.begin.elapsed();
        if since >= watchdog && deadline.remaining() != Some(Duration::ZERO) {
            let detail = Some("the watchdog of back end 'xrt' ends it".to_owned());
            return Look::Over(Err(DeviceError::Timeout { slr, limit: watchdog, detail }));
        }
        let next = (*pause).min(watchdog.saturating_sub(since));
        *pause = (2 * *pause).min(LONGEST_PAUSE);
        Look::UnderWay(Some(next))
    }

    fn abandon(&mut self) {
        if let Some(parts) = self.parts.take() {
            mem::forget(parts);
        }
    }
}

impl Runs for CardRuns {
    fn in_flight(&self) -> bool {
        self.flight.is_some()
    }

    /// XRT's C API cannot end a run. If the kernel may still run, what it uses is neither closed nor freed: XRT would crash, and
    /// the card would write into memory that belongs to someone else.
    fn give_up(&mut self) {
        if self.flight.take().is_some() {
            self.abandon();
        }
    }
}

impl Lane {
    pub(super) fn new(kernel: Kernel) -> Result<Self, XrtError> {
        let slr = kernel.slr;
        let runs = CardRuns { parts: Some(Parts::new(kernel)?), flight: None };
        Ok(Self { slr, lane: lane::Lane::new(slr, runs) })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.lane.lock()
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

    /// Waits for the run in flight, but not longer than `watchdog` since its start.
    pub(super) fn wait(&self, deadline: Deadline, watchdog: Duration) -> Result<RunReport, DeviceError> {
        let (slr, mut pause) = (self.slr, FIRST_PAUSE);
        let detail = "XRT says that it is still running";
        self.lane.wait(deadline, Some(detail), |runs| runs.look(slr, deadline, watchdog, &mut pause))
    }

    /// The run in flight, if there is one, is left alone with everything that it uses.
    pub(super) fn cancel(&self) {
        self.lane.cancel();
    }

    /// Gives a run in flight some time to end; after that, everything is closed, or left open if it has not.
    pub(super) fn shut_down(&self, patience: Duration) {
        let mut state = self.lock();
        let begin = Instant::now();
        while let (Some(parts), Some(_)) = (&state.parts, &state.flight) {
            match parts.run.progress() {
                Progress::Done => state.flight = None,
                Progress::UnderWay if begin.elapsed() < patience => {
                    state = self.lane.pause(state, Some(LONGEST_PAUSE));
                }
                Progress::UnderWay | Progress::Failed(_) => state.give_up(),
            }
        }
        state.parts = None;
    }
}
