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
    folder: PathBuf,
}

impl Entry {
    pub(super) fn new(cache: &Path, key: &str) -> Self {
        Self { folder: cache.join(key) }
    }

    /// The finished library.
    pub(super) fn library(&self) -> Option<PathBuf> {
        Some(self.folder.join(LIBRARY)).filter(|path| path.is_file())
    }

    /// The log of the last build; it stays when that failed.
    pub(super) fn log(&self) -> PathBuf {
        self.beside("log")
    }

    /// Keeps other processes (and threads) away until it is dropped.
    pub(super) fn lock(&self, progress: &dyn Fn(&str)) -> Result<File, BuildError> {
        let path = self.beside("lock");
        let cache = self.folder.parent().expect("a folder in the cache has one");
        fs::create_dir_all(cache).map_err(at(cache))?;
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress("waiting for another process that compiles the same RTL model"),
            Err(TryLockError::Error(error)) => return Err(at(&path)(error)),
        }
        file.lock().map_err(at(&path))?;
        Ok(file)
    }

    /// An empty folder to work in. Only who holds the lock calls this, so one that is there is left over.
    pub(super) fn begin(&self) -> Result<PathBuf, BuildError> {
        let folder = self.beside("tmp");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(at(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(folder)
    }

    /// Makes the library that lies in `work` the entry's own; everything else in there goes.
    pub(super) fn publish(&self, work: &Path) -> Result<PathBuf, BuildError> {
        let whole = self.beside("whole");
        fs::create_dir_all(&whole).map_err(at(&whole))?;
        let library = work.join(LIBRARY);
        fs::rename(&library, whole.join(LIBRARY)).map_err(at(&library))?;
        fs::rename(&whole, &self.folder).map_err(at(&self.folder))?;
        fs::remove_dir_all(work).map_err(at(work))?;
        Ok(self.folder.join(LIBRARY))
    }

    fn beside(&self, extension: &str) -> PathBuf {
        self.folder.with_extension(extension)
    }
}
