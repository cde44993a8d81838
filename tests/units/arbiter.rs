//! `line_arbiter`: each source's lines in order, none lost or twice, and nobody waits for more than a round.

use std::cell::RefCell;

use proptest::{array::uniform4, prelude::*};
use tests::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, Source},
};

const SOURCES: [usize; 3] = [2, 3, 4];

/// What is written: an address, a line and its strobes.
type Write = (u64, [u32; 16], u64);

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct In {
    ready: u32,
    valid: u32,
    line: [[u32; 16]; 4],
    addr: [u64; 4],
    strb: [u64; 4],
}

#[derive(FromBytes)]
#[repr(C)]
struct Out {
    ready: u32,
    valid: u32,
    line: [u32; 16],
    addr: u64,
    strb: u64,
}

struct LineArbiter;

impl Module for LineArbiter {
    const NUMBER: u32 = 15;
    type In = In;
    type Out = Out;
}

/// The `n`-th write of a source, all of it told from every other.
fn write(source: usize, n: usize) -> Write {
    let name = (source << 16 | n) as u32;
    (u64::from(name) << 6, std::array::from_fn(|i| name ^ (i as u32) << 24), !u64::from(name))
}

fn arbitrates(bench: &mut Bench<LineArbiter>, pace: Pace, writes: &[Vec<Write>]) -> Result<(), String> {
    bench.reset();
    let mut sources: Vec<_> =
        writes.iter().enumerate().map(|(n, items)| Source::new(items, pace.gate(1 + n as u64))).collect();
    let mut sink = pace.gate(0);
    let mut found = vec![vec![]; writes.len()];
    // Grants to others since a source began to wait.
    let mut passed = vec![0; writes.len()];
    for cycle in 0.. {
        let offers: Vec<_> = sources.iter_mut().map(Source::offer).collect();
        let mut input = In { ready: sink.is_open().into(), ..In::default() };
        for (n, offer) in offers.iter().enumerate() {
            input.valid |= u32::from(offer.is_some()) << n;
            (input.addr[n], input.line[n], input.strb[n]) = offer.unwrap_or_default();
        }
        let out = bench.clock(&input)?;
        let taken = input.valid & out.ready;
        let granted = out.valid & input.ready;
        if taken.count_ones() != granted || (out.valid != 0) != (input.valid != 0) {
            return Err(format!("cycle {cycle}: of {:#b} {taken:#b} is taken, valid {}", input.valid, out.valid));
        }
        for (n, source) in sources.iter_mut().enumerate() {
            source.settle(taken >> n & 1 != 0);
            if taken >> n & 1 != 0 {
                found[n].push((out.addr, out.line, out.strb));
                passed[n] = 0;
            } else if input.valid >> n & 1 != 0 {
                passed[n] += granted;
                if passed[n] >= writes.len() as u32 {
                    return Err(format!("cycle {cycle}: source {n} has waited for {} others", passed[n]));
                }
            }
        }
        if found.iter().zip(writes).all(|(found, writes)| found.len() == writes.len()) || cycle > 20_000 {
            break;
        }
    }
    if found == writes { Ok(()) } else { Err(format!("{pace:?}: lines are lost or out of order")) }
}

#[test]
fn an_arbiter_is_fair_and_keeps_order() {
    for (n, sources) in SOURCES.into_iter().enumerate() {
        let bench = RefCell::new(Bench::<LineArbiter>::nth(n as u32));
        let counts = uniform4(prop_oneof![Just(0), 1..60_usize]);
        Property::new("an_arbiter_is_fair_and_keeps_order", 25).check(
            &(counts, any::<u64>()),
            |(counts, seed)| {
                let writes: Vec<Vec<_>> = (0..sources).map(|s| (0..counts[s]).map(|n| write(s, n)).collect()).collect();
                Pace::both(*seed).into_iter().try_for_each(|pace| arbitrates(&mut bench.borrow_mut(), pace, &writes))
            },
            |_| format!("{sources} sources"),
        );
    }
}

/// With all sources waiting, they take turns, and a line leaves in every cycle.
#[test]
fn waiting_sources_take_turns() {
    for (n, sources) in SOURCES.into_iter().enumerate() {
        let mut bench = Bench::<LineArbiter>::nth(n as u32);
        let input = In { ready: 1, valid: (1 << sources) - 1, addr: [0, 64, 128, 192], ..In::default() };
        let turns: Vec<_> = (0..5 * sources)
            .map(|_| {
                let out = bench.clock(&input).unwrap();
                assert_eq!((out.valid, out.ready), (1, 1 << (out.addr / 64)));
                out.addr as usize / 64
            })
            .collect();
        let expected: Vec<_> = (0..5 * sources).map(|turn| (turn + turns[0]) % sources).collect();
        assert_eq!(turns, expected);
    }
}
