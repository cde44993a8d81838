//! What happens before what, and accesses that nothing orders.
//!
//! Vector clocks (Mattern, "Virtual Time and Global States of Distributed Systems", 1989; their use on races as in Flanagan
//! and Freund, "`FastTrack`", PLDI 2009). Actors are the host, the three SLRs of the card, and each stream. An access is a
//! race if the last conflicting one is not before it, whatever the times at which both are done: no luck with delays hides
//! one. The host counts as one actor; what its threads do among themselves is ordered as it was done.

use std::{cmp::max, fmt};

use hw::{SLRS, Slr};

/// Who accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Actor(usize);

impl Actor {
    pub(super) const HOST: Self = Self(0);

    pub(super) fn card(slr: Slr) -> Self {
        Self(1 + slr.index())
    }

    pub(super) fn number(self) -> u64 {
        self.0 as u64
    }
}

/// How far each actor had come, by its number; those past the end have not begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u64>);

impl Clock {
    fn of(&self, actor: Actor) -> u64 {
        self.0.get(actor.0).copied().unwrap_or(0)
    }

    fn join(&mut self, other: &Self) {
        self.0.resize(max(self.0.len(), other.0.len()), 0);
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = max(*mine, theirs);
        }
    }

    fn tick(&mut self, actor: Actor) -> u64 {
        self.0.resize(max(self.0.len(), actor.0 + 1), 0);
        self.0[actor.0] += 1;
        self.0[actor.0]
    }
}

/// A buffer that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched(usize);

/// Whether an access changes what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    actor: Actor,
    tick: u64,
    what: &'static str,
    kind: Kind,
}

#[derive(Debug)]
struct Memory {
    label: String,
    write: Option<Access>,
    /// Since that write, the last of each actor.
    reads: Vec<Access>,
}

/// Two accesses to a buffer, at least one of them a write, that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The buffer.
    pub buffer: String,
    /// What was asked for first: who does what.
    pub first: String,
    /// What was asked for then.
    pub second: String,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "race on {}: {} may not be done when {}; no event or wait orders them",
            self.buffer, self.first, self.second
        )
    }
}

impl std::error::Error for Race {}

/// The order of everything that was asked for.
#[derive(Debug)]
pub(super) struct Order {
    names: Vec<String>,
    clocks: Vec<Clock>,
    memories: Vec<Memory>,
    race: Option<Box<Race>>,
}

impl Order {
    pub(super) fn new() -> Self {
        let names: Vec<_> =
            std::iter::once("the host".to_owned()).chain(Slr::ALL.map(|slr| format!("the card's {slr}"))).collect();
        Self { clocks: vec![Clock::default(); 1 + SLRS], names, memories: vec![], race: None }
    }

    /// A new stream.
    pub(super) fn add_stream(&mut self, label: &str) -> Actor {
        self.names.push(format!("stream '{label}'"));
        self.clocks.push(Clock::default());
        Actor(self.clocks.len() - 1)
    }

    /// A new buffer.
    pub(super) fn add_buffer(&mut self, label: String) -> Watched {
        self.memories.push(Memory { label, write: None, reads: vec![] });
        Watched(self.memories.len() - 1)
    }

    /// What `actor` does from now on comes after what `other` has done so far.
    pub(super) fn follow(&mut self, actor: Actor, other: Actor) {
        let other = self.clocks[other.0].clone();
        self.join(actor, &other);
    }

    /// What `actor` does from now on comes after `clock`.
    pub(super) fn join(&mut self, actor: Actor, clock: &Clock) {
        self.clocks[actor.0].join(clock);
    }

    /// How far `actor` has come.
    pub(super) fn clock(&self, actor: Actor) -> Clock {
        self.clocks[actor.0].clone()
    }

    /// The actor accesses these buffers. The first race of all is kept.
    pub(super) fn access(&mut self, actor: Actor, what: &'static str, buffers: &[(Watched, Kind)]) {
        let tick = self.clocks[actor.0].tick(actor);
        for &(Watched(buffer), kind) in buffers {
            let access = Access { actor, tick, what, kind };
            let memory = &mut self.memories[buffer];
            let known = |earlier: &Access| self.clocks[actor.0].of(earlier.actor) >= earlier.tick;
            let reads = memory.reads.iter().filter(|_| kind == Kind::Write);
            if let Some(earlier) = memory.write.iter().chain(reads).find(|&earlier| !known(earlier)) {
                let who = |access: &Access| {
                    let verb = if access.kind == Kind::Read { "reads" } else { "writes" };
                    format!("{} {verb} it ({})", self.names[access.actor.0], access.what)
                };
                let race = Race { buffer: memory.label.clone(), first: who(earlier), second: who(&access) };
                self.race.get_or_insert(Box::new(race));
            }
            match kind {
                Kind::Read => {
                    memory.reads.retain(|read| read.actor != actor);
                    memory.reads.push(access);
                }
                Kind::Write => {
                    memory.write = Some(access);
                    memory.reads.clear();
                }
            }
        }
    }

    /// # Errors
    /// The first race, if there was one.
    pub(super) fn check(&self) -> Result<(), Box<Race>> {
        self.race.clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Read, Write};

    #[test]
    fn what_is_ordered_is_no_race() {
        let mut order = Order::new();
        let (a, b) = (order.add_stream("a"), order.add_stream("b"));
        let buffer = order.add_buffer("x".into());
        order.access(a, "w", &[(buffer, Write)]);
        order.follow(b, a);
        order.access(b, "r", &[(buffer, Read)]);
        order.access(b, "w", &[(buffer, Write)]);
        // Reads do not exclude each other.
        order.follow(a, b);
        order.access(a, "r", &[(buffer, Read)]);
        order.access(b, "r", &[(buffer, Read)]);
        order.check().unwrap();
    }

    #[test]
    fn each_kind_of_race_is_named() {
        for (first, second) in [(Write, Read), (Read, Write), (Write, Write)] {
            let mut order = Order::new();
            let stream = order.add_stream("s");
            let buffer = order.add_buffer("slot 1".into());
            order.access(stream, "one", &[(buffer, first)]);
            order.access(Actor::card(Slr::ALL[2]), "two", &[(buffer, second)]);
            let race = order.check().unwrap_err();
            let verb = |kind| if kind == Read { "reads" } else { "writes" };
            assert_eq!(race.first, format!("stream 's' {} it (one)", verb(first)));
            assert_eq!(race.second, format!("the card's SLR2 {} it (two)", verb(second)));
            assert!(race.to_string().starts_with("race on slot 1: stream 's'"));
        }
    }

    #[test]
    fn what_came_after_the_point_one_follows_is_not_known() {
        let mut order = Order::new();
        let (a, b) = (order.add_stream("a"), order.add_stream("b"));
        let buffer = order.add_buffer("x".into());
        order.access(a, "early", &[(buffer, Write)]);
        let event = order.clock(a);
        order.access(a, "late", &[(buffer, Write)]);
        order.join(b, &event);
        order.access(b, "r", &[(buffer, Read)]);
        assert!(order.check().unwrap_err().first.contains("late"));
    }

    #[test]
    fn a_read_of_long_ago_still_excludes_a_write() {
        let mut order = Order::new();
        let streams = ["a", "b", "c"].map(|label| order.add_stream(label));
        let buffer = order.add_buffer("x".into());
        for stream in streams {
            order.access(stream, "r", &[(buffer, Read)]);
        }
        order.follow(streams[2], streams[1]);
        order.access(streams[2], "w", &[(buffer, Write)]);
        assert!(order.check().unwrap_err().first.contains("'a'"));
    }
}
