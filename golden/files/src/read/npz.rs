//! `SciPy`'s sparse matrices: a zip file of the arrays `format` and `shape`; `indptr` and `indices`, or `row` and `col`; and
//! `data`, which is not looked at: an entry that is stored is an arc.
//!
//! Entry (row r, column c) is the arc r -> c. So the columns of a CSC matrix list in-neighbours, and it is the graph as it
//! stands; the rows of a CSR matrix list out-neighbours, and it is transposed, in-neighbours ascending. A COO matrix names the
//! arcs one by one, and in-neighbours stand in the order of its entries.

use std::{
    borrow::Cow,
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use zip::ZipArchive;

use super::{
    error::{Problem, ReadError},
    folder::largest_id,
    npy::Npy,
    room,
    source::Source,
};
use crate::{Listener, compression::Compression};
use golden::{CscGraph, ID_MAX, NodeId, Silent};

pub(super) fn read(path: &Path, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let mut npz = Npz::open(path)?;
    let layout = npz.array("format")?.word()?;
    match layout.as_str() {
        "csc" => compressed(&mut npz, progress),
        "csr" => {
            let rows = compressed(&mut npz, progress)?;
            from_arcs(path, (rows.nodes(), rows.edges()), rows.arcs().map(|(column, row)| (row, column)))
        }
        "coo" => coordinates(&mut npz, progress),
        _ => Err(Problem::Layout { found: layout }.at(path)),
    }
}

/// The number of rows and of columns.
fn square(npz: &mut Npz) -> Result<u64, ReadError> {
    let shape = npz.array("shape")?;
    let length = shape.len()?;
    if length != 2 {
        return Err(shape.error(Problem::Length { found: length, accepted: "2, rows and columns".to_owned() }));
    }
    let shape = shape.whole_numbers(ID_MAX, u64::from, &Silent)?;
    if shape[0] != shape[1] {
        return Err(Problem::NotSquare { rows: shape[0], columns: shape[1] }.at(&npz.path));
    }
    Ok(shape[0])
}

/// A matrix by columns, or that of its rows.
fn compressed(npz: &mut Npz, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let nodes = square(npz)?;
    let indptr = npz.array("indptr")?.whole_numbers(ID_MAX, |offset| offset, progress)?;
    if indptr.len() as u64 != nodes + 1 {
        return Err(Problem::Shape { offsets: indptr.len(), nodes }.at(&npz.path));
    }
    let indices = npz.array("indices")?.whole_numbers(largest_id(&indptr), NodeId::new, progress)?;
    CscGraph::new(indptr, indices).map_err(|error| Problem::Graph(error).at(&npz.path))
}

/// A matrix entry by entry.
fn coordinates(npz: &mut Npz, progress: &dyn Listener) -> Result<CscGraph, ReadError> {
    let nodes = square(npz)?;
    let mut ends = |array| {
        let ends = npz.array(array)?;
        match (nodes.checked_sub(1), ends.len()?) {
            (None, 1..) => {
                Err(ends.error(Problem::Length { found: ends.len()?, accepted: "none: shape says 0 nodes".into() }))
            }
            (largest, _) => ends.whole_numbers(largest.unwrap_or(0) as u32, NodeId::new, progress),
        }
    };
    let (rows, columns) = (ends("row")?, ends("col")?);
    if rows.len() != columns.len() {
        return Err(Problem::Coordinates { rows: rows.len(), columns: columns.len() }.at(&npz.path));
    }
    from_arcs(&npz.path, (nodes as usize, rows.len()), rows.iter().copied().zip(columns.iter().copied()))
}

fn from_arcs(
    path: &Path,
    (nodes, edges): (usize, usize),
    arcs: impl Iterator<Item = (NodeId, NodeId)> + Clone,
) -> Result<CscGraph, ReadError> {
    room(nodes, edges).map_err(|problem| problem.at(path))?;
    CscGraph::from_arcs(nodes, arcs).map_err(|error| Problem::Graph(error).at(path))
}

/// An `.npz` file: a zip file of `.npy` files.
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens the zip file and reads its directory.
    ///
    /// # Errors
    /// If it is none.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| Problem::Open { error }.at(path))?;
        let mut file = BufReader::new(file);
        let start = file.fill_buf().map_err(|error| Problem::Read { byte: 0, error }.at(path))?;
        if let Some(around) = Compression::of_content(start) {
            return Err(Problem::PackedZip { around }.at(path));
        }
        let archive = ZipArchive::new(file).map_err(|error| Problem::Zip { error: error.into() }.at(path))?;
        Ok(Self { path: path.to_owned(), archive })
    }

    /// An array of a sparse matrix.
    fn array(&mut self, array: &'static str) -> Result<Npy<'_>, ReadError> {
        self.member(array, "a SciPy sparse matrix has format, shape, and indptr and indices or row and col")
    }

    /// The array of this name. `accepted` says what a file of this kind has, for the error if it does not.
    ///
    /// # Errors
    /// If it is missing or is no array.
    pub fn member(&mut self, array: &'static str, accepted: &'static str) -> Result<Npy<'_>, ReadError> {
        if self.archive.index_for_name(&format!("{array}.npy")).is_none() {
            const SHOWN: usize = 8;
            let found = self.archive.file_names().flatten().take(SHOWN).map(Cow::into_owned).collect();
            return Err(Problem::NpzLacks { array, found, accepted }.at(&self.path));
        }
        self.named(array)
    }

    /// The names of all arrays.
    pub fn names(&self) -> Vec<String> {
        let members = self.archive.file_names().flatten();
        members.filter_map(|member| member.strip_suffix(".npy").map(str::to_owned)).collect()
    }

    /// The array of a name that it has.
    ///
    /// # Errors
    /// If it is missing or is no array.
    pub fn named(&mut self, array: &str) -> Result<Npy<'_>, ReadError> {
        let name = format!("{array}.npy");
        let path = self.path.join(&name);
        match self.archive.by_name(&name) {
            Ok(member) => Npy::open(Source::member(member, path)),
            Err(error) => Err(Problem::Zip { error: error.into() }.at(&path)),
        }
    }
}
