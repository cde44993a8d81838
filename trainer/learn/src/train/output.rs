//! The folder for results.

use std::{
    fs::{self, DirEntry, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use golden_files::write::{self, WriteProblem};

use super::TrainError;

pub(super) const HISTORY: &str = "history.csv";
pub(super) const PERFORMANCE: &str = "performance.json";
pub(super) const BEST: &str = "best.safetensors";
pub(super) const LAST: &str = "last.safetensors";

/// What is done with a folder that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is refused.
    Refuse,
    /// Results that are there are removed when training begins, other files stay.
    Overwrite,
    /// Training goes on from them.
    Resume,
    /// Training goes on from them if there are any, and else begins. There may be what a first checkpoint leaves whose process
    /// has ended before it was complete.
    ResumeOrBegin,
}

/// The folder for results: `history.csv` (a line for each epoch), `performance.json` (what all sessions of the run took),
/// `best.safetensors` (the parameters of the best epoch) and `last.safetensors` (those of the last one that had a checkpoint,
/// and the optimizer).
///
/// Each file appears whole, and all belong to one run (see the module `checkpoint`). The folder is one process's at a time, as
/// far as its file system knows locks. The parameters have the names that a `PyTorch` module of `PyTorch` Geometric's
/// `SAGEConv` has.
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
        let nothing = |instead: &str| {
            let problem = format!("there is no {LAST} to go on from; {instead}");
            Err(TrainError::Resume { path: folder.to_owned(), problem })
        };
        if presence == Presence::Resume && !folder.exists() {
            return nothing("leave --resume away to begin");
        }
        fs::create_dir_all(folder).map_err(at)?;
        let lock = File::open(folder).map_err(at)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(TrainError::InUse(folder.to_owned()));
        }
        write::sweep(folder, write::PARTS);
        let files: Vec<DirEntry> = fs::read_dir(folder).and_then(Iterator::collect).map_err(at)?;
        let presence = match presence {
            Presence::Refuse if !files.is_empty() => return Err(TrainError::NotEmpty(folder.to_owned())),
            Presence::Resume | Presence::ResumeOrBegin if Self::can_resume(folder) => Presence::Resume,
            Presence::Resume if files.is_empty() => return nothing("leave --resume away to begin"),
            Presence::Resume => return nothing("give --overwrite instead of --resume to begin"),
            Presence::ResumeOrBegin if files.iter().all(is_of_first_checkpoint) => Presence::Overwrite,
            Presence::ResumeOrBegin => return nothing("empty the folder, and this run begins"),
            presence => presence,
        };
        Ok(Self { folder: folder.to_owned(), presence, _lock: lock })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
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
        // First the one without which the others are nothing to go on from.
        for path in [LAST, BEST, PERFORMANCE, HISTORY].map(|name| self.path(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WriteProblem::Write { error }.at(&path).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Where a file is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Puts a file in its place; `what` names it in an error.
    pub(super) fn write(&self, name: &str, what: &'static str, bytes: &[u8]) -> Result<(), TrainError> {
        Ok(write::file(&self.path(name), what, true, |out| out.write_all(bytes))?)
    }
}

/// Whether a first checkpoint writes this file before there is something to go on from, or had begun to write it.
fn is_of_first_checkpoint(file: &DirEntry) -> bool {
    let name = file.file_name();
    let name = name.to_string_lossy();
    [HISTORY, PERFORMANCE].contains(&&*name) || name.starts_with('.') && name.ends_with(".part")
}
