//! Features of nodes, dense or sparse.

use std::path::Path;

use golden_files::Listener;

use super::{
    array::Array,
    arrays::Arrays,
    error::{DatasetError, Problem},
    names::{Piece, Role},
    sparse,
};
use golden_files::memory::{self, Shortage};

/// What is known of each node: a row of numbers, all finite.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every number is there.
    Dense(Dense),
    /// Only those that are not 0 are there, such as the words that occur in a text.
    Sparse(Sparse),
}

/// Rows of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row after row.
    pub(super) values: Vec<f32>,
}

/// Rows of the numbers that are there, and their columns (CSR). Where a row names a column twice, the numbers add up.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    pub(super) columns: usize,
    /// Where each row starts, and the last one ends.
    pub(super) indptr: Vec<u32>,
    /// The columns.
    pub(super) indices: Vec<u32>,
    /// The numbers; `None` if each of them is 1.
    pub(super) values: Option<Vec<f32>>,
}

impl Features {
    /// None at all, of so many nodes.
    pub(super) fn none(nodes: usize) -> Self {
        Self::Dense(Dense { rows: nodes, columns: 0, values: Vec::new() })
    }

    /// How many nodes there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.rows,
            Self::Sparse(sparse) => sparse.indptr.len() - 1,
        }
    }

    /// How many numbers each node has.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.columns,
            Self::Sparse(sparse) => sparse.columns,
        }
    }

    /// Bytes that they take here.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Dense(dense) => 4 * dense.values.len(),
            Self::Sparse(sparse) => {
                4 * (sparse.indptr.len() + sparse.indices.len() + sparse.values.as_ref().map_or(0, Vec::len))
            }
        }
    }

    /// How many numbers are not 0.
    pub fn nonzeros(&self) -> usize {
        let count = |values: &[f32]| values.iter().filter(|&&value| value != 0.0).count();
        match self {
            Self::Dense(dense) => count(&dense.values),
            Self::Sparse(sparse) => sparse.values.as_deref().map_or(sparse.indices.len(), count),
        }
    }

    /// Every number, if this machine has the memory for it. `path` is where the features come from.
    ///
    /// # Errors
    /// If it has not, or if numbers of the same place add up to none of float32.
    pub fn dense(self, path: &Path) -> Result<Dense, DatasetError> {
        match self {
            Self::Dense(dense) => Ok(dense),
            Self::Sparse(sparse) => sparse.dense().map_err(|problem| problem.at(path)),
        }
    }

    /// Divides each row by its sum; one whose sum is 0 stays.
    ///
    /// Of rows without negative numbers whose sums are 0, or 1 and more, such as counts of words, this makes what `PyG`'s
    /// `NormalizeFeatures` does. (That one also subtracts the smallest number of all, and divides by 1 at least.)
    ///
    /// # Errors
    /// If a quotient is no number of float32. The rows before that one are divided then.
    pub fn normalise_rows(&mut self, path: &Path) -> Result<(), DatasetError> {
        let rows = self.rows();
        let normalise = |node, row: &mut [f32]| divide(node, row).map_err(|problem| problem.at(path));
        match self {
            Self::Dense(dense) if dense.columns == 0 => Ok(()),
            Self::Dense(dense) => {
                dense.values.chunks_exact_mut(dense.columns).zip(0..).try_for_each(|(row, node)| normalise(node, row))
            }
            Self::Sparse(Sparse { indptr, indices, values, .. }) => {
                let values = values.get_or_insert_with(|| vec![1.0; indices.len()]);
                (0..rows)
                    .try_for_each(|node| normalise(node, &mut values[indptr[node] as usize..indptr[node + 1] as usize]))
            }
        }
    }
}

/// Divides a row by its sum.
fn divide(node: usize, row: &mut [f32]) -> Result<(), Problem> {
    let sum: f64 = row.iter().copied().map(f64::from).sum();
    if sum == 0.0 {
        return Ok(());
    }
    let quotient = |value: f32| (f64::from(value) / sum) as f32;
    if !row.iter().all(|&value| quotient(value).is_finite()) {
        return Err(Problem::Sum { node, sum });
    }
    row.iter_mut().for_each(|value| *value = quotient(*value));
    Ok(())
}

impl Dense {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers a row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The numbers of a node.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, node: usize) -> &[f32] {
        assert!(node < self.rows, "row {node} of {}", self.rows);
        &self.values[node * self.columns..][..self.columns]
    }

    /// All numbers of an array that has a row for each of `nodes` nodes.
    pub(super) fn read(array: impl Array, nodes: usize, progress: &dyn Listener) -> Result<Self, DatasetError> {
        let path = array.path();
        let columns = columns(&path, array.shape(), nodes)?;
        check_memory(nodes, columns).map_err(|problem| problem.at(&path))?;
        let values = array.elements(progress, |value, place| number(value, place, columns as u64))?;
        Ok(Self { rows: nodes, columns, values })
    }
}

/// Reads the features of `nodes` nodes, dense or sparse, or none.
pub(super) fn read(arrays: &mut Arrays, nodes: usize, progress: &dyn Listener) -> Result<Features, DatasetError> {
    let is_features = |role| role == Role::Features || role == Role::Sparse(Piece::Indptr);
    match arrays.only("the features", is_features)? {
        Some(found) if arrays.role(found) == Role::Features => {
            Dense::read(arrays.open(found)?, nodes, progress).map(Features::Dense)
        }
        Some(found) => sparse::read(arrays, found, nodes, progress).map(Features::Sparse),
        None => {
            for piece in [Piece::Indices, Piece::Values, Piece::Shape] {
                if let Some(found) = sparse::piece(arrays, "the features", piece)? {
                    return Err(arrays.half(found, "feat_indptr.npy"));
                }
            }
            Ok(Features::none(nodes))
        }
    }
}

/// The columns of an array of these extents, which must have a row for each of `nodes` nodes.
pub(super) fn columns(path: &Path, shape: &[u64], nodes: usize) -> Result<usize, DatasetError> {
    match *shape {
        [rows, columns] if rows == nodes as u64 && columns <= u64::from(golden::ID_MAX) => Ok(columns as usize),
        _ => {
            let hint = match *shape {
                [_, rows] if rows == nodes as u64 => " (these look transposed)",
                _ => "",
            };
            let accepted = format!("[{nodes}, any number], a row for each node of the graph{hint}");
            Err(Problem::Shape { what: "the features", found: shape.to_vec(), accepted }.at(path))
        }
    }
}

/// A feature, which is at `place` of rows of `columns` numbers.
pub(super) fn number(value: f64, place: u64, columns: u64) -> Result<f32, Problem> {
    let number = value as f32;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(Problem::Feature { node: place / columns, column: place % columns, found: value })
    }
}

/// Whether this machine has the memory for so many numbers.
fn check_memory(rows: usize, columns: usize) -> Result<(), Problem> {
    let needed = 4 * (rows as u64).saturating_mul(columns as u64).min(u64::MAX / 4);
    memory::check(needed).map_err(|Shortage { needed, free }| Problem::Memory { what: "the features", needed, free })
}

impl Sparse {
    /// Where each row starts in [`Sparse::indices`], and where the last one ends.
    pub fn indptr(&self) -> &[u32] {
        &self.indptr
    }

    /// The columns of the numbers that are there.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// These numbers; `None` if each of them is 1.
    pub fn values(&self) -> Option<&[f32]> {
        self.values.as_deref()
    }

    fn dense(&self) -> Result<Dense, Problem> {
        let rows = self.indptr.len() - 1;
        check_memory(rows, self.columns)?;
        let mut values = vec![0.0; rows * self.columns];
        for node in 0..rows {
            for place in self.indptr[node] as usize..self.indptr[node + 1] as usize {
                let column = self.indices[place] as usize;
                let number = &mut values[node * self.columns + column];
                *number += self.values.as_ref().map_or(1.0, |values| values[place]);
                if !number.is_finite() {
                    let (node, column) = (node as u64, column as u64);
                    return Err(Problem::Feature { node, column, found: f64::from(*number) });
                }
            }
        }
        Ok(Dense { rows, columns: self.columns, values })
    }
}
