//! `fifo` and `handshake_pipe`: order kept, nothing lost, nothing twice.

use std::cell::RefCell;

use proptest::{collection::vec, prelude::*};
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, count, flow},
};

const DEPTHS: [usize; 3] = [2, 4, 16];
const STAGES: [usize; 4] = [0, 1, 2, 3];

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct ChannelIn {
    valid: u32,
    data: u32,
    ready: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct ChannelOut {
    ready: u32,
    valid: u32,
    data: u32,
}

struct Fifo;

impl Module for Fifo {
    const NUMBER: u32 = 8;
    type In = ChannelIn;
    type Out = ChannelOut;
}

struct HandshakePipe;

impl Module for HandshakePipe {
    const NUMBER: u32 = 11;
    type In = ChannelIn;
    type Out = ChannelOut;
}

fn inputs(data: Option<u32>, ready: bool) -> ChannelIn {
    ChannelIn { valid: data.is_some().into(), data: data.unwrap_or_default(), ready: ready.into() }
}

/// What goes in comes out, in order, at any pace; one item a cycle at a steady one, the first after `latency` cycles.
fn keeps_order<M: Module<In = ChannelIn, Out = ChannelOut>>(
    bench: &mut Bench<M>,
    items: &[u32],
    seed: u64,
    latency: u64,
) -> Result<(), String> {
    for pace in Pace::both(seed) {
        let outputs = |out: &ChannelOut| (out.ready != 0, (out.valid != 0).then_some(out.data));
        let found = flow(bench, pace, items, count(items.len()), inputs, outputs)?;
        found.equal(items, pace)?;
        if matches!(pace, Pace::Steady) && !items.is_empty() {
            let (first, span) = (found.cycles[0], found.span());
            if (first, span) != (latency, items.len() as u64 - 1) {
                return Err(format!("the first item after {first} cycles and the others within {span}"));
            }
        }
    }
    Ok(())
}

fn cases() -> impl Strategy<Value = (Vec<u32>, u64)> {
    (vec(any::<u32>(), 0..200), any::<u64>())
}

#[test]
fn a_fifo_keeps_order() {
    for n in 0..DEPTHS.len() as u32 {
        let bench = RefCell::new(Bench::<Fifo>::nth(n));
        Property::new("a_fifo_keeps_order", 20).check(
            &cases(),
            |(items, seed)| keeps_order(&mut bench.borrow_mut(), items, *seed, 1),
            |_| format!("depth {}", DEPTHS[n as usize]),
        );
    }
}

#[test]
fn a_pipe_keeps_order() {
    for (n, stages) in STAGES.into_iter().enumerate() {
        let bench = RefCell::new(Bench::<HandshakePipe>::nth(n as u32));
        Property::new("a_pipe_keeps_order", 20).check(
            &cases(),
            |(items, seed)| keeps_order(&mut bench.borrow_mut(), items, *seed, stages as u64),
            |_| format!("{stages} stages"),
        );
    }
}

/// A queue takes just as many items as it has room for, whether it was used before or not.
#[test]
fn a_fifo_has_its_depth() {
    for (n, depth) in DEPTHS.into_iter().enumerate() {
        let mut bench = Bench::<Fifo>::nth(n as u32);
        for used in 0..2 * depth as u32 {
            bench.reset();
            for item in 0..used {
                bench.clock(&inputs(Some(item), true)).unwrap();
            }
            let left = (0..=depth).find(|_| bench.clock(&inputs(None, true)).unwrap().valid == 0);
            assert!(left.is_some(), "after {used} items it is not empty in time");
            let taken = (0..2 * depth).filter(|_| bench.clock(&inputs(Some(7), false)).unwrap().ready != 0).count();
            assert_eq!(taken, depth, "after {used} items");
        }
    }
}
