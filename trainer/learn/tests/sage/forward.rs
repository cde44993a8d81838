//! The fast formulation computes what the plain one does, and so does inference.

use golden::{CscGraph, Fanout, NodeId, Silent, SubGraph};
use golden_files::generate::GraphSpec;
use learn::sage::{Model, fast, infer, plain};
use pipeline::ledger::Ledger;
use tch::{Device, Tensor};

use super::support::{Edges, assert_close, differentiated, random, sampled, sub_graph};

const FEATURES: usize = 17;
const CLASSES: usize = 5;

fn model(hops: usize, seed: u64) -> Model {
    let widths = [vec![FEATURES], vec![23; hops - 1], vec![CLASSES]].concat();
    Model::new(&widths, seed, Device::Cpu).unwrap()
}

fn generated(spec: &str) -> CscGraph {
    spec.parse::<GraphSpec>().unwrap().generate(&Silent)
}

/// Forward and all gradients agree to a part in 100,000.
fn assert_equal(name: &str, nodes: usize, sub: &SubGraph) {
    let model = model(sub.hops.edges.len(), 7);
    let features = random(nodes as i64, FEATURES as i64, 8);
    let expected = differentiated(plain::forward, &model, &features, sub);
    let found = differentiated(fast::forward, &model, &features, sub);
    assert_eq!(expected.len(), 1 + 3 * sub.hops.edges.len());
    for ((what, found), (_, expected)) in found.iter().zip(&expected) {
        assert_close(&format!("{name}: {what}"), found, expected, 1e-5);
    }
}

#[test]
fn sampled_sub_graphs() {
    let (count, all) = (Fanout::Count, Fanout::All);
    let specs = [
        "gen:uniform:nodes=300,edges=3000",
        "gen:hub:nodes=200,hubs=3",
        "gen:star:nodes=90",
        "gen:path:nodes=50",
        "gen:empty:nodes=40",
        "gen:multi:nodes=60",
    ];
    for spec in specs {
        let graph = generated(spec);
        for fanouts in
            [&[count(4)][..], &[count(5), count(3)], &[all, all], &[count(3), all, count(2)], &[count(0), count(3)]]
        {
            for seeds in [&[][..], &[0], &[7, 0, 19, 4, 30, 31, 32]] {
                let name = format!("{spec} {fanouts:?} {seeds:?}");
                assert_equal(&name, graph.nodes(), &sampled(&graph, seeds, fanouts));
            }
        }
    }
}

#[test]
fn odd_sub_graphs() {
    let cases: [(&str, &[u32], Edges<'_>); 7] = [
        ("no node", &[0, 0, 0], &[&[], &[]]),
        ("one node without an edge", &[1, 0, 0], &[&[], &[]]),
        ("one node with a self-loop", &[1, 0], &[&[(0, 0)]]),
        ("the same edge three times", &[2, 1], &[&[(2, 0), (2, 0), (2, 0), (1, 1), (1, 1)]]),
        ("nodes without edges between others", &[5, 2], &[&[(5, 1), (6, 1), (0, 3)]]),
        ("edges back into the first hops", &[2, 2, 1], &[&[(1, 0), (2, 0), (3, 1)], &[(0, 2), (3, 2), (4, 3), (3, 3)]]),
        ("a hop that finds nothing new", &[2, 1, 0], &[&[(2, 0), (0, 1)], &[(0, 2), (1, 2), (2, 2)]]),
    ];
    for (name, nodes, edges) in cases {
        assert_equal(name, 10, &sub_graph(nodes, edges));
    }
}

#[test]
fn inference_is_sampling_everything() {
    for spec in ["gen:uniform:nodes=120,edges=700", "gen:multi:nodes=60", "gen:empty:nodes=40"] {
        let graph = generated(spec);
        let nodes = graph.nodes();
        let (model, features) = (model(2, 5), random(nodes as i64, FEATURES as i64, 6));
        let seeds: Vec<u32> = (0..nodes as u32).collect();
        let sub = sampled(&graph, &seeds, &[Fanout::All; 2]);
        let expected = differentiated(plain::forward, &model, &features, &sub);
        for chunk in [infer::Chunk::default(), infer::Chunk { nodes: 7, edges: 20 }] {
            let found = infer::logits(&model, &features, &graph, chunk, &Ledger::default()).unwrap();
            assert!(!found.requires_grad());
            assert_close(spec, &found, &expected[0].1, 1e-5);
        }
    }
}

#[test]
fn a_graph_without_nodes_has_no_logits() {
    let graph = CscGraph::new(vec![0], Vec::<NodeId>::new()).unwrap();
    let features = Tensor::zeros([0, FEATURES as i64], (Model::KIND, Device::Cpu));
    let (chunk, ledger) = (infer::Chunk::default(), Ledger::counting());
    let logits = infer::logits(&model(2, 1), &features, &graph, chunk, &ledger).unwrap();
    assert_eq!(ledger.tally().unwrap().crossings, []);
    assert_eq!(logits.size(), [0, CLASSES as i64]);
}

#[test]
fn the_first_parameters_depend_on_the_seed_and_lie_within_their_bound() {
    let (one, same, other) = (model(3, 1), model(3, 1), model(3, 2));
    for (((name, one), (_, same)), (_, other)) in one.named().zip(same.named()).zip(other.named()) {
        assert_eq!(one, same, "{name}");
        assert_ne!(one, other, "{name}");
        assert!(one.requires_grad(), "{name}");
    }
    let wide = Model::new(&[400, 300], 1, Device::Cpu).unwrap();
    let weights = &wide.layers()[0].own;
    let (least, most) = (weights.min().double_value(&[]), weights.max().double_value(&[]));
    assert!((-0.05..-0.0499).contains(&least) && (0.0499..0.05).contains(&most), "{least} to {most}");
    // The standard deviation of a uniform distribution of width 0.1.
    assert!((weights.std(true).double_value(&[]) - 0.1 / 12f64.sqrt()).abs() < 2e-4);
    assert_eq!(wide.elements(), 2 * 400 * 300 + 300);
}
