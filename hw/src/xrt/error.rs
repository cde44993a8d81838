//! What can go wrong between this process and XRT, each in one sentence.

use std::{fmt, io, path::PathBuf};

use crate::{DeviceError, Slr};

/// The back end's name.
pub(super) const BACKEND: &str = "xrt";

/// A function of XRT's C API that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CallError {
    /// The function.
    pub function: &'static str,
    /// What it left in `errno`; 0 for most failures.
    pub errno: i32,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed", self.function)?;
        match self.errno {
            0 => f.write_str(", and XRT's own message on stderr says why"),
            errno => write!(f, ": {}", io::Error::from_raw_os_error(errno)),
        }
    }
}

impl CallError {
    /// Whether someone else has what was asked for.
    pub(super) fn is_busy(self) -> bool {
        matches!(self.errno, libc::EBUSY | libc::EPERM | libc::EAGAIN)
    }
}

/// Why XRT did not do what it was asked, or was not asked at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XrtError {
    /// `XILINX_XRT` is not set: XRT 2.13 would abort the process.
    #[error("XILINX_XRT is not set; source XRT's setup.sh first (/opt/xilinx/xrt/setup.sh as a rule)")]
    NoRoot,
    /// An emulation mode that does not exist.
    #[error("XCL_EMULATION_MODE is '{found}'; it is sw_emu, hw_emu or noop, or not set for a real card")]
    Mode {
        /// What it is.
        found: String,
    },
    /// The shim library is missing: XRT 2.13 would abort the process.
    #[error("{} is missing; XILINX_XRT has to name a folder of XRT whose lib/ has it", .path.display())]
    Shim {
        /// Where it should be.
        path: PathBuf,
    },
    /// `USER` is not set: XRT's emulations would end the process.
    #[error("USER is not set, and XRT's {mode} needs it for the name of its socket; set it to any name")]
    NoUser {
        /// Which emulation.
        mode: String,
    },
    /// XRT's library cannot be loaded.
    #[error("XRT's library {} cannot be loaded: {reason}; is XRT installed?", .path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// The dynamic linker's words.
        reason: String,
    },
    /// XRT's library lacks a function.
    #[error("XRT's library {} has no function {symbol}; XRT 2.11 or newer is needed", .path.display())]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
    },
    /// A call failed.
    #[error("cannot {doing}: {error}{help}")]
    Call {
        /// What it was to do.
        doing: String,
        /// The call.
        error: CallError,
        /// What would help: empty, or from a semicolon on.
        help: &'static str,
    },
    /// The card is in use with another xclbin.
    #[error("cannot {doing}: another process uses the card ({error}); wait until it has ended, or take another card")]
    Busy {
        /// What was to be done.
        doing: String,
        /// The call.
        error: CallError,
    },
    /// The xclbin cannot be used.
    #[error("xclbin {}: {reason}", .path.display())]
    Xclbin {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The card has another xclbin than the one that was loaded.
    #[error("the card has xclbin {found}, not {asked} that was loaded; another process has replaced it")]
    Uuid {
        /// The one that it has.
        found: String,
        /// The one of the file.
        asked: String,
    },
    /// The kernel's registers are not those that this host was built for.
    #[error(
        "argument '{argument}' of {slr} lies at {found:#x}, not at {expected:#x}; the xclbin is of another version"
    )]
    Offset {
        /// The compute unit's SLR.
        slr: Slr,
        /// The argument.
        argument: &'static str,
        /// Where the xclbin has it.
        found: u32,
        /// Where the register map has it.
        expected: u32,
    },
    /// It is not the sampling kernel.
    #[error(
        "the compute unit of {slr} says that it is {found:#010x}, not {expected:#010x}; the xclbin is of another version"
    )]
    Identity {
        /// The compute unit's SLR.
        slr: Slr,
        /// What its identity register reads.
        found: u32,
        /// What it should.
        expected: u32,
    },
    /// It does not answer.
    #[error(
        "registers of {slr} read 0xffffffff: the card does not answer; look at dmesg, and reset it as root with 'xbutil reset'"
    )]
    Gone {
        /// The compute unit's SLR.
        slr: Slr,
    },
    /// An argument that has to be connected to memory is not.
    #[error("argument '{argument}' of {slr} is not connected to a memory bank; link the xclbin with one")]
    Unconnected {
        /// The compute unit's SLR.
        slr: Slr,
        /// The argument.
        argument: &'static str,
    },
    /// The index channels are not a number that the kernel can have.
    #[error("{slr} has {found} connected index channels; a kernel has 1, 2, 4 or 8")]
    Channels {
        /// The compute unit's SLR.
        slr: Slr,
        /// Those that are connected, in order from the first.
        found: usize,
    },
    /// The kernel has another number of index channels than the xclbin connects.
    #[error("the kernel of {slr} was built with {built} index channels, but the xclbin connects {connected}")]
    BuiltChannels {
        /// The compute unit's SLR.
        slr: Slr,
        /// Those that its register tells.
        built: usize,
        /// Those that are connected.
        connected: usize,
    },
    /// A buffer lies where the argument does not reach.
    #[error("XRT placed '{argument}' of {slr} at card address {address:#x}, outside of its memory ({banks})")]
    Bank {
        /// The compute unit's SLR.
        slr: Slr,
        /// The argument.
        argument: &'static str,
        /// Where the buffer is.
        address: u64,
        /// The banks that the argument reaches.
        banks: String,
    },
    /// Imported memory is shorter than the buffer that should lie in it.
    #[error("the exported memory for {what} has {bytes} bytes, and the buffer ends at byte {end}")]
    Import {
        /// Which buffer.
        what: String,
        /// Where it ends.
        end: usize,
        /// Bytes that were exported.
        bytes: usize,
    },
    /// Card memory that this device has not handed out.
    #[error("'{buffer}' of {slr} is card memory that this device has not handed out; take it from bar_outputs")]
    ForeignBar {
        /// The SLR.
        slr: Slr,
        /// The buffer.
        buffer: &'static str,
    },
    /// A buffer lies in another memory than the argument is connected to.
    #[error(
        "a buffer in memory group {found} cannot be argument '{argument}' of {slr}, which is connected to group {expected}"
    )]
    Group {
        /// The compute unit's SLR.
        slr: Slr,
        /// The argument.
        argument: &'static str,
        /// The buffer's group.
        found: u32,
        /// The argument's.
        expected: u32,
    },
    /// XRT placed a buffer where the kernel cannot use it.
    #[error("XRT placed a buffer at card address {address:#x}, which is not a multiple of {alignment}")]
    Alignment {
        /// Where.
        address: u64,
        /// What the kernel needs.
        alignment: usize,
    },
    /// XRT made a buffer that is too small.
    #[error("XRT made a buffer of {found} bytes where {bytes} were asked for")]
    Short {
        /// Bytes asked for.
        bytes: usize,
        /// What the buffer has.
        found: usize,
    },
    /// More than XRT moves as one buffer.
    #[error("{what} needs a buffer of {bytes} bytes; XRT's are below {} bytes", super::MAX_BUFFER_BYTES)]
    TooLarge {
        /// What.
        what: String,
        /// Bytes needed.
        bytes: u64,
    },
    /// A bug in trisage: it asked for bytes that a buffer does not have.
    #[error("bytes {start} to {end} of a buffer of {bytes} bytes were asked for, which is a bug in trisage")]
    Bounds {
        /// First byte.
        start: usize,
        /// Past the last byte.
        end: usize,
        /// What the buffer has.
        bytes: usize,
    },
}

impl From<XrtError> for DeviceError {
    fn from(error: XrtError) -> Self {
        Self::Backend { backend: BACKEND, message: error.to_string() }
    }
}

/// A call of which nobody has said what it was for. It is said where that matters ([`Context`]).
impl From<CallError> for XrtError {
    fn from(error: CallError) -> Self {
        Self::Call { doing: "use the card".to_owned(), error, help: help(error) }
    }
}

/// Says what a call was to do.
pub(super) trait Context<T> {
    fn to(self, doing: impl FnOnce() -> String) -> Result<T, XrtError>;
}

impl<T, E: Into<XrtError>> Context<T> for Result<T, E> {
    fn to(self, what: impl FnOnce() -> String) -> Result<T, XrtError> {
        self.map_err(|error| match error.into() {
            XrtError::Call { error, help, .. } => XrtError::Call { doing: what(), error, help },
            other => other,
        })
    }
}

/// What would help when there is no memory behind the BAR.
pub(super) const PEER_TO_PEER_HELP: &str = "; peer-to-peer memory has to be enabled as root ('xbutil configure --p2p enable'), \
     with Above 4G Decoding in the BIOS and a warm reboot; without it, results go through host memory";

/// What would help when a call fails.
fn help(error: CallError) -> &'static str {
    match (error.function, error.errno) {
        ("xrtDeviceOpen" | "xrtDeviceOpenByBDF", _) => {
            "; 'trisage device list' shows the cards, 'xbutil examine' whether XRT's driver sees them"
        }
        ("xrtDeviceLoadXclbinFile", _) => {
            "; it may be made for another platform than the card's, which 'xbutil examine' shows; dmesg says more"
        }
        ("xrtPLKernelOpenExclusive", libc::EINVAL) => "; the xclbin has no such compute unit, or is not the card's",
        ("xrtPLKernelOpenExclusive", _) => "; another process may have opened it",
        ("xrtBOAlloc" | "xrtBOAllocUserPtr", libc::ENOMEM) => "; the memory bank is full",
        ("xrtBOMap", _) => PEER_TO_PEER_HELP,
        ("xrtBOSync", libc::EIO) => {
            "; the card does not answer: look at dmesg, and reset it as root with 'xbutil reset'"
        }
        ("xrtBOImport", _) => "; XRT's driver does not take memory of every other driver, NVIDIA's least of all",
        _ => "",
    }
}
