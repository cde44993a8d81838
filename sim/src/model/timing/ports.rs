//! Queues, and the ports with the memory behind them.

use hw::card::{BURST_LINES, LINE_ELEMENTS};

use crate::memory::{Pace, Timing};

/// A clock cycle, counted from the begin of the run.
pub(super) type Cycle = u64;

/// Registers in each channel to and from memory, each with room for two (`handshake_pipe.sv`; `SLR_STAGES` as it is by default).
const SLR_STAGES: usize = 2;
const SLR_DELAY: Cycle = SLR_STAGES as Cycle;

/// A queue as its writer sees it: each place is free again after the item in it has left.
#[derive(Clone, Debug)]
pub(super) struct Places {
    free_from: Vec<Cycle>,
    next: usize,
}

impl Places {
    pub(super) fn new(places: usize) -> Self {
        Self { free_from: vec![0; places], next: 0 }
    }

    /// The first cycle in which the next item can enter.
    pub(super) fn room(&self) -> Cycle {
        self.free_from[self.next]
    }

    /// The first cycle in which the item after the next can enter, as far as places go.
    pub(super) fn room_for_second(&self) -> Cycle {
        self.free_from[(self.next + 1) % self.free_from.len()]
    }

    /// The next item enters; it leaves in cycle `leaves`, and its place is free in the cycle after that.
    pub(super) fn enter(&mut self, leaves: Cycle) {
        self.free_from[self.next] = leaves + 1;
        self.next += 1;
        if self.next == self.free_from.len() {
            self.next = 0;
        }
    }
}

/// Jitter of the memory's latency, by chance but the same each time.
#[derive(Clone, Debug)]
struct Latency {
    least: u64,
    /// Latencies that there are.
    range: u64,
    state: u32,
}

impl Latency {
    pub(super) fn new(memory: &Timing, stream: u32) -> Self {
        Self { least: memory.latency.into(), range: u64::from(memory.jitter) + 1, state: stream }
    }

    fn next(&mut self) -> u64 {
        // Numerical Recipes' generator; only its upper bits are used.
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.least + ((u64::from(self.state) * self.range) >> 32)
    }
}

/// A port that reads (`line_reader.sv`), with the memory behind it.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    latency: Latency,
    pace: Pace,
    /// Reads that the bus has not taken yet, also those in the registers on the way there.
    queue: Places,
    /// Reads that the memory has taken and not answered.
    outstanding: Places,
    /// Lines in the registers on the way back.
    arriving: Places,
    last_taken: Cycle,
    last_answered: Cycle,
}

impl Reads {
    pub(super) fn new(memory: Timing, queue: usize, stream: u32) -> Self {
        Self {
            latency: Latency::new(&memory, stream),
            pace: Pace::new(memory),
            queue: Places::new(queue + 2 * SLR_STAGES),
            outstanding: Places::new(memory.outstanding),
            arriving: Places::new(2 * SLR_STAGES),
            last_taken: 0,
            last_answered: 0,
        }
    }

    pub(super) fn room(&self) -> Cycle {
        self.queue.room()
    }

    /// A line is asked for; gives the cycle from which on it is there. [`Reads::used`] comes before the next.
    pub(super) fn ask(&mut self, asked: Cycle) -> Cycle {
        let taken = (asked + 1 + SLR_DELAY).max(self.last_taken + 1).max(self.outstanding.room());
        // That there is room again goes back from register to register.
        self.queue.enter(taken + SLR_DELAY);
        let due = self.pace.burst(taken, 1).cycle_of(0) + self.latency.next();
        let answered = due.max(self.last_answered + 1).max(self.arriving.room());
        // In the cycle in which the memory gives the line, it may take another read.
        self.outstanding.enter(answered - 1);
        (self.last_taken, self.last_answered) = (taken, answered);
        answered + SLR_DELAY
    }

    /// The line was used, and left the registers.
    pub(super) fn used(&mut self, now: Cycle) {
        self.arriving.enter(now + SLR_DELAY - 1);
    }
}

/// A port that writes (`burst_arbiter.sv` and `burst_writer.sv`), with the memory behind it.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    latency: Latency,
    pace: Pace,
    /// Lines that the bus has not taken yet, also those in the registers on the way there.
    queue: Places,
    /// Bursts that have not been answered.
    window: Places,
    outstanding: Places,
    last_pushed: Cycle,
    last_taken: Cycle,
    last_answered: Cycle,
    idle_from: Cycle,
}

impl Writes {
    const QUEUE: usize = 4;

    pub(super) fn new(memory: Timing, window: usize, stream: u32) -> Self {
        Self {
            latency: Latency::new(&memory, stream),
            pace: Pace::new(memory),
            queue: Places::new(Self::QUEUE + 2 * SLR_STAGES),
            window: Places::new(window),
            outstanding: Places::new(memory.outstanding),
            last_pushed: 0,
            last_taken: 0,
            last_answered: 0,
            idle_from: 0,
        }
    }

    /// A burst of so many lines stands before the port from cycle `there` on; gives the cycle in which the port takes the last.
    pub(super) fn write(&mut self, there: Cycle, lines: usize) -> Cycle {
        // The choice between the sources takes a cycle, also after another burst.
        let chosen = there.max(self.last_pushed + 1);
        self.last_pushed = chosen.max(self.window.room().saturating_sub(1));
        for line in 0..lines {
            let pushed = (self.last_pushed + 1).max(self.queue.room());
            let taken = (pushed + 1 + SLR_DELAY).max(self.last_taken + 1).max(self.pace.free_from(line == 0));
            let taken = if line == 0 { taken.max(self.outstanding.room()) } else { taken };
            self.pace.beat(taken, line == 0);
            self.queue.enter(taken + SLR_DELAY);
            (self.last_pushed, self.last_taken) = (pushed, taken);
        }
        let answered = (self.last_taken + self.latency.next().max(1)).max(self.last_answered + 1);
        self.window.enter(answered + SLR_DELAY);
        self.outstanding.enter(answered - 1);
        self.last_answered = answered;
        self.idle_from = answered + SLR_DELAY + 1;
        self.last_pushed
    }

    /// The first cycle in which nothing is under way.
    pub(super) fn idle_from(&self) -> Cycle {
        self.idle_from
    }
}

/// Packs elements into blocks of lines (`burst_packer.sv`).
#[derive(Clone, Debug, Default)]
pub(super) struct Packer {
    /// Elements in the block, and those of them that have been written.
    filled: usize,
    written: usize,
    /// When the place of the block that leaves is free.
    free_from: Cycle,
}

impl Packer {
    /// Elements of a block.
    const BLOCK: usize = BURST_LINES * LINE_ELEMENTS;

    /// The first cycle in which it takes an element. The last one of a block needs the other place.
    pub(super) fn room(&self) -> Cycle {
        if self.filled == Self::BLOCK - 1 { self.free_from } else { 0 }
    }

    pub(super) fn push(&mut self, now: Cycle, port: &mut Writes) {
        self.filled += 1;
        if self.filled == Self::BLOCK {
            self.write(now, port);
            (self.filled, self.written) = (0, 0);
        }
    }

    /// Hands over what is left, from cycle `now` on; gives the first cycle in which nothing is left.
    pub(super) fn flush(&mut self, now: Cycle, port: &mut Writes) -> Cycle {
        if self.filled == self.written {
            return now;
        }
        let now = now.max(self.free_from);
        self.write(now, port);
        self.written = self.filled;
        now + 1
    }

    fn write(&mut self, now: Cycle, port: &mut Writes) {
        let lines = self.filled.div_ceil(LINE_ELEMENTS) - self.written / LINE_ELEMENTS;
        self.free_from = port.write(now + 1, lines) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_after_its_item_has_left() {
        let mut queue = Places::new(2);
        assert_eq!(queue.room(), 0);
        queue.enter(7);
        assert_eq!((queue.room(), queue.room_for_second()), (0, 8));
        queue.enter(9);
        assert_eq!(queue.room(), 8);
    }
}
