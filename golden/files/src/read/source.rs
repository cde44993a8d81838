//! Bytes of a file, compressed or not, that know their path and place.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

use super::error::{Problem, ReadError};
use crate::compression::{self, Compression, START};

/// Reads a file and says in its errors which file it is and how far it came.
pub struct Source<'a> {
    reader: Box<dyn Read + 'a>,
    path: PathBuf,
    /// A decoder stands between the file and us.
    compressed: bool,
    /// Bytes of content read so far.
    position: u64,
    /// Bytes taken from the file on disk so far.
    taken: Rc<Cell<u64>>,
    /// Size of the file on disk.
    size: u64,
}

impl Source<'static> {
    /// Opens a file, and unpacks what is compressed in one of the ways of [`Compression`]. Its content decides, not its name.
    ///
    /// # Errors
    /// [`Problem::Open`], [`Problem::Container`] for an archive, and what [`Source::fill`] says of the first bytes.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok((file, metadata.len())) }
        };
        let (file, size) = open().map_err(|error| Problem::Open { error }.at(path))?;
        let taken = Rc::new(Cell::new(0));
        let reader = Box::new(Counted { file, taken: Rc::clone(&taken) });
        let plain = Self { reader, path: path.to_owned(), compressed: false, position: 0, taken, size };
        let (start, plain) = plain.start()?;
        let Some(kind) = Compression::of_content(&start) else { return plain.unless_container(&start, None) };
        let decoder = kind.decoder(BufReader::with_capacity(1 << 16, plain.reader));
        let decoder = decoder.map_err(|error| Problem::Compressed { byte: 0, error }.at(path))?;
        let unpacked = Self { reader: Box::new(decoder), compressed: true, ..plain };
        let (start, unpacked) = unpacked.start()?;
        unpacked.unless_container(&start, Some(kind))
    }

    /// The first bytes, and the source with them still to be read.
    fn start(mut self) -> Result<(Vec<u8>, Self), ReadError> {
        let mut start = vec![0; START];
        let found = self.fill(&mut start)?;
        start.truncate(found);
        let reader = Box::new(Cursor::new(start.clone()).chain(self.reader));
        Ok((start, Self { reader, position: 0, ..self }))
    }

    /// Refuses what is no file but several, or compressed in a way that is not read. `inside` is what has been unpacked.
    fn unless_container(self, start: &[u8], inside: Option<Compression>) -> Result<Self, ReadError> {
        let found = match (compression::container(start), Compression::of_content(start)) {
            (Some(found), _) => found,
            (None, Some(again)) => again.name(),
            (None, None) => return Ok(self),
        };
        Err(Problem::Container { found, inside }.at(&self.path))
    }
}

impl<'a> Source<'a> {
    /// A member of an archive; `path` is how errors name it.
    pub fn member(reader: impl Read + 'a, path: PathBuf) -> Self {
        Self { reader: Box::new(reader), path, compressed: true, position: 0, taken: Rc::default(), size: 0 }
    }

    /// Where it comes from, as it stands in errors.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of content read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes on disk: those read, and all of them.
    pub fn on_disk(&self) -> (u64, u64) {
        (self.taken.get(), self.size)
    }

    /// The bytes that are certainly still to come, so that room can be made for them; 0 where nobody knows.
    pub fn sure(&self) -> u64 {
        if self.compressed { 0 } else { self.size.saturating_sub(self.position) }
    }

    /// Fills `buffer`, or as much of it as there are bytes left; how many those are.
    ///
    /// # Errors
    /// [`Problem::Read`], [`Problem::Compressed`] or [`Problem::Dictionary`].
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let byte = self.position + filled as u64;
                    let problem = match () {
                        () if !self.compressed || error.raw_os_error().is_some() => Problem::Read { byte, error },
                        () if compression::needs_memory(&error) => {
                            Problem::Dictionary { limit: compression::DICTIONARY_LIMIT }
                        }
                        () => Problem::Compressed { byte, error },
                    };
                    return Err(problem.at(&self.path));
                }
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }
}

/// A file that counts what is taken from it.
struct Counted {
    file: File,
    taken: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}
