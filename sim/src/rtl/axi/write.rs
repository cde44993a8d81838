//! The memory's side of a write port.

use std::collections::VecDeque;

use hw::{BusAccess, card::Port};
use verilator_sys::WritePins;

use super::{
    Bus, Line,
    check::{Address, Steady},
    fault::Response,
    read::bus_place,
    space::{AddressSpace, Wrong},
    throttle::Throttle,
};
use crate::{
    chance::Chance,
    memory::{Pace, Profile, Timing},
};

/// A beat of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beat {
    data: Line,
    strobe: u64,
    last: bool,
}

/// A burst whose data is all there, and whose answer is not.
#[derive(Debug)]
struct Burst {
    id: u8,
    address: u64,
    due: u64,
    fault: Response,
    /// Written only when the answer goes out: until then nobody may count on it.
    beats: Vec<Beat>,
}

/// Which of address and data of a burst is taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Any,
    AddressFirst,
    DataFirst,
}

#[derive(Debug)]
pub(super) struct WritePort {
    port: Port,
    timing: Timing,
    pace: Pace,
    chance: Chance,
    hostile: bool,
    address_throttle: Throttle,
    data_throttle: Throttle,
    answer_throttle: Throttle,
    address_steady: Steady<Address>,
    data_steady: Steady<Beat>,
    /// Addresses whose data is not all there.
    addresses: VecDeque<Address>,
    /// Data that came before its address.
    early: VecDeque<Beat>,
    /// Data of the first address.
    current: Vec<Beat>,
    pending: VecDeque<Burst>,
    /// The burst whose answer is on the bus, not taken yet.
    shown: bool,
    order: Order,
    /// Whether the next beat begins a burst; and how many bursts were begun, by data and by address.
    at_begin: bool,
    begun: u64,
    addressed: u64,
    pub(super) bursts: u64,
    pub(super) beats: u64,
    /// That are strobed.
    pub(super) bytes: u64,
}

impl WritePort {
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
            answer_throttle: Throttle::new(hostile, chance(3)),
            address_steady: Steady::default(),
            data_steady: Steady::default(),
            addresses: VecDeque::new(),
            early: VecDeque::new(),
            current: vec![],
            pending: VecDeque::new(),
            shown: false,
            order: Order::Any,
            at_begin: true,
            begun: 0,
            addressed: 0,
            bursts: 0,
            beats: 0,
            bytes: 0,
        }
    }

    /// Sets the inputs for the coming clock edge and does what happens at it.
    #[inline]
    pub(super) fn tick(&mut self, pins: &mut WritePins, space: &mut dyn AddressSpace, bus: &mut Bus) {
        if self.is_idle() && pins.awvalid == 0 && pins.wvalid == 0 {
            (pins.awready, pins.wready, pins.bvalid) = (0, 0, 0);
            self.look(pins, bus);
            return;
        }
        self.answer(pins, space, bus);
        self.set_readies(pins, bus.now);
        self.look(pins, bus);
        if pins.awvalid & pins.awready != 0 {
            self.take_address(address_of(pins), space, bus);
        }
        if pins.wvalid & pins.wready != 0 {
            self.take_beat(beat_of(pins), bus);
        }
        self.match_up(space, bus);
    }

    fn look(&mut self, pins: &WritePins, bus: &mut Bus) {
        let address = (pins.awvalid != 0).then(|| address_of(pins));
        if let Some(wrong) = self.address_steady.look(address, pins.awready != 0) {
            bus.violation(self.port, "AW", wrong);
        }
        let beat = (pins.wvalid != 0).then(|| beat_of(pins));
        if let Some(wrong) = self.data_steady.look(beat, pins.wready != 0) {
            bus.violation(self.port, "W", wrong);
        }
    }

    fn set_readies(&mut self, pins: &mut WritePins, now: u64) {
        let room = self.addresses.len() + self.pending.len() < self.timing.outstanding;
        let mut address = room && self.address_throttle.is_open();
        let mut data =
            self.early.len() < 64 && self.pace.free_from(self.at_begin) <= now && self.data_throttle.is_open();
        // A slave may wait for WVALID before it takes the address, and for AWVALID before it takes the data ("Dependencies
        // between channel handshake signals"); so a master may wait for neither ready.
        match self.order {
            Order::Any => {}
            Order::AddressFirst => data &= !self.at_begin || self.addressed > self.begun,
            Order::DataFirst => address &= self.begun > self.addressed || pins.wvalid != 0,
        }
        pins.awready = u8::from(address);
        pins.wready = u8::from(data);
    }

    fn take_address(&mut self, address: Address, space: &dyn AddressSpace, bus: &mut Bus) {
        if let Some(wrong) = address.fault() {
            bus.violation(self.port, "AW", &format!("at {:#x} {wrong}", address.start));
        }
        bus.log(self.port, "AW", || {
            let place = bus_place(space, self.port, address.start);
            format!("{place} id {} beats {}", address.id, address.beats())
        });
        self.addresses.push_back(address);
        self.addressed += 1;
        self.bursts += 1;
        if self.hostile {
            self.order = [Order::Any, Order::AddressFirst, Order::DataFirst][self.chance.below(3) as usize];
        }
        bus.progress();
    }

    fn take_beat(&mut self, beat: Beat, bus: &mut Bus) {
        self.pace.beat(bus.now, self.at_begin);
        if self.at_begin {
            self.begun += 1;
        }
        self.at_begin = beat.last;
        bus.log(self.port, "W", || {
            let words = beat.data.chunks_exact(4).enumerate().filter(|(lane, _)| beat.strobe >> (4 * lane) & 0xF != 0);
            let words = words.map(|(_, word)| i32::from_le_bytes(word.try_into().expect("four bytes")).to_string());
            let (words, last) = (words.collect::<Vec<_>>().join(" "), if beat.last { " last" } else { "" });
            format!("strobe {:016x}{last}: {words}", beat.strobe)
        });
        self.early.push_back(beat);
        self.beats += 1;
        self.bytes += u64::from(beat.strobe.count_ones());
        bus.progress();
    }

    /// Gives data that is there to the addresses that are there.
    fn match_up(&mut self, space: &dyn AddressSpace, bus: &mut Bus) {
        while let Some(address) = self.addresses.front()
            && let Some(beat) = self.early.pop_front()
        {
            self.current.push(beat);
            let complete = self.current.len() as u64 == address.beats();
            if beat.last != complete {
                let (have, want) = (self.current.len(), address.beats());
                bus.violation(self.port, "W", &format!("has last = {} in beat {have} of {want}", beat.last));
            }
            if complete {
                let number = self.addressed - self.addresses.len() as u64;
                let (id, start) = (address.id, address.start);
                let fault = bus.fault(self.port, BusAccess::Write, number, start, address.beats(), space);
                let latency = u64::from(self.timing.latency) + self.chance.below(u64::from(self.timing.jitter) + 1);
                let due = if fault == Response::Never { u64::MAX } else { bus.now + latency };
                let beats = std::mem::take(&mut self.current);
                self.pending.push_back(Burst { id, address: start, due, fault, beats });
                self.addresses.pop_front();
            }
        }
    }

    fn answer(&mut self, pins: &mut WritePins, space: &mut dyn AddressSpace, bus: &mut Bus) {
        if !self.shown {
            let burst = self.choose(bus.now).and_then(|at| self.pending.remove(at));
            let Some(burst) = burst else {
                pins.bvalid = 0;
                return;
            };
            self.shown = true;
            pins.bvalid = 1;
            pins.bid = burst.id;
            pins.bresp = self.commit(&burst, space, bus).code();
        }
        if pins.bready != 0 {
            self.shown = false;
            bus.progress();
            bus.log(self.port, "B", || format!("id {} resp {}", pins.bid, pins.bresp));
        }
    }

    /// The burst that is answered now: the oldest, or any that is the oldest of its id.
    fn choose(&mut self, now: u64) -> Option<usize> {
        if !self.hostile {
            return self.pending.front().filter(|burst| burst.due <= now).map(|_| 0);
        }
        if !self.answer_throttle.is_open() {
            return None;
        }
        let at = self.chance.below(self.pending.len() as u64) as usize;
        let burst = self.pending.get(at).filter(|burst| burst.due <= now)?;
        let first = self.pending.iter().position(|other| other.id == burst.id);
        first.filter(|&first| self.pending[first].due <= now)
    }

    fn commit(&self, burst: &Burst, space: &mut dyn AddressSpace, bus: &mut Bus) -> Response {
        if burst.fault != Response::Okay {
            return burst.fault;
        }
        let mut response = Response::Okay;
        for (address, beat) in (burst.address..).step_by(64).zip(&burst.beats) {
            let Err(wrong) = space.write(self.port, address, &beat.data, beat.strobe) else { continue };
            let what = match wrong {
                Wrong::Nowhere => {
                    bus.stray(self.port, BusAccess::Write, address);
                    response = Response::DecErr;
                    continue;
                }
                Wrong::PastEnd { buffer, element, len } => {
                    format!("writes element {element} of {}, which has {len}", buffer.name())
                }
                Wrong::Twice { buffer, element } => {
                    format!("writes element {element} of {} a second time", buffer.name())
                }
            };
            bus.violation(self.port, "W", &what);
        }
        response
    }

    /// What is under way, in words; nothing when nothing is.
    pub(super) fn waiting(&self, pins: &WritePins) -> Option<String> {
        let name = self.port.name();
        let mut parts = vec![];
        if self.shown || !self.pending.is_empty() {
            let not_taken = if self.shown { ", an answer is not taken" } else { "" };
            parts.push(format!("{name}.B: {} answers outstanding{not_taken}", self.pending.len()));
        }
        if !self.addresses.is_empty() {
            parts.push(format!("{name}.W: data of {} bursts outstanding", self.addresses.len()));
        }
        if !self.early.is_empty() || (self.begun > self.addressed) {
            parts.push(format!("{name}.AW: data came, its address did not"));
        }
        if pins.awvalid != 0 && pins.awready == 0 {
            parts.push(format!("{name}.AW: a write to {:#x} is not taken", pins.awaddr));
        }
        if pins.wvalid != 0 && pins.wready == 0 {
            parts.push(format!("{name}.W: data is not taken"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn is_idle(&self) -> bool {
        !self.shown
            && self.addresses.is_empty()
            && self.early.is_empty()
            && self.pending.is_empty()
            && self.begun == self.addressed
    }
}

fn address_of(pins: &WritePins) -> Address {
    Address { start: pins.awaddr, id: pins.awid, len: pins.awlen, size: pins.awsize, burst: pins.awburst }
}

fn beat_of(pins: &WritePins) -> Beat {
    Beat { data: pins.wdata, strobe: pins.wstrb, last: pins.wlast != 0 }
}
