//! An array of numbers in a file, its extents known before its elements are read.

use std::path::{Path, PathBuf};

use golden::Progress;
use golden_files::{
    read,
    read::{Npy, Source, excerpt},
};

use super::{
    dtype::Dtype,
    error::{DatasetError, Problem},
};

/// An array in an `.npy`, a `.pt` or a `.safetensors`.
pub(super) trait Array {
    /// The file, or what names the array within it.
    fn path(&self) -> PathBuf;

    fn shape(&self) -> &[u64];

    /// What `convert` makes of each element and its place in C order, in C order.
    fn elements<T: Copy>(
        self,
        progress: &dyn Progress,
        convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError>;
}

/// An array in an `.npy` file.
pub(super) struct NpyArray<'a> {
    npy: Npy<'a>,
    dtype: Dtype,
}

impl NpyArray<'static> {
    /// Opens the file, which may be compressed.
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        Self::of(Npy::open(Source::open(path)?)?)
    }
}

impl<'a> NpyArray<'a> {
    pub(super) fn of(npy: Npy<'a>) -> Result<Self, DatasetError> {
        const ACCEPTED: &str = "little-endian numbers: '<f2', '<f4', '<f8', '<i2', '<i4', '<i8', '<u2', '<u4', '<u8', \
                                '|i1', '|u1' and '|b1'";
        let Some(dtype) = Dtype::of_numpy(npy.dtype()) else {
            let found = excerpt(npy.dtype());
            return Err(npy.error(read::Problem::Dtype { found, accepted: ACCEPTED }).into());
        };
        Ok(Self { npy, dtype })
    }

    /// Whether the elements are stored in another order than that of their places in C order.
    pub(super) fn is_by_columns(&self) -> bool {
        self.npy.is_fortran() && self.npy.shape().iter().filter(|&&extent| extent > 1).count() > 1
    }

    /// Hands on each element and its place in C order, as they are stored.
    pub(super) fn each(
        &mut self,
        progress: &dyn Progress,
        mut take: impl FnMut(f64, u64) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let (dtype, mut place) = (self.dtype, self.places());
        self.npy.pieces(dtype.width(), progress, |bytes| dtype.each(bytes, |value| take(value, place())))
    }

    /// The places of the elements in C order, in the order in which they are stored.
    fn places(&self) -> impl FnMut() -> u64 + use<> {
        // All arrays here have two dimensions at most, and with one the order is the same.
        let (rows, columns) = match *self.npy.shape() {
            [rows, columns] if self.npy.is_fortran() => (rows, columns),
            _ => (1, 0),
        };
        let mut stored = 0;
        move || {
            let place = if columns == 0 { stored } else { stored % rows * columns + stored / rows };
            stored += 1;
            place
        }
    }
}

impl Array for NpyArray<'_> {
    fn path(&self) -> PathBuf {
        self.npy.path().to_owned()
    }

    fn shape(&self) -> &[u64] {
        self.npy.shape()
    }

    fn elements<T: Copy>(
        mut self,
        progress: &dyn Progress,
        mut convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError> {
        let (dtype, path, mut place) = (self.dtype, self.path(), self.places());
        let stored = self.npy.collect(dtype.width(), progress, |bytes, elements| {
            dtype.each(bytes, |value| {
                elements.push(convert(value, place()).map_err(|problem| problem.at(&path))?);
                Ok::<_, DatasetError>(())
            })
        })?;
        Ok(match *self.npy.shape() {
            [rows, columns] if self.is_by_columns() => {
                let (rows, columns) = (rows as usize, columns as usize);
                (0..stored.len()).map(|place| stored[place % columns * rows + place / columns]).collect()
            }
            _ => stored,
        })
    }
}
