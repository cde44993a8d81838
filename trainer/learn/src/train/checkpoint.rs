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
//! So training goes on from each of these states, after it has put the files right that are further or behind. Any other
//! state is refused.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use tch::Tensor;

use super::{
    Data, Output, Record, Settings, State, TrainError,
    digest::{Content, Digest},
    history,
    identity::Identity,
    output::{BEST, HISTORY, LAST, PERFORMANCE},
    performance::{Performance, Session, cut},
    sealed::{self, Block, Encoded, Finite, Sealed},
};
use pipeline::ledger::{Direction, Ledger};

/// What `last.safetensors` says beside its tensors: those of the last epoch, and of the optimizer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    /// Epochs that are done.
    epochs: u64,
    /// Steps of the optimizer.
    steps: i32,
    /// The history as far as these epochs go, as text.
    history: Digest,
    /// The best parameters; `None` before the first evaluation.
    best: Option<BestFile>,
}

/// The best parameters, as the last ones know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BestFile {
    /// Their epoch, counted from 1.
    epoch: u64,
    /// The seal of their file.
    seal: Digest,
}

/// What `best.safetensors` says beside its tensors, which are parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Best {
    record: Record,
}

/// Before the name of a parameter: its running means in the optimizer.
const MOMENTS: [&str; 2] = ["adam.mean", "adam.square"];

/// What crosses the bus, as the ledger names it.
const SITE: &str = "checkpoint";

/// The checkpoints of one run.
pub(super) struct Checkpoints<'a> {
    output: &'a Output,
    made: Identity,
    ledger: &'a Ledger,
    best: Option<BestFile>,
}

/// What training goes on from, beside its state.
#[derive(Debug, Default)]
pub(super) struct Resumed {
    /// What earlier sessions have taken.
    pub(super) sessions: Vec<Session>,
    repairs: Repairs,
}

/// Files that a process has left further than `last.safetensors`, or behind it.
#[derive(Debug, Default)]
struct Repairs {
    history: bool,
    performance: bool,
    best: Option<Encoded>,
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

    /// Reads what training goes on from into `state`. Nothing is written.
    pub(super) fn resume(
        &mut self,
        settings: &Settings,
        data: &Data,
        state: &mut State,
    ) -> Result<Resumed, TrainError> {
        let bytes = self.read(LAST)?.ok_or_else(|| self.refused(LAST, "it is gone"))?;
        let (last, parameters, moments) =
            self.last(&bytes, settings, data, state).map_err(|problem| self.refused(LAST, problem))?;
        let (history, history_further) = self.history(&last)?;
        let (sessions, performance_further) = self.performance(&last)?;
        // The best parameters, or that there are none yet.
        self.best = last.best;
        let best = self.check_best(&last, &history, &parameters)?;
        state.best = last.best.map(|best| history[best.epoch as usize - 1]);
        state.history = history;
        let up = |block: &Block, like: &Tensor| {
            self.ledger.cross(Direction::Up, SITE, size_of_val(&*block.elements));
            Tensor::f_from_slice(&block.elements)?.f_reshape(like.size())?.f_to_device(like.device())
        };
        let named = || state.model.named().map(|(_, like)| like);
        let parameters = parameters.iter().zip(named()).map(|(block, like)| up(block, like));
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let moments = moments.as_chunks().0.iter().zip(named());
        let moments = moments.map(|([mean, square], like)| Ok([up(mean, like)?, up(square, like)?]));
        let moments = moments.collect::<Result<Vec<_>, TrainError>>()?;
        state.model.restore(&parameters)?;
        state.adam.resume(last.steps, moments);
        let repairs = Repairs { history: history_further, performance: performance_further, best };
        Ok(Resumed { sessions, repairs })
    }

    /// Puts right what a process has left that ended within a checkpoint. Returns what was done, in sentences.
    pub(super) fn repair(&self, resumed: &Resumed, state: &State) -> Result<Vec<String>, TrainError> {
        let Resumed { sessions, repairs: Repairs { history, performance, best } } = resumed;
        let epochs = state.history.len();
        let mut done = Vec::new();
        let mut say = |name, what: &str| done.push(format!("{}: {what}", self.output.path(name).display()));
        if *history {
            self.output.write(HISTORY, "the history", history::text(&state.history).as_bytes())?;
            say(HISTORY, &format!("it was further than {LAST}, and ends with epoch {epochs} now"));
        }
        if *performance {
            self.write_performance(&Performance::of(self.made.run(), sessions.clone()))?;
            say(PERFORMANCE, &format!("it was further than {LAST}, and ends with epoch {epochs} now"));
        }
        if let Some(best) = best {
            self.output.write(BEST, "the parameters", &best.bytes)?;
            say(BEST, &format!("it was not there or older than {LAST}, and was made of the parameters there"));
        }
        Ok(done)
    }

    /// What `last.safetensors` has: what it says, the parameters, and the optimizer's running means.
    fn last(
        &self,
        bytes: &[u8],
        settings: &Settings,
        data: &Data,
        state: &State,
    ) -> Result<(Last, Vec<Block>, Vec<Block>), String> {
        let file = Sealed::<Last>::open(LAST, bytes)?;
        file.differs(&self.made)
            .map_err(|[difference, advice]| format!("training cannot go on with {difference}; {advice}"))?;
        let shapes = shapes(state);
        let moments: Vec<_> = shapes
            .iter()
            .flat_map(|(name, shape)| MOMENTS.map(|moment| (format!("{moment}.{name}"), shape.as_slice())))
            .collect();
        let wanted = shapes.iter().map(|(name, shape)| (&**name, &**shape, Finite::Yes));
        let mut parameters =
            file.tensors(wanted.chain(moments.iter().map(|(name, shape)| (&**name, *shape, Finite::No))))?;
        let moments = parameters.split_off(shapes.len());
        let last = file.about.state;
        if last.epochs > settings.epochs {
            let (done, asked) = (last.epochs, settings.epochs);
            return Err(format!(
                "{done} epochs are done already, and {asked} are asked for; give --epochs {done} or more"
            ));
        }
        let steps = last.epochs.saturating_mul(settings.minibatches(data) as u64);
        let best_is_done = last.best.is_none_or(|best| (1..=last.epochs).contains(&best.epoch));
        if last.epochs == 0 || u64::try_from(last.steps) != Ok(steps) || !best_is_done {
            return Err("it is damaged: its epochs, steps and best epoch do not go together".to_owned());
        }
        Ok((last, parameters, moments))
    }

    /// The history as far as the last parameters go, and whether there is more of it.
    fn history(&self, last: &Last) -> Result<(Vec<Record>, bool), TrainError> {
        let bytes = self.read(HISTORY)?.ok_or_else(|| {
            self.refused(
                HISTORY,
                format!("it is missing, and {LAST} goes on from it; put it back, or begin again with --overwrite"),
            )
        })?;
        let wrong = |problem: String| self.refused(HISTORY, problem);
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is no text in UTF-8".to_owned()))?;
        let mut history = history::parse(&text).map_err(wrong)?;
        let found = history.len() as u64;
        if found < last.epochs {
            return Err(wrong(format!("it ends with epoch {found}, and {LAST} is of epoch {}", last.epochs)));
        }
        history.truncate(last.epochs as usize);
        let is_last = |history: &[Record]| digest(&history::text(history)) == last.history;
        if is_last(&history) {
            return Ok((history, found > last.epochs));
        }
        // The last epoch may have been evaluated after its parameters were written.
        if let Some(record) = history.last_mut() {
            record.accuracy = None;
        }
        if is_last(&history) {
            return Ok((history, true));
        }
        Err(wrong(format!(
            "its lines up to epoch {} are not those that were written with {LAST}; give the history of this run, or begin again \
             with --overwrite",
            last.epochs
        )))
    }

    /// What earlier sessions took as far as the last parameters go, and whether there was more.
    fn performance(&self, last: &Last) -> Result<(Vec<Session>, bool), TrainError> {
        let bytes = self.read(PERFORMANCE)?.ok_or_else(|| {
            let problem = "it is missing, and what earlier sessions took would be lost; put it back, or begin again with \
                           --overwrite";
            self.refused(PERFORMANCE, problem)
        })?;
        let wrong = |problem: String| {
            self.refused(PERFORMANCE, format!("{problem}; give the one of this run, or begin again with --overwrite"))
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is no text in UTF-8".to_owned()))?;
        let mut sessions = Performance::sessions_in(&text, self.made.run()).map_err(wrong)?;
        let further = cut(&mut sessions, last.epochs)
            .map_err(|end| wrong(format!("it ends with epoch {end}, and {LAST} is of epoch {}", last.epochs)))?;
        // Sessions that are over stay as they are.
        sessions.iter_mut().for_each(|session| session.before = None);
        Ok((sessions, further))
    }

    /// Checks that the best parameters are those that the last ones know. If the last epoch is the best one, its process may
    /// have ended before it wrote them: then the file is returned that it would have written.
    fn check_best(&self, last: &Last, history: &[Record], parameters: &[Block]) -> Result<Option<Encoded>, TrainError> {
        let bytes = self.read(BEST)?;
        let refused = |problem: String| self.refused(BEST, problem);
        let Some(best) = last.best else {
            return match bytes {
                Some(_) => {
                    Err(refused(format!("{LAST} knows of no best epoch yet, so it is of another run; remove it")))
                }
                None => Ok(None),
            };
        };
        let epoch = best.epoch;
        let instead =
            format!("{LAST} wants the parameters of epoch {epoch}; put them back, or begin again with --overwrite");
        let written_late = epoch == last.epochs;
        match bytes {
            Some(bytes) => {
                let found =
                    self.best(&bytes, parameters).map_err(|problem| refused(format!("{problem}; {instead}")))?;
                if found == best {
                    return Ok(None);
                }
                if !written_late || found.epoch >= epoch {
                    let what = if found.epoch == epoch {
                        "other parameters".to_owned()
                    } else {
                        format!("those of epoch {}", found.epoch)
                    };
                    return Err(refused(format!("it has {what}; {instead}")));
                }
            }
            None if !written_late => return Err(refused(format!("it is missing; {instead}"))),
            None => {}
        }
        let made = self.encode(BEST, Best { record: history[epoch as usize - 1] }, parameters)?;
        if made.seal != best.seal {
            return Err(self.refused(LAST, "it is damaged: its parameters are not those of its best epoch".to_owned()));
        }
        Ok(Some(made))
    }

    /// Which parameters `best.safetensors` has; they are of this run and have the shapes of `like`.
    fn best(&self, bytes: &[u8], like: &[Block]) -> Result<BestFile, String> {
        let file = Sealed::<Best>::open(BEST, bytes)?;
        file.differs(&self.made).map_err(|[difference, _]| format!("it is of another run, with {difference}"))?;
        file.tensors(like.iter().map(|like| (&*like.name, &*like.shape, Finite::Yes)))?;
        Ok(BestFile { epoch: file.about.state.record.epoch, seal: file.seal })
    }

    fn encode<T: Serialize>(&self, name: &str, state: T, tensors: &[Block]) -> Result<Encoded, TrainError> {
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

    /// The bytes of a file; `None` if there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, TrainError> {
        match fs::read(self.output.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(name, format!("cannot be read: {error}"))),
        }
    }

    fn refused(&self, name: impl AsRef<Path>, problem: impl Into<String>) -> TrainError {
        TrainError::Resume { path: self.output.path(name), problem: problem.into() }
    }

    fn failed(&self, name: &str, error: io::Error) -> TrainError {
        golden_files::write::WriteProblem::Write { error }.at(&self.output.path(name)).into()
    }
}

/// The names and shapes of the parameters.
fn shapes(state: &State) -> Vec<(String, Vec<usize>)> {
    state.model.named().map(|(name, tensor)| (name, shape(tensor))).collect()
}

fn shape(tensor: &Tensor) -> Vec<usize> {
    tensor.size().iter().map(|&length| length.cast_unsigned() as usize).collect()
}

fn digest(history: &str) -> Digest {
    Content::new("history").text(history).finish()
}
