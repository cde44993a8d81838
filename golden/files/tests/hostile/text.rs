//! Edge lists and Matrix Market files.

use golden::NodeId;
use golden_files::{Format, read::ReadOptions};

use super::{PLAIN, read_with, refusal};

#[test]
fn edge_lists() {
    let line = "accepted is 'source destination', two node ids, and further columns that are numbers";
    let ids = "accepted are whole numbers 0 to 2147483646";
    let long = [b"0 1\n".to_vec(), b"1".repeat(1 << 17)].concat();
    let cases: [(&[u8], String); 20] = [
        (b"", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"# nothing\n\n", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"0 1\n1 two\n", format!(r#"line 2 is "1 two"; {line}"#)),
        (b"source target\n0 1\n", format!(r#"line 1 is "source target"; {line}"#)),
        (b"0 1\n\n7\n", format!(r#"line 3 is "7"; {line}"#)),
        (b"0 1 heavy\n", format!(r#"line 1 is "0 1 heavy"; {line}"#)),
        (b"0,,1\n", format!(r#"line 1 is "0,,1"; {line}"#)),
        (b"0;1\n", format!(r#"line 1 is "0;1"; {line}"#)),
        (b"0 nan\n", format!(r#"line 1 is "0 nan"; {line}"#)),
        (b"0 -1\n", format!("line 1 has node id -1; {ids}")),
        (b"0 1.0\n", format!("line 1 has node id 1.0; {ids}")),
        (b"0 2147483647\n", format!("line 1 has node id 2147483647; {ids}")),
        (b"0 1\n99999999999999999999999999 1\n", format!("line 2 has node id 99999999999999999999999999; {ids}")),
        (
            b"0 1\n0 2147483646\n",
            "line 2 makes it a graph of 2147483647 nodes, but there are only 2 edges; number the nodes without gaps, or \
             give the number of nodes if so many isolated ones are meant"
                .into(),
        ),
        (b"0 1\n\xff\xfe 1\n", "line 2 is not UTF-8; graphs are read from plain text".into()),
        (&long, "line 2 is longer than 65536 bytes; no line may be".into()),
        // Lines that end as on no system of today would else be one line with further columns.
        (b"0 1\r1 2\r2 0\r", format!(r#"line 1 is "0 1\r1 2\r2 0"; {line}"#)),
        (b"0 1\x0b1 2\n", format!(r#"line 1 is "0 1\u{{b}}1 2"; {line}"#)),
        ("0 1\u{2028}1 2\n".as_bytes(), format!(r#"line 1 is "0 1\u{{2028}}1 2"; {line}"#)),
        (b"0 1\n\0\0\0\0", format!(r#"line 2 is "\0\0\0\0"; {line}"#)),
    ];
    for (bytes, sentence) in cases {
        assert_eq!(refusal("a.txt", bytes), format!("a.txt: {sentence}"));
    }
    assert_eq!(refusal("a.csv", b"source,target\nx,y\n"), format!(r#"a.csv: line 2 is "x,y"; {line}"#));
    assert_eq!(refusal("a.csv", b"source,7\n0,1\n"), format!(r#"a.csv: line 1 is "source,7"; {line}"#));
}

#[test]
fn edge_lists_as_they_are_found() {
    let arcs = |name: &str, text: &str| {
        let graph = read_with(name, text.as_bytes(), &PLAIN).unwrap();
        (graph.nodes(), graph.arcs().map(|(u, v)| (u.get(), v.get())).collect::<Vec<_>>())
    };
    // In the order of the file within each destination.
    let expected = (4, vec![(3, 1), (0, 1), (3, 1), (1, 2)]);
    for (name, text) in [
        ("a.txt", "# one\n3 1\n1 2\n% two\n0\t1\n\n  3   1"),
        ("a.edges", "3,1\r\n1,2\r\n0,1\r\n3,1\r\n"),
        ("a.el", "3 1 0.5\n1 2 -1e9\n0 1 .25 17\n3 1 +3\n"),
        ("a.csv", "\u{feff}source, target, weight\n3, 1, 0.5\n1, 2, 1\n0, 1, 2\n3, 1, 2\n"),
        ("a.tsv", "3\t1\n1\t2\n0\t1\n3\t1\n"),
    ] {
        assert_eq!(arcs(name, text), expected, "{name}");
    }
    let wide = ReadOptions { nodes: Some(6), ..PLAIN };
    assert_eq!(read_with("a.txt", b"3 1\n", &wide).unwrap().nodes(), 6);
    assert_eq!(read_with("a.txt", b"", &wide).unwrap().nodes(), 6);
    let narrow = ReadOptions { nodes: Some(3), ..PLAIN };
    assert_eq!(
        read_with("a.txt", b"3 1\n", &narrow).unwrap_err(),
        "a.txt: line 1 has node id 3; accepted are whole numbers 0 to 2"
    );
    let forced = ReadOptions { format: Some(Format::EdgeList), ..PLAIN };
    assert_eq!(read_with("a.graph", b"0 1\n", &forced).unwrap().edges(), 1);
}

#[test]
fn matrix_market() {
    let banner = "accepted is '%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric'";
    let header = |words: &str| format!("%%MatrixMarket matrix {words}\n% comment\n\n");
    let general = header("coordinate pattern general");
    let cases = [
        (String::new(), format!(r#"the Matrix Market header says ""; {banner}"#)),
        ("3 3 1\n1 1\n".into(), format!(r#"the Matrix Market header says "3 3 1"; {banner}"#)),
        (header("array real general"), r#"the Matrix Market header says "array"; accepted is coordinate"#.into()),
        (
            header("coordinate complex general"),
            r#"the Matrix Market header says "complex"; accepted is pattern, real or integer"#.into(),
        ),
        (
            header("coordinate real skew-symmetric"),
            r#"the Matrix Market header says "skew-symmetric"; accepted is general or symmetric"#.into(),
        ),
        (general.clone(), "there is no size line; it must be 'rows columns entries', three whole numbers".into()),
        (
            general.clone() + "3 3\n",
            r#"line 4 is "3 3"; accepted is 'rows columns entries', three whole numbers"#.into(),
        ),
        (
            general.clone() + "3 4 1\n",
            "the matrix has 3 rows and 4 columns; the adjacency of a graph is square".into(),
        ),
        (
            general.clone() + "3000000000 3000000000 1\n",
            "the graph has 3000000000 nodes; at most 2147483647 (2^31 - 1) are possible with int32 outputs".into(),
        ),
        (general.clone() + "3 3 1\n0 1\n", "line 5 has node id 0; accepted are whole numbers 1 to 3".into()),
        (general.clone() + "3 3 1\n1 4\n", "line 5 has node id 4; accepted are whole numbers 1 to 3".into()),
        (general.clone() + "3 3 1\n1 2 0.5\n", r#"line 5 is "1 2 0.5"; accepted is 'row column'"#.into()),
        (general.clone() + "3 3 2\n1 2\n", "there are 1 entries, but the size line says 2".into()),
        (
            general.clone() + "2000000000 2000000000 1\n1 2\n",
            "line 4 makes it a graph of 2000000000 nodes, but there are only 1 edges; number the nodes without gaps, or \
             give the number of nodes if so many isolated ones are meant"
                .into(),
        ),
        (
            header("coordinate real general") + "3 3 1\n1 2\n",
            r#"line 5 is "1 2"; accepted is 'row column value'"#.into(),
        ),
        (
            header("coordinate pattern symmetric") + "3 3 1\n1 2\n",
            r#"line 5 is "1 2"; accepted is an entry on or below the diagonal, for the header says symmetric"#.into(),
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal("a.mtx", text.as_bytes()), format!("a.mtx: {sentence}"));
    }
    let symmetric = header("Coordinate Real SYMMETRIC") + "3 3 2\n2 1 0.5\n3 3 1\n";
    let graph = read_with("a.mtx", symmetric.as_bytes(), &PLAIN).unwrap();
    assert_eq!((graph.indptr(), graph.indices()), (&[0, 1, 2, 3][..], &[1, 0, 2].map(NodeId::new)[..]));
}
