//! One simulated kernel, and how the host runs it: as XRT's driver does (`ap_ctrl_chain`).

use std::{path::PathBuf, sync::Arc};

use golden::{CscGraph, Request};
use hw::{
    DeviceError, HostMemory, RunReport, Slr,
    card::LINE_BYTES,
    registers::{self, AP_CONTINUE, AP_DONE, AP_IDLE, AP_READY, AP_START, ARGS, KernelArgs},
};
use verilator_sys::{AssertionError, Model};

use super::{
    axi::{Memory, Profile, Space, random::Chance},
    control::{Access, Control},
    options::RtlOptions,
    outcome,
};
use crate::worker::{Cancel, poisons};

/// Cycles of reset.
const RESET_CYCLES: u64 = 16;
/// Cycles between two reads of the control register.
const POLL_CYCLES: u64 = 32;
/// Cycles after which it is seen that nobody waits any more.
const CANCEL_CYCLES: u64 = 1024;

/// What a run samples, and into what.
pub(super) struct Job {
    pub(super) graph: Arc<CscGraph>,
    pub(super) request: Request,
    pub(super) outputs: [Arc<HostMemory>; 4],
    pub(super) capacity: golden::Capacity,
}

/// One kernel with clock, registers and memory.
#[derive(Debug)]
pub(super) struct Kernel {
    slr: Slr,
    options: RtlOptions,
    model: Model,
    cycle: u64,
    control: Control,
    memory: Option<Memory>,
    /// The graph for which the memory was made.
    graph: Option<Arc<CscGraph>>,
    chance: Chance,
    coverage: Option<PathBuf>,
}

impl Kernel {
    pub(super) fn new(slr: Slr, model: Model, options: &RtlOptions) -> Self {
        // Each SLR has a seed of its own, so that they do not stall in step.
        let seed = options.stall_seed.wrapping_mul(3).wrapping_add(slr.index() as u64);
        Self {
            slr,
            model,
            cycle: 0,
            control: Control::new(Chance::new(seed, 200), options.memory == Profile::Hostile),
            memory: None,
            graph: None,
            chance: Chance::new(seed, 201),
            coverage: options.coverage.as_ref().map(|path| of_slr(path, slr)),
            options: RtlOptions { stall_seed: seed, ..options.clone() },
        }
    }

    /// Samples one mini-batch.
    pub(super) fn run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        let result = self.try_run(job, cancel);
        if result.as_ref().is_err_and(poisons) {
            self.model.close_waves(); // what led to the error is whole on disk
        }
        result
    }

    fn try_run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        self.set_up(&job.graph)?;
        self.memory().space.prepare(&job.request.seeds, &job.outputs);
        let args = self.arguments(job);
        let now = self.cycle;
        self.memory().begin(now);

        self.write_arguments(&args, cancel)?;
        let interrupts = self.chance.one_in(2);
        self.access(Access::Write(registers::GIE, u32::from(interrupts)), cancel)?;
        self.access(Access::Write(registers::IER, u32::from(interrupts)), cancel)?;
        self.access(Access::Write(registers::CTRL, AP_START), cancel)?;
        self.wait_until_done(cancel)?;
        self.check_interrupt(interrupts, cancel)?;
        if !self.memory().is_idle() {
            let waiting = self.waiting_for();
            return Err(self.protocol(format!("it reports done while the bus is not at rest: {waiting}")));
        }
        let last_status = self.access(Access::Read(registers::LAST_STATUS), cancel)?;
        self.access(Access::Write(registers::CTRL, AP_CONTINUE), cancel)?;
        if self.access(Access::Read(registers::CTRL), cancel)? & AP_DONE != 0 {
            return Err(self.protocol("AP_DONE stays after AP_CONTINUE".to_owned()));
        }

        let stray = self.memory().take_stray();
        let run = outcome::Run {
            context: hw::status::RunContext {
                slr: self.slr,
                minibatch: job.request.minibatch,
                hops: job.request.fanouts.len(),
                capacity: job.capacity,
                table_slots: self.options.table_slots(),
                channels: self.options.channels,
                elapsed: std::time::Duration::ZERO, // the worker's affair
            },
            last_status,
            status_address: args.status,
            stray,
        };
        outcome::of(&run, &self.memory().space.status(), &self.memory().traffic())
    }

    /// Reset, once; and memory for the graph, once for each.
    fn set_up(&mut self, graph: &Arc<CscGraph>) -> Result<(), DeviceError> {
        if !self.graph.as_ref().is_some_and(|known| Arc::ptr_eq(known, graph)) {
            self.memory = Some(self.new_memory(graph));
            self.graph = Some(Arc::clone(graph));
        }
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

    fn new_memory(&mut self, graph: &Arc<CscGraph>) -> Memory {
        // Bases need no more than 64-byte alignment, which the hostile profile makes use of.
        let lines = self.chance.below(1 << 20);
        let lines = if self.options.memory == Profile::Hostile { lines } else { lines / 64 * 64 };
        let space = Space::new(graph, self.options.channels, lines * LINE_BYTES as u64);
        Memory::new(space, self.options.channels, &self.options.memory_options())
    }

    fn memory(&mut self) -> &mut Memory {
        self.memory.as_mut().expect("a run has set it up")
    }

    fn arguments(&mut self, job: &Job) -> KernelArgs {
        let request = &job.request;
        let mut args = KernelArgs {
            seed: request.seed,
            minibatch: request.minibatch,
            num_nodes: job.graph.nodes() as u32,
            num_edges: job.graph.edges() as u32,
            num_seeds: request.seeds.len() as u32,
            num_hops: request.fanouts.len() as u32,
            node_capacity: job.capacity.nodes.try_into().unwrap_or(u32::MAX),
            edge_capacity: job.capacity.edges.try_into().unwrap_or(u32::MAX),
            ..KernelArgs::default()
        };
        for (register, &fanout) in args.fanouts.iter_mut().zip(&request.fanouts) {
            *register = registers::fanout_register(fanout);
        }
        self.memory().space.fill_bases(&mut args);
        args
    }

    /// Writes every word from the first argument to the end of the last, also those between them: so does XRT's driver.
    fn write_arguments(&mut self, args: &KernelArgs, cancel: &Cancel) -> Result<(), DeviceError> {
        let mut values = args.register_writes().peekable();
        let last = ARGS[ARGS.len() - 1];
        for offset in (ARGS[0].offset..last.offset + last.bytes).step_by(4) {
            let value = match values.next_if(|(argument, _)| *argument == offset) {
                Some((_, value)) => value,
                None => self.chance.next() as u32, // nobody says what is written between arguments
            };
            self.access(Access::Write(offset, value), cancel)?;
        }
        Ok(())
    }

    /// Reads the control register now and then, and when the kernel interrupts.
    fn wait_until_done(&mut self, cancel: &Cancel) -> Result<(), DeviceError> {
        let hostile = self.options.memory == Profile::Hostile;
        loop {
            let pause = if hostile { self.chance.below(4 * POLL_CYCLES) } else { POLL_CYCLES };
            for _ in 0..pause {
                self.clock()?;
                self.look_around(cancel)?;
                if self.model.pins().control.interrupt != 0 {
                    break;
                }
            }
            let control = self.access(Access::Read(registers::CTRL), cancel)?;
            if control & AP_DONE != 0 {
                return Ok(());
            }
            if control & AP_IDLE != 0 || control & (AP_START | AP_READY) == 0 {
                return Err(self.protocol(format!("its control register reads {control:#x} during a run")));
            }
            if hostile && control & AP_START == 0 {
                self.disturb(cancel)?;
            }
        }
    }

    /// At the end of a run: the interrupt is there exactly if it was asked for, and goes when its bit is toggled.
    fn check_interrupt(&mut self, asked: bool, cancel: &Cancel) -> Result<(), DeviceError> {
        let status = self.access(Access::Read(registers::ISR), cancel)?;
        let raised = self.model.pins().control.interrupt != 0;
        if raised != asked || status != u32::from(asked) {
            let what = format!("the interrupt is {raised} and its status {status:#x} where it should be {asked}");
            return Err(self.protocol(what));
        }
        self.access(Access::Write(registers::ISR, status), cancel)?;
        if self.model.pins().control.interrupt == 0 {
            Ok(())
        } else {
            Err(self.protocol("the interrupt stays".to_owned()))
        }
    }

    /// A register access during a run that has taken its arguments; it must not matter.
    fn disturb(&mut self, cancel: &Cancel) -> Result<(), DeviceError> {
        let offset = self.chance.below(0x200) as u32 & !3;
        let writable = offset >= ARGS[0].offset; // arguments of the next run, gaps, and what is read-only
        let access = if writable && self.chance.one_in(2) {
            Access::Write(offset, self.chance.next() as u32)
        } else {
            Access::Read(offset)
        };
        self.access(access, cancel).map(drop)
    }

    /// Makes one register access.
    fn access(&mut self, access: Access, cancel: &Cancel) -> Result<u32, DeviceError> {
        self.control.begin(access);
        let begin = self.cycle;
        loop {
            if let Some(value) = self.clock()? {
                return Ok(value);
            }
            if self.cycle - begin > self.options.watchdog_cycles {
                let (slr, cycles) = (self.slr, self.cycle - begin);
                return Err(DeviceError::Stalled { slr, cycles, stuck: self.waiting_for() });
            }
            self.look_around(cancel)?;
        }
    }

    /// Now and then: a run ends when nothing moves, or when nobody waits.
    #[inline]
    fn look_around(&mut self, cancel: &Cancel) -> Result<(), DeviceError> {
        if !self.cycle.is_multiple_of(CANCEL_CYCLES) {
            return Ok(());
        }
        let quiet = self.memory.as_ref().map_or(0, |memory| self.cycle - memory.last_handshake());
        // The kernel clears its hash table after reset, and when its epochs are used up: a cycle a slot.
        if quiet > self.options.watchdog_cycles + self.options.table_slots() {
            return Err(DeviceError::Stalled { slr: self.slr, cycles: quiet, stuck: self.waiting_for() });
        }
        if cancel.is_set() {
            let limit = std::time::Duration::ZERO;
            return Err(DeviceError::Timeout { slr: self.slr, limit, detail: Some(self.waiting_for()) });
        }
        Ok(())
    }

    /// One clock cycle of everything. Gives what a register access that ends has read.
    #[inline]
    fn clock(&mut self) -> Result<Option<u32>, DeviceError> {
        let pins = self.model.pins_mut();
        let ended = if pins.control.rst_n != 0 {
            if let Some(memory) = &mut self.memory {
                memory.tick(pins, self.cycle);
            }
            self.control.tick(&mut pins.control).map_err(|what| self.protocol(what))?
        } else {
            None
        };
        self.model.clock().map_err(|AssertionError { cycle, message }| DeviceError::Assertion {
            slr: self.slr,
            cycle,
            message,
        })?;
        self.cycle += 1;
        match self.memory.as_ref().and_then(Memory::violation) {
            None => Ok(ended),
            Some(violation) => Err(self.protocol(violation.to_owned())),
        }
    }

    fn protocol(&self, what: String) -> DeviceError {
        DeviceError::Protocol { slr: self.slr, what }
    }

    /// What is under way, in words.
    pub(super) fn waiting_for(&self) -> String {
        let mut parts = self.memory.as_ref().map(|memory| memory.waiting(self.model.pins())).unwrap_or_default();
        parts.extend(self.control.waiting());
        if parts.is_empty() {
            parts.push("no bus access is under way; the kernel does not report done".to_owned());
        }
        parts.push(format!("cycle {}", self.cycle));
        parts.join("; ")
    }

    /// The handshakes of the last run, if they are recorded.
    pub(super) fn bus_log(&self) -> Option<String> {
        self.memory.as_ref()?.log()
    }

    /// Clock cycles since the kernel was made.
    pub(super) fn cycles(&self) -> u64 {
        self.cycle
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        if let Some(path) = &self.coverage
            && !self.model.write_coverage(path)
        {
            eprintln!("coverage of {} could not be written to {}", self.slr, path.display());
        }
    }
}

/// `NAME.EXT` as `NAME.slr0.EXT`.
pub(super) fn of_slr(path: &std::path::Path, slr: Slr) -> PathBuf {
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_extension(format!("slr{}{extension}", slr.index()))
}
