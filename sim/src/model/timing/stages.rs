//! The stages of the kernel, each with the queues and registers inside it.

use golden::NodeId;

use super::ports::{Cycle, Places, Reads};
use crate::memory::Timing;

/// A node of the frontier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where its offset record lies.
    pub(super) line: u32,
    /// Edges that are chosen.
    pub(super) picks: u32,
    /// By Floyd's algorithm; else all of them.
    pub(super) draws: bool,
}

/// What an End does in the sampler: it is handed on like one pick.
pub(super) const END: Node = Node { line: NONE, picks: 1, draws: false };

/// Hands on seeds and node list (`frontier_reader.sv`, with a `line_reader` of its own).
#[derive(Clone, Debug)]
pub(super) struct Frontier {
    reads: Reads,
    /// Lines that may be under way.
    window: Places,
    last_asked: Cycle,
    line_there: Cycle,
    last_out: Cycle,
}

impl Frontier {
    const WINDOW: usize = 4;

    pub(super) fn new(memory: Timing) -> Self {
        let (reads, window) = (Reads::new(memory, 2, 1), Places::new(Self::WINDOW));
        Self { reads, window, last_asked: 0, line_there: 0, last_out: 0 }
    }

    /// It is started in cycle `now`; what it reads is in memory from cycle `there` on.
    pub(super) fn start(&mut self, now: Cycle, there: Cycle) {
        // It is seen one cycle late, and not in the first.
        let readable = if there == 0 { now } else { there.max(now + 1) };
        (self.last_asked, self.last_out) = (readable, now);
    }

    /// Hands on an entry that need not be read.
    pub(super) fn at_hand(&mut self, room: Cycle) -> Cycle {
        self.last_out = (self.last_out + 1).max(room);
        self.last_out
    }

    /// Hands on entry `index` of the list. `first` and `last` say that it is the first or last that is used of its line.
    pub(super) fn hand_on(&mut self, first: bool, last: bool, room: Cycle) -> Cycle {
        if first {
            let asked = (self.last_asked + 1).max(self.reads.room()).max(self.window.room());
            self.last_asked = asked;
            self.line_there = self.reads.ask(asked);
        }
        self.last_out = self.line_there.max(self.last_out + 1).max(room);
        if last {
            self.reads.used(self.last_out);
            self.window.enter(self.last_out);
        }
        self.last_out
    }

    /// The End comes when it is seen that all lines have been used up.
    pub(super) fn end(&mut self, room: Cycle) -> Cycle {
        (self.last_out + 2).max(room)
    }
}

/// Fetches offset records (`offset_fetch.sv`).
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    reads: Reads,
    order: Places,
    last_line: u32,
    last_in: Cycle,
    last_out: Cycle,
}

impl Offsets {
    pub(super) fn new(memory: Timing, window: usize) -> Self {
        let (reads, order) = (Reads::new(memory, 2, 2), Places::new(window));
        Self { reads, order, last_line: NONE, last_in: 0, last_out: 0 }
    }

    /// Takes a node whose record lies in this line, or the End (`NONE`); gives the cycles of taking it and of handing it on.
    pub(super) fn pass(&mut self, there: Cycle, line: u32, room: Cycle) -> (Cycle, Cycle) {
        let mut taken = there.max(self.last_in + 1).max(self.order.room());
        let mut ready = taken + 1;
        let asks = line != NONE && line != self.last_line;
        self.last_line = line;
        if asks {
            taken = taken.max(self.reads.room());
            ready = self.reads.ask(taken);
        }
        let out = ready.max(self.last_out + 1).max(room);
        if asks {
            self.reads.used(out);
        }
        self.order.enter(out);
        (self.last_in, self.last_out) = (taken, out);
        (taken, out)
    }
}

/// Makes blocks of words (`chacha_pipe.sv`): a ring of eight steps that each block goes through four times.
#[derive(Clone, Debug)]
struct Blocks {
    /// When the ring's places are free, by cycle modulo 8.
    ring: [Cycle; 8],
    /// Blocks under way or waiting to be used.
    promised: Places,
}

impl Blocks {
    /// From a block's entry to its leaving the ring, and on to the end of the queue behind it.
    const IN_RING: Cycle = 32;
    const UNTIL_WORDS: Cycle = Self::IN_RING + 2;

    /// Blocks that may be under way or wait.
    const PROMISED: usize = 16;

    pub(super) fn new() -> Self {
        Self { ring: [0; 8], promised: Places::new(Self::PROMISED) }
    }

    /// A block enters, not before cycle `from`; gives when.
    pub(super) fn enter(&mut self, from: Cycle) -> Cycle {
        let mut now = from;
        while self.ring[now as usize % self.ring.len()] > now {
            now += 1;
        }
        self.ring[now as usize % self.ring.len()] = now + Self::IN_RING;
        now
    }
}

/// Draws (`neighbor_sampler.sv`).
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    blocks: Blocks,
    /// Nodes that are planned.
    nodes: Places,
    last_planned: Cycle,
    /// The registers from the multiplier to Floyd's comparison.
    registers: Places,
    last_issued: Cycle,
    last_out: Cycle,
}

/// What the sampler is to do for a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) at: Cycle,
    /// When the words of the first and of the second block are there; 0 if none are needed.
    words: [Cycle; 2],
}

impl Sampler {
    /// Words in a block.
    const WORDS: u32 = 16;
    const REGISTERS: usize = 4;
    /// Nodes that may wait for their words.
    const NODES: usize = 16;

    pub(super) fn new() -> Self {
        Self {
            blocks: Blocks::new(),
            nodes: Places::new(Self::NODES),
            last_planned: 0,
            registers: Places::new(Self::REGISTERS),
            last_issued: 0,
            last_out: 0,
        }
    }

    pub(super) fn plan(&mut self, there: Cycle, node: Node) -> Planned {
        let mut at = there.max(self.last_planned + 1);
        let mut words = [0; 2];
        if node.picks > 0 {
            at = at.max(self.nodes.room());
        }
        if node.draws {
            at = self.blocks.enter(at.max(self.blocks.promised.room()));
            words[0] = at + Blocks::UNTIL_WORDS;
            if node.picks > Self::WORDS {
                at = self.blocks.enter((at + 1).max(self.blocks.promised.room_for_second()));
                words[1] = at + Blocks::UNTIL_WORDS;
            }
        }
        self.last_planned = at;
        Planned { at, words }
    }

    /// A pick goes through; gives the cycle in which it is handed on.
    pub(super) fn pick(&mut self, node: Node, planned: Planned, number: u32, room: Cycle) -> Cycle {
        let words = planned.words[usize::from(number >= Self::WORDS)];
        let words = if node.draws { words } else { 0 };
        let issued = (planned.at + 1).max(words).max(self.last_issued + 1).max(self.registers.room());
        let out = (issued + Self::REGISTERS as Cycle).max(self.last_out + 1).max(room);
        // In the cycle in which one leaves the registers, another enters.
        self.registers.enter(out - 1);
        let last = number + 1 == node.picks;
        if node.draws && (last || number + 1 == Self::WORDS) {
            self.blocks.promised.enter(issued);
        }
        if last {
            self.nodes.enter(issued);
        }
        (self.last_issued, self.last_out) = (issued, out);
        out
    }
}

/// Fetches the lines of the indices (`line_fetch.sv`).
#[derive(Clone, Debug)]
pub(super) struct Lines {
    channels: Vec<Reads>,
    order: Places,
    last_line: u32,
    last_in: Cycle,
    last_out: Cycle,
}

/// No line.
pub(super) const NONE: u32 = u32::MAX;

impl Lines {
    /// Reads of a channel that the bus has not taken yet (`read_side.sv`).
    const QUEUE: usize = 16;

    pub(super) fn new(memory: Timing, window: usize, channels: usize) -> Self {
        Self {
            channels: (0..channels as u32).map(|channel| Reads::new(memory, Self::QUEUE, 3 + channel)).collect(),
            order: Places::new(window),
            last_line: NONE,
            last_in: 0,
            last_out: 0,
        }
    }

    /// Takes an edge in this line, or the End (`NONE`); gives the cycles of taking it and of handing it on.
    pub(super) fn pass(&mut self, there: Cycle, line: u32, room: Cycle) -> (Cycle, Cycle) {
        let mut taken = there.max(self.last_in + 1).max(self.order.room());
        let reads = line != NONE && line != self.last_line;
        self.last_line = line;
        let out;
        if reads {
            let channel = line as usize & (self.channels.len() - 1);
            let channel = &mut self.channels[channel];
            taken = taken.max(channel.room());
            let there = channel.ask(taken);
            out = there.max(self.last_out + 1).max(room);
            channel.used(out);
        } else {
            out = (taken + 1).max(self.last_out + 1).max(room);
        }
        self.order.enter(out);
        (self.last_in, self.last_out) = (taken, out);
        (taken, out)
    }
}

/// The hash table's rows (`dedup_table.sv`): how far from its own row each node lies.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    used: Vec<u8>,
    /// Rows of the table, log2.
    log2: u32,
    /// By local id.
    pub(super) probes: Vec<u8>,
}

impl Rows {
    const SLOTS_LOG2: u32 = 2;
    /// Rows that are looked at.
    const PROBE_LIMIT: u8 = 16;
    const MULTIPLIER: u32 = 0x9E37_79B1;

    pub(super) fn new(table_log2: u32) -> Self {
        let log2 = table_log2 - Self::SLOTS_LOG2;
        Self { used: vec![0; 1 << log2], log2, probes: vec![] }
    }

    pub(super) fn clear(&mut self) {
        self.used.fill(0);
        self.probes.clear();
    }

    /// Enters a node; gives the rows that are looked at beyond the first.
    pub(super) fn enter(&mut self, node: NodeId) -> u8 {
        let mut row = (node.get().wrapping_mul(Self::MULTIPLIER) >> (32 - self.log2)) as usize;
        let mut probes = 0;
        while self.used[row] == 1 << Self::SLOTS_LOG2 && probes + 1 < Self::PROBE_LIMIT {
            row = (row + 1) & (self.used.len() - 1);
            probes += 1;
        }
        self.used[row] += u8::from(self.used[row] < 1 << Self::SLOTS_LOG2);
        self.probes.push(probes);
        probes
    }
}

/// Looks nodes up (`dedup_table.sv`).
#[derive(Clone, Debug)]
pub(super) struct Dedup {
    /// Nodes on their way through the multiplier, or waiting behind it.
    credits: Places,
    /// Rows on their way from the table's memory.
    coming: Places,
    last_in: Cycle,
    last_asked: Cycle,
    /// When the next node can be compared.
    free_from: Cycle,
}

impl Dedup {
    const CREDITS: usize = 8;
    /// Through the multiplier and its queue.
    const HASH: Cycle = 4;
    /// From asking for a row to comparing it.
    const READ: usize = 2;
    /// For each further row; and for the node behind one that has probed, which asks again.
    const PROBE: Cycle = 3;

    pub(super) fn new() -> Self {
        Self {
            credits: Places::new(Self::CREDITS),
            coming: Places::new(Self::READ),
            last_in: 0,
            last_asked: 0,
            free_from: 0,
        }
    }

    /// Gives the cycles of taking a node and of handing it on.
    pub(super) fn pass(&mut self, there: Cycle, probes: u8, room: Cycle) -> (Cycle, Cycle) {
        let taken = there.max(self.last_in + 1).max(self.credits.room());
        let asked = (taken + Self::HASH).max(self.last_asked + 1).max(self.coming.room());
        let compared = (asked + Self::READ as Cycle).max(self.free_from);
        let out = (compared + Self::PROBE * Cycle::from(probes)).max(room);
        self.credits.enter(asked);
        self.coming.enter(out - 1);
        (self.last_in, self.last_asked) = (taken, asked);
        self.free_from = out + if probes > 0 { Self::PROBE } else { 1 };
        (taken, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_at_one_in_four_cycles() {
        let mut blocks = Blocks::new();
        let entries: Vec<_> = (0..17).scan(0, |now, _| Some(std::mem::replace(now, blocks.enter(*now) + 1))).collect();
        assert_eq!(entries[16], 40, "eight enter one after the other, then eight in 32 cycles");
    }

    #[test]
    fn a_full_row_sends_its_nodes_to_the_next() {
        let mut rows = Rows::new(4); // four rows of four
        let probes: Vec<_> = (0..17).map(|_| rows.enter(NodeId::new(0))).collect();
        assert_eq!(probes[..9], [0, 0, 0, 0, 1, 1, 1, 1, 2]);
        assert_eq!(probes[16], 15, "the table is full");
    }
}
