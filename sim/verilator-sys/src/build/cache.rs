//! The cache of compiled models: a folder for each key, made whole under another name and then renamed.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use golden_files::write::{Names, Scratch};
use sha2::{Digest, Sha256};

use super::{BuildError, Place, at, hex};

/// The model's file in its folder, and while it is made.
pub(super) const LIBRARY: &str = "model.so";
/// Size and sha256 of it.
const SEAL: &str = "model.sha256";
/// What the tools said, as long as the model is made, and then beside it.
pub(super) const LOG: &str = "build.log";
/// How folders are called in which models are made.
const WORK: Names = Names { prefix: "tmp.", suffix: "", companion: None };

/// One place of the cache, filled or not.
pub(super) struct Entry {
    cache: PathBuf,
    folder: PathBuf,
}

/// What is in a place.
pub(super) enum Content {
    Nothing,
    /// The library.
    Model(PathBuf),
    /// Something else, and why it is no model.
    Broken(String),
}

impl Entry {
    pub(super) fn new(cache: &Path, key: &str) -> Self {
        Self { cache: cache.to_owned(), folder: cache.join(key) }
    }

    /// Looks whether the library is there, byte for byte as it was made: the loader crashes on a part of one.
    pub(super) fn content(&self) -> Content {
        if fs::symlink_metadata(&self.folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Content::Nothing;
        }
        let library = self.folder.join(LIBRARY);
        match (fs::read_to_string(self.folder.join(SEAL)), seal(&library)) {
            (Ok(expected), Ok(found)) if expected == found => Content::Model(library),
            (Ok(_), Ok(_)) => Content::Broken(format!("{LIBRARY} is not what was compiled")),
            (_, Err(error)) => Content::Broken(format!("{LIBRARY}: {error}")),
            (Err(error), _) => Content::Broken(format!("{SEAL}: {error}")),
        }
    }

    /// The place, for messages.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the log of a build that has failed in `work`, and returns where.
    pub(super) fn keep_log(&self, work: &Path) -> Result<PathBuf, BuildError> {
        let log = self.folder.with_extension("log");
        fs::rename(work.join(LOG), &log).map_err(at(&log))?;
        Ok(log)
    }

    /// Keeps everybody else from building until it is dropped. There is one lock for all models, as two builds at a time take
    /// no less time than one after the other.
    pub(super) fn lock(&self, progress: &dyn Fn(&str)) -> Result<File, BuildError> {
        let path = self.cache.join("lock");
        fs::create_dir_all(&self.cache).map_err(Place::Cache.at(&self.cache))?;
        let file = File::create(&path).map_err(Place::Cache.at(&self.cache))?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress("waiting for another build of an RTL model"),
            Err(TryLockError::Error(error)) => return Err(at(&path)(error)),
        }
        file.lock().map_err(at(&path))?;
        Ok(file)
    }

    /// A folder to work in, of a name that is not used again: tools of a build that was killed may still write into theirs.
    pub(super) fn begin(&self) -> Result<Scratch, BuildError> {
        Scratch::new(&self.cache, WORK).map_err(at(&self.cache))
    }

    /// Makes the library and the log that lie in `work` the entry's own, in place of what is there. A crash of the machine leaves all
    /// of it or nothing.
    pub(super) fn publish(&self, work: &Path) -> Result<PathBuf, BuildError> {
        let whole = work.join("whole");
        fs::create_dir(&whole).map_err(at(&whole))?;
        for name in [LIBRARY, LOG] {
            fs::rename(work.join(name), whole.join(name)).map_err(at(&whole.join(name)))?;
        }
        // It was made by the last run that got so far.
        let _ = fs::remove_file(self.folder.with_extension("log"));
        let library = whole.join(LIBRARY);
        let sealed = seal(&library).map_err(at(&library))?;
        fs::write(whole.join(SEAL), sealed).map_err(at(&whole))?;
        for name in [LIBRARY, SEAL, "."] {
            sync(&whole.join(name))?;
        }
        self.clear()?;
        fs::rename(&whole, &self.folder).map_err(at(&self.folder))?;
        sync(&self.cache)?;
        Ok(self.folder.join(LIBRARY))
    }

    /// Removes what is in this place.
    fn clear(&self) -> Result<(), BuildError> {
        let removed = match fs::symlink_metadata(&self.folder) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&self.folder),
            Ok(_) => fs::remove_file(&self.folder),
            Err(_) => Ok(()),
        };
        removed.map_err(at(&self.folder))
    }
}

/// Size and sha256 of a file.
fn seal(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    Ok(format!("{} {}\n", bytes.len(), hex(&Sha256::digest(&bytes))))
}

/// Waits until a file or a folder is on the disk.
fn sync(path: &Path) -> Result<(), BuildError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_model_is_told_from_one_and_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let entry = Entry::new(cache.path(), "key");
        let publish = || {
            let work = entry.begin().unwrap();
            fs::write(work.path().join(LIBRARY), "all of a model").unwrap();
            fs::write(work.path().join(LOG), "").unwrap();
            entry.publish(work.path()).unwrap()
        };
        let broken = || match entry.content() {
            Content::Broken(why) => why,
            Content::Nothing | Content::Model(_) => String::new(),
        };
        assert!(matches!(entry.content(), Content::Nothing));
        let library = publish();
        let breaks: [(&str, &dyn Fn()); 6] = [
            ("model.so is not what was compiled", &|| fs::write(&library, "all of a").unwrap()),
            ("model.so is not what was compiled", &|| fs::write(&library, "all of another").unwrap()),
            ("model.so: No such file", &|| fs::remove_file(&library).unwrap()),
            ("model.so: Is a directory", &|| {
                fs::remove_file(&library).unwrap();
                fs::create_dir_all(library.join("more")).unwrap();
            }),
            ("model.sha256: No such file", &|| fs::remove_file(entry.folder.join(SEAL)).unwrap()),
            ("model.so: Not a directory", &|| {
                fs::remove_dir_all(&entry.folder).unwrap();
                fs::write(&entry.folder, "").unwrap();
            }),
        ];
        for (why, damage) in breaks {
            damage();
            assert!(broken().starts_with(why), "{} is not {why}", broken());
            publish();
            assert!(matches!(entry.content(), Content::Model(path) if path == library), "{why}");
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_a_killed_build_has_left_goes_and_what_is_called_alike_stays() {
        let cache = tempfile::tempdir().unwrap();
        let entry = Entry::new(cache.path(), "key");
        let alive = entry.begin().unwrap();
        let [killed, foreign] = ["tmp.1-abcdef", "tmp.x5kQe2VQ8B"].map(|name| cache.path().join(name));
        for folder in [&killed, &foreign] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("object"), "").unwrap();
        }
        fs::copy(alive.path().join("lock"), killed.join("lock")).unwrap();
        let next = entry.begin().unwrap();
        assert!(!killed.exists());
        for folder in [alive.path(), next.path(), &foreign.join("object")] {
            assert!(folder.exists(), "{}", folder.display());
        }
    }

    #[test]
    fn the_log_of_a_failure_stays_until_there_is_a_model() {
        let cache = tempfile::tempdir().unwrap();
        let entry = Entry::new(cache.path(), "key");
        let work = entry.begin().unwrap();
        fs::write(work.path().join(LOG), "no").unwrap();
        let log = entry.keep_log(work.path()).unwrap();
        drop(work);
        assert_eq!(fs::read_to_string(&log).unwrap(), "no");
        let work = entry.begin().unwrap();
        for name in [LIBRARY, LOG] {
            fs::write(work.path().join(name), "yes").unwrap();
        }
        entry.publish(work.path()).unwrap();
        assert!(!log.exists());
        assert_eq!(fs::read_to_string(cache.path().join("key").join(LOG)).unwrap(), "yes");
    }
}
