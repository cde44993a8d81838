//! The line of text that says which graph to make.

use std::fmt;

use super::{power_law::Law, random::MULTI_DEGREE, ratio::Ratio, shape::Shape};

/// Which graph to make: `gen:KIND:KEY=VALUE,...`. What can be made is always possible: a text that asks for more is refused
/// when it is read. `Display` gives a text that reads as the same graph.
///
/// | text | graph |
/// |---|---|
/// | `gen:power-law:shape=S,scale=R,seed=N` | like a public data set: `arxiv`, `products` or `reddit`, with R (a fraction or decimal, 1 unless given) of its nodes and edges |
/// | `gen:power-law:nodes=N,edges=E,exponent=X,seed=N` | degrees by a power law; both directions of each edge are there and counted |
/// | `gen:rmat:scale=S,edges=E,seed=N` | R-MAT with chances .57, .19, .19, .05 on 2^S nodes; directed |
/// | `gen:uniform:nodes=N,edges=E,seed=N` | both ends of each arc uniform; directed |
/// | `gen:multi:nodes=N,seed=N` | 8 arcs a node, most of them parallel to others or self-loops |
/// | `gen:hub:nodes=N,hubs=H` | the first H nodes have arcs from and to every other node |
/// | `gen:star:nodes=N` | one hub |
/// | `gen:path:nodes=N` | an arc from each node to the next |
/// | `gen:empty:nodes=N` | no arcs |
///
/// The seed is 0 unless given. The shapes, with the exponent of the degrees and the offset that bounds the largest of them
/// (see [`generate`](super)); nodes and edges are those of the data sets made symmetric, the rest is chosen to resemble them:
///
/// | shape | nodes | edges | exponent | offset | largest degree, about |
/// |---|---|---|---|---|---|
/// | `arxiv` | 169,343 | 2,315,598 | 2.5 | 1 | 12,000 |
/// | `products` | 2,449,029 | 123,718,280 | 2.3 | 180 | 19,000 |
/// | `reddit` | 232,965 | 114,615,892 | 2.5 | 150 | 21,000 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphSpec(pub(super) Kind);

/// What to make, checked: there is a node at least but in [`Kind::Empty`], and no more than
/// [`ID_MAX`](golden::ID_MAX) nodes and edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `shape` is what `law` came from, if it came from one.
    PowerLaw {
        law: Law,
        shape: Option<(Shape, Ratio)>,
        seed: u64,
    },
    Rmat {
        scale: u32,
        edges: u32,
        seed: u64,
    },
    Uniform {
        nodes: u32,
        edges: u32,
        seed: u64,
    },
    Multi {
        nodes: u32,
        seed: u64,
    },
    Hub {
        nodes: u32,
        hubs: u32,
    },
    Star {
        nodes: u32,
    },
    Path {
        nodes: u32,
    },
    Empty {
        nodes: u32,
    },
}

impl GraphSpec {
    /// What every text starts with, so that it cannot be taken for a path.
    pub const PREFIX: &str = "gen:";

    /// The number of nodes of the graph.
    pub fn nodes(&self) -> u32 {
        match self.0 {
            Kind::PowerLaw { law: Law { nodes, .. }, .. }
            | Kind::Uniform { nodes, .. }
            | Kind::Multi { nodes, .. }
            | Kind::Hub { nodes, .. }
            | Kind::Star { nodes }
            | Kind::Path { nodes }
            | Kind::Empty { nodes } => nodes,
            Kind::Rmat { scale, .. } => 1 << scale,
        }
    }

    /// The number of edges of the graph.
    pub fn edges(&self) -> u32 {
        match self.0 {
            Kind::PowerLaw { law, .. } => 2 * law.pairs,
            Kind::Rmat { edges, .. } | Kind::Uniform { edges, .. } => edges,
            Kind::Multi { nodes, .. } => nodes * MULTI_DEGREE,
            Kind::Hub { nodes, hubs } => hub_edges(nodes, hubs) as u32,
            Kind::Star { nodes } => hub_edges(nodes, 1) as u32,
            Kind::Path { nodes } => nodes - 1,
            Kind::Empty { .. } => 0,
        }
    }
}

impl GraphSpec {
    /// Bytes of memory that [`GraphSpec::generate`] takes, the graph included: about, and rather too many.
    pub fn memory(&self) -> u64 {
        let (nodes, edges) = (u64::from(self.nodes()), u64::from(self.edges()));
        // Offsets twice, and the sources.
        let graph = 8 * nodes + 4 * edges;
        match self.0 {
            // Weights and the alias table; then pairs, and in part a second time where they are merged.
            Kind::PowerLaw { .. } => (36 * nodes).max(8 * nodes + 6 * edges).max(8 * nodes + 4 * edges + graph),
            // Ids, and the arcs as pairs.
            Kind::Rmat { .. } => 4 * nodes + 8 * edges + graph,
            Kind::Uniform { .. } | Kind::Multi { .. } => 8 * edges + graph,
            Kind::Hub { .. } | Kind::Star { .. } | Kind::Path { .. } | Kind::Empty { .. } => graph,
        }
    }
}

/// Edges of a graph in which each of `hubs`, at most `nodes`, has arcs from and to every other node.
pub(super) fn hub_edges(nodes: u32, hubs: u32) -> u64 {
    let (nodes, hubs) = (u64::from(nodes), u64::from(hubs));
    hubs * (2 * nodes - hubs - 1)
}

impl fmt::Display for GraphSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        match self.0 {
            Kind::PowerLaw { shape: Some((shape, scale)), seed, .. } => {
                write!(f, "power-law:shape={},scale={scale},seed={seed}", shape.name())
            }
            Kind::PowerLaw { law, shape: None, seed } => {
                let (nodes, edges, exponent) = (law.nodes, self.edges(), f64::from(law.exponent) / 100.0);
                write!(f, "power-law:nodes={nodes},edges={edges},exponent={exponent},seed={seed}")
            }
            Kind::Rmat { scale, edges, seed } => write!(f, "rmat:scale={scale},edges={edges},seed={seed}"),
            Kind::Uniform { nodes, edges, seed } => write!(f, "uniform:nodes={nodes},edges={edges},seed={seed}"),
            Kind::Multi { nodes, seed } => write!(f, "multi:nodes={nodes},seed={seed}"),
            Kind::Hub { nodes, hubs } => write!(f, "hub:nodes={nodes},hubs={hubs}"),
            Kind::Star { nodes } => write!(f, "star:nodes={nodes}"),
            Kind::Path { nodes } => write!(f, "path:nodes={nodes}"),
            Kind::Empty { nodes } => write!(f, "empty:nodes={nodes}"),
        }
    }
}
