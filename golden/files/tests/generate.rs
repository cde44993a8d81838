//! What generated graphs are like, and that they stay the same.

#![expect(clippy::cast_precision_loss, reason = "statistics of small graphs")]

use golden::{CscGraph, NodeId, Silent};
use golden_files::generate::{GraphSpec, SpecError};
use proptest::prelude::*;

fn graph(text: &str) -> CscGraph {
    let spec: GraphSpec = text.parse().unwrap();
    let graph = spec.generate(&Silent);
    assert_eq!((graph.nodes(), graph.edges()), (spec.nodes() as usize, spec.edges() as usize), "{text}");
    let ascending = graph.indptr().windows(2).all(|w| graph.indices()[w[0] as usize..w[1] as usize].is_sorted());
    assert!(ascending, "{text}: in-neighbours must ascend");
    graph
}

fn in_degrees(graph: &CscGraph) -> Vec<u32> {
    graph.indptr().windows(2).map(|w| w[1] - w[0]).collect()
}

/// FNV-1a over both arrays.
fn digest(graph: &CscGraph) -> u64 {
    let words = graph.indptr().iter().copied().chain(graph.indices().iter().map(|node| node.get()));
    words
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn graphs_stay_the_same() {
    let cases = [
        ("gen:power-law:shape=arxiv,scale=1/64,seed=7", 0xafd6_91e3_4e70_9548),
        ("gen:power-law:shape=products,scale=0.001,seed=7", 0xa6e7_7e88_6c97_9595),
        ("gen:power-law:nodes=1000,edges=8000,exponent=2.35,seed=7", 0xc044_9334_4222_2099),
        ("gen:rmat:scale=10,edges=5000,seed=7", 0x1d0b_813b_0f58_2092),
        ("gen:uniform:nodes=1000,edges=5000,seed=7", 0x1488_1d64_d095_47b5),
        ("gen:multi:nodes=500,seed=7", 0xc5b7_35d4_fdac_623f),
        ("gen:hub:nodes=300,hubs=4", 0x1f47_685c_8a40_9b4d),
        ("gen:star:nodes=5000", 0x2fb6_70e6_087b_c759),
        ("gen:path:nodes=10", 0x5b68_8b5d_9f96_034c),
        ("gen:empty:nodes=100", 0xcf57_df77_d633_c735),
    ];
    let found = cases.map(|(text, _)| (text, digest(&graph(text))));
    assert_eq!(found, cases, "graphs of a seed have changed, and with them every result that names one");
}

#[test]
fn seeds_differ() {
    for text in ["power-law:nodes=100,edges=400,exponent=2.5", "rmat:scale=7,edges=300", "uniform:nodes=100,edges=300"]
    {
        assert_ne!(graph(&format!("gen:{text},seed=1")), graph(&format!("gen:{text},seed=2")), "{text}");
        assert_eq!(graph(&format!("gen:{text}")), graph(&format!("gen:{text},seed=0")), "{text}");
    }
}

#[test]
fn power_laws_are_simple_and_symmetric() {
    for text in [
        "gen:power-law:shape=arxiv,scale=1/16,seed=3",
        "gen:power-law:shape=products,scale=1/256,seed=3",
        "gen:power-law:shape=reddit,scale=1/100,seed=3",
        "gen:power-law:nodes=2000,edges=900000,exponent=2.1",
        "gen:power-law:nodes=2,edges=0,exponent=3",
    ] {
        let graph = graph(text);
        // Coalesced and symmetric: making it so changes nothing.
        assert_eq!(graph.symmetrised().unwrap(), graph, "{text}");
        assert!(graph.arcs().all(|(u, v)| u != v), "{text}");
    }
}

#[test]
fn shapes_have_the_mean_degree_and_the_tail_of_their_data_set() {
    for (shape, scale, mean, exponent, offset) in
        [("arxiv", "1", 13.674, 2.5, 1.0), ("arxiv", "1/8", 13.674, 2.5, 1.0), ("products", "1/32", 50.517, 2.3, 180.0)]
    {
        let graph = graph(&format!("gen:power-law:shape={shape},scale={scale},seed=1"));
        let found = graph.edges() as f64 / graph.nodes() as f64;
        assert!((found / mean - 1.0).abs() < 0.01, "{shape} {scale}: mean degree {found}");

        // The degree of rank r goes as (r + offset)^(-1 / (exponent - 1)): two ranks tell the exponent.
        let mut degrees = in_degrees(&graph);
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        let (high, low) = (graph.nodes() / 100, graph.nodes() / 10);
        let ranks = (low as f64 + offset) / (high as f64 + offset);
        let found = 1.0 + ranks.ln() / (f64::from(degrees[high]) / f64::from(degrees[low])).ln();
        assert!((found - exponent).abs() < 0.15, "{shape} {scale}: exponent {found}");
    }
}

#[test]
fn hubs_are_anywhere() {
    for text in ["gen:power-law:shape=arxiv,scale=1/8,seed=5", "gen:rmat:scale=14,edges=200000,seed=5"] {
        let degrees = in_degrees(&graph(text));
        let mut by_degree: Vec<_> = (0..degrees.len()).collect();
        by_degree.sort_by_key(|&node| std::cmp::Reverse(degrees[node]));
        let in_first_half = by_degree[..200].iter().filter(|node| **node < degrees.len() / 2).count();
        assert!((60..140).contains(&in_first_half), "{text}: {in_first_half} of 200 hubs in the first half");
    }
}

#[test]
fn r_mat_falls_into_quarters_as_it_should() {
    // One level: the four cells of a 2 x 2 matrix, ids shuffled or not.
    let graph = graph("gen:rmat:scale=1,edges=100000,seed=1");
    let mut cells = [0; 4];
    graph.arcs().for_each(|(u, v)| cells[2 * u.index() + v.index()] += 1);
    cells.sort_unstable();
    for (found, expected) in cells.into_iter().zip([5_000, 19_000, 19_000, 57_000]) {
        assert!(i32::abs(found - expected) < 500, "{cells:?}");
    }
}

#[test]
fn regular_graphs() {
    let arcs = |text| graph(text).arcs().map(|(u, v)| (u.get(), v.get())).collect::<Vec<_>>();
    assert_eq!(arcs("gen:star:nodes=4"), [(1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 3)]);
    assert_eq!(arcs("gen:hub:nodes=3,hubs=2"), [(1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)]);
    assert_eq!(arcs("gen:path:nodes=3"), [(0, 1), (1, 2)]);
    for text in ["gen:empty:nodes=3", "gen:empty:nodes=0", "gen:star:nodes=1", "gen:path:nodes=1"] {
        assert_eq!(arcs(text), [], "{text}");
    }
    let multi = graph("gen:multi:nodes=500");
    let loops = multi.arcs().filter(|(u, v)| u == v).count();
    let mut distinct: Vec<(NodeId, NodeId)> = multi.arcs().collect();
    distinct.dedup();
    assert!(loops > 1000 && multi.edges() - distinct.len() > 1000, "{loops} self-loops, {} distinct", distinct.len());
}

#[test]
fn texts_that_are_refused_say_what_is_accepted() {
    let cases = [
        (
            "cora",
            "'cora' names no graph to generate; accepted are gen:KIND:KEY=VALUE,... with power-law, rmat, uniform, \
                  multi, hub, star, path or empty",
        ),
        (
            "gen:grid:nodes=4",
            "'gen:grid:nodes=4' names no graph to generate; accepted are gen:KIND:KEY=VALUE,... with \
                              power-law, rmat, uniform, multi, hub, star, path or empty",
        ),
        ("gen:star:", "nodes is missing; accepted is gen:star:nodes=N"),
        ("gen:star:nodes=5,", "'' is not understood; accepted is gen:star:nodes=N"),
        ("gen:star:nodes=5,seed=1", "'seed=1' is not understood; accepted is gen:star:nodes=N"),
        ("gen:star:nodes=5,nodes=6", "nodes is given twice; accepted is gen:star:nodes=N"),
        ("gen:star:nodes=0", "nodes=0 is not possible; accepted are whole numbers 1 to 1073741823"),
        ("gen:path:nodes=x", "nodes=x is not possible; accepted are whole numbers 1 to 2147483647"),
        ("gen:empty:nodes=2147483648", "nodes=2147483648 is not possible; accepted are whole numbers 0 to 2147483647"),
        ("gen:hub:nodes=5,hubs=6", "hubs=6 is not possible; accepted are whole numbers 1 to 5"),
        (
            "gen:hub:nodes=2000000,hubs=2000",
            "2000000 nodes would have 7995998000 edges; accepted are at most 2147483647 for so many nodes",
        ),
        ("gen:rmat:scale=31,edges=1", "scale=31 is not possible; accepted are whole numbers 1 to 30"),
        ("gen:rmat:scale=3", "edges is missing; accepted is gen:rmat:scale=S,edges=E[,seed=N]"),
        ("gen:power-law:shape=cora", "shape=cora is not possible; accepted are arxiv, products, reddit"),
        (
            "gen:power-law:shape=reddit,scale=1.5",
            "scale=1.5 is not possible; accepted are fractions and decimals above 0 and up to 1, such as 1/16 or 0.05",
        ),
        (
            "gen:power-law:shape=reddit,scale=1/200",
            "1165 nodes would have 573080 edges; accepted are at most 339014 for so many nodes",
        ),
        (
            "gen:power-law:shape=arxiv,scale=0.000000001",
            "scale=1/1000000000 is not possible; accepted are scales that leave a node",
        ),
        (
            "gen:power-law:nodes=100,edges=301,exponent=2.5",
            "edges=301 is not possible; accepted are even numbers, for each edge counts in both directions",
        ),
        (
            "gen:power-law:nodes=100,edges=300,exponent=2",
            "exponent=2 is not possible; accepted are 2.1 to 5, with at most two decimals",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(text.parse::<GraphSpec>().unwrap_err().to_string(), sentence, "{text}");
    }
    assert!(matches!("gen:star:n=1".parse::<GraphSpec>(), Err(SpecError::Missing { key: "nodes", .. })));
}

test_support::properties! {
    #[test]
    fn any_text_is_read_or_refused(text in "(gen:)?(power-law|rmat|uniform|multi|hub|star|path|empty)?:?\
        ((shape|scale|nodes|edges|exponent|hubs|seed)=(arxiv|reddit|1/8|[0-9]{1,12}|2\\.[0-9]{1,3}|),?){0,4}") {
        if let Ok(spec) = text.parse::<GraphSpec>() {
            prop_assert_eq!(spec.to_string().parse::<GraphSpec>(), Ok(spec));
        }
    }
}
