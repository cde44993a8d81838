//! The file formats of graphs, and how a path names one.

use std::{ffi::OsStr, fmt, path::Path, str::FromStr};

/// A file format of graphs. In each of them an arc `u -> v` makes `u` an in-neighbour of `v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A folder with `indptr.npy` and `indices.npy`: the arrays of [`CscGraph`](golden::CscGraph) as they are.
    Folder,
    /// A `SciPy` sparse matrix, `.npz`: entry (row u, column v) is the arc u -> v.
    Npz,
    /// Lines `u v` for the arc u -> v; ids are 0-based.
    EdgeList,
    /// The same, but the first line may name the columns.
    Csv,
    /// Matrix Market, `.mtx`: entry (row u, column v) is the arc u -> v; ids in the file are 1-based.
    MatrixMarket,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Folder, Self::Npz, Self::EdgeList, Self::Csv, Self::MatrixMarket];

    /// What the user calls it; [`Format::from_str`] reads it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Npz => "npz",
            Self::EdgeList => "edges",
            Self::Csv => "csv",
            Self::MatrixMarket => "mtx",
        }
    }

    /// The format that the name of `path` asks for, or `None` for an extension that no format has. A name without an
    /// extension is a folder; a `.gz` at the end of a text format's name is passed over, and case does not matter.
    pub fn of_name(path: &Path) -> Option<Self> {
        let stem = path.file_stem().map(Path::new);
        let (name, gzip) = if is_gzip(path) { (stem?, true) } else { (path, false) };
        let Some(extension) = name.extension() else { return (!gzip).then_some(Self::Folder) };
        let is = |names: &[&str]| names.iter().any(|name| extension.eq_ignore_ascii_case(name));
        match () {
            () if is(&["txt", "edges", "el", "tsv"]) => Some(Self::EdgeList),
            () if is(&["csv"]) => Some(Self::Csv),
            () if is(&["mtx"]) => Some(Self::MatrixMarket),
            () if is(&["npz"]) && !gzip => Some(Self::Npz),
            () => None,
        }
    }

    /// What [`Format::of_name`] takes, as it reads in an error.
    pub(crate) const NAMES: &str = ".txt, .edges, .el, .tsv, .csv, .mtx (each also with .gz), .npz, or a folder with \
                                    indptr.npy and indices.npy";
}

/// Whether the name of `path` says that it is compressed.
pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let named = Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(text.trim()));
        named.ok_or_else(|| FormatError(text.to_owned()))
    }
}

/// A name that no format has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no graph format '{0}'; give one of folder, npz, edges, csv, mtx")]
pub struct FormatError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let cases = [
            ("graphs/cora", Some(Format::Folder)),
            ("a.txt", Some(Format::EdgeList)),
            ("a.b.EDGES.GZ", Some(Format::EdgeList)),
            ("a.csv.gz", Some(Format::Csv)),
            ("a.mtx", Some(Format::MatrixMarket)),
            ("a.npz", Some(Format::Npz)),
            ("a.npz.gz", None),
            ("a.gz", None),
            ("a.npy", None),
            ("a.parquet", None),
        ];
        for (path, format) in cases {
            assert_eq!(Format::of_name(Path::new(path)), format, "{path}");
        }
    }

    #[test]
    fn names_of_formats() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert!("x".parse::<Format>().unwrap_err().to_string().contains(format.name()));
        }
    }
}
