//! `trisage graph`.

use std::{ffi::OsString, fmt::Write, path::PathBuf};

use clap::{Args, Subcommand};
use golden::CscGraph;
use golden_files::{Format, generate::GraphSpec, write, write::WriteOptions};

use crate::{
    error::CliError,
    options::{
        source,
        source::{GraphArgs, ReadArgs},
    },
    output::{print, print_json},
    progress::Bar,
    report::table::{Table, bytes, count},
};
use dataset::stats::{DegreeStats, GraphStats, PERCENTILES};

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Print figures of a graph
    Inspect(InspectArgs),
    /// Read a graph and write it in another format
    Convert(ConvertArgs),
    /// Generate a graph and write it
    #[command(after_help = KINDS)]
    Generate(GenerateArgs),
}

/// What can be generated, in short; [`GraphSpec`] says more.
const KINDS: &str = "\
What can be generated; seed is 0 and a shape's scale 1 unless given:
  power-law:shape=arxiv|products|reddit,scale=R,seed=N   like a public data set, or a fraction of it
  power-law:nodes=N,edges=E,exponent=X,seed=N            degrees by a power law, symmetric
  rmat:scale=S,edges=E,seed=N                            R-MAT on 2^S nodes
  uniform:nodes=N,edges=E,seed=N                         both ends of each arc uniform
  multi:nodes=N,seed=N                                   mostly parallel arcs and self-loops
  hub:nodes=N,hubs=H                                     the first H nodes joined to every other
  star:nodes=N                                           one hub
  path:nodes=N                                           an arc from each node to the next
  empty:nodes=N                                          no arcs";

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    graph: GraphArgs,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The graph to read (a path, or gen:...)
    from: OsString,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// What to generate, for example power-law:shape=arxiv or gen:star:nodes=5000
    spec: String,
    #[command(flatten)]
    target: Target,
}

/// Where a graph is written.
#[derive(Debug, Args)]
struct Target {
    /// The file, or the folder for indptr.npy and indices.npy
    to: PathBuf,
    /// Format to write, where the name does not say it: folder, npz, edges, csv, mtx or metis
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Replace what is there
    #[arg(long)]
    overwrite: bool,
}

pub(crate) fn run(command: &GraphCommand) -> Result<(), CliError> {
    let progress = Bar::default();
    match command {
        GraphCommand::Inspect(args) => {
            let graph = args.graph.load(&progress)?;
            let stats = GraphStats::of(&graph);
            drop(progress);
            if args.json { print_json(&stats) } else { print(&text(&stats)) }
        }
        GraphCommand::Convert(args) => {
            let graph = args.reading.load("FROM", &args.from, &progress)?;
            args.target.write(&graph, progress)
        }
        GraphCommand::Generate(args) => {
            let prefix = if args.spec.starts_with(GraphSpec::PREFIX) { "" } else { GraphSpec::PREFIX };
            let graph = source::generate("SPEC", &format!("{prefix}{}", args.spec), &progress)?;
            args.target.write(&graph, progress)
        }
    }
}

impl Target {
    fn write(&self, graph: &CscGraph, progress: Bar) -> Result<(), CliError> {
        let options = WriteOptions { format: self.format, overwrite: self.overwrite };
        write::graph(&self.to, graph, &options, &progress)?;
        drop(progress);
        let (nodes, edges) = (count(graph.nodes() as u64), count(graph.edges() as u64));
        print(&format!("{}: {nodes} nodes, {edges} edges\n", self.to.display()))
    }
}

fn text(stats: &GraphStats) -> String {
    let number = |n: usize| count(n as u64);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:15} {value}");
    };
    line("nodes", number(stats.nodes));
    line("edges", number(stats.edges));
    line("self-loops", number(stats.self_loops));
    line("parallel edges", number(stats.parallel_edges));
    line("isolated nodes", number(stats.isolated_nodes));
    line("symmetric", if stats.symmetric { "yes" } else { "no" }.to_owned());
    line("memory", format!("{}B on the host, {}B for each SLR", bytes(stats.host_bytes), bytes(stats.card_bytes)));
    format!("{text}\n{}", degrees(stats))
}

/// Figures of the degrees of a graph's nodes, as a table.
pub(crate) fn degrees(stats: &GraphStats) -> Table {
    let mut table = Table::default();
    let heads = PERCENTILES.map(|percent| format!("{percent} %"));
    table.row("", ["min", "mean", "max"].map(str::to_owned).into_iter().chain(heads));
    for (name, degrees) in [("in-degree", &stats.in_degree), ("out-degree", &stats.out_degree)] {
        let DegreeStats { min, max, mean, percentiles } = degrees;
        let first = [count(u64::from(*min)), format!("{mean:.2}"), count(u64::from(*max))];
        table.row(name, first.into_iter().chain(percentiles.map(|degree| count(degree.into()))));
    }
    table
}
