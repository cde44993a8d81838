//! What fills the slots: a thread for each SLR that drives its kernel.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Buffer, Capacity};
use hw::{Deadline, DeviceError, SLRS, SamplerDevice, Slr};

use super::{Filled, POISON, PipelineError, Table, sink::Destination, table::Task};
use crate::{
    accelerator::{Accelerator, AcceleratorError},
    timeline::Timeline,
};

/// One SLR's way through the slots.
pub(super) struct Producer<A: Accelerator> {
    pub(super) slr: Slr,
    pub(super) device: Arc<dyn SamplerDevice>,
    pub(super) accelerator: Arc<A>,
    pub(super) table: Arc<Table>,
    pub(super) timeline: Timeline,
    /// Its buffers in each slot.
    pub(super) slots: Vec<Destination<A>>,
    pub(super) capacity: Capacity,
    pub(super) timeout: Option<Duration>,
    /// Takes what is to be done in the accelerator before the consumer may begin.
    pub(super) stream: A::Stream,
    /// Elements of each slot that are not [`POISON`], if that is wished for.
    pub(super) written: Option<Vec<[usize; 4]>>,
}

/// The producers are to end.
struct Ended;

impl<A: Accelerator> Producer<A> {
    /// Fills slots until it is told to end, or something fails.
    pub(super) fn run(mut self) {
        const TRACKS: [&str; SLRS] = ["SLR0", "SLR1", "SLR2"];
        let track = TRACKS[self.slr.index()];
        loop {
            let begin = Instant::now();
            let Some(task) = self.table.begin_fill(self.slr) else { break };
            // What was waited before the start was not for a slot.
            let (begin, end) = (begin.max(task.begun), Instant::now());
            self.table.measure(|totals| totals.slrs[self.slr.index()].waiting += end - begin);
            self.timeline.span(track, "wait for a slot", [begin, end], []);
            match self.fill(&task, track) {
                Ok(Ok(())) => {}
                Ok(Err(Ended)) => break,
                Err(failure) => {
                    self.table.fail(failure);
                    break;
                }
            }
        }
        // Copies that are under way have buffers of this producer.
        if let Err(error) = self.accelerator.synchronize(&self.stream) {
            self.table.fail(error.into());
        }
    }

    fn fill(&mut self, task: &Task, track: &'static str) -> Result<Result<(), Ended>, PipelineError> {
        let &Task { iteration, slot, generation, .. } = task;
        let slr = self.slr;
        let Some(request) = (task.requests)(iteration, slr) else {
            self.table.filled(slr, slot, None);
            return Ok(Ok(()));
        };
        let minibatch = request.minibatch;
        let args = [
            ("iteration", iteration),
            ("generation", generation.0),
            ("slot", slot.0.into()),
            ("mini-batch", minibatch),
        ];
        let transfer_failed = |source: AcceleratorError| PipelineError::Transfer { iteration, slr, source };
        let run_failed = |source: DeviceError| PipelineError::Run { iteration, slr, minibatch, source };
        self.poison(slot.0 as usize, track).map_err(transfer_failed)?;

        let destination = &self.slots[slot.0 as usize];
        self.accelerator.card_begins(slr, destination.written_by_card()).map_err(transfer_failed)?;
        let begin = Instant::now();
        let Some(started) = self.table.unless_closed(|| self.device.start(slr, slot, &request)) else {
            return Ok(Err(Ended));
        };
        let deadline = self.timeout.map_or_else(Deadline::never, Deadline::after);
        let outcome = started.and_then(|()| self.device.wait(slr, deadline));
        self.accelerator.card_ended(slr);
        let end = Instant::now();
        let report = outcome.map_err(run_failed)?;
        self.timeline.span(track, "sample", [begin, end], args);

        let counts = Buffer::ALL.map(|buffer| report.hops.len_of(buffer));
        for (buffer, count) in Buffer::ALL.into_iter().zip(counts) {
            let room = self.capacity.len_of(buffer);
            if count > room {
                let what =
                    format!("it reports {count} {}, more than the {room} that it was given room for", buffer.name());
                return Err(run_failed(DeviceError::Protocol { slr, what }));
            }
        }
        if let Some(written) = &mut self.written {
            written[slot.0 as usize] = counts;
        }
        let mut filled = Filled { minibatch, counts, report, sampling: end - begin, transfer: Duration::ZERO };
        if destination.deliver(&*self.accelerator, &self.stream, counts).map_err(transfer_failed)? {
            const TRACKS: [&str; SLRS] = ["SLR0 transfer", "SLR1 transfer", "SLR2 transfer"];
            let (table, timeline) = (Arc::clone(&self.table), self.timeline.clone());
            let arrived = move || {
                // It may have waited behind the one before.
                let span = table.arrived(slr, end);
                filled.transfer = span[1] - span[0];
                timeline.span(TRACKS[slr.index()], "transfer", span, args);
                table.filled(slr, slot, Some(filled));
            };
            self.accelerator.then(&self.stream, Box::new(arrived)).map_err(transfer_failed)?;
        } else {
            self.table.filled(slr, slot, Some(filled));
        }
        Ok(Ok(()))
    }

    /// Overwrites what an earlier generation has left in the slot, so that a transfer that does nothing is seen.
    fn poison(&mut self, slot: usize, track: &'static str) -> Result<(), AcceleratorError> {
        let Some(written) = &mut self.written else { return Ok(()) };
        let begin = Instant::now();
        let counts = std::mem::take(&mut written[slot]);
        for buffers in self.slots[slot].on_the_way() {
            for (buffer, len) in buffers.iter().zip(counts) {
                self.accelerator.fill(&self.stream, "poison", buffer, len, POISON)?;
            }
        }
        self.accelerator.synchronize(&self.stream)?;
        let end = Instant::now();
        self.table.measure(|totals| totals.slrs[self.slr.index()].poisoning += end - begin);
        self.timeline.span(track, "poison", [begin, end], []);
        Ok(())
    }
}
