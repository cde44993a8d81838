//! Graphs that tests use.

use std::{path::Path, sync::Arc};

use golden::{CscGraph, NodeId, Silent, draw};
use golden_files::read;

/// A graph of `nodes` nodes with the arcs `source -> destination`, kept in this order within each destination.
pub fn from_arcs(nodes: usize, arcs: &[(u32, u32)]) -> Arc<CscGraph> {
    let mut indptr = vec![0; nodes + 1];
    for &(_, destination) in arcs {
        indptr[destination as usize + 1] += 1;
    }
    for node in 0..nodes {
        indptr[node + 1] += indptr[node];
    }
    let mut by_destination: Vec<_> = arcs.to_vec();
    by_destination.sort_by_key(|&(_, destination)| destination);
    let indices = by_destination.into_iter().map(|(source, _)| NodeId::new(source)).collect();
    Arc::new(CscGraph::new(indptr, indices).expect("the arcs are within the graph"))
}

/// The undirected 6-cycle.
pub fn hexagon() -> Arc<CscGraph> {
    let arcs: Vec<_> = (0..6).flat_map(|v| [((v + 5) % 6, v), ((v + 1) % 6, v)]).collect();
    from_arcs(6, &arcs)
}

/// `leaves` arcs from nodes 1, 2, ... to node 0.
pub fn star(leaves: u32) -> Arc<CscGraph> {
    from_arcs(leaves as usize + 1, &(1..=leaves).map(|leaf| (leaf, 0)).collect::<Vec<_>>())
}

/// A graph of `nodes` nodes and `edges` arcs anywhere, parallel ones and self-loops among them, by `seed`.
pub fn random_multigraph(nodes: u32, edges: usize, seed: u64) -> Arc<CscGraph> {
    let mut words = golden::Words::new(seed, 0);
    let mut node = || draw(nodes, || words.next_word());
    let arcs: Vec<_> = (0..edges).map(|_| (node(), node())).collect();
    from_arcs(nodes as usize, &arcs)
}

/// Cora, as the repository ships it.
pub fn cora() -> Arc<CscGraph> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/cora");
    Arc::new(read::graph(&path, &read::ReadOptions::default(), &Silent).expect("the shipped graph is readable"))
}
