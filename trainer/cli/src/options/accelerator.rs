//! Where sub-graphs are consumed, how they get there, and what is recorded of that: for every command with a pipeline.

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use golden::Capacity;
use golden_files::write;
use hw::{SLRS, SamplerDevice};

use super::named;
use crate::{error::CliError, interrupt};
use golden_files::memory::{self, Shortage};
use pipeline::{
    self, MAX_SLOTS, Sink, Stop, Transport,
    accelerator::{Accelerator, AcceleratorError, HostAccelerator, Lend, SimulatedAccelerator, SimulatedOptions},
    ledger::Ledger,
    timeline::Timeline,
};

/// What consumes sub-graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The processor, in host memory.
    Host,
    /// A simulated accelerator.
    Simulated,
    /// An NVIDIA GPU, by its number.
    Cuda(usize),
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let number = |name: &str| name.strip_prefix("cuda:")?.parse().ok();
        match name {
            "host" | "cpu" => Ok(Self::Host),
            "simulated" => Ok(Self::Simulated),
            "cuda" => Ok(Self::Cuda(0)),
            _ => number(name).map(Self::Cuda).ok_or_else(|| "give host (or cpu), simulated, or cuda:N".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Pipeline")]
pub(crate) struct PipelineArgs {
    /// What consumes sub-graphs: host (or cpu), the processor; simulated, an accelerator with memory, streams and random delays,
    /// which reports races; cuda:N (or cuda for cuda:0), an NVIDIA GPU
    #[arg(long, visible_alias = "device", default_value = "host", value_name = "ACCELERATOR")]
    accelerator: Kind,
    /// Seed of the simulated accelerator's delays [default: 0]
    #[arg(long, value_name = "U64")]
    accelerator_seed: Option<u64>,
    /// How sub-graphs get from the card to it [default: the best way that works]
    #[arg(long, value_name = "SINK", value_parser = named::<Sink>())]
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

/// What goes into a trace's file, as an error names it.
const TRACE: &str = "a trace";

/// A command that is the same for every accelerator.
pub(crate) trait OnAccelerator {
    /// What it results in.
    type Output;

    /// Does it.
    fn run_on<A: Lend>(self, accelerator: A) -> Result<Self::Output, CliError>;
}

impl PipelineArgs {
    /// Does it on the accelerator that was chosen.
    pub(crate) fn on_accelerator<C: OnAccelerator>(&self, command: C) -> Result<C::Output, CliError> {
        self.check()?;
        let ledger = if self.transfers { Ledger::counting() } else { Ledger::default() };
        match self.accelerator {
            Kind::Host => command.run_on(HostAccelerator::new(ledger)),
            Kind::Simulated => {
                let default = SimulatedOptions::default();
                let options = SimulatedOptions { seed: self.accelerator_seed.unwrap_or(default.seed), ..default };
                command.run_on(SimulatedAccelerator::new(options, ledger))
            }
            Kind::Cuda(gpu) => command.run_on(cuda(gpu, ledger)?),
        }
    }

    /// Refuses what does not go together.
    fn check(&self) -> Result<(), CliError> {
        if self.accelerator_seed.is_some() && self.accelerator != Kind::Simulated {
            let sentence = "--accelerator-seed is an option of --accelerator simulated; others have no delays to draw";
            return Err(CliError::Usage(sentence.to_owned()));
        }
        // A trace that cannot be written.
        self.trace.as_deref().map_or(Ok(()), |trace| Ok(write::check_file(trace, TRACE, true)?))
    }

    /// Chooses the way, with the reason in a sentence, and lets a signal end what uses it.
    pub(crate) fn transport<A: Accelerator>(
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

    /// Refuses more slots than there is memory for, where they are in this machine's memory, instead of being ended by the
    /// system.
    pub(crate) fn check_memory(&self, capacity: &Capacity, sink: Option<Sink>) -> Result<(), CliError> {
        if let Kind::Cuda(_) = self.accelerator {
            return Ok(());
        }
        let copies = if matches!(sink, Some(Sink::Bar | Sink::Staged)) { 2 } else { 1 };
        let elements = (capacity.edges as u64).saturating_mul(3).saturating_add(capacity.nodes as u64);
        let needed = elements.saturating_mul(size_of::<i32>() as u64 * SLRS as u64 * copies).saturating_mul(self.slots);
        memory::check(needed).map_err(|Shortage { needed, free }| {
            let slots = self.slots;
            CliError::Usage(format!(
                "--slots: {slots} slots for the worst case need {needed} of memory, and {free}; take fewer, smaller mini-batches \
                 or smaller fan-outs"
            ))
        })
    }

    /// Writes the trace, if one was asked for.
    pub(crate) fn write_trace(&self, timeline: &Timeline, command: &str) -> Result<(), CliError> {
        if let Some(path) = &self.trace {
            write::file(path, TRACE, true, |out| timeline.write(command, out))?;
        }
        Ok(())
    }
}

/// The GPU, or why there is none.
#[cfg(feature = "cuda")]
fn cuda(gpu: usize, ledger: Ledger) -> Result<pipeline::accelerator::CudaAccelerator, AcceleratorError> {
    pipeline::accelerator::CudaAccelerator::new(gpu, ledger)
}

/// The GPU, or why there is none.
#[cfg(not(feature = "cuda"))]
fn cuda(_: usize, _: Ledger) -> Result<HostAccelerator, AcceleratorError> {
    let build = if cfg!(feature = "torch") {
        ".setup/libtorch.sh cargo build --release --features trisage/cuda,trisage/torch"
    } else {
        "cargo build --release --features trisage/cuda"
    };
    let reason = format!("this trisage was built without it; build it with `{build}`");
    Err(AcceleratorError::Unavailable { accelerator: "CUDA", reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accelerators_have_the_names_of_torch_too() {
        let expected = [
            ("host", Kind::Host),
            ("cpu", Kind::Host),
            ("simulated", Kind::Simulated),
            ("cuda", Kind::Cuda(0)),
            ("cuda:0", Kind::Cuda(0)),
            ("cuda:12", Kind::Cuda(12)),
        ];
        for (name, kind) in expected {
            assert_eq!(name.parse(), Ok(kind));
        }
        for name in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", "cpu:0"] {
            assert_eq!(name.parse::<Kind>(), Err("give host (or cpu), simulated, or cuda:N".to_owned()), "{name}");
        }
    }
}
