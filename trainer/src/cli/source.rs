//! Where graphs and seed nodes come from.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
};

use clap::Args;
use golden::{
    Capacity, CscGraph, Fanout, Format, NodeId, Progress,
    generate::GraphSpec,
    read::{self, ReadOptions},
};

use super::CliError;
use crate::{
    batches::{self, Batches},
    memory::{self, Free, Gigabytes},
};

/// Seed nodes of a mini-batch where nothing else is said.
pub(super) const BATCH_SIZE: usize = 1024;

#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// The graph: a folder with indptr.npy and indices.npy, a file (.npz, .mtx, .csv, .txt, .edges, .el, .tsv, also .gz),
    /// or what is to be generated, such as gen:star:nodes=5000
    #[arg(long, value_name = "PATH|gen:...")]
    graph: OsString,
    #[command(flatten)]
    reading: ReadArgs,
}

#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    /// Format of the graph's file, where its name does not say it: folder, npz, edges, csv or mtx
    #[arg(long, value_name = "FORMAT")]
    graph_format: Option<Format>,
    /// Add the reverse of every arc
    #[arg(long)]
    symmetrise: bool,
    /// Number of nodes of a text format, if the last ones have no edge
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
}

impl GraphArgs {
    /// As it was given.
    pub(super) fn name(&self) -> &OsStr {
        &self.graph
    }

    pub(super) fn load(&self, progress: &dyn Progress) -> Result<Arc<CscGraph>, CliError> {
        self.reading.load("--graph", &self.graph, progress).map(Arc::new)
    }
}

impl ReadArgs {
    /// Reads or generates the graph that `name` stands for, the value of `argument`.
    pub(super) fn load(
        &self,
        argument: &'static str,
        name: &OsStr,
        progress: &dyn Progress,
    ) -> Result<CscGraph, CliError> {
        let Some(spec) = name.to_str().filter(|name| name.starts_with(GraphSpec::PREFIX)) else {
            let options = ReadOptions { format: self.graph_format, symmetrise: self.symmetrise, nodes: self.nodes };
            return Ok(read::graph(name.as_ref(), &options, progress)?);
        };
        let foreign = [
            ("--graph-format", self.graph_format.is_some()),
            ("--symmetrise", self.symmetrise),
            ("--nodes", self.nodes.is_some()),
        ];
        if let Some((option, _)) = foreign.into_iter().find(|&(_, given)| given) {
            return Err(CliError::Usage(format!("{option} is for graphs in files; '{spec}' is generated")));
        }
        generate(argument, spec, progress)
    }
}

/// Generates the graph that `spec` describes, the value of `argument`, if this machine has the memory for it.
pub(super) fn generate(argument: &'static str, spec: &str, progress: &dyn Progress) -> Result<CscGraph, CliError> {
    let spec = GraphSpec::from_str(spec).map_err(|error| CliError::Spec { argument, error })?;
    check_memory(argument, &spec, memory::available())?;
    Ok(spec.generate(progress))
}

/// `free` is `None` where nobody knows.
fn check_memory(argument: &'static str, spec: &GraphSpec, free: Option<Free>) -> Result<(), CliError> {
    match (spec.memory(), free) {
        (needed, Some(free)) if needed > free.bytes => {
            let spec = spec.to_string();
            Err(CliError::Memory { argument, spec, needed: Gigabytes(needed), free })
        }
        _ => Ok(()),
    }
}

/// Fan-outs and seed, of one mini-batch or many.
#[derive(Debug, Args)]
pub(super) struct SamplingArgs {
    /// Neighbours to draw for each node, hop by hop; 'all' or -1 for all
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10,10,10",
        allow_hyphen_values = true,
        value_name = "F1,F2,..."
    )]
    pub(super) fanouts: Vec<Fanout>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, value_name = "U64")]
    pub(super) seed: u64,
    /// Room for sampled nodes; the worst case if not given, and never more than it
    #[arg(long, value_name = "N")]
    node_capacity: Option<u32>,
    /// Room for sampled edges; the worst case if not given, and never more than it
    #[arg(long, value_name = "N")]
    edge_capacity: Option<u32>,
}

impl SamplingArgs {
    pub(super) fn capacity(&self, graph: &CscGraph, seeds: usize) -> Capacity {
        let worst = Capacity::worst_case(graph, seeds, &self.fanouts);
        Capacity {
            nodes: self.node_capacity.map_or(worst.nodes, |nodes| worst.nodes.min(nodes as usize)),
            edges: self.edge_capacity.map_or(worst.edges, |edges| worst.edges.min(edges as usize)),
        }
    }
}

/// Nodes from which mini-batches take their seed nodes.
#[derive(Debug, Args)]
pub(super) struct BatchArgs {
    /// Seed nodes of a mini-batch [default: 1024]
    #[arg(long, value_name = "N", value_parser = batch_size)]
    pub(super) batch_size: Option<usize>,
    /// Take the seed nodes from those in this file (text, one id a line), not from all
    #[arg(long, value_name = "FILE")]
    pub(super) seeds_file: Option<PathBuf>,
}

/// Reads how many seed nodes a mini-batch has.
pub(super) fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a mini-batch has 1 seed node or more".to_owned()),
        Ok(size) => Ok(size),
    }
}

impl BatchArgs {
    /// Mini-batches of the file's nodes, or of all.
    pub(super) fn batches(&self, graph: &CscGraph, seed: u64) -> Result<Batches, CliError> {
        let size = self.batch_size.unwrap_or(BATCH_SIZE);
        Ok(match &self.seeds_file {
            Some(file) => Batches::shuffled(batches::read_nodes(file, graph.nodes())?, size, seed),
            None => Batches::shuffled((0..graph.nodes()).map(NodeId::from_index), size, seed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use golden::{Silent, memory::Limit};

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: SamplingArgs,
    }

    #[test]
    fn there_is_no_room_beyond_the_worst_case() {
        let graph = generate("--graph", "gen:star:nodes=50", &Silent).unwrap();
        let capacity = |line: &str| {
            let args = Line::try_parse_from(std::iter::once("x").chain(line.split_whitespace())).unwrap().args;
            args.capacity(&graph, 5)
        };
        let worst = capacity("");
        assert_eq!(worst, Capacity { nodes: 50, edges: 98 });
        assert_eq!(capacity("--node-capacity 4294967295 --edge-capacity 4294967295"), worst);
        assert_eq!(capacity("--node-capacity 3 --edge-capacity 0"), Capacity { nodes: 3, edges: 0 });
    }

    #[test]
    fn a_graph_beyond_memory_is_not_generated() {
        let spec = "gen:uniform:nodes=5,edges=2000000000".parse().unwrap();
        assert!(check_memory("--graph", &spec, None).is_ok());
        let free = |bytes| Some(Free { bytes, limit: Limit::Machine });
        assert!(check_memory("--graph", &spec, free(1 << 36)).is_ok());
        let sentence = check_memory("--graph", &spec, free(16_000_000_000)).unwrap_err().to_string();
        assert_eq!(
            sentence,
            "--graph: gen:uniform:nodes=5,edges=2000000000,seed=0 needs about 24.0 GB of memory to be generated, and this \
             machine has 16.0 GB left; make it smaller"
        );
    }
}
