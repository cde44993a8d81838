//! The first difference between what a device wrote and the reference.

use std::fmt;

use golden::{Buffer, HopCounts, SubGraph};
use serde::Serialize;

use crate::pipeline::POISON;

/// Where a device first differs from the reference, in the order in which the contract emits, and the values there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Difference {
    /// An element of a buffer.
    Element {
        /// The buffer's name: samples, rows, cols or edges.
        buffer: &'static str,
        /// The element.
        index: usize,
        /// What the device wrote; [`POISON`] if nothing.
        found: i32,
        /// What the reference has there.
        expected: i32,
        /// What it looks like.
        suspicion: Suspicion,
        /// The hop that emits it, 0 for the seeds.
        hop: usize,
        /// Local id of the node that is being expanded there; of a seed its own.
        local: u32,
        /// Its global id.
        global: u32,
    },
    /// The number of nodes or edges of a hop. All elements that both have are equal.
    Count {
        /// "nodes" or "edges".
        what: &'static str,
        /// The hop, 0 for the seeds.
        hop: usize,
        /// What the device reported.
        found: u32,
        /// What the reference has.
        expected: u32,
    },
}

/// What a wrong element looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Suspicion {
    /// It is [`POISON`].
    NeverWritten,
    /// It is what the slot held before.
    Stale {
        /// The iteration that the slot held.
        iteration: u64,
    },
    /// It is right but for one bit.
    OneBit {
        /// The bit, 0 for the lowest.
        bit: u32,
    },
    /// None of these.
    Unknown,
}

/// An element that differs: index and what was found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) buffer: Buffer,
    pub(super) index: usize,
    pub(super) found: i32,
}

/// The difference that is emitted first, of the first in each buffer. `before` is the iteration that the slot held before
/// this one, and its sub-graph.
pub(super) fn first(expected: &SubGraph, wrong: &[Wrong], before: Option<(u64, &SubGraph)>) -> Option<Difference> {
    let first = wrong.iter().min_by_key(|wrong| emitted(expected, wrong.buffer, wrong.index))?;
    Some(element(expected, *first, before))
}

/// When an element is emitted: with which edge (seeds with none), and before which of the same edge.
fn emitted(expected: &SubGraph, buffer: Buffer, index: usize) -> (Option<usize>, usize) {
    let edge = match buffer {
        Buffer::Samples => expected.rows.iter().position(|row| row.index() == index),
        Buffer::Rows | Buffer::Cols | Buffer::Edges => Some(index),
    };
    // A seed that an edge comes back to was there before.
    let edge = edge.filter(|_| expected.hops.hop_of(buffer, index) != Some(0));
    let order = if buffer == Buffer::Samples && edge.is_none() { index } else { buffer as usize };
    (edge, order)
}

fn element(expected: &SubGraph, wrong: Wrong, before: Option<(u64, &SubGraph)>) -> Difference {
    let Wrong { buffer, index, found } = wrong;
    let local = match emitted(expected, buffer, index).0 {
        Some(edge) => expected.cols[edge].index(),
        None => index,
    };
    let right = expected.buffer(buffer)[index];
    let suspicion = match before {
        _ if found == POISON => Suspicion::NeverWritten,
        Some((iteration, old)) if old.buffer(buffer).get(index) == Some(&found) => Suspicion::Stale { iteration },
        _ if (found ^ right).count_ones() == 1 => Suspicion::OneBit { bit: (found ^ right).trailing_zeros() },
        _ => Suspicion::Unknown,
    };
    Difference::Element {
        buffer: buffer.name(),
        index,
        found,
        expected: right,
        suspicion,
        hop: expected.hops.hop_of(buffer, index).unwrap_or_default(),
        local: local as u32,
        global: expected.samples[local].get(),
    }
}

/// The first hop whose number of edges or nodes differs.
pub(super) fn counts(expected: &SubGraph, found: &HopCounts) -> Option<Difference> {
    let hops = expected.hops.nodes.len().max(found.nodes.len()).max(found.edges.len() + 1);
    let at = |counts: &[u32], i: Option<usize>| i.and_then(|i| counts.get(i)).copied().unwrap_or(0);
    (0..hops).find_map(|hop| {
        [
            ("edges", &found.edges, &expected.hops.edges, hop.checked_sub(1)),
            ("nodes", &found.nodes, &expected.hops.nodes, Some(hop)),
        ]
        .into_iter()
        .map(|(what, found, expected, i)| (what, at(found, i), at(expected, i)))
        .find(|(_, found, expected)| found != expected)
        .map(|(what, found, expected)| Difference::Count { what, hop, found, expected })
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Element { buffer, index, found, expected, suspicion, hop, local, global } => {
                write!(f, "{buffer}[{index}] is {found}{suspicion}, but {expected} in the reference (hop {hop}, ")?;
                let what = if hop == 0 { "seed at" } else { "expanding" };
                write!(f, "{what} local node {local}, which is node {global})")
            }
            Self::Count { what, hop, found, expected } => {
                write!(f, "hop {hop} has {found} {what}, but {expected} in the reference")
            }
        }
    }
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverWritten => f.write_str(" (never written)"),
            Self::Stale { iteration } => write!(f, " (stale: iteration {iteration} has left it there)"),
            Self::OneBit { bit } => write!(f, " (one bit is wrong: bit {bit})"),
            Self::Unknown => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden::{Capacity, CscGraph, Fanout, NodeId, Request};

    /// The undirected 6-cycle, seeds 2 and 3, everything in two hops: 6 nodes, 8 edges.
    fn cycle() -> SubGraph {
        let indices = (0..6).flat_map(|v| [(v + 5) % 6, (v + 1) % 6]).map(NodeId::new).collect();
        let graph = CscGraph::new((0..=6).map(|v| v * 2).collect(), indices).unwrap();
        let seeds = [2, 3].map(NodeId::new).to_vec();
        let request = Request { seed: 0, minibatch: 0, seeds, fanouts: vec![Fanout::All; 2] };
        golden::sample(&graph, &request, Capacity::UNBOUNDED).unwrap()
    }

    fn wrong(buffer: Buffer, index: usize, found: i32) -> Wrong {
        Wrong { buffer, index, found }
    }

    #[test]
    fn nothing_wrong_is_no_difference() {
        let sub = cycle();
        assert_eq!(first(&sub, &[], None), None);
        assert_eq!(counts(&sub, &sub.hops), None);
    }

    #[test]
    fn every_element_of_every_buffer_is_named() {
        let sub = cycle();
        assert_eq!((&sub.hops.nodes[..], &sub.hops.edges[..]), (&[2, 2, 2][..], &[4, 4][..]));
        for planted in Buffer::ALL {
            for place in 0..sub.buffer(planted).len() {
                let edge = match planted {
                    Buffer::Samples => sub.rows.iter().position(|row| row.index() == place).filter(|_| place >= 2),
                    _ => Some(place),
                };
                let cause = edge.map_or(place, |edge| sub.cols[edge].index());
                let expected = Difference::Element {
                    buffer: planted.name(),
                    index: place,
                    found: 77,
                    expected: sub.buffer(planted)[place],
                    suspicion: Suspicion::Unknown,
                    hop: sub.hops.hop_of(planted, place).unwrap(),
                    local: cause as u32,
                    global: sub.samples[cause].get(),
                };
                assert_eq!(first(&sub, &[wrong(planted, place, 77)], None), Some(expected));
            }
        }
    }

    #[test]
    fn the_first_in_the_order_of_emission_is_reported() {
        let sub = cycle();
        let first_buffer = |planted: &[(Buffer, usize)]| {
            let all: Vec<_> = planted.iter().map(|&(buffer, index)| wrong(buffer, index, 50)).collect();
            match first(&sub, &all, None) {
                Some(Difference::Element { buffer, index, .. }) => (buffer, index),
                other => panic!("{other:?}"),
            }
        };
        // samples[4] comes with the first edge of hop 2, which is edge 4.
        assert_eq!(sub.rows[4].index(), 4);
        assert_eq!(first_buffer(&[(Buffer::Samples, 4), (Buffer::Edges, 3)]), ("edges", 3));
        assert_eq!(first_buffer(&[(Buffer::Samples, 4), (Buffer::Rows, 4)]), ("samples", 4));
        assert_eq!(first_buffer(&[(Buffer::Cols, 2), (Buffer::Rows, 2), (Buffer::Edges, 2)]), ("rows", 2));
        assert_eq!(first_buffer(&[(Buffer::Samples, 0), (Buffer::Rows, 0)]), ("samples", 0));
        assert_eq!(first_buffer(&[(Buffer::Samples, 1), (Buffer::Rows, 0)]), ("samples", 1));
    }

    #[test]
    fn every_count_is_compared() {
        let sub = cycle();
        let check = |change: fn(&mut HopCounts), expected| {
            let mut hops = sub.hops.clone();
            change(&mut hops);
            assert_eq!(counts(&sub, &hops), Some(expected));
        };
        let count = |what, hop, found, expected| Difference::Count { what, hop, found, expected };
        check(|hops| hops.nodes[0] = 1, count("nodes", 0, 1, 2));
        check(|hops| hops.nodes[2] = 3, count("nodes", 2, 3, 2));
        check(|hops| hops.edges[0] = 5, count("edges", 1, 5, 4));
        check(|hops| hops.edges[1] = 0, count("edges", 2, 0, 4));
        check(|hops| hops.edges.push(1), count("edges", 3, 1, 0));
        check(|hops| hops.nodes = vec![2, 2], count("nodes", 2, 0, 2));
    }

    #[test]
    fn what_a_wrong_element_looks_like_is_said() {
        let sub = cycle();
        let mut old = cycle();
        old.edges[5] = golden::EdgePos::new(9);
        let right = sub.buffer(Buffer::Edges)[5];
        let said = |found: i32| first(&sub, &[wrong(Buffer::Edges, 5, found)], Some((3, &old))).unwrap().to_string();
        assert!(said(POISON).starts_with("edges[5] is -1 (never written), but "));
        assert!(said(9).starts_with("edges[5] is 9 (stale: iteration 3 has left it there), but "));
        assert!(said(right ^ 1 << 20).contains(" (one bit is wrong: bit 20), but "));
        assert!(said(1_000_000).starts_with("edges[5] is 1000000, but "));
        assert_eq!(
            first(&sub, &[wrong(Buffer::Rows, 5, POISON)], None).unwrap().to_string(),
            "rows[5] is -1 (never written), but 0 in the reference (hop 2, expanding local node 2, which is node 1)"
        );
    }
}
