//! `trisage dataset` as its user meets it.

use std::process::Output;

use test_support::plain;

use super::{Files, float32, int64, x};

fn trisage(files: &Files, line: &str) -> (i32, String, String) {
    let mut command = plain(env!("CARGO_BIN_EXE_trisage"));
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
    assert_eq!(trisage(&files, import), (0, summary.to_owned(), String::new()));
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
        "error: --split is for OGB folders; e.csv is something else\n"
    );
    assert!(error("dataset import e.csv --out new --format obg").contains("there is no kind of data set 'obg'"));
    assert_eq!(
        error("dataset info set"),
        "error: set: the folder has neither indices.npy nor indices.npy.gz; a graph folder holds indptr and indices\n"
    );
}
