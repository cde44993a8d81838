//! Folders that are not data sets: each is refused in one sentence that says where, what, and what would do.

use dataset::Features;
use golden::Silent;
use proptest::prelude::*;

use super::{Files, Load, array, float32, graph, gzip, int32, int64, npy, safetensors, torch, x};

fn refusal<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> String {
    Files::new(graph().into_iter().chain(files)).refusal()
}

fn features() -> Vec<u8> {
    float32("(4, 3)", &x())
}

#[test]
fn two_files_that_say_the_same() {
    let ambiguous = |first: &str, second: &str| refusal([(first, features()), (second, features())]);
    for (first, second) in [
        ("features.npy", "features.npy.gz"),
        ("feat.npy", "features.npy"),
        ("features.npy", "x.npy"),
        ("X.npy", "x.npy"),
        ("node-feat.npy", "node_features.npy.xz"),
        ("feat.npy", "feat_indptr.npy"),
    ] {
        let found = ambiguous(first, second);
        assert_eq!(found, format!("the features are in {first} and in {second}; keep one of the two"));
    }
    let pt = || torch::PLAIN.to_vec();
    assert_eq!(
        refusal([("feat_indptr.npy", int64(&[0; 5])), ("features.pt", pt())]),
        "the features are in feat_indptr.npy and in features.pt/x; keep one of the two"
    );
    assert_eq!(
        refusal([("features.pt", pt()), ("x.npy", features())]),
        "the features are in features.pt/x and in x.npy; keep one of the two"
    );
    let labels = int64(&[0, 0, 0, 0]);
    assert_eq!(
        refusal([("labels.npy", labels.clone()), ("features.pt", torch::PLAIN.to_vec())]),
        "the labels are in features.pt/y and in labels.npy; keep one of the two"
    );
    assert_eq!(
        refusal([("val_idx.npy", labels.clone()), ("valid_mask.npy", labels)]),
        "the nodes to choose a model by are in val_idx.npy and in valid_mask.npy; keep one of the two"
    );
    assert_eq!(
        refusal([("indices.npy.gz", gzip(&int32(&[1, 0, 3, 2])))]),
        "the arcs of the graph are in indices.npy and in indices.npy.gz; keep one of the two"
    );
}

#[test]
fn dense_features_that_are_none() {
    let accepted = "accepted is [4, any number], a row for each node of the graph";
    let number = "accepted are finite numbers that float32 holds";
    let with = |place: usize, value: f32| {
        let mut values = x();
        values[place] = value;
        float32("(4, 3)", &values)
    };
    let double = |value: f64| npy("<f8", "(4, 1)", [0.0, 0.0, value, 0.0].into_iter().flat_map(f64::to_le_bytes));
    let columns = array("<f4", "True", "(4, 3)", with(7, f32::NAN).split_off(with(7, 0.0).len() - 48));
    let cases = [
        (float32("(3, 4)", &x()), format!("the features have the extents [3, 4]; {accepted} (these look transposed)")),
        (float32("(6, 2)", &x()), format!("the features have the extents [6, 2]; {accepted}")),
        (float32("()", &[0.0]), format!("the features have the extents []; {accepted}")),
        (float32("(12,)", &x()), format!("the features have the extents [12]; {accepted}")),
        (float32("(4, 1, 3)", &x()), format!("the features have the extents [4, 1, 3]; {accepted}")),
        (with(7, f32::NAN), format!("column 1 of node 2 is NaN; {number}")),
        (with(11, f32::NEG_INFINITY), format!("column 2 of node 3 is -inf; {number}")),
        (columns, format!("column 1 of node 3 is NaN; {number}")),
        (double(1e39), format!("column 0 of node 2 is 1{}; {number}", "0".repeat(39))),
        (
            features()[..100].to_vec(),
            "the file ends at byte 100, but its header states 12 elements, 48 bytes of data".into(),
        ),
        (
            [features(), vec![0]].concat(),
            "there is data after the last of 12 elements, from byte 118 on; the file must end there".into(),
        ),
        (
            npy(">f4", "(4, 3)", [0; 48]),
            "the dtype is \">f4\"; accepted are little-endian numbers: '<f2', '<f4', '<f8', '<i2', '<i4', '<i8', '<u2', '<u4', \
             '<u8', '|i1', '|u1' and '|b1'"
                .into(),
        ),
    ];
    for (bytes, found) in cases {
        assert_eq!(refusal([("features.npy", bytes)]), format!("features.npy: {found}"));
    }
    let cut = gzip(&features());
    let found = refusal([("features.npy.gz", cut[..cut.len() - 9].to_vec())]);
    assert!(found.starts_with("features.npy.gz: the compressed data is damaged after "), "{found}");
    let large = refusal([("features.npy", npy("<f4", "(4, 2147483647)", [0; 4]))]);
    assert!(large.starts_with("features.npy: the features take 34.4 GB of memory, and "), "{large}");
}

#[test]
fn sparse_features_that_are_none() {
    let pieces = |indptr: &[i64], indices: &[i32], values: &[f32]| {
        let values = float32(&format!("({},)", values.len()), values);
        refusal([("feat_indptr.npy", int64(indptr)), ("feat_indices.npy", int32(indices)), ("feat_values.npy", values)])
    };
    let cases = [
        (pieces(&[0, 1], &[0], &[1.0]), "feat_indptr.npy: the array has 2 elements; it must have 5"),
        (
            pieces(&[0, 2, 1, 1, 1], &[0], &[1.0]),
            "feat_indptr.npy: the offset of node 2 is 1, after 2; offsets start at 0 and never fall",
        ),
        (
            pieces(&[1, 1, 1, 1, 1], &[0], &[1.0]),
            "feat_indptr.npy: the offset of node 0 is 1, after 0; offsets start at 0 and never fall",
        ),
        (pieces(&[0, 1, 1, 1, 2], &[0], &[1.0]), "feat_indices.npy: the array has 1 elements; it must have 2"),
        (
            pieces(&[0, 1, 1, 1, 1], &[-1], &[1.0]),
            "feat_indices.npy: element 0 is -1; accepted are whole numbers 0 to 2147483646",
        ),
        (pieces(&[0, 1, 1, 1, 1], &[0], &[1.0, 1.0]), "feat_values.npy: the array has 2 elements; it must have 1"),
        (
            pieces(&[0, 1, 1, 1, 2], &[0, 5], &[1.0, f32::NAN]),
            "feat_values.npy: column 5 of node 3 is NaN; accepted are finite numbers that float32 holds",
        ),
    ];
    for (found, sentence) in cases {
        assert_eq!(found, sentence);
    }
    let indptr = || ("feat_indptr.npy", int64(&[0, 0, 0, 0, 1]));
    let indices = || ("feat_indices.npy", int32(&[3]));
    assert_eq!(refusal([indptr()]), "there is feat_indptr.npy, but feat_indices.npy is missing; give both, or neither");
    assert_eq!(
        refusal([indices()]),
        "there is feat_indices.npy, but feat_indptr.npy is missing; give both, or neither"
    );
    let shape = |shape: &[i64]| refusal([indptr(), indices(), ("feat_shape.npy", int64(shape))]);
    assert_eq!(shape(&[4, 3]), "feat_indices.npy: element 0 is 3; accepted are whole numbers 0 to 2");
    assert_eq!(
        shape(&[4, 0]),
        "feat_indices.npy: the array has 1 elements; it must have none: feat_shape says 0 columns"
    );
    assert_eq!(shape(&[4]), "feat_shape.npy: the array has 1 elements; it must have 2, rows and columns");
    let accepted = "accepted is [4, any number], a row for each node of the graph";
    assert_eq!(shape(&[5, 9]), format!("feat_shape.npy: the features have the extents [5, 9]; {accepted}"));

    // 34 GB of zeros are not made.
    let wide = Files::new(graph().into_iter().chain([indptr(), ("feat_indices.npy", int32(&[i32::MAX - 1]))]));
    let features = wide.load().unwrap().features;
    assert!(matches!(&features, Features::Sparse(_)));
    let found = features.dense("x".as_ref()).unwrap_err().to_string();
    assert!(found.starts_with("x: the features take 34.4 GB of memory"), "{found}");
}

#[test]
fn labels_that_are_none() {
    let accepted = "accepted are whole numbers 0 to 65535, and -1 or NaN for none";
    let cases = [
        (int64(&[0, -2, 0, 0]), format!("the label of node 1 is -2; {accepted}")),
        (int64(&[0, 0, 0, 65536]), format!("the label of node 3 is 65536; {accepted}")),
        (int64(&[1 << 53, 0, 0, 0]), format!("the label of node 0 is 9007199254740992; {accepted}")),
        (float32("(4,)", &[0.0, 0.0, 1.5, 0.0]), format!("the label of node 2 is 1.5; {accepted}")),
        (float32("(4,)", &[0.0, f32::INFINITY, 1.5, 0.0]), format!("the label of node 1 is inf; {accepted}")),
        (
            int64(&[0, 0, 0]),
            "the labels have the extents [3]; accepted is [4] or [4, 1], one for each node of the graph".to_owned(),
        ),
        (
            float32("(2, 2)", &[0.0; 4]),
            "the labels have the extents [2, 2]; accepted is [4] or [4, 1], one for each node of the graph".to_owned(),
        ),
        (
            float32("(4, 2)", &[0.0; 8]),
            "the labels have the extents [4, 2]; accepted is [4] or [4, 1], one for each node of the graph (of rows that mark \
             one class each, take argmax(axis=1))"
                .to_owned(),
        ),
        (
            npy("|O", "(4,)", [0x80, 2, b'.']),
            "this is an array of Python objects (dtype '|O'), which only Python reads; save the arrays instead, for example \
             with numpy.savez('data.npz', edge_index=..., x=..., y=..., train_mask=..., val_mask=..., test_mask=...), and \
             import that file; objects will be taken by the Python module, which is planned"
                .to_owned(),
        ),
        (
            npy("<U4", "(4,)", [0; 64]),
            "the dtype is \"<U4\"; accepted are little-endian numbers: '<f2', '<f4', '<f8', '<i2', '<i4', '<i8', '<u2', '<u4', \
             '<u8', '|i1', '|u1' and '|b1'"
                .to_owned(),
        ),
    ];
    for (bytes, found) in cases {
        assert_eq!(refusal([("labels.npy", bytes)]), format!("labels.npy: {found}"));
    }
    let header = |classes: &str| {
        format!(
            r#"{{"x": {{"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}},
            "y": {{"dtype": "U8", "shape": [4], "data_offsets": [48, 52]}}, {classes}}}"#
        )
    };
    let tensors = |classes: &str, data: &[u8]| {
        let data = [x().into_iter().flat_map(f32::to_le_bytes).collect(), vec![0, 1, 2, 0], data.to_vec()].concat();
        refusal([("features.safetensors", safetensors(&header(classes), &data))])
    };
    assert_eq!(
        tensors(r#""num_classes": {"dtype": "U8", "shape": [1], "data_offsets": [52, 53]}"#, &[2]),
        "features.safetensors/y: the label of node 2 is 2; accepted are whole numbers 0 to 1, and -1 or NaN for none"
    );
    assert_eq!(
        tensors(r#""num_classes": {"dtype": "I8", "shape": [], "data_offsets": [52, 53]}"#, &[255]),
        "features.safetensors/num_classes: the number of classes is -1; accepted are whole numbers 0 to 65536"
    );
    assert_eq!(
        tensors(r#""num_classes": {"dtype": "U8", "shape": [2], "data_offsets": [52, 54]}"#, &[2, 2]),
        "features.safetensors/num_classes: the elements have the extents [2]; accepted is []"
    );
}

#[test]
fn safetensors_that_are_none() {
    let refusal = |bytes: Vec<u8>| {
        let found = refusal([("features.safetensors", bytes)]);
        found.strip_prefix("features.safetensors: ").map(str::to_owned).unwrap_or(found)
    };
    let is = "cannot be read as safetensors: ";
    assert_eq!(refusal(vec![1, 2]), format!("{is}its header: failed to fill whole buffer"));
    assert_eq!(refusal(vec![255; 9]), format!("{is}its header has 18446744073709551615 bytes; accepted are 65536"));
    assert_eq!(refusal(safetensors("{}", b"abc")), format!("{is}it has 13 bytes; its header states 10 and 0 of data"));
    let tensor = |name: &str, text: &str| format!(r#"{{"{name}": {text}}}"#);
    for text in ["[[[[[[[", r#"{"dtype": "U8", "shape": [4, 2], "data_offsets": [0, 4]}"#, r#"{"dtype": "U8"}"#] {
        let found = refusal(safetensors(&tensor("x", text), &[0; 4]));
        assert!(found.starts_with(&format!("{is}its header: ")), "{found}");
    }
    let complex = r#"{"dtype": "C64", "shape": [4, 1], "data_offsets": [0, 32]}"#;
    let found = refusal(safetensors(&tensor("x", complex), &[0; 32]));
    assert!(found.contains("the elements are of type C64; accepted are F16"), "{found}");
}

#[test]
fn splits_that_are_none() {
    let all = |train: Vec<u8>, valid: Vec<u8>, test: Vec<u8>| {
        refusal([
            ("labels.npy", int64(&[0, 0, -1, 0])),
            ("train_idx.npy", train),
            ("val_mask.npy", valid),
            ("test_idx.npy", test),
        ])
    };
    let none = || npy("|b1", "(4,)", [0; 4]);
    let once = "the parts of a split are distinct and disjoint";
    let cases = [
        (
            all(int64(&[1, 4]), none(), int64(&[])),
            "train_idx.npy: element 1 is 4; accepted are the nodes of the graph, 0 to 3".to_owned(),
        ),
        (
            all(int64(&[-1]), none(), int64(&[])),
            "train_idx.npy: element 0 is -1; accepted are the nodes of the graph, 0 to 3".to_owned(),
        ),
        (
            all(float32("(2,)", &[0.0, 1.0]), none(), int64(&[])),
            "train_idx.npy: the elements are of type float32; accepted are whole numbers".to_owned(),
        ),
        (
            all(npy("|b1", "(4,)", [1, 0, 0, 0]), none(), int64(&[])),
            "train_idx.npy: node ids are of type bool; accepted are whole numbers (marks belong in train_mask and the like)"
                .to_owned(),
        ),
        (
            all(npy("<i8", "(2, 2)", [0; 32]), none(), int64(&[])),
            "train_idx.npy: the elements have the extents [2, 2]; accepted is one dimension".to_owned(),
        ),
        (
            all(int64(&[]), none(), int64(&[])),
            "train_idx.npy: no node is in it; there must be one to train with".to_owned(),
        ),
        (
            all(int64(&[0; 5]), none(), int64(&[])),
            "train_idx.npy: the array has 5 elements; it must have at most 4, the nodes of the graph".to_owned(),
        ),
        (
            all(int64(&[1, 0, 1]), none(), int64(&[])),
            format!("train_idx.npy: node 1 is given twice, first in train_idx.npy; {once}"),
        ),
        (
            all(int64(&[1]), npy("|b1", "(4,)", [0, 1, 0, 0]), int64(&[])),
            format!("val_mask.npy: node 1 is given twice, first in train_idx.npy; {once}"),
        ),
        (
            all(int64(&[3]), npy("|b1", "(4,)", [0, 1, 0, 0]), int64(&[0, 1])),
            format!("test_idx.npy: node 1 is given twice, first in val_mask.npy; {once}"),
        ),
        (
            all(int64(&[2]), none(), int64(&[])),
            "train_idx.npy: node 2 is in the split, but has no label; leave it away".to_owned(),
        ),
    ];
    for (found, sentence) in cases {
        assert_eq!(found, sentence);
    }
    assert_eq!(
        refusal([("train_idx.npy", int64(&[])), ("test_mask.npy", none())]),
        "there is train_idx.npy, but val_idx.npy (or val_mask.npy, or valid_ or validation_ instead of val_) is missing; give \
         both, or neither"
    );
}

#[test]
fn folders_without_a_graph() {
    let found = Files::new([("features.npy", features())]).refusal();
    assert!(found.starts_with("the folder has no indptr.npy, nor one with "), "{found}");
    let error = dataset::Dataset::load("/nowhere".as_ref(), &Silent).unwrap_err().to_string();
    assert_eq!(error, "/nowhere: cannot be opened: No such file or directory (os error 2)");
}

test_support::properties! {
    /// Nothing panics, whatever bytes of a file are changed, or wherever it ends.
    #[test]
    fn spoilt_files(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let tensor = r#"{"x": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}}"#;
        let tensor = safetensors(tensor, &x().into_iter().flat_map(f32::to_le_bytes).collect::<Vec<_>>());
        for (name, mut bytes) in [
            ("features.pt", torch::PLAIN.to_vec()),
            ("features.npy", features()),
            ("features.safetensors", tensor),
            ("labels.npy.gz", gzip(&int64(&[0, 1, 2, -1]))),
            ("train_mask.npy", npy("|b1", "(4,)", [0, 1, 0, 1])),
        ] {
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let load = |bytes: &[u8]| Files::new(graph().into_iter().chain([(name, bytes.to_vec())])).load();
            let _ = load(&bytes);
            let _ = load(&bytes[..cut.index(bytes.len())]);
        }
    }

    /// No program of the opcodes that are known makes the reader of pickles panic.
    #[test]
    fn any_pickle(program in prop::collection::vec(prop::sample::select(OPCODES), 0..40)) {
        let pickle = [&b"\x80\x02}("[..], &program.concat(), b"."].concat();
        let _ = Files::new(graph().into_iter().chain([("features.pt", torch::pt(&pickle))])).load();
    }
}

const OPCODES: &[&[u8]] = &[
    b"(",
    b"}",
    b")",
    b"\x85",
    b"\x86",
    b"\x87",
    b"t",
    b"N",
    b"G\x3f\xe0\x00\x00\x00\x00\x00\x00",
    b"\x88",
    b"K\x03",
    b"K\x04",
    b"\x8a\x01\xff",
    b"X\x01\x00\x00\x00x",
    b"X\x01\x00\x00\x00y",
    b"X\x07\x00\x00\x00storage",
    b"q\x01",
    b"h\x01",
    b"Q",
    b"R",
    b"s",
    b"u",
    b"ctorch\nFloatStorage\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ccollections\nOrderedDict\n",
    b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x0ctQ",
    b"K\x00K\x04K\x03\x86K\x03K\x01\x86\x89N",
];
