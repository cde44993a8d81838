//! What is written is read back, in every format, position for position.

use std::{
    fs,
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use golden::{
    CscGraph, EdgePos, Format, HopCounts, LocalId, NodeId, Silent, SubGraph, read,
    read::ReadOptions,
    write,
    write::{WriteOptions, WriteProblem},
};
use proptest::prelude::*;
use tempfile::TempDir;

const NAMES: [&str; 9] = ["folder", "a.npz", "a.txt", "a.tsv", "a.edges.gz", "a.csv", "a.csv.gz", "a.mtx", "a.mtx.gz"];

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

/// Options with which a graph written to `path` can be read back.
fn options(path: &Path, graph: &CscGraph) -> ReadOptions {
    let text = !matches!(Format::of_name(path), Some(Format::Folder | Format::Npz));
    ReadOptions { nodes: text.then_some(graph.nodes() as u32), ..ReadOptions::default() }
}

test_support::properties! {
    cases: 64;

    #[test]
    fn every_format(graph in graphs()) {
        let folder = TempDir::new().unwrap();
        for name in NAMES {
            let path = folder.path().join(name);
            write::graph(&path, &graph, &WriteOptions::default(), &Silent).unwrap();
            let found = read::graph(&path, &options(&path, &graph), &Silent).unwrap();
            prop_assert_eq!(&found, &graph, "{}", name);
        }
        // A temporary name left behind would be one more.
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), NAMES.len());
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
        write::graph(&path, &larger, &overwrite, &Silent).unwrap();
        assert_eq!(read::graph(&path, &options(&path, &larger), &Silent).unwrap(), larger, "{name}");
    }
}

#[test]
fn a_folder_keeps_its_other_files() {
    let folder = TempDir::new().unwrap();
    let names = ["labels.npy", "indices.npy.gz"].map(|name| folder.path().join(name));
    for path in &names {
        fs::write(path, "x").unwrap();
    }
    let overwrite = WriteOptions { overwrite: true, format: Some(Format::Folder) };
    write::graph(folder.path(), &small(), &overwrite, &Silent).unwrap();
    assert_eq!(names.map(|path| path.exists()), [true, false], "an array of another graph must not stay");
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
