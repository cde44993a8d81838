//! `chacha_block` and `chacha_pipe`: the words of `rand_chacha` at every coordinate that the kernel uses, and published ones.

use std::cell::RefCell;

use proptest::{collection::vec, prelude::*};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, count, flow},
};

type Words = [u32; 16];

#[derive(Clone, Copy, Debug, Default, IntoBytes, Immutable)]
#[repr(C)]
struct Coordinates {
    seed: u64,
    stream: u64,
    counter: u64,
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct BlockIn {
    at: Coordinates,
    start: u32,
    unused: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct BlockOut {
    busy: u32,
    words: Words,
}

struct ChachaBlock;

impl Module for ChachaBlock {
    const NUMBER: u32 = 0;
    type In = BlockIn;
    type Out = BlockOut;
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct PipeIn {
    at: Coordinates,
    valid: u32,
    ready: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct PipeOut {
    ready: u32,
    valid: u32,
    words: Words,
}

struct ChachaPipe;

impl Module for ChachaPipe {
    const NUMBER: u32 = 1;
    type In = PipeIn;
    type Out = PipeOut;
}

/// The words by `rand_chacha`.
fn reference(at: Coordinates) -> Words {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&at.seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(at.stream);
    rng.set_word_pos(u128::from(at.counter) << 4);
    std::array::from_fn(|_| rng.next_u32())
}

/// Makes one block, and counts the cycles in which it is busy.
fn one_block(bench: &mut Bench<ChachaBlock>, at: Coordinates) -> Result<(Words, u32), String> {
    bench.clock(&BlockIn { at, start: 1, unused: 0 })?;
    let mut busy = 0;
    loop {
        let out = bench.clock(&BlockIn { at, ..BlockIn::default() })?;
        if out.busy == 0 {
            return Ok((out.words, busy));
        }
        busy += 1;
    }
}

fn blocks(bench: &mut Bench<ChachaPipe>, pace: Pace, at: Coordinates, counters: &[u64]) -> Result<Vec<u64>, String> {
    let inputs = |counter: Option<u64>, ready: bool| PipeIn {
        at: Coordinates { counter: counter.unwrap_or_default(), ..at },
        valid: counter.is_some().into(),
        ready: ready.into(),
    };
    let outputs = |out: &PipeOut| (out.ready != 0, (out.valid != 0).then_some(out.words));
    let found = flow(bench, pace, counters, count(counters.len()), inputs, outputs)?;
    let expected: Vec<_> = counters.iter().map(|&counter| reference(Coordinates { counter, ..at })).collect();
    found.equal(&expected, pace)?;
    Ok(found.cycles)
}

/// The counters of a node's blocks, as the kernel makes them, and any.
fn counters() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..1_u64 << 31, 0..256_u64).prop_map(|(v, block)| v << 8 | block),
        any::<u64>(),
        Just(u64::from(u32::MAX)),
        Just(u64::MAX)
    ]
}

fn coordinates() -> impl Strategy<Value = Coordinates> {
    (any::<u64>(), any::<u64>(), counters()).prop_map(|(seed, stream, counter)| Coordinates { seed, stream, counter })
}

/// draft-strombergson-chacha-test-vectors-00, 256-bit key, 8 rounds: TC1 (key and IV 0), TC2 (key 1) and TC3 (IV 1), of each the
/// blocks 0 and 1.
const PUBLISHED: [(u64, u64, [&str; 2]); 3] = [
    (
        0,
        0,
        [
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
             984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42",
            "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b\
             5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa",
        ],
    ),
    (
        1,
        0,
        [
            "cf5ee9a0494aa9613e05d5ed725b804b12f4a465ee635acc3a311de8740489ea\
             289d04f43c7518db56eb4433e498a1238cd8464d3763ddbb9222ee3bd8fae3c8",
            "b4355a7d93dd8867089ee643558b95754efa2bd1a8a1e2d75bcdb32015542638\
             291941feb49965587c4fdfe219cf0ec132a6cd4dc067392e67982fe53278c0b4",
        ],
    ),
    (
        0,
        1,
        [
            "2b8f4bb3798306ca5130d47c4f8d4ed13aa0edccc1be6942090faeeca0d7599b\
             7ff0fe616bb25aa0153ad6fdc88b954903c22426d478b97b22b8f9b1db00cf06",
            "470bdffbc488a8b7c701ebf4061d75c5969186497c95367809afa80bd843b040\
             a79abc6e73a91757f1db73c8eacfa543b38f289d065ab2f3032d377b8c37fe46",
        ],
    ),
];

#[test]
fn published_vectors() {
    let (mut block, mut pipe) = (Bench::<ChachaBlock>::new(), Bench::<ChachaPipe>::new());
    for (seed, stream, published) in PUBLISHED {
        for (counter, hex) in (0..).zip(published) {
            let at = Coordinates { seed, stream, counter };
            let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
            let words: Words =
                std::array::from_fn(|word| u32::from_le_bytes(std::array::from_fn(|n| byte(4 * word + n))));
            assert_eq!(reference(at), words, "rand_chacha at {at:?}");
            assert_eq!(one_block(&mut block, at).unwrap().0, words, "{at:?}");
        }
        blocks(&mut pipe, Pace::Steady, Coordinates { seed, stream, counter: 0 }, &[0, 1]).unwrap();
    }
}

/// 16 words in 4 * 8 + 1 cycles, and a start while it is busy gives up the block under way.
#[test]
fn a_block_has_the_words_of_its_coordinates() {
    let bench = RefCell::new(Bench::<ChachaBlock>::new());
    Property::new("a_block_has_the_words_of_its_coordinates", 200).check(
        &(coordinates(), prop::option::of((coordinates(), 0..40_usize))),
        |&(at, given_up)| {
            let bench = &mut bench.borrow_mut();
            bench.reset();
            if let Some((other, cycles)) = given_up {
                bench.clock(&BlockIn { at: other, start: 1, unused: 0 })?;
                for _ in 0..cycles {
                    bench.clock(&BlockIn { at: other, ..BlockIn::default() })?;
                }
            }
            let found = one_block(bench, at)?;
            if found == (reference(at), 33) { Ok(()) } else { Err(format!("{found:x?}")) }
        },
        |_| String::new(),
    );
}

#[test]
fn blocks_of_a_pipe_come_in_order() {
    let bench = RefCell::new(Bench::<ChachaPipe>::new());
    Property::new("blocks_of_a_pipe_come_in_order", 40).check(
        &(coordinates(), vec(counters(), 0..60), any::<u64>()),
        |(at, counters, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| blocks(bench, pace, *at, counters).map(drop))
        },
        |_| String::new(),
    );
}

/// Eight blocks go round at a time: eight in 32 cycles, the first after 32 steps, the addition and the queue.
#[test]
fn a_pipe_gives_a_block_in_four_cycles() {
    let counters: Vec<u64> = (0..80).collect();
    let cycles = blocks(&mut Bench::new(), Pace::Steady, Coordinates::default(), &counters).unwrap();
    let expected: Vec<u64> = (0..80).map(|n| 34 + 32 * (n / 8) + n % 8).collect();
    assert_eq!(cycles, expected);
}
