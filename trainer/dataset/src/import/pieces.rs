//! Arrays: data sets that are made anew, the pieces of Planetoid's with their graphs as they were published, and files and
//! folders of arrays with a list of arcs.

use std::sync::Arc;

use super::{Imported, Job, Source, graph};
use crate::{Dataset, arrays::Arrays, error::DatasetError};

pub(super) fn import(job: &Job, source: Source) -> Result<Imported, DatasetError> {
    let choice = job.split_number()?;
    let dataset = match source {
        Source::Arrays => {
            let mut arrays = if job.path.is_dir() { Arrays::of_folder(job.path) } else { Arrays::of_file(job.path) }?;
            let graph = graph::read(&mut arrays, job.progress)?;
            Dataset::around(Arc::new(graph), arrays, choice, job.progress)?
        }
        Source::Planetoid => {
            let mut arrays = Arrays::of_folder(job.path)?;
            let graph = graph::of_lists(&mut arrays, job.progress)?;
            Dataset::around(Arc::new(graph), arrays, choice, job.progress)?
        }
        _ => Dataset::load_split(job.path, choice, job.progress)?,
    };
    let Dataset { graph, features, labels, classes, splits, unread } = dataset;
    let counts = job.graph(Arc::unwrap_or_clone(graph), false)?;
    job.writer.features(&features)?;
    job.finish(counts, features.columns(), (&labels, classes), &splits, unread)
}
