//! The first difference between what a device wrote and the reference.

use std::fmt;

use golden::{Buffer, HopCounts, SubGraph};
use serde::Serialize;

use super::HostBuffers;

/// What buffers are filled with before a run. No element of a sub-graph is negative.
pub const POISON: i32 = -1;

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
    /// The device reported more elements than the buffers can hold.
    Overlong {
        /// "nodes" or "edges".
        what: &'static str,
        /// What the device reported in all.
        found: usize,
        /// What the buffers can hold.
        capacity: usize,
    },
}

/// Compares a run with the reference; `None` if they are equal, element by element and count by count.
pub fn first_difference(expected: &SubGraph, found: &HopCounts, buffers: &HostBuffers) -> Option<Difference> {
    let capacity = buffers.capacity();
    for (what, found, capacity) in
        [("nodes", found.total_nodes(), capacity.nodes), ("edges", found.total_edges(), capacity.edges)]
    {
        if found > capacity {
            return Some(Difference::Overlong { what, found, capacity });
        }
    }
    let differs = |buffer: Buffer| {
        let memory = buffers.get(buffer);
        let elements = expected.buffer(buffer).iter().take(found.len_of(buffer));
        elements.enumerate().position(|(index, &element)| memory.load(index) != element).map(|index| (buffer, index))
    };
    Buffer::ALL
        .into_iter()
        .filter_map(differs)
        .min_by_key(|&(buffer, index)| emitted(expected, buffer, index))
        .map(|(buffer, index)| element(expected, buffers, buffer, index))
        .or_else(|| counts(expected, found))
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

fn element(expected: &SubGraph, buffers: &HostBuffers, buffer: Buffer, index: usize) -> Difference {
    let local = match emitted(expected, buffer, index).0 {
        Some(edge) => expected.cols[edge].index(),
        None => index,
    };
    Difference::Element {
        buffer: buffer.name(),
        index,
        found: buffers.get(buffer).load(index),
        expected: expected.buffer(buffer)[index],
        hop: expected.hops.hop_of(buffer, index).unwrap_or_default(),
        local: local as u32,
        global: expected.samples[local].get(),
    }
}

fn counts(expected: &SubGraph, found: &HopCounts) -> Option<Difference> {
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
            Self::Element { buffer, index, found, expected, hop, local, global } => {
                let unwritten = if found == POISON { " (never written)" } else { "" };
                write!(f, "{buffer}[{index}] is {found}{unwritten}, but {expected} in the reference (hop {hop}, ")?;
                let what = if hop == 0 { "seed at" } else { "expanding" };
                write!(f, "{what} local node {local}, which is node {global})")
            }
            Self::Count { what, hop, found, expected } => {
                write!(f, "hop {hop} has {found} {what}, but {expected} in the reference")
            }
            Self::Overlong { what, found, capacity } => {
                write!(f, "it reports {found} {what}, more than the {capacity} that it was given room for")
            }
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

    fn written(sub: &SubGraph) -> HostBuffers {
        let buffers = HostBuffers::new(Capacity { nodes: 8, edges: 9 });
        for buffer in Buffer::ALL {
            buffers.get(buffer).fill(POISON);
            for (index, &element) in sub.buffer(buffer).iter().enumerate() {
                buffers.get(buffer).store(index, element);
            }
        }
        buffers
    }

    #[test]
    fn equal_is_equal() {
        let sub = cycle();
        assert_eq!(first_difference(&sub, &sub.hops, &written(&sub)), None);
    }

    #[test]
    fn a_planted_difference_is_found_in_every_element_of_every_buffer() {
        let sub = cycle();
        assert_eq!((&sub.hops.nodes[..], &sub.hops.edges[..]), (&[2, 2, 2][..], &[4, 4][..]));
        for planted in Buffer::ALL {
            for place in 0..sub.buffer(planted).len() {
                let buffers = written(&sub);
                buffers.get(planted).store(place, 77);
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
                    hop: sub.hops.hop_of(planted, place).unwrap(),
                    local: cause as u32,
                    global: sub.samples[cause].get(),
                };
                assert_eq!(first_difference(&sub, &sub.hops, &buffers), Some(expected));
            }
        }
    }

    #[test]
    fn the_first_in_the_order_of_emission_is_reported() {
        let sub = cycle();
        let first_buffer = |planted: &[(Buffer, usize)]| {
            let buffers = written(&sub);
            for &(buffer, index) in planted {
                buffers.get(buffer).store(index, 50);
            }
            match first_difference(&sub, &sub.hops, &buffers) {
                Some(Difference::Element { buffer, index, .. }) => (buffer, index),
                other => panic!("{other:?}"),
            }
        };
        // samples[4] comes with the first edge of hop 2, which is edge 4.
        assert_eq!(sub.rows[4].index(), 4);
        assert_eq!(first_buffer(&[(Buffer::Samples, 4), (Buffer::Edges, 3)]), ("edges", 3));
        assert_eq!(first_buffer(&[(Buffer::Samples, 4), (Buffer::Rows, 4)]), ("samples", 4));
        assert_eq!(first_buffer(&[(Buffer::Cols, 2), (Buffer::Rows, 2), (Buffer::Edges, 2)]), ("rows", 2));
        assert_eq!(first_buffer(&[(Buffer::Samples, 1), (Buffer::Samples, 0), (Buffer::Rows, 0)]), ("samples", 0));
        assert_eq!(first_buffer(&[(Buffer::Samples, 1), (Buffer::Rows, 0)]), ("samples", 1));
    }

    #[test]
    fn every_count_is_compared() {
        let sub = cycle();
        let check = |change: fn(&mut HopCounts), expected| {
            let mut hops = sub.hops.clone();
            change(&mut hops);
            assert_eq!(first_difference(&sub, &hops, &written(&sub)), Some(expected));
        };
        let count = |what, hop, found, expected| Difference::Count { what, hop, found, expected };
        check(|hops| hops.nodes[0] = 1, count("nodes", 0, 1, 2));
        check(|hops| hops.nodes[2] = 3, count("nodes", 2, 3, 2));
        check(|hops| hops.edges[0] = 5, count("edges", 1, 5, 4));
        check(|hops| hops.edges[1] = 0, count("edges", 2, 0, 4));
        check(|hops| hops.edges.push(1), count("edges", 3, 1, 0));
        check(|hops| hops.nodes = vec![2, 2], count("nodes", 2, 0, 2));
        check(|hops| hops.nodes[1] = 5, Difference::Overlong { what: "nodes", found: 9, capacity: 8 });
        check(|hops| hops.edges[1] = 6, Difference::Overlong { what: "edges", found: 10, capacity: 9 });
    }

    #[test]
    fn sentences() {
        let sub = cycle();
        let buffers = written(&sub);
        buffers.get(Buffer::Rows).store(5, POISON);
        assert_eq!(
            first_difference(&sub, &sub.hops, &buffers).unwrap().to_string(),
            "rows[5] is -1 (never written), but 0 in the reference (hop 2, expanding local node 2, which is node 1)"
        );
    }
}
