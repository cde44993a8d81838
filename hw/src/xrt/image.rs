//! The xclbin that a card is to run, as far as XRT does not look at it itself.

use std::{
    ffi::CString,
    fs,
    path::{Path, PathBuf},
};

use super::{XrtError, environment::Mode};
use crate::{
    Slr,
    card::LINE_BYTES,
    kernel_xml::{KERNEL, UNITS},
    registers::ARGS,
    xclbin::{self, Ip, Memory, Xclbin},
};

/// Files above are none of ours; the largest of real cards have some 100 MB.
const MAX_BYTES: u64 = 1 << 30;

/// An xclbin that was read from a file, with three sampling kernels.
pub(super) struct Image {
    pub(super) path: PathBuf,
    pub(super) file: Xclbin,
}

impl Image {
    pub(super) fn read(path: &Path, mode: Mode) -> Result<Self, XrtError> {
        let refuse = |reason: String| XrtError::Xclbin { path: path.to_owned(), reason };
        let about = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
        // A pipe or a device might never end, and XRT reads the file once more.
        if !about.is_file() {
            return Err(refuse("it is no regular file".to_owned()));
        }
        let bytes = about.len();
        if bytes > MAX_BYTES {
            return Err(refuse(format!("it has {bytes} bytes; an xclbin has {MAX_BYTES} at most")));
        }
        let bytes = fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let image =
            Self { path: path.to_owned(), file: Xclbin::read(&bytes).map_err(|error| refuse(error.to_string()))? };
        image.check(mode).map_err(refuse)?;
        Ok(image)
    }

    fn check(&self, mode: Mode) -> Result<(), String> {
        let built = self.file.mode;
        let fits = match mode {
            Mode::Hardware => !matches!(built, xclbin::Mode::SoftwareEmulation | xclbin::Mode::HardwareEmulation(_)),
            Mode::SwEmu => built == xclbin::Mode::SoftwareEmulation,
            Mode::HwEmu => matches!(built, xclbin::Mode::HardwareEmulation(_)),
            Mode::Noop => true,
        };
        if !fits {
            return Err(format!("it is made for {built}, but XCL_EMULATION_MODE asks for {mode}"));
        }
        for unit in UNITS {
            let Some(ip) = self.file.unit(KERNEL, unit).and_then(|ip| self.file.ips.get(ip)) else {
                return Err(format!("it has no compute unit '{unit}' of a kernel '{KERNEL}'"));
            };
            if ip.control() != Ip::AP_CTRL_CHAIN {
                let found = ip.control();
                return Err(format!("its compute unit '{unit}' has control protocol {found}, not ap_ctrl_chain (1)"));
            }
        }
        Ok(())
    }

    pub(super) fn c_path(&self) -> Result<CString, XrtError> {
        let reason = "its name holds a NUL byte".to_owned();
        CString::new(self.path.as_os_str().as_encoded_bytes())
            .map_err(|_| XrtError::Xclbin { path: self.path.clone(), reason })
    }

    /// Bytes of which transfers have to be multiples: shells without a DMA engine move whole lines (XRT pull request 5187).
    pub(super) fn transfer_unit(&self) -> usize {
        if self.file.platform.to_ascii_lowercase().contains("nodma") { LINE_BYTES } else { 1 }
    }

    /// The memory of a compute unit.
    pub(super) fn banks(&self, slr: Slr) -> UnitBanks {
        let ip = self.file.unit(KERNEL, UNITS[slr.index()]);
        let of = |argument: usize| {
            let mine = self.file.connections.iter().filter(|c| Some(c.ip as usize) == ip && c.arg as usize == argument);
            mine.filter_map(|connection| self.file.memories.get(connection.memory as usize)).cloned().collect()
        };
        UnitBanks { banks: (0..ARGS.len()).map(of).collect() }
    }
}

/// The memory banks that each argument of a compute unit reaches.
pub(super) struct UnitBanks {
    banks: Vec<Vec<Memory>>,
}

impl UnitBanks {
    fn of(&self, argument: usize) -> &[Memory] {
        self.banks.get(argument).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_unconnected(&self, argument: usize) -> bool {
        self.of(argument).is_empty()
    }

    pub(super) fn bytes(&self, argument: usize) -> u64 {
        match self.of(argument) {
            [] => u64::MAX,
            banks => banks.iter().map(|bank| bank.kib.saturating_mul(1024)).fold(0, u64::saturating_add),
        }
    }

    /// Whether all bytes of a buffer lie in the banks. A buffer may go over from one bank to the next where both are reached.
    pub(super) fn hold(&self, argument: usize, address: u64, bytes: u64) -> bool {
        let within = |at: u64| {
            self.of(argument).iter().any(|bank| at >= bank.base && at - bank.base < bank.kib.saturating_mul(1024))
        };
        self.of(argument).is_empty() || (within(address) && within(address.saturating_add(bytes.saturating_sub(1))))
    }

    pub(super) fn names(&self, argument: usize) -> String {
        let names: Vec<_> = self.of(argument).iter().map(|bank| bank.tag.as_str()).collect();
        names.join(", ")
    }
}
