//! Work behind the trait's `start` and `wait`: for each SLR a queue of runs that are done one after the other, by threads of a
//! pool. The three SLRs run at the same time.

use std::{
    collections::VecDeque,
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use hw::{
    Deadline, DeviceError, RunReport, SLRS, Slr,
    lane::{Lane, Look, Runs},
};

/// What a run looks at now and then, to end early when nobody waits for it any more.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Whether the run is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Tells the run to end.
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }
}

type Outcome = Result<RunReport, DeviceError>;
type Job = Box<dyn FnOnce(&Cancel) -> Outcome + Send>;

/// Background workers, one an SLR. Dropping them cancels what is in flight and returns when it has ended.
pub(crate) struct Workers {
    backend: &'static str,
    queue_depth: usize,
    pool: rayon::ThreadPool,
    lanes: [Arc<Lane<Queue>>; SLRS],
}

impl Workers {
    /// Workers for which at most `queue_depth` runs an SLR may be started and not yet waited for.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] if the system gives no more threads.
    pub(crate) fn new(backend: &'static str, queue_depth: usize) -> Result<Self, DeviceError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(SLRS)
            .thread_name(move |index| format!("{backend}-slr{index}"))
            .build()
            .map_err(|error| DeviceError::Backend { backend, message: format!("cannot start its threads: {error}") })?;
        let lanes = Slr::ALL.map(|slr| Arc::new(Lane::new(slr, Queue::default())));
        Ok(Self { backend, queue_depth, pool, lanes })
    }

    /// Queues `job` and returns at once. What it returns is handed out by [`Workers::wait`], with `elapsed` set to the time
    /// that the job itself took.
    ///
    /// # Errors
    /// [`DeviceError::Poisoned`], [`DeviceError::Busy`]; the job is dropped then.
    pub(crate) fn start(
        &self,
        slr: Slr,
        job: impl FnOnce(&Cancel) -> Outcome + Send + 'static,
    ) -> Result<(), DeviceError> {
        let lane = &self.lanes[slr.index()];
        let mut queue = lane.lock();
        queue.check()?;
        if queue.in_flight == self.queue_depth {
            return Err(DeviceError::Busy { slr });
        }
        queue.in_flight += 1;
        queue.queued.push_back(Box::new(job));
        if !mem::replace(&mut queue.running, true) {
            let (lane, backend) = (Arc::clone(lane), self.backend);
            self.pool.spawn(move || work(&lane, backend));
        }
        Ok(())
    }

    /// Waits for the oldest run of `slr`. If the SLR is poisoned, what is in flight is told to end.
    ///
    /// # Errors
    /// As [`Lane::wait`].
    pub(crate) fn wait(&self, slr: Slr, deadline: Deadline) -> Outcome {
        self.lanes[slr.index()].wait(deadline, None, Queue::look)
    }

    /// Ends what is in flight on `slr`, if anything is; whoever waits for it is told at once, and the SLR is poisoned.
    pub(crate) fn cancel(&self, slr: Slr) {
        self.lanes[slr.index()].cancel();
    }

    /// Whether nothing is in flight on `slr`, so that its memory may be changed.
    ///
    /// # Errors
    /// [`DeviceError::Poisoned`], [`DeviceError::Busy`].
    pub(crate) fn require_idle(&self, slr: Slr) -> Result<(), DeviceError> {
        self.lanes[slr.index()].lock().require_idle()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for lane in &self.lanes {
            lane.lock().give_up();
        }
        for lane in &self.lanes {
            let mut queue = lane.lock();
            while queue.running {
                queue = lane.pause(queue, None);
            }
        }
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// The runs of an SLR.
#[derive(Default)]
struct Queue {
    queued: VecDeque<Job>,
    finished: VecDeque<Outcome>,
    /// Runs that were started and not yet waited for.
    in_flight: usize,
    /// Whether a thread of the pool works for this SLR.
    running: bool,
    cancel: Arc<Cancel>,
}

impl Queue {
    fn look(&mut self) -> Look {
        match self.finished.pop_front() {
            None => Look::UnderWay(None),
            Some(outcome) => {
                self.in_flight -= 1;
                Look::Over(outcome)
            }
        }
    }
}

impl Runs for Queue {
    fn in_flight(&self) -> bool {
        self.in_flight > 0
    }

    /// Ends the run that is being done, soon, and drops those that are queued.
    fn give_up(&mut self) {
        self.cancel.set();
        self.queued.clear();
    }
}

/// Does what is queued, in order, until nothing is.
fn work(lane: &Lane<Queue>, backend: &'static str) {
    let mut queue = lane.lock();
    let cancel = Arc::clone(&queue.cancel);
    while let Some(job) = queue.queued.pop_front() {
        drop(queue);
        let begin = Instant::now();
        let mut outcome = catch_unwind(AssertUnwindSafe(|| job(&cancel)))
            .unwrap_or_else(|panic| Err(DeviceError::Backend { backend, message: sentence(panic.as_ref()) }));
        if let Ok(report) = &mut outcome {
            report.elapsed = begin.elapsed();
        }
        queue = lane.lock();
        queue.finished.push_back(outcome);
        lane.changed();
    }
    queue.running = false;
    lane.changed();
}

fn sentence(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("a run ended in a panic, which is a bug in trisage: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden::HopCounts;
    use std::{
        sync::{Barrier, mpsc},
        thread,
        time::Duration,
    };

    const S: [Slr; SLRS] = Slr::ALL;

    fn report(nodes: u32) -> RunReport {
        let hops = HopCounts { nodes: vec![nodes], edges: vec![] };
        RunReport { hops, elapsed: Duration::ZERO, cycles: None, ports: vec![], stages: vec![] }
    }

    fn until_cancelled(cancel: &Cancel) -> RunReport {
        while !cancel.is_set() {
            thread::sleep(Duration::from_millis(1));
        }
        report(0)
    }

    #[test]
    fn the_three_run_at_the_same_time() {
        let workers = Workers::new("test", 1).unwrap();
        let barrier = Arc::new(Barrier::new(SLRS));
        for slr in S {
            let barrier = Arc::clone(&barrier);
            let job = move |_: &Cancel| {
                barrier.wait();
                Ok(report(1))
            };
            workers.start(slr, job).unwrap();
        }
        for slr in S {
            assert_eq!(workers.wait(slr, Deadline::never()).unwrap().hops.nodes, [1]);
        }
    }

    #[test]
    fn results_come_in_the_order_of_starts_and_the_queue_has_an_end() {
        let workers = Workers::new("test", 2).unwrap();
        assert_eq!(workers.wait(S[0], Deadline::never()), Err(DeviceError::Idle { slr: S[0] }));
        for n in 0..2 {
            workers.start(S[0], move |_| Ok(report(n))).unwrap();
        }
        assert_eq!(workers.start(S[0], |_| Ok(report(9))), Err(DeviceError::Busy { slr: S[0] }));
        assert_eq!(workers.require_idle(S[0]), Err(DeviceError::Busy { slr: S[0] }));
        assert_eq!(workers.require_idle(S[1]), Ok(()));
        for n in 0..2 {
            assert_eq!(workers.wait(S[0], Deadline::never()).unwrap().hops.nodes, [n]);
        }
        assert_eq!(workers.require_idle(S[0]), Ok(()));
    }

    #[test]
    fn a_timeout_poisons_its_slr_only() {
        let workers = Workers::new("test", 1).unwrap();
        workers.start(S[1], |cancel| Ok(until_cancelled(cancel))).unwrap();
        let limit = Duration::from_millis(5);
        let timeout = workers.wait(S[1], Deadline::after(limit)).unwrap_err();
        assert_eq!(timeout, DeviceError::Timeout { slr: S[1], limit, detail: None });
        let poisoned = DeviceError::Poisoned { slr: S[1], cause: timeout.to_string() };
        assert_eq!(workers.wait(S[1], Deadline::never()), Err(poisoned.clone()));
        assert_eq!(workers.start(S[1], |_| Ok(report(0))), Err(poisoned));
        workers.start(S[0], |_| Ok(report(7))).unwrap();
        assert_eq!(workers.wait(S[0], Deadline::never()).unwrap().hops.nodes, [7]);
    }

    #[test]
    fn cancelling_tells_who_waits_and_ends_what_is_in_flight() {
        let workers = Arc::new(Workers::new("test", 2).unwrap());
        workers.cancel(S[0]);
        workers.start(S[0], |cancel| Ok(until_cancelled(cancel))).unwrap();
        workers.start(S[0], |_| unreachable!("it was still queued")).unwrap();
        let waiting = thread::spawn({
            let workers = Arc::clone(&workers);
            move || workers.wait(S[0], Deadline::never())
        });
        // Cancelled before or while it is waited for.
        workers.cancel(S[0]);
        let cancelled = DeviceError::Cancelled { slr: S[0] };
        let poisoned = DeviceError::Poisoned { slr: S[0], cause: cancelled.to_string() };
        let outcome = waiting.join().unwrap().unwrap_err();
        assert!(outcome == cancelled || outcome == poisoned, "{outcome}");
        assert_eq!(workers.start(S[0], |_| Ok(report(0))), Err(poisoned));
        workers.start(S[1], |_| Ok(report(7))).unwrap();
        assert_eq!(workers.wait(S[1], Deadline::never()).unwrap().hops.nodes, [7]);
    }

    #[test]
    fn an_error_of_the_run_poisons_only_where_it_must() {
        let workers = Workers::new("test", 1).unwrap();
        let broken = DeviceError::Protocol { slr: S[2], what: "no".into() };
        for (error, usable) in [(DeviceError::NoGraph, true), (broken, false)] {
            let copy = error.clone();
            workers.start(S[2], move |_| Err(copy)).unwrap();
            assert_eq!(workers.wait(S[2], Deadline::never()), Err(error));
            assert_eq!(workers.require_idle(S[2]).is_ok(), usable);
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        let workers = Workers::new("test", 1).unwrap();
        workers.start(S[0], |_| panic!("seven")).unwrap();
        assert!(workers.wait(S[0], Deadline::never()).unwrap_err().to_string().contains("seven"));
    }

    #[test]
    fn dropping_the_workers_ends_what_is_in_flight() {
        let workers = Workers::new("test", 2).unwrap();
        let (tell, told) = mpsc::channel();
        workers
            .start(S[0], move |cancel| {
                tell.send("begun").unwrap();
                let report = until_cancelled(cancel);
                tell.send("ended").unwrap();
                Ok(report)
            })
            .unwrap();
        workers.start(S[0], |_| unreachable!("it was still queued")).unwrap();
        assert_eq!(told.recv(), Ok("begun"));
        drop(workers);
        assert_eq!(told.try_recv(), Ok("ended"));
    }
}
