//! Reddit's posts, as they are handed around: `reddit_data.npz` and `reddit_graph.npz`.
//!
//! The first has the arrays `feature`, `label`, and `node_types`: 1 for a node to train with, 2 to choose a model by, 3 to
//! judge it by. The second is a sparse matrix of `SciPy`.

use std::path::PathBuf;

use golden::NodeId;
use golden_files::{
    Format, read,
    read::{Npz, Problem as ReadProblem, ReadOptions},
};

use super::{Imported, Job};
use crate::{
    Splits, Unread,
    array::{Array, NpyArray},
    arrays,
    error::{DatasetError, Problem},
    features::{columns, number},
    labels,
    splits::Check,
};

const ACCEPTED: &str = "reddit_data.npz has feature, label and node_types";

pub(super) fn import(job: &Job) -> Result<Imported, DatasetError> {
    let data = job.path.join("reddit_data.npz");
    let mut npz = Npz::open(&data)?;
    let options = ReadOptions { format: Some(Format::Npz), ..ReadOptions::default() };
    let counts = job.graph(read::graph(&job.path.join("reddit_graph.npz"), &options, job.progress)?, false)?;
    let nodes = counts.0;

    let (labels, classes) = labels::of_array(NpyArray::of(npz.member("label", ACCEPTED)?)?, nodes, None, job.progress)?;

    let types = NpyArray::of(npz.member("node_types", ACCEPTED)?)?;
    let path = types.path();
    if *types.shape() != [nodes as u64] {
        let (found, accepted) = (types.shape().to_vec(), format!("[{nodes}], one for each node of the graph"));
        return Err(Problem::Shape { what: "the types of nodes", found, accepted }.at(&path));
    }
    let types = types.elements(job.progress, |value, node| match value {
        0.0 => Ok(0),
        1.0 => Ok(1),
        2.0 => Ok(2),
        3.0 => Ok(3),
        found => Err(Problem::NodeType { node, found }),
    })?;
    let part = |wanted: u8| (0..nodes).filter(|&node| types[node] == wanted).map(NodeId::from_index).collect();
    let splits = Splits { train: part(1), valid: part(2), test: part(3) };
    let mut checked = Check::new(&labels, classes);
    [&splits.train, &splits.valid, &splits.test].into_iter().try_for_each(|nodes| checked.part(&path, nodes))?;

    let mut features = NpyArray::of(npz.member("feature", ACCEPTED)?)?;
    let path = features.path();
    let columns = columns(&path, features.shape(), nodes)?;
    if features.is_by_columns() {
        let (shape, fortran) = (features.shape().to_vec(), true);
        return Err(ReadProblem::Rank { shape, fortran, accepted: 2 }.at(&path).into());
    }
    let mut rows = job.writer.rows(nodes, columns)?;
    features.each(job.progress, |value, place| {
        let value = number(value, place, columns as u64).map_err(|problem| problem.at(&path))?;
        Ok(rows.push(value)?)
    })?;
    rows.finish()?;

    let is_other = |path: &PathBuf| !["reddit_data.npz", "reddit_graph.npz"].contains(&&*arrays::file_name(path));
    let others = arrays::files(job.path)?.into_iter().filter(is_other);
    let unread = Unread::of(job.path, others, "reddit_data.npz and reddit_graph.npz");
    job.finish(counts, columns, (&labels, classes), &splits, unread)
}
