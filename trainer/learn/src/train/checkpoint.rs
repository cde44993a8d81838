//! Checkpoints: the files of a run that training can go on from.
//!
//! `last.safetensors` is what counts: it appears whole, and it knows the history and the best parameters by their digests. A
//! checkpoint writes the files in this order, and a process may end anywhere in between:
//!
//! 1. `history.csv`, which may have more lines than the last parameters have epochs;
//! 2. `performance.json`, which has the figures of this checkpoint and of the one before;
//! 3. `last.safetensors`;
//! 4. `best.safetensors`, if it is the best epoch: until then its parameters are in `last.safetensors` as well.
//!
//! So training goes on from each of these states, after it has put the files right that are further or behind (see the module
//! `resume`). Any other state is refused.

use std::io;

use serde::{Deserialize, Serialize};
use tch::Tensor;

use super::{
    Data, Output, Record, Settings, State, TrainError,
    digest::{Content, Digest},
    history,
    identity::Identity,
    output::{BEST, HISTORY, LAST, PERFORMANCE},
    performance::Performance,
    sealed::{self, Block, Encoded},
};
use pipeline::ledger::{Direction, Ledger};

/// What `last.safetensors` says beside its tensors: those of the last epoch, and of the optimizer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Last {
    /// Epochs that are done.
    pub(super) epochs: u64,
    /// Steps of the optimizer.
    pub(super) steps: i32,
    /// The history as far as these epochs go, as text.
    pub(super) history: Digest,
    /// The best parameters; `None` before the first evaluation.
    pub(super) best: Option<BestFile>,
}

/// The best parameters, as the last ones know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BestFile {
    /// Their epoch, counted from 1.
    pub(super) epoch: u64,
    /// The seal of their file.
    pub(super) seal: Digest,
}

/// What `best.safetensors` says beside its tensors, which are parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Best {
    pub(super) record: Record,
}

/// Before the name of a parameter: its running means in the optimizer.
pub(super) const MOMENTS: [&str; 2] = ["adam.mean", "adam.square"];

/// What crosses the bus, as the ledger names it.
pub(super) const SITE: &str = "checkpoint";

/// The checkpoints of one run.
pub(super) struct Checkpoints<'a> {
    pub(super) output: &'a Output,
    pub(super) made: Identity,
    pub(super) ledger: &'a Ledger,
    pub(super) best: Option<BestFile>,
}

impl<'a> Checkpoints<'a> {
    pub(super) fn new(output: &'a Output, data: &Data, settings: &Settings, ledger: &'a Ledger) -> Self {
        Self { output, made: Identity::new(data, settings), ledger, best: None }
    }

    /// Writes a checkpoint; the last epoch is the best one so far, or not.
    pub(super) fn write(&mut self, state: &State, performance: &Performance, better: bool) -> Result<(), TrainError> {
        let mut tensors = self.down(state.model.named())?;
        let best = match state.history.last().filter(|_| better) {
            Some(&record) => Some(self.encode(BEST, Best { record }, &tensors)?),
            None => None,
        };
        if let (Some(Encoded { seal, .. }), Some(record)) = (&best, state.history.last()) {
            self.best = Some(BestFile { epoch: record.epoch, seal: *seal });
        }
        let moments = state.model.named().zip(state.adam.moments());
        tensors.extend(self.down(moments.flat_map(|((name, _), moments)| {
            MOMENTS.iter().zip(moments).map(move |(moment, tensor)| (format!("{moment}.{name}"), tensor))
        }))?);
        let history = history::text(&state.history);
        let last = Last {
            epochs: state.history.len() as u64,
            steps: state.adam.steps(),
            history: digest(&history),
            best: self.best,
        };
        let last = self.encode(LAST, last, &tensors)?;
        self.output.write(HISTORY, "the history", history.as_bytes())?;
        self.write_performance(performance)?;
        self.output.write(LAST, "the parameters", &last.bytes)?;
        best.map_or(Ok(()), |best| self.output.write(BEST, "the parameters", &best.bytes))
    }

    /// Writes what the run took.
    pub(super) fn write_performance(&self, performance: &Performance) -> Result<(), TrainError> {
        let text = serde_json::to_vec_pretty(performance).map_err(|error| self.failed(PERFORMANCE, error.into()))?;
        self.output.write(PERFORMANCE, "the performance", &text)
    }

    pub(super) fn encode<T: Serialize>(&self, name: &str, state: T, tensors: &[Block]) -> Result<Encoded, TrainError> {
        sealed::encode(name, &self.made, state, tensors).map_err(|error| self.failed(name, error))
    }

    /// Brings tensors to the host.
    fn down<'t>(&self, tensors: impl Iterator<Item = (String, &'t Tensor)>) -> Result<Vec<Block>, TrainError> {
        let down = |(name, tensor): (String, &Tensor)| {
            self.ledger.cross(Direction::Down, SITE, tensor.numel() * size_of::<f32>());
            let elements = Vec::<f32>::try_from(tensor.f_detach()?.f_flatten(0, -1)?)?;
            Ok(Block { name, shape: shape(tensor), elements })
        };
        tensors.map(down).collect()
    }

    fn failed(&self, name: &str, error: io::Error) -> TrainError {
        golden_files::write::WriteProblem::Write { error }.at(&self.output.path(name)).into()
    }
}

pub(super) fn shape(tensor: &Tensor) -> Vec<usize> {
    tensor.size().iter().map(|&length| length.cast_unsigned() as usize).collect()
}

pub(super) fn digest(history: &str) -> Digest {
    Content::new("history").text(history).finish()
}
