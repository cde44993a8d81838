//! What a simulated card is made of.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use hw::{DeviceError, Slr, card::MAX_CHANNELS};
use verilator_sys::{
    Fill,
    build::{ModelSpec, Top, Variant},
};

use crate::memory::Profile;

use super::{
    BACKEND,
    axi::{Fault, MemoryOptions},
};

/// How the kernels are built, what memory they have, and what is looked at. Nothing of it changes a result.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// Index channels of each kernel: 1, 2, 4 or 8.
    pub channels: usize,
    /// log2 of the slots of each kernel's hash table.
    pub table_log2: u32,
    /// Reads that each port may have outstanding; a power of two.
    pub window: u32,
    /// Further parameters of the RTL's top module by name, for tests.
    pub parameters: BTreeMap<String, u64>,
    /// Compiled for speed, or to find mistakes. Waves and coverage have variants of their own, which win.
    pub variant: Variant,
    /// How fast memory is, and how regular.
    pub memory: Profile,
    /// Decides everything that depends on chance: latencies, stalls, the order of register accesses.
    pub stall_seed: u64,
    /// How registers without a reset value start; the fast variant does not ask.
    pub fill: Fill,
    /// Accesses that the memory of every SLR answers with an error.
    pub faults: Vec<Fault>,
    /// Register values (offset and word) that are written in place of those that a run needs, for tests of what the kernel
    /// refuses.
    pub registers: Vec<(u32, u32)>,
    /// Cycles without a handshake after which a run is stuck, on top of what clearing the hash table takes.
    pub watchdog_cycles: u64,
    /// Records every handshake of the last run of each SLR ([`super::RtlDevice::bus_log`]).
    pub bus_log: bool,
    /// Writes waves (FST): `NAME.fst` becomes `NAME.slr0.fst` to `NAME.slr2.fst`.
    pub waves: Option<PathBuf>,
    /// Writes coverage when the device is dropped: `NAME.dat` becomes `NAME.slr0.dat` to `NAME.slr2.dat`.
    pub coverage: Option<PathBuf>,
}

impl Default for RtlOptions {
    fn default() -> Self {
        Self {
            channels: 4,
            table_log2: 19,
            window: 128,
            parameters: BTreeMap::new(),
            variant: Variant::Fast,
            memory: Profile::default(),
            stall_seed: 0,
            fill: Fill::Random(1),
            faults: vec![],
            registers: vec![],
            watchdog_cycles: 100_000,
            bus_log: false,
            waves: None,
            coverage: None,
        }
    }
}

impl RtlOptions {
    /// The model that these options ask for.
    ///
    /// # Errors
    /// [`DeviceError::Backend`] for a kernel that cannot be built, or for waves and coverage at the same time.
    pub fn model_spec(&self) -> Result<ModelSpec, DeviceError> {
        let refuse = |message: String| Err(DeviceError::Backend { backend: BACKEND, message });
        if !self.channels.is_power_of_two() || self.channels > MAX_CHANNELS {
            let channels = self.channels;
            return refuse(format!("a kernel with {channels} index channels does not exist; it has 1, 2, 4 or 8"));
        }
        if !self.window.is_power_of_two() {
            return refuse(format!("a window of {} reads does not exist; it is a power of two", self.window));
        }
        let variant = match (&self.waves, &self.coverage) {
            (Some(_), Some(_)) => {
                return refuse("waves and coverage are different builds of the RTL; ask for one of them".to_owned());
            }
            (Some(_), None) => Variant::Waves,
            (None, Some(_)) => Variant::Coverage,
            (None, None) => self.variant,
        };
        let mut parameters = self.parameters.clone();
        parameters.insert("INDEX_CHANNELS".to_owned(), self.channels as u64);
        parameters.insert("TABLE_LOG2".to_owned(), self.table_log2.into());
        parameters.insert("WINDOW".to_owned(), self.window.into());
        Ok(ModelSpec { top: Top::Kernel, parameters, variant })
    }

    pub(super) fn memory_options(&self) -> MemoryOptions {
        let (profile, seed, faults, log) = (self.memory, self.stall_seed, self.faults.clone(), self.bus_log);
        MemoryOptions { profile, seed, faults, log }
    }

    /// The same for a test: where `TRISAGE_COVERAGE` names a folder and neither coverage nor waves are asked for, coverage is
    /// written there, to a file of this device's own.
    #[must_use]
    pub fn measured(self) -> Self {
        static DEVICES: AtomicU32 = AtomicU32::new(0);
        let folder = env::var_os("TRISAGE_COVERAGE").filter(|_| self.coverage.is_none() && self.waves.is_none());
        let own = folder.map(|folder| {
            let number = DEVICES.fetch_add(1, Relaxed);
            PathBuf::from(folder).join(format!("coverage-{}-{number}.dat", process::id()))
        });
        Self { coverage: self.coverage.or(own), ..self }
    }

    /// Slots of each kernel's hash table.
    pub(super) fn table_slots(&self) -> u64 {
        1 << self.table_log2
    }
}

/// `NAME.EXT` as `NAME.slr0.EXT`.
pub(super) fn of_slr(path: &Path, slr: Slr) -> PathBuf {
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_extension(format!("slr{}{extension}", slr.index()))
}
