//! Memory that a device writes.

use std::{
    fmt,
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

    /// Sets every element: poison between generations.
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
        range.map(|index| self.load(index)).collect()
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
    /// The memory of a simulated accelerator, which simulated cards alone can reach.
    SimulatedAccelerator,
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host memory",
            Self::CardBar => "the card's memory behind its BAR",
            Self::DmaBuf => "accelerator memory exported as a dma-buf",
            Self::SimulatedAccelerator => "memory of a simulated accelerator",
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
    /// In a simulated accelerator's memory.
    SimulatedAccelerator(Arc<HostMemory>),
}

impl OutputMemory {
    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Host(memory) | Self::CardBar(memory) | Self::SimulatedAccelerator(memory) => memory.len(),
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
            Self::SimulatedAccelerator(_) => MemorySpace::SimulatedAccelerator,
        }
    }

    /// The elements, where this process can address them: what a simulated card writes.
    pub fn elements(&self) -> Option<&Arc<HostMemory>> {
        match self {
            Self::Host(memory) | Self::CardBar(memory) | Self::SimulatedAccelerator(memory) => Some(memory),
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

    #[test]
    #[should_panic(expected = "past the buffer")]
    fn nothing_past_the_end_is_reachable() {
        HostMemory::new(3).load(3);
    }

    #[test]
    fn the_shortest_buffer_bounds_the_edges() {
        let memory = |len| OutputMemory::Host(Arc::new(HostMemory::new(len)));
        let outputs = OutputBuffers::new([memory(9), memory(5), memory(4), memory(6)]);
        assert_eq!(outputs.capacity(), Capacity { nodes: 9, edges: 4 });
    }
}
