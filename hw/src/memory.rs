//! Memory that a device writes.

use std::{
    fmt, iter,
    ops::Range,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
};

use golden::{Buffer, Capacity};

const PAGE_BYTES: usize = 4096;
const PAGE_ELEMENTS: usize = PAGE_BYTES / size_of::<i32>();

#[repr(C, align(4096))]
struct Page([AtomicI32; PAGE_ELEMENTS]);

/// A buffer of int32 in page-aligned host memory, shared between a device that writes it and a consumer that reads it.
///
/// A device may write at any time between start and wait, so there is never a slice of it: every access is an atomic one
/// (on x86 and Arm a plain load or store). What is read before [`crate::SamplerDevice::wait`] has returned may be old or
/// new, element by element.
///
/// That holds for accesses of many elements, too: they copy from or into the caller's slice, and each element is an atomic access
/// of its own (relaxed). Whoever reads meanwhile finds some elements old and some new, in no particular order, but never a part
/// of one.
pub struct HostMemory {
    cells: Cells,
    len: usize,
}

enum Cells {
    Pages(Box<[Page]>),
    /// A driver has mapped them.
    Mapped(Box<dyn AsRef<[AtomicI32]> + Send + Sync>),
}

impl HostMemory {
    /// `len` elements, all 0. The memory is aligned to 4,096 bytes, as XRT and CUDA want it for pinning.
    pub fn new(len: usize) -> Self {
        let page = || Page([const { AtomicI32::new(0) }; PAGE_ELEMENTS]);
        Self { cells: Cells::Pages((0..len.div_ceil(PAGE_ELEMENTS)).map(|_| page()).collect()), len }
    }

    /// The first `len` elements of memory that a driver has mapped for this process, and unmaps when they are dropped. They are
    /// what they are.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn mapped(cells: Box<dyn AsRef<[AtomicI32]> + Send + Sync>, len: usize) -> Self {
        assert!(len <= (*cells).as_ref().len(), "the driver has mapped less than {len} elements");
        Self { cells: Cells::Mapped(cells), len }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the memory behind [`HostMemory::as_ptr`]: whole pages, unless a driver has mapped them.
    pub fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Pages(pages) => size_of_val(&**pages),
            Cells::Mapped(cells) => size_of_val((**cells).as_ref()),
        }
    }

    fn check(&self, range: &Range<usize>) {
        let (Range { start, end }, len) = (range, self.len);
        assert!(start <= end && *end <= len, "the range {start}..{end} is past the buffer's {len} elements");
    }

    /// The range of `count` elements from `first` on.
    fn range(&self, first: usize, count: usize) -> Range<usize> {
        let range = first..first.saturating_add(count);
        self.check(&range);
        range
    }

    /// The elements of a range that has been checked, page by page.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = &[AtomicI32]> {
        let mut first = range.start;
        iter::from_fn(move || {
            if first == range.end {
                return None;
            }
            let (page, begin) = (first / PAGE_ELEMENTS, first % PAGE_ELEMENTS);
            let count = (range.end - first).min(PAGE_ELEMENTS - begin);
            let piece = match &self.cells {
                Cells::Pages(pages) => &pages[page].0[begin..begin + count],
                Cells::Mapped(cells) => &(**cells).as_ref()[first..first + count],
            };
            first += count;
            Some(piece)
        })
    }

    #[inline]
    fn cell(&self, index: usize) -> &AtomicI32 {
        assert!(index < self.len, "index {index} is past the buffer's {} elements", self.len);
        match &self.cells {
            Cells::Pages(pages) => &pages[index / PAGE_ELEMENTS].0[index % PAGE_ELEMENTS],
            Cells::Mapped(cells) => &(**cells).as_ref()[index],
        }
    }

    /// Element `index`.
    ///
    /// # Panics
    /// If it is past the end.
    #[inline]
    pub fn load(&self, index: usize) -> i32 {
        self.cell(index).load(Relaxed)
    }

    /// Sets element `index`.
    ///
    /// # Panics
    /// If it is past the end.
    #[inline]
    pub fn store(&self, index: usize, value: i32) {
        self.cell(index).store(value, Relaxed);
    }

    /// Copies the elements from `first` on into `values`, as many as there are in it.
    ///
    /// # Panics
    /// If that goes past the end; then nothing is copied.
    pub fn read(&self, first: usize, values: &mut [i32]) {
        let mut left = values;
        for piece in self.pieces(self.range(first, left.len())) {
            let (values, rest) = left.split_at_mut(piece.len());
            values.iter_mut().zip(piece).for_each(|(value, cell)| *value = cell.load(Relaxed));
            left = rest;
        }
    }

    /// Sets the elements from `first` on to `values`.
    ///
    /// # Panics
    /// If that goes past the end; then nothing is written.
    pub fn write(&self, first: usize, values: &[i32]) {
        let mut left = values;
        for piece in self.pieces(self.range(first, values.len())) {
            let (values, rest) = left.split_at(piece.len());
            piece.iter().zip(values).for_each(|(cell, &value)| cell.store(value, Relaxed));
            left = rest;
        }
    }

    /// Sets the first `len` elements to those of `source`.
    ///
    /// # Panics
    /// If either has fewer; then nothing is written.
    pub fn copy_from(&self, source: &Self, len: usize) {
        let pieces = self.pieces(self.range(0, len)).zip(source.pieces(source.range(0, len)));
        for (to, from) in pieces {
            to.iter().zip(from).for_each(|(to, from)| to.store(from.load(Relaxed), Relaxed));
        }
    }

    /// The first of the first `len` elements that is not the same in `other`.
    ///
    /// # Panics
    /// If either has fewer.
    pub fn first_difference(&self, other: &Self, len: usize) -> Option<usize> {
        let pieces = self.pieces(self.range(0, len)).zip(other.pieces(other.range(0, len)));
        let differs = |(one, other): (&AtomicI32, &AtomicI32)| one.load(Relaxed) != other.load(Relaxed);
        pieces
            .enumerate()
            .find_map(|(page, (one, other))| Some(page * PAGE_ELEMENTS + one.iter().zip(other).position(differs)?))
    }

    /// Sets the elements in `range`.
    ///
    /// # Panics
    /// If it goes past the end; then nothing is written.
    pub fn fill_range(&self, range: Range<usize>, value: i32) {
        self.check(&range);
        self.pieces(range).flatten().for_each(|cell| cell.store(value, Relaxed));
    }

    /// Sets every element, and whatever memory there is behind the last one ([`HostMemory::bytes`]).
    pub fn fill(&self, value: i32) {
        match &self.cells {
            Cells::Pages(pages) => pages.iter().flat_map(|page| &page.0).for_each(|cell| cell.store(value, Relaxed)),
            Cells::Mapped(cells) => (**cells).as_ref().iter().for_each(|cell| cell.store(value, Relaxed)),
        }
    }

    /// A copy of the elements in `range`.
    ///
    /// # Panics
    /// If it goes past the end.
    pub fn to_vec(&self, range: Range<usize>) -> Vec<i32> {
        self.check(&range);
        let mut values = vec![0; range.len()];
        self.read(range.start, &mut values);
        values
    }

    /// The first element of the buffer and the memory behind it, for a driver that pins or maps it. It stays in place as long as
    /// the `HostMemory` lives.
    pub fn as_ptr(&self) -> *const AtomicI32 {
        match &self.cells {
            Cells::Pages(pages) => pages.as_ptr().cast(),
            Cells::Mapped(cells) => (**cells).as_ref().as_ptr(),
        }
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemorySpace {
    /// Ordinary memory of the host.
    Host,
    /// The card's own memory, where others on the bus reach it through the card's BAR.
    CardBar,
    /// An accelerator's memory, exported as a dma-buf.
    DmaBuf,
    /// Memory that only those back ends can write which have it among their [`crate::Capabilities::output_spaces`], by this name.
    Named(&'static str),
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host memory",
            Self::CardBar => "the card's memory behind its BAR",
            Self::DmaBuf => "accelerator memory exported as a dma-buf",
            Self::Named(name) => name,
        })
    }
}

/// Memory of another device that a driver has exported (Linux, "Buffer Sharing and Synchronization").
#[derive(Debug)]
pub struct DmaBuf {
    /// The descriptor. It is closed with the last owner; what imports it keeps a reference of its own.
    pub fd: OwnedFd,
    /// Where the buffer begins in the exported memory, in bytes.
    pub offset: u64,
    /// Elements of int32.
    pub len: usize,
}

/// One output buffer, in whatever memory it lies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OutputMemory {
    /// In host memory.
    Host(Arc<HostMemory>),
    /// In the card's own memory, mapped for this process: made by [`crate::SamplerDevice::bar_outputs`].
    CardBar(Arc<HostMemory>),
    /// In an accelerator's memory.
    DmaBuf(Arc<DmaBuf>),
    /// In memory that has a name ([`MemorySpace::Named`]) and that this process can address.
    Named(&'static str, Arc<HostMemory>),
}

impl OutputMemory {
    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Host(memory) | Self::CardBar(memory) | Self::Named(_, memory) => memory.len(),
            Self::DmaBuf(exported) => exported.len,
        }
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it lies.
    pub fn space(&self) -> MemorySpace {
        match self {
            Self::Host(_) => MemorySpace::Host,
            Self::CardBar(_) => MemorySpace::CardBar,
            Self::DmaBuf(_) => MemorySpace::DmaBuf,
            Self::Named(name, _) => MemorySpace::Named(name),
        }
    }

    /// The elements, where this process can address them: what a simulated card writes.
    pub fn elements(&self) -> Option<&Arc<HostMemory>> {
        match self {
            Self::Host(memory) | Self::CardBar(memory) | Self::Named(_, memory) => Some(memory),
            Self::DmaBuf(_) => None,
        }
    }
}

/// The four output buffers of a slot of one SLR.
#[derive(Clone, Debug)]
pub struct OutputBuffers {
    buffers: [OutputMemory; 4],
}

impl OutputBuffers {
    /// Four buffers in the order of [`Buffer::ALL`]: samples, rows, cols, edges.
    pub fn new(buffers: [OutputMemory; 4]) -> Self {
        Self { buffers }
    }

    /// Four new buffers in host memory.
    pub fn host(capacity: Capacity) -> Self {
        Self::new_in(capacity, OutputMemory::Host)
    }

    /// Four new buffers, each of which `place` puts where it belongs.
    pub fn new_in(capacity: Capacity, place: fn(Arc<HostMemory>) -> OutputMemory) -> Self {
        Self::new(Buffer::ALL.map(|buffer| place(Arc::new(HostMemory::new(capacity.len_of(buffer))))))
    }

    /// One of the four.
    pub fn get(&self, buffer: Buffer) -> &OutputMemory {
        &self.buffers[buffer as usize]
    }

    /// Elements that fit: `samples` bounds the nodes, the shortest of the other three the edges.
    pub fn capacity(&self) -> Capacity {
        let [samples, rows, cols, edges] = &self.buffers;
        Capacity { nodes: samples.len(), edges: rows.len().min(cols.len()).min(edges.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_memory_is_page_aligned_and_keeps_what_is_stored() {
        let memory = HostMemory::new(2500);
        assert_eq!(memory.as_ptr() as usize % PAGE_BYTES, 0);
        assert_eq!((memory.bytes(), HostMemory::new(0).bytes()), (3 * PAGE_BYTES, 0));
        memory.fill(-1);
        memory.store(2499, 7);
        assert_eq!(memory.to_vec(2497..2500), [-1, -1, 7]);
    }

    /// Memory in pages, and memory that a driver has mapped, which has more elements than it shows.
    fn both(len: usize) -> [HostMemory; 2] {
        let cells: Box<[AtomicI32]> = (0..len + 5).map(|_| AtomicI32::new(0)).collect();
        [HostMemory::new(len), HostMemory::mapped(Box::new(cells), len)]
    }

    /// Ranges within a page, up to its end, over it, and over several; none is empty or goes past 3,000.
    fn ranges() -> impl Iterator<Item = Range<usize>> {
        let places = [0, 1, 1023, 1024, 1025, 2047, 2048, 2999, 3000];
        places
            .into_iter()
            .flat_map(move |end| places.into_iter().map(move |first| first..end))
            .filter(|r| r.end > r.start)
    }

    #[test]
    fn many_elements_are_those_that_one_by_one_would_be() {
        for range in ranges() {
            for memory in both(3000) {
                let values: Vec<i32> = (1..).take(range.len()).collect();
                memory.write(range.start, &values);
                let expected = |index: usize| if range.contains(&index) { (index - range.start) as i32 + 1 } else { 0 };
                assert!((0..3000).all(|index| memory.load(index) == expected(index)), "{range:?}");
                let mut read = vec![-1; range.len()];
                memory.read(range.start, &mut read);
                assert_eq!(read, values, "{range:?}");
                assert_eq!(memory.to_vec(range.clone()), values, "{range:?}");

                memory.fill_range(range.clone(), -7);
                let expected = |index: usize| if range.contains(&index) { -7 } else { 0 };
                assert!((0..3000).all(|index| memory.load(index) == expected(index)), "{range:?}");
            }
        }
    }

    #[test]
    fn one_memory_is_copied_into_another_and_compared_with_it() {
        let [pages, mapped] = both(3000);
        for (one, other) in [(&pages, &mapped), (&mapped, &pages)] {
            one.write(0, &(0..3000).collect::<Vec<_>>());
            other.fill(-1);
            assert_eq!(one.first_difference(other, 0), None);
            assert_eq!(one.first_difference(other, 3000), Some(0));
            other.copy_from(one, 2049);
            assert_eq!(other.to_vec(2047..2050), [2047, 2048, -1]);
            assert_eq!([2049, 2050, 3000].map(|len| one.first_difference(other, len)), [None, Some(2049), Some(2049)]);
            other.store(1024, 0);
            assert_eq!([1024, 1025, 3000].map(|len| one.first_difference(other, len)), [None, Some(1024), Some(1024)]);
        }
    }

    /// What an access does that goes past the end.
    fn refused(access: impl FnOnce(&HostMemory) + std::panic::UnwindSafe) -> bool {
        let memory = HostMemory::new(3);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| access(&memory)));
        let sentence = outcome.err().and_then(|panic| panic.downcast::<String>().ok());
        assert_eq!(memory.to_vec(0..3), [0; 3], "nothing is written");
        sentence.is_some_and(|sentence| sentence.contains("past the buffer's 3 elements"))
    }

    #[test]
    fn nothing_past_the_end_is_reachable() {
        assert!(refused(|memory| _ = memory.load(3)));
        assert!(refused(|memory| memory.store(3, 1)));
        assert!(refused(|memory| memory.read(2, &mut [0; 2])));
        assert!(refused(|memory| memory.read(4, &mut [])));
        assert!(refused(|memory| memory.write(2, &[1; 2])));
        assert!(refused(|memory| memory.write(usize::MAX, &[1; 2])));
        assert!(refused(|memory| memory.fill_range(1..4, 1)));
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        let backwards = 2..1;
        assert!(refused(|memory| memory.fill_range(backwards, 1)));
        assert!(refused(|memory| _ = memory.to_vec(3..4)));
        assert!(refused(|memory| memory.copy_from(&HostMemory::new(9), 4)));
        assert!(refused(|memory| HostMemory::new(9).copy_from(memory, 4)));
        assert!(refused(|memory| _ = memory.first_difference(&HostMemory::new(9), 4)));
        // Empty ranges up to the end are there.
        let memory = HostMemory::new(3);
        memory.write(3, &[]);
        memory.read(3, &mut []);
        memory.fill_range(3..3, 1);
        assert_eq!((memory.to_vec(3..3), memory.to_vec(0..3)), (vec![], vec![0; 3]));
    }

    /// Run by Miri, which reports a data race. Each element is old or new, never a part of one.
    #[test]
    fn it_may_be_read_while_it_is_written() {
        let memory = HostMemory::new(1100);
        std::thread::scope(|scope| {
            scope.spawn(|| memory.write(0, &[-1; 1100]));
            for _ in 0..3 {
                assert!(memory.to_vec(0..1100).iter().all(|&element| element == 0 || element == -1));
            }
        });
        assert_eq!(memory.to_vec(0..1100), [-1; 1100]);
    }

    #[test]
    fn the_shortest_buffer_bounds_the_edges() {
        let memory = |len| OutputMemory::Host(Arc::new(HostMemory::new(len)));
        let outputs = OutputBuffers::new([memory(9), memory(5), memory(4), memory(6)]);
        assert_eq!(outputs.capacity(), Capacity { nodes: 9, edges: 4 });
    }
}
