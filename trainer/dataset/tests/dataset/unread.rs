//! What lies beside a data set is not passed over in silence.

use dataset::{Dataset, import, import::Options};
use golden::Silent;

use super::{Files, Load, float32, graph, import::imported, int64, torch, x, zip};

fn folder<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Files {
    Files::new(graph().into_iter().chain(files))
}

/// The names of what is not read.
fn unread(files: &Files) -> String {
    files.load().unwrap().unread.to_string()
}

const NAMES: &str = "known names are features, feature, feats, feat, x or node_feat (features), labels, label, y, node_label or \
                     targets (labels), and train, val (valid, validation) and test, alone or with _idx, _index, _indices, \
                     _ids, _nid, _mask or _masks (split)";

#[test]
fn a_graph_and_arrays_that_no_one_knows() {
    let (array, alone) = (|| int64(&[0, 0, 0, 0]), "rename them, or move them elsewhere if the graph is all there is");
    for name in
        ["weights.npy", "labels_v2.npy", "emb.npy.gz", "emb.pt", "emb.npz", "emb.safetensors", "emb.csv", "a/x.npy"]
    {
        let files = folder([(name, array())]);
        let expected =
            format!("there are no features, no labels and no split, and these were not read: {name}; {NAMES}; {alone}");
        assert_eq!(files.refusal(), expected);
        assert_eq!(imported(files.path(), &Options::default()).unwrap_err(), expected);
    }
    // A graph alone is one. Text may be about anything, but is named.
    for (name, named) in
        [("README.md", ""), ("readme.txt", ""), ("notes.txt", ""), ("nodes.txt", "nodes.txt"), (".x.npy", "")]
    {
        assert_eq!(unread(&folder([(name, vec![])])), named);
    }
    // Another data set in it is another data set, and what a model was trained to is none.
    assert_eq!(unread(&folder([("run/seed-1/last.safetensors", array()), ("run/seed-1/history.csv", array())])), "");
    assert_eq!(unread(&folder([("other/indptr.npy.gz", array()), ("other/x.npy", array())])), "");
    let many = folder([]);
    (0..12).for_each(|i| many.write(&format!("emb{i:02}.npy"), &array()));
    assert!(many.refusal().contains(
        " emb00.npy, emb01.npy, emb02.npy, emb03.npy, emb04.npy, emb05.npy, emb06.npy, emb07.npy and 4 more; "
    ));
}

#[test]
fn what_is_not_read_of_a_data_set_is_named() {
    let files = folder([
        ("x.npy", float32("(4, 3)", &x())),
        ("edge_attr.npy", vec![]),
        ("y.csv", vec![]),
        ("sub/train_idx.npy", vec![]),
        ("notes.md", vec![]),
        ("model.pt", torch::PLAIN.to_vec()),
    ]);
    assert_eq!(unread(&files), "edge_attr.npy, model.pt, sub/train_idx.npy, y.csv");
    let note = files.load().unwrap().unread.note();
    assert_eq!(note, format!("not read: edge_attr.npy, model.pt, sub/train_idx.npy, y.csv; {NAMES}"));
    // The graph in another form is no loss; arrays of a file that mean nothing are named.
    let npz = zip(&[("x.npy", float32("(4, 3)", &x())), ("weights.npy", vec![])]);
    let files = folder([("features.npz", npz), ("raw_indptr.npy", vec![]), ("raw_indices.npy", vec![])]);
    assert_eq!(unread(&files), "features.npz/weights");
}

#[test]
fn objects_of_python_are_said_to_be_ones() {
    let data = || torch::pt(b"\x80\x02ctorch_geometric.data.data\nData\nq\x00)\x81q\x01.");
    let tuple = || torch::pt(b"\x80\x02(}X\x01\x00\x00\x00x}s.");
    let save = "save the arrays instead, for example with numpy.savez('data.npz', edge_index=..., x=..., y=..., \
                train_mask=..., val_mask=..., test_mask=...), and import that file; objects will be taken by the Python \
                module, which is planned";
    let dgl = || 0xdd2e_4ff0_46b4_a13f_u64.to_le_bytes().to_vec();
    let files = [
        ("data.pt", data(), "a Python object, torch_geometric.data.data.Data"),
        ("graph.bin", dgl(), "a graph of DGL's"),
        ("g.pkl", b"\x80\x04\x95".to_vec(), "a pickled Python object"),
        ("ind.cora.x", b"\x80\x02c".to_vec(), "one of Planetoid's pickles"),
    ];
    for (name, bytes, object) in files {
        // As the source itself, in a folder, in a folder of a folder, and beside a graph.
        let alone = Files::new([(name, bytes.clone())]);
        let expected = format!("this is {object}, which only Python reads; {save}");
        assert_eq!(imported(&alone.at(name), &Options::default()).unwrap_err(), format!("{name}: {expected}"));
        let expected = format!("this is a folder with {name} ({object}), which only Python reads; {save}");
        assert_eq!(imported(alone.path(), &Options::default()).unwrap_err(), expected);
        let processed = Files::new([(&*format!("processed/{name}"), bytes.clone())]);
        let expected = format!("this is a folder with processed/{name} ({object}), which only Python reads; {save}");
        assert_eq!(imported(processed.path(), &Options::default()).unwrap_err(), expected);
        let beside = folder([(name, bytes.clone())]).refusal();
        assert!(
            beside.starts_with("there are no features, no labels and no split, and these were not read: "),
            "{beside}"
        );
        assert!(
            beside.contains(&format!("{name} ({object});"))
                && beside.ends_with(&format!("; of what only Python reads, {save}"))
        );
        // Whoever has all else is told of it.
        let rest = folder([(name, bytes), ("y.npy", int64(&[0, 0, 0, 0]))]);
        assert_eq!(unread(&rest), format!("{name} ({object})"));
    }
    // What can be read is not hidden behind what cannot.
    let mixed = Files::new([("processed/data.pt", data()), ("raw/cora.npz", vec![])]);
    let found = imported(mixed.path(), &Options::default()).unwrap_err();
    let object = "processed/data.pt (a Python object, torch_geometric.data.data.Data)";
    let start = format!("this is nothing that can be imported: a folder with {object}, raw/cora.npz; accepted is ");
    assert!(found.starts_with(&start), "{found}");
    let found = imported(&Files::new([("data.pt", tuple())]).at("data.pt"), &Options::default()).unwrap_err();
    assert_eq!(
        found,
        format!(
            "data.pt: there is a dict in a dict at byte 10 of data.pkl; accepted is what torch.save makes of a \
             tensor, or of a dict of tensors, numbers and words; of anything else {save}"
        )
    );
}

#[test]
fn other_files_of_known_sources() {
    let gz = |text: &str| super::gzip(text.as_bytes());
    let files = Files::new([
        ("raw/edge.csv.gz", gz("0,1\n")),
        ("raw/num-node-list.csv.gz", gz("2\n")),
        ("raw/num-edge-list.csv.gz", gz("1\n")),
        ("raw/node-feat.csv.gz", gz("1\n2\n")),
        ("raw/node-label.csv.gz", gz("0\n1\n")),
        ("raw/node_year.csv.gz", gz("2000\n2001\n")),
        ("split/time/train.csv.gz", gz("0\n")),
        ("split/time/val.csv", b"1\n".to_vec()),
        ("split/time/test.csv.gz", gz("")),
        ("mapping/README.md", vec![]),
        ("RELEASE_v1.txt", vec![]),
        ("other.csv", vec![]),
    ]);
    let (_, counts) = imported(files.path(), &Options::default()).unwrap();
    assert_eq!((counts.splits, counts.unread.to_string()), ([1, 1, 0], "raw/node_year.csv.gz, other.csv".to_owned()));
    assert_eq!(
        counts.unread.note(),
        "not read: raw/node_year.csv.gz, other.csv; known names are edge, node-feat, node-label and num-node-list in raw/, and \
         the parts of the split"
    );
}

#[test]
fn what_is_replaced_is_what_would_be_read() {
    let files = Files::new([("e.csv", b"0,1\n".to_vec())]);
    for name in [
        "x.npy",
        "Y.npy.gz",
        "train_masks.npy",
        "features.pt",
        "split.npz",
        "weights.npy",
        "labels.csv",
        "edge_index.npy",
    ] {
        files.write(&format!("out/{name}"), b"old");
    }
    let options = Options { overwrite: true, ..Options::default() };
    import::import(&files.at("e.csv"), &files.at("out"), &options, &Silent).unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(files.at("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["edge_index.npy", "indices.npy", "indptr.npy", "labels.csv", "weights.npy"]);

    // But not what it is made of.
    files.write("out/x.npy", &float32("(2, 1)", &[1.0, 2.0]));
    let options = Options { features: Some(files.at("out/x.npy")), ..options };
    let error = import::import(&files.at("e.csv"), &files.at("out"), &options, &Silent).unwrap_err();
    assert_eq!(
        super::sentence(&error, files.path()),
        "out/x.npy: this is nothing that can be imported: it would be replaced; accepted is another folder to write to"
    );
    assert!(files.at("out/x.npy").exists() && Dataset::load(&files.at("out"), &Silent).is_ok());
}
