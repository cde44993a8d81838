//! The status block that the kernel writes to card memory when everything else has arrived.

use std::time::Duration;

use golden::{Capacity, Fanout, HopCounts, LocalId, Overflow, Resource};
use zerocopy::{
    FromBytes, Immutable, IntoBytes, KnownLayout,
    little_endian::{U32, U64},
};

use crate::{
    BusAccess, DeviceError, PortTraffic, RunReport, Slr, StageCycles,
    card::{BURST_BYTES, HEAD_NODES, LINE_BYTES, MAX_CHANNELS, OffsetRecord, Port},
    registers::MAX_HOPS,
};

/// First word of a block that was written: "TRIS".
pub const MAGIC: u32 = 0x5452_4953;
/// Version of this layout.
pub const VERSION: u32 = 2;

/// The stages of the kernel's pipeline, in the order of [`StatusBlock::stages`].
pub const STAGES: [&str; 5] = ["frontier", "offsets", "sampler", "lines", "dedup"];

/// Status codes.
pub mod code {
    /// The run is complete.
    pub const OK: u32 = 1;
    /// An argument is refused; the detail says which ([`super::request_detail`]).
    pub const BAD_REQUEST: u32 = 2;
    /// `node_capacity` ran out.
    pub const OVERFLOW_NODES: u32 = 3;
    /// `edge_capacity` ran out.
    pub const OVERFLOW_EDGES: u32 = 4;
    /// The hash table found no place within its probe limit.
    pub const TABLE_FULL: u32 = 5;
    /// A read was answered with an error: detail bits 1..0 are the response, bits 15..8 the port.
    pub const READ_ERROR: u32 = 6;
    /// A write was answered with an error: as for a read. It wins over every other, since they promise that what
    /// was emitted before them is valid.
    pub const WRITE_ERROR: u32 = 7;
    /// An offset record points past E (detail 1), or an index is not below N (detail 2).
    pub const CORRUPT_GRAPH: u32 = 8;
}

/// What is wrong with an argument ([`code::BAD_REQUEST`]).
pub fn request_detail(detail: u32) -> &'static str {
    match detail {
        1 => "num_hops is not 1 to 4",
        2 => "a fan-out is not -1 to 32",
        3 => "num_seeds is above 1024",
        4 => "a base address is not a multiple of 64, or of 512 where the kernel writes",
        5 => "num_nodes or num_edges is above 2^31 - 1",
        6 => "a seed is not below num_nodes",
        7 => "a seed is given twice",
        _ => "for a reason that this version does not know",
    }
}

/// The block, in 64-byte lines. The kernel writes line 0 last, after the write response of every other write; the others are
/// one burst.
/// All counters are modulo 2^32.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct StatusBlock {
    /// [`MAGIC`].
    pub magic: U32,
    /// [`VERSION`].
    pub version: U32,
    /// One of [`code`].
    pub code: U32,
    /// More about the code.
    pub detail: U32,
    /// Where it happened: hop, 0 for the seeds.
    pub hop: U32,
    /// Where it happened: local node; for seeds the position, for a misaligned base the argument id.
    pub node: U32,
    /// Address of the access that failed.
    pub address: U64,
    /// Elements of `samples`.
    pub nodes: U32,
    /// Elements of `rows`, `cols` and `edges`.
    pub edges: U32,
    /// Cycles from start to the writing of this block.
    pub cycles: U64,
    /// The mini-batch's number, as it was given.
    pub minibatch: U64,
    reserved0: [U32; 2],

    /// Line 1: nodes first seen in each hop, the seeds first.
    pub nodes_per_hop: [U32; MAX_HOPS + 1],
    /// Edges of each hop.
    pub edges_per_hop: [U32; MAX_HOPS],
    reserved1: [U32; 7],

    /// Lines 2 to 5: bursts and beats by port ([`Port::ALL`]).
    pub read_bursts: [U32; 16],
    /// Read beats.
    pub read_beats: [U32; 16],
    /// Write bursts.
    pub write_bursts: [U32; 16],
    /// Write beats.
    pub write_beats: [U32; 16],

    /// Line 6: busy, starved and blocked cycles of each of [`STAGES`].
    pub stages: [[U32; 3]; STAGES.len()],
    reserved6: U32,

    /// Line 7: edges whose index was read through each index channel.
    pub index_elements: [U32; MAX_CHANNELS],
    reserved7: [U32; 8],
}

/// Bytes of the block.
pub const STATUS_BYTES: usize = size_of::<StatusBlock>();
const _: () = assert!(STATUS_BYTES == 8 * LINE_BYTES && STATUS_BYTES <= BURST_BYTES);
/// Bursts in which it is written.
pub const STATUS_BURSTS: u64 = 2;

/// What the host knows of a run and the block does not say.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The SLR that ran.
    pub slr: Slr,
    /// The mini-batch that was asked for.
    pub minibatch: u64,
    /// Fan-outs asked for, one a hop.
    pub fanouts: Vec<Fanout>,
    /// Capacities given.
    pub capacity: Capacity,
    /// Slots of the kernel's hash table.
    pub table_slots: u64,
    /// Index channels of the kernel.
    pub channels: usize,
    /// Time from start to completion.
    pub elapsed: Duration,
}

impl StatusBlock {
    /// What the block says of the run.
    ///
    /// # Errors
    /// The error that its code stands for, or [`DeviceError::Protocol`] when the block was not written, is another run's, or
    /// contradicts itself.
    pub fn decode(&self, run: &RunContext) -> Result<RunReport, DeviceError> {
        let protocol = |what: String| DeviceError::Protocol { slr: run.slr, what };
        if self.magic.get() != MAGIC {
            return Err(protocol(format!("it wrote no status block (first word {:#010x})", self.magic)));
        }
        if self.version.get() != VERSION {
            return Err(protocol(format!("its status block has version {}, not {VERSION}", self.version)));
        }
        if self.minibatch.get() != run.minibatch {
            let (found, asked) = (self.minibatch, run.minibatch);
            return Err(protocol(format!("its status block is of mini-batch {found}, not of {asked}")));
        }
        let hops = self.hops(run.fanouts.len());
        let (hop, node) = (self.hop.get() as usize, LocalId::new(self.node.get() & golden::ID_MAX));
        let overflow = |resource, capacity| DeviceError::Overflow {
            overflow: Overflow { resource, capacity, hop, node },
            emitted: hops.clone(),
        };
        match self.code.get() {
            code::OK => {}
            code::OVERFLOW_NODES => return Err(overflow(Resource::Nodes, run.capacity.nodes)),
            code::OVERFLOW_EDGES => return Err(overflow(Resource::Edges, run.capacity.edges)),
            code::TABLE_FULL => {
                return Err(DeviceError::TableFull { slots: run.table_slots, hop, node, emitted: hops });
            }
            code::READ_ERROR => return Err(self.bus_error(BusAccess::Read)),
            code::WRITE_ERROR => return Err(self.bus_error(BusAccess::Write)),
            code::CORRUPT_GRAPH => {
                let record = self.detail.get() == 1;
                let what = if record { "an offset record points past E" } else { "an index is not below N" };
                return Err(DeviceError::CorruptGraph { what, hop, node });
            }
            code::BAD_REQUEST => {
                let why = request_detail(self.detail.get());
                return Err(protocol(format!("it refused a request that the host had checked: {why} ({})", self.node)));
            }
            unknown => return Err(protocol(format!("its status code is {unknown}"))),
        }
        if (hops.total_nodes(), hops.total_edges()) != (self.nodes.get() as usize, self.edges.get() as usize) {
            let (nodes, edges) = (self.nodes, self.edges);
            return Err(protocol(format!("it counted {nodes} nodes and {edges} edges, but by hop {hops:?}")));
        }
        let ports = self.ports(run, &hops);
        let (elapsed, cycles, stages) = (run.elapsed, Some(self.cycles.get()), self.stages());
        Ok(RunReport { hops, elapsed, cycles, ports, stages })
    }

    fn hops(&self, hops: usize) -> HopCounts {
        let take = |words: &[U32]| words.iter().map(|w| w.get()).collect();
        HopCounts { nodes: take(&self.nodes_per_hop[..=hops]), edges: take(&self.edges_per_hop[..hops]) }
    }

    fn bus_error(&self, access: BusAccess) -> DeviceError {
        let port = Port::ALL.get((self.detail.get() >> 8) as usize).map_or("?", |port| port.name());
        let response = match self.detail.get() & 3 {
            2 => "SLVERR",
            3 => "DECERR",
            _ => "an error",
        };
        DeviceError::Bus { access, port, address: self.address.get(), response }
    }

    fn ports(&self, run: &RunContext, hops: &HopCounts) -> Vec<PortTraffic> {
        let used = |port: &Port| !matches!(port, Port::Idx(channel) if *channel as usize >= run.channels);
        let useful = Useful::of(run, hops);
        let traffic = |(i, port): (usize, &Port)| PortTraffic {
            port: port.name(),
            reads: self.read_bursts[i].get().into(),
            read_beats: self.read_beats[i].get().into(),
            read_useful: match port {
                Port::Offs => useful.offs,
                Port::Idx(channel) => ELEMENT * u64::from(self.index_elements[usize::from(*channel)].get()),
                Port::Mem => useful.mem_read,
                Port::Out => 0,
            },
            writes: self.write_bursts[i].get().into(),
            write_beats: self.write_beats[i].get().into(),
            write_useful: match port {
                Port::Offs | Port::Idx(_) => 0,
                Port::Mem => useful.mem_written,
                Port::Out => useful.out,
            },
        };
        Port::ALL.iter().enumerate().filter(|(_, port)| used(port)).map(traffic).collect()
    }

    fn stages(&self) -> Vec<StageCycles> {
        let cycles = |(&stage, [busy, starved, blocked]): (&&'static str, &[U32; 3])| StageCycles {
            stage,
            busy: busy.get().into(),
            starved: starved.get().into(),
            blocked: blocked.get().into(),
        };
        STAGES.iter().zip(&self.stages).map(cycles).collect()
    }
}

/// Bytes of an int32 element.
const ELEMENT: u64 = 4;

/// Bytes that a run needs of what goes over its ports. They follow from what was sampled, so the kernel does not count them;
/// what it does count is how the edges are spread over the index channels.
struct Useful {
    offs: u64,
    mem_read: u64,
    mem_written: u64,
    out: u64,
}

impl Useful {
    fn of(run: &RunContext, hops: &HopCounts) -> Self {
        // The frontier of a hop is what the phase before it has brought. With fan-out 0 nobody looks at it.
        let frontiers = hops.nodes.iter().zip(&run.fanouts).filter(|(_, fanout)| **fanout != Fanout::Count(0));
        let frontiers = frontiers.map(|(&nodes, _)| u64::from(nodes));
        let read_back: u64 = frontiers.clone().map(|nodes| nodes.saturating_sub(HEAD_NODES as u64)).sum();
        let nodes: u64 = hops.nodes.iter().copied().map(u64::from).sum();
        // What the last hop brings is not in the node list.
        let listed = nodes - u64::from(hops.nodes.last().copied().unwrap_or(0));
        let seeds = u64::from(hops.nodes.first().copied().unwrap_or(0));
        Self {
            offs: size_of::<OffsetRecord>() as u64 * frontiers.sum::<u64>(),
            mem_read: ELEMENT * (seeds + read_back),
            mem_written: ELEMENT * listed + STATUS_BYTES as u64,
            out: ELEMENT * (nodes + 3 * hops.total_edges() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    fn context() -> RunContext {
        let capacity = Capacity { nodes: 10, edges: 20 };
        let slr = Slr::ALL[1];
        RunContext {
            slr,
            minibatch: 5,
            fanouts: vec![Fanout::All, Fanout::Count(0)],
            capacity,
            table_slots: 64,
            channels: 2,
            elapsed: Duration::ZERO,
        }
    }

    fn block() -> StatusBlock {
        let mut block = StatusBlock::new_zeroed();
        block.magic = U32::new(MAGIC);
        block.version = U32::new(VERSION);
        block.minibatch = U64::new(5);
        block.code = U32::new(code::OK);
        block.nodes_per_hop[0] = U32::new(1);
        block.nodes_per_hop[1] = U32::new(2);
        block.edges_per_hop[0] = U32::new(4);
        block.nodes = U32::new(3);
        block.edges = U32::new(4);
        block
    }

    #[test]
    fn a_complete_run() {
        let report = block().decode(&context()).unwrap();
        assert_eq!(report.hops, HopCounts { nodes: vec![1, 2, 0], edges: vec![4, 0] });
        assert_eq!(report.ports.iter().map(|p| p.port).collect::<Vec<_>>(), ["offs", "idx0", "idx1", "mem", "out"]);
    }

    #[test]
    fn useful_bytes_follow_from_what_was_sampled() {
        let hops = HopCounts { nodes: vec![100, 70, 5], edges: vec![300, 40] };
        let of = |fanouts: [Fanout; 2]| {
            let useful = Useful::of(&RunContext { fanouts: fanouts.to_vec(), ..context() }, &hops);
            (useful.offs, useful.mem_read, useful.mem_written, useful.out)
        };
        let (written, out) = (4 * 170 + 512, 4 * (175 + 3 * 340));
        assert_eq!(of([Fanout::All, Fanout::Count(9)]), (8 * 170, 4 * (100 + 36 + 6), written, out));
        assert_eq!(of([Fanout::All, Fanout::Count(0)]), (8 * 100, 4 * (100 + 36), written, out));
    }

    #[test]
    fn a_block_that_is_not_this_runs_is_refused() {
        let sentence = |change: fn(&mut StatusBlock)| {
            let mut block = block();
            change(&mut block);
            block.decode(&context()).unwrap_err().to_string()
        };
        assert!(sentence(|b| b.magic = U32::new(0)).contains("no status block"));
        assert!(sentence(|b| b.version = U32::new(9)).contains("version 9"));
        assert!(sentence(|b| b.minibatch = U64::new(4)).contains("mini-batch 4, not of 5"));
        assert!(sentence(|b| b.nodes = U32::new(4)).contains("counted 4 nodes"));
        assert!(sentence(|b| b.code = U32::new(77)).contains("status code is 77"));
    }

    #[test]
    fn each_code_is_its_error() {
        let error = |code, detail| {
            let mut block = block();
            (block.code, block.detail) = (U32::new(code), U32::new(detail));
            (block.hop, block.node, block.address) = (U32::new(2), U32::new(7), U64::new(0x1240));
            block.decode(&context()).unwrap_err().to_string()
        };
        assert_eq!(
            error(code::OVERFLOW_NODES, 0),
            "out of room for nodes (samples): the capacity of 10 was reached in hop 2 at local node 7"
        );
        assert!(error(code::OVERFLOW_EDGES, 0).contains("capacity of 20"));
        assert!(error(code::TABLE_FULL, 0).contains("64 slots"));
        assert_eq!(
            error(code::READ_ERROR, 2 << 8 | 2),
            "the kernel's read at address 0x1240 (port idx1) was answered with SLVERR"
        );
        assert!(error(code::WRITE_ERROR, 10 << 8 | 3).contains("(port out) was answered with DECERR"));
        assert!(error(code::CORRUPT_GRAPH, 2).contains("an index is not below N in hop 2"));
        assert!(error(code::BAD_REQUEST, 4).contains("multiple of 64"));
    }
}
