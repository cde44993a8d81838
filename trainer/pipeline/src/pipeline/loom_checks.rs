//! Every schedule of a producer and a consumer around the slot table, up to a number of preemptions (`just model-check`).
//!
//! What a slot holds is a cell that loom watches: two threads that touch it at the same time are an error.

use std::sync::Arc;

use golden::Request;
use hw::Slr;
use loom::{cell::UnsafeCell, model::Builder, thread};

use super::{PipelineError, table::Table};

const SLOTS: usize = 2;

/// A table, and what its slots hold: the iteration.
struct Watched {
    table: Table,
    slots: [UnsafeCell<u64>; SLOTS],
}

// SAFETY: the cells are what is checked here: loom reports two threads in one at the same time.
#[allow(unsafe_code)]
unsafe impl Sync for Watched {}

fn check(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

fn watched(iterations: u64) -> Arc<Watched> {
    let table = Table::new(SLOTS);
    table.start(iterations, Arc::new(|_, _| None::<Request>)).unwrap();
    Arc::new(Watched { table, slots: std::array::from_fn(|_| UnsafeCell::new(u64::MAX)) })
}

/// Fills slots for all three SLRs until it is told to end.
fn produce(shared: &Watched) -> u64 {
    for filled in 0.. {
        for slr in Slr::ALL {
            let Some(task) = shared.table.begin_fill(slr) else { return filled };
            if slr == Slr::ALL[0] {
                shared.slots[task.slot.0 as usize].with_mut(|slot| write(slot, task.iteration));
            }
            shared.table.filled(slr, task.slot, None);
        }
    }
    unreachable!("it is told to end")
}

#[allow(unsafe_code)]
fn write(slot: *mut u64, iteration: u64) {
    // SAFETY: loom has checked that no other thread is in the cell.
    unsafe { *slot = iteration };
}

#[allow(unsafe_code)]
fn read(slot: *const u64) -> u64 {
    // SAFETY: as above.
    unsafe { *slot }
}

#[test]
fn no_slot_is_filled_and_consumed_at_the_same_time() {
    check(|| {
        let shared = watched(3);
        let producer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || produce(&shared)
        });
        let mut iterations = 0;
        while let Some(item) = shared.table.acquire(&|| Ok(())).unwrap() {
            shared.table.begin_consume(item.slot, item.generation).unwrap();
            assert_eq!(shared.slots[item.slot.0 as usize].with(read), iterations);
            shared.table.release(item.slot, item.generation).unwrap();
            shared.table.freed(item.slot);
            iterations += 1;
        }
        assert_eq!(shared.table.finish(&|| Ok(())).unwrap().iterations, 3);
        shared.table.close();
        assert_eq!((iterations, producer.join().unwrap()), (3, 3));
    });
}

#[test]
fn a_slot_that_another_thread_frees_is_filled_again() {
    check(|| {
        let shared = watched(3);
        let producer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || produce(&shared)
        });
        // As a stream does it, later than the release.
        let item = shared.table.acquire(&|| Ok(())).unwrap().unwrap();
        shared.table.begin_consume(item.slot, item.generation).unwrap();
        let freeing = thread::spawn({
            let shared = Arc::clone(&shared);
            let slot = item.slot;
            shared.table.release(item.slot, item.generation).unwrap();
            move || {
                assert_eq!(shared.slots[slot.0 as usize].with(read), 0);
                shared.table.freed(slot);
            }
        });
        let second = shared.table.acquire(&|| Ok(())).unwrap().unwrap();
        let third = shared.table.acquire(&|| Ok(())).unwrap().unwrap();
        assert_eq!([second.iteration, third.iteration], [1, 2]);
        assert_eq!(shared.slots[third.slot.0 as usize].with(read), 2);
        freeing.join().unwrap();
        shared.table.close();
        producer.join().unwrap();
    });
}

#[test]
fn whoever_waits_learns_of_a_failure_and_of_the_end() {
    check(|| {
        let shared = watched(1);
        let failing = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let task = shared.table.begin_fill(Slr::ALL[0]);
                shared.table.fail(PipelineError::Device(hw::DeviceError::NoGraph));
                task.is_some()
            }
        });
        let waiting = thread::spawn({
            let shared = Arc::clone(&shared);
            // Its slot is never free again: it waits for one until it is told to end.
            move || {
                while shared.table.begin_fill(Slr::ALL[1]).is_some() {}
            }
        });
        let failure = shared.table.acquire(&|| Ok(())).unwrap_err();
        assert_eq!(failure, PipelineError::Device(hw::DeviceError::NoGraph));
        shared.table.close();
        waiting.join().unwrap();
        failing.join().unwrap();
    });
}
