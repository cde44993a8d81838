//! Chance that a seed replays: for stalls and for tests. What is sampled has words of its own.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The words of a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Each `stream` of a seed has words of its own.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut chance = Self(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        chance.next();
        chance
    }

    /// The next word.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `0 .. end`; 0 when there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        if end < 2 { 0 } else { self.next() % end }
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
