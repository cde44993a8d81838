//! What is asked for: one mini-batch, its fan-outs, and the limits within which it must stay.

use crate::{graph::CscGraph, id::NodeId, subgraph::Buffer};
use std::{fmt, str::FromStr};

/// How many in-neighbours to draw for each node of one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fanout {
    /// At most this many, without replacement.
    Count(u32),
    /// Every in-neighbour (written `-1` or `all`).
    All,
}

impl Fanout {
    /// How many of `degree` neighbours this fan-out takes.
    #[inline]
    pub fn of_degree(self, degree: u32) -> u32 {
        match self {
            Self::Count(count) => degree.min(count),
            Self::All => degree,
        }
    }
}

impl fmt::Display for Fanout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::All => f.pad("all"),
        }
    }
}

impl FromStr for Fanout {
    type Err = FanoutError;

    fn from_str(text: &str) -> Result<Self, FanoutError> {
        match text.trim() {
            "-1" => Ok(Self::All),
            word if word.eq_ignore_ascii_case("all") => Ok(Self::All),
            word => word.parse().map(Self::Count).map_err(|_| FanoutError(text.to_owned())),
        }
    }
}

/// A fan-out that is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fan-out '{0}' is not understood; give a whole number, 0 or more, or 'all' (-1) for every neighbour")]
pub struct FanoutError(String);

/// One mini-batch to sample, as the table of inputs in `golden/CONTRACT.md` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The user's seed: the first 8 bytes of the `ChaCha8` key, little-endian; the other 24 are zero.
    pub seed: u64,
    /// Number of the mini-batch since the start of the run: the `ChaCha8` stream.
    pub minibatch: u64,
    /// The seed nodes, distinct, in the order in which they open `samples`.
    pub seeds: Vec<NodeId>,
    /// Fan-out of each hop, nearest the seeds first.
    pub fanouts: Vec<Fanout>,
}

/// What an implementation can take; a request beyond it is refused, with the limit and who set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Who sets them, as it reads in an error: "the golden model".
    pub owner: &'static str,
    /// Most seed nodes in a mini-batch.
    pub seeds: usize,
    /// Most hops.
    pub hops: usize,
    /// Largest fan-out that is a count; `All` is always within it.
    pub fanout: u32,
}

/// Most elements that each output buffer can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Elements of `samples`.
    pub nodes: usize,
    /// Elements of each of `rows`, `cols` and `edges`.
    pub edges: usize,
}

impl Capacity {
    /// More than any sub-graph can need.
    pub const UNBOUNDED: Self = Self { nodes: usize::MAX, edges: usize::MAX };

    /// Elements of one of the buffers.
    pub fn len_of(&self, buffer: Buffer) -> usize {
        if buffer == Buffer::Samples { self.nodes } else { self.edges }
    }

    /// The worst case of a request on a graph: every node draws its whole fan-out, and every neighbour is new (nodes never
    /// exceed N). With an ALL among the fan-outs, edges are bounded by E times the number of hops and at the most E, since
    /// a node is expanded once.
    pub fn worst_case(graph: &CscGraph, seeds: usize, fanouts: &[Fanout]) -> Self {
        let (mut frontier, mut nodes, mut edges) = (seeds, seeds, 0usize);
        for fanout in fanouts {
            let drawn = match fanout {
                Fanout::Count(count) => frontier.saturating_mul(*count as usize),
                Fanout::All => graph.edges(),
            };
            edges = edges.saturating_add(drawn);
            nodes = nodes.saturating_add(drawn);
            frontier = drawn.min(graph.nodes());
        }
        Self { nodes: nodes.min(graph.nodes().max(seeds)), edges: edges.min(graph.edges()) }
    }
}

/// Why a request is refused before anything is sampled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No hop at all.
    #[error("the request has no fan-out; give one for each hop, for example 10,10,10")]
    NoHops,
    /// Beyond [`Limits::hops`].
    #[error("{found} hops are asked for; {owner} takes at most {limit}")]
    Hops {
        /// Hops asked for.
        found: usize,
        /// Most that are possible.
        limit: usize,
        /// Who sets the limit.
        owner: &'static str,
    },
    /// Beyond [`Limits::fanout`].
    #[error("fan-out {found} of hop {hop} is too large; {owner} takes 0 to {limit}, or 'all'")]
    Fanout {
        /// The fan-out asked for.
        found: u32,
        /// The hop, counted from 1.
        hop: usize,
        /// Largest that is possible.
        limit: u32,
        /// Who sets the limit.
        owner: &'static str,
    },
    /// Beyond [`Limits::seeds`].
    #[error("{found} seed nodes are given; {owner} takes at most {limit}")]
    Seeds {
        /// Seed nodes given.
        found: usize,
        /// Most that are possible.
        limit: usize,
        /// Who sets the limit.
        owner: &'static str,
    },
    /// A seed node that is not in the graph.
    #[error("seed node {node} (at position {position}) is not in the graph; its nodes are 0..{nodes}")]
    SeedOutOfRange {
        /// The id given.
        node: NodeId,
        /// Its place in the list.
        position: usize,
        /// Number of nodes of the graph.
        nodes: usize,
    },
    /// A seed node given twice.
    #[error("seed node {node} is given twice (at positions {first} and {second}); seed nodes must be distinct")]
    DuplicateSeed {
        /// The id given twice.
        node: NodeId,
        /// Its first place in the list.
        first: usize,
        /// Its second place in the list.
        second: usize,
    },
}

impl Request {
    /// Checks the request against a graph and the limits of who is to sample it.
    ///
    /// # Errors
    /// The first rule that is broken, with the value found and what would be accepted.
    pub fn check(&self, graph: &CscGraph, limits: &Limits) -> Result<(), RequestError> {
        let owner = limits.owner;
        if self.fanouts.is_empty() {
            return Err(RequestError::NoHops);
        }
        if self.fanouts.len() > limits.hops {
            return Err(RequestError::Hops { found: self.fanouts.len(), limit: limits.hops, owner });
        }
        for (hop, fanout) in (1..).zip(&self.fanouts) {
            match *fanout {
                Fanout::Count(found) if found > limits.fanout => {
                    return Err(RequestError::Fanout { found, hop, limit: limits.fanout, owner });
                }
                Fanout::Count(_) | Fanout::All => {}
            }
        }
        if self.seeds.len() > limits.seeds {
            return Err(RequestError::Seeds { found: self.seeds.len(), limit: limits.seeds, owner });
        }
        let nodes = graph.nodes();
        if let Some(position) = self.seeds.iter().position(|s| s.index() >= nodes) {
            return Err(RequestError::SeedOutOfRange { node: self.seeds[position], position, nodes });
        }
        let mut by_id: Vec<_> = self.seeds.iter().copied().zip(0..).collect();
        by_id.sort_unstable();
        match by_id.windows(2).filter(|w| w[0].0 == w[1].0).min_by_key(|w| w[1].1) {
            Some(w) => Err(RequestError::DuplicateSeed { node: w[0].0, first: w[0].1, second: w[1].1 }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { owner: "the test", seeds: 3, hops: 2, fanout: 32 };

    fn request(seeds: &[u32], fanouts: &[Fanout]) -> Request {
        let seeds = seeds.iter().copied().map(NodeId::new).collect();
        Request { seed: 0, minibatch: 0, seeds, fanouts: fanouts.to_vec() }
    }

    fn graph() -> CscGraph {
        CscGraph::new(vec![0; 11], vec![]).unwrap()
    }

    #[test]
    fn fanouts_are_read() {
        assert_eq!("7".parse(), Ok(Fanout::Count(7)));
        assert_eq!("-1".parse(), Ok(Fanout::All));
        assert_eq!("ALL".parse(), Ok(Fanout::All));
        for bad in ["-2", "", "x", "1.5", "4294967296"] {
            assert!(bad.parse::<Fanout>().unwrap_err().to_string().contains("whole number"), "{bad}");
        }
    }

    #[test]
    fn limits_name_their_owner() {
        let two = [Fanout::Count(32), Fanout::All];
        assert_eq!(request(&[9, 0, 4], &two).check(&graph(), &LIMITS), Ok(()));
        let cases = [
            (request(&[], &[]), "the request has no fan-out; give one for each hop, for example 10,10,10"),
            (request(&[], &[Fanout::All; 3]), "3 hops are asked for; the test takes at most 2"),
            (
                request(&[], &[Fanout::All, Fanout::Count(33)]),
                "fan-out 33 of hop 2 is too large; the test takes 0 to 32, or 'all'",
            ),
            (request(&[0, 1, 2, 3], &two), "4 seed nodes are given; the test takes at most 3"),
            (request(&[0, 10], &two), "seed node 10 (at position 1) is not in the graph; its nodes are 0..10"),
            (
                request(&[5, 1, 5], &two),
                "seed node 5 is given twice (at positions 0 and 2); seed nodes must be distinct",
            ),
        ];
        for (request, sentence) in cases {
            assert_eq!(request.check(&graph(), &LIMITS).unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a graph of four million edges")]
    fn worst_cases_of_the_contract() {
        let counts = |f: &[u32]| f.iter().copied().map(Fanout::Count).collect::<Vec<_>>();
        let large = CscGraph::new(
            (0..=2_000_000).map(|v| v * 2).collect(),
            (0..4_000_000).map(|e| NodeId::new(e / 2)).collect(),
        )
        .unwrap();
        let worst = |f: &[u32]| Capacity::worst_case(&large, 1024, &counts(f));
        assert_eq!(worst(&[25, 10]), Capacity { edges: 281_600, nodes: 282_624 });
        assert_eq!(worst(&[15, 10, 5]), Capacity { edges: 936_960, nodes: 937_984 });
        assert_eq!(worst(&[10, 10, 10]), Capacity { edges: 1_136_640, nodes: 1_137_664 });
    }
}
