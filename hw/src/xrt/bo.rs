//! Buffers by kind: each can do what makes sense for it, and nothing else.
//!
//! | kind | memory | argument of a kernel | moves bytes |
//! |---|---|---|---|
//! | [`CardBuffer`] | card, with a copy of XRT's in the host | yes | written, read |
//! | [`SharedBuffer`] | card, and a region of the host | yes | synchronised |
//! | [`BarBuffer`] | card, mapped through its BAR | yes | never: both sides see the same |
//! | [`ImportedBuffer`] | another device's | no | is copied to |

use std::sync::Arc;

use super::{
    MAX_BUFFER_BYTES, XrtError,
    device::{Device, Placed},
    environment::Mode,
    error::{Context, PEER_TO_PEER_HELP},
    raw::{Buffer, Direction, Kind},
};
use crate::{DmaBuf, HostMemory, card::BURST_BYTES};

/// What XRT calls the address of every buffer in noop mode.
const NOOP_ADDRESS: u64 = 0xDEAD_BEEF;
/// Pages of XRT.
const PAGE_BYTES: usize = 4096;

/// A buffer of XRT's; freed before its device is closed.
struct Owned {
    buffer: Buffer,
    device: Arc<Device>,
}

impl Owned {
    /// Makes a buffer of `bytes`, and looks whether the kernel can use it where it was placed.
    fn new(
        device: &Arc<Device>,
        what: &str,
        bytes: usize,
        make: impl FnOnce(&Device) -> Result<Buffer, XrtError>,
    ) -> Result<Self, XrtError> {
        if bytes as u64 >= MAX_BUFFER_BYTES {
            return Err(XrtError::TooLarge { what: what.to_owned(), bytes: bytes as u64 });
        }
        let buffer = make(device).to(|| format!("allocate {bytes} bytes of card memory for {what}"))?;
        let owned = Self { buffer, device: Arc::clone(device) };
        let address = device.api.address(&owned.buffer).to(|| format!("ask where {what} lies in card memory"))?;
        let nowhere = device.mode == Mode::Noop && address == NOOP_ADDRESS;
        if nowhere || address.is_multiple_of(BURST_BYTES as u64) {
            Ok(owned)
        } else {
            Err(XrtError::Alignment { address, alignment: BURST_BYTES })
        }
    }

    /// `bytes`, rounded up to what the card's shell can transfer.
    fn transfer(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.device.transfer_unit).min(self.buffer.bytes())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.device.api.free(&self.buffer);
    }
}

impl AsRef<Buffer> for Owned {
    fn as_ref(&self) -> &Buffer {
        &self.buffer
    }
}

macro_rules! placed {
    ($($kind:ident: $($path:ident).+),*) => {
        $(impl Placed for $kind {
            fn buffer(&self) -> &Buffer {
                &self.$($path).+
            }

            fn group(&self) -> u32 {
                self.group
            }
        })*
    };
}

placed!(CardBuffer: owned.buffer, SharedBuffer: owned.buffer, BarBuffer: owned.buffer);

/// Card memory that the host writes and reads.
pub(super) struct CardBuffer {
    owned: Owned,
    group: u32,
}

impl CardBuffer {
    /// At least `bytes`, in whole pages. What is in it is not known.
    pub(super) fn new(device: &Arc<Device>, what: &str, bytes: usize, group: u32) -> Result<Self, XrtError> {
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
        let owned =
            Owned::new(device, what, bytes, |device| device.api.buffer(&device.handle, bytes, Kind::Normal, group))?;
        Ok(Self { owned, group })
    }

    /// Writes into card memory, from byte `at`.
    pub(super) fn write(&self, bytes: &[u8], at: usize) -> Result<(), XrtError> {
        let Owned { buffer, device } = &self.owned;
        let doing = || format!("write {} bytes into card memory", bytes.len());
        device.api.write(buffer, bytes, at).to(doing)?;
        let end = self.owned.transfer(at + bytes.len());
        device.api.sync(buffer, Direction::ToDevice, at..end).to(doing)
    }

    /// Reads the first bytes of card memory.
    pub(super) fn read(&self, bytes: &mut [u8]) -> Result<(), XrtError> {
        let (Owned { buffer, device }, len) = (&self.owned, bytes.len());
        let doing = || format!("read {len} bytes of card memory");
        device.api.sync(buffer, Direction::FromDevice, 0..self.owned.transfer(len)).to(doing)?;
        device.api.read(buffer, bytes, 0).to(doing)
    }

    /// Makes every byte 0. Memory that was never written has no valid check bits: reading it would stall a DDR controller.
    pub(super) fn clear(&self) -> Result<(), XrtError> {
        let zeros = vec![0; self.owned.buffer.bytes().min(super::CHUNK_BYTES)];
        let mut at = 0;
        while at < self.owned.buffer.bytes() {
            let len = zeros.len().min(self.owned.buffer.bytes() - at);
            self.write(&zeros[..len], at)?;
            at += len;
        }
        Ok(())
    }
}

/// Card memory and a region of the host that is pinned for the card's DMA.
pub(super) struct SharedBuffer {
    owned: Owned,
    group: u32,
}

impl SharedBuffer {
    /// Shares `memory`, and writes what it holds into card memory: so the card's is initialised, and no host element changes that
    /// the kernel has not written.
    pub(super) fn new(
        device: &Arc<Device>,
        what: &str,
        memory: &Arc<HostMemory>,
        group: u32,
    ) -> Result<Self, XrtError> {
        let bytes = memory.bytes();
        let owned = Owned::new(device, what, bytes, |device| device.api.shared_buffer(&device.handle, memory, group))?;
        let shared = Self { owned, group };
        shared.give()?;
        Ok(shared)
    }

    /// Lets the card have all that the host holds.
    pub(super) fn give(&self) -> Result<(), XrtError> {
        let Owned { buffer, device } = &self.owned;
        let bytes = buffer.bytes();
        device.api.sync(buffer, Direction::ToDevice, 0..bytes).to(|| format!("write {bytes} bytes into card memory"))
    }

    /// Lets the host have the first bytes that the card has written.
    pub(super) fn fetch(&self, bytes: usize) -> Result<(), XrtError> {
        if bytes == 0 {
            return Ok(());
        }
        let Owned { buffer, device } = &self.owned;
        let range = 0..self.owned.transfer(bytes);
        device.api.sync(buffer, Direction::FromDevice, range).to(|| format!("fetch {bytes} bytes that the card wrote"))
    }
}

/// Card memory that others see through the card's BAR.
pub(super) struct BarBuffer {
    owned: Owned,
    group: u32,
}

impl AsRef<Buffer> for BarBuffer {
    fn as_ref(&self) -> &Buffer {
        &self.owned.buffer
    }
}

/// A reference to one that is given to the memory mapped from it.
struct KeepsBar(Arc<BarBuffer>);

impl AsRef<Buffer> for KeepsBar {
    fn as_ref(&self) -> &Buffer {
        (*self.0).as_ref()
    }
}

impl BarBuffer {
    /// Room for `len` elements, and where this process sees them; all are 0.
    pub(super) fn new(
        device: &Arc<Device>,
        what: &str,
        len: usize,
        group: u32,
    ) -> Result<(Arc<Self>, Arc<HostMemory>), XrtError> {
        let bytes = (len * size_of::<i32>()).max(1).next_multiple_of(PAGE_BYTES);
        let owned = Owned::new(device, &format!("{what} behind the BAR"), bytes, |device| {
            device.api.buffer(&device.handle, bytes, Kind::PeerToPeer, group)
        });
        let owned = owned.map_err(|error| match error {
            XrtError::Call { doing, error, .. } if error.function == "xrtBOAlloc" => {
                XrtError::Call { doing, error, help: PEER_TO_PEER_HELP }
            }
            other => other,
        })?;
        let bar = Arc::new(Self { owned, group });
        let mapped = device.api.map(KeepsBar(Arc::clone(&bar))).to(|| format!("map {what} through the card's BAR"))?;
        let memory = HostMemory::mapped(Box::new(mapped), len);
        memory.fill(0);
        Ok((bar, Arc::new(memory)))
    }
}

/// Memory of another device. The card's DMA engine writes it; a kernel cannot, as it has no address on the card.
pub(super) struct ImportedBuffer {
    owned: Owned,
    offset: usize,
}

impl ImportedBuffer {
    pub(super) fn new(device: &Arc<Device>, what: &str, exported: &DmaBuf) -> Result<Self, XrtError> {
        let buffer = device.api.import(&device.handle, std::os::fd::AsFd::as_fd(&exported.fd));
        let buffer = buffer.to(|| format!("import the memory of {what} from another device"))?;
        let owned = Owned { buffer, device: Arc::clone(device) };
        let offset = exported.offset as usize;
        let end = offset.saturating_add(exported.len * size_of::<i32>());
        if end > owned.buffer.bytes() {
            return Err(XrtError::Import { what: what.to_owned(), end, bytes: owned.buffer.bytes() });
        }
        Ok(Self { owned, offset })
    }

    /// Copies the first bytes of `from` here.
    pub(super) fn copy(&self, from: &CardBuffer, bytes: usize) -> Result<(), XrtError> {
        if bytes == 0 {
            return Ok(());
        }
        let Owned { buffer, device } = &self.owned;
        let doing = || format!("copy {bytes} bytes into another device's memory");
        device.api.copy(buffer, &from.owned.buffer, bytes, self.offset).to(doing)
    }
}
