//! The reference sampler: the function of `golden/CONTRACT.md` as one plain page. It is slow on purpose, and right.

use std::collections::HashMap;

use crate::{
    draw::{Words, draw},
    graph::CscGraph,
    id::{EdgePos, LocalId, NodeId},
    request::{Capacity, Fanout, Limits, Request, RequestError},
    subgraph::{HopCounts, SubGraph},
};

/// What the reference sampler takes.
pub const LIMITS: Limits = Limits { owner: "the golden model", seeds: 1 << 20, hops: 8, fanout: 1024 };

/// Why there is no sub-graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The request was refused before anything was sampled.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A buffer is too small; sampling stopped at the first edge (or seed) that does not fit.
    #[error("{overflow}")]
    Overflow {
        /// What ran out, and where.
        overflow: Overflow,
        /// What was emitted before; the same in every implementation.
        emitted: Box<SubGraph>,
    },
}

/// A buffer that ran out, and where. A node that does not fit is reported before an edge that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("out of room for {resource}: the capacity of {capacity} was reached in hop {hop} at local node {node}")]
pub struct Overflow {
    /// Which capacity ran out.
    pub resource: Resource,
    /// That capacity, in elements.
    pub capacity: usize,
    /// The hop: 1 to L, or 0 where the seeds themselves do not fit.
    pub hop: usize,
    /// The node that was being expanded; in hop 0 the first seed that does not fit.
    pub node: LocalId,
}

/// What has a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Elements of `samples`.
    Nodes,
    /// Elements of each of `rows`, `cols` and `edges`.
    Edges,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nodes => "nodes (samples)",
            Self::Edges => "edges (rows, cols, edges)",
        })
    }
}

/// Samples one mini-batch.
///
/// # Errors
/// A request that [`Request::check`] refuses, or a capacity that runs out.
pub fn sample(graph: &CscGraph, request: &Request, capacity: Capacity) -> Result<SubGraph, SampleError> {
    request.check(graph, &LIMITS)?;
    let mut sub = SubGraph::default();
    match fill(graph, request, capacity, &mut sub) {
        Ok(()) => Ok(sub),
        Err(overflow) => Err(SampleError::Overflow { overflow, emitted: Box::new(sub) }),
    }
}

fn fill(graph: &CscGraph, request: &Request, capacity: Capacity, sub: &mut SubGraph) -> Result<(), Overflow> {
    let mut words = Words::new(request.seed, request.minibatch);
    let mut local: HashMap<NodeId, LocalId> = HashMap::new();
    let hops = request.fanouts.len();
    sub.hops = HopCounts { nodes: vec![0; hops + 1], edges: vec![0; hops] };

    for &seed in &request.seeds {
        let index = LocalId::from_index(sub.samples.len());
        if sub.samples.len() == capacity.nodes {
            return Err(Overflow { resource: Resource::Nodes, capacity: capacity.nodes, hop: 0, node: index });
        }
        local.insert(seed, index);
        sub.samples.push(seed);
        sub.hops.nodes[0] += 1;
    }

    let mut frontier = 0..sub.samples.len();
    for (hop, &fanout) in (1..).zip(&request.fanouts) {
        for v in frontier.clone().map(LocalId::from_index) {
            let (start, degree) = graph.extent(sub.samples[v.index()]);
            for p in pick(degree, fanout, v, &mut words) {
                let edge = EdgePos::new(start.get() + p);
                let u = graph.source(edge);
                let known = local.get(&u).copied();
                let out_of = |resource, capacity| Overflow { resource, capacity, hop, node: v };
                if known.is_none() && sub.samples.len() == capacity.nodes {
                    return Err(out_of(Resource::Nodes, capacity.nodes));
                }
                if sub.edges.len() == capacity.edges {
                    return Err(out_of(Resource::Edges, capacity.edges));
                }
                let row = known.unwrap_or_else(|| {
                    let new = LocalId::from_index(sub.samples.len());
                    local.insert(u, new);
                    sub.samples.push(u);
                    sub.hops.nodes[hop] += 1;
                    new
                });
                sub.rows.push(row);
                sub.cols.push(v);
                sub.edges.push(edge);
                sub.hops.edges[hop - 1] += 1;
            }
        }
        frontier = frontier.end..sub.samples.len();
    }
    Ok(())
}

/// The neighbours to take among `degree`: all in order, or `fanout` distinct ones by Floyd's algorithm (Bentley and Floyd,
/// "Programming Pearls: A Sample of Brilliance", CACM 30(9), 1987).
fn pick(degree: u32, fanout: Fanout, v: LocalId, words: &mut Words) -> Vec<u32> {
    let count = match fanout {
        Fanout::Count(count) if count < degree => count,
        Fanout::Count(_) | Fanout::All => return (0..degree).collect(),
    };
    words.seek(v);
    let mut picks = Vec::with_capacity(count as usize);
    for j in degree - count..degree {
        let t = draw(j + 1, || words.next_word());
        picks.push(if picks.contains(&t) { j } else { t });
    }
    picks
}
