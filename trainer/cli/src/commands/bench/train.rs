//! `trisage bench train`.

use std::fmt;

use clap::Args;
use golden::NodeId;
use serde::Serialize;

use super::{Fanouts, label};
use crate::{
    error::CliError,
    options::source::{BATCH_SIZE, GraphArgs},
    output::{print, print_json},
    progress::Bar,
    report::table::{Table, bytes, count},
};
use golden_files::memory::{self, Shortage};
use learn::steps::{Shape, Step, Steps, steps};
use pipeline::batches::{Batches, Workload};

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    graph: GraphArgs,
    /// Neighbours to draw for each node, hop by hop ('all' or -1 for all), one layer a hop; give it as often as you like
    #[arg(long, default_value = "10,10,10", allow_hyphen_values = true, value_name = "F1,F2,...")]
    fanouts: Vec<Fanouts>,
    /// Seed nodes of a mini-batch
    #[arg(long, default_value_t = BATCH_SIZE, value_name = "N")]
    batch_size: usize,
    /// Columns of the features, which are random
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = width)]
    features: usize,
    /// Columns between layers
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = width)]
    hidden: usize,
    /// Classes
    #[arg(long, default_value_t = 47, value_name = "N", value_parser = width)]
    classes: usize,
    /// Steps of each formulation that count
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = at_least_one)]
    repeats: usize,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, value_name = "U64")]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "give a whole number, 1 or more".to_owned())
}

/// Columns of a matrix: a million are more than fit into memory with any graph, and few enough to calculate with.
fn width(text: &str) -> Result<usize, String> {
    let widest = 1 << 20;
    text.parse().ok().filter(|width| (1..=widest).contains(width)).ok_or_else(|| format!("give 1 to {widest}"))
}

#[derive(Debug, Serialize)]
struct Measurement {
    graph: String,
    shape: Shape,
    threads: i32,
    works: Vec<Work>,
}

#[derive(Debug, Serialize)]
struct Work {
    fanouts: String,
    #[serde(flatten)]
    steps: Steps,
}

impl TrainArgs {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let progress = Bar::default();
        let graph = self.graph.load(&progress)?;
        let needed = (graph.nodes() as u64).saturating_mul(self.features as u64 * size_of::<f32>() as u64);
        memory::check(needed).map_err(|Shortage { needed, free }| {
            CliError::Usage(format!(
                "--features: random features of all nodes need {needed} of memory, and {free}; take fewer"
            ))
        })?;
        let shape = Shape { features: self.features, hidden: self.hidden, classes: self.classes };
        let mut works = Vec::new();
        for Fanouts(fanouts) in &self.fanouts {
            let nodes = (0..graph.nodes()).map(NodeId::from_index);
            let batches = Batches::shuffled(nodes, self.batch_size, self.seed);
            let plan = Workload { batches, fanouts: fanouts.clone(), seed: self.seed, minibatches: 1 };
            let steps = steps(&graph, &plan, shape, self.repeats, &progress)?;
            works.push(Work { fanouts: Fanouts(fanouts.clone()).to_string(), steps });
        }
        drop(progress);
        let result = Measurement { graph: label(self.graph.name()), shape, threads: learn::torch::threads(), works };
        if self.json { print_json(&result) } else { print(&result.to_string()) }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { features, hidden, classes } = self.shape;
        let (graph, threads) = (&self.graph, self.threads);
        writeln!(
            f,
            "{graph}: {features} features, hidden {hidden}, {classes} classes; libtorch has {threads} threads"
        )?;
        writeln!(f, "a step is three mini-batches; memory is what a step has at most beside graph and features")?;
        let mut table = Table::default();
        let heads = ["nodes", "edges", "plain", "fast", "speed-up", "plain", "fast", "of plain", "losses apart"];
        table.row("fan-outs", heads.map(str::to_owned));
        for Work { fanouts, steps } in &self.works {
            let Steps { nodes, edges, plain, fast, speedup, apart } = steps;
            let ms = |step: &Step| format!("{:.0} ms", step.time.as_secs_f64() * 1e3);
            let memory = |step: &Step| step.memory.map_or_else(|| "-".to_owned(), |memory| bytes(memory as usize));
            let part = fast.memory.zip(plain.memory).map_or_else(
                || "-".to_owned(),
                |(fast, plain)| format!("{:.0} %", 100.0 * fast as f64 / plain.max(1) as f64),
            );
            let cells = [
                count(*nodes),
                count(*edges),
                ms(plain),
                ms(fast),
                format!("{speedup:.2}"),
                memory(plain),
                memory(fast),
                part,
                format!("{apart:.0e}"),
            ];
            table.row(fanouts.as_str(), cells);
        }
        table.fmt(f)
    }
}
