//! `SciPy`'s sparse matrices: a zip file of the arrays `format`, `shape`, `indptr` and `indices`, and `data`, which is not
//! looked at: an entry that is stored is an arc.
//!
//! Entry (row r, column c) is the arc r -> c. So the columns of a CSC matrix list in-neighbours, and it is the graph as it
//! stands; the rows of a CSR matrix list out-neighbours, and it is transposed, in-neighbours ascending.

use std::{
    borrow::Cow,
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use zip::ZipArchive;

use super::{
    error::{Problem, ReadError},
    folder::largest_id,
    npy::Npy,
    source::Source,
};
use crate::{
    arcs::by_destination,
    graph::CscGraph,
    id::{ID_MAX, NodeId},
    progress::{Progress, Silent},
};

pub(super) fn read(path: &Path, progress: &dyn Progress) -> Result<CscGraph, ReadError> {
    let mut npz = Npz::open(path)?;
    let layout = npz.array("format")?.word()?;
    let transposed = match layout.as_str() {
        "csc" => false,
        "csr" => true,
        _ => return Err(Problem::Layout { found: layout }.at(path)),
    };
    let shape = npz.array("shape")?;
    let length = shape.len()?;
    if length != 2 {
        return Err(shape.error(Problem::Length { found: length, accepted: "2, rows and columns".to_owned() }));
    }
    let shape = shape.whole_numbers(ID_MAX, u64::from, &Silent)?;
    if shape[0] != shape[1] {
        return Err(Problem::NotSquare { rows: shape[0], columns: shape[1] }.at(path));
    }
    let indptr = npz.array("indptr")?.whole_numbers(ID_MAX, |offset| offset, progress)?;
    if indptr.len() as u64 != shape[0] + 1 {
        return Err(Problem::Shape { offsets: indptr.len(), nodes: shape[0] }.at(path));
    }
    let indices = npz.array("indices")?.whole_numbers(largest_id(&indptr), NodeId::new, progress)?;
    let at = |error| Problem::Graph(error).at(path);
    let graph = CscGraph::new(indptr, indices).map_err(at)?;
    if !transposed {
        return Ok(graph);
    }
    let (indptr, indices) = by_destination(graph.nodes(), graph.arcs().map(|(column, row)| (row, column)));
    CscGraph::new(indptr, indices).map_err(at)
}

struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| Problem::Open { error }.at(path))?;
        let archive =
            ZipArchive::new(BufReader::new(file)).map_err(|error| Problem::Zip { error: error.into() }.at(path))?;
        Ok(Self { path: path.to_owned(), archive })
    }

    fn array(&mut self, array: &'static str) -> Result<Npy<'_>, ReadError> {
        let name = format!("{array}.npy");
        if self.archive.index_for_name(&name).is_none() {
            const SHOWN: usize = 8;
            let found = self.archive.file_names().flatten().take(SHOWN).map(Cow::into_owned).collect();
            return Err(Problem::NpzLacks { array, found }.at(&self.path));
        }
        let path = self.path.join(&name);
        match self.archive.by_name(&name) {
            Ok(member) => Npy::open(Source::member(member, path)),
            Err(error) => Err(Problem::Zip { error: error.into() }.at(&path)),
        }
    }
}
