//! Both formulations against PyTorch Geometric's `SAGEConv`; `make_vectors.py` says how to make the file anew.

use std::collections::BTreeMap;

use golden::{EdgePos, HopCounts, LocalId, NodeId, SubGraph};
use learn::{
    sage,
    sage::{Model, Sampled, fast, plain},
};
use serde::Deserialize;
use tch::{Device, Tensor};

use super::support::{Forward, assert_close};

#[derive(Deserialize)]
struct Vectors {
    widths: Vec<usize>,
    nodes: i64,
    samples: Vec<u32>,
    nodes_per_hop: Vec<u32>,
    edges_per_hop: Vec<u32>,
    rows: Vec<u32>,
    cols: Vec<u32>,
    labels: Vec<i64>,
    features: Vec<f32>,
    logits: Vec<f32>,
    loss: f64,
    parameters: BTreeMap<String, Vec<f32>>,
    gradients: BTreeMap<String, Vec<f32>>,
}

#[test]
fn logits_and_gradients_are_those_of_sageconv() {
    let vectors: Vectors = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let ids = |ids: &[u32]| ids.iter().copied().map(LocalId::new).collect();
    let sub = SubGraph {
        samples: vectors.samples.iter().copied().map(NodeId::new).collect(),
        rows: ids(&vectors.rows),
        cols: ids(&vectors.cols),
        edges: (0..vectors.rows.len() as u32).map(EdgePos::new).collect(),
        hops: HopCounts { nodes: vectors.nodes_per_hop, edges: vectors.edges_per_hop },
    };
    let mut model = Model::new(&vectors.widths, 0, Device::Cpu).unwrap();
    let shaped = |values: &[f32], like: &Tensor| Tensor::from_slice(values).reshape(like.size());
    let theirs: Vec<_> = model.named().map(|(name, tensor)| shaped(&vectors.parameters[&name], tensor)).collect();
    assert_eq!(theirs.len(), vectors.parameters.len());
    model.restore(&theirs).unwrap();
    let features = Tensor::from_slice(&vectors.features).reshape([vectors.nodes, -1]);
    let labels = Tensor::from_slice(&vectors.labels);

    for (formulation, forward) in [("plain", plain::forward as Forward), ("fast", fast::forward)] {
        model.zero_grad();
        let logits = forward(&model, &features, &Sampled::copied(&sub), None).unwrap();
        assert_close(formulation, &logits.detach(), &shaped(&vectors.logits, &logits), 1e-5);
        let loss = sage::loss(&logits, &labels).unwrap();
        assert!((loss.double_value(&[]) - vectors.loss).abs() < 1e-5 * vectors.loss, "{formulation}");
        loss.backward();
        for (name, parameter) in model.named() {
            let expected = shaped(&vectors.gradients[&name], parameter);
            assert_close(&format!("{formulation}: {name}"), &parameter.grad(), &expected, 1e-5);
        }
    }
}
