//! Folders of OGB's node property data sets, such as ogbn-arxiv and ogbn-products, as they are unpacked.

use std::path::{Path, PathBuf};

use golden::ID_MAX;
use golden_files::Format;

use super::{
    Imported, Job,
    text::{self, Table},
};
use crate::error::{DatasetError, Problem};

pub(super) fn import(job: &Job) -> Result<Imported, DatasetError> {
    let raw = job.path.join("raw");
    let counts = text::file(&raw, "num-node-list.csv")?;
    let nodes = plain(&counts).number(ID_MAX)?;
    // A split that is missing is said before the work, not after it.
    let split = split(job)?;
    let edges = text::file(&raw, "edge.csv")?;
    let counts = job.graph(text::graph(&edges, Some(Format::Csv), Some(nodes), job.progress)?)?;
    let labels = text::file(&raw, "node-label.csv")?;
    let (labels, classes) = plain(&labels).labels_of(counts.0, job.progress)?;
    let splits = text::splits(&split, &labels, classes, false)?;
    let features = text::file(&raw, "node-feat.csv")?;
    let columns = plain(&features).features(job, counts.0)?;
    job.finish(counts, columns, (&labels, classes), &splits)
}

/// A file as OGB writes them: without names of columns.
fn plain(path: &Path) -> Table<'_> {
    Table { path, may_have_header: false }
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
