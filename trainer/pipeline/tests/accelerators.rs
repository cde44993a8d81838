//! What holds for every accelerator.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use hw::{HostMemory, MemorySpace, OutputMemory, Slr};
use pipeline::{
    accelerator::{
        Accelerator, AcceleratorError, Comparison, HostAccelerator, SimulatedAccelerator, SimulatedOptions,
        VERDICT_ELEMENTS,
    },
    ledger::{Crossing, Direction, Launch, Ledger},
};

/// Makes each check a test on each accelerator.
macro_rules! on_every_accelerator {
    ($($check:ident)*) => {
        mod host {
            $(#[test] fn $check() {
                super::$check(&super::HostAccelerator::new(super::Ledger::counting()));
            })*
        }
        mod simulated {
            $(#[test] fn $check() {
                for seed in 0..3 {
                    let options = super::SimulatedOptions { seed, ..Default::default() };
                    super::$check(&super::SimulatedAccelerator::new(options, super::Ledger::counting()));
                }
            })*
        }
        #[cfg(feature = "cuda")]
        mod cuda {
            $(#[test] fn $check() {
                match pipeline::accelerator::CudaAccelerator::new(0, super::Ledger::counting()) {
                    Ok(accelerator) => super::$check(&accelerator),
                    Err(error @ super::AcceleratorError::Unavailable { .. }) => eprintln!("skipped: {error}"),
                    Err(error) => panic!("{error}"),
                }
            })*
        }
    };
}

on_every_accelerator! {
    what_is_filled_and_copied_arrives
    the_lowest_difference_is_found_and_the_first_record_kept
    a_difference_is_found_wherever_it_is
    a_callback_comes_after_what_was_given_before_and_before_what_is_given_later
    callbacks_come_in_order
    an_event_orders_two_streams
    a_handle_may_go_while_work_on_it_is_queued
    buffers_may_be_empty
    what_is_too_long_is_refused_and_not_counted
    threads_may_share_it
    the_ledger_has_every_crossing_and_launch
    what_is_exported_is_the_buffer
}

fn stream<A: Accelerator>(accelerator: &A) -> A::Stream {
    accelerator.stream("test".to_owned()).unwrap()
}

fn allocate<A: Accelerator>(accelerator: &A, len: usize) -> A::Buffer {
    accelerator.allocate("a buffer".to_owned(), len).unwrap()
}

fn pin<A: Accelerator>(accelerator: &A, memory: &Arc<HostMemory>) -> A::Buffer {
    accelerator.pin("host memory".to_owned(), memory, MemorySpace::Host).unwrap()
}

fn host_memory(elements: &[i32]) -> Arc<HostMemory> {
    let memory = HostMemory::new(elements.len());
    memory.write(0, elements);
    Arc::new(memory)
}

/// 0, 1, 2 and so on.
fn numbers(len: usize) -> Vec<i32> {
    (0..).take(len).collect()
}

/// A buffer with these elements.
fn upload<A: Accelerator>(accelerator: &A, stream: &A::Stream, elements: &[i32]) -> A::Buffer {
    let buffer = allocate(accelerator, elements.len());
    let pinned = pin(accelerator, &host_memory(elements));
    accelerator.copy(stream, (Direction::Up, "upload"), &pinned, &buffer, elements.len()).unwrap();
    accelerator.synchronize(stream).unwrap();
    buffer
}

fn what_is_filled_and_copied_arrives<A: Accelerator>(accelerator: &A) {
    // More than a page of any kind, and no whole number of them.
    const LEN: usize = 100_003;
    let stream = stream(accelerator);
    let source = host_memory(&numbers(LEN).iter().map(|i| i.wrapping_mul(-7_919)).collect::<Vec<_>>());
    let (pinned, there) = (pin(accelerator, &source), allocate(accelerator, LEN));
    accelerator.copy(&stream, (Direction::Up, "up"), &pinned, &there, LEN).unwrap();
    assert_eq!(accelerator.download(&stream, "down", &there, LEN).unwrap(), source.to_vec(0..LEN));

    accelerator.fill(&stream, "fill", &there, 1_000, -1).unwrap();
    let copy = allocate(accelerator, LEN);
    accelerator.copy(&stream, (Direction::P2p, "across"), &there, &copy, LEN).unwrap();
    let mut expected = source.to_vec(0..LEN);
    expected[..1_000].fill(-1);
    assert_eq!(accelerator.download(&stream, "down", &copy, LEN).unwrap(), expected);

    // Pinned memory is as good as its own.
    accelerator.fill(&stream, "fill", &pinned, 500, i32::MIN).unwrap();
    assert_eq!(accelerator.download(&stream, "down", &pinned, 1).unwrap(), [i32::MIN]);
    accelerator.copy(&stream, (Direction::Down, "back"), &copy, &pinned, 400).unwrap();
    accelerator.synchronize(&stream).unwrap();
    assert_eq!([399, 400, 499, 500].map(|i| source.load(i)), [-1, i32::MIN, i32::MIN, 500 * -7_919]);
    accelerator.check().unwrap();
}

fn the_lowest_difference_is_found_and_the_first_record_kept<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 5_000;
    let stream = stream(accelerator);
    let expected = numbers(LEN);
    let mut wrong = expected.clone();
    for index in [4_999, 1_234, 1_235, 2_258] {
        wrong[index] = -5;
    }
    let [equal, wrong, expected] = [&expected, &wrong, &expected].map(|it| upload(accelerator, &stream, it));
    let verdict = upload(accelerator, &stream, &[0; 3 * VERDICT_ELEMENTS]);
    let compare = |found, len, record, iteration| {
        let work = Comparison { found, expected: &expected, len, verdict: &verdict, record, iteration };
        accelerator.compare(&stream, "compare", &work).unwrap();
    };
    let verdict = || accelerator.download(&stream, "verdict", &verdict, 3 * VERDICT_ELEMENTS).unwrap();

    compare(&equal, LEN, 1, 6);
    // What is past the length is not looked at.
    compare(&wrong, 1_234, 1, 7);
    assert_eq!(verdict(), [0; 12]);
    compare(&wrong, LEN, 1, 8);
    assert_eq!(verdict(), [0, 0, 0, 0, 1, 8, 1_234, -5, 0, 0, 0, 0]);
    compare(&wrong, LEN, 1, 9);
    compare(&equal, LEN, 1, 10);
    compare(&wrong, 1_235, 2, 11);
    assert_eq!(verdict(), [0, 0, 0, 0, 1, 8, 1_234, -5, 1, 11, 1_234, -5]);
    accelerator.check().unwrap();
}

fn a_difference_is_found_wherever_it_is<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 200_001;
    let stream = stream(accelerator);
    let equal = vec![3; LEN];
    let expected = upload(accelerator, &stream, &equal);
    for index in [0, 31, 32, 1_023, 1_024, 8_191, 8_192, 131_071, LEN - 1] {
        let mut wrong = equal.clone();
        wrong[index] = 4;
        // Higher ones do not count.
        wrong[(index + 1_000).min(LEN - 1)] = 4;
        let [found, verdict] = [&wrong[..], &[0; 4]].map(|it| upload(accelerator, &stream, it));
        let (found, verdict) = (&found, &verdict);
        let work = Comparison { found, expected: &expected, len: LEN, verdict, record: 0, iteration: -1 };
        accelerator.compare(&stream, "compare", &work).unwrap();
        assert_eq!(
            accelerator.download(&stream, "verdict", verdict, 4).unwrap(),
            [1, -1, i32::try_from(index).unwrap(), 4]
        );
    }
    accelerator.check().unwrap();
}

fn a_callback_comes_after_what_was_given_before_and_before_what_is_given_later<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 100_000;
    let stream = stream(accelerator);
    let memory = host_memory(&vec![0; LEN]);
    let (pinned, there) = (pin(accelerator, &memory), allocate(accelerator, LEN));
    accelerator.fill(&stream, "before", &there, LEN, 1).unwrap();
    accelerator.copy(&stream, (Direction::Down, "before"), &there, &pinned, LEN).unwrap();
    let (seen, theirs) = (Arc::new(AtomicU32::new(0)), Arc::clone(&memory));
    let told = Arc::clone(&seen);
    let callback = move || {
        told.store((0..LEN).filter(|&index| theirs.load(index) == 1).count() as u32, Relaxed);
        thread::sleep(Duration::from_millis(20));
        theirs.fill(2);
    };
    accelerator.then(&stream, Box::new(callback)).unwrap();
    accelerator.copy(&stream, (Direction::Up, "after"), &pinned, &there, LEN).unwrap();
    assert_eq!(accelerator.download(&stream, "after", &there, LEN).unwrap(), vec![2; LEN]);
    assert_eq!(seen.load(Relaxed) as usize, LEN);
    accelerator.check().unwrap();
}

fn callbacks_come_in_order<A: Accelerator>(accelerator: &A) {
    let stream = stream(accelerator);
    let calls = Arc::new(AtomicU32::new(0));
    for call in 0..200 {
        let calls = Arc::clone(&calls);
        // 1 for each that comes in its turn.
        let turn = move || _ = calls.compare_exchange(call, call + 1, Relaxed, Relaxed);
        accelerator.then(&stream, Box::new(turn)).unwrap();
    }
    accelerator.synchronize(&stream).unwrap();
    assert_eq!(calls.load(Relaxed), 200);
    // What they have captured is gone.
    assert_eq!(Arc::strong_count(&calls), 1);
}

fn an_event_orders_two_streams<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 50_000;
    let [first, second] = ["first", "second"].map(|label| accelerator.stream(label.to_owned()).unwrap());
    let [from, to] = [LEN; 2].map(|len| allocate(accelerator, len));
    for round in 0..10 {
        accelerator.then(&first, Box::new(|| thread::sleep(Duration::from_millis(5)))).unwrap();
        accelerator.fill(&first, "fill", &from, LEN, round).unwrap();
        let event = accelerator.record(&first).unwrap();
        accelerator.wait(&second, &event.clone()).unwrap();
        drop(event);
        accelerator.copy(&second, (Direction::P2p, "copy"), &from, &to, LEN).unwrap();
        // And back, so that the next round does not overwrite what is being copied.
        accelerator.wait(&first, &accelerator.record(&second).unwrap()).unwrap();
        if round == 9 {
            assert_eq!(accelerator.download(&second, "down", &to, LEN).unwrap(), vec![round; LEN]);
        }
    }
    accelerator.synchronize(&first).unwrap();
    accelerator.check().unwrap();
}

fn a_handle_may_go_while_work_on_it_is_queued<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 300_000;
    let stream = stream(accelerator);
    let to = allocate(accelerator, LEN);
    accelerator.then(&stream, Box::new(|| thread::sleep(Duration::from_millis(20)))).unwrap();
    {
        let memory = host_memory(&numbers(LEN));
        let (pinned, between) = (pin(accelerator, &memory), allocate(accelerator, LEN));
        accelerator.copy(&stream, (Direction::Up, "up"), &pinned, &between, LEN).unwrap();
        accelerator.copy(&stream, (Direction::P2p, "across"), &between, &to, LEN).unwrap();
    }
    // Whoever gets their memory now must not get it too early.
    let other = allocate(accelerator, LEN);
    let elsewhere = accelerator.stream("elsewhere".to_owned()).unwrap();
    accelerator.fill(&elsewhere, "fill", &other, LEN, -1).unwrap();
    let expected = numbers(LEN);
    assert_eq!(accelerator.download(&stream, "down", &to, LEN).unwrap(), expected);
    // A stream as well.
    let last = accelerator.stream("last".to_owned()).unwrap();
    accelerator.wait(&last, &accelerator.record(&stream).unwrap()).unwrap();
    accelerator.fill(&last, "fill", &to, LEN, 8).unwrap();
    let event = accelerator.record(&last).unwrap();
    drop(last);
    accelerator.wait(&stream, &event).unwrap();
    assert_eq!(accelerator.download(&stream, "down", &to, LEN).unwrap(), vec![8; LEN]);
    accelerator.synchronize(&elsewhere).unwrap();
    accelerator.check().unwrap();
}

fn buffers_may_be_empty<A: Accelerator>(accelerator: &A) {
    let stream = stream(accelerator);
    let (here, there) = (pin(accelerator, &Arc::new(HostMemory::new(0))), allocate(accelerator, 0));
    accelerator.copy(&stream, (Direction::Up, "up"), &here, &there, 0).unwrap();
    accelerator.fill(&stream, "fill", &there, 0, 1).unwrap();
    let verdict = upload(accelerator, &stream, &[0; VERDICT_ELEMENTS]);
    let work = Comparison { found: &there, expected: &here, len: 0, verdict: &verdict, record: 0, iteration: 1 };
    accelerator.compare(&stream, "compare", &work).unwrap();
    assert!(accelerator.download(&stream, "down", &there, 0).unwrap().is_empty());
    assert_eq!(accelerator.download(&stream, "verdict", &verdict, VERDICT_ELEMENTS).unwrap(), [0; 4]);
    accelerator.check().unwrap();
}

fn what_is_too_long_is_refused_and_not_counted<A: Accelerator>(accelerator: &A) {
    let stream = stream(accelerator);
    let (short, long) = (allocate(accelerator, 5), pin(accelerator, &Arc::new(HostMemory::new(7))));
    let way = (Direction::Up, "copy");
    let compare = |found, expected, len, verdict, record| {
        let work = Comparison { found, expected, len, verdict, record, iteration: 0 };
        accelerator.compare(&stream, "compare", &work)
    };
    let refused = [
        (accelerator.fill(&stream, "fill", &short, 6, 0), "fill", 6, 5),
        (accelerator.copy(&stream, way, &short, &long, 6), "copy", 6, 5),
        (accelerator.copy(&stream, way, &long, &short, 7), "copy", 7, 5),
        (accelerator.download(&stream, "down", &long, 8).map(|_| ()), "down", 8, 7),
        (compare(&short, &long, 6, &long, 0), "compare", 6, 5),
        (compare(&long, &short, 6, &long, 0), "compare", 6, 5),
        (compare(&long, &long, 7, &long, 1), "compare", 8, 7),
    ];
    for (i, (outcome, site, elements, room)) in refused.into_iter().enumerate() {
        match outcome {
            Err(AcceleratorError::Length { what, wanted, len, .. }) => {
                assert_eq!((what, wanted, len), (site, elements, room), "case {i}");
            }
            other => panic!("case {i}: {other:?}"),
        }
    }
    accelerator.synchronize(&stream).unwrap();
    let tally = accelerator.ledger().tally().unwrap();
    assert_eq!((tally.crossings, tally.launches), (vec![], vec![]));
    // It goes on.
    accelerator.fill(&stream, "fill", &short, 5, 3).unwrap();
    assert_eq!(accelerator.download(&stream, "down", &short, 5).unwrap(), [3; 5]);
}

fn threads_may_share_it<A: Accelerator>(accelerator: &A) {
    const LEN: usize = 20_000;
    let calls = Arc::new(AtomicU32::new(0));
    let work = |thread: i32| {
        let stream = accelerator.stream(format!("of thread {thread}")).unwrap();
        for round in 0..20 {
            let value = thread * 100 + round;
            let expected = upload(accelerator, &stream, &vec![value; LEN]);
            let found = allocate(accelerator, LEN);
            accelerator.fill(&stream, "fill", &found, LEN, value).unwrap();
            let verdict = allocate(accelerator, VERDICT_ELEMENTS);
            accelerator.fill(&stream, "clear", &verdict, VERDICT_ELEMENTS, 0).unwrap();
            let verdict = &verdict;
            let work =
                Comparison { found: &found, expected: &expected, len: LEN, verdict, record: 0, iteration: round };
            accelerator.compare(&stream, "compare", &work).unwrap();
            let calls = Arc::clone(&calls);
            accelerator.then(&stream, Box::new(move || _ = calls.fetch_add(1, Relaxed))).unwrap();
            assert_eq!(accelerator.download(&stream, "verdict", verdict, VERDICT_ELEMENTS).unwrap(), [0; 4]);
            assert_eq!(accelerator.download(&stream, "down", &found, LEN).unwrap(), vec![value; LEN]);
            accelerator.check().unwrap();
        }
    };
    thread::scope(|scope| (0..4).for_each(|thread| _ = scope.spawn(move || work(thread))));
    assert_eq!(calls.load(Relaxed), 80);
    let tally = accelerator.ledger().tally().unwrap();
    assert_eq!(tally.total(Direction::Up), (80, 80 * 4 * LEN as u64));
    assert_eq!(tally.total(Direction::Down), (160, 80 * 4 * (LEN + VERDICT_ELEMENTS) as u64));
}

fn the_ledger_has_every_crossing_and_launch<A: Accelerator>(accelerator: &A) {
    let stream = stream(accelerator);
    let (here, there) = (pin(accelerator, &Arc::new(HostMemory::new(100))), allocate(accelerator, 100));
    for len in [100, 0, 7] {
        accelerator.copy(&stream, (Direction::Up, "reference"), &here, &there, len).unwrap();
    }
    accelerator.copy(&stream, (Direction::P2p, "pull"), &here, &there, 3).unwrap();
    accelerator.fill(&stream, "poison", &there, 60, -1).unwrap();
    accelerator.fill(&stream, "poison", &there, 0, -1).unwrap();
    let work = Comparison { found: &there, expected: &there, len: 50, verdict: &there, record: 0, iteration: 0 };
    accelerator.compare(&stream, "compare", &work).unwrap();
    accelerator.download(&stream, "verdict", &there, 4).unwrap();
    // These are no transfers.
    accelerator.wait(&stream, &accelerator.record(&stream).unwrap()).unwrap();
    accelerator.then(&stream, Box::new(|| ())).unwrap();
    accelerator.synchronize(&stream).unwrap();
    accelerator.check().unwrap();
    let tally = accelerator.ledger().tally().unwrap();
    let crossing = |direction, site, count, bytes| Crossing { direction, site, count, bytes };
    let launch = |site, count, elements| Launch { site, count, elements };
    let crossings = [
        crossing(Direction::Up, "reference", 3, 428),
        crossing(Direction::Down, "verdict", 1, 16),
        crossing(Direction::P2p, "pull", 1, 12),
    ];
    assert_eq!(tally.crossings, crossings);
    assert_eq!(tally.launches, [launch("poison", 2, 60), launch("compare", 1, 50)]);
}

fn what_is_exported_is_the_buffer<A: Accelerator>(accelerator: &A) {
    let memory = Arc::new(HostMemory::new(30));
    let pinned = accelerator.export(&pin(accelerator, &memory)).unwrap();
    assert_eq!((pinned.len(), pinned.space()), (30, MemorySpace::Host));
    assert!(Arc::ptr_eq(pinned.elements().unwrap(), &memory));

    let stream = stream(accelerator);
    let buffer = allocate(accelerator, 30);
    let space = match accelerator.export_space() {
        Ok(space) => space,
        Err(reason) => {
            eprintln!("nothing is exported: {reason}");
            assert!(accelerator.export(&buffer).unwrap_err().to_string().contains(&reason));
            return;
        }
    };
    let exported = accelerator.export(&buffer).unwrap();
    assert_eq!((exported.len(), exported.space()), (30, space));
    let card = Slr::ALL[1];
    accelerator.card_begins(card, std::slice::from_ref(&buffer)).unwrap();
    let written = match &exported {
        OutputMemory::DmaBuf(exported) => {
            assert_eq!(exported.offset, 0);
            false
        }
        other => {
            other.elements().unwrap().fill(12);
            true
        }
    };
    accelerator.card_ended(card);
    let found = accelerator.download(&stream, "down", &buffer, 30).unwrap();
    assert!(!written || found == [12; 30], "{found:?}");
    accelerator.check().unwrap();
}
