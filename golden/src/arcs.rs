//! From arcs in any order to in-neighbours by destination, and to a graph that has both directions of every arc.

use crate::{
    graph::{CscGraph, GraphError},
    id::{ID_MAX, NodeId},
};

impl CscGraph {
    /// Every edge as (source, destination), in the order of edge positions.
    pub fn arcs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + Clone {
        self.indptr().windows(2).zip(0..).flat_map(|(extent, destination)| {
            let sources = &self.indices()[extent[0] as usize..extent[1] as usize];
            sources.iter().map(move |&source| (source, NodeId::new(destination)))
        })
    }

    /// The graph of arcs (source, destination); the in-neighbours of a node stand in the order in which `arcs` yields them.
    ///
    /// # Errors
    /// If a source is not below `nodes`, or there are too many nodes or arcs.
    ///
    /// # Panics
    /// If a destination is not below `nodes`.
    pub fn from_arcs(nodes: usize, arcs: impl Iterator<Item = (NodeId, NodeId)> + Clone) -> Result<Self, GraphError> {
        let (indptr, indices) = by_destination(nodes, arcs);
        Self::new(indptr, indices)
    }

    /// The same graph with the reverse of every arc added, one arc left of each set of parallel ones, and the in-neighbours
    /// of each node ascending: what `PyG`'s `to_undirected` returns. A self-loop is its own reverse and stays one arc.
    ///
    /// # Errors
    /// If there are then more edges than [`ID_MAX`](crate::ID_MAX).
    pub fn symmetrised(&self) -> Result<Self, GraphError> {
        let reversed = self.arcs().map(|(source, destination)| (destination, source));
        let (mut indptr, mut indices) = by_destination(self.nodes(), self.arcs().chain(reversed));
        let (mut start, mut kept) = (0, 0);
        for end in &mut indptr[1..] {
            let sources = start..*end as usize;
            start = sources.end;
            indices[sources.clone()].sort_unstable();
            let first = kept;
            for position in sources {
                if kept == first || indices[kept - 1] != indices[position] {
                    indices[kept] = indices[position];
                    kept += 1;
                }
            }
            *end = kept as u32;
        }
        indices.truncate(kept);
        indices.shrink_to_fit();
        Self::new(indptr, indices)
    }

    /// The same graph with isolated nodes behind the last one, so that there are `nodes`, if it has fewer.
    ///
    /// # Errors
    /// If that is more than [`ID_MAX`](crate::ID_MAX).
    pub fn padded(self, nodes: usize) -> Result<Self, GraphError> {
        let Self { mut indptr, indices } = self;
        if nodes > ID_MAX as usize {
            return Err(GraphError::TooLarge { what: "nodes", found: nodes as u64 });
        }
        indptr.resize(indptr.len().max(nodes + 1), indices.len() as u32);
        Self::new(indptr, indices)
    }

    /// An arc (source, destination) of which there are more than of its reverse; `None` if the graph is symmetric, parallel
    /// arcs counted. A self-loop is its own reverse.
    pub fn one_way(&self) -> Option<(NodeId, NodeId)> {
        let reversed = self.arcs().map(|(source, destination)| (destination, source));
        // Its in-neighbours are the out-neighbours here, and ascend.
        let (indptr, outs) = by_destination(self.nodes(), reversed);
        let mut ins = Vec::new();
        indptr.windows(2).zip(self.indptr.windows(2)).zip(0..).find_map(|((outs_of, ins_of), node)| {
            let outs = &outs[outs_of[0] as usize..outs_of[1] as usize];
            ins.clear();
            ins.extend_from_slice(&self.indices[ins_of[0] as usize..ins_of[1] as usize]);
            ins.sort_unstable();
            let node = NodeId::new(node);
            let at = (0..ins.len().max(outs.len())).find(|&at| ins.get(at) != outs.get(at))?;
            Some(match (ins.get(at), outs.get(at)) {
                (Some(&source), Some(&destination)) if source > destination => (node, destination),
                (Some(&source), _) => (source, node),
                (None, destination) => (node, *destination?),
            })
        })
    }

    /// The same graph with the in-neighbours of each node ascending.
    #[must_use]
    pub fn ascending(mut self) -> Self {
        for extent in self.indptr.windows(2) {
            self.indices[extent[0] as usize..extent[1] as usize].sort_unstable();
        }
        self
    }

    /// The same graph without arcs from a node to itself.
    #[must_use]
    pub fn without_self_loops(mut self) -> Self {
        let (mut start, mut kept) = (0, 0);
        for (end, node) in self.indptr[1..].iter_mut().zip(0..) {
            for position in start..*end as usize {
                let source = self.indices[position];
                if source != NodeId::new(node) {
                    self.indices[kept] = source;
                    kept += 1;
                }
            }
            start = *end as usize;
            *end = kept as u32;
        }
        self.indices.truncate(kept);
        self.indices.shrink_to_fit();
        self
    }
}

/// `indptr` and `indices` of a graph from its arcs (source, destination): a stable counting sort, so the in-neighbours of a
/// node stand in the order in which `arcs` yields them. O(N + E), in two passes.
///
/// There are at most `u32::MAX` arcs, and `nodes` is above every destination.
fn by_destination(nodes: usize, arcs: impl Iterator<Item = (NodeId, NodeId)> + Clone) -> (Vec<u32>, Vec<NodeId>) {
    let mut indptr = vec![0; nodes + 1];
    for (_, destination) in arcs.clone() {
        indptr[destination.index() + 1] += 1;
    }
    let mut edges = 0;
    for end in &mut indptr {
        edges += *end;
        *end = edges;
    }
    let mut next = indptr.clone();
    let mut indices = vec![NodeId::default(); edges as usize];
    for (source, destination) in arcs {
        let place = &mut next[destination.index()];
        indices[*place as usize] = source;
        *place += 1;
    }
    (indptr, indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, arcs: &[(u32, u32)]) -> CscGraph {
        let arcs = arcs.iter().map(|&(s, d)| (NodeId::new(s), NodeId::new(d)));
        let (indptr, indices) = by_destination(nodes, arcs);
        CscGraph::new(indptr, indices).unwrap()
    }

    #[test]
    fn arcs_keep_their_order_within_a_destination() {
        let g = graph(4, &[(3, 1), (0, 2), (3, 1), (2, 1), (0, 0)]);
        assert_eq!(g.indptr(), [0, 1, 4, 5, 5]);
        assert_eq!(g.indices().iter().map(|n| n.get()).collect::<Vec<_>>(), [0, 3, 3, 2, 0]);
        assert!(g.arcs().eq([(0, 0), (3, 1), (3, 1), (2, 1), (0, 2)].map(|(s, d)| (NodeId::new(s), NodeId::new(d)))));
    }

    #[test]
    fn symmetrised_has_both_directions_once() {
        let g = graph(4, &[(3, 1), (3, 1), (1, 3), (2, 2), (0, 1)]);
        assert_eq!(g.symmetrised().unwrap(), graph(4, &[(1, 0), (0, 1), (3, 1), (2, 2), (1, 3)]));
        assert_eq!(graph(0, &[]).symmetrised().unwrap(), graph(0, &[]));
    }

    #[test]
    fn isolated_nodes_are_added_at_the_end() {
        assert_eq!(graph(2, &[(1, 0)]).padded(4).unwrap(), graph(4, &[(1, 0)]));
        assert_eq!(graph(2, &[(1, 0)]).padded(1).unwrap(), graph(2, &[(1, 0)]));
        assert!(graph(2, &[]).padded(1 << 31).is_err());
    }

    #[test]
    fn an_arc_without_its_reverse_is_found() {
        let one_way = |arcs: &[(u32, u32)]| graph(4, arcs).one_way().map(|(u, v)| (u.get(), v.get()));
        assert_eq!(one_way(&[]), None);
        assert_eq!(one_way(&[(3, 1), (1, 3), (2, 2), (0, 1), (1, 0)]), None);
        assert_eq!(one_way(&[(3, 1), (3, 1), (1, 3), (1, 3)]), None);
        assert_eq!(one_way(&[(3, 1)]), Some((3, 1)));
        assert_eq!(one_way(&[(1, 3)]), Some((1, 3)));
        assert_eq!(one_way(&[(3, 1), (1, 3), (3, 1)]), Some((3, 1)));
        assert_eq!(one_way(&[(0, 1), (2, 0)]), Some((0, 1)));
        assert_eq!(one_way(&[(0, 2), (1, 0), (0, 1), (3, 0)]), Some((0, 2)));
    }

    #[test]
    fn self_loops_go_and_order_comes() {
        let g = graph(4, &[(3, 1), (1, 1), (2, 1), (2, 2), (0, 3), (3, 3)]);
        assert_eq!(g.clone().ascending(), graph(4, &[(1, 1), (2, 1), (3, 1), (2, 2), (0, 3), (3, 3)]));
        assert_eq!(g.without_self_loops(), graph(4, &[(3, 1), (2, 1), (0, 3)]));
        assert_eq!(graph(0, &[]).without_self_loops().ascending(), graph(0, &[]));
    }
}
