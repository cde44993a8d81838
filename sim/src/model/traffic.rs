//! What a run reads and writes in card memory, by port. Every read is a burst of one 64-byte line; every write is a burst of
//! those lines of an aligned block that are there.

use std::ops::Range;

use golden::EdgePos;
use hw::{
    PortTraffic,
    card::{BURST_LINES, LINE_BYTES, LINE_ELEMENTS, MAX_CHANNELS, Port},
    status::{STATUS_BURSTS, STATUS_BYTES},
};

/// Lines that a range of int32 elements touches.
fn lines(elements: &Range<usize>) -> u64 {
    touched(elements, LINE_ELEMENTS)
}

/// Aligned parts of so many elements that a range touches.
fn touched(elements: &Range<usize>, part: usize) -> u64 {
    if elements.is_empty() {
        return 0;
    }
    ((elements.end - 1) / part - elements.start / part + 1) as u64
}

/// Write bursts and their lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Writes {
    bursts: u64,
    beats: u64,
}

impl Writes {
    /// A range of int32 elements is written: what a block holds of it in one burst.
    fn add(&mut self, elements: &Range<usize>) {
        self.bursts += touched(elements, BURST_LINES * LINE_ELEMENTS);
        self.beats += lines(elements);
    }
}

/// No edge lies in this line.
const NO_LINE: u32 = u32::MAX;

/// The lines of one run.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// Index channels of the kernel: 1, 2, 4 or 8.
    channels: usize,
    offs: u64,
    idx: [u64; MAX_CHANNELS],
    mem_reads: u64,
    mem_writes: Writes,
    out: Writes,
    /// The line that the last drawn edge of this hop lies in.
    last_line: u32,
}

impl Traffic {
    /// Of a run of a kernel with `channels` index channels, which ends with a status block.
    pub(super) fn new(channels: usize) -> Self {
        let mem_writes = Writes { bursts: STATUS_BURSTS, beats: (STATUS_BYTES / LINE_BYTES) as u64 };
        let out = Writes { bursts: 0, beats: 0 };
        Self { channels, offs: 0, idx: [0; MAX_CHANNELS], mem_reads: 0, mem_writes, out, last_line: NO_LINE }
    }

    /// The seeds are read, and enter the node list.
    pub(super) fn seeds(&mut self, seeds: usize) {
        self.mem_reads += lines(&(0..seeds));
        self.node_list(&(0..seeds));
    }

    /// A hop begins that expands `frontier`, a range of the node list: it is read back, and the offsets of each node.
    pub(super) fn frontier(&mut self, frontier: &Range<usize>) {
        self.mem_reads += lines(frontier);
        self.offs += frontier.len() as u64;
        self.last_line = NO_LINE;
    }

    /// A phase (seeds or hop) ends that has appended this range to the node list. A block is written when it is full, and
    /// at the end of a phase.
    pub(super) fn node_list(&mut self, appended: &Range<usize>) {
        self.mem_writes.add(appended);
    }

    /// Edges are drawn, in this order. One shares the read of the edge before, if that lies in the same line.
    pub(super) fn edges(&mut self, positions: &[EdgePos]) {
        let mut last = self.last_line;
        for position in positions {
            let line = position.get() / LINE_ELEMENTS as u32;
            // Added without a branch: whether a line is shared is as hard to foresee as the draw.
            self.idx[line as usize & (self.channels - 1) & (MAX_CHANNELS - 1)] += u64::from(line != last);
            last = line;
        }
        self.last_line = last;
    }

    /// The outputs are complete.
    pub(super) fn outputs(&mut self, nodes: usize, edges: usize) {
        for elements in [nodes, edges, edges, edges] {
            self.out.add(&(0..elements));
        }
    }

    /// The counts of each port that the kernel has.
    pub(super) fn ports(&self) -> Vec<PortTraffic> {
        let none = Writes { bursts: 0, beats: 0 };
        let of = |port: Port| {
            let (reads, writes) = match port {
                Port::Offs => (self.offs, none),
                Port::Idx(channel) => (self.idx[usize::from(channel)], none),
                Port::Mem => (self.mem_reads, self.mem_writes),
                Port::Out => (0, self.out),
            };
            PortTraffic {
                port: port.name(),
                reads,
                read_beats: reads,
                writes: writes.bursts,
                write_beats: writes.beats,
            }
        };
        let has = |port: &Port| !matches!(port, Port::Idx(channel) if usize::from(*channel) >= self.channels);
        Port::ALL.into_iter().filter(has).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hw::card::place_of_edge;

    #[test]
    fn lines_of_a_range() {
        let of = |elements: Range<usize>| lines(&elements);
        assert_eq!([of(0..0), of(5..5), of(0..1), of(0..16), of(0..17), of(15..17), of(5..16)], [0, 0, 1, 1, 2, 2, 1]);
    }

    #[test]
    fn a_phase_writes_what_is_new_of_each_block() {
        let mut traffic = Traffic::new(1);
        let before = traffic.mem_writes;
        // One line; the rest of its block, with that line again; two blocks and a line.
        for appended in [0..3, 3..128, 128..400] {
            traffic.node_list(&appended);
        }
        assert_eq!((traffic.mem_writes.bursts - before.bursts, traffic.mem_writes.beats - before.beats), (5, 26));
        traffic.outputs(129, 16);
        assert_eq!(traffic.out, Writes { bursts: 2 + 3, beats: 9 + 3 });
    }

    #[test]
    fn channels_are_dealt_as_the_card_has_them() {
        for channels in [1, 2, 4, 8] {
            for position in (0..600).step_by(16) {
                let mut traffic = Traffic::new(channels);
                traffic.edges(&[EdgePos::new(position)]);
                let (channel, _) = place_of_edge(position as usize, channels);
                assert_eq!(traffic.idx.iter().position(|&reads| reads == 1), Some(channel));
            }
        }
    }

    #[test]
    fn neighbours_in_a_line_share_its_read_within_a_hop() {
        let mut traffic = Traffic::new(2);
        traffic.frontier(&(0..3));
        traffic.edges(&[0, 15, 16].map(EdgePos::new));
        traffic.edges(&[17, 1].map(EdgePos::new));
        traffic.frontier(&(3..5));
        traffic.edges(&[EdgePos::new(2)]);
        assert_eq!(traffic.idx[..2], [3, 1]);
        assert_eq!((traffic.offs, traffic.mem_reads), (5, 2));
    }
}
