//! `line_fetch` with its `line_reader`s: sources come in the order of the edges, however long each channel takes; an edge in the
//! line of the one before shares its read; errors come in order as well.

use std::{cell::RefCell, collections::VecDeque};

use proptest::{collection::vec, prelude::*};
use sim::chance::Chance;
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Gate, Pace, Results, count, flow},
    items::{CORRUPT, END, Item, LAST, READ_ERROR, items},
};

const CHANNELS: usize = 4;
/// Edges that the bench's fetch has under way, and reads of one channel.
const WINDOW: u32 = 16;
const READER_WINDOW: u32 = 8;
/// Edges whose sources lie in one line.
const LINE_EDGES: u32 = 16;
const NUM_NODES: u32 = 1000;
/// Of the first index channel, as item details count ports.
const PORT_IDX0: u32 = 1;
const CORRUPT_INDEX: u32 = 2;
/// Cycles from request to answer of a memory at a steady pace.
const LATENCY: u64 = 5;

type Line = [u32; 16];

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct In {
    valid: u32,
    item: Item,
    pos: u32,
    ready: u32,
    clear: u32,
    failed: u32,
    num_nodes: u32,
    bases: [[u32; 2]; CHANNELS],
    ar_ready: u32,
    r_valid: u32,
    r_resp: [u32; CHANNELS],
    r_line: [Line; CHANNELS],
}

#[derive(FromBytes)]
#[repr(C)]
struct Out {
    ready: u32,
    busy: u32,
    valid: u32,
    item: Item,
    pos: u32,
    u: u32,
    r_ready: u32,
    ar_valid: u32,
    ar_addr: [[u32; 2]; CHANNELS],
    reads: [u32; CHANNELS],
    fault_seen: u32,
    fault_resp: [u32; CHANNELS],
    fault_addr: [[u32; 2]; CHANNELS],
}

struct LineFetch;

impl Module for LineFetch {
    const NUMBER: u32 = 6;
    type In = In;
    type Out = Out;
}

fn words(addr: u64) -> [u32; 2] {
    [addr as u32, (addr >> 32) as u32]
}

fn addr([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What lies in memory, by a seed.
#[derive(Clone, Copy, Debug)]
struct Contents(u64);

impl Contents {
    fn hash(self, of: u64) -> u64 {
        Chance::seeded(self.0 ^ of.wrapping_mul(0x9FB2_1C65_1E98_DF25)).below(u64::MAX)
    }

    /// The source of the edge at `pos`; now and then one that is no node.
    fn source(self, pos: u32) -> u32 {
        match self.hash(pos.into()) % 40 {
            0 => NUM_NODES,
            1 => u32::MAX,
            _ => (self.hash(pos.into()) >> 32) as u32 % NUM_NODES,
        }
    }

    /// The response to reads of a line: mostly OKAY or EXOKAY, at times SLVERR or DECERR.
    fn response(self, line: u32) -> u32 {
        (self.hash(1 << 40 | u64::from(line)) % 32).saturating_sub(28) as u32
    }

    fn base(self, channel: usize) -> u64 {
        (self.hash(1 << 41 | channel as u64) >> 8) << 6
    }

    fn line(self, line: u32) -> Line {
        std::array::from_fn(|n| self.source(line << 4 | n as u32))
    }
}

/// The memory of one channel: each read has a latency of its own, and answers come in order, as all carry the same ID.
struct Channel {
    takes: Gate,
    gives: Gate,
    latency: Option<Chance>,
    /// Reads on their way: the line, and the cycle from which on it can be answered.
    reads: VecDeque<(u32, u64)>,
    /// The first is being answered.
    answers: bool,
}

/// Two edges are one read apart if a line lies between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Traffic {
    reads: [u32; CHANNELS],
    /// Response and address of each channel's first error.
    faults: [Option<(u32, u64)>; CHANNELS],
}

/// What is asked of the module.
type Edge = (Item, u32);
/// What it gives: position and source mean something with data alone.
type Arc = (Item, u32, u32);

fn expected(contents: Contents, edges: &[Edge]) -> (Vec<Arc>, Traffic) {
    let mut traffic = Traffic::default();
    let mut last = None;
    let arcs = edges
        .iter()
        .map(|&(item, pos)| {
            let (line, channel) = (pos >> 4, (pos >> 4) as usize % CHANNELS);
            let response = contents.response(line);
            if item.is_data() && last != Some(line) {
                traffic.reads[channel] += 1;
                if response >= 2 {
                    let address = contents.base(channel).wrapping_add(u64::from(line) / CHANNELS as u64 * 64);
                    traffic.faults[channel].get_or_insert((response, address));
                }
            }
            last = item.is_data().then_some(line);
            if !item.is_data() {
                return (item, 0, 0);
            }
            match contents.source(pos) {
                _ if response >= 2 => (Item { kind: READ_ERROR, detail: PORT_IDX0 + channel as u32, ..item }, 0, 0),
                source if source >= NUM_NODES => (Item { kind: CORRUPT, detail: CORRUPT_INDEX, ..item }, 0, 0),
                source => (item, pos, source),
            }
        })
        .collect();
    (arcs, traffic)
}

/// Runs a fetch that fails after some cycles, or not; gives what came out, and what its ports saw.
fn fetch(
    bench: &mut Bench<LineFetch>,
    pace: Pace,
    contents: Contents,
    edges: &[Edge],
    enough: impl Fn(&[Arc]) -> bool,
    fails_after: u64,
) -> Result<(Results<Arc>, Traffic), String> {
    let channel = |n: usize| Channel {
        takes: pace.gate(10 + n as u64),
        gives: pace.gate(20 + n as u64),
        latency: if let Pace::Stalls(seed) = pace { Some(Chance::seeded(seed ^ n as u64)) } else { None },
        reads: VecDeque::new(),
        answers: false,
    };
    let memory = RefCell::new((std::array::from_fn::<_, CHANNELS, _>(channel), 0_u32));
    let (mut cycle, mut traffic, mut busy) = (0, Traffic::default(), false);
    let now = RefCell::new(0);
    let inputs = |edge: Option<Edge>, ready: bool| {
        let (channels, takes) = &mut *memory.borrow_mut();
        let (item, pos) = edge.unwrap_or_default();
        let mut input = In { valid: edge.is_some().into(), item, pos, ready: ready.into(), ..In::default() };
        input.failed = (cycle >= fails_after).into();
        input.num_nodes = NUM_NODES;
        *takes = 0;
        for (n, channel) in channels.iter_mut().enumerate() {
            input.bases[n] = words(contents.base(n));
            *takes |= u32::from(channel.takes.is_open()) << n;
            let open = channel.gives.is_open();
            channel.answers = channel.reads.front().is_some_and(|&(_, due)| channel.answers || (open && due <= cycle));
            if let Some(&(line, _)) = channel.reads.front().filter(|_| channel.answers) {
                input.r_valid |= 1 << n;
                (input.r_resp[n], input.r_line[n]) = (contents.response(line), contents.line(line));
            }
        }
        input.ar_ready = *takes;
        *now.borrow_mut() = cycle;
        cycle += 1;
        input
    };
    let outputs = |out: &Out| {
        let (channels, takes) = &mut *memory.borrow_mut();
        for (n, channel) in channels.iter_mut().enumerate() {
            if channel.answers && out.r_ready >> n & 1 != 0 {
                channel.reads.pop_front();
                channel.answers = false;
            }
            if out.ar_valid & *takes & 1 << n != 0 {
                let row = addr(out.ar_addr[n]).wrapping_sub(contents.base(n)) / 64;
                let latency = channel.latency.as_mut().map_or(LATENCY, |chance| 1 + chance.below(60));
                channel.reads.push_back(((row * CHANNELS as u64) as u32 + n as u32, *now.borrow() + latency));
            }
            traffic.reads[n] = out.reads[n];
            traffic.faults[n] = (out.fault_seen >> n & 1 != 0).then(|| (out.fault_resp[n], addr(out.fault_addr[n])));
        }
        busy = out.busy != 0;
        let arc = if out.item.is_data() { (out.item, out.pos, out.u) } else { (out.item, 0, 0) };
        (out.ready != 0, (out.valid != 0).then_some(arc))
    };
    let found = flow(bench, pace, edges, enough, inputs, outputs)?;
    if busy { Err(format!("{pace:?}: it is busy with nothing")) } else { Ok((found, traffic)) }
}

/// Edges as a sampler draws them: many in one line, steps forth, and jumps; or all in the lines of one channel.
fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let step = prop_oneof![3 => 0..4_u32, 2 => 0..70_u32, 2 => any::<u32>()];
    let one_channel = (LINE_EDGES * CHANNELS as u32)..=(LINE_EDGES * CHANNELS as u32);
    let steps = prop_oneof![3 => vec((items(), step), 0..120), 1 => vec((items(), one_channel), 0..120)];
    steps.prop_map(|steps| {
        let next = |pos: &mut u32, (item, step): (Item, u32)| {
            *pos = pos.wrapping_add(step) & 0x7FFF_FFFF;
            Some((item, *pos))
        };
        steps.into_iter().scan(0, next).collect()
    })
}

#[test]
fn sources_come_in_order() {
    let bench = RefCell::new(Bench::new());
    Property::new("sources_come_in_order", 80).check(
        &(edges(), any::<u64>().prop_map(Contents), any::<u64>()),
        |(edges, contents, seed)| {
            let (arcs, traffic) = expected(*contents, edges);
            for pace in Pace::both(*seed) {
                let (found, seen) =
                    fetch(&mut bench.borrow_mut(), pace, *contents, edges, count(arcs.len()), u64::MAX)?;
                found.equal(&arcs, pace)?;
                if seen != traffic {
                    return Err(format!("{pace:?}: the ports saw {seen:?}, not {traffic:?}"));
                }
            }
            Ok(())
        },
        |_| String::new(),
    );
}

/// One edge a cycle, each in a line and a channel of its own, while the window is longer than memory takes.
#[test]
fn an_edge_leaves_in_every_cycle() {
    let contents = Contents(1);
    let edges: Vec<_> = (0..200).map(|n| (Item::data(n), 16 * n)).collect();
    let (arcs, _) = expected(contents, &edges);
    let (found, _) = fetch(&mut Bench::new(), Pace::Steady, contents, &edges, count(arcs.len()), u64::MAX).unwrap();
    found.equal(&arcs, Pace::Steady).unwrap();
    assert_eq!(found.span(), 199);
}

/// Without answers, as many edges are on their way as the window holds, or as a reader's does if all are in one channel.
#[test]
fn the_window_is_all_that_is_under_way() {
    let mut bench = Bench::<LineFetch>::new();
    for (step, window) in [(LINE_EDGES, WINDOW), (LINE_EDGES * CHANNELS as u32, READER_WINDOW)] {
        bench.reset();
        let mut taken = 0;
        for _ in 0..100 {
            let input =
                In { valid: 1, item: Item::data(0), pos: step * taken, ready: 1, ar_ready: 15, ..In::default() };
            let out = bench.clock(&input).unwrap();
            taken += u32::from(out.ready != 0);
            assert_eq!(out.valid, 0);
        }
        assert_eq!(taken, window);
    }
}

/// When the run has failed, nothing but Ends comes in; what was on its way comes out.
#[test]
fn a_failed_fetch_hands_on_ends_alone() {
    let bench = RefCell::new(Bench::new());
    Property::new("a_failed_fetch_hands_on_ends_alone", 40).check(
        &(edges(), any::<u64>().prop_map(Contents), prop_oneof![1 => Just(0), 3 => 0..150_u64], any::<u64>()),
        |(edges, contents, fails_after, seed)| {
            let edges = [&edges[..], &[(LAST, 0)]].concat();
            let (arcs, _) = expected(*contents, &edges);
            let last = |found: &[Arc]| found.last() == Some(&(LAST, 0, 0));
            for pace in Pace::both(*seed) {
                let (found, _) = fetch(&mut bench.borrow_mut(), pace, *contents, &edges, last, *fails_after)?;
                // What came in before, and of the rest the Ends.
                let kept = (0..=arcs.len()).any(|before| {
                    let ends = arcs[before..].iter().filter(|(item, ..)| item.kind == END);
                    (*fails_after > 0 || before == 0) && arcs[..before].iter().chain(ends).eq(&found.items)
                });
                if !kept {
                    return Err(format!("{pace:?}: {:?} of {arcs:?}", found.items));
                }
            }
            Ok(())
        },
        |_| String::new(),
    );
}
