//! What a graph is like.

use golden::{CscGraph, NodeId};
use serde::Serialize;

/// Ranks at which degrees are reported, in percent of the nodes.
pub const PERCENTILES: [u32; 7] = [1, 10, 25, 50, 75, 90, 99];

/// Figures of a graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphStats {
    /// Nodes, N.
    pub nodes: usize,
    /// Edges (arcs), E.
    pub edges: usize,
    /// How many in-edges the nodes have.
    pub in_degree: DegreeStats,
    /// How many out-edges the nodes have.
    pub out_degree: DegreeStats,
    /// Edges from a node to itself.
    pub self_loops: usize,
    /// Edges beyond the first of the same source and destination.
    pub parallel_edges: usize,
    /// Nodes without any edge.
    pub isolated_nodes: usize,
    /// Whether for each edge there is one in the other direction, as often.
    pub symmetric: bool,
    /// Bytes of the graph in host memory: 4 (N + 1) + 4 E.
    pub host_bytes: usize,
    /// Bytes of the graph in the memory of each SLR: an 8-byte record a node, and 4 bytes an edge.
    pub card_bytes: usize,
}

/// Figures of the degrees of all nodes; all 0 without nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DegreeStats {
    /// Smallest.
    pub min: u32,
    /// Largest.
    pub max: u32,
    /// E / N.
    pub mean: f64,
    /// At each rank of [`PERCENTILES`], the smallest degree that so many percent of the nodes do not exceed.
    pub percentiles: [u32; PERCENTILES.len()],
}

impl GraphStats {
    /// Looks at every edge a few times; needs as much memory again as the graph.
    pub fn of(graph: &CscGraph) -> Self {
        let (nodes, edges) = (graph.nodes(), graph.edges());
        let (mut own, mut reverse) = (graph.indices().to_vec(), reversed(graph));
        let in_ends = graph.indptr();
        let neighbours = |v: usize| in_ends[v] as usize..in_ends[v + 1] as usize;

        let (mut self_loops, mut parallel_edges, mut isolated_nodes, mut symmetric) = (0, 0, 0, true);
        for v in 0..nodes {
            let sources = &mut own[neighbours(v)];
            sources.sort_unstable();
            self_loops += sources.iter().filter(|u| u.index() == v).count();
            parallel_edges += sources.windows(2).filter(|w| w[0] == w[1]).count();
            let targets = reverse.of(v);
            isolated_nodes += usize::from(sources.is_empty() && targets.is_empty());
            symmetric &= sources == targets;
        }
        let in_degree = DegreeStats::of(in_ends);
        let out_degree = DegreeStats::of(&reverse.ends);
        let (host_bytes, card_bytes) = (4 * (nodes + 1 + edges), 8 * nodes + 4 * edges);
        Self {
            nodes,
            edges,
            in_degree,
            out_degree,
            self_loops,
            parallel_edges,
            isolated_nodes,
            symmetric,
            host_bytes,
            card_bytes,
        }
    }
}

impl DegreeStats {
    /// Of N + 1 offsets.
    fn of(ends: &[u32]) -> Self {
        let mut degrees: Vec<u32> = ends.windows(2).map(|w| w[1] - w[0]).collect();
        degrees.sort_unstable();
        let (Some(&min), Some(&max)) = (degrees.first(), degrees.last()) else { return Self::default() };
        let nodes = degrees.len();
        let rank = |percent: u32| (percent as usize * nodes).div_ceil(100).saturating_sub(1);
        let edges: u64 = degrees.iter().copied().map(u64::from).sum();
        Self { min, max, mean: edges as f64 / nodes as f64, percentiles: PERCENTILES.map(|p| degrees[rank(p)]) }
    }
}

/// Out-neighbours of every node, ascending.
struct Reversed {
    ends: Vec<u32>,
    targets: Vec<NodeId>,
}

impl Reversed {
    fn of(&mut self, node: usize) -> &[NodeId] {
        &self.targets[self.ends[node] as usize..self.ends[node + 1] as usize]
    }
}

fn reversed(graph: &CscGraph) -> Reversed {
    let nodes = graph.nodes();
    let mut ends = vec![0u32; nodes + 1];
    for u in graph.indices() {
        ends[u.index() + 1] += 1;
    }
    for v in 0..nodes {
        ends[v + 1] += ends[v];
    }
    let mut next = ends.clone();
    let mut targets = vec![NodeId::default(); graph.edges()];
    for v in (0..nodes).map(NodeId::from_index) {
        let (start, degree) = graph.extent(v);
        for u in &graph.indices()[start.index()..][..degree as usize] {
            targets[next[u.index()] as usize] = v;
            next[u.index()] += 1;
        }
    }
    Reversed { ends, targets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(indptr: &[u32], indices: &[u32]) -> GraphStats {
        let indices = indices.iter().copied().map(NodeId::new).collect();
        GraphStats::of(&CscGraph::new(indptr.to_vec(), indices).unwrap())
    }

    #[test]
    fn every_figure() {
        // 0 <- 1, 1, 0;  1 <- 0, 0;  2 has none;  3 <- 3
        let s = stats(&[0, 3, 5, 5, 6], &[1, 0, 1, 0, 0, 3]);
        assert_eq!((s.nodes, s.edges, s.self_loops, s.parallel_edges, s.isolated_nodes), (4, 6, 2, 2, 1));
        assert!(s.symmetric);
        assert_eq!((s.in_degree.min, s.in_degree.max), (0, 3));
        assert_eq!(s.in_degree.percentiles, [0, 0, 0, 1, 2, 3, 3]);
        assert_eq!((s.host_bytes, s.card_bytes), (44, 56));
    }

    #[test]
    fn one_more_in_one_direction_is_not_symmetric() {
        let s = stats(&[0, 2, 3], &[1, 1, 0]);
        assert!(!s.symmetric);
        assert_eq!((s.out_degree.min, s.out_degree.max), (1, 2));
    }

    #[test]
    fn a_graph_without_nodes() {
        let s = stats(&[0], &[]);
        assert_eq!((s.nodes, s.in_degree, s.symmetric), (0, DegreeStats::default(), true));
    }
}
