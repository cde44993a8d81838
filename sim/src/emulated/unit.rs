//! A kernel of the RTL whose registers are driven and whose memory is held by somebody else.

use hw::{
    DeviceError, Slr,
    registers::{self, AP_CONTINUE, AP_DONE, AP_START},
};
use verilator_sys::{Model, ModelLibrary, build};

use super::Registers;
use crate::{
    complain,
    rtl::{self, Access, AddressSpace, Clocked, RtlOptions},
    worker::Cancel,
};

/// Cycles that pass while the host waits for a register of a kernel that runs: a read over the bus to the host takes about a
/// microsecond.
/// A kernel has no other time than this, so how many cycles a run takes does not depend on how fast the host is.
const ROUND_TRIP_CYCLES: u32 = 300;

/// A kernel that is driven register by register.
#[derive(Debug)]
pub(super) struct RtlUnit<S: AddressSpace> {
    core: Clocked<S>,
    running: bool,
    /// What it did that no kernel may do, once it has.
    broken: Option<String>,
}

/// A kernel for each SLR with its memory, out of reset.
///
/// # Errors
/// [`DeviceError::Backend`] if the RTL cannot be compiled; what a kernel does wrong as it comes out of reset.
pub(super) fn units<S: AddressSpace>(
    options: &RtlOptions,
    memory: impl Fn(Slr) -> S,
    said: &dyn Fn(&str),
) -> Result<Vec<RtlUnit<S>>, DeviceError> {
    let backend =
        |error: &dyn std::fmt::Display| DeviceError::Backend { backend: rtl::BACKEND, message: error.to_string() };
    let path = build::compile(&options.model_spec()?, said).map_err(|error| backend(&error))?;
    let library = ModelLibrary::load(&path).map_err(|error| backend(&error))?;
    let unit = |slr| {
        let model = Model::new(&library, options.fill).map_err(|error| backend(&error))?;
        let mut core = Clocked::new(slr, model, options);
        core.set_memory(memory(slr));
        core.reset()?;
        Ok(RtlUnit { core, running: false, broken: None })
    };
    Slr::ALL.into_iter().map(unit).collect()
}

impl<S: AddressSpace> RtlUnit<S> {
    fn access(&mut self, access: Access) -> Result<u32, DeviceError> {
        self.core.access(access, &Cancel::default())
    }

    /// Lets time pass. What the kernel may not do ends it.
    fn run(&mut self) -> Result<(), DeviceError> {
        for _ in 0..ROUND_TRIP_CYCLES {
            self.core.clock()?;
            self.core.look_around(&Cancel::default())?;
        }
        Ok(())
    }

    fn try_read(&mut self, offset: u32) -> Result<u32, DeviceError> {
        if self.running {
            self.run()?;
        }
        let value = self.access(Access::Read(offset))?;
        if self.running && offset == registers::CTRL && value & AP_DONE != 0 {
            self.finish()?;
        }
        Ok(value)
    }

    /// The run is over: the bus is at rest, and the kernel gets the answer that XRT's driver for cards gives to a done that it has
    /// seen (`cu_hls.c`). XRT's software emulation gives none, as it takes every kernel for one with `ap_ctrl_hs`, whose done goes
    /// away as it is read.
    fn finish(&mut self) -> Result<(), DeviceError> {
        self.running = false;
        let waiting = self.core.bus_waits();
        if !waiting.is_empty() {
            let waiting = waiting.join("; ");
            return Err(self.core.protocol(format!("it reports done while the bus is not at rest: {waiting}")));
        }
        self.access(Access::Write(registers::CTRL, AP_CONTINUE))?;
        match self.core.memory().take_stray() {
            None => Ok(()),
            // It was told so by an error response, and goes on.
            Some(stray) => {
                complain(&format_args!("emulated card: {}: {stray}", self.core.slr()));
                Ok(())
            }
        }
    }

    fn try_write(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        if offset == registers::CTRL && value & AP_START != 0 {
            let now = self.core.cycles();
            self.core.memory().begin(now);
            self.running = true;
        }
        self.access(Access::Write(offset, value)).map(drop)
    }

    /// After a kernel has done what no kernel may do, nothing of it is believed.
    fn checked<T>(&mut self, access: impl FnOnce(&mut Self) -> Result<T, DeviceError>) -> Result<T, String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        access(self).map_err(|error| {
            self.core.end_waves(); // what led to the error is whole on disk
            self.broken.insert(error.to_string()).clone()
        })
    }
}

impl<S: AddressSpace> Registers for RtlUnit<S> {
    fn read(&mut self, offset: u32) -> Result<u32, String> {
        self.checked(|unit| unit.try_read(offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), String> {
        self.checked(|unit| unit.try_write(offset, value))
    }
}
