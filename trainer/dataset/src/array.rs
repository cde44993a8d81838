//! An array of numbers in a file, its extents known before its elements are read.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use golden::ID_MAX;
use golden_files::{
    Listener, read,
    read::{Npy, Source, excerpt},
};

use super::{
    dtype::Dtype,
    error::{DatasetError, Problem},
    safetensors::Tensor,
    torch::TorchArray,
};

/// An array in an `.npy`, a `.pt` or a `.safetensors`.
pub(super) trait Array {
    /// The file, or what names the array within it.
    fn path(&self) -> PathBuf;

    fn shape(&self) -> &[u64];

    fn dtype(&self) -> Dtype;

    /// What `convert` makes of each element and its place in C order, in C order. It is called in the order in which the
    /// elements are stored.
    fn elements<T: Copy>(
        self,
        progress: &dyn Listener,
        convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError>;
}

/// An array of whichever file.
pub(super) enum AnyArray<'a> {
    Npy(NpyArray<'a>),
    Torch(TorchArray<'a>),
    Safetensors(Tensor<'a>),
    Number(Number),
}

/// One number that stands alone, as an array of no dimension.
pub(super) struct Number {
    pub(super) path: PathBuf,
    pub(super) value: i64,
}

impl Array for AnyArray<'_> {
    fn path(&self) -> PathBuf {
        match self {
            Self::Npy(array) => array.path(),
            Self::Torch(array) => array.path(),
            Self::Safetensors(array) => array.path(),
            Self::Number(number) => number.path.clone(),
        }
    }

    fn shape(&self) -> &[u64] {
        match self {
            Self::Npy(array) => array.shape(),
            Self::Torch(array) => array.shape(),
            Self::Safetensors(array) => array.shape(),
            Self::Number(_) => &[],
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            Self::Npy(array) => array.dtype(),
            Self::Torch(array) => array.dtype(),
            Self::Safetensors(array) => array.dtype(),
            Self::Number(_) => Dtype::I64,
        }
    }

    fn elements<T: Copy>(
        self,
        progress: &dyn Listener,
        mut convert: impl FnMut(f64, u64) -> Result<T, Problem>,
    ) -> Result<Vec<T>, DatasetError> {
        match self {
            Self::Npy(array) => array.elements(progress, convert),
            Self::Torch(array) => array.elements(progress, convert),
            Self::Safetensors(array) => array.elements(progress, convert),
            #[expect(clippy::cast_precision_loss, reason = "see Dtype::each")]
            Self::Number(Number { path, value }) => {
                convert(value as f64, 0).map(|value| vec![value]).map_err(|problem| problem.at(&path))
            }
        }
    }
}

/// All elements of an array of one dimension, or of one row or column, each a whole number in `range`, as `wrap` makes them.
pub(super) fn whole_numbers<T: Copy>(
    array: impl Array,
    range: RangeInclusive<u32>,
    wrap: impl Fn(u32) -> T,
    progress: &dyn Listener,
) -> Result<Vec<T>, DatasetError> {
    let path = array.path();
    let length = length(&array)?;
    // NumPy makes an empty list one of float64.
    if !array.dtype().is_whole() && length > 0 {
        let (found, accepted) = (array.dtype().to_string(), "whole numbers");
        return Err(Problem::Type { what: "the elements", found, accepted }.at(&path));
    }
    let limit = u64::from(ID_MAX) + 1;
    if length > limit {
        return Err(read::Problem::Length { found: length, accepted: format!("at most {limit}") }.at(&path).into());
    }
    let (min, max) = range.into_inner();
    array.elements(progress, |found, element| match whole(found, min..=max) {
        Some(number) => Ok(wrap(number)),
        None => Err(Problem::Element { element, found, min, max }),
    })
}

/// The whole number that an element is, if it is one of `range`.
pub(super) fn whole(element: f64, range: RangeInclusive<u32>) -> Option<u32> {
    let number = (element.fract() == 0.0).then_some(element as i64)?;
    u32::try_from(number).ok().filter(|number| range.contains(number))
}

/// The number of elements of an array of one dimension, or of one row or column.
pub(super) fn length(array: &impl Array) -> Result<u64, DatasetError> {
    match *array.shape() {
        [length] | [length, 1] | [1, length] => Ok(length),
        _ => {
            let (found, accepted) = (array.shape().to_vec(), "one dimension".to_owned());
            Err(Problem::Shape { what: "the elements", found, accepted }.at(&array.path()))
        }
    }
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
        if npy.dtype().starts_with("|O") {
            return Err(Problem::Object { found: "an array of Python objects (dtype '|O')".to_owned() }.at(npy.path()));
        }
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
        progress: &dyn Listener,
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

    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn elements<T: Copy>(
        mut self,
        progress: &dyn Listener,
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
