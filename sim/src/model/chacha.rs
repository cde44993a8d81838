//! The `ChaCha8` block function (RFC 8439, section 2.3, with 8 rounds instead of 20), several blocks side by side.
//!
//! Words 12 and 13 of the state are the 64-bit block counter, words 14 and 15 the 64-bit stream, each low word first.

/// Blocks that are computed together: four 32-bit lanes fill a vector register of every 64-bit processor.
pub(super) const LANES: usize = 4;

/// One word of each of [`LANES`] blocks.
type Row = [u32; LANES];

/// 16 words of each of [`LANES`] blocks: `[word][block]`.
pub(super) type Blocks = [Row; 16];

/// "expand 32-byte k", little-endian.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The words of one mini-batch, by block number.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChaCha8 {
    seed: u64,
    stream: u64,
}

impl ChaCha8 {
    /// The key is `seed`, little-endian, then 24 zero bytes.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self { seed, stream }
    }

    /// The blocks with these numbers.
    pub(super) fn blocks(&self, counters: [u64; LANES]) -> Blocks {
        let (seed, stream) = (split(self.seed), split(self.stream));
        let mut input = [[0; LANES]; 16];
        for (row, constant) in input.iter_mut().zip(CONSTANTS) {
            *row = [constant; LANES];
        }
        (input[4], input[5]) = ([seed.0; LANES], [seed.1; LANES]);
        (input[12], input[13]) = (counters.map(|c| split(c).0), counters.map(|c| split(c).1));
        (input[14], input[15]) = ([stream.0; LANES], [stream.1; LANES]);

        let mut state = input;
        for _ in 0..4 {
            for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                quarter_round(&mut state, a, b, c, d);
            }
            for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                quarter_round(&mut state, a, b, c, d);
            }
        }
        for (row, start) in state.iter_mut().zip(input) {
            *row = add(*row, start);
        }
        state
    }
}

fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

#[inline]
#[expect(clippy::many_single_char_names, reason = "the RFC's names")]
fn quarter_round(s: &mut Blocks, a: usize, b: usize, c: usize, d: usize) {
    s[a] = add(s[a], s[b]);
    s[d] = xor_rotate::<16>(s[d], s[a]);
    s[c] = add(s[c], s[d]);
    s[b] = xor_rotate::<12>(s[b], s[c]);
    s[a] = add(s[a], s[b]);
    s[d] = xor_rotate::<8>(s[d], s[a]);
    s[c] = add(s[c], s[d]);
    s[b] = xor_rotate::<7>(s[b], s[c]);
}

#[inline]
fn add(x: Row, y: Row) -> Row {
    std::array::from_fn(|lane| x[lane].wrapping_add(y[lane]))
}

#[inline]
fn xor_rotate<const BITS: u32>(x: Row, y: Row) -> Row {
    std::array::from_fn(|lane| (x[lane] ^ y[lane]).rotate_left(BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_chacha::{
        ChaCha8Rng,
        rand_core::{Rng, SeedableRng},
    };

    test_support::properties! {
        #[test]
        fn the_words_are_those_of_rand_chacha(
            seed in any::<u64>(),
            stream in any::<u64>(),
            counters in prop::array::uniform4(prop_oneof![any::<u64>(), (0..=u64::from(u32::MAX)).prop_map(|v| v << 8)]),
        ) {
            let ours = ChaCha8::new(seed, stream).blocks(counters);
            let mut key = [0; 32];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            let mut theirs = ChaCha8Rng::from_seed(key);
            theirs.set_stream(stream);
            for (lane, counter) in counters.into_iter().enumerate() {
                theirs.set_word_pos(u128::from(counter) << 4);
                for row in &ours {
                    prop_assert_eq!(row[lane], theirs.next_u32());
                }
            }
        }
    }
}
