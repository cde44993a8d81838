//! Arrays under the names that people give them.

use super::{Files, Load, bools, float32, graph, gzip, int32, int64, npy, parts, safetensors, torch, x, zip};

fn folder<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Files {
    Files::new(graph().into_iter().chain(files))
}

#[test]
fn features_and_labels() {
    for name in ["features", "feature", "feats", "feat", "x", "X", "node_feat", "node-feat", "Node_Features"] {
        for (ending, bytes) in [(".npy", float32("(4, 3)", &x())), (".npy.gz", gzip(&float32("(4, 3)", &x())))] {
            let files = folder([(&*format!("{name}{ending}"), bytes)]);
            let dataset = files.load().unwrap();
            assert!(dataset.unread.is_empty(), "{name}{ending}");
            assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x(), "{name}{ending}");
        }
    }
    for name in ["labels", "label", "y", "Y", "node_label", "node-labels", "targets", "target"] {
        let dataset = folder([(&*format!("{name}.npy"), int64(&[2, 0, 1, -1]))]).load().unwrap();
        assert_eq!(
            (dataset.labels, dataset.classes, dataset.unread.is_empty()),
            (vec![2, 0, 1, -1], 3, true),
            "{name}"
        );
    }
    let dataset = folder([("y.npy", int64(&[2, 0, 1, -1])), ("num_classes.npy", npy("<i4", "()", 5i32.to_le_bytes()))]);
    assert_eq!(dataset.load().unwrap().classes, 5);
}

#[test]
fn splits() {
    let names = [
        ["train_idx", "val_idx", "test_idx"],
        ["train_index", "valid_index", "test_index"],
        ["train_indices", "validation_indices", "test_indices"],
        ["train-ids", "Val_IDs", "TEST_ids"],
        ["train_nid", "val_nid", "test_nid"],
        ["idx_train", "idx_val", "idx_test"],
        ["train", "valid", "test"],
    ];
    for names in names {
        let parts_of = |parts: [&[i64]; 3]| names.into_iter().zip(parts.map(int64)).collect::<Vec<_>>();
        let files = folder([]);
        for (name, bytes) in parts_of([&[3, 0], &[1], &[]]) {
            files.write(&format!("{name}.npy"), &bytes);
        }
        assert_eq!(parts(&files.load().unwrap().splits), [vec![3, 0], vec![1], vec![]], "{names:?}");
    }
    for names in [
        ["train_mask", "val_mask", "test_mask"],
        ["train", "validation", "test"],
        ["masks_train", "mask_val", "test_masks"],
    ] {
        let files = folder([]);
        for (name, marks) in names.iter().zip([[1, 0, 0, 1], [0, 1, 0, 0], [0; 4]]) {
            files.write(&format!("{name}.npy"), &bools("(4,)", &marks));
        }
        assert_eq!(parts(&files.load().unwrap().splits), [vec![0, 3], vec![1], vec![]], "{names:?}");
    }
    // What numpy.argwhere returns; what it makes of an empty list; any whole numbers; any compression.
    let files = folder([
        ("train_idx.npy", npy("<i8", "(2, 1)", [3i64, 0].into_iter().flat_map(i64::to_le_bytes))),
        ("val_idx.npy", npy("<f8", "(0,)", [])),
        ("test_idx.npy.gz", gzip(&npy("|u1", "(1,)", [2]))),
    ]);
    assert_eq!(parts(&files.load().unwrap().splits), [vec![3, 0], vec![], vec![2]]);
}

#[test]
fn sparse_features() {
    let expected = [0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0];
    let (indptr, indices) = (|| int64(&[0, 1, 2, 2, 3]), || int32(&[2, 0, 1]));
    let (values, shape) = (|| float32("(3,)", &[2.0, 3.0, -1.0]), || int64(&[4, 3]));
    let prefixed = |prefix: &str, values_name: &str| {
        let files = folder([]);
        files.write(&format!("{prefix}_indptr.npy"), &indptr());
        files.write(&format!("{prefix}_indices.npy"), &indices());
        files.write(&format!("{prefix}_{values_name}.npy"), &values());
        files.write(&format!("{prefix}_shape.npy"), &shape());
        files
    };
    // What scipy.sparse.save_npz writes.
    let scipy = |format: &[u8; 3]| {
        zip(&[
            ("indices.npy", indices()),
            ("indptr.npy", indptr()),
            ("format.npy", npy("|S3", "()", *format)),
            ("shape.npy", shape()),
            ("data.npy", values()),
        ])
    };
    for files in [prefixed("feat", "values"), prefixed("attr", "data"), folder([("features.npz", scipy(b"csr"))])] {
        let dataset = files.load().unwrap();
        assert!(dataset.unread.is_empty());
        assert_eq!(dataset.features.dense(files.path()).unwrap().values(), expected);
    }
    assert_eq!(
        folder([("x.npz", scipy(b"csc"))]).refusal(),
        "x.npz: the sparse features are of type csc; accepted are csr (scipy.sparse.csr_matrix makes it)"
    );
}

#[test]
fn files_of_several_arrays() {
    let header = r#"{"node_feat": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]},
        "label": {"dtype": "U8", "shape": [4], "data_offsets": [48, 52]},
        "train_mask": {"dtype": "BOOL", "shape": [4], "data_offsets": [52, 56]},
        "val_mask": {"dtype": "BOOL", "shape": [4], "data_offsets": [56, 60]},
        "test_mask": {"dtype": "BOOL", "shape": [4], "data_offsets": [60, 64]}}"#;
    let values: Vec<u8> = x().into_iter().flat_map(f32::to_le_bytes).collect();
    let data = [values, vec![2, 0, 1, 0], vec![1, 0, 0, 1], vec![0, 1, 0, 0], vec![0, 0, 1, 0]].concat();
    let npz = zip(&[
        ("X.npy", float32("(4, 3)", &x())),
        ("y.npy", int64(&[2, 0, 1, 0])),
        ("train_idx.npy", int64(&[0, 3])),
        ("valid_idx.npy", int64(&[1])),
        ("test_idx.npy", int64(&[2])),
    ]);
    for files in [folder([("features.safetensors", safetensors(header, &data))]), folder([("x.npz", npz)])] {
        let dataset = files.load().unwrap();
        assert_eq!((&dataset.labels[..], dataset.classes), (&[2, 0, 1, 0][..], 3));
        assert_eq!(parts(&dataset.splits), [vec![0, 3], vec![1], vec![2]]);
        assert!(dataset.unread.is_empty());
        assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x());
    }
    // One array alone is what the file is named after; a file of a split is one, too.
    let files = folder([
        ("x.pt", torch::pt(&torch::alone("torch\nFloatStorage", 12, b"K\x00K\x04K\x03\x86K\x03K\x01\x86"))),
        ("label.npz", zip(&[("arr_0.npy", int64(&[2, 0, 1, 0]))])),
        (
            "split.npz",
            zip(&[
                ("train.npy", bools("(4,)", &[1, 0, 0, 1])),
                ("val.npy", int64(&[1])),
                ("test.npy", bools("(4,)", &[0, 0, 1, 0])),
            ]),
        ),
    ]);
    let dataset = files.load().unwrap();
    assert_eq!((&dataset.labels[..], dataset.classes), (&[2, 0, 1, 0][..], 3));
    assert_eq!(parts(&dataset.splits), [vec![0, 3], vec![1], vec![2]]);
    assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x());
}
