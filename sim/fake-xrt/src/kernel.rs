//! A compute unit: the emulated card's kernel in software ([`sim::emulated::SoftwareKernel`]) on this card's memory.

use std::sync::{Mutex, PoisonError};

use sim::emulated::{SoftwareKernel, WordMemory, write_status};
use zerocopy::little_endian::U32;

use crate::card::CardMemory;

pub(crate) use sim::emulated::{Arguments, TABLE_LOG2};

/// How a run goes wrong.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) silent: bool,
    pub(crate) lying: bool,
}

/// Does what the arguments say; `None` if an address leads nowhere.
pub(crate) fn run(
    unit: &Mutex<SoftwareKernel>,
    memory: &Mutex<CardMemory>,
    args: &Arguments,
    channels: usize,
    trouble: Trouble,
) -> Option<()> {
    let mut unit = unit.lock().unwrap_or_else(PoisonError::into_inner);
    let card = Memory(memory);
    let mut block = unit.run(&card, args, channels)?;
    if trouble.lying {
        let more = args[hw::registers::id_of("node_capacity")] as u32 + 1;
        block.nodes_per_hop[0] = U32::new(block.nodes_per_hop[0].get() + more - block.nodes.get());
        block.nodes = U32::new(more);
    }
    if trouble.silent { Some(()) } else { write_status(&card, args, &block) }
}

/// Card memory by address.
struct Memory<'a>(&'a Mutex<CardMemory>);

impl WordMemory for Memory<'_> {
    fn read(&self, address: u64, words: usize) -> Option<Vec<i32>> {
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
