//! One simulated kernel: model, memory, registers and clock.

mod clocked;
mod host;

use std::sync::Arc;

use golden::CscGraph;
use hw::{DeviceError, Slr, card::LINE_BYTES};
use verilator_sys::Model;

use super::{
    axi::{Memory, Space},
    options::RtlOptions,
};
use crate::{chance::Chance, memory::Profile};

pub(crate) use clocked::Clocked;

/// One kernel with clock, registers and memory.
#[derive(Debug)]
pub struct RtlKernel {
    core: Clocked,
    /// The graph for which the memory was made.
    graph: Option<Arc<CscGraph>>,
    chance: Chance,
}

impl RtlKernel {
    pub(super) fn new(slr: Slr, model: Model, options: &RtlOptions) -> Self {
        let core = Clocked::new(slr, model, options);
        Self { graph: None, chance: Chance::new(core.options.stall_seed, 201), core }
    }

    /// Reset, once; and memory for the graph, once for each.
    fn set_up(&mut self, graph: &Arc<CscGraph>) -> Result<(), DeviceError> {
        if !self.graph.as_ref().is_some_and(|known| Arc::ptr_eq(known, graph)) {
            // Bases of what is only read need no more than 64-byte alignment, which the hostile profile makes use of.
            let lines = self.chance.below(1 << 20);
            let lines = if self.core.options.memory == Profile::Hostile { lines } else { lines / 64 * 64 };
            self.core.set_memory(Space::new(graph, self.core.options.channels, lines * LINE_BYTES as u64));
            self.graph = Some(Arc::clone(graph));
        }
        self.core.reset()
    }

    fn memory(&mut self) -> &mut Memory {
        self.core.memory()
    }

    /// The handshakes of the last run, if they are recorded.
    pub(super) fn bus_log(&self) -> Option<String> {
        self.core.memory.as_ref()?.log()
    }

    /// Clock cycles since the kernel was made.
    pub(super) fn cycles(&self) -> u64 {
        self.core.cycles()
    }
}
