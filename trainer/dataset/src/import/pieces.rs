//! Folders of arrays: data sets that are made anew, and the pieces of Planetoid's with their graphs as they were published.

use std::sync::Arc;

use golden::{CscGraph, ID_MAX, NodeId};
use golden_files::read::{Npy, Problem as ReadProblem, Source};

use super::{Imported, Job};
use crate::{
    Dataset,
    error::{DatasetError, Problem},
    folder::Folder,
};

/// `raw`: the graph is that of the published adjacency lists.
pub(super) fn import(job: &Job, raw: bool) -> Result<Imported, DatasetError> {
    let folder = Folder::new(job.path);
    let dataset = if raw {
        Dataset::around(Arc::new(raw_graph(job, &folder)?), &folder, job.progress)?
    } else {
        Dataset::load(job.path, job.progress)?
    };
    let Dataset { graph, features, labels, classes, splits } = dataset;
    let counts = job.graph(Arc::unwrap_or_clone(graph))?;
    job.writer.features(&features)?;
    job.finish(counts, features.columns(), (&labels, classes), &splits)
}

/// The graph of adjacency lists: a node's list says to which nodes there are arcs from it.
fn raw_graph(job: &Job, folder: &Folder) -> Result<CscGraph, DatasetError> {
    let open = |array: &'static str| {
        let path = folder.array("the adjacency lists", &[array])?;
        let accepted = "raw_indptr.npy and raw_indices.npy";
        let path = path.ok_or_else(|| Problem::Lacks { what: "adjacency lists", accepted }.at(job.path))?;
        Ok::<_, DatasetError>(Npy::open(Source::open(&path)?)?)
    };
    let indptr = open("raw_indptr")?.whole_numbers(ID_MAX, |offset| offset, job.progress)?;
    let largest = indptr.len().saturating_sub(2).min(ID_MAX as usize) as u32;
    let indices = open("raw_indices")?.whole_numbers(largest, NodeId::new, job.progress)?;
    let wrong = |error| DatasetError::from(ReadProblem::Graph(error).at(job.path));
    let lists = CscGraph::new(indptr, indices).map_err(wrong)?;
    CscGraph::from_arcs(lists.nodes(), lists.arcs().map(|(target, source)| (source, target))).map_err(wrong)
}
