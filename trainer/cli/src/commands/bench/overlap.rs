//! `trisage bench overlap`.

use std::{fmt, sync::Arc};

use clap::Args;
use golden::NodeId;
use hw::SamplerDevice;
use serde::Serialize;

use super::label;
use crate::{
    backends::DeviceArgs,
    bench,
    bench::Overlapping,
    error::CliError,
    options::{
        accelerator::{OnAccelerator, PipelineArgs},
        source::{BATCH_SIZE, GraphArgs, SamplingArgs, batch_size},
    },
    output::{print, print_json, say},
    progress::Bar,
    report::{
        table::{Table, count},
        transfers,
    },
};
use pipeline::{
    accelerator::Lend,
    batches::{Batches, Workload},
    ledger::Tally,
};

#[derive(Debug, Args)]
pub(crate) struct OverlapArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Seed nodes of a mini-batch
    #[arg(long, default_value_t = BATCH_SIZE, value_name = "N", value_parser = batch_size)]
    batch_size: usize,
    /// Iterations of each way
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 20))]
    iterations: u64,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Result {
    graph: String,
    backend: &'static str,
    accelerator: String,
    #[serde(flatten)]
    measured: Overlapping,
    /// Of all ways together, if that was counted.
    transfers: Option<Tally>,
}

impl OverlapArgs {
    pub(crate) fn run(&self) -> std::result::Result<(), CliError> {
        self.pipeline.on_accelerator(self)
    }
}

impl OnAccelerator for &OverlapArgs {
    type Output = ();

    fn run_on<A: Lend>(self, accelerator: A) -> std::result::Result<(), CliError> {
        let device: Arc<dyn SamplerDevice> = self.device.open(&[])?;
        let (transport, way) = self.pipeline.transport(&*device, &accelerator)?;
        let progress = Bar::default();
        let graph = self.graph.load(&progress)?;
        device.load_graph(&graph, &progress)?;
        let plan = Workload {
            batches: Batches::shuffled((0..graph.nodes()).map(NodeId::from_index), self.batch_size, self.sampling.seed),
            fanouts: self.sampling.fanouts.clone(),
            seed: self.sampling.seed,
            minibatches: self.iterations,
        };
        let capacity = self.sampling.capacity(&graph, plan.batches.size());
        self.pipeline.check_memory(&capacity, transport.sink)?;
        say(&way);
        let accelerator = Arc::new(accelerator);
        let measured = bench::overlap(&device, &accelerator, &plan, &transport, capacity, &progress);
        drop(progress);
        let traced = self.pipeline.write_trace(&transport.timeline, "trisage bench overlap");
        // Why it failed is worth more than a trace of it.
        let measured = measured?;
        traced?;
        device.finish()?;
        let transfers = accelerator.ledger().tally();
        let backend = device.capabilities().backend;
        let graph = label(self.graph.name());
        let result = Result { graph, backend, accelerator: accelerator.describe(), measured, transfers };
        if self.json { print_json(&result) } else { print(&result.to_string()) }
    }
}

impl fmt::Display for Result {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlapping { iterations, consumer, one_by_one, pipelined, speedup, overlap } = &self.measured;
        let mut table = Table::default();
        let ms = |time: std::time::Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        table.row("", ["one by one", "pipelined"].map(str::to_owned));
        table.row("wall time", [one_by_one.wall, pipelined.wall].map(ms));
        for ((name, one), (_, other)) in one_by_one.stages().into_iter().zip(pipelined.stages()) {
            table.row(name, [one, other].map(ms));
        }
        writeln!(
            f,
            "{}: {} iterations, back end '{}', {}",
            self.graph,
            count(*iterations),
            self.backend,
            self.accelerator
        )?;
        writeln!(f, "{table}the consumer takes {} for an iteration, as the card does", ms(*consumer))?;
        writeln!(f, "speed-up of the pipeline: {speedup:.2}")?;
        writeln!(f, "overlap: {overlap}")?;
        self.transfers.as_ref().map_or(Ok(()), |tally| write!(f, "\n{}", transfers::text(tally)))
    }
}
