//! Folders of arrays.

use dataset::{DatasetInfo, Features, NO_LABEL, import};
use golden::Silent;

use super::{Files, Load, array, float32, graph, gzip, int32, int64, npy, safetensors, x};

/// The dense features of a folder with these files beside the graph.
fn dense<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<f32> {
    let files = Files::new(graph().into_iter().chain(files));
    let dense = files.load().unwrap().features.dense(files.path()).unwrap();
    assert_eq!((dense.rows(), dense.columns()), (4, 3));
    dense.values().to_vec()
}

#[test]
fn every_type_of_features() {
    let half = [0xbc00u16, 0xb800, 0, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4100, 0x4200, 0x4300, 0x4400, 0x4480];
    let double = x().into_iter().flat_map(|v| f64::from(v).to_le_bytes());
    assert_eq!(dense([("features.npy", float32("(4, 3)", &x()))]), x());
    assert_eq!(dense([("feat.npy", npy("<f8", "(4, 3)", double))]), x());
    assert_eq!(dense([("feat.npy.gz", gzip(&npy("<f2", "(4, 3)", half.into_iter().flat_map(u16::to_le_bytes))))]), x());
    assert_eq!(dense([("features.npy", npy("|u1", "(4, 3)", 0..12))]), (0..12u8).map(f32::from).collect::<Vec<_>>());
    // By columns.
    let columns = (0..12).map(|i| x()[i % 4 * 3 + i / 4]).flat_map(f32::to_le_bytes);
    assert_eq!(dense([("features.npy", array("<f4", "True", "(4, 3)", columns))]), x());
}

#[test]
fn sparse_features() {
    // (0, 2) = 2; (1, 0) = 3 in two parts; (3, 1) = -1.
    let pieces = || {
        [
            ("feat_indptr.npy", int64(&[0, 1, 3, 3, 4])),
            ("feat_indices.npy.gz", gzip(&int32(&[2, 0, 0, 1]))),
            ("feat_values.npy", float32("(4,)", &[2.0, 1.0, 2.0, -1.0])),
        ]
    };
    let expected = [0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0];
    assert_eq!(dense(pieces()), expected);
    let [indptr, indices, _] = pieces();
    assert_eq!(dense([indptr, indices])[..6], [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);

    let files = Files::new(graph().into_iter().chain(pieces()));
    files.write("feat_shape.npy", &int64(&[4, 7]));
    let features = files.load().unwrap().features;
    assert!(matches!(features, Features::Sparse(_)));
    assert_eq!((features.rows(), features.columns(), features.nonzeros()), (4, 7, 4));
}

#[test]
fn rows_divided_by_their_sums() {
    let rows = [1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 2.0, -2.0, 0.0, 0.5, 0.0, 0.0];
    let divided = [0.25, 0.75, 0.0, 0.0, 0.0, 0.0, 2.0, -2.0, 0.0, 1.0, 0.0, 0.0];
    let files = Files::new(graph().into_iter().chain([("features.npy", float32("(4, 3)", &rows))]));
    let mut features = files.load().unwrap().features;
    features.normalise_rows(files.path()).unwrap();
    assert_eq!(features.dense(files.path()).unwrap().values(), divided);

    let sparse = [("feat_indptr.npy", int64(&[0, 2, 2, 5, 6])), ("feat_indices.npy", int32(&[0, 1, 0, 1, 2, 0]))];
    let files = Files::new(graph().into_iter().chain(sparse));
    let mut features = files.load().unwrap().features;
    features.normalise_rows(files.path()).unwrap();
    let third = 1.0 / 3.0;
    let expected = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0, third, third, third, 1.0, 0.0, 0.0];
    assert_eq!(features.dense(files.path()).unwrap().values(), expected);

    let tiny = [f32::MAX, -f32::MAX, 1e-30, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let files = Files::new(graph().into_iter().chain([("features.npy", float32("(4, 3)", &tiny))]));
    let mut features = files.load().unwrap().features;
    // The sum is that of float64, in which the small one is not lost.
    let error = features.normalise_rows(&files.at("features.npy")).unwrap_err();
    let found = super::sentence(&error, files.path());
    assert!(found.starts_with("features.npy: the features of node 0 have the sum "), "{found}");
}

#[test]
fn labels_of_every_kind() {
    let labels = |bytes: Vec<u8>| {
        let dataset = Files::new(graph().into_iter().chain([("labels.npy", bytes)])).load().unwrap();
        (dataset.labels, dataset.classes)
    };
    let expected = (vec![2, NO_LABEL, 0, 5], 6);
    assert_eq!(labels(int64(&[2, -1, 0, 5])), expected);
    assert_eq!(labels(float32("(4, 1)", &[2.0, f32::NAN, 0.0, 5.0])), expected);
    assert_eq!(labels(npy("|i1", "(4,)", [2, 255, 0, 5])), expected);
    assert_eq!(labels(int64(&[-1, -1, -1, -1])), (vec![NO_LABEL; 4], 0));
}

#[test]
fn tensors_in_safetensors() {
    let header = r#"{"x": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]},
        "y": {"dtype": "I64", "shape": [4], "data_offsets": [48, 80]},
        "num_classes": {"dtype": "I32", "shape": [], "data_offsets": [80, 84]}}"#;
    let mut data: Vec<u8> = x().into_iter().flat_map(f32::to_le_bytes).collect();
    data.extend([0i64, 2, 1, -1].into_iter().flat_map(i64::to_le_bytes));
    data.extend(7i32.to_le_bytes());
    let files = Files::new(graph().into_iter().chain([("features.safetensors", safetensors(header, &data))]));
    let dataset = files.load().unwrap();
    assert_eq!((&dataset.labels[..], dataset.classes), (&[0, 2, 1, NO_LABEL][..], 7));
    assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x());
}

#[test]
fn a_graph_alone_is_a_data_set_but_not_one_to_train_with() {
    let files = Files::new(graph());
    let dataset = files.load().unwrap();
    assert_eq!((dataset.features.columns(), dataset.classes, dataset.splits.train.len()), (0, 0, 0));
    let missing = |files: &Files| {
        super::sentence(&files.load().unwrap().check_trainable(files.path()).unwrap_err(), files.path())
    };
    let names = "features.npy, x.npy, feat_indptr.npy, features.pt or features.safetensors";
    assert_eq!(missing(&files), format!("there are no features; accepted is {names}"));
    files.write("features.npy", &float32("(4, 3)", &x()));
    files.write("labels.npy", &int64(&[0, 1, 0, 1]));
    let names = "train_idx.npy or train_mask.npy";
    assert_eq!(missing(&files), format!("there are no nodes to train with; accepted is {names}"));
    files.write("train_idx.npy", &int64(&[0]));
    files.write("val_idx.npy", &int64(&[]));
    files.write("test_idx.npy", &int64(&[]));
    files.load().unwrap().check_trainable(files.path()).unwrap();

    let empty = Files::new([("indptr.npy", int64(&[0])), ("indices.npy", int32(&[]))]);
    empty.write("features.npy", &float32("(0, 3)", &[]));
    empty.write("labels.npy", &int64(&[]));
    assert_eq!(empty.load().unwrap().features.columns(), 3);
}

/// What is loaded, written as a folder and loaded again is the same.
#[test]
fn round_trips() {
    let rest = || {
        [
            ("labels.npy", int64(&[2, -1, 0, 1])),
            ("train_idx.npy", int64(&[3])),
            ("val_idx.npy", int64(&[0])),
            ("test_idx.npy", int64(&[2])),
        ]
    };
    let sparse = [
        ("feat_indptr.npy", int64(&[0, 1, 2, 2, 4])),
        ("feat_indices.npy", int32(&[2, 0, 0, 1])),
        ("feat_shape.npy", int64(&[4, 9])),
    ];
    let sources = [
        Files::new(graph().into_iter().chain([("features.npy", float32("(4, 3)", &x()))]).chain(rest())),
        Files::new(graph().into_iter().chain(sparse).chain(rest())),
        Files::new(graph()),
    ];
    for source in sources {
        let target = Files::new([]);
        let imported = import::import(source.path(), &target.at("made"), &import::Options::default(), &Silent).unwrap();
        let made = dataset::Dataset::load(&target.at("made"), &Silent).unwrap();
        assert_eq!((made.graph.nodes(), made.graph.edges()), (imported.nodes, imported.edges));
        assert_eq!(Ok(made), source.load());
    }
}

#[test]
fn figures() {
    let files = Files::new(graph().into_iter().chain([
        ("features.npy", float32("(4, 3)", &x())),
        ("labels.npy", int64(&[1, -1, 3, 1])),
        ("train_mask.npy", npy("|u1", "(4,)", [1, 0, 1, 0])),
        ("val_mask.npy", npy("|u1", "(4,)", [0, 0, 0, 1])),
        ("test_mask.npy", npy("|u1", "(4,)", [0, 0, 0, 0])),
    ]));
    let info = DatasetInfo::of(&files.load().unwrap());
    let counts: Vec<_> = info.class_counts.iter().map(|count| (count.class, count.nodes)).collect();
    assert_eq!((info.classes, info.labelled, counts), (4, 3, vec![(1, 2), (3, 1)]));
    assert_eq!((info.features.kind, info.features.bytes, info.features.nonzeros), ("dense", 48, 11));
    assert_eq!((info.splits.train, info.splits.valid, info.splits.test), (2, 1, 0));
    assert!(info.graph.symmetric);
}
