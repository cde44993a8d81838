//! `trisage dataset`.

use std::{fmt::Write, path::PathBuf};

use clap::{Args, Subcommand};

use super::graph::degrees;
use crate::{
    error::CliError,
    output::{print, print_json},
    progress::Bar,
    report::table::{bytes, count},
};
use dataset::{
    Dataset, DatasetInfo, import,
    import::{Imported, Options, Source},
};

#[derive(Debug, Subcommand)]
pub(crate) enum DatasetCommand {
    /// Make a data set of what people download
    Import(ImportArgs),
    /// Print figures of a data set
    Info(InfoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// An OGB folder (with raw/ and split/), Reddit's folder with its two .npz, a folder of arrays, or the file of a graph
    /// (.csv, .txt, .npz, .mtx, ..., also .gz)
    source: PathBuf,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the source is, where its files do not say it: ogb, reddit, planetoid, folder or edges
    #[arg(long, value_name = "KIND")]
    format: Option<Source>,
    /// Add the reverse of every arc and leave one of parallel ones
    #[arg(long)]
    symmetrise: bool,
    /// Leave out arcs from a node to itself
    #[arg(long)]
    remove_self_loops: bool,
    /// Which split of an OGB folder, if it has several
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// With the file of a graph: its number of nodes, if the last ones have neither arcs nor lines in other files
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// With the file of a graph: labels as text, one node a line
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// With the file of a graph: features as text, one node a line
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// With the file of a graph: a folder with train.csv, valid.csv and test.csv, one node a line
    #[arg(long, value_name = "DIR")]
    splits: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The folder of the data set
    dir: PathBuf,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &DatasetCommand) -> Result<(), CliError> {
    let progress = Bar::default();
    match command {
        DatasetCommand::Import(args) => {
            let imported = import::import(&args.source, &args.out, &args.options()?, &progress)?;
            drop(progress);
            print(&format!("{}: {}\n", args.out.display(), summary(&imported)))
        }
        DatasetCommand::Info(args) => {
            let info = DatasetInfo::of(&Dataset::load(&args.dir, &progress)?);
            drop(progress);
            if args.json { print_json(&info) } else { print(&text(&info)) }
        }
    }
}

impl ImportArgs {
    fn options(&self) -> Result<Options, CliError> {
        let kind = |kinds: &[Source]| match self.format {
            Some(format) => kinds.contains(&format),
            None => kinds.contains(&Source::Edges) != self.source.is_dir(),
        };
        let foreign = [
            ("--split", self.split.is_some(), &[Source::Ogb][..], "OGB folders"),
            ("--nodes", self.nodes.is_some(), &[Source::Edges], "graphs in a file"),
            ("--labels", self.labels.is_some(), &[Source::Edges], "graphs in a file"),
            ("--features", self.features.is_some(), &[Source::Edges], "graphs in a file"),
            ("--splits", self.splits.is_some(), &[Source::Edges], "graphs in a file"),
        ];
        if let Some((option, .., what)) = foreign.into_iter().find(|&(_, given, kinds, _)| given && !kind(kinds)) {
            return Err(CliError::Usage(format!(
                "{option} is for {what}; {} is something else",
                self.source.display()
            )));
        }
        Ok(Options {
            source: self.format,
            symmetrise: self.symmetrise,
            remove_self_loops: self.remove_self_loops,
            split: self.split.clone(),
            nodes: self.nodes,
            labels: self.labels.clone(),
            features: self.features.clone(),
            splits: self.splits.clone(),
            overwrite: self.overwrite,
        })
    }
}

fn summary(imported: &Imported) -> String {
    let number = |n: usize| count(n as u64);
    let [train, valid, test] = imported.splits.map(number);
    let (nodes, edges) = (number(imported.nodes), number(imported.edges));
    let (columns, classes) = (number(imported.columns), number(imported.classes));
    format!("{nodes} nodes, {edges} edges, {columns} features, {classes} classes, split {train} / {valid} / {test}")
}

/// The most classes that are shown.
const CLASSES_SHOWN: usize = 8;

fn text(info: &DatasetInfo) -> String {
    let number = |n: usize| count(n as u64);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:15} {value}");
    };
    let (graph, features, splits) = (&info.graph, &info.features, &info.splits);
    line("nodes", number(graph.nodes));
    line("edges", number(graph.edges));
    line("symmetric", if graph.symmetric { "yes" } else { "no" }.to_owned());
    line("self-loops", number(graph.self_loops));
    line("isolated nodes", number(graph.isolated_nodes));
    line(
        "features",
        if features.columns == 0 {
            "none".to_owned()
        } else {
            let (columns, share) = (number(features.columns), 100.0 * features.density);
            format!("{columns}, {}, {}B in memory, {share:.2} % not 0", features.kind, bytes(features.bytes))
        },
    );
    line("classes", number(info.classes));
    line("labelled", format!("{} of {} nodes", number(info.labelled), number(graph.nodes)));
    line(
        "split",
        format!("{} train, {} valid, {} test", number(splits.train), number(splits.valid), number(splits.test)),
    );
    for class in info.class_counts.iter().take(CLASSES_SHOWN) {
        line(&format!("  class {}", class.class), number(class.nodes));
    }
    if info.class_counts.len() > CLASSES_SHOWN {
        line("  others", number(info.class_counts[CLASSES_SHOWN..].iter().map(|class| class.nodes).sum()));
    }
    format!("{text}\n{}", degrees(graph))
}
