//! How many cycles a run takes in the RTL, predicted: for each item that goes through the kernel, the cycle in which each stage
//! hands it on.
//!
//! A stage hands an item on when it has it, when it has handed on the item before, and when the queue behind it has room; so
//! each cycle is the largest of some earlier ones plus what the stage takes (a max-plus system). Items keep their order from end
//! to end, so one pass over nodes and edges is enough, whatever waits for whatever. Nothing here is fitted: depths and
//! latencies are those of `hw/rtl` (the module is named at each), the memory's figures those of its profile.
//!
//! The items follow from graph, request and sub-graph. How many edges a node has drawn, and whether by drawing, follows from its
//! degree and the fan-out. The source of an edge is new where its row is the next local id. How far the RTL's hash table has to
//! look for a node does not stand in the sub-graph: it depends on the nodes that were entered before, so the table is filled
//! again in that order ([`Rows`]).
//!
//! What is left out: a word that Lemire's draw may refuse (once in 2^32 / degree draws some hundred cycles), the exact jitter of
//! the memory (another of the same size is drawn here), and that the sampler's four registers move together. What the RTL
//! refuses, such as fan-outs above 32, has no meaningful number of cycles; nor has a run that ends early.

mod ports;
mod stages;

use std::ops::Range;

use golden::{CscGraph, EdgePos, Fanout, NodeId, Request, SubGraph};
use hw::card::{HEAD_NODES, LINE_BYTES, LINE_ELEMENTS, OffsetRecord};

use super::{TimingOptions, hops::hops};
use crate::worker::Cancel;
use ports::{Cycle, Packer, Places, Writes};
use stages::{Dedup, END, Frontier, Lines, NONE, Node, Offsets, Planned, Rows, Sampler};

/// Items in the queue between two stages (`StageQueue` in `sampler_core.sv`).
const STAGE_QUEUE: usize = 4;

/// Bursts of outputs that may wait for their answers (`OutWindow` in `sampler_core.sv`).
const OUT_WINDOW: usize = 32;

/// Nodes whose offset records lie in one line.
const RECORDS: u32 = (LINE_BYTES / size_of::<OffsetRecord>()) as u32;

/// An edge; or a seed, with no line.
#[derive(Clone, Copy, Debug)]
struct Edge {
    line: u32,
    probes: u8,
    is_new: bool,
}

/// Predicts the cycles of a kernel's runs.
#[derive(Clone, Debug)]
pub(in crate::model) struct Clock {
    options: TimingOptions,
    channels: usize,
    rows: Rows,
}

impl Clock {
    /// Of a kernel with `channels` index channels.
    pub(in crate::model) fn new(channels: usize, options: TimingOptions) -> Self {
        Self { options, channels, rows: Rows::new(options.table_log2) }
    }

    /// The cycles of a run that has sampled `sub`; `None` if it is cancelled.
    pub(in crate::model) fn cycles(
        &mut self,
        graph: &CscGraph,
        request: &Request,
        sub: &SubGraph,
        cancel: &Cancel,
    ) -> Option<u64> {
        self.rows.clear();
        let mut pipeline = Pipeline::new(self.channels, self.options);
        let seeds = sub.samples[..request.seeds.len()].iter();
        pipeline.seeds(seeds.map(|&seed| Edge { line: NONE, probes: self.rows.enter(seed), is_new: true }));
        let mut edges = sub.edges.iter().zip(&sub.rows).map(|(&position, &row)| {
            // Local ids are given in the order in which nodes are first seen.
            let is_new = row.index() == self.rows.probes.len();
            let probes = if is_new { self.rows.enter(sub.samples[row.index()]) } else { self.rows.probes[row.index()] };
            Edge { line: line_of(position), probes, is_new }
        });
        for hop in hops(request, &sub.hops) {
            if cancel.is_set() {
                return None;
            }
            let expanded = if hop.fanout == Fanout::Count(0) { &[] } else { &sub.samples[hop.frontier.clone()] };
            pipeline.listing = !hop.is_last;
            pipeline.hop(hop.frontier.start, expanded.iter().map(|&node| item(graph, node, hop.fanout)), &mut edges);
        }
        Some(pipeline.finish())
    }
}

/// A node of the frontier.
fn item(graph: &CscGraph, node: NodeId, fanout: Fanout) -> Node {
    let (_, degree) = graph.extent(node);
    let picks = fanout.of_degree(degree);
    Node { line: node.get() / RECORDS, picks, draws: picks < degree }
}

fn line_of(position: EdgePos) -> u32 {
    position.get() / LINE_ELEMENTS as u32
}

/// The stages (`sampler_core.sv`), and what the sequencer does between the phases.
#[derive(Clone, Debug)]
struct Pipeline {
    /// Sequencer: the cycle of its state `NextHop`.
    next_hop: Cycle,
    frontier: Frontier,
    /// Queues behind the stages.
    behind_frontier: Places,
    offsets: Offsets,
    behind_offsets: Places,
    sampler: Sampler,
    behind_sampler: Places,
    lines: Lines,
    behind_lines: Places,
    dedup: Dedup,
    behind_dedup: Places,
    last_emitted: Cycle,
    samples: Packer,
    /// Rows, cols and edges, which always stand at the same element.
    triples: [Packer; 3],
    list: Packer,
    /// New nodes enter the node list, as in all hops but the last.
    listing: bool,
    out: Writes,
    mem: Writes,
}

impl Pipeline {
    fn new(channels: usize, options: TimingOptions) -> Self {
        let (memory, window) = (options.memory.timing(), options.window as usize);
        let queue = || Places::new(STAGE_QUEUE);
        Self {
            next_hop: 0,
            frontier: Frontier::new(memory),
            behind_frontier: queue(),
            offsets: Offsets::new(memory, window),
            behind_offsets: queue(),
            sampler: Sampler::new(),
            behind_sampler: queue(),
            lines: Lines::new(memory, window, channels),
            behind_lines: queue(),
            dedup: Dedup::new(),
            behind_dedup: queue(),
            last_emitted: 0,
            samples: Packer::default(),
            triples: Default::default(),
            list: Packer::default(),
            listing: true,
            out: Writes::new(memory, OUT_WINDOW, 20),
            mem: Writes::new(memory, 4, 21),
        }
    }

    /// The seeds, straight from memory to the table.
    fn seeds(&mut self, seeds: impl ExactSizeIterator<Item = Edge>) {
        // States WaitTable and Seeds come before; without seeds, WaitTable alone.
        let (mut ended, count) = (0, seeds.len());
        if count > 0 {
            self.frontier.start(1, 0);
            for (index, seed) in seeds.enumerate() {
                let there = self.read_list(index, 0..count) + 1;
                let taken = self.enter_table(there, seed, false);
                self.behind_frontier.enter(taken);
            }
            let there = self.frontier.end(self.behind_frontier.room()) + 1;
            ended = self.end(there, |pipeline, taken| pipeline.behind_frontier.enter(taken));
        }
        self.flush_list(ended + 1);
    }

    /// A hop that expands `nodes`, of which the first is entry `first` of the node list. It takes its edges from `edges`, which
    /// goes on with those of the hops after it. Without nodes, as with fan-out 0, it takes one cycle.
    fn hop(
        &mut self,
        first: usize,
        nodes: impl ExactSizeIterator<Item = Node>,
        edges: &mut impl Iterator<Item = Edge>,
    ) {
        let count = nodes.len();
        if count == 0 {
            self.next_hop += 1;
            return;
        }
        self.frontier.start(self.next_hop + 1, self.mem.idle_from());
        let rest = first + HEAD_NODES.min(count)..first + count;
        for (index, node) in (first..).zip(nodes) {
            let out = if index < rest.start {
                self.frontier.at_hand(self.behind_frontier.room())
            } else {
                self.read_list(index, rest.clone())
            };
            let planned = self.plan(out + 1, node);
            for (number, edge) in (0..node.picks).zip(edges.by_ref()) {
                let out = self.sampler.pick(node, planned, number, self.behind_sampler.room());
                let (taken, out) = self.lines.pass(out + 1, edge.line, self.behind_lines.room());
                self.behind_sampler.enter(taken);
                let taken = self.enter_table(out + 1, edge, true);
                self.behind_lines.enter(taken);
            }
        }
        let out = self.frontier.end(self.behind_frontier.room());
        let planned = self.plan(out + 1, END);
        let out = self.sampler.pick(END, planned, 0, self.behind_sampler.room());
        let (taken, out) = self.lines.pass(out + 1, NONE, self.behind_lines.room());
        self.behind_sampler.enter(taken);
        let ended = self.end(out + 1, |pipeline, taken| pipeline.behind_lines.enter(taken));
        self.flush_list(ended + 1);
    }

    /// Entry `index` of seeds or node list, of this range.
    fn read_list(&mut self, index: usize, range: Range<usize>) -> Cycle {
        let begins = index == range.start || index.is_multiple_of(LINE_ELEMENTS);
        let ends = index + 1 == range.end || (index + 1).is_multiple_of(LINE_ELEMENTS);
        self.frontier.hand_on(begins, ends, self.behind_frontier.room())
    }

    /// Offset fetch, and the sampler's plan.
    fn plan(&mut self, there: Cycle, node: Node) -> Planned {
        let (taken, out) = self.offsets.pass(there, node.line, self.behind_offsets.room());
        self.behind_frontier.enter(taken);
        let planned = self.sampler.plan(out + 1, node);
        self.behind_offsets.enter(planned.at);
        planned
    }

    /// Table, emitter and packers; gives the cycle in which the table takes it.
    fn enter_table(&mut self, there: Cycle, edge: Edge, in_hop: bool) -> Cycle {
        let (taken, out) = self.dedup.pass(there, edge.probes, self.behind_dedup.room());
        let packers = self.samples.room().max(self.list.room()).max(self.triples[0].room());
        // The three are filled together, and the last of them to leave holds up the next line.
        let packers = packers.max(self.triples[1].room()).max(self.triples[2].room());
        let emitted = (out + 1).max(self.last_emitted + 1).max(packers);
        self.behind_dedup.enter(emitted);
        self.last_emitted = emitted;
        if edge.is_new {
            self.samples.push(emitted, &mut self.out);
            if self.listing {
                self.list.push(emitted, &mut self.mem);
            }
        }
        if in_hop {
            for packer in &mut self.triples {
                packer.push(emitted, &mut self.out);
            }
        }
        taken
    }

    /// An End goes through the table; gives the cycle in which the emitter sees it.
    fn end(&mut self, there: Cycle, taken_from: impl FnOnce(&mut Self, Cycle)) -> Cycle {
        let (taken, out) = self.dedup.pass(there, 0, self.behind_dedup.room());
        taken_from(self, taken);
        self.last_emitted = (out + 1).max(self.last_emitted + 1);
        self.behind_dedup.enter(self.last_emitted);
        self.last_emitted
    }

    /// The sequencer's state `FlushList`, entered in cycle `now`.
    fn flush_list(&mut self, now: Cycle) {
        self.next_hop = self.list.flush(now, &mut self.mem) + 1;
    }

    /// The sequencer's state `FlushOutputs`, after the last hop; gives the cycles of the run.
    fn finish(&mut self) -> u64 {
        let now = self.next_hop + 1;
        self.samples.flush(now, &mut self.out);
        for packer in &mut self.triples {
            packer.flush(now, &mut self.out);
        }
        now.max(self.out.idle_from()).max(self.mem.idle_from()) + 1
    }
}
