//! What a card is, and how fast its ways to the host are.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    XrtDevice, XrtError,
    bo::{BarBuffer, SharedBuffer},
    environment::Mode,
    error::BACKEND,
};
use crate::{
    DeviceError, HostMemory, SLRS, Slr,
    registers::{ARGS, id_of},
};

/// What is known of an open card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The platform that its xclbin is made for.
    pub platform: String,
    /// The xclbin, by its UUID.
    pub xclbin: String,
    /// Whether it is one of XRT's emulations, whose times mean nothing.
    pub emulated: bool,
    /// Its compute units, by SLR.
    pub units: [Unit; SLRS],
}

/// A compute unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Where it is.
    pub slr: Slr,
    /// Its index channels.
    pub channels: usize,
    /// Slots of its hash table; 0 where XRT's emulation has no registers.
    pub table_slots: u64,
    /// The memory banks of each port, by name.
    pub banks: Vec<(&'static str, String)>,
}

/// How fast results come to the host, in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Bytes that were moved each time.
    pub bytes: usize,
    /// The card's DMA engine to the card, from pinned host memory.
    pub to_card: Rate,
    /// The card's DMA engine to pinned host memory.
    pub to_host: Rate,
    /// The processor reads card memory through the BAR; or why there is none. A GPU that pulls is faster than that.
    pub bar: Result<Rate, XrtError>,
}

/// Bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(pub f64);

impl Rate {
    fn of(bytes: usize, time: Duration) -> Self {
        Self(bytes as f64 / time.as_secs_f64().max(1e-9))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} GB/s", self.0 / 1e9)
    }
}

/// Times that each way is taken; the fastest counts.
const TIMES: usize = 3;

impl XrtDevice {
    /// What it is.
    ///
    /// # Errors
    /// [`DeviceError::Busy`] or [`DeviceError::Poisoned`].
    pub fn describe(&self) -> Result<Description, DeviceError> {
        let unit = |slr: Slr| {
            let mut state = self.lane(slr).lock();
            let kernel = &state.idle()?.run.kernel;
            let ports = ARGS.iter().enumerate().filter_map(|(id, arg)| Some((id, arg.port?.name())));
            let connected = ports.filter(|(id, _)| kernel.group(*id).is_ok());
            let mut banks: Vec<_> = connected.map(|(id, port)| (port, kernel.bank_names(id))).collect();
            banks.dedup();
            Ok::<_, DeviceError>(Unit { slr, channels: kernel.channels, table_slots: kernel.table_slots, banks })
        };
        let [s0, s1, s2] = Slr::ALL;
        let units = [unit(s0)?, unit(s1)?, unit(s2)?];
        let (platform, xclbin, emulated) = (self.platform.clone(), self.xclbin.clone(), self.emulated);
        Ok(Description { platform, xclbin, emulated, units })
    }

    /// Measures the ways between card and host, with buffers of `bytes` in the memory of the first SLR's results.
    ///
    /// # Errors
    /// [`DeviceError::Busy`], [`DeviceError::Poisoned`], or why nothing can be moved at all.
    pub fn measure(&self, bytes: usize) -> Result<Rates, DeviceError> {
        let mut state = self.lane(Slr::ALL[0]).lock();
        let kernel = &state.idle()?.run.kernel;
        if kernel.device.mode == Mode::Noop {
            let message = "in XRT's noop mode nothing is moved, so nothing can be measured".to_owned();
            return Err(DeviceError::Backend { backend: BACKEND, message });
        }
        let group = kernel.group(id_of("samples"))?;
        let memory = Arc::new(HostMemory::new(bytes.div_ceil(size_of::<i32>())));
        let bytes = memory.bytes();
        let shared = SharedBuffer::new(&kernel.device, "a measurement", &memory, group)?;
        let to_card = fastest(bytes, || shared.give())?;
        let to_host = fastest(bytes, || shared.fetch(bytes))?;
        drop(shared);
        let bar = BarBuffer::new(&kernel.device, "a measurement", memory.len(), group).and_then(|(_, mapped)| {
            let mut copy = vec![0; mapped.len()];
            let read = || {
                mapped.read(0, std::hint::black_box(&mut copy));
                Ok(())
            };
            fastest(mapped.len() * size_of::<i32>(), read)
        });
        Ok(Rates { bytes, to_card, to_host, bar })
    }
}

fn fastest(bytes: usize, mut way: impl FnMut() -> Result<(), XrtError>) -> Result<Rate, XrtError> {
    let mut best = Duration::MAX;
    for _ in 0..TIMES {
        let begin = Instant::now();
        way()?;
        best = best.min(begin.elapsed());
    }
    Ok(Rate::of(bytes, best))
}
