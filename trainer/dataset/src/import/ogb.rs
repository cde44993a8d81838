//! Folders of OGB's node property data sets, such as ogbn-arxiv and ogbn-products, as they are unpacked.

use std::path::{Path, PathBuf};

use golden::ID_MAX;
use golden_files::{Format, read::ReadOptions};

use super::{Imported, Job};
use crate::{
    Unread, arrays,
    arrays::{Arrays, file_name},
    error::{DatasetError, Problem},
    splits,
    text::{Header, Reading, Rows},
};

/// The files of `raw/`, without endings, that are read or say nothing more.
const KNOWN: [&str; 5] = [NODES, EDGES, LABELS, FEATURES, "num-edge-list"];
const NODES: &str = "num-node-list";
const EDGES: &str = "edge";
const LABELS: &str = "node-label";
const FEATURES: &str = "node-feat";

/// How OGB writes text: without names of columns.
const READING: Reading = Reading { header: Header::No, first_id: 0 };

pub(super) fn is_folder(path: &Path) -> bool {
    path.join("raw").is_dir() && !matches!(find(&path.join("raw"), EDGES), Ok(None))
}

pub(super) fn import(job: &Job) -> Result<Imported, DatasetError> {
    let raw = job.path.join("raw");
    let file = |stem, what, accepted| find(&raw, stem)?.ok_or_else(|| Problem::Lacks { what, accepted }.at(&raw));
    let nodes = file(NODES, "numbers of nodes", "num-node-list.csv, also compressed")?;
    let nodes = Rows::plain(&nodes).number(ID_MAX)?;
    // What is missing is said before the work, not after it.
    let split = split(job)?;
    let edges = file(EDGES, "arcs", "edge.csv, also compressed")?;
    let labels = file(LABELS, "labels", "node-label.csv, also compressed")?;
    let features = file(FEATURES, "features", "node-feat.csv, also compressed")?;
    let mut split = Arrays::of_split(&split, READING)?;

    let options = ReadOptions { format: Some(Format::Csv), nodes: Some(nodes), ..ReadOptions::default() };
    let counts = job.graph(golden_files::read::graph(&edges, &options, job.progress)?, false)?;
    let (labels, classes) = Rows::plain(&labels).labels(counts.0, job.progress)?;
    let splits = splits::read(&mut split, &labels, classes, None, job.progress)?;
    let columns = job.features(Rows::plain(&features), counts.0)?;

    let others = arrays::files(&raw)?.into_iter().filter(|path| !KNOWN.iter().any(|stem| is_named(path, stem)));
    let known = "edge, node-feat, node-label and num-node-list in raw/, and the parts of the split";
    let unread = Unread::of(job.path, others.chain(arrays::files(job.path)?), known);
    job.finish(counts, columns, (&labels, classes), &splits, unread)
}

/// The file of text with this name, whatever its ending is.
fn find(folder: &Path, stem: &str) -> Result<Option<PathBuf>, DatasetError> {
    let mut there = arrays::files(folder)?.into_iter().filter(|path| is_named(path, stem));
    match (there.next(), there.next()) {
        (Some(first), Some(second)) => {
            let (first, second) = (file_name(&first), file_name(&second));
            Err(Problem::Ambiguous { what: "the same lines", first, second }.at(folder))
        }
        (first, _) => Ok(first),
    }
}

fn is_named(path: &Path, stem: &str) -> bool {
    let name = file_name(path);
    arrays::split(&name).is_some_and(|(found, ending, _)| found == stem && ["csv", "tsv", "txt"].contains(&&*ending))
}

/// The folder of the split: the one that is asked for, or the only one.
fn split(job: &Job) -> Result<PathBuf, DatasetError> {
    let folder = job.path.join("split");
    let open = |error| Problem::Open(error).at(&folder);
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(open)? {
        let entry = entry.map_err(open)?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    match (&job.options.split, &*names) {
        (Some(name), found) if found.contains(name) => Ok(folder.join(name)),
        (None, [name]) => Ok(folder.join(name)),
        _ => Err(Problem::Split { found: names }.at(&folder)),
    }
}
