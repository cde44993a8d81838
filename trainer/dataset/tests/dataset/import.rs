//! Data sets made of what people download.

use std::{collections::BTreeSet, fs, path::Path};

use dataset::{
    Dataset, NO_LABEL, import,
    import::{Imported, Options, Source},
};
use golden::Silent;
use golden_files::read::ReadOptions;
use proptest::prelude::*;

use super::{Files, float32, gzip, ids, int32, int64, npy, sentence, x, zip};

/// What becomes of a source: the data set made of it, or the sentence why there is none.
pub(super) fn imported(source: &Path, options: &Options) -> Result<(Dataset, Imported), String> {
    let out = Files::new([]);
    let made = import::import(source, &out.at("made"), options, &Silent);
    let left: Vec<_> = fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    match made {
        Ok(imported) => {
            assert_eq!(left, ["made"]);
            Ok((Dataset::load(&out.at("made"), &Silent).unwrap(), imported))
        }
        Err(error) => {
            assert!(left.is_empty(), "nothing is left of what failed: {left:?}");
            let folder = if source.is_dir() { source } else { source.parent().unwrap() };
            Err(sentence(&error, folder))
        }
    }
}

/// The arcs of a data set, by destination.
pub(super) fn arcs(dataset: &Dataset) -> Vec<(u32, u32)> {
    dataset.graph.arcs().map(|(source, destination)| (source.get(), destination.get())).collect()
}

const FEATURES: &str = "-1.0,-0.5,0\n0.5,1,1.5\n2,2.5e0,3.0\n3.5,4,4.5\n";

fn ogb() -> Files {
    let text = |text: &str| gzip(text.as_bytes());
    Files::new([
        ("raw/edge.csv.gz", text("3,1\n0,1\n2,2\n1,0\n")),
        ("raw/num-node-list.csv.gz", text("4\n")),
        ("raw/num-edge-list.csv.gz", text("4\n")),
        ("raw/node-feat.csv.gz", text(FEATURES)),
        ("raw/node-label.csv.gz", text("2\nnan\n0\n1.0\n")),
        ("split/time/train.csv.gz", text("3\n")),
        ("split/time/valid.csv.gz", text("0\n")),
        ("split/time/test.csv.gz", text("2\n")),
    ])
}

#[test]
fn ogb_folders() {
    let (dataset, counts) = imported(ogb().path(), &Options::default()).unwrap();
    assert_eq!(counts, Imported { nodes: 4, edges: 4, columns: 3, classes: 3, splits: [1, 1, 1], ..counts.clone() });
    assert_eq!(arcs(&dataset), [(1, 0), (0, 1), (3, 1), (2, 2)]);
    assert_eq!((dataset.labels, dataset.classes), (vec![2, NO_LABEL, 0, 1], 3));
    assert_eq!(dataset.features.dense("x".as_ref()).unwrap().values(), x());
    let splits = dataset.splits;
    assert_eq!((ids(&splits.train), ids(&splits.valid), ids(&splits.test)), (vec![3], vec![0], vec![2]));

    let both = Options { symmetrise: true, remove_self_loops: true, ..Options::default() };
    let (dataset, _) = imported(ogb().path(), &both).unwrap();
    assert_eq!(arcs(&dataset), [(1, 0), (0, 1), (3, 1), (1, 3)]);
}

#[test]
fn ogb_folders_that_are_none() {
    let spoilt = |name: &str, text: &str| {
        let files = ogb();
        files.write(name, &gzip(text.as_bytes()));
        imported(files.path(), &Options::default()).unwrap_err()
    };
    let number = "accepted is a finite number that float32 holds";
    let cases = [
        (
            spoilt("raw/node-feat.csv.gz", &FEATURES.replace("2.5e0", "two")),
            format!("raw/node-feat.csv.gz: cell 2 of line 3 is \"two\"; {number}"),
        ),
        (
            spoilt("raw/node-feat.csv.gz", &FEATURES.replace("4.5", "inf")),
            format!("raw/node-feat.csv.gz: cell 3 of line 4 is \"inf\"; {number}"),
        ),
        (
            spoilt("raw/node-feat.csv.gz", &FEATURES.replace(",3.0", "")),
            "raw/node-feat.csv.gz: line 3 has 2 columns, but line 1 has 3; every line of a table has the same columns".into(),
        ),
        (
            spoilt("raw/node-feat.csv.gz", &FEATURES[..30]),
            format!("raw/node-feat.csv.gz: cell 3 of line 3 is \"\"; {number}"),
        ),
        (
            spoilt("raw/node-feat.csv.gz", &format!("{FEATURES}1,2,3\n")),
            "raw/node-feat.csv.gz: there are 5 lines with features; accepted are 4, one for each node of the graph".into(),
        ),
        (
            spoilt("raw/node-label.csv.gz", "0\n0\n-3\n0\n"),
            "raw/node-label.csv.gz: cell 1 of line 3 is \"-3\"; accepted is one label, 0 to 65535, or nan for none".into(),
        ),
        (
            spoilt("raw/node-label.csv.gz", "0\n0\n"),
            "raw/node-label.csv.gz: there are 2 lines with labels; accepted are 4, one for each node of the graph".into(),
        ),
        (
            spoilt("raw/num-node-list.csv.gz", "4\n5\n"),
            "raw/num-node-list.csv.gz: there are 2 lines with a number; accepted are 1, a number and nothing else".into(),
        ),
        (
            spoilt("raw/edge.csv.gz", "0,1\n4,1\n"),
            "raw/edge.csv.gz: line 2 has node id 4; accepted are whole numbers 0 to 3".into(),
        ),
        (
            spoilt("split/time/test.csv.gz", "2\n4\n"),
            "split/time/test.csv.gz: cell 1 of line 2 is \"4\"; accepted is one node of the graph, which has 4, counted from 0"
                .into(),
        ),
        (
            spoilt("split/time/test.csv.gz", "2\n3\n"),
            "split/time/test.csv.gz: node 3 is given twice, first in train.csv.gz; the parts of a split are distinct and \
             disjoint"
                .into(),
        ),
        (
            spoilt("split/time/valid.csv.gz", "1\n"),
            "split/time/valid.csv.gz: node 1 is in the split, but has no label; leave it away".into(),
        ),
        (
            spoilt("split/random/train.csv.gz", "1\n"),
            "split: the splits are [\"random\", \"time\"]; choose one of them by its name".into(),
        ),
    ];
    for (found, sentence) in cases {
        assert_eq!(found, sentence);
    }
    let files = ogb();
    let bytes = fs::read(files.at("raw/node-feat.csv.gz")).unwrap();
    files.write("raw/node-feat.csv.gz", &bytes[..bytes.len() - 9]);
    let found = imported(files.path(), &Options::default()).unwrap_err();
    assert!(found.starts_with("raw/node-feat.csv.gz: the compressed data is damaged after "), "{found}");
    files.write("raw/node-feat.csv", FEATURES.as_bytes());
    assert_eq!(
        imported(files.path(), &Options::default()).unwrap_err(),
        "raw: the same lines are in node-feat.csv and in node-feat.csv.gz; keep one of the two"
    );
    fs::remove_file(files.at("raw/node-feat.csv")).unwrap();
    fs::remove_file(files.at("raw/node-feat.csv.gz")).unwrap();
    assert_eq!(
        imported(files.path(), &Options::default()).unwrap_err(),
        "raw: there are no features; accepted is node-feat.csv, also compressed"
    );
    files.write("split/random/train.csv", b"1\n");
    let named = Options { split: Some("best".to_owned()), ..Options::default() };
    assert_eq!(
        imported(files.path(), &named).unwrap_err(),
        "split: the splits are [\"random\", \"time\"]; choose one of them by its name"
    );
}

fn reddit(types: &[i64]) -> Files {
    let doubles = x().into_iter().flat_map(|value| f64::from(value).to_le_bytes());
    let data = [
        ("feature.npy", npy("<f8", "(4, 3)", doubles)),
        ("label.npy", int64(&[2, 0, 1, 0])),
        ("node_ids.npy", int64(&[0, 1, 2, 3])),
        ("node_types.npy", int64(types)),
    ];
    let graph = [
        ("row.npy", int32(&[3, 0, 2, 1])),
        ("col.npy", int32(&[1, 1, 2, 0])),
        ("format.npy", npy("|S3", "()", *b"coo")),
        ("shape.npy", int64(&[4, 4])),
        ("data.npy", float32("(4,)", &[1.0; 4])),
    ];
    Files::new([("reddit_data.npz", zip(&data)), ("reddit_graph.npz", zip(&graph))])
}

#[test]
fn reddits_two_files() {
    let (dataset, counts) = imported(reddit(&[1, 3, 1, 2]).path(), &Options::default()).unwrap();
    assert_eq!(counts, Imported { nodes: 4, edges: 4, columns: 3, classes: 3, splits: [2, 1, 1], ..counts.clone() });
    assert_eq!(arcs(&dataset), [(1, 0), (0, 1), (3, 1), (2, 2)]);
    assert_eq!(dataset.labels, [2, 0, 1, 0]);
    assert_eq!(dataset.features.dense("x".as_ref()).unwrap().values(), x());
    let splits = dataset.splits;
    assert_eq!((ids(&splits.train), ids(&splits.valid), ids(&splits.test)), (vec![0, 2], vec![3], vec![1]));

    let refusal = |files: &Files| imported(files.path(), &Options::default()).unwrap_err();
    assert_eq!(
        refusal(&reddit(&[1, 3, 4, 2])),
        "reddit_data.npz/node_types.npy: the type of node 2 is 4; accepted are 1 (train), 2 (valid), 3 (test) and 0 (none of \
         them)"
    );
    let files = reddit(&[1, 1, 1, 1]);
    files.write("reddit_data.npz", &zip(&[("feature.npy", vec![])]));
    assert_eq!(
        refusal(&files),
        "reddit_data.npz: the .npz has no array 'label', but [\"feature.npy\"]; reddit_data.npz has feature, label and node_types"
    );
    let whole = fs::read(reddit(&[1, 1, 1, 1]).at("reddit_data.npz")).unwrap();
    files.write("reddit_data.npz", &whole[..whole.len() / 2]);
    assert!(refusal(&files).starts_with("reddit_data.npz: the .npz cannot be read as a zip file: "));
}

#[test]
fn planetoids_pieces() {
    let files = Files::new([
        // 0: 1, 1, 0;  1: 2;  2: none;  3: 0
        ("raw_indptr.npy", int64(&[0, 3, 4, 4, 5])),
        ("raw_indices.npy", int32(&[1, 1, 0, 2, 0])),
        ("feat_indptr.npy", int64(&[0, 1, 1, 1, 2])),
        ("feat_indices.npy", int32(&[6, 2])),
        ("labels.npy", int64(&[0, 1, 1, 0])),
    ]);
    let (dataset, _) = imported(files.path(), &Options::default()).unwrap();
    assert_eq!(arcs(&dataset), [(0, 0), (3, 0), (0, 1), (0, 1), (1, 2)]);
    assert_eq!((dataset.features.columns(), dataset.classes), (7, 2));
    let both = Options { symmetrise: true, remove_self_loops: true, ..Options::default() };
    let (dataset, _) = imported(files.path(), &both).unwrap();
    assert_eq!(arcs(&dataset), [(1, 0), (3, 0), (0, 1), (2, 1), (1, 2), (0, 3)]);
    files.write("raw_indices.npy", &int32(&[1, 1, 0, 4, 0]));
    assert_eq!(
        imported(files.path(), &both).unwrap_err(),
        "raw_indices.npy: element 3 is 4; accepted are whole numbers 0 to 3"
    );
}

#[test]
fn a_graph_with_text_beside_it() {
    let files = Files::new([
        ("edges.csv", b"source,target\n0,1\n2,1\n".to_vec()),
        ("features.tsv.gz", gzip(b"width height\n1 2\n3\t4\n5 6\n7 8\n9 10\n")),
        ("labels.csv", b"class\n0\nnan\n3\n\"\"\n0\n".to_vec()),
        ("split/train.csv", b"0\n".to_vec()),
        ("split/valid.csv.gz", gzip(b"node\n4\n")),
        ("split/test.csv", b"".to_vec()),
    ]);
    let all = Options {
        labels: Some(files.at("labels.csv")),
        features: Some(files.at("features.tsv.gz")),
        splits: Some(files.at("split")),
        ..Options::default()
    };
    let (dataset, counts) = imported(&files.at("edges.csv"), &all).unwrap();
    assert_eq!(counts, Imported { nodes: 5, edges: 2, columns: 2, classes: 4, splits: [1, 1, 0], ..counts.clone() });
    assert_eq!(dataset.labels, [0, NO_LABEL, 3, NO_LABEL, 0]);
    assert_eq!(dataset.features.dense("x".as_ref()).unwrap().row(3), [7.0, 8.0]);

    let features = Options { labels: None, splits: None, ..all.clone() };
    assert_eq!(imported(&files.at("edges.csv"), &features).unwrap().1.nodes, 5);
    assert_eq!(imported(&files.at("edges.csv"), &Options::default()).unwrap().1.nodes, 3);
    let seven = ReadOptions { nodes: Some(7), ..ReadOptions::default() };
    let more = Options { reading: seven.clone(), ..Options::default() };
    assert_eq!(imported(&files.at("edges.csv"), &more).unwrap().1.nodes, 7);
    let more = Options { reading: seven, ..all };
    assert_eq!(
        imported(&files.at("edges.csv"), &more).unwrap_err(),
        "labels.csv: there are 5 lines with labels; accepted are 7, the number of nodes that is given (features.tsv.gz has 5, \
         too)"
    );
    // A first line without a label is a node, not the name of a column.
    files.write("labels.csv", b"nan\n1\n1\n");
    let labels = Options { labels: Some(files.at("labels.csv")), ..Options::default() };
    assert_eq!(imported(&files.at("edges.csv"), &labels).unwrap().0.labels, [NO_LABEL, 1, 1]);
    // An empty line is no label: which node it belongs to is anyone's guess.
    files.write("labels.csv", b"1\n\n1\n");
    assert_eq!(
        imported(&files.at("edges.csv"), &labels).unwrap_err(),
        "labels.csv: line 2 is empty, but lines with values follow"
    );
}

#[test]
fn sources_that_are_none() {
    let accepted = "accepted is an OGB folder (raw/edge.csv.gz), reddit_data.npz with reddit_graph.npz, a folder of arrays \
                    (indptr.npy with indices.npy, edge_index.npy, or raw_indptr.npy as of Planetoid), one file of arrays \
                    (.npz, .pt or .safetensors), or the file of a graph";
    let refusal = |files: Files| imported(files.path(), &Options::default()).unwrap_err();
    assert_eq!(
        refusal(Files::new([])),
        format!("this is nothing that can be imported: a folder without any arrays; {accepted}")
    );
    assert_eq!(
        refusal(Files::new([("a/b/x.npy", vec![]), ("y.csv", vec![]), ("README.txt", vec![])])),
        format!("this is nothing that can be imported: a folder with a/b/x.npy, y.csv; {accepted}")
    );
    assert_eq!("OGB".parse(), Ok(Source::Ogb));
    let kind = |name: &str| name.parse::<Source>().unwrap_err().to_string();
    let kinds = "give one of ogb, reddit, planetoid, folder, arrays, edges";
    assert_eq!(kind("obg"), format!("there is no kind of data set 'obg'; {kinds}"));
    assert_eq!(
        kind("csv"),
        format!("there is no kind of data set 'csv'; {kinds} (csv is the format of a graph: --graph-format csv)")
    );
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    let files = Files::new([("e.csv", b"0,1\n".to_vec()), ("out/feat.npy", vec![1]), ("out/notes.txt", vec![2])]);
    let import = |overwrite: bool| {
        let options = Options { overwrite, ..Options::default() };
        import::import(&files.at("e.csv"), &files.at("out"), &options, &Silent)
            .map_err(|error| sentence(&error, files.path()))
    };
    assert_eq!(
        import(false).unwrap_err(),
        "out: this folder that is not empty is there already; give another name, or ask for it to be overwritten"
    );
    files.write("e.csv", b"0,x\n");
    import(true).unwrap_err();
    assert_eq!(fs::read(files.at("out/feat.npy")).unwrap(), [1]);
    files.write("e.csv", b"0,1\n");
    import(true).unwrap();
    // What was part of a data set is gone; what was not stays.
    let mut names: Vec<_> = fs::read_dir(files.at("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["indices.npy", "indptr.npy", "notes.txt"]);
    let error =
        import::import(&files.at("out"), &files.at("out"), &Options { overwrite: true, ..Options::default() }, &Silent);
    assert_eq!(
        sentence(&error.unwrap_err(), files.path()),
        "out: this is nothing that can be imported: it would replace itself; accepted is another folder to write to"
    );
}

test_support::properties! {
    /// An edge list becomes the graph that a naive reading makes of it.
    #[test]
    fn edge_lists(
        list in prop::collection::vec((0..12u32, 0..12u32), 1..60),
        symmetrise in any::<bool>(),
        remove_self_loops in any::<bool>(),
        gz in any::<bool>(),
    ) {
        let text = list.iter().fold(String::new(), |text, (source, destination)| text + &format!("{source} {destination}\n"));
        let (name, bytes) = if gz { ("e.txt.gz", gzip(text.as_bytes())) } else { ("e.txt", text.into_bytes()) };
        let files = Files::new([(name, bytes)]);
        let reading = ReadOptions { nodes: Some(12), ..ReadOptions::default() };
        let options = Options { symmetrise, remove_self_loops, reading, ..Options::default() };
        let (dataset, _) = imported(&files.at(name), &options).unwrap();

        // (destination, source) sorts as the arrays do.
        let mut expected: Vec<_> = list.iter().map(|&(s, d)| (d, s)).filter(|(d, s)| !remove_self_loops || d != s).collect();
        if symmetrise {
            let both: BTreeSet<_> = expected.iter().flat_map(|&(d, s)| [(d, s), (s, d)]).collect();
            expected = both.into_iter().collect();
        }
        expected.sort_unstable();
        let found: Vec<_> = arcs(&dataset).into_iter().map(|(s, d)| (d, s)).collect();
        prop_assert_eq!(found, expected);
    }
}
