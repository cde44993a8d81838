//! A stream: a queue of work, and the thread that does it, late by a random delay.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use crate::sync::{Condvar, Mutex, lock, thread, wait};

/// Work in a queue.
pub(super) type Work = Box<dyn FnOnce() + Send>;

/// How late each piece of work begins.
pub(super) struct Delays {
    pub(super) random: ChaCha8Rng,
    pub(super) most: Duration,
}

impl Delays {
    /// Lets others go first for a while; one time in two it does not.
    fn pass(&mut self) {
        let draw = self.random.next_u32();
        if draw & 1 == 0 {
            return;
        }
        if cfg!(shuttle) {
            (0..draw >> 1 & 3).for_each(|_| thread::yield_now());
        } else if !self.most.is_zero() {
            // The upper 24 bits are a fraction of one.
            thread::sleep(self.most.mul_f64(f64::from(draw >> 8) / f64::from(1 << 24)));
        }
    }
}

#[derive(Default)]
struct Queue {
    work: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    closed: bool,
}

/// The one owner of a stream's thread. Dropping it returns when everything in the queue has been done.
pub(super) struct Worker {
    queue: Arc<Queue>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Worker {
    /// Sets `panicked` if some work does.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(super) fn new(label: &str, mut delays: Delays, panicked: Arc<AtomicBool>) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        let thread = thread::Builder::new().name(format!("stream-{label}")).spawn(move || {
            while let Some(work) = theirs.next() {
                delays.pass();
                // A model checker wants to see the panic itself.
                if cfg!(any(loom, shuttle)) {
                    work();
                } else if catch_unwind(AssertUnwindSafe(work)).is_err() {
                    panicked.store(true, Relaxed);
                }
            }
        })?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Puts work at the end of the queue.
    pub(super) fn push(&self, work: Work) {
        lock(&self.queue.work).work.push_back(work);
        self.queue.changed.notify_all();
    }
}

impl Queue {
    /// The next piece of work; waits for one until the queue is closed.
    fn next(&self) -> Option<Work> {
        let mut waiting = lock(&self.work);
        loop {
            if let Some(work) = waiting.work.pop_front() {
                return Some(work);
            }
            if waiting.closed {
                return None;
            }
            waiting = wait(&self.changed, waiting);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        lock(&self.queue.work).closed = true;
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take()
            // Work may own the last handle of the stream in which it is done.
            && thread.thread().id() != thread::current().id()
        {
            // It has caught the panics of its work.
            let _ = thread.join();
        }
    }
}
