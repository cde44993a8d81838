//! What lies where behind the ports of a kernel, and which port may do what with it.
//!
//! [`Space`] is the memory of one run. Nothing is copied that the graph already holds: offset records and
//! dealt indices are read out of it.

use std::{fmt, sync::Arc};

use golden::{Buffer, CscGraph, NodeId};
use hw::{
    BusAccess, HostMemory,
    card::{BURST_BYTES, CardAddress, LINE_BYTES, LINE_ELEMENTS, MAX_CHANNELS, OffsetRecord, Port},
    registers::KernelArgs,
    status::{STATUS_BYTES, StatusBlock},
};
use zerocopy::{FromBytes, IntoBytes, little_endian::U32};

/// One line of memory.
pub(crate) type Line = [u8; LINE_BYTES];

/// What stands where the kernel has not written: no node id, as it is negative.
const POISON: u8 = 0xA5;
const RECORDS: usize = LINE_BYTES / size_of::<OffsetRecord>();
const LINE: u64 = LINE_BYTES as u64;

/// A part of card memory with a base of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Offset records.
    Offsets,
    /// The indices of one channel.
    Indices(u8),
    /// Seed nodes.
    Seeds,
    /// The kernel's copy of `samples`.
    NodeList,
    /// The status block.
    Status,
    /// An output buffer.
    Output(Buffer),
}

impl Place {
    fn all() -> impl Iterator<Item = Self> {
        let indices = (0..MAX_CHANNELS).map(|channel| Self::Indices(channel as u8));
        [Self::Offsets, Self::Seeds, Self::NodeList, Self::Status]
            .into_iter()
            .chain(Buffer::ALL.map(Self::Output))
            .chain(indices)
    }

    /// Places are 64 GiB apart, so that nothing that runs over reaches the next, and the high half of an address matters.
    fn base(self, offset: u64) -> u64 {
        let ordinal = Self::all().position(|place| place == self).expect("all() has all");
        let alignment = if self.allows(BusAccess::Write) { BURST_BYTES as u64 } else { LINE };
        ((ordinal as u64 + 1) << 36) + offset / alignment * alignment
    }

    fn port(self) -> Port {
        match self {
            Self::Offsets => Port::Offs,
            Self::Indices(channel) => Port::Idx(channel),
            Self::Seeds | Self::NodeList | Self::Status => Port::Mem,
            Self::Output(_) => Port::Out,
        }
    }

    fn allows(self, access: BusAccess) -> bool {
        match self {
            Self::Offsets | Self::Indices(_) | Self::Seeds => access == BusAccess::Read,
            Self::NodeList => true,
            Self::Status | Self::Output(_) => access == BusAccess::Write,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offsets => f.write_str("offsets"),
            Self::Indices(channel) => write!(f, "indices{channel}"),
            Self::Seeds => f.write_str("seeds"),
            Self::NodeList => f.write_str("node_list"),
            Self::Status => f.write_str("status"),
            Self::Output(buffer) => f.write_str(buffer.name()),
        }
    }
}

/// What the ports of a kernel reach.
pub(crate) trait AddressSpace: fmt::Debug + Send {
    /// The line at an address; `None` if there is nothing that the port may read.
    fn read(&self, port: Port, address: u64) -> Option<Line>;

    /// Writes the bytes of a line whose strobe is set.
    ///
    /// # Errors
    /// Why nothing, or not all of it, was written.
    fn write(&mut self, port: Port, address: u64, data: &Line, strobe: u64) -> Result<(), Wrong>;

    /// What lies at `address` by name, and the offset in bytes, if `port` may go there and it has a name.
    fn find(&self, port: Port, access: BusAccess, address: u64) -> Option<(Place, u64)> {
        let (_, _, _) = (port, access, address);
        None
    }
}

#[derive(Clone, Copy, Debug)]
struct Region {
    place: Place,
    base: u64,
    /// A multiple of 64.
    bytes: u64,
}

/// The memory of one kernel for one run.
#[derive(Debug)]
pub(crate) struct Space {
    regions: Vec<Region>,
    graph: Arc<CscGraph>,
    channels: usize,
    seeds: Vec<NodeId>,
    node_list: Vec<Line>,
    /// Lines of the node list that were written.
    used: usize,
    status: [u8; STATUS_BYTES],
    outputs: [Arc<HostMemory>; 4],
    /// Elements of each line of the outputs that were written, a bit each.
    written: [Vec<u16>; 4],
}

impl Space {
    /// The memory of a kernel with `channels` index channels. `offset` is added to every base, as far as its alignment
    /// allows.
    pub(in crate::rtl) fn new(graph: &Arc<CscGraph>, channels: usize, offset: u64) -> Self {
        let none = || Arc::new(HostMemory::new(0));
        let mut space = Self {
            regions: vec![],
            graph: Arc::clone(graph),
            channels,
            seeds: vec![],
            node_list: vec![[POISON; LINE_BYTES]; graph.nodes().div_ceil(LINE_ELEMENTS)],
            used: 0,
            status: [0; STATUS_BYTES],
            outputs: [none(), none(), none(), none()],
            written: Default::default(),
        };
        let region = |place: Place| Region { place, base: place.base(offset), bytes: space.bytes_of(place) };
        space.regions = Place::all().map(region).collect();
        space
    }

    /// Makes it ready for a run: what an earlier run left is gone.
    pub(in crate::rtl) fn prepare(&mut self, seeds: &[NodeId], outputs: &[Arc<HostMemory>; 4]) {
        self.seeds = seeds.to_vec();
        self.outputs.clone_from(outputs);
        self.node_list[..self.used].fill([POISON; LINE_BYTES]);
        self.used = 0;
        self.status.fill(0);
        for (written, output) in self.written.iter_mut().zip(outputs) {
            written.clear();
            written.resize(output.len().div_ceil(LINE_ELEMENTS), 0);
        }
        for at in 0..self.regions.len() {
            self.regions[at].bytes = self.bytes_of(self.regions[at].place);
        }
    }

    /// The bases, as arguments.
    pub(in crate::rtl) fn fill_bases(&self, args: &mut KernelArgs) {
        let base = |place| CardAddress(self.regions.iter().find(|r| r.place == place).expect("all are there").base);
        args.offsets = base(Place::Offsets);
        args.seeds = base(Place::Seeds);
        args.node_list = base(Place::NodeList);
        args.status = base(Place::Status);
        args.outputs = Buffer::ALL.map(|buffer| base(Place::Output(buffer)));
        for (channel, address) in (0..).zip(&mut args.indices) {
            *address = base(Place::Indices(channel));
        }
    }

    pub(in crate::rtl) fn status(&self) -> StatusBlock {
        StatusBlock::read_from_bytes(&self.status).expect("it has the block's size")
    }

    fn bytes_of(&self, place: Place) -> u64 {
        let lines = |elements: usize| elements.div_ceil(LINE_ELEMENTS);
        let lines = match place {
            Place::Offsets => self.graph.nodes().div_ceil(RECORDS),
            Place::Indices(channel) => {
                let (channel, all) = (usize::from(channel), lines(self.graph.edges()));
                if channel < self.channels { (all + self.channels - 1 - channel) / self.channels } else { 0 }
            }
            Place::Seeds => lines(self.seeds.len()),
            Place::NodeList => self.node_list.len(),
            Place::Status => STATUS_BYTES / LINE_BYTES,
            Place::Output(buffer) => lines(self.outputs[buffer as usize].len()),
        };
        lines as u64 * LINE
    }

    /// The line at an offset of a place that was found.
    fn line(&self, place: Place, offset: u64) -> Line {
        let line = (offset / LINE) as usize;
        let mut data = [POISON; LINE_BYTES];
        let mut ids = |ids: &[NodeId], first: usize| {
            let bytes = ids[first..ids.len().min(first + LINE_ELEMENTS)].as_bytes();
            data[..bytes.len()].copy_from_slice(bytes);
        };
        match place {
            Place::Offsets => {
                let first = line * RECORDS;
                let ends = &self.graph.indptr()[first..=self.graph.nodes().min(first + RECORDS)];
                for (record, end) in data.chunks_exact_mut(size_of::<OffsetRecord>()).zip(ends.windows(2)) {
                    let value = OffsetRecord { start: U32::new(end[0]), degree: U32::new(end[1] - end[0]) };
                    record.copy_from_slice(value.as_bytes());
                }
            }
            Place::Indices(channel) => {
                ids(self.graph.indices(), (line * self.channels + usize::from(channel)) * LINE_ELEMENTS);
            }
            Place::Seeds => ids(&self.seeds, line * LINE_ELEMENTS),
            Place::NodeList => data = self.node_list[line],
            Place::Status | Place::Output(_) => unreachable!("find() lets nobody read there"),
        }
        data
    }
}

impl AddressSpace for Space {
    fn find(&self, port: Port, access: BusAccess, address: u64) -> Option<(Place, u64)> {
        let region = self.regions.iter().find(|r| address.wrapping_sub(r.base) < r.bytes)?;
        (region.place.port() == port && region.place.allows(access)).then(|| (region.place, address - region.base))
    }

    fn read(&self, port: Port, address: u64) -> Option<Line> {
        let (place, offset) = self.find(port, BusAccess::Read, address)?;
        Some(self.line(place, offset))
    }

    /// An element that lies past the end of an output buffer, or was written before, is not written.
    fn write(&mut self, port: Port, address: u64, data: &Line, strobe: u64) -> Result<(), Wrong> {
        let (place, offset) = self.find(port, BusAccess::Write, address).ok_or(Wrong::Nowhere)?;
        let line = (offset / LINE) as usize;
        match place {
            Place::NodeList => {
                self.used = self.used.max(line + 1);
                merge(&mut self.node_list[line], data, strobe);
            }
            Place::Status => merge(&mut self.status[line * LINE_BYTES..][..LINE_BYTES], data, strobe),
            Place::Output(buffer) => {
                let (memory, written) = (&self.outputs[buffer as usize], &mut self.written[buffer as usize][line]);
                return store(buffer, memory, written, line, data, strobe);
            }
            Place::Offsets | Place::Indices(_) | Place::Seeds => unreachable!("find() lets nobody write there"),
        }
        Ok(())
    }
}

/// What is wrong with a write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// There is nothing that the port may write.
    Nowhere,
    /// An element of an output buffer that is not there.
    PastEnd { buffer: Buffer, element: usize, len: usize },
    /// An element of an output buffer for the second time.
    Twice { buffer: Buffer, element: usize },
}

/// Puts the bytes whose strobe is set into memory of a line.
pub(crate) fn merge(memory: &mut [u8], data: &Line, strobe: u64) {
    for (at, (byte, new)) in memory.iter_mut().zip(data).enumerate() {
        if strobe >> at & 1 == 1 {
            *byte = *new;
        }
    }
}

fn store(
    buffer: Buffer,
    memory: &HostMemory,
    written: &mut u16,
    line: usize,
    data: &Line,
    strobe: u64,
) -> Result<(), Wrong> {
    for (lane, new) in data.chunks_exact(4).enumerate() {
        let element = line * LINE_ELEMENTS + lane;
        let new = i32::from_le_bytes(new.try_into().expect("four bytes"));
        let mask = match strobe >> (4 * lane) & 0xF {
            0 => continue,
            _ if element >= memory.len() => return Err(Wrong::PastEnd { buffer, element, len: memory.len() }),
            _ if *written >> lane & 1 == 1 => return Err(Wrong::Twice { buffer, element }),
            bytes => (0..4).filter(|byte| bytes >> byte & 1 == 1).fold(0, |mask, byte| mask | 0xFF_i32 << (8 * byte)),
        };
        *written |= 1 << lane;
        let old = if mask == -1 { 0 } else { memory.load(element) };
        memory.store(element, old & !mask | new & mask);
    }
    Ok(())
}
