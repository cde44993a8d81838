//! The folder for results.

use std::{
    fmt::Write as _,
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use golden::write::{self, Out, WriteProblem};

use super::{Accuracy, Performance, Record, TrainError};

const HISTORY: &str = "history.csv";
const PERFORMANCE: &str = "performance.json";
const BEST: &str = "best.safetensors";
const LAST: &str = "last.safetensors";

/// What is done with a folder that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is refused.
    Refuse,
    /// Results that are there are removed when training begins, other files stay.
    Overwrite,
    /// Training goes on from them.
    Resume,
}

/// The folder for results: `history.csv` (a line for each epoch), `performance.json`, `best.safetensors` (the parameters of
/// the best epoch) and `last.safetensors` (those of the last one that had a checkpoint, and the optimizer).
///
/// Each file appears whole. The folder is one run's at a time, as far as its file system knows locks. The parameters have the names that a PyTorch module of PyTorch Geometric's `SAGEConv` has.
#[derive(Debug)]
pub struct Output {
    folder: PathBuf,
    presence: Presence,
    /// The folder itself, locked as long as this is open.
    _lock: File,
}

impl Output {
    /// Makes the folder, or takes the one that is there.
    ///
    /// # Errors
    /// What is in the way.
    pub fn open(folder: &Path, presence: Presence) -> Result<Self, TrainError> {
        let at = |error| WriteProblem::Write { error }.at(folder);
        fs::create_dir_all(folder).map_err(at)?;
        let lock = File::open(folder).map_err(at)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(TrainError::InUse(folder.to_owned()));
        }
        write::sweep(folder, write::PARTS);
        let empty = fs::read_dir(folder).map_err(at)?.next().is_none();
        match presence {
            Presence::Refuse if !empty => return Err(TrainError::NotEmpty(folder.to_owned())),
            Presence::Resume if !Self::can_resume(folder) => {
                let instead = if empty { "leave --resume away" } else { "give --overwrite instead of --resume" };
                let problem = format!("there is no {LAST} to go on from; {instead} to begin");
                return Err(TrainError::Resume { path: folder.to_owned(), problem });
            }
            _ => {}
        }
        Ok(Self { folder: folder.to_owned(), presence, _lock: lock })
    }

    /// Whether a folder has what training can go on from.
    pub fn can_resume(folder: &Path) -> bool {
        folder.join(LAST).is_file()
    }

    /// Whether training is to go on from what is there.
    pub(super) fn resumes(&self) -> bool {
        self.presence == Presence::Resume
    }

    /// Training begins: nothing that could be known before is in its way. Removes what is to be overwritten.
    pub(super) fn begin(&self) -> Result<(), TrainError> {
        if self.presence != Presence::Overwrite {
            return Ok(());
        }
        for path in [HISTORY, PERFORMANCE, BEST, LAST].map(|name| self.folder.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WriteProblem::Write { error }.at(&path).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn last(&self) -> PathBuf {
        self.folder.join(LAST)
    }

    pub(super) fn best(&self) -> PathBuf {
        self.folder.join(BEST)
    }

    pub(super) fn write_history(&self, history: &[Record]) -> Result<(), TrainError> {
        let mut lines = String::from("epoch,loss,valid_accuracy,test_accuracy\n");
        for Record { epoch, loss, accuracy } in history {
            let cell = |part: Option<f64>| part.map(|part| part.to_string()).unwrap_or_default();
            let [valid, test] = [accuracy.and_then(|a| a.valid), accuracy.and_then(|a| a.test)].map(cell);
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{epoch},{loss},{valid},{test}");
        }
        self.write(HISTORY, "the history", |out| out.write_all(lines.as_bytes()))
    }

    /// The first `epochs` lines of the history.
    pub(super) fn read_history(&self, epochs: u64) -> Result<Vec<Record>, TrainError> {
        let path = self.folder.join(HISTORY);
        let wrong = |problem: String| TrainError::Resume { path: path.clone(), problem };
        let text = fs::read_to_string(&path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let mut history = Vec::new();
        for (line, epoch) in text.lines().skip(1).take(epochs as usize).zip(1..) {
            let record = record(line, epoch);
            history.push(record.ok_or_else(|| wrong(format!("line {} is not that of epoch {epoch}", epoch + 1)))?);
        }
        if history.len() as u64 != epochs {
            return Err(wrong(format!("it ends with epoch {}, and {LAST} is of epoch {epochs}", history.len())));
        }
        Ok(history)
    }

    pub(super) fn write_performance(&self, performance: &Performance) -> Result<(), TrainError> {
        self.write(PERFORMANCE, "the performance", |out| Ok(serde_json::to_writer_pretty(out, performance)?))
    }

    fn write(
        &self,
        name: &str,
        what: &'static str,
        content: impl FnOnce(&mut Out) -> io::Result<()>,
    ) -> Result<(), TrainError> {
        Ok(write::file(&self.folder.join(name), what, true, content)?)
    }
}

/// Reads a line of the history.
fn record(line: &str, epoch: u64) -> Option<Record> {
    let cells: Vec<_> = line.split(',').collect();
    let &[number, loss, valid, test] = &cells[..] else { return None };
    let cell = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    let (valid, test) = (cell(valid)?, cell(test)?);
    let accuracy = (valid.is_some() || test.is_some()).then_some(Accuracy { valid, test });
    let record = Record { epoch: number.parse().ok()?, loss: loss.parse().ok()?, accuracy };
    (record.epoch == epoch).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_history() {
        let accuracy = |valid, test| Some(Accuracy { valid, test });
        let read = |line: &str| record(line, 3).map(|record| (record.loss, record.accuracy));
        assert_eq!(read("3,1.5,0.25,0.30000000000000004"), Some((1.5, accuracy(Some(0.25), Some(0.1 + 0.2)))));
        assert_eq!(read("3,1.5,,0.5"), Some((1.5, accuracy(None, Some(0.5)))));
        assert_eq!(read("3,1.5,,"), Some((1.5, None)));
        for line in ["", "3", "4,1.5,,", "3,x,,", "3,1.5,x,", "3,1.5,,,"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
