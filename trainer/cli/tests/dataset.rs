//! `trisage dataset` as its user meets it.

use std::process::Output;

use dataset::{Dataset, Splits};
use golden::Silent;
use test_support::files::{Files, bools, float32, graph, ids, int64, x};

fn trisage(files: &Files, line: &str) -> (i32, String, String) {
    let mut command = test_support::plain(env!("CARGO_BIN_EXE_trisage"));
    command.current_dir(files.path()).args(line.split_whitespace());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn import_and_info() {
    let files = Files::new([("e.csv", b"0,1\n0,1\n2,2\n".to_vec()), ("l.csv", b"0\n4\nnan\n4\n".to_vec())]);
    let import = "dataset import e.csv --out set --labels l.csv --symmetrise";
    let summary = "set: 4 nodes, 3 edges, 0 features, 5 classes, split 0 / 0 / 0\n";
    let note = "note: e.csv: it names 3 nodes, the files beside it have 4; the last have no edges\n";
    assert_eq!(trisage(&files, import), (0, summary.to_owned(), note.to_owned()));
    let exists = "error: set: this folder that is not empty is there already; give another name, or ask for it to be \
                  overwritten with --overwrite\n";
    assert_eq!(trisage(&files, import), (2, String::new(), exists.to_owned()));
    assert_eq!(trisage(&files, &format!("{import} --overwrite")).0, 0);

    files.write("set/features.npy", &float32("(4, 3)", &x()));
    for (part, nodes) in [("train", &[0i64, 1][..]), ("val", &[3]), ("test", &[])] {
        files.write(&format!("set/{part}_idx.npy"), &int64(nodes));
    }
    let expected = "\
nodes           4
edges           3
symmetric       yes
self-loops      1
isolated nodes  1
features        3, dense, 48.00 B in memory, 91.67 % not 0
classes         5
labelled        3 of 4 nodes
split           2 train, 1 valid, 0 test
  class 4       2
  class 0       1

            min  mean  max  1 %  10 %  25 %  50 %  75 %  90 %  99 %
in-degree     0  0.75    1    0     0     0     1     1     1     1
out-degree    0  0.75    1    0     0     0     1     1     1     1
";
    assert_eq!(trisage(&files, "dataset info set"), (0, expected.to_owned(), String::new()));
    let (code, json, _) = trisage(&files, "dataset info set --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["splits"]["train"], &json["class_counts"][0]["class"]), (0, &2.into(), &4.into()));
}

#[test]
fn what_cannot_be_done_is_said() {
    let files = Files::new([("e.csv", b"0,1\n".to_vec()), ("set/indptr.npy", int64(&[0]))]);
    let error = |line: &str| {
        let (code, out, error) = trisage(&files, line);
        assert_eq!((code, &*out), (2, ""), "{error}");
        error
    };
    assert_eq!(
        error("dataset import set --out new --labels l.csv"),
        "error: --labels is for graphs in a file; set is something else\n"
    );
    assert_eq!(
        error("dataset import e.csv --out new --split time"),
        "error: --split chooses among the splits that --splits gives\n"
    );
    assert!(error("dataset import e.csv --out new --format obg").contains("there is no kind of data set 'obg'"));
    assert_eq!(
        error("dataset info set"),
        "error: set: the folder has no indices.npy, nor one with .gz, .bz2, .xz or .zst; a graph folder holds indptr and indices\n"
    );
}

#[test]
fn the_file_of_a_graph_is_read_as_graphs_are() {
    let files = Files::new([
        ("e.strange", b"2 1\n3 2\n".to_vec()),
        ("l.txt", b"spam\n0\n1\n0\n".to_vec()),
        ("split/train.csv", b"1\n".to_vec()),
        ("split/val_idx.npy", int64(&[3])),
        ("split/test.csv", b"2\n".to_vec()),
    ]);
    let import = "dataset import e.strange --out set --overwrite";
    let (code, _, error) = trisage(&files, import);
    assert!(code == 2 && error.starts_with("error: e.strange: its extension is of no graph format; "), "{error}");
    assert!(error.contains("--graph-format"), "{error}");
    let (code, _, error) = trisage(&files, &format!("{import} --format edges"));
    assert!(code == 2 && error.contains("--graph-format"), "{error}");
    // The ids of the splits are those of the graph.
    let summary = "set: 3 nodes, 2 edges, 0 features, 0 classes, split 1 / 1 / 1\n".to_owned();
    let line = format!("{import} --graph-format edges --first-id 1 --splits split");
    assert_eq!(trisage(&files, &line), (0, summary, String::new()));
    let Splits { train, valid, test } = Dataset::load(&files.at("set"), &Silent).unwrap().splits;
    assert_eq!([train, valid, test].map(|nodes| ids(&nodes)), [[0], [2], [1]]);
    files.write("split/test.csv", b"0\n");
    let error = "error: split/test.csv: cell 1 of line 1 is \"0\"; accepted is one node of the graph, which has 3, counted from \
                 1\n";
    assert_eq!(trisage(&files, &line), (2, String::new(), error.to_owned()));
    files.write("split/val_idx.npy", &int64(&[4]));
    let error = "error: split/val_idx.npy: element 0 is 4; accepted are the nodes of the graph, 1 to 3\n";
    assert_eq!(trisage(&files, &line), (2, String::new(), error.to_owned()));

    let labels = format!("{import} --graph-format edges --first-id 1 --labels l.txt");
    let (code, _, error) = trisage(&files, &labels);
    assert!(
        code == 2 && error.starts_with("error: l.txt: line 1 is \"spam\"; ") && error.contains("--header yes"),
        "{error}"
    );
    let summary = "set: 3 nodes, 2 edges, 0 features, 2 classes, split 0 / 0 / 0\n".to_owned();
    assert_eq!(trisage(&files, &format!("{labels} --header yes")), (0, summary.clone(), String::new()));
    assert_eq!(trisage(&files, &format!("{labels} --nodes 3")), (0, summary, String::new()));
    assert_eq!(trisage(&files, &format!("{labels} --header no")).0, 2);
    let (code, _, error) = trisage(&files, &format!("{labels} --header perhaps"));
    assert!(code == 2 && error.contains("give one of auto, yes, no"), "{error}");

    // Options of such files are for nothing else.
    for (option, name) in
        [("--graph-format edges", "--graph-format"), ("--header yes", "--header"), ("--nodes 3", "--nodes")]
    {
        let error = format!("error: {name} is for graphs in a file; set is something else\n");
        assert_eq!(trisage(&files, &format!("dataset import set --out new {option}")), (2, String::new(), error));
    }
    assert!(!files.at("new").exists());
}

#[test]
fn splits_are_chosen_and_what_is_not_read_is_said() {
    let files = Files::new([
        ("set/train_masks.npy", bools("(2, 4)", &[1, 0, 0, 0, 0, 1, 1, 0])),
        ("set/val_masks.npy", bools("(2, 4)", &[0, 1, 0, 0, 1, 0, 0, 0])),
        ("set/test_masks.npy", bools("(2, 4)", &[0, 0, 1, 0, 0, 0, 0, 0])),
        ("set/emb.npy", int64(&[0])),
    ]);
    graph().into_iter().for_each(|(name, bytes)| files.write(&format!("set/{name}"), &bytes));
    let error = "error: set/train_masks.npy: there are 2 splits in it; choose one of 0 to 1 (--split)\n";
    for line in ["dataset info set", "dataset import set --out new"] {
        assert_eq!(trisage(&files, line), (2, String::new(), error.to_owned()));
    }
    assert!(!files.at("new").exists());
    let (code, out, note) = trisage(&files, "dataset import set --out new --split 1");
    assert_eq!((code, &*out), (0, "new: 4 nodes, 4 edges, 0 features, 0 classes, split 2 / 1 / 0\n"));
    assert!(note.starts_with("note: set: not read: emb.npy; known names are ") && note.lines().count() == 1, "{note}");
    let (code, out, note) = trisage(&files, "dataset info set --split 0");
    assert!(code == 0 && out.contains("split           1 train, 1 valid, 1 test\n"), "{out}");
    assert!(note.starts_with("note: set: not read: emb.npy; "), "{note}");
    assert!(trisage(&files, "dataset info new").2.is_empty());
    // Whoever gets a graph alone is told so.
    std::fs::remove_file(files.at("set/emb.npy")).unwrap();
    for part in ["train", "val", "test"] {
        std::fs::remove_file(files.at(&format!("set/{part}_masks.npy"))).unwrap();
    }
    let alone = "note: set: there are no features, no labels and no split; bare is a graph alone\n".to_owned();
    let summary = "bare: 4 nodes, 4 edges, 0 features, 0 classes, split 0 / 0 / 0\n".to_owned();
    assert_eq!(trisage(&files, "dataset import set --out bare"), (0, summary, alone));
}

/// Lines of a pipe could not be looked at before they are read.
#[test]
fn a_pipe_is_no_table() {
    let files = Files::new([("e.csv", b"0,1\n".to_vec())]);
    assert!(std::process::Command::new("mkfifo").arg(files.at("pipe")).status().unwrap().success());
    for source in ["e.csv --labels pipe", "e.csv --features pipe", "pipe --graph-format edges"] {
        let (code, stdout, stderr) = trisage(&files, &format!("dataset import --out set {source}"));
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.starts_with("error: pipe: ") && stderr.contains("it can be read only once"), "{stderr}");
        assert!(!files.at("set").exists());
    }
}
