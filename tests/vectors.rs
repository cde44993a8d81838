//! The digests of an independent implementation, on every back end.

use std::{path::Path, sync::Arc};

use golden::{Capacity, CscGraph, HopCounts, Silent};
use golden_files::read;
use hw::{SamplerDevice, Slr};
use tests::{Bench, Vector, cora, digest, model, rtl, rtl_options, rtl_options_for_large_graphs, vectors_in};

fn shipped() -> Vec<Vector> {
    let vectors = vectors_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/vectors.json"));
    assert!(vectors.iter().all(|vector| vector.graph == "cora"));
    vectors
}

fn golden_agrees(graph: &CscGraph, vector: &Vector) {
    let sub = golden::sample(graph, &vector.request(), Capacity::UNBOUNDED).unwrap();
    let hops = HopCounts { nodes: vector.nodes_per_hop.clone(), edges: vector.edges_per_hop.clone() };
    assert_eq!(sub.hops, hops, "{vector:?}");
    assert_eq!(digest(|buffer| sub.buffer(buffer)), vector.sha256, "{vector:?}");
}

fn device_agrees(bench: &Bench, graph: &CscGraph, vector: &Vector) {
    let request = vector.request();
    let capacity = Capacity::worst_case(graph, request.seeds.len(), &request.fanouts);
    for slr in Slr::ALL {
        let outcome = bench.run(slr, &request, capacity);
        let hops = outcome.result.unwrap().hops;
        let valid = |buffer| &outcome.buffers[buffer as usize][..hops.len_of(buffer)];
        assert_eq!(digest(valid), vector.sha256, "{slr}: {vector:?}");
    }
}

#[test]
fn golden_model_on_cora() {
    let graph = cora();
    shipped().iter().for_each(|vector| golden_agrees(&graph, vector));
}

#[test]
fn software_model_on_cora() {
    let (graph, device) = (cora(), model());
    let bench = Bench::new(&device, &graph);
    shipped().iter().for_each(|vector| device_agrees(&bench, &graph, vector));
}

#[test]
fn rtl_on_cora() {
    let (graph, device) = (cora(), rtl(&rtl_options()));
    let bench = Bench::new(&device, &graph);
    shipped().iter().for_each(|vector| device_agrees(&bench, &graph, vector));
}

/// Vectors on larger real graphs, which the repository does not ship: a folder with `design/vectors.json` and `data/GRAPH`,
/// named by `TRISAGE_VECTORS` or beside the repository.
#[test]
fn all_back_ends_on_larger_graphs() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("TRISAGE_VECTORS").map_or_else(beside, Into::into);
    let path = folder.join("design/vectors.json");
    if !path.exists() {
        eprintln!("skipped: {} does not exist; set TRISAGE_VECTORS to a folder that has it", path.display());
        return;
    }
    let vectors = vectors_in(&path);
    let (software, simulated) = (model(), rtl(&rtl_options_for_large_graphs()));
    for rows in vectors.chunk_by(|a, b| a.graph == b.graph) {
        let folder = folder.join("data").join(&rows[0].graph);
        let graph = Arc::new(read::graph(&folder, &read::ReadOptions::default(), &Silent).unwrap());
        rows.iter().for_each(|vector| golden_agrees(&graph, vector));
        for device in [&software as &dyn SamplerDevice, &simulated] {
            let bench = Bench::new(device, &graph);
            rows.iter().for_each(|vector| device_agrees(&bench, &graph, vector));
        }
    }
}
