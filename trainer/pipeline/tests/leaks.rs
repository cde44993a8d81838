//! Ten thousand pipelines that are dropped, fail, hang or are stopped at a random moment: none leaves a thread, none hangs.
//!
//! A hang shows as a test that does not end; the line that was printed last names the case, and
//! `TRISAGE_CASE=<number> cargo test -p trainer --test leaks` runs it alone.

#[path = "pipeline/scripted.rs"]
mod scripted;

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use hw::{DeviceError, SamplerDevice, Slr};
use pipeline::{
    Pipeline, PipelineError, PipelineOptions, Sink, Transport,
    accelerator::{Accelerator, HostAccelerator, SimulatedAccelerator, SimulatedOptions},
    ledger::Ledger,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use scripted::{Behaviour, CAPACITY, Scripted, request};

const CASES: u64 = 10_000;

/// What happens in a case.
struct Dice(ChaCha8Rng);

impl Dice {
    fn of(case: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(case))
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Dropped,
    Failed,
    Stopped,
}

fn run(case: u64) -> End {
    let mut dice = Dice::of(case);
    if dice.one_in(2) {
        run_on(&mut dice, &Arc::new(HostAccelerator::default()), &[Sink::InPlace, Sink::Staged])
    } else {
        let options = SimulatedOptions { seed: case, delay: Duration::from_micros(u64::from(dice.below(30))) };
        let simulated = Arc::new(SimulatedAccelerator::new(options, Ledger::default()));
        run_on(&mut dice, &simulated, &[Sink::DmaBuf, Sink::Bar, Sink::Staged])
    }
}

fn run_on<A: Accelerator>(dice: &mut Dice, accelerator: &Arc<A>, sinks: &[Sink]) -> End {
    let iterations = u64::from(dice.below(6));
    let (bad_slr, bad_run) = (dice.below(3) as usize, u64::from(dice.below(6)));
    let bad = match dice.below(8) {
        0 | 1 => Behaviour::Fail(DeviceError::NoGraph),
        2 | 3 => Behaviour::Hang,
        4 => Behaviour::Write(CAPACITY.nodes + 1, 0),
        _ => Behaviour::Write(3, 4),
    };
    let hangs = matches!(bad, Behaviour::Hang);
    let device =
        Scripted::new(
            move |slr, run| {
                if (slr.index(), run) == (bad_slr, bad_run) { bad.clone() } else { Behaviour::Write(3, 4) }
            },
        );
    let transport = Transport {
        slots: 2 + dice.below(3) as usize,
        sink: Some(sinks[dice.below(sinks.len() as u32) as usize]),
        ..Transport::default()
    };
    let stop = transport.stop.clone();
    let options = PipelineOptions { transport, capacity: CAPACITY, timeout: None, poison: dice.one_in(2) };
    let pipeline =
        Pipeline::new(Arc::clone(&device) as Arc<dyn SamplerDevice>, Arc::clone(accelerator), &options).unwrap();
    let stream = accelerator.stream("test".into()).unwrap();
    // After so many of its steps the consumer goes away. Before a run that hangs it must, or be stopped.
    let (mut steps, stopped) = (dice.below(25), dice.one_in(4));
    let patience = AtomicU64::new(u64::from(dice.below(50)));
    thread::scope(|scope| {
        let (stop, patience, watched) = (&stop, &patience, &device);
        if stopped || hangs {
            scope.spawn(move || {
                // The hanging run has begun, or a random time has passed.
                while patience.load(Relaxed) > 0 && !(hangs && watched.runs(Slr::ALL[bad_slr]) > bad_run) {
                    patience.fetch_sub(1, Relaxed);
                    thread::yield_now();
                }
                stop.stop();
            });
        }
        let end = consume(&pipeline, &stream, iterations, &mut steps);
        drop(pipeline);
        end
    })
}

fn consume<A: Accelerator>(pipeline: &Pipeline<A>, stream: &A::Stream, iterations: u64, steps: &mut u32) -> End {
    let mut step = || {
        *steps = steps.saturating_sub(1);
        *steps == 0
    };
    let mut work = || -> Result<End, PipelineError> {
        pipeline.start(iterations, Arc::new(request))?;
        loop {
            if step() {
                return Ok(End::Dropped);
            }
            let Some(item) = pipeline.acquire()? else { break };
            if step() {
                return Ok(End::Dropped);
            }
            pipeline.begin_consume(item.slot, item.generation, stream)?;
            if step() {
                return Ok(End::Dropped);
            }
            pipeline.release(item.slot, item.generation, stream)?;
        }
        assert_eq!(pipeline.finish()?.iterations, iterations);
        Ok(End::Whole)
    };
    match work() {
        Ok(end) => end,
        Err(PipelineError::Stopped { .. }) => End::Stopped,
        Err(PipelineError::Run { source: DeviceError::NoGraph | DeviceError::Protocol { .. }, .. }) => End::Failed,
        Err(other) => panic!("{other}"),
    }
}

/// Threads of this process by name.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    // A thread may end while it is looked at.
    tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok()).collect()
}

#[test]
fn nothing_is_left_and_nothing_hangs() {
    if let Ok(case) = std::env::var("TRISAGE_CASE") {
        println!("{:?}", run(case.parse().expect("TRISAGE_CASE is the number of a case")));
        return;
    }
    let mut ends = [0_u64; 4];
    for case in 0..CASES {
        // Seen only if the test fails or hangs and is run with --nocapture.
        if case % 100 == 0 {
            println!("cases from {case}: TRISAGE_CASE={case}");
        }
        ends[run(case) as usize] += 1;
    }
    println!("whole, dropped, failed, stopped: {ends:?}");
    assert!(ends.iter().all(|&n| n > CASES / 50), "each is tried often: {ends:?}");
    let left: Vec<_> = threads()
        .into_iter()
        .filter(|name| ["producer", "stream", "scripted"].iter().any(|n| name.starts_with(n)))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}
