//! The card: three kernels behind the one trait.

use std::{fmt, fs, path::Path};

use golden::Limits;
use hw::{Capabilities, DeviceError, Feature, SLRS, Slr, registers};
use verilator_sys::{Model, ModelLibrary, build};

use super::{
    BACKEND,
    kernel::RtlKernel,
    options::{RtlOptions, of_slr},
    waves,
};
use crate::card::{Card, OUTPUT_SPACES};

const LIMITS: Limits = Limits { owner: "the RTL kernel", ..registers::LIMITS };

/// Runs of an SLR that may be in flight.
const QUEUE_DEPTH: usize = 1;

/// The three-SLR card in simulation.
///
/// It writes into host memory, line by line as the kernel does. Its reports hold cycles, traffic and stages; each run is also
/// checked against the bus protocol, and the kernel's own counts against what its memory saw.
pub type RtlDevice = Card<RtlKernel>;

impl RtlDevice {
    /// A card without a graph. The RTL is compiled first if no model of it is in the cache; `said` is told, a line each, what
    /// takes time.
    ///
    /// # Errors
    /// [`DeviceError::Backend`]: no Verilator, RTL that does not compile, a file that cannot be written.
    pub fn new(options: &RtlOptions, said: &dyn Fn(&str)) -> Result<Self, DeviceError> {
        let backend = |error: &dyn fmt::Display| DeviceError::Backend { backend: BACKEND, message: error.to_string() };
        options.waves.as_deref().map_or(Ok(()), waves::check)?;
        let path = build::compile(&options.model_spec()?, said).map_err(|error| backend(&error))?;
        let library = ModelLibrary::load(&path).map_err(|error| backend(&error))?;
        let model = || Model::new(&library, options.fill).map_err(|error| backend(&error));
        let mut models = [model()?, model()?, model()?];
        if let Some(waves) = &options.waves {
            open_waves(waves, &mut models)?;
        }
        let [m0, m1, m2] = models;
        let [s0, s1, s2] = Slr::ALL;
        let kernels = [(s0, m0), (s1, m1), (s2, m2)].map(|(slr, model)| RtlKernel::new(slr, model, options));
        let capabilities = Capabilities {
            backend: BACKEND,
            limits: LIMITS,
            queue_depth: QUEUE_DEPTH,
            features: vec![Feature::Cycles, Feature::Traffic, Feature::StageCycles],
            output_spaces: OUTPUT_SPACES.to_vec(),
        };
        Self::with_kernels(capabilities, kernels)
    }

    /// Every handshake of the last run of `slr`, a line each, by port and channel: `idx2.AR indices2+0x40 id 3 beats 1`. It
    /// holds no cycles. `None` unless [`RtlOptions::bus_log`] was set and something ran.
    pub fn bus_log(&self, slr: Slr) -> Option<String> {
        self.kernel(slr).bus_log()
    }

    /// Clock cycles that were simulated for `slr`, register accesses and all. Waits for a run in flight.
    pub fn cycles(&self, slr: Slr) -> u64 {
        self.kernel(slr).cycles()
    }
}

/// Opens the waves of each SLR's model, or none.
fn open_waves(waves: &Path, models: &mut [Model; SLRS]) -> Result<(), DeviceError> {
    let paths = Slr::ALL.map(|slr| of_slr(waves, slr));
    for at in 0..SLRS {
        if !models[at].open_waves(&paths[at]) {
            for (model, path) in models[..at].iter_mut().zip(&paths) {
                let _ = model.close_waves();
                let _ = fs::remove_file(path);
            }
            return Err(waves::refusal(&paths[at], "it cannot be opened"));
        }
    }
    Ok(())
}
