//! Who owns what XRT hands out. A run keeps its kernel, and kernel and buffers keep their device, so that each is closed before
//! what it needs: XRT's own objects do not survive another order.

use std::{
    ffi::CString,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    CardId, Image, UnitBanks, XrtError,
    environment::Mode,
    error::{CallError, Context},
    raw::{self, Api, Buffer},
};
use crate::{
    Slr,
    card::MAX_CHANNELS,
    kernel_xml::{KERNEL, UNITS},
    registers::{self, ARGS},
};

/// Pause between two attempts at a card that another process has.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// Cards that this process has open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Whether a card is open: one that is in use, or one whose run did not end, so that its handles had to be left open. XRT crashes
/// when a process ends normally that has open handles; leave it with [`super::end_at_once`] then.
pub fn is_open() -> bool {
    OPEN.load(Relaxed) > 0
}

/// An open card with its xclbin loaded.
pub(super) struct Device {
    pub(super) api: Arc<Api>,
    pub(super) handle: raw::Device,
    pub(super) mode: Mode,
    uuid: [u8; 16],
    /// Transfers have to be whole multiples of so many bytes.
    pub(super) transfer_unit: usize,
}

impl Device {
    /// Opens the card and loads the xclbin, which does nothing where it is loaded already. As long as another process has the card
    /// with another xclbin, it is tried again, for `patience`.
    pub(super) fn open(
        api: Arc<Api>,
        mode: Mode,
        card: &CardId,
        image: &Image,
        patience: Duration,
    ) -> Result<Self, XrtError> {
        let opening = || format!("open {card}");
        let opened = match card {
            CardId::Index(index) => api.device_open(*index),
            CardId::Bdf(bdf) => api.device_open_by_bdf(&c_string(bdf)),
        };
        let handle = opened.to(opening)?;
        // From here on it is closed again if anything fails.
        OPEN.fetch_add(1, Relaxed);
        let mut device = Self { api, handle, mode, uuid: [0; 16], transfer_unit: image.transfer_unit() };
        let loading = || format!("load xclbin {} (made for {}) into {card}", image.path.display(), image.file.platform);
        let path = image.c_path()?;
        patiently(patience, &loading, || device.api.load_xclbin(&device.handle, &path))?;
        device.uuid = device.api.xclbin_uuid(&device.handle).to(|| format!("ask {card} for its xclbin"))?;
        if device.uuid != image.file.uuid {
            return Err(XrtError::Uuid { found: hex(&device.uuid), asked: hex(&image.file.uuid) });
        }
        Ok(device)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.api.device_close(&self.handle); // nothing is left that could be done about it
        OPEN.fetch_sub(1, Relaxed);
    }
}

/// Repeats `call` as long as another process has the card, for `patience`.
fn patiently<T>(
    patience: Duration,
    doing: &dyn Fn() -> String,
    mut call: impl FnMut() -> Result<T, CallError>,
) -> Result<T, XrtError> {
    let begin = Instant::now();
    loop {
        match call() {
            Err(error) if error.is_busy() => {
                if begin.elapsed() >= patience {
                    return Err(XrtError::Busy { doing: doing(), error });
                }
                thread::sleep(BUSY_PAUSE.min(patience));
            }
            outcome => return outcome.to(doing),
        }
    }
}

/// What every register of a card reads that does not answer.
const GONE: u32 = u32::MAX;

/// A buffer in card memory that may be an argument of a kernel.
pub(super) trait Placed {
    fn buffer(&self) -> &Buffer;
    /// The memory group in which it lies.
    fn group(&self) -> u32;
}

/// One compute unit, opened for this process alone, with arguments that have been compared with the register map.
pub(super) struct Kernel {
    pub(super) device: Arc<Device>,
    handle: raw::Kernel,
    pub(super) slr: Slr,
    /// The memory banks that each argument reaches, as the xclbin says.
    banks: UnitBanks,
    /// The memory group of each argument that is an address.
    groups: [Option<u32>; ARGS.len()],
    /// Index channels that are connected.
    pub(super) channels: usize,
    /// Slots of its hash table; 0 where nobody can ask (noop).
    pub(super) table_slots: u64,
}

impl Kernel {
    pub(super) fn open(device: &Arc<Device>, banks: UnitBanks, slr: Slr, patience: Duration) -> Result<Self, XrtError> {
        let name = compute_unit(slr);
        let opening = || format!("open compute unit {name}");
        let c_name = c_string(&name);
        let handle = patiently(patience, &opening, || device.api.kernel_open(&device.handle, &device.uuid, &c_name))?;
        let device = Arc::clone(device);
        let mut kernel = Self { device, handle, slr, banks, groups: [None; ARGS.len()], channels: 0, table_slots: 0 };
        kernel.look_at_arguments()?;
        kernel.look_at_registers()?;
        Ok(kernel)
    }

    /// Offsets are those of the register map, and addresses lead to memory. Index channels may be missing from the last down.
    fn look_at_arguments(&mut self) -> Result<(), XrtError> {
        let slr = self.slr;
        let first_index = ARGS.len() - MAX_CHANNELS;
        let api = Arc::clone(&self.device.api);
        for (id, arg) in ARGS.iter().enumerate() {
            if id > first_index && self.banks.is_unconnected(id) {
                break; // XRT would complain aloud
            }
            if arg.port.is_some() {
                let group = api.argument_group(&self.handle, id);
                self.groups[id] = Some(group.map_err(|_| XrtError::Unconnected { slr, argument: arg.name })?);
            }
            let found = api.argument_offset(&self.handle, id);
            let found = found.to(|| format!("ask {slr} where its argument '{}' lies", arg.name))?;
            if found != arg.offset {
                return Err(XrtError::Offset { slr, argument: arg.name, found, expected: arg.offset });
            }
        }
        self.channels = self.groups[first_index..].iter().flatten().count();
        if self.channels.is_power_of_two() { Ok(()) } else { Err(XrtError::Channels { slr, found: self.channels }) }
    }

    fn look_at_registers(&mut self) -> Result<(), XrtError> {
        if self.device.mode == Mode::Noop {
            return Ok(()); // there are none
        }
        let (slr, expected) = (self.slr, registers::IDENTITY_VALUE);
        let read = |offset| {
            let value = self.device.api.read_register(&self.handle, offset);
            value.to(|| format!("read register {offset:#x} of {slr}"))
        };
        let found = read(registers::IDENTITY)?;
        if found == GONE {
            return Err(XrtError::Gone { slr });
        }
        if found != expected {
            return Err(XrtError::Identity { slr, found, expected });
        }
        let config = read(registers::CONFIG)?;
        let built = (config >> 8 & 0xFF) as usize;
        if built != self.channels {
            return Err(XrtError::BuiltChannels { slr, built, connected: self.channels });
        }
        self.table_slots = 1_u64.checked_shl(config & 0xFF).unwrap_or(0);
        Ok(())
    }

    /// Bytes of the memory that an argument reaches; `u64::MAX` where the xclbin does not say.
    pub(super) fn bank_bytes(&self, argument: usize) -> u64 {
        self.banks.bytes(argument)
    }

    /// Their names.
    pub(super) fn bank_names(&self, argument: usize) -> String {
        self.banks.names(argument)
    }

    /// Looks whether a buffer lies in the memory that an argument reaches. Emulations place buffers where they like.
    pub(super) fn check_bank(&self, argument: usize, buffer: &dyn Placed) -> Result<(), XrtError> {
        let (slr, name) = (self.slr, ARGS[argument].name);
        if self.device.mode != Mode::Hardware {
            return Ok(());
        }
        let address = self.device.api.address(buffer.buffer()).to(|| format!("ask where '{name}' of {slr} lies"))?;
        if self.banks.hold(argument, address, buffer.buffer().bytes() as u64) {
            return Ok(());
        }
        Err(XrtError::Bank { slr, argument: name, address, banks: self.banks.names(argument) })
    }

    /// The memory group to which an argument is connected.
    pub(super) fn group(&self, argument: usize) -> Result<u32, XrtError> {
        self.groups[argument].ok_or(XrtError::Unconnected { slr: self.slr, argument: ARGS[argument].name })
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = self.device.api.kernel_close(&self.handle);
    }
}

/// States of a command (`enum ert_cmd_state` of `ert.h`). They are not in the order of time.
pub(super) mod state {
    pub(crate) const NEW: i32 = 1;
    pub(crate) const QUEUED: i32 = 2;
    pub(crate) const RUNNING: i32 = 3;
    pub(crate) const COMPLETED: i32 = 4;
    pub(crate) const SUBMITTED: i32 = 7;

    /// A state that does not end well, and what would help.
    pub(crate) fn explain(state: i32) -> String {
        let (name, help) = match state {
            5 => ("ERROR", "XRT's message on stderr and dmesg say more"),
            6 => ("ABORT", "XRT's message on stderr and dmesg say more"),
            8 => ("TIMEOUT", "the driver gave up on it"),
            9 => ("NORESPONSE", RESET),
            10 => ("SKERROR", RESET),
            11 => ("SKCRASHED", RESET),
            _ => ("", "which XRT does not have: the card may be gone from the bus; look at dmesg"),
        };
        let separator = if name.is_empty() { "," } else { ";" };
        format!("its run ended in state {state}{}{name}{separator} {help}", if name.is_empty() { "" } else { ", " })
    }

    const RESET: &str = "the kernel has crashed; reset the card as root with 'xbutil reset' or 'xrt-smi reset'";
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    UnderWay,
    Done,
    /// Its state.
    Failed(i32),
}

/// The command of a compute unit.
pub(super) struct Run {
    handle: raw::Run,
    pub(super) kernel: Arc<Kernel>,
}

impl Run {
    pub(super) fn open(kernel: Kernel) -> Result<Self, XrtError> {
        let handle = kernel.device.api.run_open(&kernel.handle).to(|| format!("make a command for {}", kernel.slr))?;
        Ok(Self { handle, kernel: Arc::new(kernel) })
    }

    fn api(&self) -> &Api {
        &self.kernel.device.api
    }

    fn setting(&self, argument: usize) -> impl Fn() -> String {
        let (name, slr) = (ARGS[argument].name, self.kernel.slr);
        move || format!("set argument '{name}' of {slr}")
    }

    /// Sets an argument that is no address.
    pub(super) fn set_scalar(&self, argument: usize, value: u64) -> Result<(), XrtError> {
        match ARGS[argument].bytes {
            4 => self.api().set_word(&self.handle, argument, value as u32),
            _ => self.api().set_long(&self.handle, argument, value),
        }
        .to(self.setting(argument))
    }

    /// Sets an argument that is an address. XRT accepts a buffer in a bank that the kernel does not reach, so that is looked at
    /// here.
    pub(super) fn set_buffer(&self, argument: usize, buffer: &dyn Placed) -> Result<(), XrtError> {
        let (expected, found) = (self.kernel.group(argument)?, buffer.group());
        if found != expected {
            return Err(XrtError::Group { slr: self.kernel.slr, argument: ARGS[argument].name, found, expected });
        }
        self.api().set_buffer(&self.handle, argument, buffer.buffer()).to(self.setting(argument))
    }

    pub(super) fn start(&self) -> Result<(), XrtError> {
        self.api().run_start(&self.handle).to(|| format!("start {}", self.kernel.slr))
    }

    pub(super) fn progress(&self) -> Progress {
        match self.api().run_state(&self.handle) {
            state::COMPLETED => Progress::Done,
            state::NEW | state::QUEUED | state::RUNNING | state::SUBMITTED => Progress::UnderWay,
            other => Progress::Failed(other),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.api().run_close(&self.handle);
    }
}

/// The compute unit of an SLR, as XRT wants it named: one handle for each, as XRT leaves away those that are connected otherwise
/// than the first.
pub(super) fn compute_unit(slr: Slr) -> String {
    format!("{KERNEL}:{{{}}}", UNITS[slr.index()])
}

/// A string of ours for C.
fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().take_while(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default() // never: there is no 0 in it
}

pub(super) fn hex(uuid: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*uuid))
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("mode", &self.mode).field("uuid", &hex(&self.uuid)).finish_non_exhaustive()
    }
}
