//! What a run reads and writes in card memory, by port. Every read is a burst of one 64-byte line; every write is a burst of
//! those lines of an aligned block that are there.
//!
//! All of it follows from the request and the sub-graph: offset lines from the ids of the nodes that are expanded, index lines
//! from the positions of the edges, and the rest from the counts of the hops. A run that ends early has no counts.

use std::ops::Range;

use golden::{EdgePos, Fanout, NodeId, Request, SubGraph};
use hw::{
    PortTraffic,
    card::{BURST_LINES, HEAD_NODES, LINE_BYTES, LINE_ELEMENTS, MAX_CHANNELS, OffsetRecord, Port},
    status::{STATUS_BURSTS, STATUS_BYTES},
};

use super::hops::hops;

/// The traffic of each port of a kernel with `channels` index channels, in a run that has sampled `sub`.
pub(super) fn of(request: &Request, sub: &SubGraph, channels: usize) -> Vec<PortTraffic> {
    let mut traffic = Traffic::new(channels);
    traffic.seeds(request.seeds.len());
    for hop in hops(request, &sub.hops) {
        // A fan-out of 0 reads nothing.
        if hop.fanout != Fanout::Count(0) {
            traffic.frontier(&hop.frontier, &sub.samples);
            traffic.edges(&sub.edges[hop.edges]);
        }
        if !hop.is_last {
            traffic.node_list(&hop.new);
        }
    }
    traffic.outputs(sub.samples.len(), sub.edges.len());
    traffic.ports()
}

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

/// Reads of a line each, and the bytes of them that are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reads {
    lines: u64,
    bytes: u64,
}

/// Write bursts, their lines, and the bytes of them that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Writes {
    bursts: u64,
    beats: u64,
    bytes: u64,
}

impl Writes {
    /// A range of int32 elements is written: what a block holds of it in one burst.
    fn add(&mut self, elements: &Range<usize>) {
        self.bursts += touched(elements, BURST_LINES * LINE_ELEMENTS);
        self.beats += lines(elements);
        self.bytes += ELEMENT * elements.len() as u64;
    }
}

/// Bytes of an int32 element, and of a node's offset record.
const ELEMENT: u64 = 4;
const RECORD: u64 = size_of::<OffsetRecord>() as u64;
/// Nodes whose offset records lie in one line.
const RECORDS: u32 = (LINE_BYTES / size_of::<OffsetRecord>()) as u32;

/// Neither edge nor offset record lies in this line.
const NO_LINE: u32 = u32::MAX;

/// The lines of one run.
#[derive(Clone, Debug)]
struct Traffic {
    /// Index channels of the kernel: 1, 2, 4 or 8.
    channels: usize,
    offs: Reads,
    idx: [Reads; MAX_CHANNELS],
    mem_reads: Reads,
    mem_writes: Writes,
    out: Writes,
}

impl Traffic {
    /// Of a run of a kernel with `channels` index channels, which ends with a status block.
    fn new(channels: usize) -> Self {
        let (beats, bytes) = ((STATUS_BYTES / LINE_BYTES) as u64, STATUS_BYTES as u64);
        Self {
            channels,
            offs: Reads::default(),
            idx: Default::default(),
            mem_reads: Reads::default(),
            mem_writes: Writes { bursts: STATUS_BURSTS, beats, bytes },
            out: Writes::default(),
        }
    }

    /// The seeds are read, and enter the node list.
    fn seeds(&mut self, seeds: usize) {
        self.read_list(&(0..seeds));
        self.node_list(&(0..seeds));
    }

    /// A hop begins that expands `frontier`, a range of the node list: what is not at hand is read back, and the offset records
    /// of all. One shares the read of the record before, if that lies in the same line.
    fn frontier(&mut self, frontier: &Range<usize>, node_list: &[NodeId]) {
        self.read_list(&(frontier.end.min(frontier.start + HEAD_NODES)..frontier.end));
        let mut last = NO_LINE;
        for node in &node_list[frontier.clone()] {
            let line = node.get() / RECORDS;
            self.offs.lines += u64::from(line != last);
            last = line;
        }
        self.offs.bytes += RECORD * frontier.len() as u64;
    }

    fn read_list(&mut self, elements: &Range<usize>) {
        self.mem_reads.lines += lines(elements);
        self.mem_reads.bytes += ELEMENT * elements.len() as u64;
    }

    /// A phase (seeds or hop), not the last, ends that has appended this range to the node list. A block is written when it is
    /// full, and at the end of a phase.
    fn node_list(&mut self, appended: &Range<usize>) {
        self.mem_writes.add(appended);
    }

    /// The edges of a hop are drawn, in this order. One shares the read of the edge before, if that lies in the same line.
    fn edges(&mut self, positions: &[EdgePos]) {
        let mut last = NO_LINE;
        for position in positions {
            let line = position.get() / LINE_ELEMENTS as u32;
            // Added without a branch: whether a line is shared is as hard to foresee as the draw.
            let channel = &mut self.idx[line as usize & (self.channels - 1) & (MAX_CHANNELS - 1)];
            channel.lines += u64::from(line != last);
            channel.bytes += ELEMENT;
            last = line;
        }
    }

    /// The outputs are complete.
    fn outputs(&mut self, nodes: usize, edges: usize) {
        for elements in [nodes, edges, edges, edges] {
            self.out.add(&(0..elements));
        }
    }

    /// The counts of each port that the kernel has.
    fn ports(&self) -> Vec<PortTraffic> {
        let of = |port: Port| {
            let (reads, writes) = match port {
                Port::Offs => (self.offs, Writes::default()),
                Port::Idx(channel) => (self.idx[usize::from(channel)], Writes::default()),
                Port::Mem => (self.mem_reads, self.mem_writes),
                Port::Out => (Reads::default(), self.out),
            };
            PortTraffic {
                port: port.name(),
                reads: reads.lines,
                read_beats: reads.lines,
                read_useful: reads.bytes,
                writes: writes.bursts,
                write_beats: writes.beats,
                write_useful: writes.bytes,
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
        assert_eq!(traffic.mem_writes.bytes - before.bytes, 1600);
        traffic.outputs(129, 16);
        assert_eq!(traffic.out, Writes { bursts: 2 + 3, beats: 9 + 3, bytes: 4 * (129 + 3 * 16) });
    }

    #[test]
    fn channels_are_dealt_as_the_card_has_them() {
        for channels in [1, 2, 4, 8] {
            for position in (0..600).step_by(16) {
                let mut traffic = Traffic::new(channels);
                traffic.edges(&[EdgePos::new(position)]);
                let (channel, _) = place_of_edge(position as usize, channels);
                assert_eq!(traffic.idx.iter().position(|reads| reads.lines == 1), Some(channel));
            }
        }
    }

    #[test]
    fn neighbours_in_a_line_share_its_read_within_a_hop() {
        let mut traffic = Traffic::new(2);
        let nodes = [8, 15, 16, 16, 9].map(NodeId::new);
        traffic.frontier(&(0..3), &nodes);
        traffic.edges(&[0, 15, 16, 17, 1].map(EdgePos::new));
        traffic.frontier(&(3..5), &nodes);
        traffic.edges(&[EdgePos::new(2)]);
        assert_eq!(traffic.idx[..2], [Reads { lines: 3, bytes: 16 }, Reads { lines: 1, bytes: 8 }]);
        assert_eq!(traffic.offs, Reads { lines: 4, bytes: 40 });
    }

    #[test]
    fn what_is_at_hand_is_not_read_back() {
        let mut traffic = Traffic::new(1);
        let nodes = vec![NodeId::new(0); 200];
        traffic.frontier(&(10..74), &nodes);
        assert_eq!(traffic.mem_reads, Reads::default());
        traffic.frontier(&(74..200), &nodes);
        assert_eq!(traffic.mem_reads, Reads { lines: 5, bytes: 4 * 62 });
    }
}
