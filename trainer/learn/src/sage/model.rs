//! The parameters.

use rand_chacha::rand_core::Rng;
use tch::{Device, Kind, Tensor};

use super::Result;
use pipeline::chance;

/// The words of the first weights.
const DOMAIN: &[u8; 16] = b"trisage: weights";

/// The parameters of one layer, float32.
#[derive(Debug)]
pub struct Layer {
    /// `lin_l.weight`, `[out, in]`: for the mean of the in-neighbours.
    pub neighbours: Tensor,
    /// `lin_l.bias`, `[out]`.
    pub bias: Tensor,
    /// `lin_r.weight`, `[out, in]`: for the node itself.
    pub own: Tensor,
}

impl Layer {
    /// `lin_l(means) + lin_r(own)`: `[nodes, in]` twice, to `[nodes, out]`.
    pub(super) fn apply(&self, means: &Tensor, own: &Tensor) -> Result<Tensor> {
        let mut sum = self.bias.f_addmm(means, &self.neighbours.f_tr()?)?;
        sum.f_addmm_(own, &self.own.f_tr()?)
    }

    /// The parameters with the names that PyTorch Geometric gives them.
    pub(super) fn named(&self) -> [(&'static str, &Tensor); 3] {
        [("lin_l.weight", &self.neighbours), ("lin_l.bias", &self.bias), ("lin_r.weight", &self.own)]
    }
}

/// A model: at least one layer.
#[derive(Debug)]
pub struct Model {
    layers: Vec<Layer>,
}

impl Model {
    /// A model with the parameters that PyTorch's `Linear` begins with, drawn from the user's seed: uniform between
    /// -b and b, where b = 1 / sqrt(inputs), for weights (this is `kaiming_uniform_` with a = sqrt(5)) and bias.
    ///
    /// `widths` are the columns of the features, of what each layer passes on, and the classes. The words are those of
    /// `ChaCha8` as in [`crate::batches::Batches::shuffled`], with "trisage: weights", of stream i for layer i from 0;
    /// the upper 24 bits of each make a fraction.
    ///
    /// # Errors
    /// What libtorch says.
    ///
    /// # Panics
    /// With fewer than two widths.
    pub fn new(widths: &[usize], seed: u64, device: Device) -> Result<Self> {
        assert!(widths.len() > 1, "a model has one layer at least");
        let layers = widths.windows(2).zip(0..).map(|(widths, stream)| {
            let (inputs, outputs) = (widths[0], widths[1]);
            let bound = 1.0 / (inputs.max(1) as f64).sqrt();
            let mut words = chance::words(seed, DOMAIN, stream);
            let mut drawn = |shape: &[usize]| {
                let uniform = || ((f64::from(words.next_u32() >> 8) / f64::from(1 << 24) * 2.0 - 1.0) * bound) as f32;
                let values: Vec<f32> = std::iter::repeat_with(uniform).take(shape.iter().product()).collect();
                let shape: Vec<i64> = shape.iter().map(|&length| length as i64).collect();
                Tensor::from_slice(&values).f_reshape(shape)?.f_to_device(device)?.f_set_requires_grad(true)
            };
            Ok(Layer {
                neighbours: drawn(&[outputs, inputs])?,
                bias: drawn(&[outputs])?,
                own: drawn(&[outputs, inputs])?,
            })
        });
        Ok(Self { layers: layers.collect::<Result<_>>()? })
    }

    /// The layers, the one that reads the features first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// All parameters with the names of a PyTorch module with `convs = ModuleList(SAGEConv(...), ...)`, in a fixed order.
    pub fn named(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.layers.iter().enumerate().flat_map(|(i, layer)| {
            layer.named().into_iter().map(move |(name, tensor)| (format!("convs.{i}.{name}"), tensor))
        })
    }

    /// A copy of the parameters, which training does not change.
    ///
    /// # Errors
    /// What libtorch says.
    pub fn snapshot(&self) -> Result<Vec<Tensor>> {
        tch::no_grad(|| self.named().map(|(_, parameter)| Ok(parameter.f_detach()?.copy())).collect())
    }

    /// Takes over parameters as [`Model::snapshot`] gives them.
    ///
    /// # Errors
    /// What libtorch says, if a shape differs perhaps.
    pub fn restore(&mut self, snapshot: &[Tensor]) -> Result<()> {
        tch::no_grad(|| {
            self.named().zip(snapshot).try_for_each(|((_, parameter), saved)| {
                let mut parameter = parameter.f_detach()?;
                parameter.f_copy_(saved)
            })
        })
    }

    /// Forgets the gradients.
    pub fn zero_grad(&self) {
        self.named().for_each(|(_, parameter)| parameter.shallow_clone().zero_grad());
    }

    /// Number of all parameters' elements.
    pub fn elements(&self) -> usize {
        self.named().map(|(_, parameter)| parameter.numel()).sum()
    }

    /// The kind of all parameters.
    pub const KIND: Kind = Kind::Float;
}
