//! `trisage sample`.

use std::{fmt::Write, path::PathBuf, sync::Arc, time::Instant};

use clap::Args;
use golden::{Buffer, Capacity, CscGraph, EdgePos, HopCounts, LocalId, NodeId, Request, SubGraph};
use golden_files::write;
use hw::{Deadline, DeviceError, OutputBuffers, SamplerDevice, Slot, Slr};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    backends::SamplerArgs,
    error::CliError,
    options::source::{BatchArgs, GraphArgs, SamplingArgs},
    output::{print, print_json},
    progress::Bar,
    report::table::count,
};
use pipeline::batches::{node_id, read_nodes};

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// The seed nodes themselves, in order
    #[arg(long, value_delimiter = ',', value_name = "ID,...", conflicts_with_all = ["seeds_file", "batch_size"])]
    seeds: Option<Vec<String>>,
    #[command(flatten)]
    batches: BatchArgs,
    /// Number of the mini-batch. With --batch-size, or without any seeds, it also chooses the seed nodes, as `verify`
    /// does; a --seeds-file alone holds the seed nodes themselves
    #[arg(long, default_value_t = 0, value_name = "M")]
    minibatch: u64,
    #[command(flatten)]
    sampler: SamplerArgs,
    /// Write the sub-graph to this file, for `numpy.load`
    #[arg(long, value_name = "FILE.npz")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    backend: &'static str,
    seed: u64,
    minibatch: u64,
    nodes: usize,
    edges: usize,
    nodes_per_hop: &'a [u32],
    edges_per_hop: &'a [u32],
    sha256: String,
    seconds: f64,
}

pub(crate) fn run(args: &SampleArgs) -> Result<(), CliError> {
    let device = args.sampler.open()?;
    let progress = Bar::default();
    let graph = args.graph.load(&progress)?;
    let request = Request {
        seed: args.sampling.seed,
        minibatch: args.minibatch,
        seeds: seeds(args, &graph)?,
        fanouts: args.sampling.fanouts.clone(),
    };
    let capacity = args.sampling.capacity(&graph, request.seeds.len());
    let begin = Instant::now();
    let (backend, sub, time) = match &device {
        None => ("golden", golden::sample(&graph, &request, capacity)?, begin.elapsed()),
        Some(device) => {
            device.load_graph(&graph, &progress)?;
            let (sub, time) = sample(&**device, &graph, &request, capacity)?;
            (device.capabilities().backend, sub, time)
        }
    };
    drop(progress);
    if let Some(path) = &args.out {
        let options = write::WriteOptions { overwrite: args.overwrite, ..write::WriteOptions::default() };
        write::subgraph_npz(path, &sub, &options)?;
    }
    let summary = Summary {
        backend,
        seed: request.seed,
        minibatch: request.minibatch,
        nodes: sub.samples.len(),
        edges: sub.edges.len(),
        nodes_per_hop: &sub.hops.nodes,
        edges_per_hop: &sub.hops.edges,
        sha256: digest(&sub),
        seconds: time.as_secs_f64(),
    };
    if args.json { print_json(&summary) } else { print(&summary.text()) }?;
    device.map_or(Ok(()), |device| Ok(device.finish()?))
}

fn seeds(args: &SampleArgs, graph: &CscGraph) -> Result<Vec<NodeId>, CliError> {
    let wrong = |text: &String| CliError::Usage(format!("--seeds: '{text}' is not a node id; give for example 1,2,3"));
    match (&args.seeds, &args.batches) {
        (Some(list), _) if list.iter().all(String::is_empty) => Ok(Vec::new()),
        (Some(list), _) => list.iter().map(|text| node_id(text.trim()).ok_or_else(|| wrong(text))).collect(),
        (None, BatchArgs { batch_size: None, seeds_file: Some(file) }) => Ok(read_nodes(file, graph.nodes())?),
        (None, batches) => Ok(batches.batches(graph, args.sampling.seed)?.get(args.minibatch)),
    }
}

/// Samples on the first SLR, and copies what it wrote.
fn sample(
    device: &dyn SamplerDevice,
    graph: &Arc<CscGraph>,
    request: &Request,
    capacity: Capacity,
) -> Result<(SubGraph, std::time::Duration), CliError> {
    let [slr, ..] = Slr::ALL;
    let outputs = OutputBuffers::host(capacity);
    device.bind_outputs(slr, Slot(0), outputs.clone())?;
    device.start(slr, Slot(0), request)?;
    let run = device.wait(slr, Deadline::never())?;
    let sub = collect(&outputs, run.hops).and_then(|sub| {
        // Whoever reads the sub-graph follows its ids.
        let known = |id: &LocalId| id.index() < sub.samples.len();
        let whole = sub.samples.iter().all(|node| node.index() < graph.nodes())
            && sub.rows.iter().chain(&sub.cols).all(known)
            && sub.edges.iter().all(|edge| edge.index() < graph.edges());
        whole.then_some(sub)
    });
    let what = "its result is no sub-graph of the graph; `trisage verify` shows the first difference".to_owned();
    sub.map(|sub| (sub, run.elapsed)).ok_or_else(|| DeviceError::Protocol { slr, what }.into())
}

fn collect(outputs: &OutputBuffers, hops: HopCounts) -> Option<SubGraph> {
    fn elements<T>(outputs: &OutputBuffers, hops: &HopCounts, buffer: Buffer, id: fn(u32) -> T) -> Option<Vec<T>> {
        let (memory, len) = (outputs.get(buffer).elements()?, hops.len_of(buffer));
        if len > memory.len() {
            return None;
        }
        memory.to_vec(0..len).into_iter().map(|element| u32::try_from(element).ok().map(id)).collect()
    }
    Some(SubGraph {
        samples: elements(outputs, &hops, Buffer::Samples, NodeId::new)?,
        rows: elements(outputs, &hops, Buffer::Rows, LocalId::new)?,
        cols: elements(outputs, &hops, Buffer::Cols, LocalId::new)?,
        edges: elements(outputs, &hops, Buffer::Edges, EdgePos::new)?,
        hops,
    })
}

/// sha256 over samples, rows, cols and edges as int32, little-endian, one after the other: as in `vectors.json`.
fn digest(sub: &SubGraph) -> String {
    let mut hash = Sha256::new();
    for buffer in Buffer::ALL {
        for element in sub.buffer(buffer) {
            hash.update(element.to_le_bytes());
        }
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

impl Summary<'_> {
    fn text(&self) -> String {
        let hops = |counts: &[u32]| counts.iter().map(|&n| count(n.into())).collect::<Vec<_>>().join(" + ");
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "nodes   {} = {}", count(self.nodes as u64), hops(self.nodes_per_hop));
        let _ = writeln!(text, "edges   {} = {}", count(self.edges as u64), hops(self.edges_per_hop));
        let _ = writeln!(text, "sha256  {}", self.sha256);
        let _ = writeln!(text, "time    {:.6} s ({})", self.seconds, self.backend);
        text
    }
}
