//! The file formats of graphs, and how a path names one.

use std::{fmt, path::Path, str::FromStr};

use crate::compression::Compression;

/// A file format of graphs. In each of them an arc `u -> v` makes `u` an in-neighbour of `v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A folder with `indptr.npy` and `indices.npy`: the arrays of [`CscGraph`](golden::CscGraph) as they are.
    Folder,
    /// A `SciPy` sparse matrix, `.npz`: entry (row u, column v) is the arc u -> v.
    Npz,
    /// Lines `u v` for the arc u -> v, between blanks, tabs, commas or semicolons, whose columns the first line may name;
    /// ids are 0-based where nothing else is said.
    EdgeList,
    /// The same in another way to write it: between commas, under a line that names the columns.
    Csv,
    /// Matrix Market, `.mtx`: entry (row u, column v) is the arc u -> v; ids in the file are 1-based.
    MatrixMarket,
    /// METIS, `.graph`: line v lists the neighbours of node v, so an edge is on two lines; ids in the file are 1-based.
    Metis,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [Self::Folder, Self::Npz, Self::EdgeList, Self::Csv, Self::MatrixMarket, Self::Metis];

    /// What the user calls it; [`Format::from_str`] reads it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Npz => "npz",
            Self::EdgeList => "edges",
            Self::Csv => "csv",
            Self::MatrixMarket => "mtx",
            Self::Metis => "metis",
        }
    }

    /// The extensions that ask for it, in lower case.
    const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Folder => &[],
            Self::Npz => &["npz"],
            Self::EdgeList => {
                &["txt", "edges", "el", "tsv", "edgelist", "edge", "wel", "ncol", "arcs", "arc", "tab", "dat"]
            }
            Self::Csv => &["csv"],
            Self::MatrixMarket => &["mtx", "mm"],
            Self::Metis => &["graph", "metis"],
        }
    }

    /// The format that the name of `path` asks for, or `None` for an extension that no format has. A name without an
    /// extension is a folder; at the end of a text format's name an extension of [`Compression`] is passed over, and case
    /// does not matter.
    pub fn of_name(path: &Path) -> Option<Self> {
        let compression = Compression::of_name(path);
        let stem = path.file_stem().map(Path::new);
        let name = if compression.is_some() { stem? } else { path };
        let Some(extension) = name.extension() else { return compression.is_none().then_some(Self::Folder) };
        let is = |names: &[&str]| names.iter().any(|name| extension.eq_ignore_ascii_case(name));
        let named = Self::ALL.into_iter().find(|format| is(format.extensions()));
        named.filter(|format| compression.is_none() || *format != Self::Npz)
    }

    /// What [`Format::of_name`] takes, as it reads in an error.
    pub(crate) const NAMES: &str = ".txt, .edges, .edgelist, .el, .tsv, .tab, .csv, .mtx, .graph and .metis (each also \
                                    with .gz, .bz2, .xz or .zst), .npz, or a folder with indptr.npy and indices.npy";

    /// What the name of `path` says that is no graph format of ours, and what to do with it.
    pub(crate) fn foreign(path: &Path) -> Option<&'static str> {
        const PYTHON: &str = "it is a Python object, and those are not read; save its adjacency matrix with \
                              scipy.sparse.save_npz, or its edges as text";
        const OTHER: &str = "this format is not read; save the edges as text, 'source,target' on each line, or the \
                             adjacency matrix with scipy.sparse.save_npz";
        const ARCHIVE: &str = "it is an archive; unpack it, and give the file with the graph";
        const KINDS: [(&[&str], &str); 5] = [
            (&["pt", "pth", "pkl", "pickle", "gpickle", "dgl", "bin"], PYTHON),
            (
                &[
                    "graphml", "gml", "gexf", "gdf", "net", "paj", "dot", "gv", "json", "jsonl", "parquet", "feather",
                    "arrow", "mat", "h5", "hdf5", "xlsx", "xls", "xml", "g6", "s6", "rb", "rua", "lgl", "dl",
                ],
                OTHER,
            ),
            (&["zip", "tar", "tgz", "tbz", "tbz2", "txz", "7z", "rar"], ARCHIVE),
            (
                &["npy"],
                "it is one array; accepted are two, indptr.npy and indices.npy, whose folder is given, or a matrix of \
                 scipy.sparse.save_npz",
            ),
            (&["npz"], "an .npz is compressed in itself; unpack what is around it"),
        ];
        let compressed = Compression::of_name(path).is_some();
        let name = if compressed { path.file_stem().map(Path::new)? } else { path };
        let extension = name.extension()?;
        let known = |names: &[&str]| names.iter().any(|name| extension.eq_ignore_ascii_case(name));
        KINDS.iter().find(|(names, _)| known(names)).map(|&(_, what)| what)
    }
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
#[error("there is no graph format '{0}'; give one of folder, npz, edges, csv, mtx, metis")]
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
            ("a.txt.zst", Some(Format::EdgeList)),
            ("a.edgelist.bz2", Some(Format::EdgeList)),
            ("a.Graph.xz", Some(Format::Metis)),
            ("a.metis", Some(Format::Metis)),
            ("a.txt.gz.gz", None),
            ("a.npy", None),
            ("a.parquet", None),
        ];
        for (path, format) in cases {
            assert_eq!(Format::of_name(Path::new(path)), format, "{path}");
        }
    }

    #[test]
    fn every_extension_means_one_thing() {
        for format in Format::ALL {
            for extension in format.extensions() {
                let path = format!("a.{extension}");
                assert_eq!(Format::of_name(Path::new(&path)), Some(format));
                assert!(Format::foreign(Path::new(&path)).is_none() || format == Format::Npz, "{path}");
            }
        }
        for (path, what) in [
            ("a.pt", "a Python object"),
            ("a.GPickle", "a Python object"),
            ("a.graphml.gz", "not read"),
            ("a.tar.gz", "an archive"),
            ("a.tgz", "an archive"),
            ("indptr.npy", "one array"),
            ("a.npz.gz", "around it"),
        ] {
            assert_eq!(Format::of_name(Path::new(path)), None, "{path}");
            assert!(Format::foreign(Path::new(path)).is_some_and(|found| found.contains(what)), "{path}");
        }
        assert_eq!(Format::foreign(Path::new("a.strange")), None);
    }

    #[test]
    fn names_of_formats() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert!("x".parse::<Format>().unwrap_err().to_string().contains(format.name()));
        }
    }
}
