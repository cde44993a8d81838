//! A graph as a folder of two arrays.

use std::path::Path;

use super::{
    error::{Problem, ReadError},
    npy::Npy,
    source::Source,
};
use crate::{Listener, compression::Compression};
use golden::{CscGraph, ID_MAX, NodeId};

pub(super) fn read(folder: &Path, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let indptr = open(folder, "indptr")?.whole_numbers(ID_MAX, |value| value, progress)?;
    let indices = open(folder, "indices")?.whole_numbers(largest_id(&indptr), NodeId::new, progress)?;
    CscGraph::new(indptr, indices).map_err(|error| Problem::Graph(error).at(folder))
}

/// The largest id that a graph with this `indptr` has; 0 for a graph that has none, whose edges are refused later.
pub(super) fn largest_id(indptr: &[u32]) -> u32 {
    indptr.len().saturating_sub(2).min(ID_MAX as usize) as u32
}

/// The array from its one file, compressed or not.
fn open(folder: &Path, array: &'static str) -> Result<Npy<'static>, ReadError> {
    let mut files = array_files(array).filter(|name| folder.join(name).exists());
    match (files.next(), files.next()) {
        (Some(first), Some(second)) => Err(Problem::FolderTwice { first, second }.at(folder)),
        (Some(file), None) => Npy::open(Source::open(&folder.join(file))?),
        (None, _) => Err(Problem::FolderLacks { array }.at(folder)),
    }
}

/// The names of the file of an array, the plain one first.
pub fn array_files(array: &str) -> impl Iterator<Item = String> {
    let plain = format!("{array}.npy");
    let packed = Compression::ALL.map(|kind| format!("{plain}.{}", kind.extension()));
    std::iter::once(plain).chain(packed)
}
