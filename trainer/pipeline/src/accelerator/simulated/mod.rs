//! An accelerator that is not there: memory that only its own streams and the card touch, streams that work when they please,
//! events, copies; and a report of every access that nothing orders.

mod lend;
mod order;
mod stream;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use hw::{HostMemory, MemorySpace, OutputMemory, Slr};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use order::{Actor, Clock, Kind, Order, Watched};
use stream::{Delays, Worker};

pub use order::Race;

use super::{
    Accelerator, AcceleratorError, Comparison, Record, Result, VERDICT_ELEMENTS, check_length, compare_elements,
};
use crate::{
    ledger::{Direction, Ledger},
    sync::{Condvar, Mutex, lock, wait},
};

/// The name of its memory ([`MemorySpace::Named`]): cards that are not there can write it, and know it by this name
/// (`sim::SIMULATED_ACCELERATOR`).
const MEMORY: &str = "memory of a simulated accelerator";

/// How a simulated accelerator behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedOptions {
    /// Draws the delays.
    pub seed: u64,
    /// Each piece of work begins up to this late.
    pub delay: Duration,
}

impl Default for SimulatedOptions {
    fn default() -> Self {
        Self { seed: 0, delay: Duration::from_micros(50) }
    }
}

/// A simulated accelerator. See the module for what it is good for.
#[derive(Clone)]
pub struct SimulatedAccelerator {
    options: SimulatedOptions,
    ledger: Ledger,
    order: Arc<Mutex<Order>>,
    /// Some work of a stream has panicked.
    panicked: Arc<AtomicBool>,
}

impl SimulatedAccelerator {
    /// An accelerator without streams.
    pub fn new(options: SimulatedOptions, ledger: Ledger) -> Self {
        Self { options, ledger, order: Arc::new(Mutex::new(Order::new())), panicked: Arc::default() }
    }

    fn watch(&self, label: String, elements: &Arc<HostMemory>, pinned: bool) -> SimulatedBuffer {
        let watched = lock(&self.order).add_buffer(label.clone());
        SimulatedBuffer { watched, label: label.into(), elements: Arc::clone(elements), pinned }
    }

    /// An event that comes when all work given to the stream so far is done.
    fn mark(&self, stream: &SimulatedStream) -> SimulatedEvent {
        let mut order = lock(&self.order);
        order.follow(stream.actor, Actor::HOST);
        let event = SimulatedEvent { clock: Arc::new(order.clock(stream.actor)), done: Gate::default() };
        let done = event.done.clone();
        stream.worker.push(Box::new(move || done.open()));
        event
    }

    /// Gives work to a stream: it accesses these buffers, after all that the host knows now.
    fn launch(
        &self,
        stream: &SimulatedStream,
        what: &'static str,
        buffers: &[(&SimulatedBuffer, Kind)],
        work: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        let buffers: Vec<_> = buffers.iter().map(|&(buffer, kind)| (buffer.watched, kind)).collect();
        let mut order = lock(&self.order);
        order.follow(stream.actor, Actor::HOST);
        order.access(stream.actor, what, &buffers);
        // Pushed before the lock is released: the queue has the order of the clocks.
        stream.worker.push(Box::new(work));
        Ok(order.check()?)
    }
}

impl fmt::Debug for SimulatedAccelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedAccelerator").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Memory of a simulated accelerator, or pinned memory of the host. It has no way in but streams and the card.
#[derive(Clone)]
pub struct SimulatedBuffer {
    watched: Watched,
    label: Arc<str>,
    elements: Arc<HostMemory>,
    pinned: bool,
}

impl SimulatedBuffer {
    fn check(&self, what: &'static str, len: usize) -> Result<()> {
        check_length(what, &self.label, len, self.elements.len())
    }
}

/// A stream of a simulated accelerator. Its thread ends with the last handle, when its work is done.
#[derive(Clone)]
pub struct SimulatedStream {
    actor: Actor,
    worker: Arc<Worker>,
}

/// A point in a simulated stream.
#[derive(Clone)]
pub struct SimulatedEvent {
    clock: Arc<Clock>,
    done: Gate,
}

/// Something that is waited for, and comes once.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let (open, changed) = &*self.0;
        let mut open = lock(open);
        while !*open {
            open = wait(changed, open);
        }
    }
}

impl Accelerator for SimulatedAccelerator {
    type Buffer = SimulatedBuffer;
    type Stream = SimulatedStream;
    type Event = SimulatedEvent;

    fn describe(&self) -> String {
        "simulated accelerator".to_owned()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn allocate(&self, label: String, len: usize) -> Result<SimulatedBuffer> {
        let elements = Arc::new(HostMemory::new(len));
        // A GPU's memory is not cleared either.
        elements.fill(0x5ca1_ab1e);
        Ok(self.watch(label, &elements, false))
    }

    fn pin(&self, label: String, memory: &Arc<HostMemory>, _: MemorySpace) -> Result<SimulatedBuffer> {
        Ok(self.watch(label, memory, true))
    }

    fn export_space(&self) -> Result<MemorySpace, String> {
        Ok(MemorySpace::Named(MEMORY))
    }

    fn export(&self, buffer: &SimulatedBuffer) -> Result<OutputMemory> {
        let elements = Arc::clone(&buffer.elements);
        Ok(if buffer.pinned { OutputMemory::Host(elements) } else { OutputMemory::Named(MEMORY, elements) })
    }

    fn stream(&self, label: String) -> Result<SimulatedStream> {
        let actor = lock(&self.order).add_stream(&label);
        let mut random = ChaCha8Rng::seed_from_u64(self.options.seed);
        random.set_stream(actor.number());
        let delays = Delays { random, most: self.options.delay };
        let worker = Worker::new(&label, delays, Arc::clone(&self.panicked))
            .map_err(|error| driver(format!("cannot start the thread of stream '{label}': {error}")))?;
        Ok(SimulatedStream { actor, worker: Arc::new(worker) })
    }

    fn record(&self, stream: &SimulatedStream) -> Result<SimulatedEvent> {
        let event = self.mark(stream);
        self.check()?;
        Ok(event)
    }

    fn wait(&self, stream: &SimulatedStream, event: &SimulatedEvent) -> Result<()> {
        let mut order = lock(&self.order);
        order.follow(stream.actor, Actor::HOST);
        order.join(stream.actor, &event.clock);
        let event = event.clone();
        stream.worker.push(Box::new(move || event.done.wait()));
        Ok(order.check()?)
    }

    fn synchronize(&self, stream: &SimulatedStream) -> Result<()> {
        // Also after a race: nothing is to be under way when this returns.
        let event = self.mark(stream);
        event.done.wait();
        lock(&self.order).join(Actor::HOST, &event.clock);
        self.check()
    }

    fn then(&self, stream: &SimulatedStream, f: Box<dyn FnOnce() + Send>) -> Result<()> {
        let mut order = lock(&self.order);
        order.check()?;
        order.follow(stream.actor, Actor::HOST);
        let (clock, theirs) = (order.clock(stream.actor), Arc::clone(&self.order));
        stream.worker.push(Box::new(move || {
            lock(&theirs).join(Actor::HOST, &clock);
            f();
        }));
        Ok(())
    }

    fn fill(
        &self,
        stream: &SimulatedStream,
        site: &'static str,
        buffer: &SimulatedBuffer,
        len: usize,
        value: i32,
    ) -> Result<()> {
        buffer.check(site, len)?;
        self.ledger.launch(site, len);
        let elements = Arc::clone(&buffer.elements);
        self.launch(stream, site, &[(buffer, Kind::Write)], move || {
            elements.fill_range(0..len, value);
        })
    }

    fn copy(
        &self,
        stream: &SimulatedStream,
        (direction, site): (Direction, &'static str),
        from: &SimulatedBuffer,
        to: &SimulatedBuffer,
        len: usize,
    ) -> Result<()> {
        from.check(site, len)?;
        to.check(site, len)?;
        self.ledger.cross(direction, site, len * size_of::<i32>());
        let (source, destination) = (Arc::clone(&from.elements), Arc::clone(&to.elements));
        self.launch(stream, site, &[(from, Kind::Read), (to, Kind::Write)], move || {
            destination.copy_from(&source, len);
        })
    }

    fn download(
        &self,
        stream: &SimulatedStream,
        site: &'static str,
        from: &SimulatedBuffer,
        len: usize,
    ) -> Result<Vec<i32>> {
        from.check(site, len)?;
        self.ledger.cross(Direction::Down, site, len * size_of::<i32>());
        self.launch(stream, site, &[(from, Kind::Read)], || {})?;
        self.synchronize(stream)?;
        Ok(from.elements.to_vec(0..len))
    }

    fn compare(
        &self,
        stream: &SimulatedStream,
        site: &'static str,
        work: &Comparison<'_, SimulatedBuffer>,
    ) -> Result<()> {
        let &Comparison { found, expected, len, verdict, record, iteration } = work;
        found.check(site, len)?;
        expected.check(site, len)?;
        verdict.check(site, (record + 1) * VERDICT_ELEMENTS)?;
        self.ledger.launch(site, len);
        let buffers = [(found, Kind::Read), (expected, Kind::Read), (verdict, Kind::Write)];
        let [found, expected, verdict] = [found, expected, verdict].map(|buffer| Arc::clone(&buffer.elements));
        self.launch(stream, site, &buffers, move || {
            compare_elements(&found, &expected, len, Record { verdict: &verdict, number: record, iteration });
        })
    }

    fn card_begins(&self, slr: Slr, buffers: &[SimulatedBuffer]) -> Result<()> {
        let buffers: Vec<_> = buffers.iter().map(|buffer| (buffer.watched, Kind::Write)).collect();
        let mut order = lock(&self.order);
        order.follow(Actor::card(slr), Actor::HOST);
        order.access(Actor::card(slr), "sampling", &buffers);
        Ok(order.check()?)
    }

    fn card_ended(&self, slr: Slr) {
        lock(&self.order).follow(Actor::HOST, Actor::card(slr));
    }

    fn check(&self) -> Result<()> {
        if self.panicked.load(Relaxed) {
            return Err(driver("the work of a stream has panicked (see above), which is a bug in trisage".to_owned()));
        }
        Ok(lock(&self.order).check()?)
    }
}

fn driver(message: String) -> AcceleratorError {
    AcceleratorError::Driver { accelerator: "simulated accelerator", message }
}
