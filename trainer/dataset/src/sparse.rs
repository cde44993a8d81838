//! Features as the rows of a sparse matrix.

use golden::{ID_MAX, Silent};
use golden_files::{Listener, read};

use super::{
    array::{Array, length, whole_numbers},
    arrays::{Arrays, Found},
    error::{DatasetError, Problem},
    features::{self, Sparse},
    names::{Piece, Role},
};

/// Reads the sparse features of `nodes` nodes, whose offsets are `offsets`.
pub(super) fn read(
    arrays: &mut Arrays,
    offsets: Found,
    nodes: usize,
    progress: &dyn Listener,
) -> Result<Sparse, DatasetError> {
    let array = arrays.open(offsets)?;
    let path = array.path();
    check_length(&array, nodes as u64 + 1)?;
    let indptr = whole_numbers(array, 0..=ID_MAX, |offset| offset, progress)?;
    let before = |node: usize| node.checked_sub(1).map_or(0, |node| indptr[node]);
    let wrong = |&node: &usize| indptr[node] < before(node) || node == 0 && indptr[0] > 0;
    if let Some(node) = (0..=nodes).find(wrong) {
        return Err(Problem::Offset { node, found: indptr[node], before: before(node) }.at(&path));
    }
    let entries = u64::from(indptr[nodes]);
    let Some(found) = piece(arrays, "the columns of the features", Piece::Indices)? else {
        return Err(arrays.half(offsets, "feat_indices.npy"));
    };
    let stated = stated_columns(arrays, nodes)?;
    let array = arrays.open(found)?;
    check_length(&array, entries)?;
    let largest = match stated {
        // No column is below none.
        Some(0) if entries > 0 => {
            let accepted = "none: feat_shape says 0 columns".to_owned();
            return Err(read::Problem::Length { found: entries, accepted }.at(&array.path()).into());
        }
        Some(stated) => (stated as u32).saturating_sub(1),
        None => ID_MAX - 1,
    };
    let indices = whole_numbers(array, 0..=largest, |column| column, progress)?;
    let columns = stated.unwrap_or_else(|| indices.iter().max().map_or(0, |&largest| largest as usize + 1));
    let values = match piece(arrays, "the values of the features", Piece::Values)? {
        None => None,
        Some(found) => {
            let array = arrays.open(found)?;
            check_length(&array, entries)?;
            Some(array.elements(progress, |value, place| {
                features::number(value, place, u64::MAX).map_err(|_| Problem::Feature {
                    node: indptr.partition_point(|&offset| u64::from(offset) <= place) as u64 - 1,
                    column: indices[place as usize].into(),
                    found: value,
                })
            })?)
        }
    };
    Ok(Sparse { columns, indptr, indices, values })
}

/// A piece of sparse features.
pub(super) fn piece(arrays: &Arrays, what: &'static str, piece: Piece) -> Result<Option<Found>, DatasetError> {
    arrays.only(what, |role| role == Role::Sparse(piece))
}

/// The columns that the shape states.
fn stated_columns(arrays: &mut Arrays, nodes: usize) -> Result<Option<usize>, DatasetError> {
    let Some(found) = piece(arrays, "the extents of the features", Piece::Shape)? else { return Ok(None) };
    let array = arrays.open(found)?;
    let (path, found) = (array.path(), length(&array)?);
    if found != 2 {
        let accepted = "2, rows and columns".to_owned();
        return Err(read::Problem::Length { found, accepted }.at(&path).into());
    }
    let shape = whole_numbers(array, 0..=ID_MAX, u64::from, &Silent)?;
    features::columns(&path, &shape, nodes).map(Some)
}

fn check_length(array: &impl Array, accepted: u64) -> Result<(), DatasetError> {
    match length(array)? {
        found if found == accepted => Ok(()),
        found => Err(read::Problem::Length { found, accepted: accepted.to_string() }.at(&array.path()).into()),
    }
}
