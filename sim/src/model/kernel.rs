//! The kernel of one SLR: frontier, offset fetch, sampler, line fetch, dedup and writers.
//!
//! The stages take turns on some nodes or edges at a time, so that their reads, which are at random places, do not wait for
//! one another.

use std::{ops::Range, sync::Arc};

use golden::{Buffer, Capacity, CscGraph, EdgePos, Fanout, HopCounts, LocalId, NodeId, Overflow, Request, Resource};
use hw::{DeviceError, HostMemory, MemorySpace, OutputBuffers, OutputMemory, RunReport};

use super::{
    BACKEND,
    chacha::{Blocks, ChaCha8, LANES},
    dedup::{Dedup, Place},
    draw::{NodeWords, Picker, first_block},
    traffic::Traffic,
};
use crate::worker::Cancel;

/// Frontier nodes whose offsets are fetched together.
const NODES: usize = 64;
/// Drawn edges whose sources are fetched together; at least the largest fan-out.
const EDGES: usize = 2048;

/// The bound buffers of a slot.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    samples: Arc<HostMemory>,
    rows: Arc<HostMemory>,
    cols: Arc<HostMemory>,
    edges: Arc<HostMemory>,
    capacity: Capacity,
}

impl Outputs {
    /// # Errors
    /// [`DeviceError::OutputSpace`] if they are not in host memory.
    pub(super) fn new(buffers: &OutputBuffers) -> Result<Self, DeviceError> {
        let host = |buffer| match buffers.get(buffer) {
            OutputMemory::Host(memory) => Ok(Arc::clone(memory)),
            other => {
                let possible = vec![MemorySpace::Host];
                Err(DeviceError::OutputSpace { backend: BACKEND, space: other.space(), possible })
            }
        };
        Ok(Self {
            samples: host(Buffer::Samples)?,
            rows: host(Buffer::Rows)?,
            cols: host(Buffer::Cols)?,
            edges: host(Buffer::Edges)?,
            capacity: buffers.capacity(),
        })
    }
}

/// The memory of a kernel; kept from run to run.
#[derive(Debug)]
pub(super) struct Kernel {
    channels: usize,
    /// Global ids by local id. A hop's frontier is a range of it.
    node_list: Vec<NodeId>,
    dedup: Dedup,
    picker: Picker,
    picks: Vec<u32>,
    drawn: Drawn,
}

/// Edges between sampler and line fetch.
#[derive(Debug, Default)]
struct Drawn {
    positions: Vec<EdgePos>,
    cols: Vec<LocalId>,
    sources: Vec<NodeId>,
}

impl Drawn {
    fn room(&self) -> usize {
        EDGES - self.positions.len()
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.cols.clear();
    }

    fn push(&mut self, col: LocalId, positions: impl ExactSizeIterator<Item = u32>) {
        self.cols.extend(std::iter::repeat_n(col, positions.len()));
        self.positions.extend(positions.map(EdgePos::new));
    }
}

/// Why a run ends early.
enum Stop {
    Overflow(Overflow),
    Cancelled,
}

impl Kernel {
    /// A kernel with `channels` index channels.
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels,
            node_list: Vec::new(),
            dedup: Dedup::new(),
            picker: Picker::default(),
            picks: Vec::new(),
            drawn: Drawn::default(),
        }
    }

    /// Samples a request that was checked.
    ///
    /// # Errors
    /// [`DeviceError::Overflow`], or that the run was cancelled.
    pub(super) fn run(
        &mut self,
        graph: &CscGraph,
        request: &Request,
        outputs: &Outputs,
        cancel: &Cancel,
    ) -> Result<RunReport, DeviceError> {
        self.node_list.clear();
        self.dedup.begin();
        self.drawn.clear();
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
        match run.sample(request) {
            Ok(()) => Ok(RunReport {
                elapsed: std::time::Duration::ZERO,
                cycles: None,
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
    kernel: &'a mut Kernel,
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
            self.traffic.node_list(&new);
            frontier = new;
        }
        self.traffic.outputs(self.kernel.node_list.len(), self.edges);
        Ok(())
    }

    fn enter_seeds(&mut self, seeds: &[NodeId]) -> Result<(), Stop> {
        let Kernel { node_list, dedup, .. } = &mut *self.kernel;
        dedup.reserve(seeds.len(), node_list);
        for (index, &seed) in seeds.iter().enumerate() {
            if index == self.outputs.capacity.nodes {
                return Err(self.out_of(Resource::Nodes, LocalId::from_index(index)));
            }
            if let Place::Free(slot) = dedup.find(seed) {
                dedup.insert(slot, seed);
            }
            node_list.push(seed);
            self.outputs.samples.store(index, seed.get().cast_signed());
        }
        self.traffic.seeds(seeds.len());
        Ok(())
    }

    /// One hop. A fan-out of 0 reads nothing.
    fn expand(&mut self, frontier: Range<usize>, fanout: Fanout) -> Result<(), Stop> {
        if fanout == Fanout::Count(0) {
            return Ok(());
        }
        self.traffic.frontier(&frontier);
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

        for (v, &(start, degree)) in nodes() {
            let count = fanout.of_degree(degree);
            if count == degree {
                self.take_all(LocalId::new(v), start..start + degree)?;
                continue;
            }
            if lane == LANES {
                words = self.chacha.blocks(std::array::from_fn(|_| unmade.next().unwrap_or_default()));
                lane = 0;
            }
            if self.kernel.drawn.room() < count as usize {
                self.resolve()?;
            }
            let Kernel { picker, picks, drawn, .. } = &mut *self.kernel;
            picks.clear();
            picker.pick(degree, count, &mut NodeWords::new(&self.chacha, v, &words, lane), picks);
            drawn.push(LocalId::new(v), picks.iter().map(|pick| start + pick));
            lane += 1;
        }
        Ok(())
    }

    fn take_all(&mut self, v: LocalId, mut positions: Range<u32>) -> Result<(), Stop> {
        while !positions.is_empty() {
            if self.kernel.drawn.room() == 0 {
                self.resolve()?;
            }
            let end = positions.end.min(positions.start + self.kernel.drawn.room() as u32);
            self.kernel.drawn.push(v, positions.start..end);
            positions.start = end;
        }
        Ok(())
    }

    /// Line fetch, dedup and writers, for the edges that were drawn.
    fn resolve(&mut self) -> Result<(), Stop> {
        if self.cancel.is_set() {
            return Err(Stop::Cancelled);
        }
        let Kernel { node_list, dedup, drawn, .. } = &mut *self.kernel;
        let Drawn { positions, cols, sources } = drawn;
        let Outputs { samples, rows, cols: out_cols, edges: out_edges, capacity } = self.outputs;

        sources.clear();
        sources.extend(positions.iter().map(|&position| self.graph.source(position)));
        for position in &*positions {
            self.traffic.edge(position.get());
        }

        dedup.reserve(sources.len(), node_list);
        for ((&position, &v), &u) in positions.iter().zip(&*cols).zip(&*sources) {
            let place = dedup.find(u);
            if node_list.len() == capacity.nodes && matches!(place, Place::Free(_)) {
                return Err(self.out_of(Resource::Nodes, v));
            }
            if self.edges == capacity.edges {
                return Err(self.out_of(Resource::Edges, v));
            }
            let local = match place {
                Place::Known(local) => local,
                Place::Free(slot) => {
                    samples.store(node_list.len(), u.get().cast_signed());
                    node_list.push(u);
                    dedup.insert(slot, u)
                }
            };
            rows.store(self.edges, local.get().cast_signed());
            out_cols.store(self.edges, v.get().cast_signed());
            out_edges.store(self.edges, position.get().cast_signed());
            self.edges += 1;
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
