//! The sampler stage: which neighbours of a node are drawn.

use super::chacha::{Blocks, ChaCha8, LANES};

/// The random words of one node, in order. They begin at block `v << 8`.
#[derive(Debug)]
pub(super) struct NodeWords<'a> {
    chacha: &'a ChaCha8,
    /// The node's block that is being used is `blocks[..][lane]`.
    first: &'a Blocks,
    lane: usize,
    more: Blocks,
    /// Number of the next block that is not in `first` or `more`.
    next_block: u64,
    taken: usize,
}

/// Blocks that one node may have: 8 bits of the block counter.
const BLOCKS_SHIFT: u32 = 8;

/// Number of the first block of node `v`.
pub(super) fn first_block(v: u32) -> u64 {
    u64::from(v) << BLOCKS_SHIFT
}

impl<'a> NodeWords<'a> {
    /// The words of node `v`, whose first block is `first[..][lane]`.
    pub(super) fn new(chacha: &'a ChaCha8, v: u32, first: &'a Blocks, lane: usize) -> Self {
        Self { chacha, first, lane, more: [[0; LANES]; 16], next_block: first_block(v) + 1, taken: 0 }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        let word = self.taken % 16;
        let block = self.taken / 16;
        self.taken += 1;
        if block == 0 {
            return self.first[word][self.lane];
        }
        let lane = (block - 1) % LANES;
        if word == 0 && lane == 0 {
            self.more = self.chacha.blocks(std::array::from_fn(|i| self.next_block + i as u64));
            self.next_block += LANES as u64;
        }
        self.more[word][lane]
    }

    /// Exactly uniform in `0 .. n`, n >= 1 (Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1),
    /// 2019): the high half of word times `n`, where the low half is not among the `2^32 mod n` that come up too often.
    #[inline]
    pub(super) fn draw(&mut self, n: u32) -> u32 {
        loop {
            let product = u64::from(self.next()) * u64::from(n);
            let low = product as u32;
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 32) as u32;
            }
        }
    }
}

/// Remembers what was picked for one node.
#[derive(Debug, Default)]
pub(super) struct Picker {
    /// One bit a neighbour; all zero between nodes.
    picked: Vec<u64>,
}

/// Picks up to which comparing with each is faster than a bit map (the RTL compares all 32 at once).
const COMPARE_ALL: usize = 32;

impl Picker {
    /// Appends `count` distinct neighbours among `degree` (`count < degree`) to `picks`, which is empty: Floyd's algorithm
    /// (Bentley and Floyd, "Programming Pearls: A Sample of Brilliance", CACM 30(9), 1987).
    pub(super) fn pick(&mut self, degree: u32, count: u32, words: &mut NodeWords<'_>, picks: &mut Vec<u32>) {
        if count as usize <= COMPARE_ALL {
            for j in degree - count..degree {
                let t = words.draw(j + 1);
                // Without an early end, so that the compiler compares several at once.
                let times = picks.iter().filter(|&&p| p == t).count();
                picks.push(if times == 0 { t } else { j });
            }
            return;
        }
        let bits = degree.div_ceil(64) as usize;
        if self.picked.len() < bits {
            self.picked.resize(bits, 0);
        }
        for j in degree - count..degree {
            let t = words.draw(j + 1);
            let pick = if self.bit(t) { j } else { t };
            self.picked[pick as usize / 64] |= 1 << (pick % 64);
            picks.push(pick);
        }
        for &pick in &*picks {
            self.picked[pick as usize / 64] = 0;
        }
    }

    fn bit(&self, neighbour: u32) -> bool {
        self.picked[neighbour as usize / 64] >> (neighbour % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(v: u32, count: usize) -> Vec<u32> {
        let chacha = ChaCha8::new(7, 9);
        let first = chacha.blocks([first_block(v); LANES]);
        let mut words = NodeWords::new(&chacha, v, &first, 2);
        (0..count).map(|_| words.next()).collect()
    }

    #[test]
    fn words_go_through_the_blocks_in_order() {
        let chacha = ChaCha8::new(7, 9);
        let expected: Vec<u32> =
            (0..20u64).flat_map(|b| chacha.blocks([(5 << 8) + b; LANES]).map(|row| row[0])).collect();
        assert_eq!(words_of(5, 20 * 16), expected);
    }

    /// Words that are given, for the rare paths.
    fn first_words(words: &[u32]) -> Blocks {
        std::array::from_fn(|i| [words.get(i).copied().unwrap_or(0); LANES])
    }

    #[test]
    fn a_word_that_comes_up_too_often_is_refused() {
        let chacha = ChaCha8::new(0, 0);
        // 2^32 mod 3 = 1: of n = 3 only the word 0 is refused. A power of two refuses nothing.
        let first = first_words(&[0, 0, 0x8000_0000, 0]);
        let mut words = NodeWords::new(&chacha, 0, &first, 0);
        assert_eq!((words.draw(3), words.taken), (1, 3));
        assert_eq!((words.draw(8), words.taken), (0, 4));
    }

    #[test]
    fn floyd_takes_the_last_one_in_place_of_one_picked_before() {
        let chacha = ChaCha8::new(0, 0);
        for zeros in [3, 16] {
            // Draws of 0 only: 0, then always j.
            let first = first_words(&[1; 16]);
            let mut words = NodeWords::new(&chacha, 0, &first, 0);
            let mut picks = Vec::new();
            Picker::default().pick(100, zeros, &mut words, &mut picks);
            let expected: Vec<u32> = std::iter::once(0).chain(100 - zeros + 1..100).collect();
            assert_eq!(picks, expected);
        }
    }

    #[test]
    fn both_ways_to_remember_picks_are_distinct_and_leave_nothing_behind() {
        let chacha = ChaCha8::new(3, 4);
        let mut picker = Picker::default();
        for (degree, count) in [(33, 32), (34, 33), (1025, 1024), (70, 40), (100_000, 1000)] {
            let first = chacha.blocks([0; LANES]);
            let mut picks = Vec::new();
            picker.pick(degree, count, &mut NodeWords::new(&chacha, 0, &first, 0), &mut picks);
            let mut sorted = picks.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), count as usize);
            assert!(sorted.iter().all(|&p| p < degree));
            assert!(picker.picked.iter().all(|&bits| bits == 0));
        }
    }
}
