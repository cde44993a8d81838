//! One epoch.

use std::sync::Arc;

use golden::{NodeId, Progress, Request};
use hw::{SLRS, Slr};
use rand_chacha::rand_core::Rng;
use tch::{Kind, Tensor};

use super::{Data, Figures, Settings, State, TrainError};
use crate::{
    sage,
    sage::{Sampled, fast, slot},
    torch::{Lent, Torch, TorchAccelerator},
};
use pipeline::{Pipeline, Requests, batches::Batches, chance};

/// The words from which dropout begins each epoch.
const DROPOUT: &[u8; 16] = b"trisage: dropout";

/// One epoch of a run, counted from 0.
pub(super) struct Epoch<'a> {
    pub(super) number: u64,
    pub(super) data: &'a Data,
    pub(super) settings: &'a Settings,
}

impl Epoch<'_> {
    /// Mini-batches of an epoch, or a few more: a loss for each SLR in each iteration.
    pub(super) fn losses(data: &Data, settings: &Settings) -> usize {
        settings.minibatches(data).next_multiple_of(SLRS)
    }

    /// Trains with every training node once; returns the mean loss. Until the end of the epoch, losses stay in `losses`, which
    /// has room for [`Epoch::losses`].
    pub(super) fn train<A: TorchAccelerator>(
        &self,
        pipeline: &Pipeline<A>,
        torch: &Torch<A>,
        losses: &A::Buffer,
        state: &mut State,
        figures: &mut Figures,
        progress: &dyn Progress,
    ) -> Result<f64, TrainError> {
        let &Self { number, data, settings } = self;
        let pieces = Arc::new(self.pieces());
        let iterations = pieces.len().div_ceil(SLRS);
        // So that an epoch does not depend on those before it in this process.
        tch::manual_seed(chance::words(settings.seed, DROPOUT, number).next_u64().cast_signed());
        let all = Self::losses(data, settings);
        let last = state.history.last().map_or_else(String::new, |last| format!(", loss {:.4}", last.loss));
        let name = format!("epoch {} of {}{last}", number + 1, settings.epochs);

        pipeline.start(iterations as u64, self.requests(&pieces))?;
        while let Some(item) = pipeline.acquire()? {
            let iteration = item.iteration;
            slot::consume(pipeline, torch, item, |slrs| {
                for (slr, held) in Slr::ALL.into_iter().zip(slrs) {
                    let Some(held) = held else { continue };
                    let [samples, rows, cols] = held.lent();
                    let lent = [samples, rows, cols, Lent::Written(losses, all, Kind::Float)];
                    torch.compute("training", lent, |[samples, rows, cols, losses]| -> Result<_, TrainError> {
                        let sub = Sampled::new([samples, rows, cols], &held.filled.report.hops);
                        let loss = losses.f_get(iteration as i64 * SLRS as i64 + slr.index() as i64)?;
                        self.step(&sub, state, loss)
                    })??;
                    figures.count(held.filled);
                }
                Ok::<_, TrainError>(())
            })?;
            progress.report(&name, iteration + 1, iterations as u64);
        }
        figures.pipeline.add(&pipeline.finish()?);
        figures.epochs += 1;

        let losses = torch.accelerator().download(torch.stream(), "losses", losses, all)?;
        let losses: Vec<f32> = losses.into_iter().map(|bits| f32::from_bits(bits.cast_unsigned())).collect();
        self.mean(&pieces, &losses)
    }

    /// The seed nodes of each mini-batch.
    fn pieces(&self) -> Vec<Vec<NodeId>> {
        let Self { number, data, settings } = self;
        let batches = Batches::of_epoch(data.train.iter().copied(), settings.batch_size, settings.seed, *number);
        batches.once().map(<[NodeId]>::to_vec).collect()
    }

    fn requests(&self, pieces: &Arc<Vec<Vec<NodeId>>>) -> Arc<Requests> {
        let (pieces, fanouts) = (Arc::clone(pieces), self.settings.fanouts());
        let (seed, first) = (self.settings.seed, self.number * pieces.len() as u64);
        Arc::new(move |iteration: u64, slr: Slr| {
            let piece = iteration * SLRS as u64 + slr.index() as u64;
            let seeds = pieces.get(piece as usize)?.clone();
            Some(Request { seed, minibatch: first + piece, seeds, fanouts: fanouts.clone() })
        })
    }

    /// One step of the optimizer with one mini-batch; its loss goes to `loss`.
    fn step(&self, sub: &Sampled, state: &mut State, mut loss: Tensor) -> Result<(), TrainError> {
        let Self { data, settings, .. } = self;
        let logits = fast::forward(&state.model, &data.features, sub, Some(settings.dropout))?;
        let of_batch = sage::loss(&logits, &sub.of_seeds(&data.labels)?)?;
        state.model.zero_grad();
        of_batch.f_backward()?;
        state.adam.step(&state.model)?;
        // What autograd remembers of the slot's memory goes with `logits` and `of_batch`, which end here.
        loss.f_copy_(&of_batch.f_detach()?)?;
        Ok(())
    }

    /// The mean of the mini-batches' losses, each weighed by its seed nodes; all must be finite.
    fn mean(&self, pieces: &[Vec<NodeId>], losses: &[f32]) -> Result<f64, TrainError> {
        let (mut sum, mut seeds) = (0.0, 0);
        for (i, (piece, &loss)) in pieces.iter().zip(losses).enumerate() {
            if !loss.is_finite() {
                let (iteration, slr) = ((i / SLRS) as u64, Slr::ALL[i % SLRS]);
                return Err(TrainError::Loss { loss, epoch: self.number + 1, iteration, slr });
            }
            sum += f64::from(loss) * piece.len() as f64;
            seeds += piece.len();
        }
        Ok(sum / seeds as f64)
    }
}
