//! A card that does one thing wrong, to see that it is noticed.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use golden::{Buffer, Capacity, CscGraph, Progress, Request};
use hw::{Capabilities, Deadline, DeviceError, HostMemory, OutputBuffers, RunReport, SamplerDevice, Slot, Slr};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The write of one buffer does nothing: it holds what it held before the run.
    SkippedWrite(Buffer),
    /// The slot holds what its run before this one has written, in all buffers. Nothing, if it had none.
    StaleSlot,
    /// One bit of an element is wrong. Nothing, if the run has fewer elements.
    FlippedBit {
        /// The buffer.
        buffer: Buffer,
        /// The element.
        index: usize,
        /// The bit, 0 to 31.
        bit: u32,
    },
    /// The report has an edge less in the last hop that has one.
    ShortCount,
}

/// Which fault, in which run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// What goes wrong.
    pub fault: Fault,
    /// On which SLR.
    pub slr: Slr,
    /// In which of its runs, counted from 0.
    pub run: u64,
}

/// A device that is right but for one run. Its buffers lie in memory that this process can address.
pub struct Faulty {
    device: Arc<dyn SamplerDevice>,
    injection: Injection,
    /// Of the SLR that goes wrong.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bound: HashMap<Slot, OutputBuffers>,
    /// Slots of the runs in flight.
    started: VecDeque<Slot>,
    /// What each buffer held when the run in flight began.
    before: HashMap<Slot, [Vec<i32>; 4]>,
    /// What the last run in each slot has written.
    written: HashMap<Slot, [Vec<i32>; 4]>,
    runs: u64,
    changed: bool,
}

impl Faulty {
    /// `device` with this fault.
    pub fn new(device: Arc<dyn SamplerDevice>, injection: Injection) -> Self {
        Self { device, injection, state: Mutex::default() }
    }

    /// Whether the fault has changed anything so far: an element or a count.
    pub fn changed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).changed
    }

    fn state(&self, slr: Slr) -> Option<MutexGuard<'_, State>> {
        (slr == self.injection.slr).then(|| self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn elements(&self, slot: Slot, buffer: Buffer) -> Option<&Arc<HostMemory>> {
        self.bound.get(&slot)?.get(buffer).elements()
    }

    fn copy(&self, slot: Slot) -> [Vec<i32>; 4] {
        Buffer::ALL.map(|buffer| self.elements(slot, buffer).map_or_else(Vec::new, |m| m.to_vec(0..m.len())))
    }

    fn restore(&self, slot: Slot, buffer: Buffer, old: &[i32]) {
        if let Some(memory) = self.elements(slot, buffer) {
            memory.write(0, old);
        }
    }

    fn inject(&self, fault: Fault, slot: Slot, report: &mut RunReport) {
        match fault {
            Fault::SkippedWrite(buffer) => {
                self.before.get(&slot).into_iter().for_each(|old| self.restore(slot, buffer, &old[buffer as usize]));
            }
            Fault::StaleSlot => {
                for buffer in Buffer::ALL {
                    self.written
                        .get(&slot)
                        .into_iter()
                        .for_each(|old| self.restore(slot, buffer, &old[buffer as usize]));
                }
            }
            Fault::FlippedBit { buffer, index, bit } => {
                if let Some(memory) = self.elements(slot, buffer)
                    && index < report.hops.len_of(buffer)
                {
                    memory.store(index, memory.load(index) ^ 1 << (bit % 32));
                }
            }
            Fault::ShortCount => {
                if let Some(edges) = report.hops.edges.iter_mut().rfind(|edges| **edges > 0) {
                    *edges -= 1;
                }
            }
        }
    }
}

impl SamplerDevice for Faulty {
    fn capabilities(&self) -> &Capabilities {
        self.device.capabilities()
    }

    fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError> {
        self.device.load_graph(graph, progress)
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        if let Some(mut state) = self.state(slr) {
            state.bound.insert(slot, outputs.clone());
        }
        self.device.bind_outputs(slr, slot, outputs)
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        if let Some(mut state) = self.state(slr)
            && state.runs <= self.injection.run
        {
            let before = state.copy(slot);
            state.before.insert(slot, before);
        }
        self.device.start(slr, slot, request)?;
        if let Some(mut state) = self.state(slr) {
            state.started.push_back(slot);
        }
        Ok(())
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        let mut report = self.device.wait(slr, deadline)?;
        if let Some(mut state) = self.state(slr)
            && let Some(slot) = state.started.pop_front()
        {
            if state.runs == self.injection.run {
                let (right, counts) = (state.copy(slot), report.hops.clone());
                state.inject(self.injection.fault, slot, &mut report);
                state.changed = report.hops != counts || state.copy(slot) != right;
            } else if state.runs < self.injection.run {
                let written = state.copy(slot);
                state.written.insert(slot, written);
            }
            state.runs += 1;
        }
        Ok(report)
    }

    fn cancel(&self, slr: Slr) {
        self.device.cancel(slr);
    }

    fn bar_outputs(&self, slr: Slr, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        self.device.bar_outputs(slr, capacity)
    }

    fn finish(&self) -> Result<(), DeviceError> {
        self.device.finish()
    }
}
