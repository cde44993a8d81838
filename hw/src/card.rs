//! How a mini-batch's inputs lie in card memory, the ports through which the kernel reaches it, and its status line codes.
//!
//! Every base is aligned to 64 bytes, the width of every AXI data bus of the kernel: a "line". What the kernel writes it
//! writes in bursts of up to 8 lines; the base of that is aligned to so many bytes.

use golden::{CscGraph, NodeId};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, little_endian::U32};

/// Bytes of a line: one beat of each AXI port.
pub const LINE_BYTES: usize = 64;
/// int32 elements of a line.
pub const LINE_ELEMENTS: usize = 16;
/// Lines of a buffer that the kernel writes in one burst: an aligned block of them, of which those are written that are there
/// when the block is full, or at the end of a phase.
pub const BURST_LINES: usize = 8;
/// Bytes of such a block, to which the base of everything that the kernel writes is aligned. No block crosses 4 KiB.
pub const BURST_BYTES: usize = BURST_LINES * LINE_BYTES;
/// The first so many nodes that a phase (the seeds, or a hop) appends to the node list the kernel keeps at hand; only those after
/// them it reads back.
pub const HEAD_NODES: usize = 64;
/// Most index channels of a kernel; one may have 1, 2, 4 or 8.
pub const MAX_CHANNELS: usize = 8;

/// A byte address on the card's side of its memory ports; nothing that the host could follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CardAddress(pub u64);

impl std::fmt::Display for CardAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "card address {:#x}", self.0)
    }
}

/// An AXI4 master of the kernel (64-bit addresses, 512-bit data, INCR bursts within 4 KiB).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    /// `m_axi_offs`: random reads of offset records.
    Offs,
    /// `m_axi_idx0` to `m_axi_idx7`: random reads of the dealt indices. Ports past the kernel's channels stay silent.
    Idx(u8),
    /// `m_axi_mem`: seeds, node list and status block; the one port that reads and writes.
    Mem,
    /// `m_axi_out`: the four output buffers; write-only.
    Out,
}

impl Port {
    /// All ports, in the order in which the status block counts them.
    pub const ALL: [Self; MAX_CHANNELS + 3] = [
        Self::Offs,
        Self::Idx(0),
        Self::Idx(1),
        Self::Idx(2),
        Self::Idx(3),
        Self::Idx(4),
        Self::Idx(5),
        Self::Idx(6),
        Self::Idx(7),
        Self::Mem,
        Self::Out,
    ];

    /// The port's name without `m_axi_`.
    pub const fn name(self) -> &'static str {
        const IDX: [&str; MAX_CHANNELS] = ["idx0", "idx1", "idx2", "idx3", "idx4", "idx5", "idx6", "idx7"];
        match self {
            Self::Offs => "offs",
            Self::Idx(channel) => IDX[channel as usize],
            Self::Mem => "mem",
            Self::Out => "out",
        }
    }
}

/// What the kernel reads of a node: one aligned 8-byte record, so that one read serves a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct OffsetRecord {
    /// Edge position of the first in-edge.
    pub start: U32,
    /// In-degree.
    pub degree: U32,
}

/// The offset records of all nodes, in order; N records.
pub fn offset_records(graph: &CscGraph) -> impl ExactSizeIterator<Item = OffsetRecord> + '_ {
    graph.indptr().windows(2).map(|w| OffsetRecord { start: U32::new(w[0]), degree: U32::new(w[1] - w[0]) })
}

/// Where an edge position lies among the dealt indices: channel, and element within the channel's array.
///
/// Line `n` (edge positions `16 n .. 16 n + 16`) is line `n / C` of channel `n mod C`.
#[inline]
pub fn place_of_edge(position: usize, channels: usize) -> (usize, usize) {
    let line = position / LINE_ELEMENTS;
    (line % channels, line / channels * LINE_ELEMENTS + position % LINE_ELEMENTS)
}

/// The indices that channel `channel` of `channels` holds, in order: what is written to its memory as int32. The last line
/// of the graph may be short.
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8, or `channel` is not below it.
pub fn dealt_indices(graph: &CscGraph, channel: usize, channels: usize) -> impl Iterator<Item = &[NodeId]> + '_ {
    assert!(channels.is_power_of_two() && channels <= MAX_CHANNELS && channel < channels);
    graph.indices().chunks(LINE_ELEMENTS).skip(channel).step_by(channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rtl_package_has_the_same_sizes() {
        let package = include_str!("../rtl/trisage_pkg.sv");
        for (name, value) in [("BurstLines", BURST_LINES), ("HeadNodes", HEAD_NODES)] {
            assert!(package.contains(&format!("localparam int unsigned {name} = {value};")), "{name}");
        }
        assert_eq!(4096 % BURST_BYTES, 0, "no block crosses 4 KiB");
    }

    #[test]
    fn every_edge_lies_where_it_was_dealt() {
        let edges = 150u32;
        let graph = CscGraph::new(vec![0, 100, edges], (0..edges).map(|e| NodeId::new(e % 2)).collect()).unwrap();
        let numbered = CscGraph::new(
            std::iter::once(0).chain(std::iter::repeat_n(edges, edges as usize)).collect(),
            (0..edges).map(NodeId::new).collect(),
        )
        .unwrap();
        for channels in [1, 2, 4, 8] {
            let dealt: Vec<Vec<u32>> = (0..channels)
                .map(|c| dealt_indices(&numbered, c, channels).flatten().map(|u| u.get()).collect())
                .collect();
            assert_eq!(dealt.iter().map(Vec::len).sum::<usize>(), edges as usize);
            for e in 0..edges {
                let (channel, element) = place_of_edge(e as usize, channels);
                assert_eq!(dealt[channel][element], e, "{channels} channels");
            }
        }
        let records: Vec<_> = offset_records(&graph).map(|r| (r.start.get(), r.degree.get())).collect();
        assert_eq!(records, [(0, 100), (100, 50)]);
    }
}
