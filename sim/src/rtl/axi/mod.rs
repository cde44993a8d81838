//! Card memory as one kernel sees it: a slave behind each of its AXI4 masters.

mod check;
mod fault;
mod log;
mod read;
mod space;
#[cfg(test)]
mod tests;
mod throttle;
mod write;

use hw::{
    BusAccess, PortTraffic,
    card::{MAX_CHANNELS, Port},
};
use verilator_sys::Pins;

use crate::memory::Profile;
use log::BusLog;
use read::ReadPort;
use write::WritePort;

pub use fault::{Fault, FaultAt, Response};
pub use space::Place;
pub(super) use space::Space;
pub(crate) use space::{AddressSpace, Line, Wrong, merge};

/// What the ports share: the time, and what is written down of it.
#[derive(Debug)]
struct Bus {
    now: u64,
    /// The last cycle with a handshake.
    last_handshake: u64,
    violation: Option<String>,
    stray: Option<String>,
    faults: Vec<Fault>,
    log: Option<BusLog>,
}

impl Bus {
    fn progress(&mut self) {
        self.last_handshake = self.now;
    }

    /// The first one stays.
    #[cold]
    fn violation(&mut self, port: Port, channel: &str, what: &str) {
        let text = || format!("{}.{channel} {what} (cycle {})", port.name(), self.now);
        self.violation.get_or_insert_with(text);
    }

    /// An access to nothing.
    #[cold]
    fn stray(&mut self, port: Port, access: BusAccess, address: u64) {
        let text =
            || format!("its {access} at {address:#x} (port {}, cycle {}) goes where it may not", port.name(), self.now);
        self.stray.get_or_insert_with(text);
    }

    fn log(&mut self, port: Port, channel: &str, line: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.add(port.name(), channel, line());
        }
    }

    /// The response that was asked for, for a burst of a port.
    fn fault(
        &self,
        port: Port,
        access: BusAccess,
        number: u64,
        address: u64,
        beats: u64,
        space: &dyn AddressSpace,
    ) -> Response {
        let hits = |fault: &&Fault| {
            (fault.port, fault.access) == (port, access)
                && match fault.at {
                    FaultAt::Burst(wanted) => wanted == number,
                    FaultAt::Line(place, offset) => (0..beats)
                        .filter_map(|beat| space.find(port, access, address + beat * 64))
                        .any(|found| found == (place, offset / 64 * 64)),
                }
        };
        self.faults.iter().find(hits).map_or(Response::Okay, |fault| fault.response)
    }
}

/// How the memory behaves.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryOptions {
    pub(super) profile: Profile,
    pub(super) seed: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) log: bool,
}

/// All ports of one kernel, and the memory behind them.
#[derive(Debug)]
pub(crate) struct Memory<S = Space> {
    pub(super) space: S,
    reads: Vec<ReadPort>,
    writes: [WritePort; 2],
    /// Index channels in use; the other masters have to be silent.
    channels: usize,
    bus: Bus,
}

/// Where a read port's pins are: offs, idx0 to idx7, mem.
const READ_PINS_MEM: usize = MAX_CHANNELS + 1;

impl<S: AddressSpace> Memory<S> {
    pub(super) fn new(space: S, channels: usize, options: &MemoryOptions) -> Self {
        let (profile, seed) = (options.profile, options.seed);
        let idx = (0..channels).map(|channel| Port::Idx(channel as u8));
        let ports = std::iter::once(Port::Offs).chain(idx).chain([Port::Mem]);
        Self {
            space,
            reads: ports.zip(1..).map(|(port, n)| ReadPort::new(port, profile, seed, 8 * n)).collect(),
            writes: [(Port::Mem, 100), (Port::Out, 108)].map(|(port, n)| WritePort::new(port, profile, seed, n)),
            channels,
            bus: Bus {
                now: 0,
                last_handshake: 0,
                violation: None,
                stray: None,
                faults: options.faults.clone(),
                log: options.log.then(BusLog::default),
            },
        }
    }

    /// Begins a run at cycle `now`: counters and log start anew.
    pub(crate) fn begin(&mut self, now: u64) {
        (self.bus.now, self.bus.last_handshake) = (now, now);
        self.reads.iter_mut().for_each(|port| (port.bursts, port.beats) = (0, 0));
        self.writes.iter_mut().for_each(|port| (port.bursts, port.beats, port.bytes) = (0, 0, 0));
        if let Some(log) = &mut self.bus.log {
            log.clear();
        }
    }

    /// Sets the memory's signals for the clock edge that ends cycle `now`, and does what happens at it.
    #[inline]
    pub(super) fn tick(&mut self, pins: &mut Pins, now: u64) {
        self.bus.now = now;
        let (mem, others) = self.reads.split_last_mut().expect("there is mem");
        for (port, pins) in others.iter_mut().zip(&mut pins.read) {
            port.tick(pins, &self.space, &mut self.bus);
        }
        mem.tick(&mut pins.read[READ_PINS_MEM], &self.space, &mut self.bus);
        for (port, pins) in self.writes.iter_mut().zip(&mut pins.write) {
            port.tick(pins, &mut self.space, &mut self.bus);
        }
        for (unused, pins) in pins.read[..READ_PINS_MEM].iter().enumerate().skip(self.channels + 1) {
            if pins.arvalid != 0 {
                self.bus.violation(Port::Idx(unused as u8 - 1), "AR", "is used, but the kernel has no such channel");
            }
        }
    }

    /// What the kernel did against the bus protocol; it stays.
    pub(super) fn violation(&self) -> Option<&str> {
        self.bus.violation.as_deref()
    }

    /// The first access to where nothing lies (or nothing for that port), since the last call.
    pub(crate) fn take_stray(&mut self) -> Option<String> {
        self.bus.stray.take()
    }

    /// The last cycle in which any channel had a handshake.
    pub(super) fn last_handshake(&self) -> u64 {
        self.bus.last_handshake
    }

    /// What is under way on all ports, in words; empty when nothing is.
    pub(super) fn waiting(&self, pins: &Pins) -> Vec<String> {
        let (mem, others) = self.reads.split_last().expect("there is mem");
        let mut parts: Vec<_> = others.iter().zip(&pins.read).filter_map(|(port, pins)| port.waiting(pins)).collect();
        parts.extend(mem.waiting(&pins.read[READ_PINS_MEM]));
        parts.extend(self.writes.iter().zip(&pins.write).filter_map(|(port, pins)| port.waiting(pins)));
        parts
    }

    /// What went over each port in this run, in the order of [`Port::ALL`] without the channels that do not exist.
    pub(super) fn traffic(&self) -> Vec<PortTraffic> {
        let [mem, out] = &self.writes;
        let used = |port: &Port| !matches!(port, Port::Idx(channel) if usize::from(*channel) >= self.channels);
        let mut reads = self.reads.iter();
        let ports = Port::ALL.into_iter().filter(used);
        ports
            .map(|port| {
                let read = if port == Port::Out { None } else { reads.next() };
                let write = match port {
                    Port::Mem => Some(mem),
                    Port::Out => Some(out),
                    Port::Offs | Port::Idx(_) => None,
                };
                PortTraffic {
                    port: port.name(),
                    reads: read.map_or(0, |port| port.bursts),
                    read_beats: read.map_or(0, |port| port.beats),
                    read_useful: 0, // what of a line is needed only the kernel knows
                    writes: write.map_or(0, |port| port.bursts),
                    write_beats: write.map_or(0, |port| port.beats),
                    write_useful: write.map_or(0, |port| port.bytes),
                }
            })
            .collect()
    }

    /// The handshakes of the run, a line each, if they are recorded.
    pub(super) fn log(&self) -> Option<String> {
        self.bus.log.as_ref().map(ToString::to_string)
    }
}
