//! GraphSAGE with mean aggregation, on libtorch.
//!
//! A layer computes, for each node, `lin_l(mean of its in-neighbours) + lin_r(itself)`: `lin_l` has a bias, `lin_r` has none,
//! and nothing is normalised, as PyTorch Geometric's `SAGEConv` does by default. Between layers are `ReLU` and dropout.
//! A sub-graph of L hops is for a model of L layers, whose output on the seed nodes is what is learnt from.
//!
//! There are two formulations with the same result: [`plain`], which is easy to compare with others, and [`fast`], which is
//! used. Indices are int32 everywhere, as the card writes them; features and parameters are float32, labels int64.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

mod adam;
pub mod fast;
pub mod infer;
mod model;
pub mod plain;
mod sampled;
pub(crate) mod slot;

pub use adam::Adam;
pub use model::{Layer, Model};
pub use sampled::Sampled;

/// What libtorch says when it cannot do something; out of memory, perhaps.
pub use tch::TchError;

/// What comes of work on tensors.
pub type Result<T, E = TchError> = std::result::Result<T, E>;

/// What libtorch says, in a sentence: its other lines tell where in it that happened.
pub(crate) fn sentence(error: &TchError) -> String {
    error.to_string().lines().next().unwrap_or("no message").to_owned()
}

/// Dropout while training: the probability of a zero.
pub type Dropout = Option<f64>;

/// Cross entropy of the seed nodes' logits, `[seeds, classes]`, with their labels, int64 `[seeds]`: the mean over the seeds.
///
/// # Errors
/// What libtorch says.
pub fn loss(logits: &tch::Tensor, labels: &tch::Tensor) -> Result<tch::Tensor> {
    /// No label is left out.
    const IGNORE_NONE: i64 = -100;
    logits.f_cross_entropy_loss(labels, None::<tch::Tensor>, tch::Reduction::Mean, IGNORE_NONE, 0.0)
}
