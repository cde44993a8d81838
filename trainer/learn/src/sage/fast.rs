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
pub fn forward(model: &Model, features: &Tensor, sub: &Sampled, dropout: Dropout) -> Result<Tensor> {
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
fn first_edges(sub: &Sampled, nodes: i64) -> Result<Tensor> {
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

/// `ReLU` and dropout in one: which elements stay is decided first, so autograd remembers one bool of each and no more.
///
/// Whether an element stays is decided by 16 random bits, so the probability is rounded to a multiple of 2^-16; elements
/// that stay are divided by the probability with which they do.
pub(super) fn activate(x: &Tensor, dropout: Dropout) -> Result<Tensor> {
    let Some(probability) = dropout.filter(|&probability| probability > 0.0) else { return x.f_relu() };
    let values = f64::from(1 << 16);
    let staying = ((1.0 - probability) * values).round().clamp(1.0, values);
    let stays = tch::no_grad(|| {
        // libtorch draws one number after the other, so a number for four elements takes a quarter of the time.
        let mut bits = Tensor::f_empty([x.numel().div_ceil(4) as i64], (Kind::Int64, x.device()))?;
        let bits = bits.f_random_from_(i64::MIN, None)?.f_view_dtype(Kind::Int16)?;
        let bits = bits.f_narrow(0, 0, x.numel() as i64)?.f_reshape(x.size())?;
        let most = f64::from(i16::MIN) + staying - 1.0;
        bits.f_le(most as i64)?.f_logical_and_(&x.f_gt(0)?)
    })?;
    x.f_where_self(&stays, &x.f_new_zeros([], (x.kind(), x.device()))?)?.f_mul_scalar_(values / staying)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_leaves_out_its_part_and_scales_the_rest() {
        let x = Tensor::arange_start(-50_000, 50_001, (Kind::Float, tch::Device::Cpu)).set_requires_grad(true);
        for probability in [0.5, 0.8, 1e-9] {
            let y = activate(&x, Some(probability)).unwrap();
            let stays = y.gt(0);
            // Of 50,000 elements above 0; five standard deviations.
            let part = stays.sum(Kind::Double).double_value(&[]) / 50_000.0;
            let deviation = (probability * (1.0 - probability) / 50_000.0).sqrt();
            assert!((part - (1.0 - probability)).abs() <= 5.0 * deviation, "{probability}: {part}");
            let scaled = x.detach() * &stays / (1.0 - probability);
            assert!(y.allclose(&scaled, 1e-4, 0.0, false), "{probability}");
            let gradient = Tensor::run_backward(&[y.sum(Kind::Float)], &[&x], false, false);
            assert!(gradient[0].allclose(&(stays.to_kind(Kind::Float) / (1.0 - probability)), 1e-4, 0.0, false));
        }
        assert_eq!(activate(&x, Some(0.0)).unwrap(), x.relu());
        assert_eq!(activate(&x, None).unwrap(), x.relu());
        assert_eq!(activate(&x.narrow(0, 0, 0), Some(0.5)).unwrap().size(), [0]);
    }
}
