//! What drives a valid-ready channel at either end.

use std::fmt::Debug;

use sim::chance::Chance;

use super::bench::{Bench, Module};

/// Cycles in which nothing may come after the last result.
const QUIET_CYCLES: u64 = 100;
/// Cycles without a result after which a module is stuck.
pub(crate) const STUCK_CYCLES: u64 = 5000;
/// Cycles after which no flow of a test goes on.
const MOST_CYCLES: u64 = 500_000;

/// When the two ends of a channel pause.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// Never.
    Steady,
    /// For stretches of random length, by this seed.
    Stalls(u64),
}

impl Pace {
    /// No stalls, and stalls by a seed: a module has to give the same in both.
    pub(crate) fn both(seed: u64) -> [Self; 2] {
        [Self::Steady, Self::Stalls(seed)]
    }

    /// One end of one channel; each has a stream of its own.
    pub(crate) fn gate(self, stream: u64) -> Gate {
        let chance = match self {
            Self::Steady => None,
            Self::Stalls(seed) => Some(Chance::seeded(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03))),
        };
        Gate { chance, open: true, left: 0 }
    }
}

/// Open and shut for stretches of random length; always open at a steady pace.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    chance: Option<Chance>,
    open: bool,
    left: u64,
}

impl Gate {
    /// Whether it is open in this cycle. Asked once a cycle.
    pub(crate) fn is_open(&mut self) -> bool {
        let Some(chance) = &mut self.chance else { return true };
        if self.left == 0 {
            self.open = !self.open;
            // Mostly short, now and then so long that every queue fills or drains.
            let longest = if chance.below(12) == 0 { 60 } else { 4 };
            self.left = 1 + chance.below(longest);
        }
        self.left -= 1;
        self.open
    }
}

/// The sending end of a channel. What is offered stays until it is taken.
#[derive(Debug)]
pub(crate) struct Source<'a, T> {
    items: &'a [T],
    taken: usize,
    gate: Gate,
    offers: bool,
}

impl<'a, T: Copy> Source<'a, T> {
    pub(crate) fn new(items: &'a [T], gate: Gate) -> Self {
        Self { items, taken: 0, gate, offers: false }
    }

    /// What is offered in this cycle.
    pub(crate) fn offer(&mut self) -> Option<T> {
        self.offers = self.taken < self.items.len() && (self.gate.is_open() || self.offers);
        self.offers.then(|| self.items[self.taken])
    }

    /// The module's ready in the same cycle.
    pub(crate) fn settle(&mut self, ready: bool) {
        if self.offers && ready {
            self.offers = false;
            self.taken += 1;
        }
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken
    }
}

/// What came out of a module, and in which cycles.
#[derive(Debug)]
pub(crate) struct Results<T> {
    pub(crate) items: Vec<T>,
    pub(crate) cycles: Vec<u64>,
}

impl<T: PartialEq + Debug> Results<T> {
    /// Says what differs.
    pub(crate) fn equal(&self, expected: &[T], pace: Pace) -> Result<(), String> {
        match self.items.iter().zip(expected).position(|(found, wanted)| found != wanted) {
            Some(at) => Err(format!("{pace:?}: result {at} is {:?}, not {:?}", self.items[at], expected[at])),
            None if self.items.len() == expected.len() => Ok(()),
            None => Err(format!("{pace:?}: {} results, not {}", self.items.len(), expected.len())),
        }
    }

    /// Cycles from the first result to the last.
    pub(crate) fn span(&self) -> u64 {
        self.cycles[self.cycles.len() - 1] - self.cycles[0]
    }
}

/// For [`flow`]: this many results are enough.
pub(crate) fn count<B>(results: usize) -> impl Fn(&[B]) -> bool {
    move |found| found.len() >= results
}

/// Lets `items` flow through a module after a reset: until all were taken and `enough` results have come out, and then for a
/// while in which those would come that should not. `inputs` makes a cycle's inputs of what is offered and whether a result would be taken; `outputs`
/// finds in a cycle's outputs whether the item is taken, and the result.
pub(crate) fn flow<M: Module, A: Copy, B>(
    bench: &mut Bench<M>,
    pace: Pace,
    items: &[A],
    enough: impl Fn(&[B]) -> bool,
    inputs: impl FnMut(Option<A>, bool) -> M::In,
    outputs: impl FnMut(&M::Out) -> (bool, Option<B>),
) -> Result<Results<B>, String> {
    bench.reset();
    flow_on(bench, pace, items, enough, inputs, outputs)
}

/// As [`flow`], without a reset before it.
pub(crate) fn flow_on<M: Module, A: Copy, B>(
    bench: &mut Bench<M>,
    pace: Pace,
    items: &[A],
    enough: impl Fn(&[B]) -> bool,
    mut inputs: impl FnMut(Option<A>, bool) -> M::In,
    mut outputs: impl FnMut(&M::Out) -> (bool, Option<B>),
) -> Result<Results<B>, String> {
    let (mut source, mut sink) = (Source::new(items, pace.gate(0)), pace.gate(1));
    let mut found = Results { items: vec![], cycles: vec![] };
    let mut last = 0;
    for cycle in 0.. {
        let ready = sink.is_open();
        let out = bench.clock(&inputs(source.offer(), ready)).map_err(|why| format!("{pace:?}: {why}"))?;
        let (taken, result) = outputs(&out);
        source.settle(taken);
        if let Some(result) = result.filter(|_| ready) {
            found.items.push(result);
            found.cycles.push(cycle);
            last = cycle;
        }
        let done = source.taken() == items.len() && enough(&found.items);
        if cycle - last > if done { QUIET_CYCLES } else { STUCK_CYCLES } {
            break;
        }
        if cycle > MOST_CYCLES {
            return Err(format!("{pace:?}: {} results, and still no end", found.items.len()));
        }
    }
    if source.taken() < items.len() {
        return Err(format!("{pace:?}: stuck after {} of {} items", source.taken(), items.len()));
    }
    Ok(found)
}
