//! `frontier_reader` with its `list_head` and `line_reader`: ids come in order, the first ones of the node list from the head, and
//! nothing is read of the list before it has arrived in memory.

use std::{cell::RefCell, collections::VecDeque};

use proptest::prelude::*;
use sim::chance::Chance;
use tests::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, STUCK_CYCLES},
    items::{CORRUPT, DATA, END, Item, READ_ERROR},
};

const NUM_NODES: u32 = 1000;
/// Nodes of the list that are at hand.
const HEAD_NODES: u32 = 64;
const LINE_IDS: u32 = 16;
/// Of the port, as item details count ports.
const PORT_MEM: u32 = 9;
const CORRUPT_INDEX: u32 = 2;
const CORRUPT_SEED: u32 = 3;
/// Cycles from request to answer of a memory at a steady pace.
const LATENCY: u64 = 5;

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct In {
    base: u64,
    node_valid: u32,
    node: u32,
    start: u32,
    seeds: u32,
    first: u32,
    past: u32,
    num_nodes: u32,
    at_rest: u32,
    failed: u32,
    ready: u32,
    ar_ready: u32,
    r_valid: u32,
    r_resp: u32,
    unused: u32,
    r_line: [u32; LINE_IDS as usize],
}

#[derive(FromBytes)]
#[repr(C)]
struct Out {
    reads: u32,
    busy: u32,
    valid: u32,
    item: Item,
    id: u32,
    r_ready: u32,
    ar_valid: u32,
    unused: u32,
    ar_addr: u64,
}

struct FrontierReader;

impl Module for FrontierReader {
    const NUMBER: u32 = 21;
    type In = In;
    type Out = Out;
}

/// A phase, with the ids by a seed.
#[derive(Clone, Debug)]
struct Phase {
    seeds: bool,
    first: u32,
    past: u32,
    ids: u64,
    /// Cycles from the start on until the node list has arrived.
    arrives: u64,
}

impl Phase {
    fn hash(&self, of: u64) -> u64 {
        Chance::seeded(self.ids ^ of.wrapping_mul(0x9FB2_1C65_1E98_DF25)).below(u64::MAX)
    }

    /// The id at a place; now and then one that is no node.
    fn id(&self, place: u32) -> u32 {
        match self.hash(place.into()) % 60 {
            0 => NUM_NODES,
            1 if self.seeds => u32::MAX,
            _ => (self.hash(place.into()) >> 32) as u32 % NUM_NODES,
        }
    }

    /// The response to reads of a line: mostly OKAY or EXOKAY, at times SLVERR or DECERR.
    fn response(&self, line: u32) -> u32 {
        (self.hash(1 << 40 | u64::from(line)) % 32).saturating_sub(28) as u32
    }

    fn base(&self) -> u64 {
        (self.hash(1 << 41) >> 8) << 6
    }

    /// The first place that is read from memory.
    fn memory_from(&self) -> u32 {
        if self.seeds { self.first } else { self.past.min(self.first + HEAD_NODES) }
    }

    /// The lines that are read.
    fn lines(&self) -> std::ops::Range<u32> {
        let from = self.memory_from();
        if from == self.past { 0..0 } else { from / LINE_IDS..self.past.div_ceil(LINE_IDS) }
    }

    /// What has to be handed on, before the End.
    fn handed(&self) -> Vec<Handed> {
        let hand = |place: u32| {
            let id = self.id(place);
            let from_memory = place >= self.memory_from();
            match self.response(place / LINE_IDS) {
                2.. if from_memory => (READ_ERROR, PORT_MEM, place, 0),
                _ if id >= NUM_NODES => (CORRUPT, if self.seeds { CORRUPT_SEED } else { CORRUPT_INDEX }, place, 0),
                _ => (DATA, 0, place, id),
            }
        };
        (self.first..self.past).map(hand).collect()
    }
}

/// Kind, detail, place and id; detail and id where they mean something.
type Handed = (u32, u32, u32, u32);

/// Runs a phase that fails after some cycles, or not; gives what was handed on before the End.
fn reads(
    bench: &mut Bench<FrontierReader>,
    pace: Pace,
    phase: &Phase,
    fails_after: u64,
) -> Result<Vec<Handed>, String> {
    let arguments = || In {
        base: phase.base(),
        seeds: phase.seeds.into(),
        first: phase.first,
        past: phase.past,
        num_nodes: NUM_NODES,
        ..In::default()
    };
    // The phase before appends the nodes.
    let mut appends = pace.gate(0);
    for place in (phase.first..phase.past).filter(|_| !phase.seeds) {
        while !appends.is_open() {
            bench.clock(&arguments())?;
        }
        bench.clock(&In { node_valid: 1, node: phase.id(place), ..arguments() })?;
    }
    let before = bench.clock(&In { start: 1, ..arguments() })?.reads;

    let (mut sink, mut takes, mut gives) = (pace.gate(1), pace.gate(2), pace.gate(3));
    let mut latency = Chance::seeded(phase.ids);
    let (mut asked, mut answers, mut found) = (VecDeque::new(), false, vec![]);
    let (mut next, mut moved) = (phase.lines(), 0);
    for cycle in 0.. {
        let (ready, takes_now, open) = (sink.is_open(), takes.is_open(), gives.is_open());
        answers = asked.front().is_some_and(|&(_, due)| answers || (open && due <= cycle));
        let mut input = In {
            at_rest: (cycle >= phase.arrives).into(),
            failed: (cycle >= fails_after).into(),
            ready: ready.into(),
            ar_ready: takes_now.into(),
            r_valid: answers.into(),
            ..arguments()
        };
        if let Some(&(line, _)) = asked.front().filter(|_| answers) {
            input.r_resp = phase.response(line);
            input.r_line = std::array::from_fn(|n| phase.id(line * LINE_IDS + n as u32));
        }
        let out = bench.clock(&input)?;
        if answers && out.r_ready != 0 {
            (_, answers, moved) = (asked.pop_front(), false, cycle);
        }
        if takes_now && out.ar_valid != 0 {
            let line = (out.ar_addr.wrapping_sub(phase.base()) / 64) as u32;
            if next.next() != Some(line) {
                return Err(format!("{pace:?}: it reads line {line}, and not {:?}", phase.lines()));
            }
            if !phase.seeds && cycle < phase.arrives {
                return Err(format!("{pace:?}: it reads line {line} before that has arrived"));
            }
            let due = if matches!(pace, Pace::Steady) { LATENCY } else { 1 + latency.below(60) };
            asked.push_back((line, cycle + due));
            moved = cycle;
        }
        if ready && out.valid != 0 {
            moved = cycle;
            let Item { kind, detail, v } = out.item;
            match kind {
                END => break,
                DATA => found.push((kind, 0, v, out.id)),
                _ => found.push((kind, detail, v, 0)),
            }
        }
        if cycle - moved > STUCK_CYCLES {
            return Err(format!("{pace:?}: stuck after {} ids", found.len()));
        }
    }
    let out = bench.clock(&arguments())?;
    if out.busy != 0 || out.valid != 0 || !asked.is_empty() {
        return Err(format!("{pace:?}: it is not done after the End"));
    }
    let (read, wanted) = (out.reads.wrapping_sub(before), phase.lines().len() as u32);
    if read > wanted || (read < wanted && fails_after == u64::MAX) {
        return Err(format!("{pace:?}: {read} lines were read, not {wanted}"));
    }
    Ok(found)
}

fn phases() -> impl Strategy<Value = Phase> {
    let length = prop_oneof![
        2 => 1..HEAD_NODES,
        1 => HEAD_NODES - 1..HEAD_NODES + 2,
        2 => HEAD_NODES..4 * HEAD_NODES,
        1 => 1..3_u32,
    ];
    let arrives = prop_oneof![Just(0), 0..200_u64];
    (any::<bool>(), 0..200_u32, length, any::<u64>(), arrives).prop_map(|(seeds, first, length, ids, arrives)| {
        // Seeds begin at the first.
        let first = if seeds { 0 } else { first };
        Phase { seeds, first, past: first + length, ids, arrives }
    })
}

#[test]
fn ids_come_in_order() {
    let bench = RefCell::new(Bench::<FrontierReader>::new());
    Property::new("ids_come_in_order", 100).check(
        &(proptest::collection::vec(phases(), 1..4), any::<u64>()),
        |(phases, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| {
                bench.reset();
                phases.iter().try_for_each(|phase| {
                    let (found, expected) = (reads(bench, pace, phase, u64::MAX)?, phase.handed());
                    if found == expected { Ok(()) } else { Err(format!("{pace:?}: {found:?}, not {expected:?}")) }
                })
            })
        },
        |_| String::new(),
    );
}

/// When the run has failed, nothing more is handed on but the End, after the lines that were asked for; and the next phase goes
/// well.
#[test]
fn a_failed_phase_ends() {
    let bench = RefCell::new(Bench::<FrontierReader>::new());
    Property::new("a_failed_phase_ends", 60).check(
        &(phases(), phases(), 0..250_u64, any::<u64>()),
        |(phase, next, fails_after, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| {
                bench.reset();
                let (found, all) = (reads(bench, pace, phase, *fails_after)?, phase.handed());
                if !all.starts_with(&found) {
                    return Err(format!("{pace:?}: {found:?} is not the begin of {all:?}"));
                }
                let (found, expected) = (reads(bench, pace, next, u64::MAX)?, next.handed());
                if found == expected { Ok(()) } else { Err(format!("{pace:?}: then {found:?}, not {expected:?}")) }
            })
        },
        |_| String::new(),
    );
}

/// An id a cycle: from the head, and from memory where it is fast enough.
#[test]
fn an_id_leaves_in_every_cycle() {
    let mut bench = Bench::<FrontierReader>::new();
    let phase = Phase { seeds: false, first: 3, past: 3 + HEAD_NODES + 160, ids: 1, arrives: 0 };
    let cycles_of = |bench: &mut Bench<FrontierReader>, phase: &Phase| {
        bench.reset();
        assert_eq!(reads(bench, Pace::Steady, phase, u64::MAX).unwrap(), phase.handed());
        // As many as there are ids, while the lines after the head come in time.
        (1..1000_u64).find(|&cycles| {
            bench.reset();
            let found = reads(bench, Pace::Steady, phase, cycles).unwrap();
            found.len() == phase.handed().len()
        })
    };
    let short = Phase { past: 3 + HEAD_NODES, ..phase.clone() };
    assert_eq!(cycles_of(&mut bench, &short), Some(u64::from(HEAD_NODES)));
    assert_eq!(cycles_of(&mut bench, &phase), Some(u64::from(HEAD_NODES) + 160));
}
