//! The life of slots: free, filling, ready, consuming, released, and free again. Rules and nothing else: no threads, no memory.
//!
//! Iteration g is generation g of slot g mod S. Every SLR fills its part of the slots in that order, by itself; the consumer
//! acquires, and releases, in that order.

use std::fmt;

use hw::{SLRS, Slot, Slr};
use serde::Serialize;

/// Which iteration a slot holds, counted from 0 over the life of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Generation(pub u64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {}", self.0)
    }
}

/// A step that the protocol of the slots does not allow. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlotError {
    /// No slot has this number.
    #[error("there is no {slot}; the pipeline has slots 0 to {}", .slots - 1)]
    NoSuchSlot {
        /// The slot.
        slot: Slot,
        /// Slots there are.
        slots: usize,
    },
    /// The slot was not acquired with this generation.
    #[error("{slot} was not acquired with {generation}{}", .acquired.map(|g| format!(", but with {g}")).unwrap_or_default())]
    NotAcquired {
        /// The slot.
        slot: Slot,
        /// The generation that was named.
        generation: Generation,
        /// The generation with which the consumer has it.
        acquired: Option<Generation>,
    },
    /// `begin_consume` was called before.
    #[error("{generation} of {slot} is being consumed already")]
    BegunTwice {
        /// The slot.
        slot: Slot,
        /// Its generation.
        generation: Generation,
    },
    /// `release` without `begin_consume`.
    #[error("{generation} of {slot} cannot be released before begin_consume")]
    NotBegun {
        /// The slot.
        slot: Slot,
        /// Its generation.
        generation: Generation,
    },
    /// `release` was called before.
    #[error("{generation} of {slot} was released already")]
    ReleasedTwice {
        /// The slot.
        slot: Slot,
        /// Its generation.
        generation: Generation,
    },
    /// An older generation has not been released yet.
    #[error("{generation} of {slot} cannot be released before {oldest}, which the consumer still has")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
        /// Its generation.
        generation: Generation,
        /// The oldest generation that has not been released.
        oldest: Generation,
    },
}

/// Where a slot is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Whatever it held has been consumed.
    Free,
    /// SLRs fill it; `missing` of them are not done.
    Filling { generation: Generation, missing: usize },
    /// All SLRs are done.
    Ready,
    /// The consumer has it, and may have begun.
    Acquired { begun: bool },
    /// The consumer wants no more of it, but what it has queued may not be done.
    Released,
}

/// All slots.
#[derive(Clone, Debug)]
pub struct Slots {
    phases: Vec<Phase>,
    /// The next generation that each SLR fills; those before were begun.
    fill: [Generation; SLRS],
    acquire: Generation,
    release: Generation,
    /// One past the last generation that is asked for.
    end: Generation,
}

impl Slots {
    /// `slots` free slots, at least 2: with one, nothing would overlap.
    ///
    /// # Panics
    /// With fewer.
    pub fn new(slots: usize) -> Self {
        assert!(slots >= 2, "{slots} slots cannot be filled and consumed at the same time");
        let first = Generation(0);
        Self { phases: vec![Phase::Free; slots], fill: [first; SLRS], acquire: first, release: first, end: first }
    }

    /// The slot of a generation.
    pub fn slot_of(&self, generation: Generation) -> Slot {
        Slot((generation.0 % self.phases.len() as u64) as u32)
    }

    fn index_of(&self, generation: Generation) -> usize {
        self.slot_of(generation).0 as usize
    }

    /// Asks for `iterations` more generations. Returns the first of them.
    pub fn extend(&mut self, iterations: u64) -> Generation {
        let first = self.end;
        self.end.0 = self.end.0.saturating_add(iterations);
        first
    }

    /// The consumer has acquired everything that was asked for.
    pub fn all_acquired(&self) -> bool {
        self.acquire == self.end
    }

    /// Generations that were asked for and are not released.
    pub fn unreleased(&self) -> u64 {
        self.end.0 - self.release.0
    }

    /// Everything that was asked for has been consumed.
    pub fn all_free(&self) -> bool {
        self.unreleased() == 0 && self.phases.iter().all(|&phase| phase == Phase::Free)
    }

    /// An SLR wants to fill its part of the next generation; `None` if its slot is not free, or no more is asked for.
    pub fn begin_fill(&mut self, slr: Slr) -> Option<(Slot, Generation)> {
        let generation = self.fill[slr.index()];
        if generation == self.end {
            return None;
        }
        let index = self.index_of(generation);
        match self.phases[index] {
            Phase::Free => self.phases[index] = Phase::Filling { generation, missing: SLRS },
            // Another SLR was the first.
            Phase::Filling { generation: now, .. } if now == generation => {}
            // An SLR that is a whole round ahead of another waits for it.
            Phase::Filling { .. } | Phase::Ready | Phase::Acquired { .. } | Phase::Released => return None,
        }
        self.fill[slr.index()].0 += 1;
        Some((self.slot_of(generation), generation))
    }

    /// An SLR has filled its part. Returns whether the slot is ready.
    ///
    /// # Panics
    /// If the slot is not being filled.
    pub fn filled(&mut self, slot: Slot) -> bool {
        let phase = &mut self.phases[slot.0 as usize];
        match *phase {
            Phase::Filling { missing: 1, .. } => *phase = Phase::Ready,
            Phase::Filling { generation, missing } => *phase = Phase::Filling { generation, missing: missing - 1 },
            other => panic!("{slot} is {other:?} and not being filled"),
        }
        *phase == Phase::Ready
    }

    /// Hands the next generation to the consumer; `None` if it is not ready.
    pub fn acquire(&mut self) -> Option<(Slot, Generation)> {
        let generation = self.acquire;
        let index = self.index_of(generation);
        if self.phases[index] != Phase::Ready {
            return None;
        }
        self.phases[index] = Phase::Acquired { begun: false };
        self.acquire.0 += 1;
        Some((self.slot_of(generation), generation))
    }

    /// The generation with which the consumer has a slot, or had it until it was refilled.
    fn acquired(&self, slot: Slot) -> Option<Generation> {
        let slots = self.phases.len() as u64;
        let held = self.release.0..self.acquire.0;
        held.rev().take(self.phases.len()).find(|g| g % slots == u64::from(slot.0)).map(Generation)
    }

    fn require(&self, slot: Slot, generation: Generation) -> Result<(), SlotError> {
        let slots = self.phases.len();
        if slot.0 as usize >= slots {
            return Err(SlotError::NoSuchSlot { slot, slots });
        }
        if self.slot_of(generation) == slot && generation < self.release {
            return Err(SlotError::ReleasedTwice { slot, generation });
        }
        let acquired = self.acquired(slot);
        if acquired == Some(generation) { Ok(()) } else { Err(SlotError::NotAcquired { slot, generation, acquired }) }
    }

    /// The consumer begins.
    ///
    /// # Errors
    /// [`SlotError`] if it does not have the slot with this generation, or has begun.
    pub fn begin_consume(&mut self, slot: Slot, generation: Generation) -> Result<(), SlotError> {
        self.require(slot, generation)?;
        match &mut self.phases[slot.0 as usize] {
            Phase::Acquired { begun: begun @ false } => *begun = true,
            _ => return Err(SlotError::BegunTwice { slot, generation }),
        }
        Ok(())
    }

    /// The consumer wants no more of the slot. It is refilled after [`Slots::free`].
    ///
    /// # Errors
    /// [`SlotError`] if it does not have the slot with this generation, has not begun, or still has an older one.
    pub fn release(&mut self, slot: Slot, generation: Generation) -> Result<(), SlotError> {
        self.require(slot, generation)?;
        if self.phases[slot.0 as usize] != (Phase::Acquired { begun: true }) {
            return Err(SlotError::NotBegun { slot, generation });
        }
        if generation != self.release {
            return Err(SlotError::OutOfOrder { slot, generation, oldest: self.release });
        }
        self.phases[slot.0 as usize] = Phase::Released;
        self.release.0 += 1;
        Ok(())
    }

    /// What the consumer had queued before the release is done.
    ///
    /// # Panics
    /// If the slot was not released.
    pub fn free(&mut self, slot: Slot) {
        let phase = &mut self.phases[slot.0 as usize];
        assert_eq!(*phase, Phase::Released, "{slot} was not released");
        *phase = Phase::Free;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(slots: &mut Slots) -> (Slot, Generation) {
        let [a, b, c] = Slr::ALL.map(|slr| slots.begin_fill(slr).unwrap());
        assert_eq!((a, b), (b, c));
        assert_eq!(Slr::ALL.map(|_| slots.filled(a.0)), [false, false, true]);
        a
    }

    fn ready(slots: usize, iterations: u64) -> Slots {
        let mut table = Slots::new(slots);
        assert_eq!(table.extend(iterations), Generation(0));
        for _ in 0..iterations {
            fill(&mut table);
        }
        table
    }

    #[test]
    fn a_slot_goes_round() {
        for slots in 2..5_u64 {
            let mut table = Slots::new(slots as usize);
            table.extend(3 * slots);
            for g in 0..3 * slots {
                let (slot, generation) = fill(&mut table);
                assert_eq!((u64::from(slot.0), generation), (g % slots, Generation(g)));
                assert_eq!(table.acquire(), Some((slot, generation)));
                table.begin_consume(slot, generation).unwrap();
                table.release(slot, generation).unwrap();
                table.free(slot);
            }
            assert!(table.all_acquired() && table.all_free());
            assert_eq!(Slr::ALL.map(|slr| table.begin_fill(slr)), [None; SLRS]);
            assert_eq!(table.extend(1), Generation(3 * slots));
        }
    }

    #[test]
    fn no_slr_overtakes_the_consumer() {
        let mut table = ready(2, 2);
        table.extend(1);
        assert_eq!(table.begin_fill(Slr::ALL[0]), None);
        let (slot, generation) = table.acquire().unwrap();
        assert_eq!(table.begin_fill(Slr::ALL[0]), None);
        table.begin_consume(slot, generation).unwrap();
        table.release(slot, generation).unwrap();
        // Released, but what the consumer queued is not done.
        assert_eq!(table.begin_fill(Slr::ALL[0]), None);
        table.free(slot);
        assert_eq!(table.begin_fill(Slr::ALL[0]), Some((slot, Generation(2))));
        assert_eq!(table.begin_fill(Slr::ALL[1]), Some((slot, Generation(2))));
    }

    #[test]
    fn an_slr_may_be_ahead_of_another_by_all_slots_but_no_more() {
        let mut table = Slots::new(2);
        table.extend(5);
        let [hare, tortoise, _] = Slr::ALL;
        for g in 0..2 {
            let (slot, generation) = table.begin_fill(hare).unwrap();
            assert_eq!(generation, Generation(g));
            table.filled(slot);
        }
        assert_eq!(table.begin_fill(tortoise), Some((Slot(0), Generation(0))));
        assert_eq!(table.begin_fill(hare), None);
    }

    #[test]
    fn wrong_steps_are_refused_and_change_nothing() {
        let mut table = ready(3, 3);
        let (s0, g0) = table.acquire().unwrap();
        let (s1, g1) = table.acquire().unwrap();
        let refused = |table: &mut Slots, step: fn(&mut Slots, Slot, Generation) -> Result<(), SlotError>, s, g| {
            let before = format!("{table:?}");
            let error = step(table, s, g).unwrap_err();
            assert_eq!(format!("{table:?}"), before);
            error
        };
        for step in [Slots::begin_consume, Slots::release] {
            let none = Slot(3);
            assert_eq!(refused(&mut table, step, none, g0), SlotError::NoSuchSlot { slot: none, slots: 3 });
            let wrong = SlotError::NotAcquired { slot: s0, generation: g1, acquired: Some(g0) };
            assert_eq!(refused(&mut table, step, s0, g1), wrong);
            let never = SlotError::NotAcquired { slot: Slot(2), generation: Generation(2), acquired: None };
            assert_eq!(refused(&mut table, step, Slot(2), Generation(2)), never);
        }
        assert_eq!(refused(&mut table, Slots::release, s0, g0), SlotError::NotBegun { slot: s0, generation: g0 });
        table.begin_consume(s0, g0).unwrap();
        table.begin_consume(s1, g1).unwrap();
        let twice = SlotError::BegunTwice { slot: s0, generation: g0 };
        assert_eq!(refused(&mut table, Slots::begin_consume, s0, g0), twice);
        let order = SlotError::OutOfOrder { slot: s1, generation: g1, oldest: g0 };
        assert_eq!(refused(&mut table, Slots::release, s1, g1), order);
        table.release(s0, g0).unwrap();
        for step in [Slots::begin_consume, Slots::release] {
            assert_eq!(refused(&mut table, step, s0, g0), SlotError::ReleasedTwice { slot: s0, generation: g0 });
        }
        table.release(s1, g1).unwrap();
        assert_eq!(table.unreleased(), 1);
    }

    #[test]
    fn sentences() {
        let (slot, generation) = (Slot(1), Generation(5));
        let acquired = Some(Generation(3));
        assert_eq!(
            SlotError::NotAcquired { slot, generation, acquired }.to_string(),
            "slot 1 was not acquired with generation 5, but with generation 3"
        );
        assert_eq!(
            SlotError::NoSuchSlot { slot, slots: 1 }.to_string(),
            "there is no slot 1; the pipeline has slots 0 to 0"
        );
    }
}
