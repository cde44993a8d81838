//! Back-pressure by chance.

use crate::chance::Chance;

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
