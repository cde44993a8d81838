//! The real card, through XRT.
//!
//! XRT is loaded when a card is opened, so nothing of it is needed to build this or to run other back ends. Three layers, each of
//! which only knows the one below:
//!
//! - `raw`: the C API: its prototypes, and a call each that makes an error of every sentinel. All unsafe code is there.
//! - `device`, `bo`: who owns what XRT hands out, closed in an order that XRT survives; buffers by kind, each with what makes
//!   sense for it.
//! - `graph`, `outputs`, `lane`, and [`XrtDevice`] here: the device trait.
//!
//! `README.md` in this folder lists what is known to go wrong with XRT, and what stands against it.

mod bo;
mod device;
mod environment;
mod error;
mod graph;
mod image;
mod inventory;
mod lane;
mod outputs;
mod probe;
mod raw;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use golden::{Capacity, CscGraph, Limits, Progress, Request};

use crate::{
    Capabilities, Deadline, DeviceError, Feature, MemorySpace, OutputBuffers, RunReport, SLRS, SamplerDevice, Slot,
    Slr, registers,
};
use bo::BarBuffer;
pub use device::is_open;
use device::{Device, Kernel};
pub use environment::Environment;
use environment::Mode;
use error::BACKEND;
pub use error::{CallError, XrtError};
use graph::Upload;
use image::{Image, UnitBanks};
pub use inventory::{PciFunction, pci_functions};
use lane::{Lane, State};
use outputs::{Bars, Outputs};
pub use probe::{Description, Rate, Rates, Unit};
use raw::Api;
pub use raw::end_at_once;

/// What XRT moves as one buffer is smaller than this (XRT issue 6131).
const MAX_BUFFER_BYTES: u64 = 1 << 32;
/// What is written to the card at once.
const CHUNK_BYTES: usize = 4 << 20;
/// How long a run in flight may take to end when the device is dropped.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(10);

/// The limits of a request.
const LIMITS: Limits = Limits { owner: "the card", ..registers::LIMITS };
/// Runs of an SLR that may be in flight.
const QUEUE_DEPTH: usize = 1;

/// Which card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardId {
    /// By XRT's number, from 0.
    Index(u32),
    /// By its place on the bus, such as `0000:03:00.1`.
    Bdf(String),
}

impl FromStr for CardId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(index) = text.parse() {
            return Ok(Self::Index(index));
        }
        let hex = |part: &str, digits: usize| {
            (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(())
        };
        let bdf = || {
            let (rest, function) = text.rsplit_once('.')?;
            let mut parts = rest.rsplit(':');
            hex(function, 1)?;
            hex(parts.next()?, 2)?;
            hex(parts.next()?, 2)?;
            parts.next().map_or(Some(()), |domain| hex(domain, 4))?;
            parts.next().is_none().then(|| Self::Bdf(text.to_owned()))
        };
        bdf().ok_or_else(|| {
            format!("'{text}' is no card; give its number, or its place on the bus such as 0000:03:00.1")
        })
    }
}

impl fmt::Display for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "card {index}"),
            Self::Bdf(bdf) => write!(f, "card {bdf}"),
        }
    }
}

/// Which card, with what on it, and how it is used.
#[derive(Clone, Debug)]
pub struct XrtOptions {
    /// The card.
    pub card: CardId,
    /// What it is programmed with.
    pub xclbin: PathBuf,
    /// A library in place of XRT's `libxrt_coreutil.so.2`.
    pub library: Option<PathBuf>,
    /// What XRT looks for around it.
    pub environment: Environment,
    /// Longest time of a run, whatever deadline a waiter has.
    pub watchdog: Duration,
    /// How long to try again while another process has the card.
    pub patience: Duration,
    /// Offer card memory behind the BAR ([`MemorySpace::CardBar`]). Measured with XRT it is slower than host memory
    /// (XRT issue 6613), so it has to be asked for.
    pub peer_to_peer: bool,
    /// Offer to write memory that another driver exports ([`MemorySpace::DmaBuf`]). XRT's own driver refuses that of most others,
    /// so it has to be asked for.
    pub import_dma_buf: bool,
}

impl XrtOptions {
    /// The first card, with this on it.
    pub fn new(xclbin: impl AsRef<Path>) -> Self {
        Self {
            card: CardId::Index(0),
            xclbin: xclbin.as_ref().to_owned(),
            library: None,
            environment: Environment::of_process(),
            watchdog: Duration::from_mins(5),
            patience: Duration::from_secs(2),
            peer_to_peer: false,
            import_dma_buf: false,
        }
    }
}

/// A card with three sampling kernels.
///
/// Results come into host memory through a region that is pinned for the card ([`MemorySpace::Host`]), or stay in card memory that
/// others see through its BAR. A run that does not end leaves its SLR poisoned and its handles open, since XRT crashes when they
/// are closed: see [`is_open`].
pub struct XrtDevice {
    capabilities: Capabilities,
    platform: String,
    xclbin: String,
    emulated: bool,
    watchdog: Duration,
    graph: RwLock<Option<Arc<CscGraph>>>,
    lanes: [Lane; SLRS],
    bars: Bars,
}

impl XrtDevice {
    /// Opens a card, programs it and opens its three compute units, after having looked that all of it fits together.
    ///
    /// # Errors
    /// [`XrtError`], as a rule with what would help.
    pub fn open(options: &XrtOptions) -> Result<Self, XrtError> {
        let mode = options.environment.check()?;
        let image = Image::read(&options.xclbin, mode)?;
        let library = options.library.clone().unwrap_or_else(|| options.environment.library());
        let api = Arc::new(Api::load(&library)?);
        raw::explain_bus_errors();
        let device = Arc::new(Device::open(api, mode, &options.card, &image, options.patience)?);
        let kernel = |slr| Kernel::open(&device, image.banks(slr), slr, options.patience);
        let [s0, s1, s2] = Slr::ALL;
        let [k0, k1, k2] = [kernel(s0)?, kernel(s1)?, kernel(s2)?];
        let mut output_spaces = vec![MemorySpace::Host];
        if options.peer_to_peer {
            // Only a try tells whether the card has it.
            BarBuffer::new(&device, "a trial", 1, k0.group(registers::id_of("samples"))?)?;
            output_spaces.push(MemorySpace::CardBar);
        }
        if options.import_dma_buf {
            output_spaces.push(MemorySpace::DmaBuf);
        }
        let lanes = [Lane::new(k0)?, Lane::new(k1)?, Lane::new(k2)?];
        let capabilities = Capabilities {
            backend: BACKEND,
            limits: LIMITS,
            queue_depth: QUEUE_DEPTH,
            features: vec![Feature::Cycles, Feature::Traffic, Feature::StageCycles],
            output_spaces,
        };
        let watchdog = options.watchdog;
        let (platform, xclbin) = (image.file.platform, device::hex(&image.file.uuid));
        let (graph, bars) = (RwLock::default(), Bars::default());
        let emulated = mode != Mode::Hardware;
        Ok(Self { capabilities, platform, xclbin, emulated, watchdog, graph, lanes, bars })
    }

    fn lane(&self, slr: Slr) -> &Lane {
        &self.lanes[slr.index()]
    }
}

impl SamplerDevice for XrtDevice {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError> {
        let mut loaded = self.graph.write().unwrap_or_else(PoisonError::into_inner);
        let mut states = self.lanes.each_ref().map(Lane::lock);
        let [s0, s1, s2] = states.each_mut();
        let parts = [State::idle(s0)?, State::idle(s1)?, State::idle(s2)?];
        let mut upload = Upload::new(graph, &parts.each_ref().map(|parts| &parts.run), progress)?;
        // There may be no room for both.
        *loaded = None;
        let mut lanes = Vec::from(parts);
        for parts in &mut lanes {
            parts.graph = None;
        }
        for parts in lanes {
            parts.graph = Some(upload.load(&parts.run)?);
        }
        upload.end();
        *loaded = Some(Arc::clone(graph));
        Ok(())
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        let mut state = self.lane(slr).lock();
        let parts = state.idle()?;
        let bound = Outputs::bind(&parts.run.kernel, &outputs, &self.bars, &self.capabilities)?;
        parts.slots.insert(slot, bound);
        Ok(())
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
        let graph = graph.as_ref().ok_or(DeviceError::NoGraph)?;
        request.check(graph, &self.capabilities.limits)?;
        self.lane(slr).start(slot, request, graph)
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        self.lane(slr).wait(deadline, self.watchdog)
    }

    fn cancel(&self, slr: Slr) {
        self.lane(slr).cancel();
    }

    fn bar_outputs(&self, slr: Slr, capacity: Capacity) -> Result<OutputBuffers, DeviceError> {
        let space = MemorySpace::CardBar;
        if !self.capabilities.output_spaces.contains(&space) {
            let possible = self.capabilities.output_spaces.clone();
            return Err(DeviceError::OutputSpace { backend: BACKEND, space, possible });
        }
        self.bars.make(&self.lane(slr).lock().idle()?.run.kernel, capacity)
    }
}

impl Drop for XrtDevice {
    fn drop(&mut self) {
        for lane in &self.lanes {
            lane.shut_down(SHUTDOWN_PATIENCE.min(self.watchdog));
        }
    }
}

impl fmt::Debug for XrtDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XrtDevice").field("capabilities", &self.capabilities).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_a_number_or_a_place_on_the_bus() {
        assert_eq!("3".parse(), Ok(CardId::Index(3)));
        for bdf in ["0000:03:00.1", "03:00.1", "00ab:Fe:1c.0"] {
            assert_eq!(bdf.parse(), Ok(CardId::Bdf(bdf.to_owned())));
        }
        for text in ["", "-1", "u200", "03:00", "3:00.1", "0000:03:00.1x", "0:0000:03:00.1", "03:00.1\n"] {
            assert!(text.parse::<CardId>().unwrap_err().contains("0000:03:00.1"), "{text}");
        }
    }
}
