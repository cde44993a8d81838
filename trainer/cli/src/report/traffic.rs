//! Traffic of ports.

use pipeline::{units::float, verify::PortTotals};

/// Traffic of a port in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WayTotals {
    pub(crate) bursts: u64,
    pub(crate) beats: u64,
    pub(crate) useful: u64,
}

impl WayTotals {
    pub(crate) fn of_reads(port: &PortTotals) -> Self {
        Self { bursts: port.reads, beats: port.read_beats, useful: port.read_useful }
    }

    pub(crate) fn of_writes(port: &PortTotals) -> Self {
        Self { bursts: port.writes, beats: port.write_beats, useful: port.write_useful }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let Self { bursts, beats, useful } = other;
        Self { bursts: self.bursts + bursts, beats: self.beats + beats, useful: self.useful + useful }
    }

    /// The part of the bytes on the bus that is of use; 1 is all.
    pub(crate) fn share(self) -> f64 {
        float(self.useful) / float((self.beats * hw::card::LINE_BYTES as u64).max(1))
    }
}
