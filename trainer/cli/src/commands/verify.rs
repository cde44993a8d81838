//! `trisage verify`.

use std::{sync::Arc, time::Duration};

use clap::Args;
use hw::{Feature, SamplerDevice};

use crate::{
    Verdict,
    backends::DeviceArgs,
    error::CliError,
    options::{
        accelerator::{OnAccelerator, PipelineArgs},
        faults,
        faults::FaultArg,
        source::{BatchArgs, GraphArgs, SamplingArgs},
    },
    output::{print, print_json, say},
    progress::Bar,
    report,
};
use pipeline::{accelerator::Lend, verify, verify::Plan};

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    batches: BatchArgs,
    /// Mini-batches that each of the three SLRs samples; they take turns with the same three
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i32::MAX as u64))]
    iterations: u64,
    /// Give up when one mini-batch takes longer than this
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
    /// Do one thing wrong, to see that it is noticed: for example flipped-bit@4:1 in iteration 4 on SLR1
    #[arg(long, value_name = "FAULT@ITERATION:SLR")]
    inject: Option<FaultArg>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Verdict, CliError> {
    args.pipeline.on_accelerator(args)
}

impl OnAccelerator for &VerifyArgs {
    type Output = Verdict;

    fn run_on<A: Lend>(self, accelerator: A) -> Result<Verdict, CliError> {
        verify_on(self, accelerator)
    }
}

fn verify_on<A: Lend>(args: &VerifyArgs, accelerator: A) -> Result<Verdict, CliError> {
    let device = args.device.open(&[Feature::Traffic])?;
    let (transport, way) = args.pipeline.transport(&*device, &accelerator)?;
    let timeline = transport.timeline.clone();
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
        transport,
    };
    plan.check(&*device, &graph)?;
    args.pipeline.check_memory(&plan.capacity, plan.transport.sink)?;
    let faulty = args.inject.map(|fault| fault.into(Arc::clone(&device), args.iterations)).transpose()?;
    let tested =
        faulty.as_ref().map_or_else(|| Arc::clone(&device), |faulty| Arc::clone(faulty) as Arc<dyn SamplerDevice>);
    say(&way);
    let report = verify::run(&tested, &Arc::new(accelerator), &graph, &plan, &progress);
    drop(progress);
    // Whatever goes wrong with the trace, the verdict is told; and a trace of what failed is worth most.
    let traced = args.pipeline.write_trace(&timeline, "trisage verify");
    let report = match (report, traced) {
        (Ok(report), traced) => {
            if args.json { print_json(&report) } else { print(&report::verify::text(&report)) }?;
            if report.equal() {
                traced?;
            } else if let Err(error) = traced {
                say(&format!("warning: {error}"));
            }
            report
        }
        (Err(error), traced) => {
            if let Err(error) = traced {
                say(&format!("warning: {error}"));
            }
            return Err(error.into());
        }
    };
    device.finish()?;
    if report.equal() && faulty.is_some_and(|faulty| !faulty.changed()) {
        return Err(faults::without_effect());
    }
    Ok(if report.equal() { Verdict::Success } else { Verdict::Different })
}
