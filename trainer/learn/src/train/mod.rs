//! Training GraphSAGE on what a card samples.
//!
//! An epoch has every training node once, in an order of its own. In iteration g of an epoch SLR s samples mini-batch
//! 3 g + s; the optimizer makes one step for each mini-batch, in the order of the SLRs. Nothing comes to the host meanwhile:
//! losses stay where they are computed, and are read when the epoch is over. All that libtorch does is work of one stream, which
//! the pipeline knows as that of the consumer.
//!
//! A seed and a data set fix everything on one machine with one number of threads: the order of nodes, the sub-graphs, the
//! first weights, and dropout; whichever back end samples, and whether or not training was interrupted at a checkpoint.
//!
//! A run goes on with its own data set and settings alone, which are known by their content: see the module `identity`, and
//! `kept` for what may change. It may have several sessions; what is reported is the run, and each of its sessions.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

mod checkpoint;
mod data;
mod digest;
mod epoch;
mod error;
mod history;
mod identity;
mod kept;
mod output;
mod performance;
mod resume;
mod sealed;
mod settings;

use std::{sync::Arc, time::Instant};

use golden::Progress;
use hw::SamplerDevice;
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::{
    sage::{self, Adam, Model, infer},
    torch::{Lent, Torch, TorchAccelerator},
};
use checkpoint::Checkpoints;
use epoch::Epoch;
use golden_files::memory::{self, Gigabytes};
use identity::Identity;
use pipeline::{
    Pipeline, PipelineError, PipelineOptions, Transport,
    ledger::{Direction, Ledger, Tally},
};
use resume::Resumed;

pub use data::Data;
pub use digest::Digest;
pub use error::TrainError;
pub use identity::DataIdentity;
pub use output::{Output, Presence};
pub use performance::{Figures, Performance, Session};
pub use settings::Settings;

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
    /// What it took, in all sessions.
    pub performance: Performance,
    /// The model as the last epoch has left it.
    pub model: Model,
    /// Whether this session had anything to do: of a run that was complete no file is changed.
    pub worked: bool,
    /// What was put right before training went on, in sentences.
    pub repaired: Vec<String>,
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
///
/// # Panics
/// Never: the last epoch is evaluated, and there is at least one.
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
    let mut checkpoints = output.map(|output| Checkpoints::new(output, data, settings, ledger));
    let mut resumed = Resumed::default();
    if let (Some(checkpoints), Some(true)) = (&mut checkpoints, output.map(Output::resumes)) {
        resumed = torch.compute("resuming", [], |[]| checkpoints.resume(settings, data, &mut state))??;
    }
    let begun = state.history.len() as u64;
    let session = Session {
        first_epoch: begun + 1,
        backend: device.capabilities().backend.to_owned(),
        accelerator: accelerator.properties()?,
        threads: tch::get_num_threads(),
        slots: transport.slots,
        sink: transport.sink.map(|sink| sink.to_string()),
        settings: kept::free(settings),
        // Before the first checkpoint nothing is done.
        before: Some(Figures::default()),
        ..Session::default()
    };
    let run = Identity::new(data, settings).run();
    let mut work = Work { data, settings, torch, checkpoints, state, run, resumed, session, kept: None };
    let repaired;
    // The last epoch of a run is evaluated, and it may not have been while there were to be more of them.
    let mut unevaluated = false;
    if begun < settings.epochs {
        device.load_graph(&data.graph, progress)?;
        let options = PipelineOptions {
            transport: transport.clone(),
            capacity: settings.capacity(data),
            timeout: None,
            poison: false,
        };
        let pipeline = Pipeline::new(Arc::clone(device), Arc::clone(accelerator), &options)?;
        work.session.sink = Some(pipeline.sink().to_string());
        let losses = accelerator.allocate("losses".to_owned(), Epoch::losses(data, settings))?;
        output.map_or(Ok(()), Output::begin)?;
        repaired = work.repair()?;
        for number in begun..settings.epochs {
            let epoch = Epoch { number, data, settings };
            let figures = &mut work.session.figures;
            match epoch.train(&pipeline, torch, &losses, &mut work.state, figures, progress) {
                Ok(loss) => work.conclude(number + 1, loss)?,
                Err(error) => return Err(work.give_up(error)),
            }
        }
    } else {
        repaired = work.repair()?;
        if let Some(Record { epoch, loss, .. }) = work.state.history.pop_if(|record| record.accuracy.is_none()) {
            unevaluated = true;
            work.conclude(epoch, loss)?;
        }
    }
    let worked = begun < settings.epochs || unevaluated;
    let performance = if worked { work.end()? } else { Performance::of(run, work.resumed.sessions) };
    let State { model, history, best, .. } = work.state;
    let best = best.expect("the last epoch was evaluated");
    Ok(Outcome { history, best, performance, model, worked, repaired })
}

/// A run at work.
struct Work<'a, A: TorchAccelerator> {
    data: &'a Data,
    settings: &'a Settings,
    torch: &'a Torch<A>,
    checkpoints: Option<Checkpoints<'a>>,
    state: State,
    run: Digest,
    /// What it goes on from.
    resumed: Resumed,
    session: Session,
    /// The end of the last epoch, where it has no checkpoint.
    kept: Option<Kept>,
}

/// What was known at the end of an epoch without a checkpoint: it gets one if training is stopped in the next epoch.
struct Kept {
    parameters: Vec<Tensor>,
    moments: Vec<[Tensor; 2]>,
    steps: i32,
    figures: Figures,
}

impl<A: TorchAccelerator> Work<'_, A> {
    /// What all sessions took until now.
    fn performance(&self) -> Performance {
        Performance::of(self.run, self.resumed.sessions.iter().chain([&self.session]).cloned().collect())
    }

    /// Puts right what an earlier session has left.
    fn repair(&self) -> Result<Vec<String>, TrainError> {
        self.checkpoints.as_ref().map_or(Ok(Vec::new()), |checkpoints| checkpoints.repair(&self.resumed, &self.state))
    }

    /// Does what is due after an epoch, counted from 1: evaluation, checkpoint, or neither.
    fn conclude(&mut self, epoch: u64, loss: f64) -> Result<(), TrainError> {
        let &mut Self { data, settings, torch, .. } = self;
        let evaluated = epoch == settings.epochs || epoch.is_multiple_of(settings.eval_every);
        let begin = Instant::now();
        let accuracy = evaluated.then(|| accuracy(&self.state.model, data, torch)).transpose()?;
        self.session.figures.evaluation += begin.elapsed();
        let better = self.state.enter(Record { epoch, loss, accuracy });
        if !evaluated && !settings.checkpoint_every.is_some_and(|every| epoch.is_multiple_of(every)) {
            return self.keep();
        }
        self.session.figures.transfers = torch.accelerator().ledger().tally().map(Tally::into_owned);
        self.remember(better)
    }

    /// Writes a checkpoint; the last epoch is the best one so far, or not.
    fn remember(&mut self, better: bool) -> Result<(), TrainError> {
        let (performance, torch) = (self.performance(), self.torch);
        self.kept = None;
        if let Some(checkpoints) = &mut self.checkpoints {
            torch.compute("checkpoint", [], |[]| checkpoints.write(&self.state, &performance, better))??;
            self.session.before = Some(self.session.figures.clone());
        }
        Ok(())
    }

    /// Keeps what a checkpoint of the last epoch would need.
    fn keep(&mut self) -> Result<(), TrainError> {
        if self.checkpoints.is_none() {
            return Ok(());
        }
        let State { model, adam, .. } = &self.state;
        let figures = Figures {
            transfers: self.torch.accelerator().ledger().tally().map(Tally::into_owned),
            ..self.session.figures.clone()
        };
        let copy = || -> sage::Result<_> {
            let moments = adam.moments().iter().map(|moments| moments.each_ref().map(Tensor::copy)).collect();
            Ok(Kept { parameters: model.snapshot()?, moments, steps: adam.steps(), figures })
        };
        self.kept = Some(self.torch.compute("what an epoch has led to", [], |[]| copy())??);
        Ok(())
    }

    /// Training does not go on. If it was stopped, the epochs that are done get their checkpoint; returns why it does not go on,
    /// or why there is none.
    fn give_up(&mut self, error: TrainError) -> TrainError {
        let TrainError::Pipeline(PipelineError::Stopped { .. }) = error else { return error };
        let Some(Kept { parameters, moments, steps, figures }) = self.kept.take() else { return error };
        let State { model, adam, .. } = &mut self.state;
        let restored = self.torch.compute("what an epoch has led to", [], |[]| model.restore(&parameters));
        adam.resume(steps, moments);
        self.session.figures = figures;
        let written = restored.map_err(TrainError::from).and_then(|restored| Ok(restored?));
        written.and_then(|()| self.remember(false)).err().unwrap_or(error)
    }

    /// The session is over: what it took is complete.
    fn end(&mut self) -> Result<Performance, TrainError> {
        self.session.before = None;
        self.session.figures.transfers = self.torch.accelerator().ledger().take().map(Tally::into_owned);
        let performance = self.performance();
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.write_performance(&performance)?;
        }
        Ok(performance)
    }
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
