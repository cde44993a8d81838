//! How the host runs a kernel: as XRT's driver does with `ap_ctrl_chain` (its `cu_hls.c`), with interrupts or without.

use std::time::Duration;

use hw::{
    DeviceError, RunReport,
    registers::{self, AP_CONTINUE, AP_DONE, AP_IDLE, AP_READY, AP_START, ARGS, KernelArgs},
    status::RunContext,
};

use super::{
    super::{control::Access, outcome},
    RtlKernel,
};
use crate::{
    card::{Job, Kernel},
    memory::Profile,
    worker::Cancel,
};

/// Cycles between two reads of the control register.
const POLL_CYCLES: u64 = 32;

impl Kernel for RtlKernel {
    fn run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        let result = self.try_run(job, cancel);
        if result.as_ref().is_err_and(DeviceError::poisons) {
            self.core.end_waves(); // what led to the error is whole on disk
        }
        result
    }

    fn waiting_for(&self) -> Option<String> {
        Some(self.core.waits())
    }

    fn finish(&mut self) -> Result<(), DeviceError> {
        self.core.close_waves()
    }
}

impl RtlKernel {
    fn try_run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        self.set_up(&job.graph)?;
        self.memory().space.prepare(&job.request.seeds, &job.outputs.buffers);
        let args = self.arguments(job);
        let now = self.core.cycle;
        self.memory().begin(now);

        self.write_arguments(&args, cancel)?;
        let interrupts = self.chance.one_in(2);
        self.core.access(Access::Write(registers::GIE, u32::from(interrupts)), cancel)?;
        self.core.access(Access::Write(registers::IER, u32::from(interrupts)), cancel)?;
        self.core.access(Access::Write(registers::CTRL, AP_START), cancel)?;
        self.wait_until_done(cancel)?;
        self.check_interrupt(interrupts, cancel)?;
        let waiting = self.core.bus_waits();
        if !waiting.is_empty() {
            let waiting = waiting.join("; ");
            return Err(self.core.protocol(format!("it reports done while the bus is not at rest: {waiting}")));
        }
        let last_status = self.core.access(Access::Read(registers::LAST_STATUS), cancel)?;
        self.core.access(Access::Write(registers::CTRL, AP_CONTINUE), cancel)?;
        if self.core.access(Access::Read(registers::CTRL), cancel)? & AP_DONE != 0 {
            return Err(self.core.protocol("AP_DONE stays after AP_CONTINUE".to_owned()));
        }

        let stray = self.memory().take_stray();
        let run = outcome::Run {
            context: RunContext {
                slr: self.core.slr,
                minibatch: job.request.minibatch,
                fanouts: job.request.fanouts.clone(),
                capacity: job.outputs.capacity,
                table_slots: self.core.options.table_slots(),
                channels: self.core.options.channels,
                elapsed: Duration::ZERO, // the worker's affair
            },
            last_status,
            status_address: args.status,
            stray,
        };
        outcome::of(&run, &self.memory().space.status(), &self.memory().traffic())
    }

    fn arguments(&mut self, job: &Job) -> KernelArgs {
        let mut args = KernelArgs::of(&job.request, &job.graph, job.outputs.capacity);
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
            let other = self.core.options.registers.iter().find(|(register, _)| *register == offset);
            self.core.access(Access::Write(offset, other.map_or(value, |(_, value)| *value)), cancel)?;
        }
        Ok(())
    }

    /// Reads the control register now and then, and when the kernel interrupts.
    fn wait_until_done(&mut self, cancel: &Cancel) -> Result<(), DeviceError> {
        let hostile = self.core.options.memory == Profile::Hostile;
        loop {
            let pause = if hostile { self.chance.below(4 * POLL_CYCLES) } else { POLL_CYCLES };
            for _ in 0..pause {
                self.core.clock()?;
                self.core.look_around(cancel)?;
                if self.core.model.pins().control.interrupt != 0 {
                    break;
                }
            }
            let control = self.core.access(Access::Read(registers::CTRL), cancel)?;
            if control & AP_DONE != 0 {
                return Ok(());
            }
            if control & AP_IDLE != 0 || control & (AP_START | AP_READY) == 0 {
                return Err(self.core.protocol(format!("its control register reads {control:#x} during a run")));
            }
            if hostile && control & AP_START == 0 {
                self.disturb(cancel)?;
            }
        }
    }

    /// At the end of a run: the interrupt is there exactly if it was asked for, and goes when its bit is toggled.
    fn check_interrupt(&mut self, asked: bool, cancel: &Cancel) -> Result<(), DeviceError> {
        let status = self.core.access(Access::Read(registers::ISR), cancel)?;
        let raised = self.core.model.pins().control.interrupt != 0;
        if raised != asked || status != u32::from(asked) {
            let what = format!("the interrupt is {raised} and its status {status:#x} where it should be {asked}");
            return Err(self.core.protocol(what));
        }
        self.core.access(Access::Write(registers::ISR, status), cancel)?;
        if self.core.model.pins().control.interrupt == 0 {
            Ok(())
        } else {
            Err(self.core.protocol("the interrupt stays".to_owned()))
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
        self.core.access(access, cancel).map(drop)
    }
}
