//! `trisage bench`.

mod overlap;
#[cfg(feature = "torch")]
mod train;

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
    str::FromStr,
    sync::Arc,
};

use clap::{Args, Subcommand};
use golden::{CscGraph, Fanout, FanoutError, NodeId, Progress};
use golden_files::{Listener, generate::GraphSpec};
use hw::{SLRS, SamplerDevice};
use serde::Serialize;
use sim::{
    memory::Profile,
    model::{ModelOptions, SoftwareModel, TimingOptions},
    rtl::{RtlDevice, RtlOptions},
};

use crate::{
    backends, bench,
    bench::{Board, Bound, Measured, Memory, Prediction},
    error::CliError,
    options::{
        named,
        source::{BATCH_SIZE, ReadArgs, batch_size},
    },
    output::{print, print_json, say},
    progress::Bar,
    report::{
        table::{Table, count, scaled},
        traffic::WayTotals,
    },
};
use pipeline::{
    batches::{Batches, Workload},
    units::float,
    verify::PortTotals,
};

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Count the cycles of the simulated RTL, and what sets the bound: three kernels at once, each with memory of its own.
    /// Results are not compared; `verify` does that
    Rtl(RtlArgs),
    /// Predict with the software model how fast a board would be: a prediction with stated assumptions, not a measurement
    Model(ModelArgs),
    /// Measure how well sampling and consuming overlap, with a consumer that is as slow as the card
    Overlap(Box<overlap::OverlapArgs>),
    /// Measure a step of training GraphSAGE, in the formulation that is used against the plain one
    #[cfg(feature = "torch")]
    Train(train::TrainArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RtlArgs {
    #[command(flatten)]
    work: WorkArgs,
    /// How the simulated memory behaves
    #[arg(long, value_parser = named::<Profile>(), value_delimiter = ',', default_value = "hbm", value_name = "PROFILE,...")]
    profiles: Vec<Profile>,
    /// Index channels of each kernel: 1, 2, 4 or 8
    #[arg(long, value_delimiter = ',', default_value = "4", value_name = "C,...", value_parser = backends::channels)]
    channels: Vec<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    work: WorkArgs,
    /// Boards: u280, u55c or u200
    #[arg(long, required = true, value_delimiter = ',', value_name = "BOARD,...")]
    predict: Vec<Board>,
    /// Index channels of each kernel; those that make sense for the board if not given: 4 and 8 with HBM, 1 with DDR4
    #[arg(long, value_delimiter = ',', value_name = "C,...", value_parser = backends::channels)]
    channels: Vec<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Graphs, fan-outs and mini-batches.
#[derive(Debug, Args)]
struct WorkArgs {
    /// A graph: a folder with indptr.npy and indices.npy, a file, or gen:...; give it as often as you like
    #[arg(long = "graph", required = true, value_name = "PATH|gen:...")]
    graphs: Vec<OsString>,
    #[command(flatten)]
    reading: ReadArgs,
    /// Neighbours to draw for each node, hop by hop ('all' or -1 for all); give it as often as you like
    #[arg(long, default_value = "10,10,10", allow_hyphen_values = true, value_name = "F1,F2,...")]
    fanouts: Vec<Fanouts>,
    /// Seed nodes of a mini-batch
    #[arg(long, default_value_t = BATCH_SIZE, value_name = "N", value_parser = batch_size)]
    batch_size: usize,
    /// Mini-batches that each of the three SLRs samples
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    minibatches: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, value_name = "U64")]
    seed: u64,
}

/// Fan-outs of all hops, as one word.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fanouts(Vec<Fanout>);

impl FromStr for Fanouts {
    type Err = FanoutError;

    fn from_str(text: &str) -> Result<Self, FanoutError> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Fanouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

/// One graph with one set of fan-outs.
struct Work {
    name: String,
    graph: Arc<CscGraph>,
    fanouts: Fanouts,
    plan: Workload,
}

/// One line of the result: all runs of one work on one card.
#[derive(Debug, Serialize)]
struct Row {
    graph: String,
    fanouts: String,
    profile: &'static str,
    channels: usize,
    minibatches: u64,
    nodes: u64,
    edges: u64,
    /// Of all kernels, added up.
    cycles: u64,
    /// Of one kernel.
    edges_per_cycle: f64,
    /// What `bound` would allow.
    bound_edges_per_cycle: f64,
    bound: Bound,
    /// The part of it that was reached: 1 is all.
    share: f64,
    held_back_by: &'static str,
    /// Of the cycles, of the stage that holds the others back; 1 is all.
    busy: f64,
    blocked: f64,
    /// Of all kernels, added up.
    ports: Vec<PortTotals>,
}

pub(crate) fn run(command: &BenchCommand) -> Result<(), CliError> {
    match command {
        BenchCommand::Rtl(args) => args.run(),
        BenchCommand::Model(args) => args.run(),
        BenchCommand::Overlap(args) => args.run(),
        #[cfg(feature = "torch")]
        BenchCommand::Train(args) => args.run(),
    }
}

impl WorkArgs {
    /// Every graph with every set of fan-outs.
    fn load(&self, progress: &dyn Listener) -> Result<Vec<Work>, CliError> {
        let mut all = vec![];
        for name in &self.graphs {
            let graph = Arc::new(self.reading.load("--graph", name, progress)?);
            let nodes = (0..graph.nodes()).map(NodeId::from_index);
            let batches = Batches::shuffled(nodes, self.batch_size, self.seed);
            for fanouts in &self.fanouts {
                let plan = Workload {
                    batches: batches.clone(),
                    fanouts: fanouts.0.clone(),
                    seed: self.seed,
                    minibatches: self.minibatches,
                };
                all.push(Work { name: label(name), graph: Arc::clone(&graph), fanouts: fanouts.clone(), plan });
            }
        }
        Ok(all)
    }
}

/// What a graph is called in a table: the last part of its path, or what was generated.
fn label(name: &OsStr) -> String {
    let generated = name.to_string_lossy().starts_with(GraphSpec::PREFIX);
    let last = Path::new(name).file_name().filter(|_| !generated);
    last.unwrap_or(name).to_string_lossy().escape_debug().to_string()
}

impl RtlArgs {
    fn run(&self) -> Result<(), CliError> {
        let progress = Bar::default();
        let works = self.work.load(&progress)?;
        let cards: Vec<_> =
            self.profiles.iter().flat_map(|&memory| self.channels.iter().map(move |&c| (memory, c))).collect();
        let total = (cards.len() * works.len()) as u64;
        let mut rows = vec![];
        for &(memory, channels) in &cards {
            // A kernel clears its hash table once, so it is used for all works.
            let device = RtlDevice::new(&RtlOptions { channels, memory, ..RtlOptions::default() }, &say)?;
            let mut loaded: Option<&Arc<CscGraph>> = None;
            for (place, work) in works.iter().enumerate() {
                if loaded.is_none_or(|loaded| !Arc::ptr_eq(loaded, &work.graph)) {
                    device.load_graph(&work.graph, &golden::Silent)?;
                    loaded = Some(&work.graph);
                }
                let measured = bench::run(
                    &device,
                    &bench::COUNTED,
                    &work.graph,
                    &work.plan,
                    &Memory { timing: memory.timing(), shared: &[] },
                )?;
                rows.push((place, Row::new(work, memory, channels, &measured)));
                progress.report("cards and graphs", rows.len() as u64, total);
            }
        }
        drop(progress);
        rows.sort_by_key(|&(place, _)| place); // stable: cards stay in their order
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        if self.json { print_json(&rows) } else { print(&table(&rows)) }
    }
}

/// A prediction for one work on one board.
#[derive(Debug, Serialize)]
struct PredictedRow {
    graph: String,
    fanouts: String,
    board: Board,
    channels: usize,
    edges: u64,
    nodes: u64,
    #[serde(flatten)]
    prediction: Prediction,
}

/// Predictions, and what they rest on.
#[derive(Debug, Serialize)]
struct Predictions {
    /// Nothing of this was measured.
    kind: &'static str,
    assumptions: Vec<Assumptions>,
    rows: Vec<PredictedRow>,
}

#[derive(Debug, Serialize)]
struct Assumptions {
    board: Board,
    assumes: Vec<String>,
}

impl ModelArgs {
    fn run(&self) -> Result<(), CliError> {
        let progress = Bar::default();
        let works = self.work.load(&progress)?;
        let mut rows = vec![];
        for work in &works {
            for &board in &self.predict {
                let channels = if self.channels.is_empty() { board.channels() } else { &self.channels };
                for &channels in channels {
                    rows.push(predict(work, board, channels)?);
                }
            }
        }
        drop(progress);
        let assumptions =
            self.predict.iter().map(|&board| Assumptions { board, assumes: board.assumptions() }).collect();
        let predictions = Predictions { kind: "prediction", assumptions, rows };
        if self.json { print_json(&predictions) } else { print(&predictions.to_string()) }
    }
}

fn predict(work: &Work, board: Board, channels: usize) -> Result<PredictedRow, CliError> {
    let name = board.name();
    if !board.channels().contains(&channels) {
        let possible = board.channels().iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        return Err(CliError::Usage(format!("--channels: {channels} makes no sense on board {name}; give {possible}")));
    }
    board.check_fit(&work.graph, channels).map_err(|why| CliError::Usage(format!("{}: {why}", work.name)))?;
    let timing = TimingOptions { memory: board.profile(), ..TimingOptions::default() };
    let model = SoftwareModel::new(ModelOptions { channels, traffic: true, timing: Some(timing) })?;
    model.load_graph(&work.graph, &golden::Silent)?;
    let memory = Memory { timing: board.profile().timing(), shared: board.shared(channels) };
    let predicted = bench::run(&model, &bench::PREDICTED, &work.graph, &work.plan, &memory)?;
    Ok(PredictedRow {
        graph: work.name.clone(),
        fanouts: work.fanouts.to_string(),
        board,
        channels,
        edges: predicted.total.edges,
        nodes: predicted.total.nodes,
        prediction: Prediction::of(&predicted),
    })
}

impl fmt::Display for Predictions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::default();
        let heads = ["fan-outs", "board", "C", "edges", "edges/cycle", "kernels", "PCIe allows", "edges/s", "bound"];
        table.row("", heads.map(str::to_owned));
        for row in &self.rows {
            let PredictedRow { prediction, .. } = row;
            let cells = [
                row.fanouts.clone(),
                row.board.name().to_owned(),
                row.channels.to_string(),
                count(row.edges),
                format!("{:.3}", prediction.edges_per_cycle),
                scaled(prediction.kernel_edges_per_second),
                scaled(prediction.pcie_edges_per_second),
                scaled(prediction.edges_per_second),
                prediction.bound.to_string(),
            ];
            table.row(row.graph.clone(), cells);
        }
        writeln!(
            f,
            "{table}A prediction of the software model; nothing of it was measured on a board. It takes for granted:"
        )?;
        for Assumptions { board, assumes } in &self.assumptions {
            for assumption in assumes {
                writeln!(f, "  {}: {assumption}", board.name())?;
            }
        }
        Ok(())
    }
}

impl Row {
    fn new(work: &Work, profile: Profile, channels: usize, measured: &Measured) -> Self {
        let (bound, bound_cycles) = measured.bounds().largest();
        let (edges, cycles) = (measured.total.edges, measured.cycles());
        let (held_back_by, busy, blocked) = measured.held_back_by();
        let of_cycles = |part: u64| float(part) / float(cycles.max(1));
        Self {
            graph: work.name.clone(),
            fanouts: work.fanouts.to_string(),
            profile: profile.into(),
            channels,
            minibatches: measured.total.minibatches,
            nodes: measured.total.nodes,
            edges,
            cycles,
            edges_per_cycle: of_cycles(edges),
            bound_edges_per_cycle: float(edges) / float(bound_cycles.max(1)),
            bound,
            share: of_cycles(bound_cycles),
            held_back_by,
            busy: of_cycles(busy),
            blocked: of_cycles(blocked),
            ports: measured.total.ports.clone(),
        }
    }
}

fn table(rows: &[Row]) -> String {
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let heads =
        ["fan-outs", "memory", "C", "edges", "cycles", "edges/cycle", "bound", "by", "reached", "held back by", "busy"];
    let mut table = Table::default();
    table.row("", heads.map(str::to_owned));
    for row in rows {
        let cells = [
            row.fanouts.clone(),
            row.profile.to_owned(),
            row.channels.to_string(),
            count(row.edges),
            count(row.cycles),
            format!("{:.3}", row.edges_per_cycle),
            format!("{:.3}", row.bound_edges_per_cycle),
            row.bound.to_string(),
            percent(row.share),
            row.held_back_by.to_owned(),
            percent(row.busy),
        ];
        table.row(row.graph.clone(), cells);
    }
    format!(
        "{table}edges and cycles of all {SLRS} SLRs together; edges/cycle of one kernel (C: its index channels)\n\n{}useful: \
         share of the bytes on the bus; beats: of a write burst\n",
        traffic_table(rows)
    )
}

/// What of the traffic is of use, and how long write bursts are.
fn traffic_table(rows: &[Row]) -> Table {
    let mut table = Table::default();
    let heads = [
        "fan-outs",
        "memory",
        "C",
        "offs useful",
        "idx useful",
        "mem reads",
        "useful",
        "mem writes",
        "useful",
        "beats",
        "out writes",
        "useful",
        "beats",
    ];
    table.row("", heads.map(str::to_owned));
    for row in rows {
        let way = |name: &str, of: fn(&PortTotals) -> WayTotals| {
            let ports = row.ports.iter().filter(|port| port.port.starts_with(name));
            ports.fold(WayTotals::default(), |sum, port| sum.plus(of(port)))
        };
        let reads = |name| way(name, WayTotals::of_reads);
        let useful = |way: WayTotals| format!("{:.0} %", 100.0 * way.share());
        let beats = |way: WayTotals| format!("{:.1}", float(way.beats) / float(way.bursts.max(1)));
        let writes = ["mem", "out"].map(|name| way(name, WayTotals::of_writes));
        let cells = [row.fanouts.clone(), row.profile.to_owned(), row.channels.to_string()];
        let cells = cells.into_iter().chain([useful(reads("offs")), useful(reads("idx"))]);
        let cells = cells.chain([count(reads("mem").beats), useful(reads("mem"))]);
        let written = writes.map(|way| [count(way.bursts), useful(way), beats(way)]);
        table.row(row.graph.clone(), cells.chain(written.into_iter().flatten()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_fanouts() {
        let fanouts: Fanouts = "15,all,5".parse().unwrap();
        assert_eq!(fanouts.0, [Fanout::Count(15), Fanout::All, Fanout::Count(5)]);
        assert_eq!(fanouts.to_string(), "15,all,5");
        assert!("1,x".parse::<Fanouts>().is_err());
    }

    #[test]
    fn graphs_have_short_names() {
        assert_eq!(label("some/where/cora/".as_ref()), "cora");
        let generated = "gen:power-law:shape=products,scale=1/16";
        assert_eq!(label(generated.as_ref()), generated);
    }
}
