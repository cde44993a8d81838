//! `request_check`: of the rules that a run's arguments break, the first one is told, with the argument or the value.

use std::cell::RefCell;

use proptest::{array, prelude::*};
use tests::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::bench::{Bench, Module};

/// Index channels of the bench; addresses of those past them are not looked at.
const CHANNELS: usize = 4;
const MOST_SEEDS: u32 = 1024;
const MOST_HOPS: u32 = 4;
const MOST_FANOUT: u32 = 32;
const ALL: u32 = u32::MAX;
const LINE_BYTES: u64 = 64;
const BURST_BYTES: u64 = 512;

/// Status and details as `hw/src/status.rs` has them.
const BAD_REQUEST: u32 = 2;
const BAD_HOPS: u32 = 1;
const BAD_FANOUT: u32 = 2;
const BAD_SEED_COUNT: u32 = 3;
const BAD_ALIGNMENT: u32 = 4;
const BAD_SIZE: u32 = 5;

/// Arguments as XRT counts them: the first address, and the first ones of outputs and indices.
const ARG_OFFSETS: usize = 12;
const ARG_SAMPLES: usize = 16;
const ARG_INDICES: usize = 20;

#[derive(Clone, Copy, Debug, Default, IntoBytes, Immutable)]
#[repr(C)]
struct Command {
    num_nodes: u32,
    num_edges: u32,
    num_seeds: u32,
    num_hops: u32,
    fanouts: [u32; 4],
    check: u32,
    unused: u32,
    /// Offsets, seeds, node list, status; four outputs; eight channels of indices.
    addresses: [u64; 16],
}

#[derive(Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
struct Verdict {
    bad: u32,
    code: u32,
    detail: u32,
    node: u32,
}

struct RequestCheck;

impl Module for RequestCheck {
    const NUMBER: u32 = 20;
    type In = Command;
    type Out = Verdict;
}

/// The least alignment of the address of an argument: what is written is written in blocks.
fn alignment(argument: usize) -> u64 {
    if (ARG_OFFSETS + 2..ARG_INDICES).contains(&argument) { BURST_BYTES } else { LINE_BYTES }
}

/// The rules in their order, each with what is told of it. Of the arguments of one rule the last is told that breaks it.
fn verdict(command: &Command) -> Verdict {
    let misaligned = |arguments: std::ops::Range<usize>| {
        let broken = |&argument: &usize| !command.addresses[argument - ARG_OFFSETS].is_multiple_of(alignment(argument));
        arguments.rev().find(broken).map(|argument| (BAD_ALIGNMENT, argument as u32))
    };
    let hops = !(1..=MOST_HOPS).contains(&command.num_hops);
    let used = &command.fanouts[..command.num_hops.min(MOST_HOPS) as usize];
    let fanout = used.iter().rev().find(|&&fanout| fanout != ALL && fanout > MOST_FANOUT);
    let size = command.num_nodes.max(command.num_edges) >= 1 << 31;
    let first = hops
        .then_some((BAD_HOPS, command.num_hops))
        .or_else(|| fanout.map(|&fanout| (BAD_FANOUT, fanout)))
        .or_else(|| (command.num_seeds > MOST_SEEDS).then_some((BAD_SEED_COUNT, command.num_seeds)))
        .or_else(|| (ARG_OFFSETS..ARG_SAMPLES).find_map(|argument| misaligned(argument..argument + 1)))
        .or_else(|| misaligned(ARG_SAMPLES..ARG_INDICES))
        .or_else(|| misaligned(ARG_INDICES..ARG_INDICES + CHANNELS))
        .or_else(|| size.then_some((BAD_SIZE, 0)));
    let (detail, node) = first.unwrap_or_default();
    Verdict { bad: first.is_some().into(), code: BAD_REQUEST, detail, node }
}

/// Most of its parts are good, so that all rules are now and then the first to be broken.
fn commands() -> impl Strategy<Value = Command> {
    let size = || prop_oneof![20 => 0..1_u32 << 31, 1 => 1_u32 << 31.., 1 => Just(1 << 31), 1 => Just((1 << 31) - 1)];
    let seeds = prop_oneof![20 => 0..=MOST_SEEDS, 1 => any::<u32>(), 1 => Just(MOST_SEEDS + 1)];
    let hops = prop_oneof![20 => 1..=MOST_HOPS, 1 => any::<u32>(), 1 => Just(0), 1 => Just(MOST_HOPS + 1)];
    let fanout = prop_oneof![30 => 0..=MOST_FANOUT, 10 => Just(ALL), 1 => any::<u32>(), 1 => Just(MOST_FANOUT + 1)];
    let block = || any::<u64>().prop_map(|block| block.wrapping_mul(BURST_BYTES));
    let line = any::<u64>().prop_map(|line| line.wrapping_mul(LINE_BYTES));
    let bit = (block(), 0..9_u32).prop_map(|(block, bit)| block | 1 << bit);
    let address = prop_oneof![60 => block(), 1 => line, 1 => bit];
    (size(), size(), seeds, hops, array::uniform4(fanout), array::uniform16(address)).prop_map(
        |(num_nodes, num_edges, num_seeds, num_hops, fanouts, addresses)| Command {
            num_nodes,
            num_edges,
            num_seeds,
            num_hops,
            fanouts,
            check: 1,
            unused: 0,
            addresses,
        },
    )
}

#[test]
fn the_first_broken_rule_is_told() {
    let bench = RefCell::new(Bench::<RequestCheck>::new());
    Property::new("the_first_broken_rule_is_told", 2000).check(
        &commands(),
        |command| {
            let (found, expected) = (bench.borrow_mut().clock(command)?, verdict(command));
            if found == expected { Ok(()) } else { Err(format!("{found:?}, not {expected:?}")) }
        },
        |_| String::new(),
    );
}

/// Each rule alone, and at its border.
#[test]
fn every_rule_is_kept() {
    let mut bench = Bench::<RequestCheck>::new();
    let good = Command { num_nodes: 1, num_hops: 1, check: 1, ..Command::default() };
    let most = Command {
        num_nodes: (1 << 31) - 1,
        num_edges: (1 << 31) - 1,
        num_seeds: MOST_SEEDS,
        num_hops: MOST_HOPS,
        fanouts: [MOST_FANOUT, ALL, 0, MOST_FANOUT],
        addresses: [u64::MAX / BURST_BYTES * BURST_BYTES; 16],
        ..good
    };
    for accepted in [good, most, Command { fanouts: [0, MOST_FANOUT + 1, 0, 0], ..good }] {
        assert_eq!(bench.clock(&accepted).unwrap().bad, 0, "{accepted:?}");
    }
    let mut refused = vec![
        (Command { num_hops: 0, ..good }, BAD_HOPS, 0),
        (Command { num_hops: 5, ..good }, BAD_HOPS, 5),
        (Command { num_hops: 1 << 31 | 1, ..good }, BAD_HOPS, 1 << 31 | 1),
        (Command { fanouts: [33, 0, 0, 0], ..good }, BAD_FANOUT, 33),
        (Command { fanouts: [0, 0, 0, ALL - 1], ..most }, BAD_FANOUT, ALL - 1),
        (Command { num_seeds: 1025, ..good }, BAD_SEED_COUNT, 1025),
        (Command { num_nodes: 1 << 31, ..good }, BAD_SIZE, 0),
        (Command { num_edges: u32::MAX, ..good }, BAD_SIZE, 0),
    ];
    for argument in ARG_OFFSETS..ARG_INDICES + CHANNELS {
        for bit in 0..alignment(argument).ilog2() {
            let mut command = good;
            command.addresses[argument - ARG_OFFSETS] = 1 << bit;
            refused.push((command, BAD_ALIGNMENT, argument as u32));
        }
    }
    for (command, detail, node) in refused {
        let expected = Verdict { bad: 1, code: BAD_REQUEST, detail, node };
        assert_eq!(bench.clock(&command).unwrap(), expected, "{command:?}");
        assert_eq!(verdict(&command), expected, "{command:?}");
    }
}
