//! How fast and how regular card memory is: the one place for the figures of the memory profiles. The simulated RTL keeps to
//! them cycle by cycle, and whoever predicts its speed calculates with them.

use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A memory profile: when a port's accesses are taken and answered. It never decides what is read.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Default,
    strum::Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Profile {
    /// Everything at once, after a short latency.
    Ideal,
    /// One HBM pseudo channel behind each port.
    #[default]
    Hbm,
    /// One DDR4 channel behind each port.
    Ddr4,
    /// Whatever AXI allows, by seed: reordering between ids, interleaved and late beats, back-pressure on every channel, data
    /// that is taken before its address, and bases that are aligned to 64 bytes only.
    Hostile,
}

/// The figures of a profile, for each port and direction, in cycles of the kernel's clock (300 MHz) and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the address (for a write: its last beat) to the first beat of the answer.
    pub latency: u32,
    /// What is added to it, at random, at most.
    pub jitter: u32,
    /// Between the begin of one burst and the next of the same direction, at least.
    pub burst_interval: u32,
    /// Of data, when bursts are long.
    pub bytes_per_cycle: u32,
    /// Bursts that are taken before the first is answered.
    pub outstanding: usize,
}

impl Timing {
    /// Cycles that a port is taken by `bursts` bursts with so many beats together, at least.
    pub const fn cycles(&self, bursts: u64, beats: u64) -> u64 {
        let interval = bursts * self.burst_interval as u64;
        let data = (beats * LINE).div_ceil(self.bytes_per_cycle as u64);
        if interval > data { interval } else { data }
    }
}

impl Profile {
    /// The profile's figures. Sources: `Hbm` rates from AMD's Vitis tutorial XD099 (64-byte random reads at 4.75 GB/s within a
    /// pseudo channel, which is 74 M/s; 14.4 GB/s streaming), with 64 ids as the HBM ports have; latencies of `Hbm` and
    /// `Ddr4`, and the random rate of `Ddr4`, are estimates; `Ideal` and `Hostile` are inventions.
    pub const fn timing(self) -> Timing {
        match self {
            Self::Ideal => Timing { latency: 20, jitter: 0, burst_interval: 1, bytes_per_cycle: 64, outstanding: 256 },
            Self::Hbm => Timing { latency: 64, jitter: 16, burst_interval: 4, bytes_per_cycle: 48, outstanding: 64 },
            Self::Ddr4 => Timing { latency: 40, jitter: 24, burst_interval: 4, bytes_per_cycle: 64, outstanding: 64 },
            Self::Hostile => {
                Timing { latency: 1, jitter: 299, burst_interval: 1, bytes_per_cycle: 64, outstanding: 64 }
            }
        }
    }
}

/// When a channel of one port can begin its next transfer, and when that one's data is due.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    timing: Timing,
    /// Bytes that could have gone before the channel is free again: cycles times bytes per cycle.
    free_at: u64,
    /// The same for the next burst of a write to begin.
    begin_at: u64,
}

impl Pace {
    pub(crate) fn new(timing: Timing) -> Self {
        Self { timing, free_at: 0, begin_at: 0 }
    }

    /// Takes the time of a read burst that is asked for in cycle `now`. What it gives, with the index of a beat, gives the
    /// cycle in which that beat is due without latency.
    pub(crate) fn burst(&mut self, now: u64, beats: u64) -> Schedule {
        let rate = u64::from(self.timing.bytes_per_cycle);
        let begin = self.free_at.max(now * rate);
        self.free_at = begin + (beats * LINE).max(u64::from(self.timing.burst_interval) * rate);
        Schedule { begin, rate }
    }

    /// The first cycle in which a beat of a write can be taken, which may begin a burst.
    pub(crate) fn free_from(&self, begins: bool) -> u64 {
        let free_at = if begins { self.free_at.max(self.begin_at) } else { self.free_at };
        free_at / u64::from(self.timing.bytes_per_cycle)
    }

    /// Takes the time of a beat of a write.
    pub(crate) fn beat(&mut self, now: u64, begins: bool) {
        let rate = u64::from(self.timing.bytes_per_cycle);
        let begin = self.free_at.max(now * rate);
        if begins {
            self.begin_at = begin + u64::from(self.timing.burst_interval) * rate;
        }
        self.free_at = begin + LINE;
    }
}

const LINE: u64 = hw::card::LINE_BYTES as u64;

/// When the beats of one burst have gone over the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    begin: u64,
    rate: u64,
}

impl Schedule {
    pub(crate) fn cycle_of(self, beat: u64) -> u64 {
        (self.begin + beat * LINE).div_ceil(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ports_take_at_least() {
        let cycles =
            |profile: Profile| [(12, 12), (2, 12)].map(|(bursts, beats)| profile.timing().cycles(bursts, beats));
        assert_eq!([Profile::Ideal, Profile::Hbm, Profile::Ddr4].map(cycles), [[12, 12], [48, 16], [48, 12]]);
    }

    #[test]
    fn a_channel_keeps_its_rates() {
        let mut pace = Pace::new(Profile::Hbm.timing());
        let singles: Vec<_> = (0..3).map(|_| pace.burst(0, 1).cycle_of(0)).collect();
        assert_eq!(singles, [0, 4, 8], "one random line in four cycles");
        let mut pace = Pace::new(Profile::Hbm.timing());
        assert_eq!(pace.burst(100, 64).cycle_of(63), 184, "48 bytes a cycle");
        let taken = |lines: usize| {
            let mut pace = Pace::new(Profile::Hbm.timing());
            let mut taken = 0;
            for now in 0..400 {
                let begins = taken % lines == 0;
                if pace.free_from(begins) <= now {
                    pace.beat(now, begins);
                    taken += 1;
                }
            }
            taken
        };
        assert_eq!([1, 2].map(taken), [100, 200], "one burst of up to 128 bytes in four cycles");
        assert_eq!([3, 8].map(taken), [300; 2], "three beats of 64 bytes in four cycles");
    }
}
