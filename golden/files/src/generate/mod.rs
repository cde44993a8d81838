//! Graphs from a line of text: a [`GraphSpec`] and 64 bits of seed say a graph to the last edge, on any machine.
//!
//! Random words come from `ChaCha8`, and every choice from whole numbers by [`draw`](golden::draw). Floating point is used
//! only for the weights of a power law, there only by the operations that IEEE 754 rounds exactly (+, -, *, / and square
//! root), and in one order.
//!
//! In-neighbours ascend within each node. In the graphs that have hubs by chance (power law, R-MAT) ids are shuffled, so
//! hubs may be anywhere.

mod alias;
mod parse;
mod power_law;
mod random;
mod ratio;
mod regular;
mod shape;
mod spec;

pub use parse::SpecError;
pub use spec::GraphSpec;

use spec::Kind;

use golden::{CscGraph, Meter, NodeId, Progress, Words};

impl GraphSpec {
    /// Makes the graph. O(N + E) words and memory, E log E comparisons where edges are random.
    pub fn generate(&self, progress: &dyn Progress) -> CscGraph {
        match &self.0 {
            Kind::PowerLaw { law, seed, .. } => power_law::generate(law, *seed, progress),
            &Kind::Rmat { scale, edges, seed } => random::rmat(scale, edges, seed, progress),
            &Kind::Uniform { nodes, edges, seed } => random::uniform(nodes, edges, seed, progress),
            &Kind::Multi { nodes, seed } => random::multi(nodes, seed, progress),
            &Kind::Hub { nodes, hubs } => regular::hub(nodes, hubs),
            &Kind::Star { nodes } => regular::hub(nodes, 1),
            &Kind::Path { nodes } => regular::path(nodes),
            &Kind::Empty { nodes } => regular::empty(nodes),
        }
    }
}

/// What random words are for. The streams are the last ones there are, so no mini-batch of a run with the same seed draws
/// from the same words.
#[derive(Clone, Copy)]
enum Purpose {
    Edges,
    Ids,
}

impl Purpose {
    fn words(self, seed: u64) -> Words {
        Words::new(seed, u64::MAX - self as u64)
    }
}

/// The ids `0 .. nodes` in random order.
fn shuffled_ids(nodes: u32, seed: u64) -> Vec<u32> {
    let mut words = Purpose::Ids.words(seed);
    let mut ids: Vec<u32> = (0..nodes).collect();
    golden::shuffle(&mut ids, || words.next_word());
    ids
}

/// Two ids in one word that sorts as the pair does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair(u64);

impl Pair {
    fn new(first: u32, second: u32) -> Self {
        Self(u64::from(first) << 32 | u64::from(second))
    }

    fn ids(self) -> (NodeId, NodeId) {
        (NodeId::new((self.0 >> 32) as u32), NodeId::new(self.0 as u32))
    }
}

/// A graph of `edges` arcs (source, destination), parallel ones and self-loops as they come.
fn from_arcs(nodes: u32, edges: u32, mut next: impl FnMut() -> (u32, u32), progress: &dyn Progress) -> CscGraph {
    let mut meter = Meter::new(progress, "drawing edges", u64::from(edges));
    let mut arcs = Vec::with_capacity(edges as usize);
    for drawn in 0..u64::from(edges) {
        let (source, destination) = next();
        arcs.push(Pair::new(source, destination));
        meter.at(drawn);
    }
    arcs.sort_unstable();
    let graph = graph(nodes, arcs.iter().map(|arc| arc.ids()));
    meter.finish();
    graph
}

/// A graph of arcs among `nodes` nodes; in-neighbours stand in the order of the arcs.
fn graph(nodes: u32, arcs: impl Iterator<Item = (NodeId, NodeId)> + Clone) -> CscGraph {
    CscGraph::from_arcs(nodes as usize, arcs).expect("a GraphSpec is checked when it is read")
}
