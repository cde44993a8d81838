//! What is written is read back, in every format, position for position.

use std::{
    cell::RefCell,
    fs,
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use golden::{CscGraph, EdgePos, HopCounts, LocalId, NodeId, Progress, Silent, SubGraph};
use golden_files::{
    Format, Listener, Note, Setting, read,
    read::ReadOptions,
    write,
    write::{WriteOptions, WriteProblem},
};
use proptest::prelude::*;
use tempfile::TempDir;

const NAMES: [&str; 12] = [
    "folder",
    "a.npz",
    "a.txt",
    "a.tsv",
    "a.edges.gz",
    "a.edgelist.zst",
    "a.csv",
    "a.csv.gz",
    "a.csv.bz2",
    "a.mtx",
    "a.mtx.gz",
    "a.mtx.xz",
];

fn graphs() -> impl Strategy<Value = CscGraph> {
    (1..40u32).prop_flat_map(|nodes| {
        prop::collection::vec(prop::collection::vec(0..nodes, 0..6), nodes as usize).prop_map(|sources| {
            let mut indptr = vec![0];
            indptr.extend(sources.iter().scan(0, |edges, of_node| {
                *edges += of_node.len() as u32;
                Some(*edges)
            }));
            CscGraph::new(indptr, sources.concat().into_iter().map(NodeId::new).collect()).unwrap()
        })
    })
}

/// Hears what has to be known to read a file back.
#[derive(Default)]
struct Settings(RefCell<Vec<Setting>>);

impl Progress for Settings {
    fn report(&self, _what: &str, _done: u64, _total: u64) {}
}

impl Listener for Settings {
    fn note(&self, note: &Note) {
        self.0.borrow_mut().extend(note.remark.setting());
    }
}

/// Writes a graph to `path`, and reads it back as the notes on the file ask for.
fn there_and_back(path: &Path, graph: &CscGraph, options: WriteOptions) -> CscGraph {
    let settings = Settings::default();
    write::graph(path, graph, &options, &settings).unwrap();
    let nodes = match settings.0.into_inner()[..] {
        [] => None,
        [Setting::Nodes(nodes)] if Format::of_name(path) == Some(Format::Csv) => nodes,
        ref others => panic!("{}: {others:?}", path.display()),
    };
    read::graph(path, &ReadOptions { nodes, ..ReadOptions::default() }, &Silent).unwrap()
}

test_support::properties! {
    cases: 64;

    #[test]
    fn every_format(graph in graphs()) {
        let folder = TempDir::new().unwrap();
        for name in NAMES {
            let path = folder.path().join(name);
            prop_assert_eq!(&there_and_back(&path, &graph, WriteOptions::default()), &graph, "{}", name);
        }
        // A temporary name left behind would be one more.
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), NAMES.len());
    }

    /// Undirected graphs without self-loops are METIS's, too.
    #[test]
    fn metis(graph in graphs()) {
        let folder = TempDir::new().unwrap();
        let graph = graph.without_self_loops().symmetrised().unwrap();
        for name in ["a.graph", "a.metis.gz", "a.graph.bz2", "a.graph.xz", "a.graph.zst"] {
            prop_assert_eq!(&there_and_back(&folder.path().join(name), &graph, WriteOptions::default()), &graph);
        }
    }

    #[test]
    fn symmetrised(graph in graphs()) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a");
        write::graph(&path, &graph, &WriteOptions::default(), &Silent).unwrap();
        let both = read::graph(&path, &ReadOptions { symmetrise: true, ..ReadOptions::default() }, &Silent).unwrap();
        let mut expected: Vec<_> = graph.arcs().chain(graph.arcs().map(|(u, v)| (v, u))).map(|(u, v)| (v, u)).collect();
        expected.sort_unstable();
        expected.dedup();
        prop_assert!(both.arcs().map(|(u, v)| (v, u)).eq(expected));
        prop_assert_eq!(both.symmetrised().unwrap(), both);
    }
}

fn small() -> CscGraph {
    CscGraph::new(vec![0, 2, 2, 3], [2, 1, 2].map(NodeId::new).to_vec()).unwrap()
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = TempDir::new().unwrap();
    let overwrite = WriteOptions { overwrite: true, ..WriteOptions::default() };
    for name in NAMES {
        let path = folder.path().join(name);
        write::graph(&path, &small(), &WriteOptions::default(), &Silent).unwrap();
        let problem = write::graph(&path, &small(), &WriteOptions::default(), &Silent).unwrap_err().problem;
        assert!(matches!(problem, WriteProblem::Exists { .. }), "{name}: {problem}");
        let larger = small().symmetrised().unwrap();
        assert_eq!(there_and_back(&path, &larger, overwrite), larger, "{name}");
    }
}

#[test]
fn a_folder_keeps_its_other_files() {
    let folder = TempDir::new().unwrap();
    let names = ["labels.npy", "indices.npy.gz", "indptr.npy.zst"].map(|name| folder.path().join(name));
    for path in &names {
        fs::write(path, "x").unwrap();
    }
    let overwrite = WriteOptions { overwrite: true, format: Some(Format::Folder) };
    write::graph(folder.path(), &small(), &overwrite, &Silent).unwrap();
    assert_eq!(names.map(|path| path.exists()), [true, false, false], "an array of another graph must not stay");
    assert_eq!(read::graph(folder.path(), &ReadOptions::default(), &Silent).unwrap(), small());
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let overwrite = WriteOptions { overwrite: true, format: Some(Format::EdgeList) };
    let refused = |path: &Path, options: &WriteOptions| {
        let error = write::graph(path, &small(), options, &Silent).unwrap_err().to_string();
        error.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    let path = folder.path().join("a.parquet");
    assert!(refused(&path, &WriteOptions::default()).contains("accepted are .txt"));
    assert_eq!(refused(folder.path(), &overwrite), "there is a folder of this name, but text is written to a file");
    let missing = folder.path().join("no/such/a.txt");
    let sentence = format!("there is no folder {} to write it in", folder.path().join("no/such").display());
    assert_eq!(refused(&missing, &overwrite), sentence);
    let device = folder.path().join("device.txt");
    symlink("/dev/null", &device).unwrap();
    assert_eq!(refused(&device, &overwrite), "there is a device of this name, but text is written to a file");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_metis_cannot_hold_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.graph");
    let refused = |graph: &CscGraph| {
        let error = write::graph(&path, graph, &WriteOptions::default(), &Silent).unwrap_err();
        assert!(!path.exists());
        error.problem.to_string()
    };
    assert_eq!(refused(&small()), "format 'metis' has no self-loops, but node 2 has one; choose another format");
    assert_eq!(
        refused(&small().without_self_loops()),
        "format 'metis' is for undirected graphs, but there is an arc 1 -> 0 and not as many back; symmetrise the graph, or \
         choose another format"
    );
}

#[test]
fn isolated_nodes_at_the_end_are_kept_or_said() {
    let folder = TempDir::new().unwrap();
    let none = CscGraph::new(vec![0; 6], vec![]).unwrap();
    let some = CscGraph::new(vec![0, 1, 1, 1], vec![NodeId::new(0)]).unwrap();
    for (graph, at) in [(none, "none"), (some, "some")] {
        for name in NAMES {
            let path = folder.path().join(format!("{at}-{name}"));
            assert_eq!(there_and_back(&path, &graph, WriteOptions::default()), graph, "{name}");
        }
    }
}

#[test]
fn files_may_be_read_by_others() {
    let folder = TempDir::new().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let reference = folder.path().join("reference");
    fs::write(&reference, "").unwrap();
    write::graph(&folder.path().join("a.txt"), &small(), &WriteOptions::default(), &Silent).unwrap();
    write::graph(&folder.path().join("a"), &small(), &WriteOptions::default(), &Silent).unwrap();
    for name in ["a.txt", "a/indptr.npy"] {
        assert_eq!(mode(&folder.path().join(name)), mode(&reference), "{name}");
    }
}

#[test]
fn a_sub_graph_as_npz() {
    let sub = SubGraph {
        samples: [7, 1, 300].map(NodeId::new).to_vec(),
        rows: [1, 2].map(LocalId::new).to_vec(),
        cols: [0, 0].map(LocalId::new).to_vec(),
        edges: [70_000, 5].map(EdgePos::new).to_vec(),
        hops: HopCounts { nodes: vec![1, 2], edges: vec![2] },
    };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sub.npz");
    write::subgraph_npz(&path, &sub, &WriteOptions::default()).unwrap();
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    let expected: [(&str, &[i32]); 6] = [
        ("samples", &[7, 1, 300]),
        ("rows", &[1, 2]),
        ("cols", &[0, 0]),
        ("edges", &[70_000, 5]),
        ("nodes_per_hop", &[1, 2]),
        ("edges_per_hop", &[2]),
    ];
    assert_eq!(archive.len(), expected.len());
    for (name, elements) in expected {
        let mut bytes = Vec::new();
        archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
        let shape = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}", elements.len());
        assert_eq!(header.trim_end(), shape, "{name}");
        assert_eq!(bytes[128..], elements.iter().flat_map(|e| e.to_le_bytes()).collect::<Vec<_>>(), "{name}");
    }
}
