//! The memory's side of a read port.

use std::collections::VecDeque;

use hw::{BusAccess, card::Port};
use verilator_sys::ReadPins;

use super::{
    Bus, Line,
    check::{Address, Steady},
    fault::Response,
    space::AddressSpace,
    throttle::Throttle,
};
use crate::{
    chance::Chance,
    memory::{Pace, Profile, Schedule, Timing},
};

/// A burst that was asked for.
#[derive(Debug)]
struct Burst {
    id: u8,
    address: u64,
    beats: u64,
    /// Beats that were given.
    given: u64,
    schedule: Schedule,
    latency: u64,
    fault: Response,
    /// The data as it was when the burst was asked for, on a port that also writes: AXI gives no order between the two.
    lines: Vec<(Line, Response)>,
}

impl Burst {
    fn due(&self) -> u64 {
        let never = self.fault == Response::Never;
        if never { u64::MAX } else { self.schedule.cycle_of(self.given) + self.latency }
    }
}

#[derive(Debug)]
pub(super) struct ReadPort {
    port: Port,
    timing: Timing,
    pace: Pace,
    chance: Chance,
    /// Answers come in any order that AXI allows, and late.
    hostile: bool,
    address_throttle: Throttle,
    data_throttle: Throttle,
    steady: Steady<Address>,
    queue: VecDeque<Burst>,
    /// The burst of which a beat is on the bus, not taken yet.
    shown: Option<usize>,
    /// Since the memory was made.
    accesses: u64,
    pub(super) bursts: u64,
    pub(super) beats: u64,
}

impl ReadPort {
    pub(super) fn new(port: Port, profile: Profile, seed: u64, stream: u64) -> Self {
        let (timing, hostile) = (profile.timing(), profile == Profile::Hostile);
        let chance = |n| Chance::new(seed, stream + n);
        Self {
            port,
            timing,
            pace: Pace::new(timing),
            chance: chance(0),
            hostile,
            address_throttle: Throttle::new(hostile, chance(1)),
            data_throttle: Throttle::new(hostile, chance(2)),
            steady: Steady::default(),
            queue: VecDeque::new(),
            shown: None,
            accesses: 0,
            bursts: 0,
            beats: 0,
        }
    }

    /// Sets the inputs for the coming clock edge and does what happens at it.
    #[inline]
    pub(super) fn tick(&mut self, pins: &mut ReadPins, space: &dyn AddressSpace, bus: &mut Bus) {
        if self.queue.is_empty() && pins.arvalid == 0 {
            // A master that takes back its valid is still seen.
            (pins.rvalid, pins.arready) = (0, u8::from(self.address_throttle.is_open()));
            if let Some(wrong) = self.steady.look(None, false) {
                bus.violation(self.port, "AR", wrong);
            }
            return;
        }
        self.answer(pins, space, bus);
        self.ask(pins, space, bus);
    }

    fn ask(&mut self, pins: &mut ReadPins, space: &dyn AddressSpace, bus: &mut Bus) {
        let open = self.queue.len() < self.timing.outstanding && self.address_throttle.is_open();
        pins.arready = u8::from(open);
        let asked = (pins.arvalid != 0).then_some(Address {
            start: pins.araddr,
            id: pins.arid,
            len: pins.arlen,
            size: pins.arsize,
            burst: pins.arburst,
        });
        if let Some(wrong) = self.steady.look(asked, open) {
            bus.violation(self.port, "AR", wrong);
        }
        let Some(asked) = asked.filter(|_| open) else { return };
        if let Some(wrong) = asked.fault() {
            bus.violation(self.port, "AR", &format!("at {:#x} {wrong}", asked.start));
        }
        bus.log(self.port, "AR", || {
            let place = bus_place(space, self.port, asked.start);
            format!("{place} id {} beats {}", asked.id, asked.beats())
        });
        let fault = bus.fault(self.port, BusAccess::Read, self.accesses, asked.start, asked.beats(), space);
        let snapshot = self.port == Port::Mem;
        let beats = if snapshot { asked.beats() } else { 0 };
        let lines = (0..beats).map(|beat| fetch(self.port, space, bus, asked.start + beat * 64, fault)).collect();
        self.queue.push_back(Burst {
            id: asked.id,
            address: asked.start,
            beats: asked.beats(),
            given: 0,
            schedule: self.pace.burst(bus.now, asked.beats()),
            latency: u64::from(self.timing.latency) + self.chance.below(u64::from(self.timing.jitter) + 1),
            fault,
            lines,
        });
        self.accesses += 1;
        self.bursts += 1;
        bus.progress();
    }

    fn answer(&mut self, pins: &mut ReadPins, space: &dyn AddressSpace, bus: &mut Bus) {
        if self.shown.is_none() {
            self.shown = self.choose(bus.now);
            let Some(at) = self.shown else {
                pins.rvalid = 0;
                return;
            };
            let burst = &self.queue[at];
            let (line, response) = match burst.lines.get(burst.given as usize) {
                Some(&snapshot) => snapshot,
                None => fetch(self.port, space, bus, burst.address + burst.given * 64, burst.fault),
            };
            pins.rvalid = 1;
            pins.rid = burst.id;
            pins.rdata = line;
            pins.rresp = response.code();
            pins.rlast = u8::from(burst.given + 1 == burst.beats);
        }
        if pins.rready != 0
            && let Some(at) = self.shown.take()
        {
            let burst = &mut self.queue[at];
            burst.given += 1;
            self.beats += 1;
            bus.progress();
            let (given, beats) = (burst.given, burst.beats);
            bus.log(self.port, "R", || format!("id {} beat {given} of {beats} resp {}", pins.rid, pins.rresp));
            if given == beats {
                self.queue.remove(at);
            }
        }
    }

    /// The burst whose next beat goes over the bus now.
    fn choose(&mut self, now: u64) -> Option<usize> {
        if !self.hostile {
            return self.queue.front().filter(|burst| burst.due() <= now).map(|_| 0);
        }
        if !self.data_throttle.is_open() {
            return None;
        }
        // Any burst that is the oldest of its id; beats of several may mix.
        let mut seen = 0u64;
        let mut chosen = None;
        let mut candidates = 0;
        for (at, burst) in self.queue.iter().enumerate() {
            let bit = 1u64 << (burst.id & 63);
            if seen & bit == 0 && burst.due() <= now {
                candidates += 1;
                if self.chance.one_in(candidates) {
                    chosen = Some(at);
                }
            }
            seen |= bit;
        }
        chosen
    }

    /// What is under way, in words; nothing when nothing is.
    pub(super) fn waiting(&self, pins: &ReadPins) -> Option<String> {
        let name = self.port.name();
        if !self.queue.is_empty() {
            let not_taken = if self.shown.is_some() { ", a beat is not taken" } else { "" };
            Some(format!("{name}.R: {} reads outstanding{not_taken}", self.queue.len()))
        } else if pins.arvalid != 0 {
            Some(format!("{name}.AR: a read of {:#x} is not taken", pins.araddr))
        } else {
            None
        }
    }
}

fn fetch(port: Port, space: &dyn AddressSpace, bus: &mut Bus, address: u64, fault: Response) -> (Line, Response) {
    const GARBAGE: Line = [0x5A; 64];
    if fault != Response::Okay {
        return (GARBAGE, fault);
    }
    if let Some(line) = space.read(port, address) {
        return (line, Response::Okay);
    }
    bus.stray(port, BusAccess::Read, address);
    (GARBAGE, Response::DecErr)
}

/// An address as the log has it.
pub(super) fn bus_place(space: &dyn AddressSpace, port: Port, address: u64) -> String {
    let found = [BusAccess::Read, BusAccess::Write].into_iter().find_map(|access| space.find(port, access, address));
    found.map_or_else(|| format!("{address:#x}"), |(place, offset)| format!("{place}+{offset:#x}"))
}
