//! The fast formulation. Three things make it so:
//!
//! - A layer computes only the nodes that the next one needs. Layer l of L is asked for the nodes of the first L - l hops,
//!   whose in-edges are those of the first L - l + 1 hops: prefixes of `samples`, `rows` and `cols`.
//! - A mean is gathered and added up in one go (`embedding_bag`), so nothing with a row for each edge is ever made. `cols`
//!   ascends, so each node's edges lie side by side.
//! - The first layer gathers from the table of features itself; the features of the sub-graph are never put together.

use tch::{Kind, Tensor};

use super::{Dropout, Model, Result, Sampled};

/// `embedding_bag`'s number for the mean.
const MEAN: i64 = 1;

/// Logits of the seed nodes, `[seeds, classes]`; `features` is `[nodes of the graph, columns]`.
///
/// # Errors
/// What libtorch says.
///
/// # Panics
/// If the model has not one layer for each hop of the sub-graph.
pub fn forward(model: &Model, features: &Tensor, sub: &Sampled<'_>, dropout: Dropout) -> Result<Tensor> {
    let layers = model.layers();
    assert_eq!(layers.len(), sub.hops(), "a model has one layer for each hop of the sub-graph");
    // Nodes of the last hop have no in-edges here, and are only read.
    let expanded = sub.nodes_within(sub.hops() - 1);
    let firsts = first_edges(sub, expanded)?;

    let mut x = Tensor::new();
    for (i, layer) in layers.iter().enumerate() {
        let hops = layers.len() - i;
        let nodes = sub.nodes_within(hops - 1);
        let rows = sub.rows().f_narrow(0, 0, sub.edges_within(hops))?;
        let firsts = firsts.f_narrow(0, 0, nodes)?;
        x = if i == 0 {
            let sources = sub.samples().f_index_select(0, &rows)?;
            let own = features.f_index_select(0, &sub.samples().f_narrow(0, 0, nodes)?)?;
            layer.apply(&means(features, &sources, &firsts)?, &own)?
        } else {
            let x = activate(&x, dropout)?;
            layer.apply(&means(&x, &rows, &firsts)?, &x.f_narrow(0, 0, nodes)?)?
        };
    }
    Ok(x)
}

/// For each of the first `nodes` nodes the place in `cols` where its in-edges begin, int32.
fn first_edges(sub: &Sampled<'_>, nodes: i64) -> Result<Tensor> {
    let options = (Kind::Int, sub.cols().device());
    let edges = sub.edges_within(sub.hops());
    let ids = Tensor::f_arange(nodes, options)?;
    ids.f_searchsorted(&sub.cols().f_narrow(0, 0, edges)?, true, false, "left", None::<&Tensor>)
}

/// For each node the mean of the rows of `table` that its edges name, 0 if it has none. `firsts` says where each node's
/// edges begin in `sources`; those of the last one go to the end.
pub(super) fn means(table: &Tensor, sources: &Tensor, firsts: &Tensor) -> Result<Tensor> {
    if firsts.size1()? == 0 {
        return table.f_narrow(0, 0, 0);
    }
    let (means, ..) = Tensor::f_embedding_bag(table, sources, firsts, false, MEAN, false, None::<&Tensor>, false)?;
    Ok(means)
}

/// `ReLU` and dropout. Dropout goes first, which gives the same: then autograd keeps one float and one bool of each element,
/// and `ReLU` needs no memory.
pub(super) fn activate(x: &Tensor, dropout: Dropout) -> Result<Tensor> {
    match dropout {
        Some(probability) if probability > 0.0 => x.f_native_dropout(probability, true)?.0.f_relu_(),
        _ => x.f_relu(),
    }
}
