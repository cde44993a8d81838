//! The cache of compiled models: a folder for each key, made whole under another name and then renamed.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use super::{BuildError, at};

/// The model's file in its folder, and while it is made.
pub(super) const LIBRARY: &str = "model.so";

/// One place of the cache, filled or not.
pub(super) struct Entry {
    cache: PathBuf,
    folder: PathBuf,
}

impl Entry {
    pub(super) fn new(cache: &Path, key: &str) -> Self {
        Self { cache: cache.to_owned(), folder: cache.join(key) }
    }

    /// The finished library.
    pub(super) fn library(&self) -> Option<PathBuf> {
        Some(self.folder.join(LIBRARY)).filter(|path| path.is_file())
    }

    /// The log of the build; it stays here when that fails.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.with_extension("log")
    }

    /// Keeps everybody else from building until it is dropped. There is one lock for all models, as two builds at a time take
    /// no less time than one after the other.
    pub(super) fn lock(&self, progress: &dyn Fn(&str)) -> Result<File, BuildError> {
        let path = self.cache.join("lock");
        fs::create_dir_all(&self.cache).map_err(at(&self.cache))?;
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress("waiting for another build of an RTL model"),
            Err(TryLockError::Error(error)) => return Err(at(&path)(error)),
        }
        file.lock().map_err(at(&path))?;
        Ok(file)
    }

    /// An empty folder to work in. Only who holds the lock calls this, so one that is there is left over.
    pub(super) fn begin(&self) -> Result<PathBuf, BuildError> {
        let folder = self.cache.join("tmp");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(at(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(folder)
    }

    /// Makes the library that lies in `work`, and the log, the entry's own; everything else in there goes.
    pub(super) fn publish(&self, work: &Path) -> Result<PathBuf, BuildError> {
        let whole = work.join("whole");
        fs::create_dir(&whole).map_err(at(&whole))?;
        for (from, to) in [(work.join(LIBRARY), LIBRARY), (self.log(), "build.log")] {
            fs::rename(&from, whole.join(to)).map_err(at(&from))?;
        }
        fs::rename(&whole, &self.folder).map_err(at(&self.folder))?;
        fs::remove_dir_all(work).map_err(at(work))?;
        Ok(self.folder.join(LIBRARY))
    }
}
