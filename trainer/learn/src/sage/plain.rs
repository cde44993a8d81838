//! The plain formulation: every layer for every node, in the words that PyTorch Geometric has for it.

use tch::{Kind, Tensor};

use super::{Dropout, Model, Result, Sampled};

/// Logits of the seed nodes, `[seeds, classes]`; `features` is `[nodes of the graph, columns]`.
///
/// Features of all sampled nodes are gathered; in each layer, the features of every edge's source are gathered, added up by
/// destination, and divided by the number of in-edges.
///
/// # Errors
/// What libtorch says.
pub fn forward(model: &Model, features: &Tensor, sub: &Sampled, dropout: Dropout) -> Result<Tensor> {
    let long = |tensor: &Tensor| tensor.f_to_kind(Kind::Int64);
    let mut x = features.f_index_select(0, &long(sub.samples())?)?;
    let (rows, cols) = (long(sub.rows())?, long(sub.cols())?);
    for (i, layer) in model.layers().iter().enumerate() {
        if i > 0 {
            x = x.f_relu()?;
            if let Some(probability) = dropout {
                x = x.f_dropout(probability, true)?;
            }
        }
        x = layer.apply_plainly(&mean(&x, &rows, &cols)?, &x)?;
    }
    x.f_narrow(0, 0, sub.seeds())
}

fn mean(x: &Tensor, rows: &Tensor, cols: &Tensor) -> Result<Tensor> {
    let (nodes, columns) = x.size2()?;
    let messages = x.f_index_select(0, rows)?;
    let mut sums = Tensor::f_zeros([nodes, columns], (x.kind(), x.device()))?;
    let sums = sums.f_scatter_add_(0, &cols.f_unsqueeze(1)?.f_expand([-1, columns], false)?, &messages)?;
    let mut counts = Tensor::f_zeros([nodes], (x.kind(), x.device()))?;
    let counts = counts.f_scatter_add_(0, cols, &cols.f_ones_like()?.f_to_kind(x.kind())?)?;
    sums.f_div(&counts.f_clamp_min(1)?.f_unsqueeze(1)?)
}

impl super::Layer {
    fn apply_plainly(&self, means: &Tensor, own: &Tensor) -> Result<Tensor> {
        means.f_linear(&self.neighbours, Some(&self.bias))?.f_add(&own.f_linear(&self.own, None::<&Tensor>)?)
    }
}
