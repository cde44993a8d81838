//! A folder of files that are too large, or too many, to be known at once: made beside its place, and put there when all is
//! complete.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{
    error::{WriteError, WriteProblem},
    place::{Found, PARTS, WHOLE, check_folder, parent, remove_files},
    scratch::{Scratch, publish},
};

/// A folder that is being made. Dropped before [`Staging::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct Staging {
    /// The folder, as it will be.
    whole: PathBuf,
    _scratch: Scratch,
    path: PathBuf,
    what: &'static str,
    overwrite: bool,
}

impl Staging {
    /// Starts a folder for `path`. `what` is made there, as it reads in an error.
    ///
    /// # Errors
    /// What is in its way: a folder that is not empty, unless `overwrite`.
    pub fn new(path: &Path, what: &'static str, overwrite: bool) -> Result<Self, WriteError> {
        check_folder(path, what, overwrite)?;
        let scratch = Scratch::new(parent(path)?, PARTS).and_then(|scratch| Ok((scratch.folder(WHOLE)?, scratch)));
        let (whole, scratch) = scratch.map_err(|error| WriteProblem::Write { error }.at(path))?;
        Ok(Self { whole, _scratch: scratch, path: path.to_owned(), what, overwrite })
    }

    /// Where its files are until they are in place.
    pub fn folder(&self) -> &Path {
        &self.whole
    }

    /// Starts a file in it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn file(&self, name: &str) -> Result<StagedFile, WriteError> {
        let path = self.path.join(name);
        match File::create_new(self.folder().join(name)) {
            Ok(file) => Ok(StagedFile { out: BufWriter::with_capacity(1 << 18, file), path }),
            Err(error) => Err(WriteProblem::Write { error }.at(&path)),
        }
    }

    /// Puts the folder in its place. If one is there, its files of the `replaced` names go first and others stay; if that is
    /// cut short, the folder lacks files, but never mixes old ones with new ones.
    ///
    /// # Errors
    /// What came into its way meanwhile, or what the system says.
    pub fn finish(self, replaced: &[&str]) -> Result<(), WriteError> {
        let at = |error| WriteProblem::Write { error }.at(&self.path);
        let found = check_folder(&self.path, self.what, self.overwrite)?;
        let put = || match found {
            // A folder that is there is replaced by the new one only if it is empty.
            Found::Nothing => fs::rename(self.folder(), &self.path),
            Found::Folder => {
                remove_files(&self.path, replaced)?;
                for file in fs::read_dir(self.folder())? {
                    let file = file?;
                    fs::rename(file.path(), self.path.join(file.file_name()))?;
                }
                Ok(())
            }
        };
        publish(put).map_err(at)
    }
}

/// A file of a folder that is being made.
#[derive(Debug)]
pub struct StagedFile {
    out: BufWriter<File>,
    /// Where it will be.
    path: PathBuf,
}

impl StagedFile {
    /// Appends what `content` writes.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), WriteError> {
        content(&mut self.out).map_err(|error| WriteProblem::Write { error }.at(&self.path))
    }

    /// Sees the file safe on disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.write(|out| out.flush().and_then(|()| out.get_ref().sync_all()))
    }
}
