//! `trisage verify`.

use std::time::Duration;

use clap::Args;

use super::{
    CliError, Verdict,
    backend::DeviceArgs,
    print, print_json,
    progress::Bar,
    source::{BatchArgs, GraphArgs, SamplingArgs},
};
use crate::verify::{self, Plan};

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    batches: BatchArgs,
    /// Mini-batches that each of the three SLRs samples; they take turns with the same three
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: u64,
    /// Give up when one mini-batch takes longer than this
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &VerifyArgs) -> Result<Verdict, CliError> {
    let device = args.device.open()?;
    let progress = Bar::default();
    let graph = args.graph.load(&progress)?;
    let batches = args.batches.batches(&graph, args.sampling.seed)?;
    let plan = Plan {
        capacity: args.sampling.capacity(&graph, batches.size()),
        batches,
        fanouts: args.sampling.fanouts.clone(),
        seed: args.sampling.seed,
        iterations: args.iterations,
        timeout: args.timeout.map(Duration::from_secs),
    };
    let report = verify::run(&*device, &graph, &plan, &progress)?;
    drop(progress);
    if args.json { print_json(&report) } else { print(&report.to_string()) }?;
    device.finish()?;
    Ok(if report.equal() { Verdict::Success } else { Verdict::Different })
}
