//! A compute unit: samples what lies in card memory, and writes results and status block there.

use std::sync::{Arc, Mutex, PoisonError};

use golden::{Buffer, Capacity, CscGraph, Fanout, HopCounts, NodeId, Request, Resource, Silent};
use hw::{
    Deadline, DeviceError, OutputBuffers, SamplerDevice, Slot, Slr,
    card::{MAX_CHANNELS, place_of_edge},
    registers::{ARGS, id_of},
    status::{self, StatusBlock, code},
};
use sim::model::{ModelOptions, SoftwareModel};
use zerocopy::{
    FromZeros, IntoBytes,
    little_endian::{U32, U64},
};

use crate::card::CardMemory;

/// log2 of the slots of the hash table that it says it has.
pub(crate) const TABLE_LOG2: u32 = 19;

/// The values of all arguments; for an address, where the buffer lies.
pub(crate) type Arguments = [u64; ARGS.len()];

/// What a unit keeps from run to run.
#[derive(Default)]
pub(crate) struct Unit {
    model: Option<SoftwareModel>,
    /// Which graph the model has: all that it depends on.
    loaded: Option<Vec<u64>>,
}

/// How a run goes wrong.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) silent: bool,
    pub(crate) lying: bool,
}

/// Does what the arguments say; `None` if an address leads nowhere.
pub(crate) fn run(
    unit: &Mutex<Unit>,
    memory: &Mutex<CardMemory>,
    args: &Arguments,
    channels: usize,
    trouble: Trouble,
) -> Option<()> {
    let mut unit = unit.lock().unwrap_or_else(PoisonError::into_inner);
    let card = Memory(memory);
    let arg = |name: &str| args[id_of(name)];
    let seeds = card.read(arg("seeds"), arg("num_seeds") as usize)?;
    let fanout = |hop: usize| match args[id_of("fanout1") + hop] as u32 {
        u32::MAX => Fanout::All,
        count => Fanout::Count(count),
    };
    let request = Request {
        seed: arg("seed"),
        minibatch: arg("minibatch"),
        seeds: seeds.into_iter().map(|seed| NodeId::new(seed.cast_unsigned())).collect(),
        fanouts: (0..arg("num_hops") as usize).map(fanout).collect(),
    };
    let capacity = Capacity { nodes: arg("node_capacity") as usize, edges: arg("edge_capacity") as usize };

    unit.load(&card, args, channels)?;
    let model = unit.model.as_ref()?;
    let (slr, slot, outputs) = (Slr::ALL[0], Slot(0), OutputBuffers::host(capacity));
    model.bind_outputs(slr, slot, outputs.clone()).ok()?;
    let result = model.start(slr, slot, &request).and_then(|()| model.wait(slr, Deadline::never()));

    let mut block = StatusBlock::new_zeroed();
    block.magic = U32::new(status::MAGIC);
    block.version = U32::new(status::VERSION);
    block.minibatch = U64::new(request.minibatch);
    let hops = fill(&mut block, &result);
    let counts = Capacity { nodes: hops.total_nodes(), edges: hops.total_edges() };
    for buffer in Buffer::ALL {
        let elements = outputs.get(buffer).elements()?.to_vec(0..counts.len_of(buffer));
        card.write(arg(buffer.name()), &elements)?;
    }
    if trouble.lying {
        let more = capacity.nodes as u32 + 1;
        block.nodes_per_hop[0] = U32::new(block.nodes_per_hop[0].get() + more - block.nodes.get());
        block.nodes = U32::new(more);
    }
    if !trouble.silent {
        let words =
            block.as_bytes().chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        card.write(arg("status"), &words.collect::<Vec<_>>())?;
    }
    Some(())
}

/// Writes into the block what the model says, and returns how much of the results is valid.
fn fill(block: &mut StatusBlock, result: &Result<hw::RunReport, DeviceError>) -> HopCounts {
    let empty = HopCounts { nodes: vec![], edges: vec![] };
    let (code, hops) = match result {
        Ok(report) => {
            block.cycles = U64::new(report.hops.total_edges() as u64);
            for (port, traffic) in report.ports.iter().enumerate() {
                let at = hw::card::Port::ALL.iter().position(|p| p.name() == traffic.port).unwrap_or(port);
                block.read_bursts[at] = U32::new(traffic.reads as u32);
                block.read_beats[at] = U32::new(traffic.read_beats as u32);
                block.write_bursts[at] = U32::new(traffic.writes as u32);
                block.write_beats[at] = U32::new(traffic.write_beats as u32);
                if let hw::card::Port::Idx(channel) = hw::card::Port::ALL[at] {
                    block.index_elements[usize::from(channel)] = U32::new((traffic.read_useful / 4) as u32);
                }
            }
            (code::OK, report.hops.clone())
        }
        Err(DeviceError::Overflow { overflow, emitted }) => {
            (block.hop, block.node) = (U32::new(overflow.hop as u32), U32::new(overflow.node.get()));
            let code = match overflow.resource {
                Resource::Nodes => code::OVERFLOW_NODES,
                Resource::Edges => code::OVERFLOW_EDGES,
            };
            (code, emitted.clone())
        }
        Err(_) => (code::BAD_REQUEST, empty),
    };
    block.code = U32::new(code);
    block.nodes = U32::new(hops.total_nodes() as u32);
    block.edges = U32::new(hops.total_edges() as u32);
    for (to, from) in block.nodes_per_hop.iter_mut().zip(&hops.nodes) {
        *to = U32::new(*from);
    }
    for (to, from) in block.edges_per_hop.iter_mut().zip(&hops.edges) {
        *to = U32::new(*from);
    }
    hops
}

impl Unit {
    /// Reads the graph back from card memory, unless nobody has written there since.
    fn load(&mut self, card: &Memory<'_>, args: &Arguments, channels: usize) -> Option<()> {
        let (nodes, edges) = (args[id_of("num_nodes")] as usize, args[id_of("num_edges")] as usize);
        let first = id_of("indices0");
        let bases: Vec<_> =
            std::iter::once(args[id_of("offsets")]).chain(args[first..first + channels].iter().copied()).collect();
        let mut key = vec![nodes as u64, edges as u64];
        for &base in &bases {
            key.extend([base, card.version(base)?]);
        }
        if self.loaded.as_ref() == Some(&key) {
            return Some(());
        }
        let records = card.read(bases[0], 2 * nodes)?;
        let mut indptr: Vec<u32> = records.chunks_exact(2).map(|record| record[0].cast_unsigned()).collect();
        indptr.push(edges as u32);
        let mut dealt = vec![];
        for (channel, &base) in bases[1..].iter().enumerate() {
            let elements = (0..edges).filter(|&edge| place_of_edge(edge, channels).0 == channel).count();
            dealt.push(card.read(base, elements)?);
        }
        let element = |edge| {
            let (channel, element) = place_of_edge(edge, channels);
            NodeId::new(dealt[channel][element].cast_unsigned())
        };
        let graph = CscGraph::new(indptr, (0..edges).map(element).collect()).ok()?;
        let model =
            SoftwareModel::new(ModelOptions { channels: channels.min(MAX_CHANNELS), ..ModelOptions::default() });
        let model = model.ok()?;
        model.load_graph(&Arc::new(graph), &Silent).ok()?;
        (self.model, self.loaded) = (Some(model), Some(key));
        Some(())
    }
}

/// Card memory by address.
struct Memory<'a>(&'a Mutex<CardMemory>);

impl Memory<'_> {
    fn read(&self, address: u64, words: usize) -> Option<Vec<i32>> {
        if words == 0 {
            return Some(vec![]);
        }
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (store, at) = memory.find(address)?;
        store.read(at, words)
    }

    fn write(&self, address: u64, words: &[i32]) -> Option<()> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (store, at) = memory.find(address)?;
        store.write(at, words)
    }

    fn version(&self, address: u64) -> Option<u64> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(memory.find(address)?.0.version())
    }
}
