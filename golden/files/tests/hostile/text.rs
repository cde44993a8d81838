//! Edge lists: what is refused, and what is read and how.

use golden::NodeId;
use golden_files::{Format, read::ReadOptions};

use super::{PLAIN, gzip, noted, read_with, refusal};

/// Nodes and arcs of a file, in the order of the destinations.
fn arcs_with(name: &str, text: &str, options: &ReadOptions) -> (usize, Vec<(u32, u32)>) {
    let graph = read_with(name, text.as_bytes(), options).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    (graph.nodes(), graph.arcs().map(|(u, v)| (u.get(), v.get())).collect())
}

fn arcs(name: &str, text: &str) -> (usize, Vec<(u32, u32)>) {
    arcs_with(name, text, &PLAIN)
}

/// What is said of a file that is read.
fn notes(name: &str, text: &str, options: &ReadOptions) -> Vec<String> {
    noted(name, text.as_bytes(), options).1
}

#[test]
fn edge_lists() {
    let ids = "accepted are whole numbers 0 to 2147483646";
    let place = |line: u64, found: &str, column: usize| {
        format!("line {line} has {found:?} in column {column}, where a node id belongs; {ids}")
    };
    let one = "accepted is 'source destination', two node ids, on each line";
    let ragged = "an edge list has the same columns on every line, and adjacency lists are read in METIS's format";
    let long = [b"0 1\n".to_vec(), b"1".repeat(1 << 17)].concat();
    let cases: [(&[u8], String); 29] = [
        (b"", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"\n", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"# nothing\n\n", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"source target\n", "there is not one edge; for a graph of isolated nodes give the number of nodes".into()),
        (b"0 1\n1 two\n", place(2, "two", 2)),
        (b"alice bob\nbob carol\n", place(2, "bob", 1)),
        (b"7\n", format!(r#"line 1 is "7"; {one}"#)),
        (b"0 1\n\n7\n", format!("line 3 has 1 column, but line 1 has 2; {ragged}")),
        (b"0 1 2 3\n1 2 3\n2 3\n", format!("line 2 has 3 columns, but line 1 has 4; {ragged}")),
        (b"0 1\n1 2 3\n", format!("line 2 has 3 columns, but line 1 has 2; {ragged}")),
        (
            b"0 1 heavy\n",
            "line 1 has \"heavy\" in column 3, and no line names the columns; accepted are numbers there, or say which \
             columns are used"
                .into(),
        ),
        (b"0,,1\n", place(1, "", 2)),
        (b"0,1;\n", place(1, "1;", 2)),
        (b"0 nan\n", place(1, "nan", 2)),
        (b"0x1f 1\n", place(1, "0x1f", 1)),
        (b"\"1,000\",2\n", place(1, "1,000", 1)),
        (b"1_000 2\n", place(1, "1_000", 1)),
        (b"0 -1\n", format!("line 1 has node id -1; {ids}")),
        (b"-0.0 1\n", format!("line 1 has node id -0.0; {ids}")),
        (b"0 1.5\n", format!("line 1 has node id 1.5; {ids}")),
        (b"0 1e10\n", format!("line 1 has node id 1e10; {ids}")),
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
        (b"0 1\x0b1 2\n", format!("line 1 has \"1\\u{{b}}1\" in column 2, where a node id belongs; {ids}")),
        ("0 1\u{2028}1 2\n".as_bytes(), format!("line 1 has \"1\\u{{2028}}1\" in column 2, where a node id belongs; {ids}")),
        (b"0 1\n\0\0\0\0", "line 2 has a NUL byte; text is read as UTF-8".into()),
    ];
    for (bytes, sentence) in cases {
        // Some are refused for another reason if a third column shows up.
        assert_eq!(refusal("a.txt", bytes), format!("a.txt: {sentence}"));
        assert_eq!(refusal("a.csv", bytes), format!("a.csv: {sentence}"));
    }
    assert_eq!(refusal("a.csv", b"source,target\nx,y\n"), format!("a.csv: {}", place(2, "x", 1)));
    assert_eq!(refusal("a.csv", b"source,7\n0,1\n"), format!("a.csv: {}", place(1, "source", 1)));
    for (text, found) in [
        ("src\tdst\n0 1\n", "1 column between tabs"),
        ("0,1\n1 2\n", "1 column between commas"),
        ("0;1\n1;2;3\n", "3 columns between semicolons"),
    ] {
        let sentence = format!("a.txt: line 2 has {found}, but line 1 has 2; {ragged}");
        assert_eq!(refusal("a.txt", text.as_bytes()), sentence);
    }
    for text in ["{\"nodes\": [1]}\n", "<?xml version=\"1.0\"?>\n<graphml>\n"] {
        let wide = ReadOptions { nodes: Some(3), ..PLAIN };
        assert!(read_with("a.txt", text.as_bytes(), &wide).unwrap_err().contains(" where a node id belongs"), "{text}");
    }
    assert_eq!(refusal("a.txt", b"\xff\xfe0\0 \x001\0"), "a.txt: this is UTF-16 text; save it as UTF-8");
    assert_eq!(
        refusal("a.edges", b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
        "a.edges: its header is that of format 'mtx', but it is read as an edge list; name the format"
    );
    assert_eq!(
        refusal("a.txt", b"# Nodes: 2000000000 Edges: 1\n0 1\n"),
        "a.txt: its header makes it a graph of 2000000000 nodes, but there are only 1 edges; number the nodes without \
         gaps, or give the number of nodes if so many isolated ones are meant"
    );
}

#[test]
fn edge_lists_as_they_are_found() {
    // In the order of the file within each destination.
    let expected = (4, vec![(3, 1), (0, 1), (3, 1), (1, 2)]);
    for (name, text) in [
        ("a.txt", "# one\n3 1\n1 2\n% two\n0\t1\n\n  3   1"),
        ("a.edges", "3,1\r\n1,2\r\n0,1\r\n3,1\r\n"),
        ("a.edgelist", "3 1\r1 2\r0 1\r3 1\r"),
        ("a.el", "3 1 0.5\n1 2 -1e9\n0 1 .25\n3 1 +3\n"),
        ("a.wel", "3 1 nan\n1 2 -inf\n0 1 1\n3 1 NaN\n"),
        ("a.csv", "\u{feff}source, target, weight\n3, 1, 0.5\n1, 2, 1\n0, 1, 2\n3, 1, 2\n"),
        ("a.tsv", "3\t1\n1\t2\n0\t1\n3\t1\n"),
        ("a.tsv", "src\tdst\n3\t1\n1\t2\n0\t1\n3\t1\n"),
        ("a.txt", "source target\n3 1\n1 2\n0 1\n3 1\n"),
        ("a.edgelist", "3 1 {}\n1 2 {'weight': 1.0, 'since': 'May'}\n0 1 {}\n3 1 {}\n"),
        ("a.csv", "3,1,{}\n1,2,{'a': 1, 'b': 2}\n0,1,{}\n3,1,{}\n"),
        ("a.csv", "src;dst\n3;1\n1;2\n0;1\n3;1\n"),
        ("a.csv", "3;1;0,5\n1;2;1,5\n0;1;0\n3;1;0\n"),
        ("a.csv", "src_id,dst_id,train_mask\n3,1,True\n1,2,False\n0,1,false\n3,1,True\n"),
        ("a.txt", "3.000e+00 1.000e+00\n1.0 2.\n0 1\n+3 1\n"),
        ("a.csv", "\"source\",\"target\"\n\"3\",\"1\"\n\"1\",2\n0,\"1\"\n3,1\n"),
        ("a.csv", "3,1,\n1,2,\n0,1,\n3,1,\n"),
        ("a.csv", "source,target\n3,1,\n1,2\n0,1,\n3,1\n"),
        ("a.csv", "Id,Source,Target,Label\n0,3,1,\"a, b\"\n1,1,2,\"two\nlines\"\n2,0,1,\n3,3,1,x\n"),
        ("a.csv", ",source,target\n0,3,1\n1,1,2\n2,0,1\n3,3,1\n"),
        ("a.csv", "target,source\n1,3\n2,1\n1,0\n1,3\n"),
        ("a.tsv", "name\tto\tfrom\nAnn Lee\t1\t3\nBob\t2\t1\n\t1\t0\nD. E.\t1\t3\n"),
        ("a.txt", "# FromNodeId\tToNodeId\tSign\n3\t1\t-1\n1\t2\t1\n0\t1\t1\n3\t1\t1\n"),
        ("a.txt", "# to from\n1 3\n2 1\n1 0\n1 3\n"),
        ("a.txt", "\"source\" \"target\"\n\"3\" \"1\"\n1 2\n0 1\n3 1\n"),
        ("out.net-work", "% asym unweighted\n4 2\n2 3\n1 2\n4 2\n"),
        ("a.txt.gz", "3 1\n1 2\n0 1\n3 1\n"),
    ] {
        assert_eq!(arcs(name, text), expected, "{name}: {text:?}");
        let packed = read_with("packed.dat", &gzip(text.as_bytes()), &PLAIN).unwrap();
        assert_eq!(packed.arcs().map(|(u, v)| (u.get(), v.get())).collect::<Vec<_>>(), expected.1);
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
    assert_eq!(read_with("a.strange", b"0 1\n", &forced).unwrap().edges(), 1);
}

#[test]
fn columns_are_said_or_asked_for() {
    let said = |text: &str| notes("a.csv", text, &PLAIN);
    let columns = |text: &str| format!("a.csv: columns used: {text}");
    assert!(said("0,1\n2,3\n").is_empty());
    assert!(said("source,target\n0,1\n2,3\n").is_empty());
    assert!(said("# source target\n0 1\n2 3\n").is_empty());
    assert_eq!(said("source,target,weight\n0,1,5\n"), [columns("source (1), target (2); passed over: weight")]);
    assert_eq!(said("target,source\n0,1\n"), [columns("source (2), target (1)")]);
    assert_eq!(said(",source,target\n5,0,1\n"), [columns("source (2), target (3); passed over: column 1")]);
    assert_eq!(said("a,b\n0,1\n"), [columns("a (1) as source, b (2) as destination; if others are meant, say which")]);
    assert_eq!(
        said("a,source\n0,1\n"),
        [columns("source (2) as source, a (1) as destination; if others are meant, say which")]
    );
    assert_eq!(
        said("5,1,2\n"),
        [columns("1 as source, 2 as destination; passed over: 3; if others are meant, say which")]
    );
    let many = format!("source,target{}\n0,1{}\n", ",w".repeat(20), ",0".repeat(20));
    assert_eq!(said(&many), [columns("source (1), target (2); passed over: w, w, w, w, w, w, w, w and 12 more")]);

    let refused = |text: &str| refusal("a.csv", text.as_bytes());
    let names = |text: &str| format!("a.csv: line 1 names the columns {text}; say which are used");
    assert_eq!(
        refused("a,b,c\n0,1,2\n"),
        names(r#"["a", "b", "c"], of which no two are known as source and destination"#)
    );
    assert_eq!(
        refused("source,src,target\n0,1,2\n"),
        names(r#"["source", "src", "target"], of which several may be source or destination"#)
    );
    let both = "in graph theory an arc goes from tail to head, in a knowledge graph from head to tail";
    assert_eq!(refused("head,tail\n0,1\n"), names(&format!(r#"["head", "tail"]: {both}"#)));
    assert_eq!(refused("head,r,tail\n0,1,2\n"), names(&format!(r#"["head", "r", "tail"]: {both}"#)));

    let asked = |text: &str| ReadOptions { columns: Some(text.parse().unwrap()), ..PLAIN };
    for (text, columns) in [
        ("head,r,tail\n0,9,1\n2,9,1\n", "head,tail"),
        ("a b,c,d\nx,0,1\ny,2,1\n", "2,3"),
        ("d,c,a b\n1,0,x\n1,2,y\n", "C,D"),
        ("7,0,1,heavy\n8,2,1,light\n", "2,3"),
        ("source,target,real source\n5,1,0\n5,1,2\n", "real_source,target"),
    ] {
        assert_eq!(arcs_with("a.csv", text, &asked(columns)), (3, vec![(0, 1), (2, 1)]), "{text}");
        assert!(notes("a.csv", text, &asked(columns)).is_empty(), "{text}");
    }
    let wrong = |text: &str, columns: &str| read_with("a.csv", text.as_bytes(), &asked(columns)).unwrap_err();
    assert_eq!(
        wrong("a,b,c\n0,1,2\n", "a,x"),
        r#"a.csv: there is no column "x"; accepted are numbers 1 to 3, or one of the names ["a", "b", "c"]"#
    );
    assert_eq!(
        wrong("0,1,2\n", "1,4"),
        "a.csv: there is no column 4; accepted are numbers 1 to 3, because no line names the columns"
    );
    assert_eq!(wrong("a,b\n0,1\n", "a,1"), "a.csv: source and destination are both column 1; give two columns");
    assert_eq!(
        read_with("a.mtx", b"", &asked("1,2")).unwrap_err(),
        "a.mtx: columns are given, but format 'mtx' settles that; edge lists leave it open"
    );
}

#[test]
fn what_a_file_says_of_itself_is_said() {
    let said = |text: &str| notes("a.txt", text, &PLAIN);
    let symmetrise = ReadOptions { symmetrise: true, ..PLAIN };
    let arc = "and each line was read as one arc; if an edge is on one line only, have the reverse arcs added";
    for (text, says) in [
        ("# Undirected graph: b.txt\n0 1\n", r#"its header says "Undirected graph: b.txt""#),
        ("% sym unweighted\n1 2\n", r#"its header says "sym unweighted", an undirected network"#),
    ] {
        assert_eq!(said(text), [format!("a.txt: {says}, {arc}")]);
        assert!(notes("a.txt", text, &symmetrise).is_empty());
    }
    let gephi = "Source,Target,Type\n0,1,Undirected\n1,2,undirected\n2,0,Directed\n";
    assert_eq!(said(gephi)[1], format!("a.txt: column Type says of 2 of 3 edges that they are undirected, {arc}"));
    assert_eq!(notes("a.txt", gephi, &symmetrise).len(), 1);
    assert!(said("# Directed graph (each unordered pair of nodes is saved once)\n0 1\n").is_empty());

    let counts = |text: &str| {
        let header = "# Nodes: 3 Edges: 2\n".to_owned() + text;
        said(&header).into_iter().find(|note| note.contains("states"))
    };
    let states = |found: &str| Some(format!("a.txt: its header states 3 nodes and 2 edges, but there are {found}"));
    assert_eq!(counts("0 1\n1 2\n"), None);
    assert_eq!(counts("0 1\n1 5\n"), None, "SNAP counts nodes with edges only");
    assert_eq!(counts("0 1\n1 0\n"), None, "node 2 is isolated");
    assert_eq!(arcs("a.txt", "# Nodes: 3 Edges: 2\n0 1\n1 0\n").0, 3);
    assert_eq!(counts("0 1\n"), states("3 nodes and 1 edges"));
    assert_eq!(counts("0 1\n2 3\n"), states("4 nodes and 2 edges"));
    assert_eq!(
        said("% asym unweighted\n% 3 2 2\n1 2\n"),
        ["a.txt: its header states 2 nodes and 3 edges, but there are 2 nodes and 1 edges"]
    );
    let wide = ReadOptions { nodes: Some(9), ..PLAIN };
    assert!(
        notes("a.txt", "# Nodes: 3 Edges: 1\n1 2\n", &wide).is_empty() && notes("a.txt", "1 2\n", &wide).is_empty()
    );
    assert_eq!(
        notes("a.txt", "# Nodes: 3 Edges: 2\n0 1\n", &wide),
        ["a.txt: its header states 2 edges, but there are 1 edges"]
    );
    assert_eq!(arcs("a.txt", "# Nodes: 5 Edges: 0\n"), (5, vec![]));
    assert_eq!(arcs("a.txt", "# Nodes: 0 Edges: 0\n"), (0, vec![]));

    assert_eq!(said("1 2\n2 3\n"), ["a.txt: node 0 has no edge, but all 3 others have one; if ids start at 1, say so"]);
    assert!(said("1 2\n2 4\n").is_empty());
    assert!(said("# Nodes: 4 Edges: 2\n1 2\n2 3\n").is_empty());
    assert_eq!(
        said("3 2\n0 1\n1 2\n"),
        [
            "a.txt: line 1, \"3 2\", was read as an arc, but is also the number of nodes and of edges that follow; if it states \
          them, remove it"
        ]
    );
    let counting = |text: &str| said(text).into_iter().any(|note| note.contains("counts the lines"));
    assert!(counting("0 5 3\n1 7 2\n2 0 1\n") && counting("1 5 3\n2 7 2\n"));
    assert!(!counting("0 5 0.5\n1 7 2\n") && said("0 1 {}\n1 2 {'weight': 1.0}\n").is_empty());
    assert!(!counting("0 5 3\n2 7 2\n") && !counting("0 1\n1 2\n2 3\n") && !counting("2 5 1\n3 5 1\n"));

    let graphs = "graph_id,src_id,dst_id\n0,0,1\n0,1,2\n1,0,1\n";
    assert_eq!(
        refusal("a.csv", graphs.as_bytes()),
        r#"a.csv: line 4 is of graph "1", line 2 of graph "0"; a file of one graph is accepted"#
    );
    assert_eq!(arcs("a.csv", &graphs.replace("1,0,1\n", "0,2,0\n")).1.len(), 3);
    // All of them as one, if their columns are named outright.
    let columns = ReadOptions { columns: Some("src_id,dst_id".parse().unwrap()), ..PLAIN };
    assert_eq!(arcs_with("a.csv", graphs, &columns).1.len(), 3);
    assert_eq!(
        said("% asym positive\n% 2 3 3\n1 2 5 77\n2 3 5 78\n"),
        ["a.txt: columns used: 1, 2; passed over: 3, 4"]
    );
}

#[test]
fn ids_start_where_it_is_said() {
    let first = |id| ReadOptions { first_id: Some(id), ..PLAIN };
    assert_eq!(arcs_with("a.txt", "1 2\n1 3\n", &first(1)), (3, vec![(0, 1), (0, 2)]));
    assert!(notes("a.txt", "1 2\n1 3\n", &first(1)).is_empty());
    assert_eq!(arcs_with("a.txt", "1 2\n1 3\n", &first(0)), (4, vec![(1, 2), (1, 3)]));
    assert!(notes("a.txt", "1 2\n1 3\n", &first(0)).is_empty());
    let konect = "% sym unweighted\n% 2 3 3\n1 2\n1 3\n";
    assert_eq!(arcs("a.txt", konect), (3, vec![(0, 1), (0, 2)]));
    assert_eq!(arcs_with("a.txt", konect, &first(0)).0, 4);
    let zero = "ids start at 1: that was asked for, or the header is KONECT's";
    for (text, options) in [("1 2\n0 1\n", first(1)), ("% asym signed\n0 1\n", PLAIN)] {
        let error = read_with("a.txt", text.as_bytes(), &options).unwrap_err();
        assert_eq!(error, format!("a.txt: line 2 has node id 0, but {zero}"));
    }
    let narrow = ReadOptions { nodes: Some(3), ..first(1) };
    assert_eq!(
        read_with("a.txt", b"1 4\n", &narrow).unwrap_err(),
        "a.txt: line 1 has node id 4; accepted are whole numbers 1 to 3"
    );
    assert_eq!(arcs_with("a.txt", "1 3\n", &narrow), (3, vec![(0, 2)]));
    assert_eq!(
        read_with("a.graph", b"0 0\n", &first(1)).unwrap_err(),
        "a.graph: the first id is given, but format 'metis' settles that; edge lists leave it open"
    );
}

#[test]
fn bipartite_networks_of_konect() {
    let text = "% bip unweighted\n% 3 2 2\n1 1\n1 2\n2 1\n";
    assert_eq!(arcs("a.txt", text), (4, vec![(0, 2), (1, 2), (0, 3)]));
    let moved = "its header says bipartite: column 1 numbers 2 nodes, column 2 2 others, whose ids were moved up by 2";
    assert_eq!(
        notes("a.txt", text, &PLAIN),
        [format!("a.txt: {moved}; for arcs in both directions, have the reverse ones added")]
    );
    let symmetrise = ReadOptions { symmetrise: true, ..PLAIN };
    assert_eq!(notes("a.txt", text, &symmetrise), [format!("a.txt: {moved}")]);
    assert_eq!(arcs_with("a.txt", text, &symmetrise).1.len(), 6);
    // Without the counts, with isolated nodes, and with the columns the other way round.
    assert_eq!(arcs("a.txt", "% bip unweighted\n1 1\n3 2\n"), (5, vec![(0, 3), (2, 4)]));
    assert_eq!(arcs("a.txt", "% bip unweighted\n% 1 3 4\n1 1\n"), (7, vec![(0, 3)]));
    let back = ReadOptions { columns: Some("2,1".parse().unwrap()), ..PLAIN };
    assert_eq!(arcs_with("a.txt", text, &back), (4, vec![(2, 0), (3, 0), (2, 1)]));
    let wide = ReadOptions { nodes: Some(9), ..PLAIN };
    assert_eq!(arcs_with("a.txt", text, &wide).0, 9);
    let narrow = ReadOptions { nodes: Some(3), ..PLAIN };
    assert_eq!(
        read_with("a.txt", text.as_bytes(), &narrow).unwrap_err(),
        "a.txt: the number of nodes is given as 3, but the file is for 4"
    );
    assert_eq!(
        refusal("a.txt", b"% bip unweighted\n% 1 2 2\n3 1\n"),
        "a.txt: line 3 has node id 3; accepted are whole numbers 1 to 2"
    );
    let more = notes("a.txt", "% bip unweighted\n% 1 2 2\n2 3\n", &PLAIN);
    assert_eq!(more[1], "a.txt: its header states 4 nodes and 1 edges, but there are 5 nodes and 1 edges");
    assert_eq!(
        refusal("a.txt", b"% bip unweighted\n% 1 2000000000 2000000000\n1 1\n"),
        "a.txt: the graph has 4000000000 nodes; at most 2147483647 (2^31 - 1) are possible with int32 outputs"
    );
}

#[test]
fn metis_graphs() {
    let read = |text: &str| arcs("a.graph", text);
    let path = (3, vec![(1, 0), (2, 1), (0, 1), (1, 2)]);
    for text in [
        "3 2\n2\n3 1\n2\n",
        "% comment\n3 2 0\n2\n% another\n3 1\r\n2",
        "3 2 1\n2 7\n3 7 1 7\n2 7\n",
        "3 2 10\n5 2\n5 3 1\n5 2\n",
        "3 2 011 2\n5 5 2 7\n5 5 3 7 1 7\n5 5 2 7\n",
        "3 2 111 2\n9 5 5 2 7\n9 5 5 3 7 1 7\n9 5 5 2 7\n",
        "3 2 100\n9 2\n9 3 1\n9 2\n\n% end\n\n",
    ] {
        assert_eq!(read(text), path, "{text:?}");
    }
    // Empty lines are nodes without neighbours.
    assert_eq!(read("4 1\n\n4\n\n2\n"), (4, vec![(3, 1), (1, 3)]));
    assert_eq!(read("2 0\n\n\n"), (2, vec![]));
    assert_eq!(read("0 0\n"), (0, vec![]));

    let header = "'nodes edges', two whole numbers, and what METIS has after them: FMT, three digits 0 or 1, and NCON";
    let lines = "each of which has one line, which may be empty";
    for (text, sentence) in [
        ("", format!("there is no size line; it must be {header}")),
        ("3\n", format!(r#"line 1 is "3"; accepted is {header}"#)),
        ("3 2 7\n", format!(r#"line 1 is "3 2 7"; accepted is {header}"#)),
        ("3 2 1 2\n", format!(r#"line 1 is "3 2 1 2"; accepted is {header}"#)),
        ("3 2 0011\n", format!(r#"line 1 is "3 2 0011"; accepted is {header}"#)),
        ("a b\n", format!(r#"line 1 is "a b"; accepted is {header}"#)),
        (
            "3000000000 0\n",
            "the graph has 3000000000 nodes; at most 2147483647 (2^31 - 1) are possible with int32 outputs".into(),
        ),
        ("3 2\n2\n3 1\n", format!("there are lines for 2 nodes, but the header says 3 nodes, {lines}")),
        ("2147483647 0\n", format!("there are lines for 0 nodes, but the header says 2147483647 nodes, {lines}")),
        ("2 1\n2\n1\n1\n", format!("line 4 is one more, but the header says 2 nodes, {lines}")),
        ("2 1\n3\n1\n", "line 2 has node id 3; accepted are whole numbers 1 to 2".into()),
        ("2 1\n0\n1\n", "line 2 has node id 0; accepted are whole numbers 1 to 2".into()),
        ("2 1\n2 x\n1\n", "line 2 has node id x; accepted are whole numbers 1 to 2".into()),
        ("2 1\n2\n2\n", "line 3 has node 2 as its own neighbour; METIS's graphs have no self-loops".into()),
        (
            "3 3\n2\n3 1\n2\n",
            "there are 4 neighbours on all lines, but the header says 3 edges, each of which is on two lines".into(),
        ),
        (
            "3 2\n2 3\n3 1\n\n",
            "node 3 is a neighbour of node 1, but not the other way round as often; METIS's graphs are undirected"
                .into(),
        ),
        (
            "2 1 1\n2\n1 3\n",
            "line 2 ends after neighbour 2; the header says that a weight follows each neighbour".into(),
        ),
        ("2 1 1\n2 x\n1 3\n", r#"line 2 has the value "x"; accepted are numbers, nan and inf"#.into()),
        ("2 1 10\n\n1 1\n", "line 2 is too short: the header says that 1 numbers stand before the neighbours".into()),
        ("2 1\n2\0\n1\n", "line 2 has a NUL byte; text is read as UTF-8".into()),
    ] {
        assert_eq!(refusal("a.graph", text.as_bytes()), format!("a.graph: {sentence}"), "{text:?}");
    }
    // A line longer than those of other formats.
    let hub = (2..=30_000).fold("30000 29999\n".to_owned(), |text, node| text + &format!("{node} "));
    let star = hub + "\n" + &"1\n".repeat(29_999);
    assert_eq!(read(&star).1.len(), 2 * 29_999);
}

#[test]
fn matrix_market() {
    let banner = "accepted is '%%MatrixMarket matrix coordinate FIELD SYMMETRY'";
    let header = |words: &str| format!("%%MatrixMarket matrix {words}\n% comment\n\n");
    let general = header("coordinate pattern general");
    let cases = [
        (String::new(), format!(r#"the Matrix Market header says ""; {banner}"#)),
        ("3 3 1\n1 1\n".into(), format!(r#"the Matrix Market header says "3 3 1"; {banner}"#)),
        (
            header("array real general"),
            r#"the Matrix Market header says "array"; accepted is coordinate, a sparse matrix"#.into(),
        ),
        (
            header("coordinate quaternion general"),
            "the Matrix Market header says \"quaternion\"; accepted is pattern, real, double, integer, unsigned-integer and \
             complex"
                .into(),
        ),
        (
            header("coordinate real triangular"),
            "the Matrix Market header says \"triangular\"; accepted is general, symmetric, skew-symmetric and hermitian"
                .into(),
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
        (general.clone() + "3 3 1\n1 2\n2 3\n", "there are 2 entries, but the size line says 1".into()),
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
            header("coordinate real general") + "3 3 1\n1 2 x\n",
            r#"line 5 has the value "x"; accepted are numbers, nan and inf"#.into(),
        ),
        (
            header("coordinate complex general") + "3 3 1\n1 2 1\n",
            r#"line 5 is "1 2 1"; accepted is 'row column real imaginary'"#.into(),
        ),
        (
            header("coordinate real skew-symmetric") + "3 3 1\n2 2 0\n",
            r#"line 5 is "2 2 0"; accepted is an entry off the diagonal, for the header says skew-symmetric"#.into(),
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal("a.mtx", text.as_bytes()), format!("a.mtx: {sentence}"));
    }
    let arcs = |text: &str| arcs("a.mtx", text);
    for (words, entries, expected) in [
        ("coordinate pattern general", "1 2\n3 1\n1 2", vec![(2, 0), (0, 1), (0, 1)]),
        ("coordinate real general", "1 2 nan\n2 3 -Inf\n3 3 1.0D+02", vec![(0, 1), (1, 2), (2, 2)]),
        ("coordinate integer general", "1 2 0\n2 1 -3\n\n% c\n3 1 0", vec![(1, 0), (2, 0), (0, 1)]),
        ("coordinate unsigned-integer general", "1 2 1\n2 3 1\n3 3 18446744073709551615", vec![(0, 1), (1, 2), (2, 2)]),
        ("coordinate complex general", "1 2 1 0\n2 3 1 nan\n3 3 0 0", vec![(0, 1), (1, 2), (2, 2)]),
        ("Coordinate Real SYMMETRIC", "2 1 0.5\n3 3 1\n3 1 0", vec![(1, 0), (2, 0), (0, 1), (2, 2), (0, 2)]),
        ("coordinate real skew-symmetric", "2 1 1\n3 2 1\n3 1 1", vec![(1, 0), (2, 0), (0, 1), (2, 1), (1, 2), (0, 2)]),
        ("coordinate complex hermitian", "2 1 1 1\n2 2 1 0\n3 1 0 1", vec![(1, 0), (2, 0), (0, 1), (1, 1), (0, 2)]),
        // Above the diagonal, and the same entry twice.
        ("coordinate pattern symmetric", "1 2\n1 2\n2 3", vec![(1, 0), (1, 0), (0, 1), (0, 1), (2, 1), (1, 2)]),
    ] {
        for percent in ["%", "%%"] {
            let text = format!("{percent}MatrixMarket matrix {words}\n%\n\n3 3 3\n{entries}\n");
            assert_eq!(arcs(&text), (3, expected.clone()), "{text}");
            assert!(notes("a.mtx", &text, &PLAIN).is_empty(), "{text}");
        }
    }
    let both = header("coordinate pattern symmetric") + "3 3 2\n1 2\n3 1\n";
    assert_eq!(arcs(&both).1.len(), 4);
    assert_eq!(
        notes("a.mtx", &both, &PLAIN),
        [
            "a.mtx: the header says symmetric, and line 5 is above the diagonal, line 6 below it; each entry was mirrored, so an \
          edge that is on both sides has parallel arcs"
        ]
    );
    let symmetric = header("coordinate real symmetric") + "3 3 2\n2 1 0.5\n3 3 1\n";
    let graph = read_with("a.mtx", symmetric.as_bytes(), &PLAIN).unwrap();
    assert_eq!((graph.indptr(), graph.indices()), (&[0, 1, 2, 3][..], &[1, 0, 2].map(NodeId::new)[..]));
}
