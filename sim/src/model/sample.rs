//! The sampling loop: the function of the sampling contract, and nothing beside it.
//!
//! Its stages take turns on some nodes or edges at a time, so that their reads, which are at random places, do not wait for
//! one another. What a run costs a card follows from its result, and is worked out afterwards (modules `traffic` and `timing`).

use std::ops::Range;

use golden::{Capacity, CscGraph, EdgePos, Fanout, LocalId, NodeId, Overflow, Request, Resource, SubGraph};

use super::{
    chacha::{Blocks, ChaCha8, LANES},
    dedup::{Dedup, Place},
    draw::{NodeWords, Picker, first_block},
};
use crate::worker::Cancel;

/// Frontier nodes whose offsets are fetched together.
const NODES: usize = 64;
/// Drawn edges whose sources are fetched and looked up together: few enough for the caches, enough to overlap their reads.
const EDGES: usize = 512;

/// The memory of the sampling loop. It grows to what the largest mini-batch needs, and is used again for the next.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What has been sampled. While a hop is under way `cols` and `edges` may have up to [`EDGES`] elements more than `rows`:
    /// edges that are drawn, and whose sources have not been looked up yet.
    sub: SubGraph,
    dedup: Dedup,
    picker: Picker,
    /// What was picked for one node.
    picks: Vec<u32>,
    /// Sources of the edges that are being looked up.
    sources: Vec<NodeId>,
}

/// Why [`sample`] ends without a sub-graph.
#[derive(Debug)]
pub enum Stop<'s> {
    /// A capacity ran out.
    Overflow {
        /// What ran out, and where.
        overflow: Overflow,
        /// What was emitted before it.
        emitted: &'s SubGraph,
    },
    /// The run was cancelled.
    Cancelled,
}

/// Why a run ends early.
enum End {
    Overflow(Overflow),
    Cancelled,
}

/// Samples one mini-batch into `scratch`, which keeps it until the next one. Nothing in `scratch` changes a result, whatever it
/// was used for before, and however that ended. `request` has passed [`Request::check`] for this graph.
///
/// # Errors
/// [`Stop::Overflow`] at the first seed or edge that does not fit into `capacity`; [`Stop::Cancelled`] soon after `cancel` was
/// set.
///
/// # Panics
/// If a seed node is not in the graph.
pub fn sample<'s>(
    graph: &CscGraph,
    request: &Request,
    capacity: Capacity,
    cancel: &Cancel,
    scratch: &'s mut Scratch,
) -> Result<&'s SubGraph, Stop<'s>> {
    scratch.begin(request.fanouts.len());
    let chacha = ChaCha8::new(request.seed, request.minibatch);
    let end = Run { graph, capacity, cancel, chacha, hop: 0, scratch }.run(request);
    match end {
        Ok(()) => Ok(&scratch.sub),
        Err(End::Overflow(overflow)) => Err(Stop::Overflow { overflow, emitted: &scratch.sub }),
        Err(End::Cancelled) => Err(Stop::Cancelled),
    }
}

impl Scratch {
    /// Forgets the last mini-batch.
    fn begin(&mut self, hops: usize) {
        let SubGraph { samples, rows, cols, edges, hops: counts } = &mut self.sub;
        samples.clear();
        rows.clear();
        cols.clear();
        edges.clear();
        for (counts, len) in [(&mut counts.nodes, hops + 1), (&mut counts.edges, hops)] {
            counts.clear();
            counts.resize(len, 0);
        }
        self.dedup.begin();
    }
}

/// One mini-batch that is being sampled.
struct Run<'a> {
    graph: &'a CscGraph,
    capacity: Capacity,
    cancel: &'a Cancel,
    chacha: ChaCha8,
    /// The hop that is being sampled; 0 for the seeds.
    hop: usize,
    scratch: &'a mut Scratch,
}

impl Run<'_> {
    fn run(mut self, request: &Request) -> Result<(), End> {
        let entered = self.enter_seeds(&request.seeds);
        self.scratch.sub.hops.nodes[0] = self.scratch.sub.samples.len() as u32;
        entered?;
        let mut frontier = 0..self.scratch.sub.samples.len();
        for &fanout in &request.fanouts {
            self.hop += 1;
            let edges = self.scratch.sub.rows.len();
            let expanded = self.expand(frontier.clone(), fanout);
            let SubGraph { samples, rows, hops, .. } = &mut self.scratch.sub;
            hops.nodes[self.hop] = (samples.len() - frontier.end) as u32;
            hops.edges[self.hop - 1] = (rows.len() - edges) as u32;
            expanded?;
            frontier = frontier.end..samples.len();
        }
        Ok(())
    }

    fn enter_seeds(&mut self, seeds: &[NodeId]) -> Result<(), End> {
        let Scratch { sub: SubGraph { samples, .. }, dedup, .. } = &mut *self.scratch;
        let fit = seeds.len().min(self.capacity.nodes);
        dedup.reserve(fit, samples);
        for &seed in &seeds[..fit] {
            if let Place::Free(slot) = dedup.find(seed) {
                dedup.insert(slot, seed);
            }
            samples.push(seed);
        }
        if fit < seeds.len() { Err(self.out_of(Resource::Nodes, LocalId::from_index(fit))) } else { Ok(()) }
    }

    /// One hop.
    fn expand(&mut self, frontier: Range<usize>, fanout: Fanout) -> Result<(), End> {
        if fanout == Fanout::Count(0) {
            return Ok(());
        }
        let mut first = frontier.start;
        while first < frontier.end {
            let end = frontier.end.min(first + NODES);
            self.draw(first..end, fanout)?;
            first = end;
        }
        self.look_up()
    }

    /// Draws the edges of at most [`NODES`] nodes of the frontier.
    fn draw(&mut self, frontier: Range<usize>, fanout: Fanout) -> Result<(), End> {
        let mut extents = [(0, 0); NODES];
        for (extent, &node) in extents.iter_mut().zip(&self.scratch.sub.samples[frontier.clone()]) {
            let (start, degree) = self.graph.extent(node);
            *extent = (start.get(), degree);
        }
        // Words are made for LANES nodes at a time, of those that need any.
        let needs_words = |&(_, &(_, degree)): &(u32, &(u32, u32))| fanout.of_degree(degree) < degree;
        let nodes = || (frontier.start as u32..frontier.end as u32).zip(&extents);
        let mut unmade = nodes().filter(needs_words).map(|(v, _)| first_block(v));
        let mut words: Blocks = [[0; LANES]; 16];
        let mut lane = LANES;

        let mut picks = std::mem::take(&mut self.scratch.picks);
        for (v, &(start, degree)) in nodes() {
            let count = fanout.of_degree(degree);
            if count == degree {
                self.push(LocalId::new(v), start..start + degree)?;
                continue;
            }
            if lane == LANES {
                words = self.chacha.blocks(std::array::from_fn(|_| unmade.next().unwrap_or_default()));
                lane = 0;
            }
            picks.clear();
            let mut words = NodeWords::new(&self.chacha, v, &words, lane);
            self.scratch.picker.pick(degree, count, &mut words, &mut picks);
            self.push(LocalId::new(v), picks.iter().map(|pick| start + pick))?;
            lane += 1;
        }
        self.scratch.picks = picks;
        Ok(())
    }

    /// Enters the edges of `v` at these positions as drawn, and looks their sources up whenever there are [`EDGES`] of them.
    fn push(&mut self, v: LocalId, mut positions: impl ExactSizeIterator<Item = u32>) -> Result<(), End> {
        while positions.len() > 0 {
            let SubGraph { rows, cols, edges, .. } = &mut self.scratch.sub;
            let count = positions.len().min(EDGES - (edges.len() - rows.len()));
            cols.extend(std::iter::repeat_n(v, count));
            edges.extend(positions.by_ref().take(count).map(EdgePos::new));
            if edges.len() - rows.len() == EDGES {
                self.look_up()?;
            }
        }
        Ok(())
    }

    /// Fetches the sources of the edges that have been drawn, and gives each its local id. An edge that does not fit is taken
    /// back, and those after it.
    fn look_up(&mut self) -> Result<(), End> {
        if self.cancel.is_set() {
            return Err(End::Cancelled);
        }
        let Scratch { sub: SubGraph { samples, rows, cols, edges, .. }, dedup, sources, .. } = &mut *self.scratch;
        sources.clear();
        sources.extend(edges[rows.len()..].iter().map(|&position| self.graph.source(position)));
        dedup.reserve(sources.len(), samples);
        dedup.warm(sources);
        let mut full = None;
        for &u in &*sources {
            let place = dedup.find(u);
            if samples.len() == self.capacity.nodes && matches!(place, Place::Free(_)) {
                full = Some(Resource::Nodes);
                break;
            }
            if rows.len() == self.capacity.edges {
                full = Some(Resource::Edges);
                break;
            }
            rows.push(match place {
                Place::Known(local) => local,
                Place::Free(slot) => {
                    samples.push(u);
                    dedup.insert(slot, u)
                }
            });
        }
        let Some(resource) = full else { return Ok(()) };
        let v = cols[rows.len()];
        cols.truncate(rows.len());
        edges.truncate(rows.len());
        Err(self.out_of(resource, v))
    }

    fn out_of(&self, resource: Resource, node: LocalId) -> End {
        let Capacity { nodes, edges } = self.capacity;
        let capacity = if resource == Resource::Nodes { nodes } else { edges };
        End::Overflow(Overflow { resource, capacity, hop: self.hop, node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minibatch_like_the_one_before_needs_no_more_memory() {
        let graph = CscGraph::new(
            (0..=2000).map(|v| 40 * v).collect(),
            (0..80_000).map(|e| NodeId::new(e * 7919 % 2000)).collect(),
        )
        .unwrap();
        let request = |fanouts: &[Fanout]| Request {
            seed: 1,
            minibatch: 7,
            seeds: (0..64).map(NodeId::new).collect(),
            fanouts: fanouts.to_vec(),
        };
        let mut scratch = Scratch::default();
        let mut memory = |request: &Request| {
            let sub = sample(&graph, request, Capacity::UNBOUNDED, &Cancel::default(), &mut scratch).unwrap();
            let buffers =
                [sub.samples.as_ptr().cast(), sub.rows.as_ptr(), sub.cols.as_ptr(), sub.edges.as_ptr().cast()];
            (buffers, scratch.picks.as_ptr(), scratch.sources.as_ptr())
        };
        let large = memory(&request(&[Fanout::Count(10), Fanout::Count(33), Fanout::All]));
        assert_eq!(memory(&request(&[Fanout::Count(3)])), large);
        assert_eq!(memory(&request(&[Fanout::Count(10), Fanout::Count(33), Fanout::All])), large);
    }
}
