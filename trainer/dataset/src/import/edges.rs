//! A graph in one file, and text beside it.

use super::{
    Imported, Job,
    text::{self, Table},
};
use crate::{
    Splits,
    error::{DatasetError, Problem},
    labels::NO_LABEL,
};

pub(super) fn import(job: &Job) -> Result<Imported, DatasetError> {
    let options = job.options;
    let labels = options.labels.as_deref().map(|path| Table { path, may_have_header: true });
    let features = options.features.as_deref().map(|path| Table { path, may_have_header: true });
    // The files beside the graph know of nodes that no arc names.
    let labelled = labels.map(|labels| labels.labels(job.progress)).transpose()?;
    let lines = match (&labelled, features) {
        (Some((labels, _)), _) => Some(labels.len() as u64),
        (None, Some(features)) => Some(features.count(job.progress)?),
        (None, None) => None,
    };
    let nodes = match (options.nodes, lines) {
        (None, Some(lines)) => Some(u32::try_from(lines).unwrap_or(u32::MAX)),
        (given, _) => given,
    };
    let counts = job.graph(text::graph(job.path, None, nodes, job.progress)?)?;
    if let (Some(table), Some((labels, _))) = (labels, &labelled)
        && labels.len() != counts.0
    {
        let (found, accepted) = (labels.len() as u64, counts.0 as u64);
        return Err(Problem::Lines { what: "labels", found, accepted }.at(table.path));
    }
    let (labels, classes) = labelled.unwrap_or_else(|| (vec![NO_LABEL; counts.0], 0));
    let splits = match &options.splits {
        Some(folder) => text::splits(folder, &labels, classes, true)?,
        None => Splits::default(),
    };
    let columns = features.map_or(Ok(0), |features| features.features(job, counts.0))?;
    job.finish(counts, columns, (&labels, classes), &splits)
}
