//! The input graph: compressed sparse columns, checked once when it is made.

use crate::id::{EdgePos, ID_MAX, NodeId};

/// A directed graph by destination (CSC): the in-neighbours of node `v`, in stored order, are
/// `indices[indptr[v] .. indptr[v + 1]]`. Parallel edges and self-loops are legal and keep their places.
///
/// Invariants, established by [`CscGraph::new`]: `indptr` has `N + 1` entries, starts at 0, never falls and ends at `E`;
/// every index is below `N`; `N` and `E` are at most `2^31 - 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CscGraph {
    pub(crate) indptr: Vec<u32>,
    pub(crate) indices: Vec<NodeId>,
}

/// Why two arrays are not a CSC graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// `indptr` has no entry at all; even a graph without nodes has one.
    #[error("indptr is empty; a graph of N nodes needs N + 1 entries")]
    NoIndptr,
    /// The first entry is not zero.
    #[error("indptr[0] is {found}; it must be 0")]
    FirstNotZero {
        /// The entry found.
        found: u64,
    },
    /// An entry is smaller than the one before it.
    #[error("indptr falls from {before} to {after} at node {node}; it must never fall")]
    NotMonotonic {
        /// The node whose degree would be negative.
        node: usize,
        /// `indptr[node]`.
        before: u64,
        /// `indptr[node + 1]`.
        after: u64,
    },
    /// The last entry is not the number of edges.
    #[error("indptr ends at {last}, but indices has {edges} entries; the two must be equal")]
    EdgeCount {
        /// The last entry of `indptr`.
        last: u64,
        /// The length of `indices`.
        edges: usize,
    },
    /// A neighbour id is not a node.
    #[error("indices[{position}] is {found}; node ids must be in 0..{nodes}")]
    IndexOutOfRange {
        /// The edge position.
        position: usize,
        /// The id found.
        found: i64,
        /// The number of nodes.
        nodes: usize,
    },
    /// More nodes or edges than an int32 output buffer can name.
    #[error("the graph has {found} {what}; at most {ID_MAX} (2^31 - 1) are possible with int32 outputs")]
    TooLarge {
        /// "nodes" or "edges".
        what: &'static str,
        /// The number found.
        found: u64,
    },
}

impl CscGraph {
    /// Checks and keeps a graph of `indptr.len() - 1` nodes and `indices.len()` edges.
    ///
    /// # Errors
    /// The first rule of [`CscGraph`] that is broken, with its place.
    pub fn new(indptr: Vec<u32>, indices: Vec<NodeId>) -> Result<Self, GraphError> {
        let nodes = indptr.len().checked_sub(1).ok_or(GraphError::NoIndptr)?;
        for (what, found) in [("nodes", nodes), ("edges", indices.len())] {
            if found > ID_MAX as usize {
                return Err(GraphError::TooLarge { what, found: found as u64 });
            }
        }
        if indptr[0] != 0 {
            return Err(GraphError::FirstNotZero { found: u64::from(indptr[0]) });
        }
        if let Some(node) = indptr.windows(2).position(|w| w[0] > w[1]) {
            let (before, after) = (u64::from(indptr[node]), u64::from(indptr[node + 1]));
            return Err(GraphError::NotMonotonic { node, before, after });
        }
        if indptr[nodes] as usize != indices.len() {
            return Err(GraphError::EdgeCount { last: u64::from(indptr[nodes]), edges: indices.len() });
        }
        if let Some(position) = indices.iter().position(|u| u.index() >= nodes) {
            let found = i64::from(indices[position].get());
            return Err(GraphError::IndexOutOfRange { position, found, nodes });
        }
        Ok(Self { indptr, indices })
    }

    /// The number of nodes, N.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The number of edges, E.
    #[inline]
    pub fn edges(&self) -> usize {
        self.indices.len()
    }

    /// Edge position of the first in-edge of `node`, and its in-degree.
    ///
    /// # Panics
    /// If `node` is not in the graph.
    #[inline]
    pub fn extent(&self, node: NodeId) -> (EdgePos, u32) {
        let start = self.indptr[node.index()];
        (EdgePos::new(start), self.indptr[node.index() + 1] - start)
    }

    /// The source of the edge at `position`.
    ///
    /// # Panics
    /// If `position` is not in the graph.
    #[inline]
    pub fn source(&self, position: EdgePos) -> NodeId {
        self.indices[position.index()]
    }

    /// The offsets, `N + 1` entries.
    pub fn indptr(&self) -> &[u32] {
        &self.indptr
    }

    /// The in-neighbours of all nodes, `E` entries.
    pub fn indices(&self) -> &[NodeId] {
        &self.indices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(values: &[u32]) -> Vec<NodeId> {
        values.iter().copied().map(NodeId::new).collect()
    }

    #[test]
    fn accepts_parallel_edges_self_loops_and_isolated_nodes() {
        let g = CscGraph::new(vec![0, 3, 3, 4], ids(&[1, 1, 0, 2])).unwrap();
        assert_eq!((g.nodes(), g.edges()), (3, 4));
        assert_eq!(g.extent(NodeId::new(0)), (EdgePos::new(0), 3));
        assert_eq!(g.extent(NodeId::new(1)), (EdgePos::new(3), 0));
        assert_eq!(g.source(EdgePos::new(3)), NodeId::new(2));
    }

    #[test]
    fn a_graph_without_nodes_is_a_graph() {
        assert_eq!(CscGraph::new(vec![0], vec![]).unwrap().nodes(), 0);
    }

    #[test]
    fn each_broken_rule_is_named() {
        assert_eq!(CscGraph::new(vec![], vec![]), Err(GraphError::NoIndptr));
        assert_eq!(CscGraph::new(vec![1, 1], ids(&[0])), Err(GraphError::FirstNotZero { found: 1 }));
        assert_eq!(
            CscGraph::new(vec![0, 2, 1], ids(&[0])),
            Err(GraphError::NotMonotonic { node: 1, before: 2, after: 1 })
        );
        assert_eq!(CscGraph::new(vec![0, 2], ids(&[0])), Err(GraphError::EdgeCount { last: 2, edges: 1 }));
        assert_eq!(
            CscGraph::new(vec![0, 1], ids(&[1])),
            Err(GraphError::IndexOutOfRange { position: 0, found: 1, nodes: 1 })
        );
    }
}
