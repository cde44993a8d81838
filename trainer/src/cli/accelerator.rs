//! Where sub-graphs are consumed, how they get there, and what is recorded of that: for every command with a pipeline.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use golden::{Capacity, write};
use hw::{SLRS, SamplerDevice};

use super::{CliError, interrupt};
use crate::{
    accelerator::{Accelerator, AcceleratorError, SimulatedOptions},
    ledger::Ledger,
    memory::{self, Gigabytes},
    pipeline::{self, MAX_SLOTS, Sink, Stop, Transport},
    timeline::Timeline,
};

/// What consumes sub-graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// The processor, in host memory
    Host,
    /// A simulated accelerator with memory, streams and random delays, which reports races
    Simulated,
    /// An NVIDIA GPU
    Cuda,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineArgs {
    /// What consumes sub-graphs
    #[arg(long, value_enum, default_value = "host")]
    pub(super) accelerator: Kind,
    /// Seed of the simulated accelerator's delays [default: 0]
    #[arg(long, value_name = "U64")]
    accelerator_seed: Option<u64>,
    #[command(flatten)]
    transport: TransportArgs,
}

/// How sub-graphs travel, whatever consumes them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct TransportArgs {
    /// How sub-graphs get from the card to it: in-place, dma-buf, bar or staged [default: the best way that works]
    #[arg(long, value_name = "SINK", value_parser = sink)]
    sink: Option<Sink>,
    /// Slots of buffers: while one is consumed, the card fills the others
    #[arg(long, default_value_t = 2, value_name = "S", value_parser = clap::value_parser!(u64).range(2..=MAX_SLOTS as u64))]
    slots: u64,
    /// Count and print what crosses the bus
    #[arg(long)]
    transfers: bool,
    /// Write when what was done, for <https://ui.perfetto.dev>; a file that is there is overwritten
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
}

fn sink(name: &str) -> Result<Sink, String> {
    let names = Sink::ALL.map(Sink::name).join(", ");
    Sink::ALL.into_iter().find(|sink| sink.name() == name).ok_or_else(|| format!("the sinks are {names}"))
}

/// What goes into a trace's file, as an error names it.
const TRACE: &str = "a trace";

impl PipelineArgs {
    /// Where transfers are counted, if they are.
    pub(super) fn ledger(&self) -> Ledger {
        self.transport.ledger()
    }

    pub(super) fn simulated(&self) -> SimulatedOptions {
        let default = SimulatedOptions::default();
        SimulatedOptions { seed: self.accelerator_seed.unwrap_or(default.seed), ..default }
    }

    /// Refuses what does not go together.
    pub(super) fn check(&self) -> Result<(), CliError> {
        if self.accelerator_seed.is_some() && self.accelerator != Kind::Simulated {
            let sentence = "--accelerator-seed is an option of --accelerator simulated; others have no delays to draw";
            return Err(CliError::Usage(sentence.to_owned()));
        }
        self.transport.check()
    }

    /// See [`TransportArgs::transport`].
    pub(super) fn transport<A: Accelerator>(
        &self,
        device: &dyn SamplerDevice,
        accelerator: &A,
    ) -> Result<(Transport, String), CliError> {
        self.transport.transport(device, accelerator)
    }

    /// As [`TransportArgs::check_memory`], where slots are in this machine's memory.
    pub(super) fn check_memory(&self, capacity: &Capacity, sink: Option<Sink>) -> Result<(), CliError> {
        match self.accelerator {
            Kind::Host | Kind::Simulated => self.transport.check_memory(capacity, sink),
            Kind::Cuda => Ok(()),
        }
    }

    /// See [`TransportArgs::write_trace`].
    pub(super) fn write_trace(&self, timeline: &Timeline, command: &str) -> Result<(), CliError> {
        self.transport.write_trace(timeline, command)
    }
}

impl TransportArgs {
    /// Where transfers are counted, if they are.
    pub(super) fn ledger(&self) -> Ledger {
        if self.transfers { Ledger::counting() } else { Ledger::default() }
    }

    /// Refuses a trace that cannot be written.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.trace.as_deref().map_or(Ok(()), |trace| Ok(write::check_file(trace, TRACE, true)?))
    }

    /// Chooses the way, with the reason in a sentence, and lets Ctrl-C end what uses it.
    pub(super) fn transport<A: Accelerator>(
        &self,
        device: &dyn SamplerDevice,
        accelerator: &A,
    ) -> Result<(Transport, String), CliError> {
        let probes = pipeline::probe(device, accelerator);
        let (sink, why) = pipeline::choose(&probes, self.sink).map_err(pipeline::PipelineError::from)?;
        let timeline = if self.trace.is_some() { Timeline::recording() } else { Timeline::default() };
        let stop = Stop::default();
        interrupt::stops(&stop);
        let transport = Transport { slots: self.slots as usize, sink: Some(sink), timeline, stop };
        Ok((transport, format!("{}, {why}", accelerator.describe())))
    }

    /// Refuses more slots than there is memory for, instead of being ended by the system.
    pub(super) fn check_memory(&self, capacity: &Capacity, sink: Option<Sink>) -> Result<(), CliError> {
        let Some(available) = memory::available() else { return Ok(()) };
        let copies = if matches!(sink, Some(Sink::Bar | Sink::Staged)) { 2 } else { 1 };
        let elements = (capacity.edges as u64).saturating_mul(3).saturating_add(capacity.nodes as u64);
        let needed = elements.saturating_mul(size_of::<i32>() as u64 * SLRS as u64 * copies).saturating_mul(self.slots);
        if needed <= available {
            return Ok(());
        }
        let (slots, needed, available) = (self.slots, Gigabytes(needed), Gigabytes(available));
        Err(CliError::Usage(format!(
            "--slots: {slots} slots for the worst case need {needed} of memory, and this machine has {available} left; take \
             fewer, smaller mini-batches or smaller fan-outs"
        )))
    }

    /// Writes the trace, if one was asked for.
    pub(super) fn write_trace(&self, timeline: &Timeline, command: &str) -> Result<(), CliError> {
        if let Some(path) = &self.trace {
            write::file(path, TRACE, true, |out| timeline.write(command, out))?;
        }
        Ok(())
    }
}

/// The GPU, or why there is none.
#[cfg(feature = "cuda")]
pub(super) fn cuda(ledger: Ledger) -> Result<crate::accelerator::CudaAccelerator, AcceleratorError> {
    crate::accelerator::CudaAccelerator::new(0, ledger)
}

/// The GPU, or why there is none.
#[cfg(not(feature = "cuda"))]
pub(super) fn cuda(_: Ledger) -> Result<crate::accelerator::HostAccelerator, AcceleratorError> {
    let reason = "this trisage was built without it; build it with `cargo build --release --features trainer/cuda`";
    Err(AcceleratorError::Unavailable { accelerator: "CUDA", reason: reason.to_owned() })
}
