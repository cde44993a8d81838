//! Chance that a seed replays.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub(in crate::rtl) struct Chance(u64);

impl Chance {
    /// Of its own for each `stream` of a seed.
    pub(in crate::rtl) fn new(seed: u64, stream: u64) -> Self {
        let mut chance = Self(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        chance.next();
        chance
    }

    pub(in crate::rtl) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `0 .. end`; 0 when there is none.
    pub(in crate::rtl) fn below(&mut self, end: u64) -> u64 {
        if end < 2 { 0 } else { self.next() % end }
    }

    /// True once in `n` times.
    pub(in crate::rtl) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A ready signal that is high and low for stretches of random length.
#[derive(Clone, Debug)]
pub(super) struct Throttle {
    chance: Chance,
    open: bool,
    left: u64,
    /// Whether it throttles at all.
    active: bool,
}

impl Throttle {
    pub(super) fn new(active: bool, chance: Chance) -> Self {
        Self { chance, open: true, left: 0, active }
    }

    /// Whether the signal is high in this cycle.
    pub(super) fn is_open(&mut self) -> bool {
        if !self.active {
            return true;
        }
        if self.left == 0 {
            self.open = !self.open;
            // Mostly short, now and then so long that every queue fills or drains.
            let longest = if self.chance.one_in(16) { 200 } else { 6 };
            self.left = 1 + self.chance.below(longest);
        }
        self.left -= 1;
        self.open
    }
}
