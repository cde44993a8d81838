//! Where graphs and seed nodes come from.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
};

use clap::Args;
use golden::{Capacity, CscGraph, Fanout, NodeId};
use golden_files::{
    Format, Listener, Setting,
    generate::GraphSpec,
    read::{self, Columns, ReadOptions},
};

use crate::error::CliError;
use golden_files::memory::{self, Free, Gigabytes};
use pipeline::{batches, batches::Batches};

/// Seed nodes of a mini-batch where nothing else is said.
pub(crate) const BATCH_SIZE: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The graph: a folder with indptr.npy and indices.npy, a file (.npz, .mtx, .csv, .tsv, .txt, .edges, .edgelist, .graph,
    /// ..., text also with .gz, .bz2, .xz or .zst), or what is to be generated, such as gen:star:nodes=5000
    #[arg(long, value_name = "PATH|gen:...")]
    graph: OsString,
    #[command(flatten)]
    reading: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    form: FormArgs,
    /// Add the reverse of every arc
    #[arg(long)]
    symmetrise: bool,
    /// Number of nodes of an edge list or a Matrix Market file, if the last ones have no edge
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
}

/// How the file of a graph is to be understood.
#[derive(Debug, Args)]
pub(crate) struct FormArgs {
    /// Format of the graph's file, where its name does not say it: folder, npz, edges, csv, mtx or metis
    #[arg(long, value_name = "FORMAT")]
    graph_format: Option<Format>,
    /// The columns of an edge list that are source and destination, by name or by number from 1, such as source,target or
    /// 2,3 [default: those with known names, or else the first two]
    #[arg(long, value_name = "SOURCE,DESTINATION")]
    columns: Option<Columns>,
    /// The smallest id of an edge list, which becomes node 0: 0 or 1 [default: 1 with KONECT's header, or else 0]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_id: Option<u32>,
}

impl FormArgs {
    /// The first of these options that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--graph-format", self.graph_format.is_some()),
            ("--columns", self.columns.is_some()),
            ("--first-id", self.first_id.is_some()),
        ];
        options.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// How to read the graph.
    pub(crate) fn options(&self) -> ReadOptions {
        let Self { graph_format: format, columns, first_id } = self;
        ReadOptions { format: *format, columns: columns.clone(), first_id: *first_id, ..ReadOptions::default() }
    }
}

/// The option for a setting of a reader, as it stands behind a sentence that asks for it.
pub(crate) fn option(setting: &Setting) -> String {
    match setting {
        Setting::Symmetrise => "--symmetrise".to_owned(),
        Setting::FirstId(first) => format!("--first-id {first}"),
        Setting::Columns(Some([source, destination])) => format!("--columns {source},{destination}"),
        Setting::Columns(None) => "--columns SOURCE,DESTINATION".to_owned(),
        Setting::Format(Some(format)) => format!("--graph-format {format}"),
        Setting::Format(None) => "--graph-format FORMAT".to_owned(),
        Setting::Nodes(Some(nodes)) => format!("--nodes {nodes}"),
        Setting::Nodes(None) => "--nodes N".to_owned(),
    }
}

impl GraphArgs {
    /// As it was given.
    pub(crate) fn name(&self) -> &OsStr {
        &self.graph
    }

    pub(crate) fn load(&self, progress: &dyn Listener) -> Result<Arc<CscGraph>, CliError> {
        self.reading.load("--graph", &self.graph, progress).map(Arc::new)
    }
}

impl ReadArgs {
    /// Reads or generates the graph that `name` stands for, the value of `argument`.
    pub(crate) fn load(
        &self,
        argument: &'static str,
        name: &OsStr,
        progress: &dyn Listener,
    ) -> Result<CscGraph, CliError> {
        let Some(spec) = name.to_str().filter(|name| name.starts_with(GraphSpec::PREFIX)) else {
            let options = ReadOptions { symmetrise: self.symmetrise, nodes: self.nodes, ..self.form.options() };
            return Ok(read::graph(name.as_ref(), &options, progress)?);
        };
        let others = [("--symmetrise", self.symmetrise), ("--nodes", self.nodes.is_some())];
        let others = others.into_iter().find_map(|(option, given)| given.then_some(option));
        if let Some(option) = self.form.given().or(others) {
            return Err(CliError::Usage(format!("{option} is for graphs in files; '{spec}' is generated")));
        }
        generate(argument, spec, progress)
    }
}

/// Generates the graph that `spec` describes, the value of `argument`, if this machine has the memory for it.
pub(crate) fn generate(argument: &'static str, spec: &str, progress: &dyn Listener) -> Result<CscGraph, CliError> {
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
pub(crate) struct SamplingArgs {
    /// Neighbours to draw for each node, hop by hop; 'all' or -1 for all
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10,10,10",
        allow_hyphen_values = true,
        value_name = "F1,F2,..."
    )]
    pub(crate) fanouts: Vec<Fanout>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, value_name = "U64")]
    pub(crate) seed: u64,
    /// Room for sampled nodes; the worst case if not given, and never more than it
    #[arg(long, value_name = "N")]
    node_capacity: Option<u32>,
    /// Room for sampled edges; the worst case if not given, and never more than it
    #[arg(long, value_name = "N")]
    edge_capacity: Option<u32>,
}

impl SamplingArgs {
    pub(crate) fn capacity(&self, graph: &CscGraph, seeds: usize) -> Capacity {
        let worst = Capacity::worst_case(graph, seeds, &self.fanouts);
        Capacity {
            nodes: self.node_capacity.map_or(worst.nodes, |nodes| worst.nodes.min(nodes as usize)),
            edges: self.edge_capacity.map_or(worst.edges, |edges| worst.edges.min(edges as usize)),
        }
    }
}

/// Nodes from which mini-batches take their seed nodes.
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// Seed nodes of a mini-batch [default: 1024]
    #[arg(long, value_name = "N", value_parser = batch_size)]
    pub(crate) batch_size: Option<usize>,
    /// Take the seed nodes from those in this file (text, one id a line), not from all
    #[arg(long, value_name = "FILE")]
    pub(crate) seeds_file: Option<PathBuf>,
}

/// Reads how many seed nodes a mini-batch has.
pub(crate) fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a mini-batch has 1 seed node or more".to_owned()),
        Ok(size) => Ok(size),
    }
}

impl BatchArgs {
    /// Mini-batches of the file's nodes, or of all.
    pub(crate) fn batches(&self, graph: &CscGraph, seed: u64) -> Result<Batches, CliError> {
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
    use golden::Silent;
    use golden_files::memory::Limit;

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
