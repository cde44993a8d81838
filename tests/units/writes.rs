//! What writes: `burst_packer`, `burst_arbiter` and `burst_writer`.

use std::{cell::RefCell, collections::VecDeque};

use proptest::{array::uniform4, collection::vec, prelude::*};
use sim::chance::Chance;
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, STUCK_CYCLES, Source},
};

const LINE_BYTES: u64 = 64;
const LINE_WORDS: usize = 16;
/// Lines of a block; a full one is written in one burst.
const BURST_LINES: u64 = 8;
const BLOCK_WORDS: usize = LINE_WORDS * BURST_LINES as usize;
const SOURCES: [usize; 3] = [2, 3, 4];

/// A line of a burst; address and length are the burst's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Line {
    /// Lines of the burst, less one.
    len: u32,
    last: u32,
    addr: u64,
    strb: u64,
    words: [u32; LINE_WORDS],
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct ArbiterIn {
    ready: u32,
    valid: u32,
    lines: [Line; 4],
}

#[derive(FromBytes)]
#[repr(C)]
struct ArbiterOut {
    ready: u32,
    valid: u32,
    line: Line,
}

struct BurstArbiter;

impl Module for BurstArbiter {
    const NUMBER: u32 = 15;
    type In = ArbiterIn;
    type Out = ArbiterOut;
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct PackerIn {
    base: u64,
    clear: u32,
    valid: u32,
    data: u32,
    flush: u32,
    ready: u32,
    unused: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct PackerOut {
    line: Line,
    ready: u32,
    clean: u32,
    valid: u32,
    unused: u32,
}

struct BurstPacker;

impl Module for BurstPacker {
    const NUMBER: u32 = 18;
    type In = PackerIn;
    type Out = PackerOut;
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct WriterIn {
    line: Line,
    clear: u32,
    count: u32,
    valid: u32,
    aw_ready: u32,
    w_ready: u32,
    b_valid: u32,
    b_resp: u32,
    unused: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct WriterOut {
    ready: u32,
    aw_valid: u32,
    aw_addr: u64,
    aw_len: u32,
    aw_size: u32,
    aw_burst: u32,
    w_valid: u32,
    w_data: [u32; LINE_WORDS],
    w_strb: u64,
    w_last: u32,
    b_ready: u32,
    idle: u32,
    bursts: u32,
    beats: u32,
    fault_seen: u32,
    fault_resp: u32,
    fault_addr: [u32; 2],
}

struct BurstWriter;

impl Module for BurstWriter {
    const NUMBER: u32 = 19;
    type In = WriterIn;
    type Out = WriterOut;
}

/// Lines of a burst, in which every line is told from every other.
fn burst(addr: u64, lines: u32, name: u32) -> Vec<Line> {
    let line = |n: u32| Line {
        len: lines - 1,
        last: (n + 1 == lines).into(),
        addr,
        strb: !u64::from(name << 8 | n),
        words: std::array::from_fn(|i| name << 16 | n << 8 | i as u32),
    };
    (0..lines).map(line).collect()
}

// ---- Arbiter

fn arbitrates(bench: &mut Bench<BurstArbiter>, pace: Pace, bursts: &[Vec<Vec<Line>>]) -> Result<(), String> {
    bench.reset();
    let gate = |n| pace.gate(1 + n as u64);
    // Once a burst has begun, all of it is there: a gate is asked for the bursts, and not for the lines.
    let numbers: Vec<Vec<usize>> = bursts.iter().map(|bursts| (0..bursts.len()).collect()).collect();
    let mut sources: Vec<_> = numbers.iter().enumerate().map(|(n, items)| Source::new(items, gate(n))).collect();
    let mut sink = pace.gate(0);
    let (mut line, mut found) = (vec![0; bursts.len()], vec![vec![]; bursts.len()]);
    // Who waited in the cycle before, in which the next burst was chosen; how many others have been chosen since one waits.
    let (mut waited, mut passed) = (0_u32, vec![0; bursts.len()]);
    let mut quiet = 0;
    for cycle in 0.. {
        let mut input = ArbiterIn { ready: sink.is_open().into(), ..ArbiterIn::default() };
        for (n, source) in sources.iter_mut().enumerate() {
            if let Some(burst) = source.offer() {
                input.valid |= 1 << n;
                input.lines[n] = bursts[n][burst][line[n]];
            }
        }
        let out = bench.clock(&input)?;
        let taken = input.valid & out.ready;
        if taken.count_ones() != out.valid & input.ready {
            return Err(format!("cycle {cycle}: of {:#b} {taken:#b} is taken, valid {}", input.valid, out.valid));
        }
        if out.valid == 0 {
            waited = input.valid;
        } else if waited != 0 {
            let chosen = (0..bursts.len()).find(|&n| input.lines[n] == out.line).ok_or("a line of nobody")?;
            for n in (0..bursts.len()).filter(|n| waited >> n & 1 != 0) {
                passed[n] = if n == chosen { 0 } else { passed[n] + 1 };
                if passed[n] >= bursts.len() {
                    return Err(format!("cycle {cycle}: source {n} has waited for {} others", passed[n]));
                }
            }
            waited = 0;
        }
        for (n, source) in sources.iter_mut().enumerate() {
            let goes = taken >> n & 1 != 0;
            if goes {
                found[n].push(out.line);
                line[n] = if out.line.last != 0 { 0 } else { line[n] + 1 };
                let others = line.iter().enumerate().any(|(other, &line)| other != n && line > 0);
                if others {
                    return Err(format!("cycle {cycle}: source {n} within a burst of another"));
                }
            }
            source.settle(goes && out.line.last != 0);
        }
        quiet = if taken == 0 { quiet + 1 } else { 0 };
        if quiet > 300 {
            break;
        }
    }
    let expected: Vec<_> = bursts.iter().map(|bursts| bursts.concat()).collect();
    if found == expected { Ok(()) } else { Err(format!("{pace:?}: lines are lost or out of order")) }
}

#[test]
fn an_arbiter_is_fair_and_keeps_bursts_whole() {
    for (size, sources) in SOURCES.into_iter().enumerate() {
        let bench = RefCell::new(Bench::<BurstArbiter>::nth(size as u32));
        let lengths = vec(1..=BURST_LINES as u32, 0..20);
        Property::new("an_arbiter_is_fair_and_keeps_bursts_whole", 25).check(
            &(uniform4(lengths), any::<u64>()),
            |(lengths, seed)| {
                let bursts = |source: usize| -> Vec<_> {
                    let bursts = lengths[source].iter().zip(0..);
                    bursts.map(|(&lines, n)| burst(u64::from(n) << 9, lines, (source as u32) << 8 | n)).collect()
                };
                let bursts: Vec<_> = (0..sources).map(bursts).collect();
                let bench = &mut bench.borrow_mut();
                Pace::both(*seed).into_iter().try_for_each(|pace| arbitrates(bench, pace, &bursts))
            },
            |_| format!("{sources} sources"),
        );
    }
}

/// With all sources waiting, they take turns. A burst takes a cycle a line, and one to be chosen.
#[test]
fn waiting_sources_take_turns() {
    for (size, sources) in SOURCES.into_iter().enumerate() {
        let mut bench = Bench::<BurstArbiter>::nth(size as u32);
        let bursts: Vec<_> = (0..sources as u32).map(|source| burst(0, 3, source)).collect();
        let mut turns = vec![];
        for cycle in 0..4 * 5 * sources {
            let mut input = ArbiterIn { ready: 1, valid: (1 << sources) - 1, ..ArbiterIn::default() };
            for (n, burst) in bursts.iter().enumerate() {
                input.lines[n] = burst[(cycle + 3) % 4 % 3];
            }
            let out = bench.clock(&input).unwrap();
            assert_eq!(out.valid != 0, cycle % 4 != 0);
            if out.line.last != 0 && out.valid != 0 {
                turns.push(out.line.words[0] as usize >> 16);
            }
        }
        let expected: Vec<_> = (0..5 * sources).map(|turn| (turn + turns[0]) % sources).collect();
        assert_eq!(turns, expected);
    }
}

// ---- Packer

/// A run of a packer: a buffer, and how many elements come before each flush.
#[derive(Clone, Debug)]
struct Packing {
    base: u64,
    parts: Vec<usize>,
}

/// The lines that elements `from .. to` of a run give, which lie in one block. Bytes that are not written are 0.
fn lines_of(base: u64, from: usize, to: usize) -> Vec<Line> {
    let (first, last) = (from / LINE_WORDS, (to - 1) / LINE_WORDS);
    let line = |n: usize| {
        let mut line = Line {
            len: (last - first) as u32,
            last: (n == last).into(),
            addr: base + first as u64 * LINE_BYTES,
            ..Line::default()
        };
        for at in (n * LINE_WORDS..(n + 1) * LINE_WORDS).filter(|at| (from..to).contains(at)) {
            line.strb |= 0xF << (4 * (at % LINE_WORDS));
            line.words[at % LINE_WORDS] = element(at);
        }
        line
    };
    (first..=last).map(line).collect()
}

/// The element at a place, told from every other.
fn element(at: usize) -> u32 {
    (at as u32).wrapping_mul(0x0101_0101) ^ 0xA5A5_A5A5
}

impl Packing {
    /// Every burst ends with its block or a flush.
    fn bursts(&self) -> Vec<Line> {
        let (mut lines, mut from) = (vec![], 0);
        for part in &self.parts {
            let to = from + part;
            while from < to {
                let end = to.min((from / BLOCK_WORDS + 1) * BLOCK_WORDS);
                // What of the block came before a flush was written then.
                lines.extend(lines_of(self.base, from, end));
                from = end;
            }
        }
        lines
    }
}

/// A line without what is not written.
fn written(mut line: Line) -> Line {
    for (n, word) in line.words.iter_mut().enumerate() {
        let strobes = line.strb >> (4 * n) & 0xF;
        if strobes == 0 {
            *word = 0;
        }
    }
    line
}

fn packs(bench: &mut Bench<BurstPacker>, pace: Pace, runs: &[Packing]) -> Result<(), String> {
    bench.reset();
    let (mut comes, mut goes) = (pace.gate(0), pace.gate(1));
    for packing in runs {
        let (Packing { base, parts }, expected) = (packing, packing.bursts());
        bench.clock(&PackerIn { base: *base, clear: 1, ..PackerIn::default() })?;
        let (mut found, mut at) = (vec![], 0);
        for part in parts {
            let (end, mut offers, mut quiet) = (at + part, false, 0);
            loop {
                offers = at < end && (offers || comes.is_open());
                let ready = goes.is_open();
                let out = bench.clock(&PackerIn {
                    base: *base,
                    clear: 0,
                    valid: offers.into(),
                    data: element(at),
                    flush: (at == end).into(),
                    ready: ready.into(),
                    unused: 0,
                })?;
                if at == end && out.clean != 0 {
                    break;
                }
                if ready && out.valid != 0 {
                    found.push(written(out.line));
                }
                let taken = offers && out.ready != 0;
                at += usize::from(taken);
                offers &= !taken;
                quiet = if taken || (ready && out.valid != 0) { 0 } else { quiet + 1 };
                if found.len() > expected.len() {
                    return Err(format!("{pace:?}: more than {} lines, at element {at}", expected.len()));
                }
                if quiet > 1000 {
                    return Err(format!("{pace:?}: stuck at element {at} of {end}"));
                }
            }
        }
        if let Some(at) = (0..found.len().max(expected.len())).find(|&at| found.get(at) != expected.get(at)) {
            return Err(format!("{pace:?}: line {at} is {:x?}, not {:x?}", found.get(at), expected.get(at)));
        }
    }
    Ok(())
}

#[test]
fn elements_are_packed_into_blocks() {
    let bench = RefCell::new(Bench::<BurstPacker>::new());
    let part = prop_oneof![3 => 0..20_usize, 2 => 0..300_usize, 1 => Just(BLOCK_WORDS), 1 => Just(LINE_WORDS)];
    // Aligned to a block, so that borders of 4 KiB are blocks' borders.
    let base = (0..1_u64 << 40).prop_map(|block| block * BURST_LINES * LINE_BYTES);
    let packing = (base, vec(part, 0..8)).prop_map(|(base, parts)| Packing { base, parts });
    Property::new("elements_are_packed_into_blocks", 60).check(
        &(vec(packing, 1..4), any::<u64>()),
        |(runs, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| packs(bench, pace, runs))
        },
        |_| String::new(),
    );
}

/// While no line leaves, elements fill the two places for blocks, but for the last one, which would make its block leave.
#[test]
fn elements_wait_for_a_place() {
    let mut bench = Bench::<BurstPacker>::new();
    let input = |at: usize, ready: u32| PackerIn { valid: 1, data: element(at), ready, ..PackerIn::default() };
    let mut at = 0;
    for _ in 0..4 * BLOCK_WORDS {
        at += bench.clock(&input(at, 0)).unwrap().ready as usize;
    }
    assert_eq!(at, 2 * BLOCK_WORDS - 1);
    let mut found = vec![];
    for _ in 0..4 * BURST_LINES {
        let out = bench.clock(&input(at, 1)).unwrap();
        at += out.ready as usize;
        found.extend((out.valid != 0).then_some(out.line));
    }
    let blocks = [lines_of(0, 0, BLOCK_WORDS), lines_of(0, BLOCK_WORDS, 2 * BLOCK_WORDS)];
    assert_eq!(found, blocks.concat());
}

/// An element a cycle, as long as lines leave.
#[test]
fn an_element_comes_in_every_cycle() {
    let mut bench = Bench::<BurstPacker>::new();
    for at in 0..10 * BLOCK_WORDS {
        let input = PackerIn { valid: 1, data: element(at), ready: 1, ..PackerIn::default() };
        assert!(bench.clock(&input).unwrap().ready != 0, "element {at}");
    }
}

// ---- Writer

/// Where bursts go that end at a border of 4 KiB at the latest, and how the memory answers them.
#[derive(Clone, Debug)]
struct Write {
    addr: u64,
    lines: u32,
    response: u32,
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let within_page = prop_oneof![Just(64 - BURST_LINES as u32), 0..64_u32];
    let write = (0..1_u64 << 50, within_page, 1..=BURST_LINES as u32, prop_oneof![9 => 0..2_u32, 1 => 2..4_u32])
        .prop_map(|(page, line, lines, response)| {
            let addr = (page << 12) + u64::from(line) * LINE_BYTES;
            Write { addr, lines: lines.min(64 - line), response }
        });
    vec(write, 0..25)
}

/// Writes all lines, and clears the counters before them. Gives the cycles from the first line to the last.
fn writes_all(bench: &mut Bench<BurstWriter>, pace: Pace, writes: &[Write], count: bool) -> Result<u64, String> {
    let lines: Vec<_> = writes.iter().zip(0..).flat_map(|(write, n)| burst(write.addr, write.lines, n)).collect();
    let mut source = Source::new(&lines, pace.gate(0));
    let (mut address_gate, mut data_gate, mut answer_gate) = (pace.gate(1), pace.gate(2), pace.gate(3));
    let mut latency = Chance::seeded(writes.len() as u64);
    let (mut addresses, mut data) = (vec![], vec![]);
    // The memory answers a burst when it has its address and all its data.
    let (mut whole, mut answers, mut answered) = (0, VecDeque::new(), 0);
    let (mut answers_now, mut cycles, mut moved) = (false, vec![], ((0, 0, 0, 0), 0));
    bench.clock(&WriterIn { clear: 1, ..WriterIn::default() })?;
    for cycle in 0.. {
        let line = source.offer();
        let (aw_ready, w_ready, b_open) = (address_gate.is_open(), data_gate.is_open(), answer_gate.is_open());
        answers_now = answers.front().is_some_and(|&due| answers_now || (b_open && due <= cycle));
        let out = bench.clock(&WriterIn {
            line: line.unwrap_or_default(),
            clear: 0,
            count: count.into(),
            valid: line.is_some().into(),
            aw_ready: aw_ready.into(),
            w_ready: w_ready.into(),
            b_valid: answers_now.into(),
            b_resp: if answers_now { writes[answered].response } else { 0 },
            unused: 0,
        })?;
        let begun = lines[..source.taken()].iter().filter(|line| line.last != 0).count();
        if out.idle != 0 && begun > answered {
            return Err(format!("{pace:?}: cycle {cycle}: idle with {begun} bursts and {answered} answers"));
        }
        if out.idle != 0 && source.taken() == lines.len() {
            let counted = if count { (writes.len(), lines.len()) } else { (0, 0) };
            if (out.bursts as usize, out.beats as usize) != counted {
                return Err(format!("{pace:?}: {} bursts and {} beats, not {counted:?}", out.bursts, out.beats));
            }
            let fault = writes.iter().find(|write| write.response >= 2).map(|write| (write.response, write.addr));
            let [low, high] = out.fault_addr.map(u64::from);
            let seen = (out.fault_seen != 0).then_some((out.fault_resp, high << 32 | low));
            if seen != fault {
                return Err(format!("{pace:?}: the fault is {seen:x?}, not {fault:x?}"));
            }
            break;
        }
        source.settle(out.ready != 0);
        if aw_ready && out.aw_valid != 0 {
            addresses.push((out.aw_addr, out.aw_len, out.aw_size, out.aw_burst));
        }
        if w_ready && out.w_valid != 0 {
            data.push((out.w_data, out.w_strb, out.w_last));
            cycles.push(cycle);
        }
        if answers_now && out.b_ready != 0 {
            answers.pop_front();
            answered += 1;
            answers_now = false;
        }
        let ended = data.iter().filter(|(.., last)| *last != 0).count();
        while whole < ended.min(addresses.len()) {
            whole += 1;
            answers.push_back(cycle + if matches!(pace, Pace::Steady) { 1 } else { 1 + latency.below(40) });
        }
        let progress = (source.taken(), addresses.len(), data.len(), answered);
        if progress != moved.0 {
            moved = (progress, cycle);
        }
        if cycle - moved.1 > STUCK_CYCLES {
            return Err(format!("{pace:?}: stuck after {} lines and {answered} answers", source.taken()));
        }
    }
    // Increasing bursts of 2^6 bytes a beat.
    let expected: Vec<_> = writes.iter().map(|write| (write.addr, write.lines - 1, 6, 1)).collect();
    if addresses != expected {
        return Err(format!("{pace:?}: addresses {addresses:x?}, not {expected:x?}"));
    }
    if !data.iter().copied().eq(lines.iter().map(|line| (line.words, line.strb, line.last))) {
        return Err(format!("{pace:?}: data are lost or out of order"));
    }
    Ok(cycles.last().zip(cycles.first()).map_or(0, |(last, first)| last - first))
}

#[test]
fn bursts_are_written_in_order() {
    let bench = RefCell::new(Bench::<BurstWriter>::new());
    Property::new("bursts_are_written_in_order", 60).check(
        &(vec((writes(), any::<bool>()), 1..3), any::<u64>()),
        |(runs, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| {
                bench.reset();
                runs.iter().try_for_each(|(writes, count)| writes_all(bench, pace, writes, *count).map(drop))
            })
        },
        |_| String::new(),
    );
}

/// A line a cycle, while the window is longer than memory takes.
#[test]
fn a_line_is_written_in_every_cycle() {
    let writes: Vec<_> = (0..20).map(|n| Write { addr: n << 9, lines: 8, response: 0 }).collect();
    assert_eq!(writes_all(&mut Bench::new(), Pace::Steady, &writes, true), Ok(20 * 8 - 1));
}

/// Without answers, as many bursts are on their way as the window holds, and not one more.
#[test]
fn no_more_bursts_than_the_window_holds() {
    let mut bench = Bench::<BurstWriter>::new();
    let line = Line { last: 1, ..Line::default() };
    let input = WriterIn { line, valid: 1, aw_ready: 1, w_ready: 1, ..WriterIn::default() };
    let taken = (0..100).filter(|_| bench.clock(&input).unwrap().ready != 0).count();
    assert_eq!(taken, 4);
}
