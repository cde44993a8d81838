//! Goes on from a checkpoint: reads its files, refuses what does not belong together, and puts right what a process has left
//! that ended within a checkpoint.

use std::{fs, io};

use tch::Tensor;

use super::{
    Data, Record, Settings, State, TrainError,
    checkpoint::{Best, BestFile, Checkpoints, Last, MOMENTS, SITE, digest, shape},
    history,
    output::{BEST, HISTORY, LAST, PERFORMANCE},
    performance::{Performance, Session, cut},
    sealed::{Block, Encoded, Finite, Sealed},
};
use pipeline::ledger::Direction;

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

impl Checkpoints<'_> {
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
        for &record in &history {
            state.enter(record);
        }
        if last.best.map(|best| best.epoch) != state.best.map(|best| best.epoch) {
            return Err(self.refused(LAST, format!("it is damaged: its best epoch is not that of {HISTORY}")));
        }
        self.best = last.best;
        let best = self.check_best(&last, state.best, &parameters)?;
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
        if last.epochs == 0 || u64::try_from(last.steps) != Ok(steps) {
            return Err("it is damaged: its epochs and steps do not go together".to_owned());
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

    /// Checks that the best parameters are those that the last ones know; `record` is that of their epoch. If the last epoch is the best one, its process may
    /// have ended before it wrote them: then the file is returned that it would have written.
    fn check_best(
        &self,
        last: &Last,
        record: Option<Record>,
        parameters: &[Block],
    ) -> Result<Option<Encoded>, TrainError> {
        let bytes = self.read(BEST)?;
        let refused = |problem: String| self.refused(BEST, problem);
        let (Some(best), Some(record)) = (last.best, record) else {
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
        let made = self.encode(BEST, Best { record }, parameters)?;
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

    /// The bytes of a file; `None` if there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, TrainError> {
        let path = self.output.path(name);
        let bytes = path.metadata().and_then(|found| found.is_file().then(|| fs::read(&path)).transpose());
        match bytes {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            // Nobody may ever write into a pipe.
            Ok(None) => Err(self.refused(name, "it is no file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(name, format!("cannot be read: {error}"))),
        }
    }

    fn refused(&self, name: &str, problem: impl Into<String>) -> TrainError {
        TrainError::Resume { path: self.output.path(name), problem: problem.into() }
    }
}

/// The names and shapes of the parameters.
fn shapes(state: &State) -> Vec<(String, Vec<usize>)> {
    state.model.named().map(|(name, tensor)| (name, shape(tensor))).collect()
}
