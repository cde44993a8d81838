//! The dedup stage: which local id a node has.

use std::hint::black_box;

use golden::{ID_MAX, LocalId, NodeId};

/// Slots of a new table.
const SLOTS_LOG2: u32 = 12;

/// An open-addressing hash table from node to local id, with linear probing; at most half full.
///
/// A slot is one 64-bit word: the node in the high half; in the low half the local id plus the table's `base`. Each
/// mini-batch starts with a base above everything that the one before has written, so a slot with less is free, and nothing
/// need be cleared between mini-batches.
#[derive(Debug)]
pub(super) struct Dedup {
    slots: Vec<u64>,
    /// A node's first slot is the top bits of its hash.
    shift: u32,
    /// What is added to a local id; at least 1.
    base: u32,
    /// Nodes entered in this mini-batch; their local ids are `0 .. len`.
    len: u32,
}

/// Where a node is, or is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The node has this local id.
    Known(LocalId),
    /// The node has none; this slot is where it belongs.
    Free(usize),
}

impl Default for Dedup {
    fn default() -> Self {
        Self { slots: vec![0; 1 << SLOTS_LOG2], shift: 32 - SLOTS_LOG2, base: 1, len: 0 }
    }
}

impl Dedup {
    /// Forgets all nodes.
    pub(super) fn begin(&mut self) {
        self.base += self.len;
        self.len = 0;
        if self.base > u32::MAX - ID_MAX {
            self.slots.fill(0);
            self.base = 1;
        }
    }

    /// Makes room for `more` nodes beside `nodes`, those that are in the table, in the order of their local ids.
    pub(super) fn reserve(&mut self, more: usize, nodes: &[NodeId]) {
        let slots = (2 * (self.len as usize + more)).next_power_of_two();
        if slots <= self.slots.len() {
            return;
        }
        *self = Self { slots: vec![0; slots], shift: 32 - slots.ilog2().min(32), base: 1, len: 0 };
        for &node in nodes {
            match self.find(node) {
                Place::Free(slot) => self.insert(slot, node),
                Place::Known(_) => unreachable!("node {node} is in the table twice"),
            };
        }
    }

    /// Reads where each of these nodes is likely to be, so that the caches have it when they are looked up: these reads
    /// overlap, those of [`Dedup::find`] wait for one another.
    pub(super) fn warm(&self, nodes: &[NodeId]) {
        black_box(nodes.iter().fold(0, |read, &node| read ^ self.slots[self.first_slot(node)]));
    }

    /// Looks a node up.
    #[inline]
    pub(super) fn find(&self, node: NodeId) -> Place {
        let last = self.slots.len() - 1;
        let mut slot = self.first_slot(node);
        loop {
            let word = self.slots[slot];
            let Some(local) = (word as u32).checked_sub(self.base) else { return Place::Free(slot) };
            if (word >> 32) as u32 == node.get() {
                return Place::Known(LocalId::new(local));
            }
            slot = (slot + 1) & last;
        }
    }

    /// Gives a node the next local id. The slot is the one where [`Dedup::find`] has just found it missing.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, node: NodeId) -> LocalId {
        let local = LocalId::new(self.len);
        self.slots[slot] = u64::from(node.get()) << 32 | u64::from(self.base + self.len);
        self.len += 1;
        local
    }

    /// Multiplicative hashing (Knuth, "The Art of Computer Programming", vol. 3, section 6.4): neighbouring ids lie far
    /// apart.
    #[inline]
    fn first_slot(&self, node: NodeId) -> usize {
        const GOLDEN_RATIO: u32 = 0x9E37_79B1;
        (u64::from(node.get().wrapping_mul(GOLDEN_RATIO)) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn enter(table: &mut Dedup, nodes: &mut Vec<NodeId>, node: u32) -> u32 {
        table.reserve(1, nodes);
        match table.find(NodeId::new(node)) {
            Place::Known(local) => local.get(),
            Place::Free(slot) => {
                nodes.push(NodeId::new(node));
                table.insert(slot, NodeId::new(node)).get()
            }
        }
    }

    #[test]
    fn it_says_what_a_map_says_over_many_minibatches_and_through_growth() {
        let mut table = Dedup::default();
        for minibatch in 0..20u32 {
            table.begin();
            let (mut nodes, mut map) = (Vec::new(), HashMap::new());
            for i in 0..1000 * minibatch {
                let node = i.wrapping_mul(2_654_435_761) % (3000 * minibatch) * 7;
                let next = map.len() as u32;
                assert_eq!(enter(&mut table, &mut nodes, node), *map.entry(node).or_insert(next));
            }
        }
    }

    #[test]
    fn the_base_wraps() {
        let mut table = Dedup::default();
        enter(&mut table, &mut Vec::new(), 3);
        table.base = u32::MAX - ID_MAX;
        table.begin();
        assert_eq!(table.base, 1);
        assert_eq!(table.find(NodeId::new(3)), Place::Free(table.first_slot(NodeId::new(3))));
        assert_eq!(enter(&mut table, &mut Vec::new(), 9), 0);
    }
}
