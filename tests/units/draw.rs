//! `modulo` and `bounded_draw`: Lemire's method against a plain reading of it in 64 bits. A range of a little more than a
//! third of 2^32 has nearly a third of all words refused, so that what is rare in the kernel is common here.

use std::cell::RefCell;

use proptest::{collection::vec, prelude::*};
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, Source},
};

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct ModuloIn {
    start: u32,
    dividend: u32,
    divisor: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct ModuloOut {
    busy: u32,
    remainder: u32,
}

struct Modulo;

impl Module for Modulo {
    const NUMBER: u32 = 2;
    type In = ModuloIn;
    type Out = ModuloOut;
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct DrawIn {
    start: u32,
    n: u32,
    word_valid: u32,
    word: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct DrawOut {
    word_ready: u32,
    done: u32,
    number: u32,
}

struct BoundedDraw;

impl Module for BoundedDraw {
    const NUMBER: u32 = 3;
    type In = DrawIn;
    type Out = DrawOut;
}

/// The number drawn from `0 .. n`, and how many words that took: a word is refused if the low half of its product is below
/// 2^32 mod n, which is asked of every word here.
pub(crate) fn plain_draw(n: u32, words: impl IntoIterator<Item = u32>) -> (u32, usize) {
    let n = u64::from(n);
    for (taken, word) in (1..).zip(words) {
        let product = u64::from(word) * n;
        if product % (1 << 32) >= (1 << 32) % n {
            return ((product >> 32) as u32, taken);
        }
    }
    panic!("there are words enough");
}

/// Ranges of which many words are refused, of which none are, and the borders.
pub(crate) fn ranges() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0x5555_5556..0x6000_0000_u32,
        1 => (0..31).prop_map(|log2| 1_u32 << log2),
        1 => Just(0x7FFF_FFFF),
        1 => 1..50_u32,
        2 => 1..=0x7FFF_FFFF_u32,
    ]
}

/// A word whose product with odd `n` has this low half: n's inverse modulo 2^32, by Newton's method.
fn word_with_low(n: u32, low: u32) -> u32 {
    let mut inverse = n;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(n.wrapping_mul(inverse)));
    }
    low.wrapping_mul(inverse)
}

#[test]
fn a_remainder_takes_32_cycles() {
    let mut bench = Bench::<Modulo>::new();
    let numbers = [0, 1, 2, 3, 7, 1 << 16, (1 << 16) + 1, 0x5555_5556, 0x7FFF_FFFF, 1 << 31, u32::MAX - 1, u32::MAX];
    for dividend in numbers {
        for divisor in numbers.into_iter().filter(|&n| n > 0) {
            let mut out = bench.clock(&ModuloIn { start: 1, dividend, divisor }).unwrap();
            for cycle in 0..=32 {
                // What was to be divided is kept; the divisor stays.
                out = bench.clock(&ModuloIn { start: 0, dividend: 0, divisor }).unwrap();
                assert_eq!(out.busy != 0, cycle < 32);
            }
            assert_eq!(out.remainder, dividend % divisor, "{dividend} mod {divisor}");
        }
    }
}

/// Draws one number after the other. What is drawn, and how many words each takes, does not depend on the pace.
fn draws(bench: &mut Bench<BoundedDraw>, pace: Pace, ranges: &[u32], words: &[u32]) -> Result<(), String> {
    bench.reset();
    let mut source = Source::new(words, pace.gate(0));
    for &n in ranges {
        let (expected, taken) = plain_draw(n, words[source.taken()..].iter().copied());
        let before = source.taken();
        let mut start = 1;
        let done = loop {
            let word = source.offer();
            let out =
                bench.clock(&DrawIn { start, n, word_valid: word.is_some().into(), word: word.unwrap_or_default() })?;
            start = 0;
            source.settle(out.word_ready != 0);
            if out.done != 0 {
                break out.number;
            }
            if source.taken() - before > taken {
                return Err(format!("{pace:?}: a draw below {n} takes more than {taken} words"));
            }
        };
        if (done, source.taken() - before) != (expected, taken) {
            let found = source.taken() - before;
            return Err(format!("{pace:?}: {done} of {n} from {found} words, not {expected} from {taken}"));
        }
    }
    Ok(())
}

/// With words enough for each range to be drawn from, whatever is refused.
fn with_accepted_words(ranges: &[u32], words: &[u32]) -> Vec<u32> {
    // The product of all ones has the low half 2^32 - n, which is never below 2^32 mod n for n up to 2^31.
    words.iter().copied().chain(std::iter::repeat_n(u32::MAX, ranges.len())).collect()
}

#[test]
fn draws_are_lemires() {
    let bench = RefCell::new(Bench::<BoundedDraw>::new());
    Property::new("draws_are_lemires", 150).check(
        &(vec(ranges(), 1..12), vec(any::<u32>(), 0..12), any::<u64>()),
        |(ranges, words, seed)| {
            let words = with_accepted_words(ranges, words);
            Pace::both(*seed).into_iter().try_for_each(|pace| draws(&mut bench.borrow_mut(), pace, ranges, &words))
        },
        |_| String::new(),
    );
}

/// Low halves at the borders of what is refused, of what is looked at, and of what is taken at once.
#[test]
fn words_at_the_borders() {
    let mut bench = Bench::<BoundedDraw>::new();
    for n in [1, 3, 5, 101, 0x5555_5557, 0x5FFF_FFFF, 0x7FFF_FFFF] {
        let threshold = ((1_u64 << 32) % u64::from(n)) as u32;
        let lows = [0, threshold.wrapping_sub(1), threshold, threshold + 1, n - 1, n, n + 1, u32::MAX];
        let words: Vec<_> = lows.iter().map(|&low| word_with_low(n, low)).collect();
        let refused = lows.iter().filter(|&&low| low < threshold).count();
        let ranges = vec![n; lows.len() - refused];
        assert!(refused > 0 || threshold == 0, "{n} has words that are refused");
        for pace in Pace::both(u64::from(n)) {
            draws(&mut bench, pace, &ranges, &words).unwrap();
        }
    }
}

/// Four cycles for a word that is taken at once, 34 more to find out what is refused, and 4 more for each word after that.
#[test]
fn a_draw_takes_its_cycles() {
    let mut bench = Bench::<BoundedDraw>::new();
    let mut cycles = |n: u32, words: &[u32]| {
        bench.reset();
        let mut source = Source::new(words, Pace::Steady.gate(0));
        let mut start = 1;
        (0..200).find(|_| {
            let word = source.offer().unwrap_or_default();
            let out = bench.clock(&DrawIn { start, n, word_valid: 1, word }).unwrap();
            start = 0;
            source.settle(out.word_ready != 0);
            out.done != 0
        })
    };
    let n = 0x5555_5557;
    let refused = word_with_low(n, 0);
    let (looked_at, at_once) = (word_with_low(n, n - 1), word_with_low(n, n));
    assert_eq!(cycles(n, &[at_once]), Some(4));
    assert_eq!(cycles(n, &[looked_at]), Some(38));
    assert_eq!(cycles(n, &[refused, at_once]), Some(42));
    assert_eq!(cycles(n, &[refused, refused, looked_at]), Some(48));
}
