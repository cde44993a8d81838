//! A kernel under a clock: model, register master and memory, whoever tells it what to do.

use std::path::PathBuf;

use hw::{DeviceError, Slr, registers};
use verilator_sys::{AssertionError, Model};

use super::super::{
    axi::{AddressSpace, Memory, Space},
    control::{Access, Control},
    failure::KernelFailure,
    options::{RtlOptions, of_slr},
    waves,
};
use crate::{chance::Chance, complain, memory::Profile, worker::Cancel};

/// Cycles of reset.
const RESET_CYCLES: u64 = 16;
/// Cycles after which it is seen that nobody waits any more.
const CANCEL_CYCLES: u64 = 1024;

/// One kernel with clock, registers and, once it has some, memory.
#[derive(Debug)]
pub(crate) struct Clocked<S: AddressSpace = Space> {
    pub(super) slr: Slr,
    pub(super) options: RtlOptions,
    pub(super) model: Model,
    pub(super) cycle: u64,
    pub(super) control: Control,
    pub(super) memory: Option<Memory<S>>,
    coverage: Option<PathBuf>,
}

impl<S: AddressSpace> Clocked<S> {
    pub(crate) fn new(slr: Slr, model: Model, options: &RtlOptions) -> Self {
        // Each SLR has a seed of its own, so that they do not stall in step.
        let seed = options.stall_seed.wrapping_mul(3).wrapping_add(slr.index() as u64);
        Self {
            slr,
            model,
            cycle: 0,
            control: Control::new(Chance::new(seed, 200), options.memory == Profile::Hostile),
            memory: None,
            coverage: options.coverage.as_ref().map(|path| of_slr(path, slr)),
            options: RtlOptions { stall_seed: seed, ..options.clone() },
        }
    }

    /// The SLR that it stands for.
    pub(crate) fn slr(&self) -> Slr {
        self.slr
    }

    /// Clock cycles since it was made.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycle
    }

    /// Gives it this memory in place of any other.
    pub(crate) fn set_memory(&mut self, space: S) {
        self.memory = Some(Memory::new(space, self.options.channels, &self.options.memory_options()));
    }

    /// Reset, once; and a look at who it is.
    pub(crate) fn reset(&mut self) -> Result<(), DeviceError> {
        if self.cycle > 0 {
            return Ok(());
        }
        for _ in 0..RESET_CYCLES {
            self.clock()?;
        }
        let pins = self.model.pins();
        let reads = pins.read.iter().any(|port| port.arvalid != 0);
        if reads || pins.write.iter().any(|port| port.awvalid | port.wvalid != 0) {
            return Err(self.protocol("a valid of a master is high in reset".to_owned()));
        }
        self.model.pins_mut().control.rst_n = 1;
        let never = Cancel::default();
        let identity = self.access(Access::Read(registers::IDENTITY), &never)?;
        if identity != registers::IDENTITY_VALUE {
            return Err(self.protocol(format!("its identity reads {identity:#010x}")));
        }
        let config = self.access(Access::Read(registers::CONFIG), &never)?;
        if config != self.options.table_log2 | (self.options.channels as u32) << 8 {
            return Err(self.protocol(format!("its configuration reads {config:#010x}")));
        }
        Ok(())
    }

    pub(crate) fn memory(&mut self) -> &mut Memory<S> {
        self.memory.as_mut().expect("a run has set it up")
    }

    /// Makes one register access.
    pub(crate) fn access(&mut self, access: Access, cancel: &Cancel) -> Result<u32, DeviceError> {
        self.control.begin(access);
        let begin = self.cycle;
        loop {
            if let Some(value) = self.clock()? {
                return Ok(value);
            }
            if self.cycle - begin > self.options.watchdog_cycles {
                let (slr, cycles) = (self.slr, self.cycle - begin);
                return Err(KernelFailure::Stalled { slr, cycles, stuck: self.waits() }.into());
            }
            self.look_around(cancel)?;
        }
    }

    /// Now and then: a run ends when nothing moves, or when nobody waits.
    #[inline]
    pub(crate) fn look_around(&mut self, cancel: &Cancel) -> Result<(), DeviceError> {
        if !self.cycle.is_multiple_of(CANCEL_CYCLES) {
            return Ok(());
        }
        let quiet = self.memory.as_ref().map_or(0, |memory| self.cycle - memory.last_handshake());
        // The kernel clears its hash table after reset, and when its epochs are used up: a cycle a slot.
        if quiet > self.options.watchdog_cycles + self.options.table_slots() {
            return Err(KernelFailure::Stalled { slr: self.slr, cycles: quiet, stuck: self.waits() }.into());
        }
        if cancel.is_set() {
            let limit = std::time::Duration::ZERO;
            return Err(DeviceError::Timeout { slr: self.slr, limit, detail: Some(self.waits()) });
        }
        Ok(())
    }

    /// One clock cycle of everything. Gives what a register access that ends has read.
    #[inline]
    pub(crate) fn clock(&mut self) -> Result<Option<u32>, DeviceError> {
        let pins = self.model.pins_mut();
        let ended = if pins.control.rst_n != 0 {
            if let Some(memory) = &mut self.memory {
                memory.tick(pins, self.cycle);
            }
            self.control.tick(&mut pins.control).map_err(|what| self.protocol(what))?
        } else {
            None
        };
        let slr = self.slr;
        self.model.clock().map_err(|AssertionError { cycle, message }| KernelFailure::Assertion {
            slr,
            cycle,
            message,
        })?;
        self.cycle += 1;
        match self.memory.as_ref().and_then(|memory| memory.violation()) {
            None => Ok(ended),
            Some(violation) => Err(self.protocol(violation.to_owned())),
        }
    }

    pub(crate) fn protocol(&self, what: String) -> DeviceError {
        DeviceError::Protocol { slr: self.slr, what }
    }

    /// What is under way between kernel and memory, in words; empty when nothing is.
    pub(crate) fn bus_waits(&self) -> Vec<String> {
        self.memory.as_ref().map(|memory| memory.waiting(self.model.pins())).unwrap_or_default()
    }

    /// What is under way, in words.
    pub(in crate::rtl) fn waits(&self) -> String {
        let mut parts = self.bus_waits();
        parts.extend(self.control.waiting());
        if parts.is_empty() {
            parts.push("no bus access is under way; the kernel does not report done".to_owned());
        }
        parts.push(format!("cycle {}", self.cycle));
        parts.join("; ")
    }

    /// Ends the waves, if there are any.
    pub(in crate::rtl) fn close_waves(&mut self) -> Result<(), DeviceError> {
        if self.cycle == 0 && self.options.waves.is_some() {
            // A file without any time is one that no viewer reads. This cycle is one more of reset.
            let _ = self.model.clock();
        }
        if self.model.close_waves() {
            return Ok(());
        }
        let path = self.options.waves.as_ref().map(|path| of_slr(path, self.slr)).unwrap_or_default();
        Err(waves::refusal(&path, "the file is not whole, perhaps because the disk is full; make room there"))
    }

    /// Ends the waves where no error can be returned.
    pub(crate) fn end_waves(&mut self) {
        if let Err(error) = self.close_waves() {
            complain(&error);
        }
    }
}

impl<S: AddressSpace> Drop for Clocked<S> {
    fn drop(&mut self) {
        self.end_waves();
        if let Some(path) = &self.coverage
            && !self.model.write_coverage(path)
        {
            complain(&format_args!("coverage of {} could not be written to {}", self.slr, path.display()));
        }
    }
}
