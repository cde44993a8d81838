//! One file with everything, and folders of arrays with a list of arcs.

use dataset::{
    Dataset,
    import::{Imported, Options, Source},
};
use golden::Silent;

use super::{
    Files, Load, bools, float32,
    import::{arcs, imported},
    int32, int64, npy, parts, safetensors, torch, x, zip,
};

/// The arcs 1 -> 0, 0 -> 1, 3 -> 2, 2 -> 3 as sources and then destinations.
const ENDS: [i64; 8] = [1, 0, 3, 2, 0, 1, 2, 3];

fn wide(shape: &str, values: &[i64]) -> Vec<u8> {
    npy("<i8", shape, values.iter().flat_map(|value| value.to_le_bytes()))
}

/// What becomes of an `.npz` of these arrays.
fn npz(members: &[(&str, Vec<u8>)], options: &Options) -> Result<(Dataset, Imported), String> {
    let members: Vec<_> = members.iter().map(|(name, bytes)| (format!("{name}.npy"), bytes.clone())).collect();
    let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let files = Files::new([("data.npz", zip(&members))]);
    imported(&files.at("data.npz"), options)
}

#[test]
fn lists_of_arcs() {
    let expected = [(1, 0), (0, 1), (3, 2), (2, 3)];
    let by_arcs: Vec<i64> = (0..4).flat_map(|arc| [ENDS[arc], ENDS[arc + 4]]).collect();
    for (name, shape, ends) in [
        ("edge_index", "(2, 4)", &ENDS[..]),
        ("edge_index", "(4, 2)", &by_arcs),
        ("edges", "(4, 2)", &by_arcs),
        ("edges", "(2, 4)", &ENDS),
    ] {
        let (dataset, counts) = npz(&[(name, wide(shape, ends))], &Options::default()).unwrap();
        assert_eq!(arcs(&dataset), expected, "{name} {shape}");
        assert_eq!((counts.nodes, counts.edges), (4, 4));
    }
    // Of two arcs the name says which extent is which.
    let two = |name: &str| arcs(&npz(&[(name, wide("(2, 2)", &[0, 1, 2, 0]))], &Options::default()).unwrap().0);
    assert_eq!(two("edge_index"), [(1, 0), (0, 2)]);
    assert_eq!(two("edges"), [(2, 0), (0, 1)]);
    let none = || npy("<f8", "(2, 0)", []);
    let number = |nodes: i64| wide("()", &[nodes]);
    let counts = npz(&[("edge_index", none()), ("num_nodes", number(3))], &Options::default()).unwrap().1;
    assert_eq!((counts.nodes, counts.edges), (3, 0));
    // Nodes without arcs at the end: by the number, by the features.
    let ends = || wide("(2, 4)", &ENDS);
    assert_eq!(npz(&[("edge_index", ends()), ("num_nodes", number(6))], &Options::default()).unwrap().1.nodes, 6);
    let rows = float32("(5, 2)", &[0.0; 10]);
    assert_eq!(npz(&[("edge_index", ends()), ("x", rows)], &Options::default()).unwrap().1.nodes, 5);
    let both = Options { symmetrise: true, ..Options::default() };
    assert_eq!(arcs(&npz(&[("edges", wide("(1, 2)", &[0, 1]))], &both).unwrap().0), [(1, 0), (0, 1)]);
}

#[test]
fn everything_in_one_file() {
    let mask = |marks: &[u8]| bools("(2, 4)", marks);
    let members = [
        ("node_features", float32("(4, 3)", &x())),
        ("node_labels", int64(&[2, 0, 1, 0])),
        ("edges", wide("(4, 2)", &[1, 0, 0, 1, 3, 2, 2, 3])),
        ("train_masks", mask(&[1, 0, 0, 0, 0, 1, 0, 0])),
        ("val_masks", mask(&[0, 1, 0, 0, 0, 0, 1, 0])),
        ("test_masks", mask(&[0, 0, 1, 1, 1, 0, 0, 1])),
    ];
    let split = |split: &str| Options { split: Some(split.to_owned()), ..Options::default() };
    let (dataset, counts) = npz(&members, &split("1")).unwrap();
    assert_eq!(arcs(&dataset), [(1, 0), (0, 1), (3, 2), (2, 3)]);
    assert_eq!((counts.columns, counts.classes, counts.splits), (3, 3, [1, 1, 2]));
    assert_eq!(parts(&dataset.splits), [vec![1], vec![2], vec![0, 3]]);
    assert_eq!(
        npz(&members, &Options::default()).unwrap_err(),
        "data.npz/train_masks.npy: there are 2 splits in it; choose one of 0 to 1 (--split)"
    );
    assert_eq!(
        npz(&members, &split("first")).unwrap_err(),
        "data.npz: the splits have numbers, from 0; there is no split \"first\""
    );

    let header = r#"{"edge_index": {"dtype": "I32", "shape": [2, 4], "data_offsets": [0, 32]},
        "y": {"dtype": "U8", "shape": [4], "data_offsets": [32, 36]}}"#;
    let data: Vec<u8> = ENDS.into_iter().flat_map(|end| (end as i32).to_le_bytes()).chain([2, 0, 1, 0]).collect();
    let files = Files::new([("g.safetensors", safetensors(header, &data)), ("plain.pt", torch::PLAIN.to_vec())]);
    let (dataset, counts) = imported(&files.at("g.safetensors"), &Options::default()).unwrap();
    assert_eq!((arcs(&dataset).len(), counts.classes), (4, 3));
    assert_eq!(
        imported(&files.at("plain.pt"), &Options::default()).unwrap_err(),
        "plain.pt: there are no arcs of a graph in it, but num_classes, x, y; accepted is edge_index ([2, arcs]), edges ([arcs, 2]), adj_indptr with \
         adj_indices (by source), or indptr with indices (by destination)"
    );
}

/// As `CitationFull`, Amazon and Coauthor are handed around: the matrix of the graph, by sources, and that of the features.
#[test]
fn matrices_in_one_file() {
    for (adj, attr, join) in [("adj", "attr", "_"), ("adj_matrix", "attr_matrix", ".")] {
        let name = |matrix: &str, piece: &str| format!("{matrix}{join}{piece}");
        let members = [
            // 0 -> 1, 0 -> 2, 3 -> 0.
            (name(adj, "indptr"), int32(&[0, 2, 2, 2, 3])),
            (name(adj, "indices"), int32(&[1, 2, 0])),
            (name(adj, "data"), float32("(3,)", &[1.0; 3])),
            (name(adj, "shape"), int64(&[4, 4])),
            (name(attr, "indptr"), int32(&[0, 1, 1, 1, 2])),
            (name(attr, "indices"), int32(&[1, 0])),
            (name(attr, "data"), float32("(2,)", &[2.0, 3.0])),
            (name(attr, "shape"), int64(&[4, 2])),
            ("labels".to_owned(), int64(&[2, 0, 1, 0])),
            ("class_names".to_owned(), npy("|O", "(3,)", [0x80])),
        ];
        let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        let (dataset, counts) = npz(&members, &Options::default()).unwrap();
        assert_eq!(arcs(&dataset), [(3, 0), (0, 1), (0, 2)]);
        assert_eq!((counts.columns, counts.classes, counts.unread.to_string()), (2, 3, "class_names".to_owned()));
        let values = dataset.features.dense("x".as_ref()).unwrap();
        assert_eq!(values.values(), [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0]);

        let mut spoilt = members.clone();
        spoilt[3].1 = int64(&[4, 5]);
        assert_eq!(
            npz(&spoilt, &Options::default()).unwrap_err(),
            format!(
                "data.npz/{}.npy: the nodes have the extents [4, 5]; accepted is [4, 4], as there are 5 offsets",
                spoilt[3].0
            )
        );
        spoilt.remove(1);
        assert_eq!(
            npz(&spoilt, &Options::default()).unwrap_err(),
            format!("data.npz: there is {}, but adj_indices is missing; give both, or neither", spoilt[0].0)
        );
    }
}

#[test]
fn folders_of_arrays() {
    let files = Files::new([
        ("edge_index.npy", wide("(2, 4)", &ENDS)),
        ("x.npy", float32("(4, 3)", &x())),
        ("y.npy", int64(&[2, 0, 1, 0])),
    ]);
    assert_eq!(Source::of(files.path()).unwrap(), Source::Arrays);
    let (dataset, counts) = imported(files.path(), &Options::default()).unwrap();
    assert_eq!((arcs(&dataset).len(), counts.columns, counts.classes), (4, 3, 3));
    assert!(counts.unread.is_empty());
    // What is still to be imported is said to be so where a data set belongs.
    let accepted = "accepted is a folder with indptr.npy and indices.npy, as trisage dataset import makes it";
    assert_eq!(files.refusal(), format!("the graph is in edge_index.npy; {accepted}"));
    let error = Dataset::load(&files.at("x.npy"), &Silent).unwrap_err();
    assert_eq!(super::sentence(&error, files.path()), format!("x.npy: this is a file; {accepted}"));
}

/// A matrix of `SciPy`'s is a graph in a file, by rows or by columns as its format says.
#[test]
fn a_matrix_alone_is_no_bundle() {
    let members = [
        ("indptr.npy", int32(&[0, 1, 2])),
        ("indices.npy", int32(&[1, 0])),
        ("format.npy", npy("|S3", "()", *b"csr")),
        ("shape.npy", int64(&[2, 2])),
        ("data.npy", int64(&[1, 1])),
    ];
    let files = Files::new([("g.npz", zip(&members))]);
    assert_eq!(Source::of(&files.at("g.npz")).unwrap(), Source::Edges);
    assert_eq!(imported(&files.at("g.npz"), &Options::default()).unwrap().1.edges, 2);
    let forced = Options { source: Some(Source::Arrays), ..Options::default() };
    let found = imported(&files.at("g.npz"), &forced).unwrap_err();
    assert!(
        found.starts_with("g.npz: there are no arcs of a graph in it, but data, format, indices, indptr, shape; "),
        "{found}"
    );
}

#[test]
fn arcs_that_are_none() {
    let refusal = |members: &[(&str, Vec<u8>)]| npz(members, &Options::default()).unwrap_err();
    let ends = |values: &[i64]| ("edge_index", wide(&format!("(2, {})", values.len() / 2), values));
    let cases = [
        (
            refusal(&[("edge_index", wide("(3, 3)", &[0; 9]))]),
            "data.npz/edge_index.npy: the arcs have the extents [3, 3]; accepted is [2, arcs] or [arcs, 2]",
        ),
        (
            refusal(&[ends(&[0, 1, 2, -1, 0, 0])]),
            "data.npz/edge_index.npy: element 3 is -1; accepted are whole numbers 0 to 2147483646",
        ),
        (
            refusal(&[ends(&[0, 1, 2, 3, 0, 0]), ("num_nodes", wide("()", &[3]))]),
            "data.npz/edge_index.npy: element 3 is 3; accepted are whole numbers 0 to 2",
        ),
        (
            refusal(&[("edge_index", float32("(2, 1)", &[0.0, 1.0]))]),
            "data.npz/edge_index.npy: the ends of arcs are of type float32; accepted are whole numbers",
        ),
        (
            refusal(&[ends(&[0, 1, 2, 3, 0, 0]), ("x", float32("(3, 1)", &[0.0; 3]))]),
            "data.npz/x.npy: the features have the extents [3, 1]; accepted is [4, any number], a row for each node of the \
             graph",
        ),
        (
            refusal(&[ends(&[0, 2_000_000_000])]),
            "data.npz/edge_index.npy: the largest node id makes it a graph of 2000000001 nodes, but there are only 1 arcs; give \
             num_nodes beside it if so many nodes are meant",
        ),
        (
            refusal(&[ends(&[0, 1]), ("edges", wide("(1, 2)", &[0, 1]))]),
            "data.npz: the arcs of the graph are in edge_index and in edges; keep one of the two",
        ),
        (
            refusal(&[ends(&[0, 1]), ("num_nodes", wide("(2,)", &[2, 2]))]),
            "data.npz/num_nodes.npy: the elements have the extents [2]; accepted is []",
        ),
        (
            refusal(&[("adj_indptr", int64(&[])), ("adj_indices", int64(&[])), ("adj_shape", int64(&[0, 0]))]),
            "data.npz: indptr is empty; a graph of N nodes needs N + 1 entries",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}
