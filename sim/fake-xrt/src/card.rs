//! One card: its xclbin, its memory banks, and what is to go wrong on it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use hw::xclbin::Xclbin;
use sim::emulated::SoftwareKernel;

use crate::{fault::Fault, store::Store};

const PAGE: u64 = 4096;

/// A card.
pub(crate) struct Card {
    pub(crate) xclbin: Option<Arc<Xclbin>>,
    pub(crate) faults: Vec<Fault>,
    /// What the real XRT would not have survived.
    pub(crate) violations: u32,
    /// Compute units by index; each samples by itself.
    pub(crate) units: [Arc<Mutex<SoftwareKernel>>; hw::SLRS],
    memory: Arc<Mutex<CardMemory>>,
}

/// What lies where in card memory.
#[derive(Default)]
pub(crate) struct CardMemory {
    stores: BTreeMap<u64, Arc<Store>>,
    /// Where the next buffer of a bank goes.
    next: HashMap<u32, u64>,
}

impl Card {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self { xclbin: None, faults, violations: 0, units: Default::default(), memory: Arc::default() }
    }

    pub(crate) fn memory(&self) -> &Arc<Mutex<CardMemory>> {
        &self.memory
    }
}

impl CardMemory {
    /// Places a buffer in a bank; `None` if the bank is full or is not there.
    pub(crate) fn place(&mut self, xclbin: &Xclbin, group: u32, store: &Arc<Store>) -> Option<u64> {
        let bank = xclbin.memories.get(group as usize)?;
        let bytes = (store.bytes() as u64).next_multiple_of(PAGE);
        let next = self.next.entry(group).or_insert(bank.base);
        let end = bank.base.saturating_add(bank.kib.saturating_mul(1024));
        if next.saturating_add(bytes) > end {
            // What was freed is found again when nothing else is there.
            if self.stores.range(bank.base..end).next().is_some() || bytes > end - bank.base {
                return None;
            }
            *next = bank.base;
        }
        let address = *next;
        *next += bytes;
        self.stores.insert(address, Arc::clone(store));
        Some(address)
    }

    pub(crate) fn remove(&mut self, address: u64) {
        self.stores.remove(&address);
    }

    /// The buffer in which an address lies, and how far from its begin.
    pub(crate) fn find(&self, address: u64) -> Option<(&Arc<Store>, usize)> {
        let (base, store) = self.stores.range(..=address).next_back()?;
        let at = (address - base) as usize;
        (at < store.bytes()).then_some((store, at))
    }
}
