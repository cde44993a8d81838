//! The hops of a finished run, which what it costs a card is worked out from.

use std::ops::Range;

use golden::{Fanout, HopCounts, Request};

/// One hop of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) fanout: Fanout,
    /// The nodes that were expanded, as a range of `samples`. It is there with fan-out 0, too.
    pub(super) frontier: Range<usize>,
    /// The edges that were drawn.
    pub(super) edges: Range<usize>,
    /// The nodes that were first seen, as a range of `samples`.
    pub(super) new: Range<usize>,
    /// No other hop follows.
    pub(super) is_last: bool,
}

/// The hops of a run that has ended without an error, in order.
pub(super) fn hops<'a>(request: &'a Request, counts: &'a HopCounts) -> impl Iterator<Item = Hop> + 'a {
    let mut frontier = 0..counts.nodes[0] as usize;
    let mut edges = 0..0;
    request.fanouts.iter().enumerate().map(move |(hop, &fanout)| {
        edges = edges.end..edges.end + counts.edges[hop] as usize;
        let new = frontier.end..frontier.end + counts.nodes[hop + 1] as usize;
        let frontier = std::mem::replace(&mut frontier, new.clone());
        Hop { fanout, frontier, edges: edges.clone(), new, is_last: hop + 1 == request.fanouts.len() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hop_expands_what_the_one_before_has_brought() {
        let fanouts = vec![Fanout::Count(2), Fanout::Count(0), Fanout::All];
        let request = Request { seed: 0, minibatch: 0, seeds: vec![], fanouts };
        let counts = HopCounts { nodes: vec![3, 4, 0, 1], edges: vec![6, 0, 2] };
        let ranges: Vec<_> = hops(&request, &counts).map(|hop| (hop.frontier, hop.edges, hop.new)).collect();
        assert_eq!(ranges, [(0..3, 0..6, 3..7), (3..7, 6..6, 7..7), (7..7, 6..8, 7..8)]);
        assert_eq!(hops(&request, &counts).map(|hop| hop.is_last).collect::<Vec<_>>(), [false, false, true]);
    }
}
