//! Graphs without chance, for the corners of a sampler.

use super::graph;
use golden::{CscGraph, NodeId};

/// Nodes `0 .. hubs` are hubs: each has an arc from and to every other node, hubs among themselves too. One hub is a star.
pub(super) fn hub(nodes: u32, hubs: u32) -> CscGraph {
    let sources = (0..nodes).map(NodeId::new);
    let arcs = sources.flat_map(|source| {
        let destinations = if source.get() < hubs { 0..nodes } else { 0..hubs };
        destinations.map(NodeId::new).filter(move |&d| d != source).map(move |d| (source, d))
    });
    graph(nodes, arcs)
}

/// An arc from each node to the next, so node v has the one in-neighbour v - 1 and node 0 has none.
pub(super) fn path(nodes: u32) -> CscGraph {
    graph(nodes, (1..nodes).map(|v| (NodeId::new(v - 1), NodeId::new(v))))
}

/// No arcs at all.
pub(super) fn empty(nodes: u32) -> CscGraph {
    graph(nodes, std::iter::empty())
}
