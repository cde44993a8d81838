//! The kernel of one SLR: frontier, offset fetch, sampler, line fetch, dedup and writers.
//!
//! The stages take turns on some nodes or edges at a time, so that their reads, which are at random places, do not wait for
//! one another.

use std::{
    num::NonZeroU64,
    ops::Range,
    thread,
    time::{Duration, Instant},
};

use golden::{Buffer, Capacity, CscGraph, EdgePos, Fanout, HopCounts, LocalId, NodeId, Overflow, Request, Resource};
use hw::{DeviceError, HostMemory, RunReport};

use super::{
    BACKEND, TimingOptions,
    chacha::{Blocks, ChaCha8, LANES},
    dedup::{Dedup, Place},
    draw::{NodeWords, Picker, first_block},
    timing::Clock,
    traffic::Traffic,
};
use crate::{
    card::{Job, Kernel, Outputs},
    worker::Cancel,
};

/// Frontier nodes whose offsets are fetched together.
const NODES: usize = 64;
/// Drawn edges whose sources are fetched and looked up together: few enough for the caches, enough to overlap their reads.
const EDGES: usize = 512;

/// How often a run that only keeps pace looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(5);

/// The memory of a kernel; kept from run to run.
#[derive(Debug)]
pub struct ModelKernel {
    channels: usize,
    /// Global ids by local id. A hop's frontier is a range of it.
    node_list: Vec<NodeId>,
    dedup: Dedup,
    picker: Picker,
    picks: Vec<u32>,
    drawn: Drawn,
    /// What foretells cycles, if that was asked for.
    clock: Option<Clock>,
    /// Hz of the card that it is as slow as.
    pace: Option<NonZeroU64>,
}

/// Edges between sampler and writers.
#[derive(Debug, Default)]
struct Drawn {
    positions: Vec<EdgePos>,
    cols: Vec<LocalId>,
    sources: Vec<NodeId>,
    rows: Vec<LocalId>,
}

impl Drawn {
    fn clear(&mut self) {
        self.positions.clear();
        self.cols.clear();
    }

    fn is_full(&self) -> bool {
        self.positions.len() == EDGES
    }

    /// Takes as many of `positions`, all edges of `col`, as there is room for.
    fn push(&mut self, col: LocalId, positions: &mut impl ExactSizeIterator<Item = u32>) {
        let count = positions.len().min(EDGES - self.positions.len());
        self.cols.extend(std::iter::repeat_n(col, count));
        self.positions.extend(positions.take(count).map(EdgePos::new));
    }
}

/// Why a run ends early.
enum Stop {
    Overflow(Overflow),
    Cancelled,
}

impl ModelKernel {
    /// A kernel with `channels` index channels.
    pub(super) fn new(channels: usize, timing: Option<TimingOptions>) -> Self {
        Self {
            channels,
            node_list: Vec::new(),
            dedup: Dedup::new(),
            picker: Picker::default(),
            picks: Vec::new(),
            drawn: Drawn::default(),
            clock: timing.map(|timing| Clock::new(channels, timing)),
            pace: timing.and_then(|timing| timing.clock),
        }
    }
}

impl Kernel for ModelKernel {
    fn run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        let begin = Instant::now();
        let Job { graph, request, outputs } = job;
        self.node_list.clear();
        self.dedup.begin();
        self.drawn.clear();
        self.clock.iter_mut().for_each(Clock::begin);
        let hops = request.fanouts.len();
        let mut run = Run {
            chacha: ChaCha8::new(request.seed, request.minibatch),
            traffic: Traffic::new(self.channels),
            hops: HopCounts { nodes: vec![0; hops + 1], edges: vec![0; hops] },
            hop: 0,
            edges: 0,
            kernel: self,
            graph,
            outputs,
            cancel,
        };
        match run.sample(request).and_then(|()| run.keep_pace(begin)) {
            Ok(cycles) => Ok(RunReport {
                elapsed: Duration::ZERO,
                cycles,
                ports: run.traffic.ports(),
                stages: Vec::new(),
                hops: run.hops,
            }),
            Err(Stop::Overflow(overflow)) => Err(DeviceError::Overflow { overflow, emitted: run.hops }),
            Err(Stop::Cancelled) => {
                Err(DeviceError::Backend { backend: BACKEND, message: "the run was cancelled".to_owned() })
            }
        }
    }
}

/// One run of a kernel.
struct Run<'a> {
    kernel: &'a mut ModelKernel,
    graph: &'a CscGraph,
    outputs: &'a Outputs,
    cancel: &'a Cancel,
    chacha: ChaCha8,
    traffic: Traffic,
    hops: HopCounts,
    /// The hop that is being sampled; 0 for the seeds.
    hop: usize,
    /// Edges written.
    edges: usize,
}

impl Run<'_> {
    fn sample(&mut self, request: &Request) -> Result<(), Stop> {
        let seeds = self.enter_seeds(&request.seeds);
        self.hops.nodes[0] = self.kernel.node_list.len() as u32;
        seeds?;
        let mut frontier = 0..self.kernel.node_list.len();
        for &fanout in &request.fanouts {
            self.hop += 1;
            let edges = self.edges;
            let expanded = self.expand(frontier.clone(), fanout);
            let new = frontier.end..self.kernel.node_list.len();
            self.hops.nodes[self.hop] = new.len() as u32;
            self.hops.edges[self.hop - 1] = (self.edges - edges) as u32;
            expanded?;
            if let Some(clock) = &mut self.kernel.clock {
                clock.end_hop(frontier.start, self.hop == request.fanouts.len());
            }
            if self.hop < request.fanouts.len() {
                self.traffic.node_list(&new);
            }
            frontier = new;
        }
        self.traffic.outputs(self.kernel.node_list.len(), self.edges);
        Ok(())
    }

    /// The cycles of the run, if they are foretold; waits until they would be over on the card that this one is as slow as.
    fn keep_pace(&mut self, begin: Instant) -> Result<Option<u64>, Stop> {
        let cycles = self.kernel.clock.as_mut().map(Clock::cycles);
        if let (Some(cycles), Some(hz)) = (cycles, self.kernel.pace) {
            let run = Duration::from_secs_f64(cycles as f64 / hz.get() as f64);
            while let Some(left) = run.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
                if self.cancel.is_set() {
                    return Err(Stop::Cancelled);
                }
                thread::sleep(left.min(LOOK));
            }
        }
        Ok(cycles)
    }

    fn enter_seeds(&mut self, seeds: &[NodeId]) -> Result<(), Stop> {
        let ModelKernel { node_list, dedup, clock, .. } = &mut *self.kernel;
        dedup.reserve(seeds.len(), node_list);
        for (index, &seed) in seeds.iter().enumerate() {
            if index == self.outputs.capacity.nodes {
                return Err(self.out_of(Resource::Nodes, LocalId::from_index(index)));
            }
            if let Place::Free(slot) = dedup.find(seed) {
                dedup.insert(slot, seed);
            }
            if let Some(clock) = clock {
                clock.seed(seed);
            }
            node_list.push(seed);
            self.outputs.get(Buffer::Samples).store(index, seed.get().cast_signed());
        }
        if let Some(clock) = clock {
            clock.end_seeds();
        }
        self.traffic.seeds(seeds.len());
        Ok(())
    }

    /// One hop. A fan-out of 0 reads nothing.
    fn expand(&mut self, frontier: Range<usize>, fanout: Fanout) -> Result<(), Stop> {
        if fanout == Fanout::Count(0) {
            return Ok(());
        }
        self.traffic.frontier(&frontier, &self.kernel.node_list);
        let mut first = frontier.start;
        while first < frontier.end {
            let end = frontier.end.min(first + NODES);
            self.draw(first..end, fanout)?;
            first = end;
        }
        self.resolve()
    }

    /// Offset fetch and sampler, for at most [`NODES`] nodes of the frontier.
    fn draw(&mut self, frontier: Range<usize>, fanout: Fanout) -> Result<(), Stop> {
        let mut extents = [(0, 0); NODES];
        for (extent, &node) in extents.iter_mut().zip(&self.kernel.node_list[frontier.clone()]) {
            let (start, degree) = self.graph.extent(node);
            *extent = (start.get(), degree);
        }
        // Words are made for LANES nodes at a time, of those that need any.
        let needs_words = |&(_, &(_, degree)): &(u32, &(u32, u32))| fanout.of_degree(degree) < degree;
        let nodes = || (frontier.start as u32..frontier.end as u32).zip(&extents);
        let mut unmade = nodes().filter(needs_words).map(|(v, _)| first_block(v));
        let mut words: Blocks = [[0; LANES]; 16];
        let mut lane = LANES;

        let mut picks = std::mem::take(&mut self.kernel.picks);
        for (v, &(start, degree)) in nodes() {
            let count = fanout.of_degree(degree);
            if let Some(clock) = &mut self.kernel.clock {
                clock.node(self.kernel.node_list[v as usize], count, count < degree);
            }
            if count == degree {
                self.fetch(LocalId::new(v), start..start + degree)?;
                continue;
            }
            if lane == LANES {
                words = self.chacha.blocks(std::array::from_fn(|_| unmade.next().unwrap_or_default()));
                lane = 0;
            }
            picks.clear();
            let mut words = NodeWords::new(&self.chacha, v, &words, lane);
            self.kernel.picker.pick(degree, count, &mut words, &mut picks);
            self.fetch(LocalId::new(v), picks.iter().map(|pick| start + pick))?;
            lane += 1;
        }
        self.kernel.picks = picks;
        Ok(())
    }

    /// Queues the edges of `v` at these positions for the line fetch; a full queue is resolved.
    fn fetch(&mut self, v: LocalId, mut positions: impl ExactSizeIterator<Item = u32>) -> Result<(), Stop> {
        while positions.len() > 0 {
            self.kernel.drawn.push(v, &mut positions);
            if self.kernel.drawn.is_full() {
                self.resolve()?;
            }
        }
        Ok(())
    }

    /// Line fetch, dedup and writers, for the edges that are queued.
    fn resolve(&mut self) -> Result<(), Stop> {
        if self.cancel.is_set() {
            return Err(Stop::Cancelled);
        }
        let ModelKernel { node_list, dedup, drawn, clock, .. } = &mut *self.kernel;
        let Drawn { positions, cols, sources, rows } = drawn;
        let outputs = self.outputs;

        sources.clear();
        sources.extend(positions.iter().map(|&position| self.graph.source(position)));
        self.traffic.edges(positions);

        dedup.reserve(sources.len(), node_list);
        dedup.warm(sources);
        rows.clear();
        let room = outputs.capacity.edges - self.edges;
        let mut full = None;
        for (&u, &position) in sources.iter().zip(&*positions) {
            let place = dedup.find(u);
            if node_list.len() == outputs.capacity.nodes && matches!(place, Place::Free(_)) {
                full = Some(Resource::Nodes);
                break;
            }
            if rows.len() == room {
                full = Some(Resource::Edges);
                break;
            }
            if let Some(clock) = clock.as_mut() {
                match place {
                    Place::Known(local) => clock.known_edge(position, local.index()),
                    Place::Free(_) => clock.new_edge(position, u),
                }
            }
            rows.push(match place {
                Place::Known(local) => local,
                Place::Free(slot) => {
                    outputs.get(Buffer::Samples).store(node_list.len(), u.get().cast_signed());
                    node_list.push(u);
                    dedup.insert(slot, u)
                }
            });
        }

        let written = rows.len();
        store(outputs.get(Buffer::Rows), self.edges, rows.iter().map(|row| row.get()));
        store(outputs.get(Buffer::Cols), self.edges, cols[..written].iter().map(|col| col.get()));
        store(outputs.get(Buffer::Edges), self.edges, positions[..written].iter().map(|position| position.get()));
        self.edges += written;
        if let Some(resource) = full {
            let v = cols[written];
            return Err(self.out_of(resource, v));
        }
        drawn.clear();
        Ok(())
    }

    fn out_of(&self, resource: Resource, node: LocalId) -> Stop {
        let Capacity { nodes, edges } = self.outputs.capacity;
        let capacity = if resource == Resource::Nodes { nodes } else { edges };
        Stop::Overflow(Overflow { resource, capacity, hop: self.hop, node })
    }
}

/// Writes ids one after the other, the first at `first`.
fn store(memory: &HostMemory, first: usize, ids: impl Iterator<Item = u32>) {
    for (index, id) in (first..).zip(ids) {
        memory.store(index, id.cast_signed());
    }
}
