//! Files that are not graphs: each is refused in one sentence that says where, what and what would do.

mod arrays;
mod text;

use std::{cell::RefCell, fs, io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
use golden::{CscGraph, Progress, Silent};
use golden_files::{Format, Listener, Note, read, read::ReadOptions};
use proptest::prelude::*;
use tempfile::TempDir;

const PLAIN: ReadOptions = ReadOptions { format: None, symmetrise: false, nodes: None, columns: None, first_id: None };

/// Hears the notes on a file.
#[derive(Default)]
struct Notes(RefCell<Vec<Note>>);

impl Progress for Notes {
    fn report(&self, _what: &str, _done: u64, _total: u64) {}
}

impl Listener for Notes {
    fn note(&self, note: &Note) {
        self.0.borrow_mut().push(note.clone());
    }
}

/// A `.npy` file of version 1.0 with this header and data.
fn npy_of(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_of(&format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"), data)
}

fn int32(values: &[i32]) -> Vec<u8> {
    npy("<i4", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn int64(values: &[i64]) -> Vec<u8> {
    npy("<i8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The graph of a file of this name and content, and the notes on it.
fn noted(name: &str, bytes: &[u8], options: &ReadOptions) -> (Result<CscGraph, String>, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let notes = Notes::default();
    let graph = read::graph(&path, options, &notes).map_err(|error| sentence(&error.to_string(), folder.path()));
    let notes = notes.0.into_inner();
    (graph, notes.iter().map(|note| sentence(&note.to_string(), folder.path())).collect())
}

/// The graph of a file of this name and content.
fn read_with(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<CscGraph, String> {
    noted(name, bytes, options).0
}

/// Why a file of this name and content is refused.
fn refusal(name: &str, bytes: &[u8]) -> String {
    read_with(name, bytes, &PLAIN).unwrap_err()
}

/// Why a folder of these arrays is refused.
fn folder_refusal(files: &[(&str, Vec<u8>)]) -> String {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    sentence(&read::graph(folder.path(), &PLAIN, &Silent).unwrap_err().to_string(), folder.path())
}

/// An error or a note, with the folder left out of its path.
fn sentence(text: &str, folder: &Path) -> String {
    assert!(!text.contains('\n'), "one line: {text}");
    let folder = folder.display().to_string();
    assert!(text.starts_with(&folder), "the path comes first: {text}");
    text[folder.len()..].trim_start_matches('/').to_owned()
}

#[test]
fn paths() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str, options: &ReadOptions| {
        let error = read::graph(&folder.path().join(name), options, &Silent).unwrap_err();
        sentence(&error.to_string(), folder.path())
    };
    let forced = |format| ReadOptions { format: Some(format), ..PLAIN };
    for name in ["a.parquet", "a.strange", "a.pt", "a.tar.gz", "a.npy", "a.npz.xz", "b.out.x"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::write(folder.path().join("plain"), "0 1\n").unwrap();
    fs::create_dir(folder.path().join("a.txt")).unwrap();
    let unknown = "its extension is of no graph format";
    let names = format!(
        "{unknown}; accepted are .txt, .edges, .edgelist, .el, .tsv, .tab, .csv, .mtx, .graph and .metis (each also with .gz, \
         .bz2, .xz or .zst), .npz, or a folder with indptr.npy and indices.npy, or any name if the format is named"
    );
    assert_eq!(at("none.txt", &PLAIN), "none.txt: cannot be opened: No such file or directory (os error 2)");
    for name in ["a.strange", "plain", "b.out.x"] {
        assert_eq!(at(name, &PLAIN), format!("{name}: {names}"));
    }
    for (name, what) in [
        (
            "a.parquet",
            "this format is not read; save the edges as text, 'source,target' on each line, or the adjacency matrix with \
             scipy.sparse.save_npz",
        ),
        (
            "a.pt",
            "it is a Python object, and those are not read; save its adjacency matrix with scipy.sparse.save_npz, or its \
             edges as text",
        ),
        ("a.tar.gz", "it is an archive; unpack it, and give the file with the graph"),
        (
            "a.npy",
            "it is one array; accepted are two, indptr.npy and indices.npy, whose folder is given, or a matrix of \
             scipy.sparse.save_npz",
        ),
        ("a.npz.xz", "an .npz is compressed in itself; unpack what is around it"),
    ] {
        assert_eq!(at(name, &PLAIN), format!("{name}: {unknown}: {what}"));
    }
    assert_eq!(
        at("plain", &forced(Format::Folder)),
        "plain: this is a file, but format 'folder' is a folder with indptr.npy and indices.npy"
    );
    assert_eq!(at("a.txt", &forced(Format::Csv)), "a.txt: this is a folder, but format 'csv' is one file");
    assert_eq!(
        at("a.txt", &ReadOptions { nodes: Some(3), ..PLAIN }),
        "a.txt: the number of nodes is given as 3, but format 'folder' states it; it can be given for edge lists and Matrix \
         Market"
    );
    assert_eq!(
        at("plain", &ReadOptions { nodes: Some(0), ..forced(Format::EdgeList) }),
        "plain: the number of nodes is given as 0; accepted are 1 to 2147483647"
    );
}

/// Files that are good, to be spoilt.
fn good_files() -> Vec<(&'static str, Vec<u8>)> {
    let word = npy("|S3", "()", b"csr");
    let matrix = [
        ("format.npy", word),
        ("shape.npy", int64(&[3, 3])),
        ("indptr.npy", int32(&[0, 2, 2, 3])),
        ("indices.npy", int32(&[1, 2, 2])),
    ];
    vec![
        ("a.npz", npz(&matrix)),
        ("a.txt", b"# c\n0 1 0.5\n2 1 nan\n\n1\t0\t3\n".to_vec()),
        ("a.csv.gz", gzip(b"u,v\n0,1\n2,1\n1,0\n")),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 2\n2 1 0.5\n3 3 1\n".to_vec()),
        ("a.edges", b"% bip positive\n% 3 2 2\n1 1\t5\n1 2\t5\n2 1\t5\n".to_vec()),
        ("a.edgelist", b"# Nodes: 3 Edges: 2\n# Undirected graph\n0 1 {'w': 1}\n1 2 {}\n".to_vec()),
        ("a.csv", b"Id;Source;Target;Type\r\n0;\"0\";1;Undirected\r\n1;1;2;\"a;\nb\"\r\n".to_vec()),
        ("a.graph", b"% c\n3 2 11\n5 2 7\n5 3 7 1 7\n5 2 7\n".to_vec()),
    ]
}

test_support::properties! {
    /// Nothing panics, whatever bytes are changed.
    #[test]
    fn spoilt_files(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        for (name, mut bytes) in good_files() {
            prop_assert!(read_with(name, &bytes, &PLAIN).is_ok());
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let _ = read_with(name, &bytes, &PLAIN);
            let _ = read_with(name, &bytes[..cut.index(bytes.len())], &PLAIN);
        }
    }
}
