//! The card's memory: what XRT has allocated, by address. What the host maps lies in a file that both sides use.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hw::card::Port;

use crate::rtl::{AddressSpace, Line, Wrong, merge};

/// What memory holds that nobody has written: no node id, as it is negative.
const POISON: u8 = 0xA5;
/// Buffers have whole pages, as XRT's own allocator gives them out.
const PAGE: u64 = 4096;

/// One allocation.
#[derive(Debug)]
struct Buffer {
    bytes: u64,
    /// The write that was the last, of all that there were.
    version: u64,
    backing: Backing,
    /// The file that was made for it.
    file: Option<PathBuf>,
}

impl Drop for Buffer {
    /// Who still has the file keeps what is in it.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

#[derive(Debug)]
enum Backing {
    Own(Vec<u8>),
    /// Shared with the host.
    File(File),
}

/// All allocations of a card.
#[derive(Debug)]
pub(crate) struct CardMemory {
    /// Where files that are shared with the host lie.
    folder: PathBuf,
    /// What addresses there are.
    size: u64,
    buffers: BTreeMap<u64, Buffer>,
    files: u32,
    writes: u64,
}

impl CardMemory {
    /// Memory of `size` bytes from address 0 on, of which nothing is allocated.
    pub(crate) fn new(folder: &Path, size: u64) -> Self {
        Self { folder: folder.to_owned(), size, buffers: BTreeMap::new(), files: 0, writes: 0 }
    }

    /// Takes a buffer into use. Gives the file in which it lies, if it is shared.
    ///
    /// # Errors
    /// Why there is no such buffer.
    pub(crate) fn alloc(&mut self, address: u64, bytes: u64, shared: bool) -> Result<Option<PathBuf>, String> {
        let whole = bytes.max(1).checked_next_multiple_of(PAGE).filter(|bytes| {
            let end = address.checked_add(*bytes);
            address.is_multiple_of(PAGE) && end.is_some_and(|end| end <= self.size && self.is_free(address..end))
        });
        let Some(whole) = whole else {
            return Err(format!("a buffer of {bytes} bytes at {address:#x} is not free pages of the card"));
        };
        let (backing, path) = if shared {
            let path = self.folder.join(format!("buffer-{}", self.files));
            self.files += 1;
            let created = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            // Written, so that a full disk is told here, and not by a SIGBUS of who maps the file.
            let file = created.and_then(|mut file| io::copy(&mut io::repeat(0).take(whole), &mut file).map(|_| file));
            let file = file.map_err(|error| {
                let _ = fs::remove_file(&path);
                format!("{} cannot be made: {error}", path.display())
            })?;
            (Backing::File(file), Some(path))
        } else {
            let mut data = Vec::new();
            let room = usize::try_from(whole).ok().filter(|&bytes| data.try_reserve_exact(bytes).is_ok());
            let bytes = room.ok_or_else(|| format!("there is no room for a buffer of {bytes} bytes"))?;
            data.resize(bytes, POISON);
            (Backing::Own(data), None)
        };
        self.writes += 1;
        self.buffers.insert(address, Buffer { bytes: whole, version: self.writes, backing, file: path.clone() });
        Ok(path)
    }

    fn is_free(&self, range: Range<u64>) -> bool {
        self.buffers.range(..range.end).next_back().is_none_or(|(base, buffer)| base + buffer.bytes <= range.start)
    }

    /// Gives a buffer back, and its file with it.
    pub(crate) fn free(&mut self, address: u64) {
        self.buffers.remove(&address);
    }

    /// Everything is given back.
    pub(crate) fn clear(&mut self) {
        self.buffers.clear();
    }

    /// Lets the buffer at `address` be the content of a file that was given out by [`CardMemory::alloc`].
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn import(&mut self, address: u64, path: &str) -> Result<(), String> {
        let file = self.open(path)?;
        let buffer = self.buffers.get_mut(&address).ok_or_else(|| format!("there is no buffer at {address:#x}"))?;
        let have = file.metadata().map_or(0, |metadata| metadata.len());
        if have < buffer.bytes {
            return Err(format!("{path:?} has {have} bytes, and the buffer {}", buffer.bytes));
        }
        buffer.backing = Backing::File(file);
        Ok(())
    }

    /// One of our own files: nobody makes this process touch any other.
    pub(crate) fn open(&self, path: &str) -> Result<File, String> {
        if Path::new(path).parent() != Some(&self.folder) || !Path::new(path).exists() {
            return Err(format!("{path:?} is no buffer that was given out"));
        }
        let opened = OpenOptions::new().read(true).write(true).open(path);
        opened.map_err(|error| format!("{path:?} cannot be opened: {error}"))
    }

    /// The buffer in which so many bytes from `address` on lie, and their offset in it.
    fn find(&self, address: u64, bytes: usize) -> Option<(&Buffer, u64)> {
        let (base, buffer) = self.buffers.range(..=address).next_back()?;
        let offset = address - base;
        (offset.checked_add(bytes as u64)? <= buffer.bytes).then_some((buffer, offset))
    }

    /// Reads what lies at `address`; false if it is not all allocated.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let Some((buffer, offset)) = self.find(address, into.len()) else { return false };
        match &buffer.backing {
            Backing::Own(data) => into.copy_from_slice(&data[offset as usize..][..into.len()]),
            Backing::File(file) => return file.read_exact_at(into, offset).is_ok(),
        }
        true
    }

    /// Writes to `address`; false, and nothing is written, if it is not all allocated.
    pub(crate) fn write(&mut self, address: u64, from: &[u8]) -> bool {
        let Some((base, offset)) = self.find(address, from.len()).map(|(_, offset)| (address - offset, offset)) else {
            return false;
        };
        let buffer = self.buffers.get_mut(&base).expect("it was found");
        self.writes += 1;
        buffer.version = self.writes;
        match &mut buffer.backing {
            Backing::Own(data) => data[offset as usize..][..from.len()].copy_from_slice(from),
            Backing::File(file) => return file.write_all_at(from, offset).is_ok(),
        }
        true
    }

    /// Changes with every write to the buffer in which `address` lies, and each time that it is asked for where the host may have
    /// written.
    pub(crate) fn version(&mut self, address: u64) -> Option<u64> {
        let (base, version, shared) = self
            .find(address, 0)
            .map(|(buffer, offset)| (address - offset, buffer.version, matches!(buffer.backing, Backing::File(_))))?;
        if !shared {
            return Some(version);
        }
        self.writes += 1;
        self.buffers.get_mut(&base)?.version = self.writes;
        Some(self.writes)
    }

    /// Whether so many bytes from `address` on are allocated.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| self.find(address, bytes).is_some())
    }
}

/// Memory that several kernels and the host share.
pub(crate) type SharedMemory = Arc<Mutex<CardMemory>>;

pub(crate) fn lock(memory: &SharedMemory) -> MutexGuard<'_, CardMemory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The card's memory as one kernel sees it: each port reaches the banks that the xclbin connects it with, and nothing else.
#[derive(Debug)]
pub(crate) struct UnitSpace {
    pub(crate) memory: SharedMemory,
    /// Addresses of the banks that each port reaches.
    pub(crate) banks: Vec<(Port, Range<u64>)>,
}

impl UnitSpace {
    fn reaches(&self, port: Port, address: u64) -> bool {
        self.banks.iter().any(|(own, range)| *own == port && range.contains(&address))
    }
}

impl AddressSpace for UnitSpace {
    fn read(&self, port: Port, address: u64) -> Option<Line> {
        let mut line = [0; size_of::<Line>()];
        (self.reaches(port, address) && lock(&self.memory).read(address, &mut line)).then_some(line)
    }

    fn write(&mut self, port: Port, address: u64, data: &Line, strobe: u64) -> Result<(), Wrong> {
        let mut memory = lock(&self.memory);
        let mut line = [0; size_of::<Line>()];
        if !self.reaches(port, address) || !memory.read(address, &mut line) {
            return Err(Wrong::Nowhere);
        }
        merge(&mut line, data, strobe);
        if memory.write(address, &line) { Ok(()) } else { Err(Wrong::Nowhere) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(folder: &Path) -> CardMemory {
        CardMemory::new(folder, 1 << 30)
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = memory(folder.path());
        for (address, shared) in [(0x1000, false), (0x8000, true)] {
            assert_eq!(memory.alloc(address, 5000, shared).unwrap().is_some(), shared);
            assert!(memory.write(address + 4990, b"0123456789"));
            let mut read = [0; 10];
            assert!(memory.read(address + 4990, &mut read) && &read == b"0123456789");
            assert!(!memory.write(address + 8190, b"0123456789"), "past the end");
            assert!(!memory.read(address - 1, &mut read), "before the beginning");
            memory.free(address);
            assert!(!memory.read(address + 4990, &mut read), "given back");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "with its file");
        }
    }

    #[test]
    fn a_buffer_that_cannot_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = memory(folder.path());
        memory.alloc(0x2000, 4096, false).unwrap();
        for (address, bytes) in [(0x2000, 1), (0x1000, 4097), (0x10, 1), (0x4000_0000, 1), (u64::MAX - 4095, 4096)] {
            let why = memory.alloc(address, bytes, false).unwrap_err();
            assert!(why.contains("is not free pages of the card"), "{address:#x} {bytes}: {why}");
        }
        assert!(memory.alloc(0x3000, u64::MAX, false).is_err());
    }

    #[test]
    fn an_imported_buffer_is_the_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = memory(folder.path());
        let path = memory.alloc(0, 4096, true).unwrap().unwrap();
        memory.alloc(0x1000, 4096, false).unwrap();
        memory.import(0x1000, path.to_str().unwrap()).unwrap();
        assert!(memory.write(0x1010, b"seen"));
        assert_eq!(&fs::read(&path).unwrap()[0x10..0x14], b"seen");
        let refused = |memory: &mut CardMemory, path: &str| memory.import(0x1000, path).unwrap_err();
        assert_eq!(refused(&mut memory, "/etc/passwd"), "\"/etc/passwd\" is no buffer that was given out");
        let around = folder.path().join("../x").display().to_string();
        assert!(refused(&mut memory, &around).contains("is no buffer"));
        drop(memory);
        assert!(!path.exists(), "files go with the card");
    }
}
