//! The AXI4-Lite register map of the kernel, as the real XRT driver uses it (`ap_ctrl_chain`; UG1393 "Control Requirements
//! for XRT-Managed Kernels"). The RTL's copy is in `hw/rtl/trisage_pkg.sv`; a test compares the two.

use crate::card::{CardAddress, MAX_CHANNELS, Port};
use golden::{Capacity, CscGraph, Fanout, Limits, Request};

/// Control register.
pub const CTRL: u32 = 0x00;
/// Global interrupt enable, bit 0.
pub const GIE: u32 = 0x04;
/// Interrupt enable: bit 0 done, bit 1 ready.
pub const IER: u32 = 0x08;
/// Interrupt status, same bits, toggled by writing 1.
pub const ISR: u32 = 0x0C;
/// Read-only: [`IDENTITY_VALUE`].
pub const IDENTITY: u32 = 0x180;
/// Read-only: bits 7..0 log2 of the hash table's slots, bits 15..8 index channels.
pub const CONFIG: u32 = 0x184;
/// Read-only: bits 15..0 status code of the last run, bits 31..16 its detail; also there when the block cannot be written.
pub const LAST_STATUS: u32 = 0x188;

/// [`CTRL`] bit 0: write 1 to start; reads 1 until the kernel has taken its arguments.
pub const AP_START: u32 = 1 << 0;
/// [`CTRL`] bit 1: the run is over; stays until [`AP_CONTINUE`] is written.
pub const AP_DONE: u32 = 1 << 1;
/// [`CTRL`] bit 2: no run is in flight.
pub const AP_IDLE: u32 = 1 << 2;
/// [`CTRL`] bit 3: the kernel has taken the arguments of the last start; new ones may be written.
pub const AP_READY: u32 = 1 << 3;
/// [`CTRL`] bit 4: write 1 to acknowledge [`AP_DONE`].
pub const AP_CONTINUE: u32 = 1 << 4;

/// What [`IDENTITY`] reads: "TRI1".
pub const IDENTITY_VALUE: u32 = 0x5452_4931;

/// What one kernel takes. [`LIMITS`] are part of the register map: four fan-out registers, a pick memory of 32.
pub const LIMITS: Limits = Limits { owner: "the card", seeds: 1024, hops: MAX_HOPS, fanout: 32 };
/// Hops for which there are registers.
pub const MAX_HOPS: usize = 4;

/// One kernel argument. Its index in [`ARGS`] is its XRT argument id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name in `kernel.xml`, in the RTL package (upper case, `REG_` before it) and in messages.
    pub name: &'static str,
    /// Offset of its low word.
    pub offset: u32,
    /// Bytes: 4, or 8 (low word first).
    pub bytes: u32,
    /// The port through which it is used, for an address.
    pub port: Option<Port>,
}

const fn scalar(name: &'static str, offset: u32, bytes: u32) -> Arg {
    Arg { name, offset, bytes, port: None }
}

const fn base(name: &'static str, offset: u32, port: Port) -> Arg {
    Arg { name, offset, bytes: 8, port: Some(port) }
}

/// All arguments, by id.
pub const ARGS: [Arg; 28] = [
    scalar("seed", 0x10, 8),
    scalar("minibatch", 0x1C, 8),
    scalar("num_nodes", 0x28, 4),
    scalar("num_edges", 0x30, 4),
    scalar("num_seeds", 0x38, 4),
    scalar("num_hops", 0x40, 4),
    scalar("fanout1", 0x48, 4),
    scalar("fanout2", 0x50, 4),
    scalar("fanout3", 0x58, 4),
    scalar("fanout4", 0x60, 4),
    scalar("node_capacity", 0x68, 4),
    scalar("edge_capacity", 0x70, 4),
    base("offsets", 0x78, Port::Offs),
    base("seeds", 0x84, Port::Mem),
    base("node_list", 0x90, Port::Mem),
    base("status", 0x9C, Port::Mem),
    base("samples", 0xA8, Port::Out),
    base("rows", 0xB4, Port::Out),
    base("cols", 0xC0, Port::Out),
    base("edges", 0xCC, Port::Out),
    base("indices0", 0xD8, Port::Idx(0)),
    base("indices1", 0xE4, Port::Idx(1)),
    base("indices2", 0xF0, Port::Idx(2)),
    base("indices3", 0xFC, Port::Idx(3)),
    base("indices4", 0x108, Port::Idx(4)),
    base("indices5", 0x114, Port::Idx(5)),
    base("indices6", 0x120, Port::Idx(6)),
    base("indices7", 0x12C, Port::Idx(7)),
];

/// The id of the argument of that name.
///
/// # Panics
/// If there is none: names are written in the source alone.
pub fn id_of(name: &str) -> usize {
    ARGS.iter().position(|arg| arg.name == name).unwrap_or_else(|| panic!("the kernel has no argument '{name}'"))
}

/// The arguments of one run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KernelArgs {
    /// The user's seed.
    pub seed: u64,
    /// Number of the mini-batch.
    pub minibatch: u64,
    /// N.
    pub num_nodes: u32,
    /// E.
    pub num_edges: u32,
    /// Seed nodes.
    pub num_seeds: u32,
    /// L.
    pub num_hops: u32,
    /// Fan-outs as the register has them: -1 is ALL. Those past `num_hops` are not looked at.
    pub fanouts: [i32; MAX_HOPS],
    /// Elements of `samples`.
    pub node_capacity: u32,
    /// Elements of each of `rows`, `cols` and `edges`.
    pub edge_capacity: u32,
    /// [`crate::card::OffsetRecord`] of each node.
    pub offsets: CardAddress,
    /// int32 ids of the seed nodes.
    pub seeds: CardAddress,
    /// Room for N int32 in card memory: the kernel's own copy of those `samples` that it expands.
    pub node_list: CardAddress,
    /// Room for [`crate::status::StatusBlock`].
    pub status: CardAddress,
    /// The output buffers, in the order of [`golden::Buffer::ALL`].
    pub outputs: [CardAddress; 4],
    /// The dealt indices of each channel.
    pub indices: [CardAddress; MAX_CHANNELS],
}

/// A fan-out as its register has it.
pub fn fanout_register(fanout: Fanout) -> i32 {
    match fanout {
        Fanout::Count(count) => count.try_into().unwrap_or(i32::MAX),
        Fanout::All => -1,
    }
}

impl KernelArgs {
    /// What sampling `request` takes but the addresses, which stay 0. Request and graph have been checked.
    pub fn of(request: &Request, graph: &CscGraph, capacity: Capacity) -> Self {
        let mut args = Self {
            seed: request.seed,
            minibatch: request.minibatch,
            num_nodes: graph.nodes() as u32,
            num_edges: graph.edges() as u32,
            num_seeds: request.seeds.len() as u32,
            num_hops: request.fanouts.len() as u32,
            node_capacity: capacity.nodes.try_into().unwrap_or(u32::MAX),
            edge_capacity: capacity.edges.try_into().unwrap_or(u32::MAX),
            ..Self::default()
        };
        for (register, &fanout) in args.fanouts.iter_mut().zip(&request.fanouts) {
            *register = fanout_register(fanout);
        }
        args
    }

    /// The value of every argument, in the order of [`ARGS`], widened to 64 bits.
    pub fn values(&self) -> [u64; ARGS.len()] {
        let fanout = |hop: usize| u64::from(self.fanouts[hop].cast_unsigned());
        let output = |buffer: usize| self.outputs[buffer].0;
        let index = |channel: usize| self.indices[channel].0;
        [
            self.seed,
            self.minibatch,
            self.num_nodes.into(),
            self.num_edges.into(),
            self.num_seeds.into(),
            self.num_hops.into(),
            fanout(0),
            fanout(1),
            fanout(2),
            fanout(3),
            self.node_capacity.into(),
            self.edge_capacity.into(),
            self.offsets.0,
            self.seeds.0,
            self.node_list.0,
            self.status.0,
            output(0),
            output(1),
            output(2),
            output(3),
            index(0),
            index(1),
            index(2),
            index(3),
            index(4),
            index(5),
            index(6),
            index(7),
        ]
    }

    /// The 32-bit register writes that set all arguments: (offset, value), ascending.
    pub fn register_writes(&self) -> impl Iterator<Item = (u32, u32)> {
        ARGS.iter().zip(self.values()).flat_map(|(arg, value)| {
            let low = (arg.offset, value as u32);
            let high = (arg.bytes == 8).then_some((arg.offset + 4, (value >> 32) as u32));
            std::iter::once(low).chain(high)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn arguments_do_not_overlap_and_stay_clear_of_control_and_status() {
        let mut end = 0x10;
        for arg in ARGS {
            assert!(arg.offset >= end, "{} overlaps", arg.name);
            assert!(arg.port.is_none() || arg.bytes == 8, "{} is an address, so it has 8 bytes", arg.name);
            end = arg.offset + arg.bytes;
        }
        assert!(end <= IDENTITY);
    }

    #[test]
    fn the_rtl_package_has_the_same_map() {
        let package = include_str!("../rtl/trisage_pkg.sv");
        let constants: HashMap<&str, u32> = package
            .lines()
            .filter_map(|line| {
                let (name, value) = line.trim().strip_prefix("localparam reg_addr_t REG_")?.split_once('=')?;
                let hex = value.split_once("'h")?.1.split_once(';')?.0;
                Some((name.trim(), u32::from_str_radix(&hex.replace('_', ""), 16).ok()?))
            })
            .collect();
        let fixed = [("ctrl", CTRL), ("gie", GIE), ("ier", IER), ("isr", ISR)];
        let read_only = [("identity", IDENTITY), ("config", CONFIG), ("last_status", LAST_STATUS)];
        let args = ARGS.map(|arg| (arg.name, arg.offset));
        let ours: HashMap<String, u32> =
            fixed.into_iter().chain(read_only).chain(args).map(|(n, o)| (n.to_uppercase(), o)).collect();
        assert_eq!(constants.len(), ours.len());
        for (name, offset) in ours {
            assert_eq!(constants.get(name.as_str()), Some(&offset), "REG_{name}");
        }
    }

    #[test]
    fn wide_arguments_are_written_low_word_first() {
        let args = KernelArgs { seed: 0x1122_3344_5566_7788, fanouts: [-1, 5, 0, 0], ..KernelArgs::default() };
        let writes: HashMap<u32, u32> = args.register_writes().collect();
        assert_eq!((writes[&0x10], writes[&0x14]), (0x5566_7788, 0x1122_3344));
        assert_eq!((writes[&0x48], writes[&0x50]), (u32::MAX, 5));
        assert!(!writes.contains_key(&0x18));
    }
}
