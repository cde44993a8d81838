//! One epoch.

use std::sync::Arc;

use golden::{NodeId, Progress, Request};
use hw::{SLRS, Slr};
use rand_chacha::rand_core::Rng;
use tch::{Kind, Tensor};

use super::{Data, Performance, Settings, State, TrainError};
use crate::{
    accelerator::{Accelerator, HostAccelerator},
    batches::Batches,
    chance,
    ledger::Direction,
    pipeline::{Pipeline, Requests},
    sage::{
        self, fast,
        slot::{self, Held},
    },
};

/// The words from which dropout begins each epoch.
const DROPOUT: &[u8; 16] = b"trisage: dropout";

/// One epoch of a run, counted from 0.
pub(super) struct Epoch<'a> {
    pub(super) number: u64,
    pub(super) data: &'a Data,
    pub(super) settings: &'a Settings,
}

impl Epoch<'_> {
    /// Trains with every training node once; returns the mean loss.
    pub(super) fn train(
        &self,
        pipeline: &Pipeline<HostAccelerator>,
        state: &mut State,
        performance: &mut Performance,
        progress: &dyn Progress,
    ) -> Result<f64, TrainError> {
        let &Self { number, data, settings } = self;
        let pieces = Arc::new(self.pieces());
        let iterations = pieces.len().div_ceil(SLRS);
        // So that an epoch does not depend on those before it in this process.
        tch::manual_seed(chance::words(settings.seed, DROPOUT, number).next_u64().cast_signed());
        let losses = Tensor::f_zeros([iterations as i64, SLRS as i64], (Kind::Float, data.device()))?;
        let last = state.history.last().map_or_else(String::new, |last| format!(", loss {:.4}", last.loss));
        let name = format!("epoch {} of {}{last}", number + 1, settings.epochs);

        pipeline.start(iterations as u64, self.requests(&pieces))?;
        while let Some(item) = pipeline.acquire()? {
            let iteration = item.iteration;
            slot::consume(pipeline, item, |slrs| {
                for (slr, held) in Slr::ALL.into_iter().zip(slrs) {
                    let Some(held) = held else { continue };
                    let loss = losses.f_get(iteration as i64)?.f_get(slr.index() as i64)?;
                    self.step(&held, state, loss)?;
                    performance.add(held.filled);
                }
                Ok::<_, TrainError>(())
            })?;
            progress.report(&name, iteration + 1, iterations as u64);
        }
        performance.pipeline.add(&pipeline.finish()?);
        performance.epochs += 1;

        pipeline.accelerator().ledger().cross(Direction::Down, "losses", losses.numel() * size_of::<f32>());
        let losses = Vec::<f32>::try_from(losses.f_flatten(0, -1)?)?;
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
    fn step(&self, held: &Held<'_>, state: &mut State, mut loss: Tensor) -> Result<(), TrainError> {
        let Self { data, settings, .. } = self;
        let sub = held.sampled();
        let logits = fast::forward(&state.model, &data.features, &sub, Some(settings.dropout))?;
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
