//! `trisage dataset`.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use golden_files::read::ReadOptions;

use super::graph::degrees;
use crate::{
    error::CliError,
    options::source::FormArgs,
    output::{print, print_json, say},
    progress::Bar,
    report::table::{bytes, count},
};
use dataset::{
    Dataset, DatasetInfo, Unread,
    import::{self, Header, Imported, Options, Source},
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
    /// An OGB folder (with raw/ and split/), Reddit's folder with its two .npz, a folder of arrays, a file of arrays (.npz,
    /// .pt or .safetensors), or the file of a graph (.csv, .txt, .npz, .mtx, ..., also .gz)
    source: PathBuf,
    /// The folder to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the source is, where its files do not say it: ogb, reddit, planetoid, folder, arrays or edges
    #[arg(long, value_name = "KIND")]
    format: Option<Source>,
    /// Add the reverse of every arc and leave one of parallel ones
    #[arg(long)]
    symmetrise: bool,
    /// Leave out arcs from a node to itself
    #[arg(long)]
    remove_self_loops: bool,
    /// Which split to take where there are several: of an OGB folder its name, of masks its number, from 0
    #[arg(long, value_name = "NAME|N")]
    split: Option<String>,
    #[command(flatten)]
    form: FormArgs,
    /// With an edge list or a Matrix Market file: the number of nodes, if the last ones have neither arcs nor lines in other
    /// files
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// With the file of a graph: labels as text, one node on each line, or as an array (.npy, .npz, .pt, .safetensors)
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// With the file of a graph: features as text, one node on each line, or as an array
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// With the file of a graph: a folder with train.csv, val.csv and test.csv, one node on each line, or with arrays
    #[arg(long, value_name = "DIR")]
    splits: Option<PathBuf>,
    /// Whether the first line of labels, features and splits names columns: yes, no, or auto, which takes words for names
    /// only where that is certain
    #[arg(long, default_value = "auto", value_name = "auto|yes|no")]
    header: Header,
    /// Replace what is there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The folder of the data set
    dir: PathBuf,
    /// Which split to look at where its masks have several, from 0
    #[arg(long, value_name = "N")]
    split: Option<usize>,
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
            say_unread(&args.source, &imported.unread);
            if imported.added > 0 {
                let (from, named) = (args.source.display(), imported.nodes - imported.added);
                let (named, nodes) = (count(named as u64), count(imported.nodes as u64));
                say(&format!(
                    "note: {from}: it names {named} nodes, the files beside it have {nodes}; the last have no edges"
                ));
            }
            if imported.is_bare() {
                let (from, to) = (args.source.display(), args.out.display());
                say(&format!("note: {from}: there are no features, no labels and no split; {to} is a graph alone"));
            }
            print(&format!("{}: {}\n", args.out.display(), summary(&imported)))
        }
        DatasetCommand::Info(args) => {
            let dataset = Dataset::load_split(&args.dir, args.split, &progress)?;
            let info = DatasetInfo::of(&dataset);
            drop(progress);
            say_unread(&args.dir, &dataset.unread);
            if args.json { print_json(&info) } else { print(&text(&info)) }
        }
    }
}

/// Says what may hold an array, but was not read.
pub(crate) fn say_unread(path: &Path, unread: &Unread) {
    if !unread.is_empty() {
        say(&format!("note: {}: {}", path.display(), unread.note()));
    }
}

impl ImportArgs {
    fn options(&self) -> Result<Options, CliError> {
        let source = self.format.map_or_else(|| Source::of(&self.source), Ok)?;
        let given = [
            ("--nodes", self.nodes.is_some()),
            ("--labels", self.labels.is_some()),
            ("--features", self.features.is_some()),
            ("--splits", self.splits.is_some()),
            ("--header", self.header != Header::Auto),
        ];
        let given = given.into_iter().find_map(|(option, given)| given.then_some(option));
        if let Some(option) = self.form.given().or(given).filter(|_| source != Source::Edges) {
            let path = self.source.display();
            return Err(CliError::Usage(format!("{option} is for graphs in a file; {path} is something else")));
        }
        if self.split.is_some() && source == Source::Reddit {
            return Err(CliError::Usage("--split is for sources with several splits; Reddit has one".to_owned()));
        }
        if self.split.is_some() && source == Source::Edges && self.splits.is_none() {
            return Err(CliError::Usage("--split chooses among the splits that --splits gives".to_owned()));
        }
        Ok(Options {
            source: Some(source),
            symmetrise: self.symmetrise,
            remove_self_loops: self.remove_self_loops,
            split: self.split.clone(),
            reading: ReadOptions { nodes: self.nodes, ..self.form.options() },
            header: self.header,
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
