//! Bytes: card memory, or what a host shares with it. Everything is in words of 4 bytes.

use std::{
    ptr::NonNull,
    sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed},
};

use hw::HostMemory;

const WORD: usize = size_of::<i32>();
const LINE_WORDS: usize = hw::card::LINE_ELEMENTS;

/// Memory of any kind.
pub(crate) struct Store {
    start: NonNull<AtomicI32>,
    words: usize,
    /// Lines that were written since power-on; reading others would stall a memory controller. `None` where nobody keeps count.
    written: Option<Vec<AtomicBool>>,
    /// Grows with every write.
    version: AtomicU64,
    /// Keeps what `start` points at.
    owner: Owner,
}

enum Owner {
    Pages(HostMemory),
    User,
    File { bytes: usize },
}

// SAFETY: every access is an atomic one.
unsafe impl Send for Store {}
// SAFETY: as above.
unsafe impl Sync for Store {}

impl Store {
    fn new(start: NonNull<AtomicI32>, bytes: usize, owner: Owner) -> Self {
        Self { start, words: bytes / WORD, written: None, version: AtomicU64::new(0), owner }
    }

    /// Pages of its own.
    pub(crate) fn pages(bytes: usize) -> Self {
        let pages = HostMemory::new(bytes.div_ceil(WORD));
        let start = NonNull::new(pages.as_ptr().cast_mut()).expect("a box has an address");
        Self::new(start, pages.bytes(), Owner::Pages(pages))
    }

    /// Memory of the card, of which it is known what was written.
    pub(crate) fn card(bytes: usize) -> Self {
        let mut store = Self::pages(bytes);
        store.written = Some((0..store.words.div_ceil(LINE_WORDS)).map(|_| AtomicBool::new(false)).collect());
        store
    }

    /// Memory of the caller's, which outlives the buffer.
    pub(crate) fn user(start: NonNull<AtomicI32>, bytes: usize) -> Self {
        Self::new(start, bytes, Owner::User)
    }

    /// What a descriptor stands for.
    pub(crate) fn file(descriptor: i32) -> Option<Self> {
        // SAFETY: `stat` may be all 0.
        let mut about: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: it has room for what is said about the descriptor.
        let known = unsafe { libc::fstat(descriptor, &raw mut about) } == 0;
        let bytes = usize::try_from(about.st_size).ok().filter(|&bytes| known && bytes > 0)?;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self::new(NonNull::new(start.cast())?, bytes, Owner::File { bytes }))
    }

    pub(crate) fn start(&self) -> NonNull<AtomicI32> {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words * WORD
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Relaxed)
    }

    fn words(&self) -> &[AtomicI32] {
        // SAFETY: so many words are there as long as the owner is.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// Words from byte `at`; `None` past the end, or of a line that was never written.
    pub(crate) fn read(&self, at: usize, words: usize) -> Option<Vec<i32>> {
        let first = at / WORD;
        let found = self.words().get(first..first.checked_add(words)?)?;
        let lines = first / LINE_WORDS..(first + words).div_ceil(LINE_WORDS);
        let known = self.written.as_ref().is_none_or(|written| written[lines].iter().all(|line| line.load(Relaxed)));
        known.then(|| found.iter().map(|word| word.load(Relaxed)).collect())
    }

    /// Writes words from byte `at`; `None` past the end.
    pub(crate) fn write(&self, at: usize, words: &[i32]) -> Option<()> {
        let first = at / WORD;
        let found = self.words().get(first..first.checked_add(words.len())?)?;
        found.iter().zip(words).for_each(|(word, &value)| word.store(value, Relaxed));
        if let Some(written) = self.written.as_ref().filter(|_| !words.is_empty()) {
            let lines = first / LINE_WORDS..(first + words.len()).div_ceil(LINE_WORDS);
            written[lines].iter().for_each(|line| line.store(true, Relaxed));
        }
        self.version.fetch_add(1, Relaxed);
        Some(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        match &self.owner {
            Owner::Pages(pages) => debug_assert!(!pages.is_empty()),
            Owner::User => {}
            Owner::File { bytes } => {
                // SAFETY: it is this mapping, and nothing refers to it any more.
                unsafe { libc::munmap(self.start.as_ptr().cast(), *bytes) };
            }
        }
    }
}
