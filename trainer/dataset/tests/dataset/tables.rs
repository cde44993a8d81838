//! Text beside the file of a graph: first lines, delimiters, numbers of lines, and who is to blame.

use dataset::{
    NO_LABEL,
    import::{Header, Options},
};
use golden_files::read::ReadOptions;

use super::{Files, float32, gzip, import::imported, int64, parts, x};

/// The graph 0 -> 1 -> 2 -> 3.
const PATH: &str = "0 1\n1 2\n2 3\n";

/// A folder with the graph and these files.
fn files<'a>(beside: impl IntoIterator<Item = (&'a str, &'a str)>) -> Files {
    let files = Files::new([("e.txt", PATH.as_bytes().to_vec())]);
    for (name, text) in beside {
        files.write(name, text.as_bytes());
    }
    files
}

/// Options with those of the files `labels.*`, `features.*` and `split/` that are there.
fn options(files: &Files) -> Options {
    let find = |start: &str| {
        let names = std::fs::read_dir(files.path()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start)).max()
    };
    Options { labels: find("labels"), features: find("features"), splits: find("split"), ..Options::default() }
}

fn refusal<'a>(beside: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let files = files(beside);
    imported(&files.at("e.txt"), &options(&files)).unwrap_err()
}

fn labels(text: &str, header: Header) -> Result<Vec<i64>, String> {
    let files = files([("labels.txt", text)]);
    let options = Options { header, ..options(&files) };
    imported(&files.at("e.txt"), &options).map(|(dataset, _)| dataset.labels)
}

fn features(text: &str) -> Result<Vec<f32>, String> {
    let files = files([("features.csv", text)]);
    let dataset = imported(&files.at("e.txt"), &options(&files))?.0;
    Ok(dataset.features.dense(files.path()).unwrap().values().to_vec())
}

#[test]
fn a_first_label_is_dropped_only_if_it_is_the_name_of_a_column() {
    let unclear = |first: &str| {
        format!(
            "labels.txt: line 1 is {first:?}; accepted are labels, which are whole numbers, names of columns that are known \
             (label, y, class or target), or any first line with --header yes"
        )
    };
    for header in [Header::Auto, Header::No] {
        assert_eq!(labels("2\n0\n1\n0\n", header), Ok(vec![2, 0, 1, 0]));
        assert_eq!(labels("nan\n0.0\n-1\n1.0\n", header), Ok(vec![NO_LABEL, 0, NO_LABEL, 1]));
    }
    for name in ["label", "Y", "class", "target", "node_label"] {
        assert_eq!(labels(&format!("{name}\n2\n0\n1\n0\n"), Header::Auto), Ok(vec![2, 0, 1, 0]), "{name}");
    }
    // As many lines as nodes, one more, and words all through.
    assert_eq!(labels("spam\n0\n1\n1\n", Header::Auto), Err(unclear("spam")));
    assert_eq!(labels("spam\n0\n1\n1\n0\n", Header::Auto), Err(unclear("spam")));
    assert_eq!(labels("spam\nham\nspam\nspam\n", Header::Auto), Err(unclear("spam")));
    assert_eq!(labels("spam\n0\n1\n1\n0\n", Header::Yes), Ok(vec![0, 1, 1, 0]));
    assert_eq!(labels("7\n0\n1\n1\n0\n", Header::Yes), Ok(vec![0, 1, 1, 0]));
    let accepted = "accepted is one label, 0 to 65535, or nan for none";
    assert_eq!(
        labels("spam\n0\n1\n1\n", Header::No),
        Err(format!("labels.txt: cell 1 of line 1 is \"spam\"; {accepted}"))
    );
    assert_eq!(
        labels("2\n0\nham\n0\n", Header::Auto),
        Err(format!("labels.txt: cell 1 of line 3 is \"ham\"; {accepted}"))
    );
    // What stands for a label that is missing names no column, whatever the number of lines says.
    for missing in ["NA", "?", "None", "-"] {
        let found = labels(&format!("{missing}\n0\n1\n1\n0\n"), Header::Auto);
        assert_eq!(found, Err(format!("labels.txt: cell 1 of line 1 is \"{missing}\"; {accepted}")));
    }
    assert_eq!(labels("label\n2\n0\n1\n", Header::Auto).unwrap_err(), SHORT.replace("LINES", "3"));
    assert_eq!(labels("", Header::Auto).unwrap_err(), SHORT.replace("LINES", "0"));
    assert_eq!(labels("", Header::Yes).unwrap_err(), SHORT.replace("LINES", "0"));
}

const SHORT: &str =
    "labels.txt: there are LINES lines with labels; accepted are 4, one for each node: e.txt names node 3";

#[test]
fn the_number_of_nodes_tells_a_header_where_it_is_known() {
    let text = "spam\n0\n1\n1\n0\n";
    // By features; by what is given; by a format that states it.
    let files = files([("labels.txt", text), ("features.csv", "1\n2\n3\n4\n")]);
    assert_eq!(imported(&files.at("e.txt"), &options(&files)).unwrap().0.labels, [0, 1, 1, 0]);
    std::fs::remove_file(files.at("features.csv")).unwrap();
    let given = ReadOptions { nodes: Some(4), ..ReadOptions::default() };
    let given = Options { reading: given, ..options(&files) };
    assert_eq!(imported(&files.at("e.txt"), &given).unwrap().0.labels, [0, 1, 1, 0]);
    files.write("e.mtx", b"%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 2\n");
    assert_eq!(imported(&files.at("e.mtx"), &options(&files)).unwrap().0.labels, [0, 1, 1, 0]);
    files.write("labels.txt", b"spam\n0\n1\n1\n");
    assert!(
        imported(&files.at("e.mtx"), &options(&files)).unwrap_err().starts_with("labels.txt: line 1 is \"spam\"; ")
    );
}

#[test]
fn first_lines_of_features_and_splits() {
    let rows = "1,2\n3,4\n5,6\n7,8\n";
    let values: Vec<f32> = (1..9u8).map(f32::from).collect();
    assert_eq!(features(rows), Ok(values.clone()));
    for names in ["width,height", "f0,f1", "\"a b\",\"c\"", "# savetxt"] {
        assert_eq!(features(&format!("{names}\n{rows}")), Ok(values.clone()), "{names}");
    }
    // A first column of nodes is named as one, or not at all.
    let numbered = "0,1,2\n1,3,4\n2,5,6\n3,7,8\n";
    for names in ["node,a,b", "id,a,b", ",a,b", ",0,1"] {
        assert_eq!(features(&format!("{names}\n{numbered}")), Ok(values.clone()), "{names}");
    }
    assert_eq!(
        features("node,a\n0,1\n2,1\n1,1\n3,1\n").unwrap_err(),
        "features.csv: line 3 is about node \"2\"; accepted is node 1, as the lines stand in the order of the nodes"
    );
    assert_eq!(
        features("a,id\n1,0\n1,1\n1,2\n1,3\n").unwrap_err(),
        "features.csv: column 2 is named as one of node ids; accepted is the first column"
    );
    // Numbers of columns, as pandas writes them, or the features of node 0.
    let counting = "0,1\n3,4\n5,6\n7,8\n";
    let first_node = [0.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    assert_eq!(features(counting), Ok(first_node.to_vec()));
    let more = format!("0,1\n{rows}");
    assert_eq!(
        features(&more).unwrap_err(),
        "features.csv: line 1 is \"0,1\": it may number the columns, or be the features of the first node; say with --header yes \
         or no whether it names columns"
    );
    for (header, nodes) in [(Header::Yes, 4), (Header::No, 5)] {
        let files = files([("features.csv", &*more)]);
        let options = Options { header, ..options(&files) };
        assert_eq!(imported(&files.at("e.txt"), &options).unwrap().1.nodes, nodes);
    }
    let files_with_labels = files([("features.csv", &*more), ("labels.txt", "0\n1\n0\n1\n")]);
    assert_eq!(imported(&files_with_labels.at("e.txt"), &options(&files_with_labels)).unwrap().1.nodes, 4);
    // Words of which the first line is not names.
    assert_eq!(
        features("red,red\n1,2\n3,4\n5,6\n").unwrap_err(),
        "features.csv: line 1 is \"red,red\"; accepted are numbers, names of columns that are known (several words that \
         differ, x or feature), or any first line with --header yes"
    );
    let number = "accepted is a finite number that float32 holds";
    assert_eq!(
        features("NA,NA\n1,2\n3,4\n5,6\n").unwrap_err(),
        format!("features.csv: cell 1 of line 1 is \"NA\"; {number}")
    );
    assert_eq!(
        features("a,b\n1,2\n3,4\n5,6\n").unwrap_err(),
        "features.csv: there are 3 lines with features; accepted are 4, one for each node: e.txt names node 3"
    );

    let split = |train: &str| {
        let files = files([("split/train.csv", train), ("split/val.csv", "node\n2\n"), ("split/test.csv", "")]);
        imported(&files.at("e.txt"), &options(&files)).map(|(dataset, _)| parts(&dataset.splits))
    };
    for train in ["0\n1\n", "node\n0\n1\n", "train\n0\n1\n", "\"id\"\n\"0\"\n\"1\"\n"] {
        assert_eq!(split(train), Ok([vec![0, 1], vec![2], vec![]]), "{train:?}");
    }
    assert_eq!(
        split("spam\n0\n1\n").unwrap_err(),
        "split/train.csv: line 1 is \"spam\"; accepted are node ids, names of columns that are known (node, id or index), or \
         any first line with --header yes"
    );
    assert_eq!(
        split("0\n4\n").unwrap_err(),
        "split/train.csv: cell 1 of line 2 is \"4\"; accepted is one node of the graph, which has 4, counted from 0"
    );
    assert_eq!(
        split("0,1\n2,3\n").unwrap_err(),
        "split/train.csv: line 1 has 2 cells; accepted is one node of the graph, which has 4, counted from 0"
    );
    assert_eq!(split("").unwrap_err(), "split/train.csv: no node is in it; there must be one to train with");
}

#[test]
fn labels_with_a_column_of_nodes() {
    assert_eq!(labels("0 1\n1 0\n2 1\n3 0\n", Header::Auto), Ok(vec![1, 0, 1, 0]));
    for text in ["0 2\n1 0\n2 1\n3 0\n", "node,label\n0,2\n1,0\n2,1\n3,0\n", ",class\n0,2\n1,0\n2,1\n3,0\n"] {
        assert_eq!(labels(text, Header::Auto), Ok(vec![2, 0, 1, 0]), "{text:?}");
    }
    assert_eq!(labels("node,label\n0,2\n1,\n2,1\n3,0\n", Header::Auto), Ok(vec![2, NO_LABEL, 1, 0]));
    assert_eq!(
        labels("0 2\n2 0\n1 1\n3 0\n", Header::Auto).unwrap_err(),
        "labels.txt: line 2 is about node \"2\"; accepted is node 1, as the lines stand in the order of the nodes"
    );
    assert_eq!(
        labels("1 2\n2 0\n3 1\n4 0\n", Header::Auto).unwrap_err(),
        "labels.txt: line 1 is about node \"1\"; accepted is node 0, as the lines stand in the order of the nodes"
    );
    let accepted = "accepted is one label, 0 to 65535, or nan for none";
    assert_eq!(
        labels("class,y\n0,2\n1,0\n2,1\n3,0\n", Header::Auto).unwrap_err(),
        format!("labels.txt: line 2 has 2 cells; {accepted}")
    );
    assert_eq!(
        labels("0 0 1\n0 1 0\n1 0 0\n1 0 0\n", Header::Auto).unwrap_err(),
        format!("labels.txt: line 1 has 3 cells; {accepted}")
    );
}

#[test]
fn every_delimiter_and_quotes() {
    let values: Vec<f32> = (1..9u8).map(|i| f32::from(i) / 2.0).collect();
    for text in [
        "0.5;1\n1.5;2\n2.5;3\n3.5;4\n",
        "\"0.5\",\"1\"\n\"1.5\",\"2\"\n\"2.5\",\"3\"\n\"3.5\",\"4\"\n",
        "0.5\t1\n1.5\t2\n2.5\t3\n3.5\t4\n",
        "0.5 1\r\n1.5 2\r\n2.5 3\r\n3.5 4\r\n\r\n",
        "\u{feff}0.5|1\n1.5|2\n2.5|3\n3.5|4",
        "\"a\";\"b\"\n0.5;1\n1.5;2\n2.5;3\n3.5;4\n",
    ] {
        assert_eq!(features(text), Ok(values.clone()), "{text:?}");
    }
    assert_eq!(
        features("0,5;1\n1;2\n1;3\n0;4\n").unwrap_err(),
        "features.csv: line 2 has 1 columns, but line 1 has 2; every line of a table has the same columns"
    );
    assert_eq!(
        features("1,2\n\n3,4\n5,6\n7,8\n").unwrap_err(),
        "features.csv: line 2 is empty, but lines with values follow"
    );
}

#[test]
fn the_file_that_is_wrong_is_named() {
    let four = "1\n2\n3\n4\n";
    assert_eq!(
        refusal([("features.csv", "1\n2\n3\n")]),
        "features.csv: there are 3 lines with features; accepted are 4, one for each node: e.txt names node 3"
    );
    assert_eq!(
        refusal([("features.csv", "1\n2\n3\n"), ("labels.txt", "0\n0\n0\n")]),
        "labels.txt: there are 3 lines with labels; accepted are 4, one for each node: e.txt names node 3 (features.csv has 3, \
         too)"
    );
    assert_eq!(
        refusal([("features.csv", "1\n2\n3\n"), ("labels.txt", "0\n0\n0\n0\n")]),
        "features.csv: there are 3 lines with features; accepted are 4, one for each node: e.txt names node 3"
    );
    // More lines than the graph names are isolated nodes at the end, if the files agree on it.
    assert_eq!(
        refusal([("features.csv", "1\n2\n3\n4\n5\n6\n"), ("labels.txt", "0\n0\n0\n0\n0\n")]),
        "labels.txt: there are 5 lines with labels; accepted are 6, as many as in features.csv"
    );
    let files = files([("features.csv", "1\n2\n3\n4\n5\n"), ("labels.txt", "0\n0\n0\n0\n0\n")]);
    assert_eq!(imported(&files.at("e.txt"), &options(&files)).unwrap().1.nodes, 5);
    let given = ReadOptions { nodes: Some(4), ..ReadOptions::default() };
    let given = Options { reading: given, ..options(&files) };
    assert_eq!(
        imported(&files.at("e.txt"), &given).unwrap_err(),
        "labels.txt: there are 5 lines with labels; accepted are 4, the number of nodes that is given (features.csv has 5, too)"
    );
    files.write("e.mtx", b"%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 2\n");
    assert_eq!(
        imported(&files.at("e.mtx"), &options(&files)).unwrap_err(),
        "labels.txt: there are 5 lines with labels; accepted are 4, one for each node of e.mtx (features.csv has 5, too)"
    );
    // The graph itself is to blame for what it has wrong.
    files.write("e.txt", b"0 1\n1 -2\n");
    assert!(imported(&files.at("e.txt"), &options(&files)).unwrap_err().starts_with("e.txt: line 2 has node id -2; "));
    assert!(
        refusal([("labels.txt", four), ("features.csv", "1\nx\n3\n4\n")]).starts_with("features.csv: cell 1 of line 2")
    );
}

/// Far more nodes than a list of arcs names are no mistake if the labels name them.
#[test]
fn labels_of_many_isolated_nodes() {
    let nodes = (1 << 20) + 100;
    let files = Files::new([("e.txt", format!("0 {}\n", nodes - 1).into_bytes())]);
    let found = imported(&files.at("e.txt"), &Options::default()).unwrap_err();
    assert!(found.contains("but there are only 1 edges"), "{found}");
    files.write("labels.txt", "0\n".repeat(nodes).as_bytes());
    assert_eq!(imported(&files.at("e.txt"), &options(&files)).unwrap().1.nodes, nodes);
}

#[test]
fn files_of_a_split() {
    let split = |names: [&str; 3]| {
        let files = files([(names[0], "0\n1\n"), (names[1], "2\n"), (names[2], "3\n")]);
        imported(&files.at("e.txt"), &options(&files)).map(|(dataset, _)| parts(&dataset.splits))
    };
    let expected = Ok([vec![0, 1], vec![2], vec![3]]);
    for names in [
        ["split/train.csv", "split/val.csv", "split/test.csv"],
        ["split/train.txt", "split/valid.txt", "split/test.txt"],
        ["split/train.tsv", "split/validation.csv", "split/test.txt"],
        ["split/train_idx.csv", "split/val_idx.csv", "split/test_ids.csv"],
    ] {
        assert_eq!(split(names), expected, "{names:?}");
    }
    // Marks, arrays and what is compressed.
    let files = files([
        ("split/train_mask.csv", "1\n1\n0\n0\n"),
        ("split/valid_mask.txt", "mask\nFalse\nFalse\nTrue\nFalse\n"),
    ]);
    files.write("split/test.csv.gz", &gzip(b"3\n"));
    let found = || imported(&files.at("e.txt"), &options(&files)).map(|(dataset, _)| parts(&dataset.splits));
    assert_eq!(found(), expected);
    std::fs::remove_file(files.at("split/test.csv.gz")).unwrap();
    let missing = "test.csv (also .txt, .tsv or .npy, compressed, or as test_idx or test_mask)";
    assert_eq!(
        found().unwrap_err(),
        format!("split: there is train_mask.csv, but {missing} is missing; give both, or neither")
    );
    files.write("split/test_idx.npy", &int64(&[3]));
    assert_eq!(found(), expected);
    files.write("split/train.csv", b"0\n");
    assert_eq!(
        found().unwrap_err(),
        "split: the nodes to train with are in train.csv and in train_mask.csv; keep one of the two"
    );
    std::fs::remove_file(files.at("split/train.csv")).unwrap();
    files.write("split/train_mask.csv", b"1\n1\n0\n");
    assert_eq!(
        found().unwrap_err(),
        "split/train_mask.csv: there are 3 lines with marks; accepted are 4, one for each node of the graph"
    );
    files.write("split/train_mask.csv", b"1\n1\n0\n2\n");
    assert_eq!(found().unwrap_err(), "split/train_mask.csv: cell 1 of line 4 is \"2\"; accepted is a mark, 0 or 1");

    let empty = Files::new([("e.txt", PATH.as_bytes().to_vec()), ("split/other.csv", vec![])]);
    assert_eq!(
        imported(&empty.at("e.txt"), &options(&empty)).unwrap_err(),
        "split: there are no parts of a split; accepted is train.csv, val.csv (or valid.csv or validation.csv) and test.csv \
         (also .txt, .tsv or .npy, compressed, or with _idx or _mask)"
    );
    let valid = Files::new([("e.txt", PATH.as_bytes().to_vec()), ("split/train.csv", b"0\n".to_vec())]);
    assert_eq!(
        imported(&valid.at("e.txt"), &options(&valid)).unwrap_err(),
        "split: there is train.csv, but val.csv, valid.csv or validation.csv (also .txt, .tsv or .npy, compressed, or as val_idx \
         or val_mask) is missing; give both, or neither"
    );
}

#[test]
fn arrays_beside_the_file_of_a_graph() {
    let files = files([]);
    files.write("features.npy", &float32("(4, 3)", &x()));
    files.write("labels.npy", &int64(&[2, 0, 1, 0]));
    let (dataset, counts) = imported(&files.at("e.txt"), &options(&files)).unwrap();
    assert_eq!((counts.columns, counts.classes, &dataset.labels[..]), (3, 3, &[2, 0, 1, 0][..]));
    assert_eq!(dataset.features.dense(files.path()).unwrap().values(), x());
    files.write("labels.npy", &int64(&[2, 0, 1]));
    assert_eq!(
        imported(&files.at("e.txt"), &options(&files)).unwrap_err(),
        "labels.npy: the labels have the extents [3]; accepted is [4] or [4, 1], one for each node of the graph"
    );
    // Labels and features in one file.
    let both = super::zip(&[
        ("x.npy", float32("(4, 3)", &x())),
        ("y.npy", int64(&[2, 0, 1, 0])),
        ("z.npy", int64(&[0])),
        ("train_mask.npy", int64(&[0])),
    ]);
    let of =
        |name: &str| Options { labels: Some(files.at(name)), features: Some(files.at(name)), ..Options::default() };
    files.write("both.npz", &both);
    let (_, counts) = imported(&files.at("e.txt"), &of("both.npz")).unwrap();
    let unread = "both.npz/train_mask, both.npz/z";
    assert_eq!((counts.columns, counts.classes, counts.unread.to_string()), (3, 3, unread.to_owned()));
    files.write("other.npz", &super::zip(&[("y.npy", int64(&[2, 0, 1, 0])), ("z.npy", int64(&[0]))]));
    assert_eq!(
        imported(&files.at("e.txt"), &of("other.npz")).unwrap_err(),
        "other.npz: there are no features in it, but other.npz/y, other.npz/z; accepted is features, feat, x or node_feat"
    );
    // They tell of isolated nodes, too.
    files.write("labels.npy", &int64(&[2, 0, 1, 0, 0]));
    std::fs::remove_file(files.at("features.npy")).unwrap();
    assert_eq!(imported(&files.at("e.txt"), &options(&files)).unwrap().1.nodes, 5);
    let options = Options { labels: Some(files.at("labels.pkl")), ..Options::default() };
    files.write("labels.pkl", b"\x80\x04\x95");
    let found = imported(&files.at("e.txt"), &options).unwrap_err();
    assert!(found.starts_with("labels.pkl: this is a pickled Python object, which only Python reads; "), "{found}");
}
