//! Training GraphSAGE on what a card samples.
//!
//! An epoch has every training node once, in an order of its own. In iteration g of an epoch SLR s samples mini-batch
//! 3 g + s; the optimizer makes one step for each mini-batch, in the order of the SLRs. Nothing comes to the host meanwhile:
//! losses stay where they are computed, and are read when the epoch is over. All that libtorch does is work of one stream, which
//! the pipeline knows as that of the consumer.
//!
//! A seed and a data set fix everything on one machine with one number of threads: the order of nodes, the sub-graphs, the
//! first weights, and dropout; whichever back end samples, and whether or not training was interrupted at a checkpoint.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

mod checkpoint;
mod data;
mod epoch;
mod error;
mod output;
mod performance;
mod settings;

use std::{sync::Arc, time::Instant};

use golden::Progress;
use hw::SamplerDevice;
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::{
    accelerator::{Lent, Torch, TorchAccelerator},
    ledger::{Direction, Ledger},
    memory::{self, Gigabytes},
    pipeline::{Pipeline, PipelineOptions, Transport},
    sage::{self, Adam, Model, infer},
};
use epoch::Epoch;

pub use data::Data;
pub use error::TrainError;
pub use output::{Output, Presence};
pub use performance::Performance;
pub use settings::{Changes, Settings};

/// One line of the history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The epoch, counted from 1.
    pub epoch: u64,
    /// Mean loss of its mini-batches, each weighed by its seed nodes.
    pub loss: f64,
    /// Where it was evaluated.
    pub accuracy: Option<Accuracy>,
}

/// How many nodes the model gets right, of those that are not for training: a part of 1, `None` where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Of the nodes to choose a model by.
    pub valid: Option<f64>,
    /// Of the nodes to judge it by.
    pub test: Option<f64>,
}

/// What training has led to.
#[derive(Debug)]
pub struct Outcome {
    /// All epochs, also those before a resumption.
    pub history: Vec<Record>,
    /// The epoch whose weights are best by the nodes to choose by: the first of several, and the last epoch if there are no
    /// such nodes.
    pub best: Record,
    /// What it took.
    pub performance: Performance,
    /// The model as the last epoch has left it.
    pub model: Model,
}

/// What training remembers from one epoch to the next.
struct State {
    model: Model,
    adam: Adam,
    history: Vec<Record>,
    best: Option<Record>,
}

/// Trains a model. What is remembered is written to `output`, and read from it if training is to be resumed.
///
/// Dropout takes libtorch's own random numbers, of which a process has one source: two trainings in one process at a time
/// disturb each other.
///
/// # Errors
/// What cannot be trained with, read or written; a failing back end; a loss that is not finite.
pub fn run<A: TorchAccelerator>(
    device: &Arc<dyn SamplerDevice>,
    torch: &Torch<A>,
    data: &Data,
    settings: &Settings,
    transport: &Transport,
    output: Option<&Output>,
    progress: &dyn Progress,
) -> Result<Outcome, TrainError> {
    settings.check()?;
    settings.check_requests(&**device, data)?;
    let accelerator = torch.accelerator();
    match (accelerator.free_memory()?, memory::available()) {
        (Some(free), _) => settings.check_memory(data, free, &format!("{} are free", Gigabytes(free)))?,
        (None, Some(free)) => settings.check_memory(data, free.bytes, &free)?,
        (None, None) => {}
    }
    let ledger = accelerator.ledger();
    let mut state = torch.compute("the first parameters", [], |[]| State::new(data, settings, ledger))??;
    if let Some(output) = output.filter(|output| output.resumes()) {
        torch.compute("resuming", [], |[]| checkpoint::resume(output, settings, data, &mut state, ledger))??;
    }
    device.load_graph(&data.graph, progress)?;
    let options = PipelineOptions {
        transport: transport.clone(),
        capacity: settings.capacity(data),
        timeout: None,
        poison: false,
    };
    let pipeline = Pipeline::new(Arc::clone(device), Arc::clone(accelerator), &options)?;
    let losses = accelerator.allocate("losses".to_owned(), Epoch::losses(data, settings))?;
    output.map_or(Ok(()), Output::begin)?;
    let mut performance = Performance::new(device.capabilities().backend, accelerator.properties()?);
    for number in state.history.len() as u64..settings.epochs {
        let epoch = Epoch { number, data, settings };
        let loss = epoch.train(&pipeline, torch, &losses, &mut state, &mut performance, progress)?;
        let done = number + 1;
        let evaluated = done == settings.epochs || done.is_multiple_of(settings.eval_every);
        let begin = Instant::now();
        let accuracy = evaluated.then(|| accuracy(&state.model, data, torch)).transpose()?;
        performance.evaluation += begin.elapsed();
        let better = state.enter(Record { epoch: done, loss, accuracy });
        let remembered = evaluated || settings.checkpoint_every.is_some_and(|every| done.is_multiple_of(every));
        if let Some(output) = output.filter(|_| remembered) {
            torch.compute("checkpoint", [], |[]| checkpoint::write(output, settings, &state, better, ledger))??;
        }
    }
    performance.transfers = ledger.tally();
    if let Some(output) = output {
        output.write_performance(&performance)?;
    }
    let State { model, history, best, .. } = state;
    Ok(Outcome { best: best.ok_or(TrainError::Nothing)?, history, performance, model })
}

impl State {
    fn new(data: &Data, settings: &Settings, ledger: &Ledger) -> Result<Self, TrainError> {
        let model = Model::new(&settings.widths(data), settings.seed, data.device())?;
        for (_, parameter) in model.named() {
            ledger.cross(Direction::Up, "first parameters", parameter.numel() * size_of::<f32>());
        }
        let adam = Adam::new(&model, settings.lr, settings.weight_decay, settings.decay_layers.unwrap_or(usize::MAX))?;
        Ok(Self { model, adam, history: Vec::new(), best: None })
    }

    /// Enters an epoch into the history; returns whether it is the best so far.
    fn enter(&mut self, record: Record) -> bool {
        self.history.push(record);
        let Some(accuracy) = record.accuracy else { return false };
        let best = self.best.and_then(|best| best.accuracy?.valid);
        // Without nodes to choose by, the last one is the best.
        let better = accuracy.valid.is_none_or(|valid| best.is_none_or(|best| best < valid));
        if better {
            self.best = Some(record);
        }
        better
    }
}

/// Evaluates a model with all in-neighbours of every node.
///
/// # Errors
/// [`TrainError::Parameters`]; what libtorch or the accelerator says.
pub fn accuracy<A: TorchAccelerator>(model: &Model, data: &Data, torch: &Torch<A>) -> Result<Accuracy, TrainError> {
    /// Right nodes to choose a model by, right nodes to judge it by, and elements of its parameters that are not finite.
    const COUNTS: usize = 3;
    let accelerator = torch.accelerator();
    let counts = accelerator.allocate("nodes that are right".to_owned(), COUNTS)?;
    let written = Lent::Written(&counts, COUNTS, Kind::Int);
    torch.compute("evaluation", [written], |[mut counts]| -> sage::Result<_> {
        let ledger = accelerator.ledger();
        let logits = infer::logits(model, &data.features, &data.graph, infer::Chunk::default(), ledger)?;
        let right = logits.f_argmax(1, false)?.f_eq_tensor(&data.labels)?;
        let count = |nodes: &Tensor| right.f_index_select(0, nodes)?.f_sum(Kind::Int);
        // The last step of an epoch may have spoilt them, of which its loss tells nothing.
        let infinite = |tensor: &Tensor| tensor.f_isfinite()?.f_logical_not()?.f_sum(Kind::Int);
        let infinite = model.named().map(|(_, parameter)| infinite(parameter)).collect::<sage::Result<Vec<_>>>()?;
        let infinite = Tensor::f_stack(&infinite, 0)?.f_sum(Kind::Int)?;
        counts.f_copy_(&Tensor::f_stack(&[count(&data.valid)?, count(&data.test)?, infinite], 0)?)
    })??;
    let counts = accelerator.download(torch.stream(), "accuracy", &counts, COUNTS)?;
    if counts[2] > 0 {
        return Err(TrainError::Parameters { elements: counts[2] });
    }
    let part = |right: i32, nodes: &Tensor| (nodes.numel() > 0).then(|| f64::from(right) / nodes.numel() as f64);
    Ok(Accuracy { valid: part(counts[0], &data.valid), test: part(counts[1], &data.test) })
}
