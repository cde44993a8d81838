//! The four buffers of a slot: what the kernel writes, and how the consumer gets it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use golden::{Buffer, Capacity, HopCounts};

use super::{
    XrtError,
    bo::{BarBuffer, CardBuffer, ImportedBuffer, SharedBuffer},
    device::{Kernel, Placed},
};
use crate::{Capabilities, DeviceError, HostMemory, OutputBuffers, OutputMemory, registers::id_of};

/// The bound buffers of a slot.
pub(super) struct Outputs {
    /// In the order of [`Buffer::ALL`].
    buffers: [Output; 4],
    pub(super) capacity: Capacity,
}

/// One of them.
enum Output {
    /// No element: the kernel gets an address all the same.
    Empty(CardBuffer),
    Host(SharedBuffer),
    Bar(Arc<BarBuffer>),
    Imported {
        local: CardBuffer,
        remote: ImportedBuffer,
    },
}

impl Outputs {
    pub(super) fn bind(
        kernel: &Kernel,
        outputs: &OutputBuffers,
        bars: &Bars,
        capabilities: &Capabilities,
    ) -> Result<Self, DeviceError> {
        let mut bound = vec![];
        for buffer in Buffer::ALL {
            let memory = outputs.get(buffer);
            if !capabilities.output_spaces.contains(&memory.space()) {
                let (backend, possible) = (capabilities.backend, capabilities.output_spaces.clone());
                return Err(DeviceError::OutputSpace { backend, space: memory.space(), possible });
            }
            let output = Output::bind(kernel, buffer, memory, bars)?;
            kernel.check_bank(id_of(buffer.name()), output.written())?;
            bound.push(output);
        }
        let buffers = bound.try_into().unwrap_or_else(|_| unreachable!("there are four buffers"));
        Ok(Self { buffers, capacity: outputs.capacity() })
    }

    /// What the kernel writes, by argument id.
    pub(super) fn written(&self) -> impl Iterator<Item = (usize, &dyn Placed)> {
        Buffer::ALL.into_iter().zip(&self.buffers).map(|(buffer, output)| (id_of(buffer.name()), output.written()))
    }

    /// Lets the consumer have what was produced, and nothing more: what the card has not written may not even be readable.
    pub(super) fn deliver(&self, hops: &HopCounts) -> Result<(), XrtError> {
        let produced = Capacity { nodes: hops.total_nodes(), edges: hops.total_edges() };
        for (buffer, output) in Buffer::ALL.into_iter().zip(&self.buffers) {
            output.deliver(produced.len_of(buffer) * size_of::<i32>())?;
        }
        Ok(())
    }
}

impl Output {
    fn bind(kernel: &Kernel, buffer: Buffer, memory: &OutputMemory, bars: &Bars) -> Result<Self, DeviceError> {
        let (device, group) = (&kernel.device, kernel.group(id_of(buffer.name()))?);
        let what = what(kernel, buffer);
        if memory.is_empty() {
            let empty = CardBuffer::new(device, &what, 0, group)?;
            empty.clear()?;
            return Ok(Self::Empty(empty));
        }
        Ok(match memory {
            OutputMemory::Host(memory) => Self::Host(SharedBuffer::new(device, &what, memory, group)?),
            OutputMemory::CardBar(memory) => {
                let foreign = XrtError::ForeignBar { slr: kernel.slr, buffer: buffer.name() };
                Self::Bar(bars.find(memory).ok_or(foreign)?)
            }
            OutputMemory::DmaBuf(exported) => {
                let remote = ImportedBuffer::new(device, &what, exported)?;
                let local = CardBuffer::new(device, &what, exported.len * size_of::<i32>(), group)?;
                local.clear()?;
                Self::Imported { local, remote }
            }
            // A card lists none among what it writes.
            OutputMemory::Named(..) => {
                return Err(XrtError::ForeignBar { slr: kernel.slr, buffer: buffer.name() }.into());
            }
        })
    }

    fn written(&self) -> &dyn Placed {
        match self {
            Self::Empty(buffer) => buffer,
            Self::Host(buffer) => buffer,
            Self::Bar(buffer) => &**buffer,
            Self::Imported { local, .. } => local,
        }
    }

    fn deliver(&self, bytes: usize) -> Result<(), XrtError> {
        match self {
            Self::Empty(_) | Self::Bar(_) => Ok(()),
            Self::Host(shared) => shared.fetch(bytes),
            Self::Imported { local, remote } => remote.copy(local, bytes),
        }
    }
}

pub(super) fn what(kernel: &Kernel, buffer: Buffer) -> String {
    format!("'{}' of {}", buffer.name(), kernel.slr)
}

/// Card memory that was handed out: which buffer is behind which mapping.
#[derive(Default)]
pub(super) struct Bars {
    by_address: Mutex<HashMap<usize, Bar>>,
}

/// A buffer and its mapping, as long as they live.
type Bar = (Weak<HostMemory>, Weak<BarBuffer>);

impl Bars {
    /// Four new buffers for a kernel.
    pub(super) fn make(&self, kernel: &Kernel, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        let mut made = vec![];
        for buffer in Buffer::ALL {
            let group = kernel.group(id_of(buffer.name()))?;
            let (bar, memory) = BarBuffer::new(&kernel.device, &what(kernel, buffer), capacity.len_of(buffer), group)?;
            let mut all = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, (memory, _)| memory.strong_count() > 0);
            all.insert(memory.as_ptr() as usize, (Arc::downgrade(&memory), Arc::downgrade(&bar)));
            made.push(OutputMemory::CardBar(memory));
        }
        Ok(OutputBuffers::new(made.try_into().unwrap_or_else(|_| unreachable!("there are four buffers"))))
    }

    fn find(&self, memory: &Arc<HostMemory>) -> Option<Arc<BarBuffer>> {
        let all = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let (mapped, bar) = all.get(&(memory.as_ptr() as usize))?;
        if mapped.upgrade().is_some_and(|mapped| Arc::ptr_eq(&mapped, memory)) { bar.upgrade() } else { None }
    }
}
