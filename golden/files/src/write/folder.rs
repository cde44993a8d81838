//! A graph as a folder of two arrays: `indptr.npy`, int64, N + 1 elements, and `indices.npy`, int32, E elements.

use std::path::Path;

use super::{error::WriteError, npy, place};
use crate::{Listener, read::array_files};
use golden::CscGraph;

pub(super) fn write(path: &Path, graph: &CscGraph, overwrite: bool, progress: &dyn Listener) -> Result<(), WriteError> {
    let indptr = graph.indptr().iter().map(|&offset| i64::from(offset).to_le_bytes());
    let indices = graph.indices().iter().map(|node| node.get().to_le_bytes());
    let members: [place::Member; 2] = [
        ("indptr.npy", &|out| npy::npy(out, "<i8", indptr.clone(), "writing indptr.npy", progress)),
        ("indices.npy", &|out| npy::npy(out, "<i4", indices.clone(), "writing indices.npy", progress)),
    ];
    // The same arrays compressed are of the graph that is replaced.
    let stale: Vec<_> = ["indptr", "indices"].into_iter().flat_map(|array| array_files(array).skip(1)).collect();
    let stale: Vec<_> = stale.iter().map(String::as_str).collect();
    place::folder(path, "a graph of two arrays", overwrite, &members, &stale)
}
