//! Sub-graphs, models and comparisons.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use golden::{Capacity, CscGraph, EdgePos, Fanout, HopCounts, LocalId, NodeId, Request, SubGraph};
use learn::{
    sage,
    sage::{Model, Sampled},
};
use tch::{Device, Kind, Tensor};

/// Edges `(row, col)` of each hop.
pub type Edges<'a> = &'a [&'a [(u32, u32)]];

/// A sub-graph of the first nodes of a graph: nodes of each hop, and its edges.
pub fn sub_graph(nodes: &[u32], edges: Edges<'_>) -> SubGraph {
    let all: Vec<(u32, u32)> = edges.concat();
    SubGraph {
        samples: (0..nodes.iter().sum()).map(NodeId::new).collect(),
        rows: all.iter().map(|&(row, _)| LocalId::new(row)).collect(),
        cols: all.iter().map(|&(_, col)| LocalId::new(col)).collect(),
        edges: (0..all.len() as u32).map(EdgePos::new).collect(),
        hops: HopCounts { nodes: nodes.to_vec(), edges: edges.iter().map(|hop| hop.len() as u32).collect() },
    }
}

/// What the reference samples.
pub fn sampled(graph: &CscGraph, seeds: &[u32], fanouts: &[Fanout]) -> SubGraph {
    let seeds = seeds.iter().copied().map(NodeId::new).collect();
    let request = Request { seed: 3, minibatch: 1, seeds, fanouts: fanouts.to_vec() };
    golden::sample(graph, &request, Capacity::UNBOUNDED).unwrap()
}

/// Random numbers `[rows, columns]` that depend on nothing but the seed.
pub fn random(rows: i64, columns: i64, seed: u64) -> Tensor {
    let model =
        Model::new(&[columns, rows].map(|length: i64| length.cast_unsigned() as usize), seed, Device::Cpu).unwrap();
    model.layers()[0].own.detach() * (columns as f64).sqrt()
}

/// How a formulation is called.
pub type Forward = fn(&Model, &Tensor, &Sampled, sage::Dropout) -> sage::Result<Tensor>;

/// Logits, and the gradients of all parameters of a loss that depends on every logit in another way.
pub fn differentiated(forward: Forward, model: &Model, features: &Tensor, sub: &SubGraph) -> Vec<(String, Tensor)> {
    model.zero_grad();
    let logits = forward(model, features, &Sampled::copied(sub), None).unwrap();
    let (seeds, classes) = logits.size2().unwrap();
    (&logits * random(seeds.max(1), classes, 99).narrow(0, 0, seeds)).sum(Kind::Float).backward();
    let gradients = model.named().map(|(name, parameter)| (name, parameter.grad().copy()));
    [("logits".to_owned(), logits.detach())].into_iter().chain(gradients).collect()
}

/// Asserts that two tensors differ by no more than a part of their largest element.
pub fn assert_close(name: &str, found: &Tensor, expected: &Tensor, part: f64) {
    assert_eq!(found.size(), expected.size(), "{name}");
    if expected.numel() == 0 {
        return;
    }
    let largest = expected.abs().max().double_value(&[]);
    let difference = (found - expected).abs().max().double_value(&[]);
    assert!(difference <= part * largest, "{name}: {difference} apart, and the largest element is {largest}");
}
