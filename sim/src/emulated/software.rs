//! A kernel in software that knows nothing but its arguments and the card's memory, as a kernel on a card does: it reads the
//! graph back from there, lets the software model sample, and writes results and status block.

use std::sync::Arc;

use golden::{Buffer, Capacity, CscGraph, Fanout, HopCounts, NodeId, Request, Resource, Silent};
use hw::{
    Deadline, DeviceError, OutputBuffers, RunReport, SamplerDevice, Slot, Slr,
    card::{LINE_ELEMENTS, Port, place_of_edge},
    registers::{self, AP_DONE, AP_IDLE, AP_READY, AP_START, ARGS, id_of},
    status::{self, StatusBlock, code},
};
use zerocopy::{
    FromZeros, IntoBytes,
    little_endian::{U32, U64},
};

use super::{
    Registers,
    memory::{SharedMemory, lock},
};
use crate::model::{ModelOptions, SoftwareModel};

/// log2 of the slots of the hash table that it says it has.
pub const TABLE_LOG2: u32 = 19;

/// The values of all arguments, by id; for an address, where the buffer lies.
pub type Arguments = [u64; ARGS.len()];

/// The card's memory in words of 32 bits.
pub trait WordMemory {
    /// So many words from a byte address on; `None` if they are not all there.
    fn read(&self, address: u64, words: usize) -> Option<Vec<i32>>;

    /// Writes words from a byte address on; `None` if there is no place for them.
    fn write(&self, address: u64, words: &[i32]) -> Option<()>;

    /// Changes with every write to the buffer in which an address lies; `None` if there is none.
    fn version(&self, address: u64) -> Option<u64>;
}

/// What a kernel keeps from run to run.
#[derive(Debug, Default)]
pub struct SoftwareKernel {
    /// The model with its graph.
    model: Option<(SoftwareModel, Arc<CscGraph>)>,
    /// Which graph the model has: all that it depends on.
    loaded: Option<Vec<u64>>,
}

impl SoftwareKernel {
    /// Does what the arguments say, and gives the status block, which is still to be written; `None` if an address leads nowhere.
    pub fn run(&mut self, memory: &dyn WordMemory, args: &Arguments, channels: usize) -> Option<StatusBlock> {
        let arg = |name: &str| args[id_of(name)];
        let seeds = read(memory, arg("seeds"), arg("num_seeds") as usize)?;
        let fanout = |hop: usize| match args.get(id_of("fanout1") + hop).copied().unwrap_or_default() as u32 {
            u32::MAX => Fanout::All,
            count => Fanout::Count(count),
        };
        let request = Request {
            seed: arg("seed"),
            minibatch: arg("minibatch"),
            seeds: seeds.into_iter().map(|seed| NodeId::new(seed.cast_unsigned())).collect(),
            fanouts: (0..(arg("num_hops") as usize).min(registers::MAX_HOPS + 1)).map(fanout).collect(),
        };

        self.load(memory, args, channels)?;
        let (model, graph) = self.model.as_ref()?;
        // What a run cannot need is not set aside, whatever the registers say.
        let most = Capacity::worst_case(graph, request.seeds.len(), &request.fanouts);
        let capacity = Capacity {
            nodes: most.nodes.min(arg("node_capacity") as usize),
            edges: most.edges.min(arg("edge_capacity") as usize),
        };
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
            if !elements.is_empty() {
                memory.write(arg(buffer.name()), &elements)?;
            }
        }
        Some(block)
    }

    /// Reads the graph back from the card's memory, unless nobody has written there since.
    fn load(&mut self, memory: &dyn WordMemory, args: &Arguments, channels: usize) -> Option<()> {
        let (nodes, edges) = (args[id_of("num_nodes")] as usize, args[id_of("num_edges")] as usize);
        let first = id_of("indices0");
        let offsets = args[id_of("offsets")];
        let bases: Vec<_> = std::iter::once(offsets).chain(args[first..first + channels].iter().copied()).collect();
        let mut key = vec![nodes as u64, edges as u64];
        for &base in &bases {
            key.extend([base, memory.version(base)?]);
        }
        if self.loaded.as_ref() == Some(&key) {
            return Some(());
        }
        let records = read(memory, bases[0], nodes.checked_mul(2)?)?;
        let mut indptr: Vec<u32> = records.chunks_exact(2).map(|record| record[0].cast_unsigned()).collect();
        indptr.push(edges as u32);
        let mut dealt = vec![];
        for (channel, &base) in bases[1..].iter().enumerate() {
            dealt.push(read(memory, base, dealt_to(channel, channels, edges))?);
        }
        let element = |edge| {
            let (channel, element) = place_of_edge(edge, channels);
            NodeId::new(dealt[channel][element].cast_unsigned())
        };
        let graph = CscGraph::new(indptr, (0..edges).map(element).collect()).ok()?;
        let model = SoftwareModel::new(ModelOptions { channels, ..ModelOptions::default() }).ok()?;
        let graph = Arc::new(graph);
        model.load_graph(&graph, &Silent).ok()?;
        (self.model, self.loaded) = (Some((model, graph)), Some(key));
        Some(())
    }
}

/// How many of so many edges a channel holds: whole lines in turn, the last of which may be short.
fn dealt_to(channel: usize, channels: usize, edges: usize) -> usize {
    let (lines, rest) = (edges / LINE_ELEMENTS, edges % LINE_ELEMENTS);
    let whole = (lines + channels - 1 - channel) / channels * LINE_ELEMENTS;
    if lines % channels == channel { whole + rest } else { whole }
}

/// What is not there need not have an address.
fn read(memory: &dyn WordMemory, address: u64, words: usize) -> Option<Vec<i32>> {
    if words == 0 { Some(vec![]) } else { memory.read(address, words) }
}

/// Writes a status block where the arguments say.
pub fn write_status(memory: &dyn WordMemory, args: &Arguments, block: &StatusBlock) -> Option<()> {
    let words = block.as_bytes().chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    memory.write(args[id_of("status")], &words.collect::<Vec<_>>())
}

/// Writes into the block what the model says, and returns how much of the results is valid.
fn fill(block: &mut StatusBlock, result: &Result<RunReport, DeviceError>) -> HopCounts {
    let empty = HopCounts { nodes: vec![], edges: vec![] };
    let (code, hops) = match result {
        Ok(report) => {
            block.cycles = U64::new(report.hops.total_edges() as u64);
            for (port, traffic) in report.ports.iter().enumerate() {
                let at = Port::ALL.iter().position(|p| p.name() == traffic.port).unwrap_or(port);
                block.read_bursts[at] = U32::new(traffic.reads as u32);
                block.read_beats[at] = U32::new(traffic.read_beats as u32);
                block.write_bursts[at] = U32::new(traffic.writes as u32);
                block.write_beats[at] = U32::new(traffic.write_beats as u32);
                if let Port::Idx(channel) = Port::ALL[at] {
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

/// The kernel in software behind its registers. A run is over as soon as it was started.
#[derive(Debug)]
pub(super) struct SoftwareUnit {
    kernel: SoftwareKernel,
    memory: SharedMemory,
    channels: usize,
    /// What was written to each argument's words; those past the last argument are not kept.
    words: Vec<u32>,
    control: u32,
    last_status: u32,
}

impl SoftwareUnit {
    pub(super) fn new(memory: &SharedMemory, channels: usize) -> Self {
        let last = ARGS[ARGS.len() - 1];
        Self {
            kernel: SoftwareKernel::default(),
            memory: memory.clone(),
            channels,
            words: vec![0; ((last.offset + last.bytes) / 4) as usize],
            control: AP_IDLE,
            last_status: 0,
        }
    }

    fn argument(&self, id: usize) -> u64 {
        let word = |offset: u32| u64::from(self.words[(offset / 4) as usize]);
        let arg = ARGS[id];
        if arg.bytes == 8 { word(arg.offset) | word(arg.offset + 4) << 32 } else { word(arg.offset) }
    }
}

impl Registers for SoftwareUnit {
    fn read(&mut self, offset: u32) -> Result<u32, String> {
        Ok(match offset {
            registers::CTRL => {
                let control = self.control;
                self.control &= !AP_DONE; // as with `ap_ctrl_hs`, which is what XRT's software emulation expects
                control
            }
            registers::IDENTITY => registers::IDENTITY_VALUE,
            registers::CONFIG => TABLE_LOG2 | (self.channels as u32) << 8,
            registers::LAST_STATUS => self.last_status,
            _ => self.words.get((offset / 4) as usize).copied().unwrap_or(0),
        })
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), String> {
        if offset == registers::CTRL {
            if value & AP_START != 0 {
                self.control = 0;
                let args: Arguments = std::array::from_fn(|id| self.argument(id));
                let block = self.kernel.run(&self.memory, &args, self.channels);
                let written = block.and_then(|block| {
                    self.last_status = block.code.get();
                    write_status(&self.memory, &args, &block)
                });
                written.ok_or("a kernel in software goes where no buffer is, or finds no graph there")?;
                self.control = AP_DONE | AP_IDLE | AP_READY;
            }
        } else if let Some(word) = self.words.get_mut((offset / 4) as usize).filter(|_| offset >= ARGS[0].offset) {
            *word = value;
        }
        Ok(())
    }
}

impl WordMemory for SharedMemory {
    fn read(&self, address: u64, words: usize) -> Option<Vec<i32>> {
        let memory = lock(self);
        let bytes = words.checked_mul(4).filter(|&bytes| memory.holds(address, bytes as u64))?;
        let mut data = vec![0; bytes];
        memory.read(address, &mut data).then_some(())?;
        Some(data.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
    }

    fn write(&self, address: u64, words: &[i32]) -> Option<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        lock(self).write(address, &bytes).then_some(())
    }

    fn version(&self, address: u64) -> Option<u64> {
        lock(self).version(address)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::emulated::CardMemory;

    #[test]
    fn every_channel_holds_what_was_dealt_to_it() {
        for channels in [1, 2, 4, 8] {
            for edges in [0, 1, 15, 16, 17, 63, 64, 150, 1000] {
                for channel in 0..channels {
                    let there = (0..edges).filter(|&edge| place_of_edge(edge, channels).0 == channel).count();
                    assert_eq!(
                        dealt_to(channel, channels, edges),
                        there,
                        "channel {channel} of {channels}, {edges} edges"
                    );
                }
            }
        }
    }

    #[test]
    fn registers_that_say_anything_are_survived() {
        let folder = tempfile::tempdir().unwrap();
        let memory: SharedMemory = Arc::new(Mutex::new(CardMemory::new(folder.path(), 1 << 20)));
        let mut unit = SoftwareUnit::new(&memory, 4);
        for offset in (ARGS[0].offset..0x200).step_by(4) {
            unit.write(offset, u32::MAX).unwrap();
        }
        assert!(unit.write(registers::CTRL, AP_START).unwrap_err().contains("goes where no buffer is"));
        assert_eq!(unit.read(registers::IDENTITY), Ok(registers::IDENTITY_VALUE));
    }
}
