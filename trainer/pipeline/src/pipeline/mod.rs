//! What carries sub-graphs from any card to any consumer without a copy, while the consumer works on the last ones.
//!
//! A pipeline has S slots; each holds, for every SLR, four int32 buffers, allocated once. A producer per SLR drives the card's
//! kernel of that SLR and fills its part of the slots in turn, while the consumer works on others:
//!
//! ```text
//! free -> filling -> ready -> acquire -> begin_consume -> release -> (work on the stream done) -> free
//! ```
//!
//! A slot is refilled only after all work that the consumer had given to its stream before the release is done. Iterations
//! come in order, and are released in order.

mod error;
#[cfg(all(test, loom))]
mod loom_checks;
mod producer;
mod sink;
mod slots;
mod stop;
mod table;
mod totals;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Buffer, Capacity};
use hw::{SLRS, SamplerDevice, Slot, Slr};

use crate::{
    accelerator::{Accelerator, AcceleratorError},
    sync::{Mutex, lock, thread},
    timeline::Timeline,
};
use producer::Producer;
use sink::Destination;
use table::Table;

pub use error::PipelineError;
pub use sink::{Probe, Sink, SinkError, choose, probe};
pub use slots::{Generation, SlotError, Slots};
pub use stop::{Stop, Stopping};
pub use table::{Filled, Item, Requests};
pub use totals::{Overlap, ProducerTimes, Totals};

/// What buffers are filled with before a run, if that is wished for. No element of a sub-graph is negative.
pub const POISON: i32 = -1;

/// How sub-graphs travel from the card to the consumer.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Slots, 2 to [`MAX_SLOTS`].
    pub slots: usize,
    /// The way; `None` takes the best that works.
    pub sink: Option<Sink>,
    /// Where spans are recorded.
    pub timeline: Timeline,
    /// What ends it before its time.
    pub stop: Stop,
}

impl Default for Transport {
    /// Two slots, the best way.
    fn default() -> Self {
        Self { slots: 2, sink: None, timeline: Timeline::default(), stop: Stop::default() }
    }
}

/// How a pipeline is built.
#[derive(Clone, Debug)]
pub struct PipelineOptions {
    /// How sub-graphs travel.
    pub transport: Transport,
    /// Elements of each buffer.
    pub capacity: Capacity,
    /// How long one run may take; `None` waits for as long as the device does.
    pub timeout: Option<Duration>,
    /// Fill what the last generation has left in a buffer with [`POISON`] before the card writes it again.
    pub poison: bool,
}

/// The most slots that a pipeline has.
pub const MAX_SLOTS: usize = 64;

/// Slots between a card and a consumer. The consumer's methods may be called from any thread.
///
/// Dropping it ends what is in flight and returns when its threads have ended; a run that was cut short poisons its SLR.
pub struct Pipeline<A: Accelerator> {
    device: Arc<dyn SamplerDevice>,
    accelerator: Arc<A>,
    table: Arc<Table>,
    sink: Sink,
    timeline: Timeline,
    /// Buffers by slot and SLR.
    views: Vec<[[A::Buffer; 4]; SLRS]>,
    /// The stream to which work on each slot was last given.
    consumers: Mutex<Vec<Option<A::Stream>>>,
    producers: Vec<thread::JoinHandle<()>>,
}

impl<A: Accelerator> Pipeline<A> {
    /// Allocates the slots, binds them to the device and starts the producers. A graph has been loaded; nothing is in
    /// flight.
    ///
    /// # Errors
    /// [`PipelineError::Accelerator`], [`PipelineError::Device`] or [`PipelineError::Sink`] for memory that is not there or
    /// cannot be bound, [`PipelineError::Threads`].
    ///
    /// # Panics
    /// With fewer than 2 or more than [`MAX_SLOTS`] slots.
    pub fn new(
        device: Arc<dyn SamplerDevice>,
        accelerator: Arc<A>,
        options: &PipelineOptions,
    ) -> Result<Self, PipelineError> {
        let &PipelineOptions { ref transport, capacity, timeout, poison } = options;
        let slots = transport.slots;
        assert!((2..=MAX_SLOTS).contains(&slots), "a pipeline has 2 to {MAX_SLOTS} slots, not {slots}");
        let (sink, _) = choose(&probe(&*device, &*accelerator), transport.sink)?;
        let table = Arc::new(Table::new(slots));
        transport.stop.watch(&table);
        let mut pipeline = Self {
            device,
            accelerator,
            table,
            sink,
            timeline: transport.timeline.clone(),
            views: Vec::with_capacity(slots),
            consumers: Mutex::new(vec![None; slots]),
            producers: Vec::with_capacity(SLRS),
        };
        let (device, accelerator) = (&pipeline.device, &pipeline.accelerator);
        let mut producers = Vec::with_capacity(SLRS);
        for slr in Slr::ALL {
            let mut destinations = Vec::with_capacity(slots);
            for slot in 0..slots {
                // Allocating takes a while.
                pipeline.table.check()?;
                let place = (slr, Slot(slot as u32));
                destinations.push(Destination::new(&**device, &**accelerator, place, capacity, sink)?);
            }
            let everything = Buffer::ALL.map(|buffer| capacity.len_of(buffer));
            producers.push(Producer {
                slr,
                device: Arc::clone(device),
                accelerator: Arc::clone(accelerator),
                table: Arc::clone(&pipeline.table),
                timeline: transport.timeline.clone(),
                slots: destinations,
                capacity,
                timeout,
                stream: accelerator.stream(format!("transfer-{slr}"))?,
                written: poison.then(|| vec![everything; slots]),
            });
        }
        for slot in 0..slots {
            let buffers = |slr: Slr| producers[slr.index()].slots[slot].buffers.clone();
            pipeline.views.push(Slr::ALL.map(buffers));
        }
        for producer in producers {
            let slr = producer.slr;
            let started = thread::Builder::new().name(format!("producer-{slr}")).spawn(move || guarded(producer));
            let started = started.map_err(|error| PipelineError::Threads { slr, message: error.to_string() });
            pipeline.producers.push(started?);
        }
        Ok(pipeline)
    }

    /// What the consumer's streams belong to.
    pub fn accelerator(&self) -> &Arc<A> {
        &self.accelerator
    }

    /// The way that sub-graphs take.
    pub fn sink(&self) -> Sink {
        self.sink
    }

    /// Begins with `iterations` iterations; `requests` says what each SLR samples in each.
    ///
    /// # Errors
    /// [`PipelineError::Running`] until all of the last start is released and free, or why the pipeline has failed.
    pub fn start(&self, iterations: u64, requests: Arc<Requests>) -> Result<(), PipelineError> {
        self.table.start(iterations, requests)
    }

    /// The next iteration, once all SLRs have filled it; `None` after the last. More than one may be held at a time.
    ///
    /// # Errors
    /// What made a producer fail, at once and also if iterations before it are ready; [`PipelineError::Stopped`].
    pub fn acquire(&self) -> Result<Option<Item>, PipelineError> {
        let begin = Instant::now();
        let item = self.table.acquire(&|| Ok(self.accelerator.check()?))?;
        let end = Instant::now();
        self.table.measure(|totals| totals.starved += end - begin);
        let iteration = item.iter().map(|item| ("iteration", item.iteration));
        self.timeline.span("consumer", "wait for data", [begin, end], iteration);
        Ok(item)
    }

    /// One of the buffers of a slot, in the memory of the accelerator. It may be read, on a stream, between `begin_consume` and
    /// `release`; as far as the counts in [`Filled`] go it is valid.
    ///
    /// # Panics
    /// For a slot that is not there.
    pub fn view(&self, slot: Slot, slr: Slr, buffer: Buffer) -> &A::Buffer {
        &self.views[slot.0 as usize][slr.index()][buffer as usize]
    }

    /// The consumer begins to give work on the slot to `stream`.
    ///
    /// # Errors
    /// [`PipelineError::Slot`]; or what the accelerator says.
    pub fn begin_consume(&self, slot: Slot, generation: Generation, stream: &A::Stream) -> Result<(), PipelineError> {
        self.table.begin_consume(slot, generation)?;
        lock(&self.consumers)[slot.0 as usize] = Some(stream.clone());
        let table = Arc::clone(&self.table);
        // On the stream, as its work may begin much later.
        self.give(stream, Box::new(move || table.consuming(slot)))
    }

    /// The consumer has given all work on the slot to `stream`: the slot may be refilled when that is done.
    ///
    /// # Errors
    /// [`PipelineError::Slot`]; or what the accelerator says.
    pub fn release(&self, slot: Slot, generation: Generation, stream: &A::Stream) -> Result<(), PipelineError> {
        self.table.release(slot, generation)?;
        lock(&self.consumers)[slot.0 as usize] = Some(stream.clone());
        let (table, timeline) = (Arc::clone(&self.table), self.timeline.clone());
        let done = move || {
            let span = table.consumed(slot);
            timeline.span("consumer stream", "consume", span, [("generation", generation.0)]);
            table.freed(slot);
        };
        self.give(stream, Box::new(done))
    }

    fn give(&self, stream: &A::Stream, f: Box<dyn FnOnce() + Send>) -> Result<(), PipelineError> {
        self.accelerator.then(stream, f).map_err(|error| {
            let failure = PipelineError::from(error);
            self.table.fail(failure.clone());
            failure
        })
    }

    /// Waits for the work that was given before the last release, and tells what all took since the start.
    ///
    /// # Errors
    /// [`PipelineError::Unfinished`] if something was not released, or why the pipeline has failed.
    pub fn finish(&self) -> Result<Totals, PipelineError> {
        let totals = self.table.finish(&|| Ok(self.accelerator.check()?))?;
        self.accelerator.check()?;
        Ok(totals)
    }
}

/// Runs a producer; a panic is a failure, so that nobody waits for it.
fn guarded<A: Accelerator>(producer: Producer<A>) {
    let (slr, table) = (producer.slr, Arc::clone(&producer.table));
    // A model checker wants to see the panic itself.
    if cfg!(any(loom, shuttle)) {
        return producer.run();
    }
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| producer.run())) {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        table.fail(PipelineError::Panic { slr, message: text.unwrap_or("no message").to_owned() });
    }
}

impl<A: Accelerator> Drop for Pipeline<A> {
    fn drop(&mut self) {
        self.table.close();
        for slr in Slr::ALL {
            self.device.cancel(slr);
        }
        for producer in self.producers.drain(..) {
            // It has caught its panics.
            let _ = producer.join();
        }
        for stream in lock(&self.consumers).drain(..).flatten() {
            // Work on the slots may be queued; the memory goes after it. Who gave it asks whether it went well.
            let _: Result<(), AcceleratorError> = self.accelerator.synchronize(&stream);
        }
    }
}
