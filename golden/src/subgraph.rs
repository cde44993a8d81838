//! What comes out: four int32 buffers, as `PyG`'s neighbour sampler returns them, and the counts per hop.

use crate::id::{EdgePos, LocalId, NodeId};
use zerocopy::IntoBytes;

/// The four output buffers of a mini-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// Global id of each sampled node: the seeds as given, then each node when it is first seen.
    Samples,
    /// Source of each sampled edge (the drawn neighbour), as an index into `samples`.
    Rows,
    /// Destination of each sampled edge (the node that was expanded), as an index into `samples`; never falls.
    Cols,
    /// Position of each sampled edge in the input graph.
    Edges,
}

impl Buffer {
    /// All four, in the order of the contract.
    pub const ALL: [Self; 4] = [Self::Samples, Self::Rows, Self::Cols, Self::Edges];

    /// The buffer's name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Rows => "rows",
            Self::Cols => "cols",
            Self::Edges => "edges",
        }
    }
}

/// Nodes and edges that each hop brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HopCounts {
    /// Nodes first seen in each hop; entry 0 counts the seeds, so there are L + 1 entries.
    pub nodes: Vec<u32>,
    /// Edges drawn in each hop; L entries.
    pub edges: Vec<u32>,
}

impl HopCounts {
    /// All nodes: the length of `samples`.
    pub fn total_nodes(&self) -> usize {
        self.nodes.iter().map(|&n| n as usize).sum()
    }

    /// All edges: the length of `rows`, `cols` and `edges`.
    pub fn total_edges(&self) -> usize {
        self.edges.iter().map(|&n| n as usize).sum()
    }

    /// The elements that `buffer` holds.
    pub fn len_of(&self, buffer: Buffer) -> usize {
        match buffer {
            Buffer::Samples => self.total_nodes(),
            Buffer::Rows | Buffer::Cols | Buffer::Edges => self.total_edges(),
        }
    }

    /// The hop that brought element `index` of `buffer`: 0 for the seeds, 1 to L for what was drawn; `None` past the end.
    pub fn hop_of(&self, buffer: Buffer, index: usize) -> Option<usize> {
        let (counts, first) = match buffer {
            Buffer::Samples => (&self.nodes, 0),
            Buffer::Rows | Buffer::Cols | Buffer::Edges => (&self.edges, 1),
        };
        let mut end = 0;
        counts.iter().zip(first..).find_map(|(&count, hop)| {
            end += count as usize;
            (index < end).then_some(hop)
        })
    }
}

/// A sampled mini-batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubGraph {
    /// See [`Buffer::Samples`].
    pub samples: Vec<NodeId>,
    /// See [`Buffer::Rows`].
    pub rows: Vec<LocalId>,
    /// See [`Buffer::Cols`].
    pub cols: Vec<LocalId>,
    /// See [`Buffer::Edges`].
    pub edges: Vec<EdgePos>,
    /// Nodes and edges of each hop.
    pub hops: HopCounts,
}

impl SubGraph {
    /// The elements of one buffer as int32, in order.
    pub fn buffer(&self, buffer: Buffer) -> &[i32] {
        match buffer {
            Buffer::Samples => as_int32(&self.samples),
            Buffer::Rows => as_int32(&self.rows),
            Buffer::Cols => as_int32(&self.cols),
            Buffer::Edges => as_int32(&self.edges),
        }
    }
}

fn as_int32<T: IntoBytes + zerocopy::Immutable>(ids: &[T]) -> &[i32] {
    <[i32] as zerocopy::FromBytes>::ref_from_bytes(ids.as_bytes()).expect("ids are int32 in size and alignment")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_of_elements() {
        let hops = HopCounts { nodes: vec![2, 0, 3], edges: vec![1, 4] };
        let of = |buffer, n| (0..n).map(|i| hops.hop_of(buffer, i)).collect::<Vec<_>>();
        assert_eq!(of(Buffer::Samples, 6), [Some(0), Some(0), Some(2), Some(2), Some(2), None]);
        assert_eq!(of(Buffer::Edges, 6), [Some(1), Some(2), Some(2), Some(2), Some(2), None]);
        assert_eq!((hops.total_nodes(), hops.total_edges()), (5, 5));
    }

    #[test]
    fn buffers_are_int32() {
        let sub = SubGraph { samples: vec![NodeId::new(7), NodeId::new(1)], ..SubGraph::default() };
        assert_eq!(sub.buffer(Buffer::Samples), [7, 1]);
        assert_eq!(sub.buffer(Buffer::Rows), [0i32; 0]);
    }
}
