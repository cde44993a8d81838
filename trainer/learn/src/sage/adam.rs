//! The optimizer. It is written out here, as tch's own cannot be saved.

use tch::Tensor;

use super::{Layer, Model, Result};

/// Adam (Kingma and Ba, arXiv 1412.6980) as PyTorch has it: weight decay is added to the gradient.
#[derive(Debug)]
pub struct Adam {
    /// Learning rate.
    pub rate: f64,
    /// Weight decay of each parameter, in the model's order.
    decays: Vec<f64>,
    steps: i32,
    /// Of each parameter, in the model's order: running means of its gradient and of the gradient's square.
    moments: Vec<[Tensor; 2]>,
}

const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;

impl Adam {
    /// An optimizer that has made no step. Weight decay is `decay` in the first `decaying` layers, and none in the others.
    ///
    /// # Errors
    /// What libtorch says.
    pub fn new(model: &Model, rate: f64, decay: f64, decaying: usize) -> Result<Self> {
        let parameters = |layers: &[Layer]| layers.iter().map(|layer| layer.named().len()).sum();
        let layers = model.layers();
        let (first, all): (usize, usize) = (parameters(&layers[..decaying.min(layers.len())]), parameters(layers));
        let decays = (0..all).map(|parameter| if parameter < first { decay } else { 0.0 }).collect();
        let moments = model.named().map(|(_, parameter)| {
            let zeros = || parameter.f_detach()?.f_zeros_like();
            Ok([zeros()?, zeros()?])
        });
        Ok(Self { rate, decays, steps: 0, moments: moments.collect::<Result<_>>()? })
    }

    /// One step along the model's gradients. A parameter without a gradient stays as it is.
    ///
    /// # Errors
    /// What libtorch says.
    pub fn step(&mut self, model: &Model) -> Result<()> {
        self.steps += 1;
        let [first, second] = BETAS.map(|beta| 1.0 - beta.powi(self.steps));
        tch::no_grad(|| {
            for (((_, parameter), [mean, square]), &decay) in model.named().zip(&mut self.moments).zip(&self.decays) {
                let mut gradient = parameter.f_grad()?;
                if !gradient.defined() {
                    continue;
                }
                if decay != 0.0 {
                    gradient = gradient.f_add(&parameter.f_mul_scalar(decay)?)?;
                }
                // Each changes a tensor in place, and returns it.
                let _ = mean.f_lerp_(&gradient, 1.0 - BETAS[0])?;
                let _ = square.f_mul_scalar_(BETAS[1])?.f_add_(&gradient.f_square()?.f_mul_scalar_(1.0 - BETAS[1])?)?;
                let divisor = square.f_sqrt()?.f_div_scalar_(second.sqrt())?.f_add_scalar_(EPSILON)?;
                let change = mean.f_div(&divisor)?.f_mul_scalar_(self.rate / first)?;
                let _ = parameter.f_detach()?.f_sub_(&change)?;
            }
            Ok(())
        })
    }

    /// Steps that were made.
    pub fn steps(&self) -> i32 {
        self.steps
    }

    /// What is remembered of each parameter, in the model's order: running means of its gradient and of the gradient's
    /// square.
    pub fn moments(&self) -> &[[Tensor; 2]] {
        &self.moments
    }

    /// Goes on from what was remembered after so many steps.
    pub fn resume(&mut self, steps: i32, moments: Vec<[Tensor; 2]>) {
        (self.steps, self.moments) = (steps, moments);
    }
}
