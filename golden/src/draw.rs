//! The random words of a node and the exactly uniform draw from them.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::id::LocalId;

/// The words of one mini-batch, by coordinates: each local node has its own, so no draw for one node depends on another.
#[derive(Clone, Debug)]
pub struct Words {
    rng: ChaCha8Rng,
}

impl Words {
    /// The words of mini-batch `minibatch` under the user's `seed`.
    pub fn new(seed: u64, minibatch: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(minibatch);
        Self { rng }
    }

    /// Goes to the first word of node `v`: `ChaCha` block `v << 8`, of 16 words.
    pub fn seek(&mut self, v: LocalId) {
        self.rng.set_word_pos(u128::from(v.get()) << 12);
    }

    /// The next 32-bit word.
    pub fn next_word(&mut self) -> u32 {
        self.rng.next_u32()
    }
}

/// Exactly uniform in `0 .. n`, by Lemire's method on 32-bit words (Lemire, "Fast Random Integer Generation in an
/// Interval", ACM TOMACS 29(1), 2019).
///
/// # Panics
/// If `n` is 0.
pub fn draw(n: u32, mut next_word: impl FnMut() -> u32) -> u32 {
    assert!(n > 0, "a draw needs a range that is not empty");
    let mut m = u64::from(next_word()) * u64::from(n);
    if (m as u32) < n {
        let threshold = n.wrapping_neg() % n;
        while (m as u32) < threshold {
            m = u64::from(next_word()) * u64::from(n);
        }
    }
    (m >> 32) as u32
}

/// Puts `items` in random order (Fisher and Yates, in the form of Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7),
/// 1964): for i from the last place down to 1, the items at places i and `draw(i + 1)` change places.
///
/// # Panics
/// If there are 2^32 items or more.
pub fn shuffle<T>(items: &mut [T], mut next_word: impl FnMut() -> u32) {
    for last in (1..items.len()).rev() {
        let places = u32::try_from(last + 1).expect("there are fewer than 2^32 items");
        items.swap(last, draw(places, &mut next_word) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_node_start_at_its_block() {
        let mut words = Words::new(42, 3);
        words.seek(LocalId::new(5));
        let of_five = words.next_word();
        words.seek(LocalId::new(0));
        for _ in 0..5 * 256 * 16 {
            words.next_word();
        }
        assert_eq!(words.next_word(), of_five);
    }

    #[test]
    fn a_word_below_the_threshold_is_rejected() {
        // n = 3: threshold (2^32 - 3) mod 3 = 1, so only the word 0 is refused.
        let mut words = [0u32, 0, 0x8000_0000].into_iter();
        assert_eq!(draw(3, || words.next().unwrap()), 1);
        assert_eq!(words.next(), None);
    }

    #[test]
    fn a_shuffle_draws_from_the_last_place_down() {
        // Half of a range is drawn each time: places 2 of 4, 1 of 3, 1 of 2.
        let mut items = ['a', 'b', 'c', 'd'];
        shuffle(&mut items, || 1 << 31);
        assert_eq!(items, ['a', 'd', 'b', 'c']);
        let unused = || panic!("nothing to draw");
        shuffle(&mut [0; 0], unused);
        shuffle(&mut [7], unused);
    }

    #[test]
    fn a_power_of_two_never_rejects() {
        let mut words = [0u32].into_iter();
        assert_eq!(draw(8, || words.next().unwrap()), 0);
    }
}
