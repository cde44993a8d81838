//! A library with the C API of XRT, and small cards behind it: as the shared library `libfake_xrt.so` it takes the place of
//! `libxrt_coreutil.so.2`. Its kernels sample, with the software model, what lies in their card's memory, and leave the same
//! status block as the RTL.
//!
//! Each device number is a card of its own, so that tests do not meet. What goes wrong on it is said through [`Control`], or for
//! all cards in the environment variable `TRISAGE_FAKE_XRT`: see [`fault`].
//!
//! It keeps count: of the handles that are open, and of what the real XRT would not survive (a kernel that is closed before its
//! command, a buffer that is freed under a run, ...).
#![allow(unsafe_code, reason = "it is a C library")]

mod card;
mod exports;
pub mod fault;
mod kernel;
mod store;
mod world;

use std::{
    env,
    ffi::{CStr, CString, c_char},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use hw::{
    card::MAX_CHANNELS,
    kernel_xml::{self, KERNEL, UNITS},
    registers::ARGS,
    xclbin::{Connection, Ip, Memory, Mode, Xclbin},
    xrt::{CardId, Environment, XrtOptions},
};
use libloading::os::unix::Library;

/// Where the shared library is: beside the executable, where cargo puts those that it depends on.
///
/// # Panics
/// If it is not there.
pub fn library() -> PathBuf {
    let executable = env::current_exe().unwrap_or_default();
    let folders = executable.ancestors().skip(1).take(2);
    let mut candidates = folders.flat_map(|folder| [folder.join("libfake_xrt.so"), folder.join("deps/libfake_xrt.so")]);
    candidates.find(|path| path.exists()).expect("libfake_xrt.so lies beside the executable")
}

/// The xclbin of a card with three kernels, each with two memory banks: one for the indices and one for everything else.
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8.
pub fn xclbin(channels: usize) -> Xclbin {
    const GIB: u64 = 1 << 30;
    let bank = |index: usize| Memory {
        tag: format!("DDR[{index}]"),
        kind: Memory::DDR4,
        used: true,
        kib: 16 * GIB / 1024,
        base: (index as u64 + 1) * 16 * GIB,
    };
    let base = |unit: usize| 0x80_0000 + unit as u64 * kernel_xml::UNIT_RANGE;
    let ip = |unit: usize| Ip {
        name: format!("{KERNEL}:{}", UNITS[unit]),
        kind: Ip::KERNEL,
        properties: 1 | (unit as u32) << 1 | Ip::AP_CTRL_CHAIN << 8,
        base: base(unit),
    };
    let connect = |unit: usize| {
        let addresses = kernel_xml::args(channels).iter().enumerate().filter(|(_, arg)| arg.port.is_some());
        addresses.map(move |(id, arg)| {
            let memory = 2 * unit as u32 + u32::from(arg.name.starts_with("indices"));
            Connection { arg: id as u32, ip: unit as u32, memory }
        })
    };
    let units = UNITS.iter().enumerate().map(|(unit, name)| kernel_xml::Unit { name, base: base(unit) });
    Xclbin {
        uuid: *b"trisage fake xrt",
        platform: "trisage_fake_gen0_1".to_owned(),
        mode: Mode::Hardware(1),
        memories: (0..2 * UNITS.len()).map(bank).collect(),
        ips: (0..UNITS.len()).map(ip).collect(),
        connections: (0..UNITS.len()).flat_map(connect).collect(),
        metadata: kernel_xml::linked(channels, &units.collect::<Vec<_>>()),
    }
}

/// Makes in `folder` what a process needs to open a fake card: an xclbin, and a folder for `XILINX_XRT`. The card is one that no
/// other call has given out.
///
/// # Panics
/// If nothing can be written there.
pub fn options(folder: &Path, channels: usize) -> XrtOptions {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let path = folder.join("card.xclbin");
    std::fs::write(&path, xclbin(channels).write().expect("names are short")).expect("the folder can be written");
    let root = folder.join("xrt");
    std::fs::create_dir_all(root.join("lib")).expect("the folder can be written");
    std::fs::write(root.join("lib/libxrt_core.so.2"), "").expect("the folder can be written");
    XrtOptions {
        card: CardId::Index(NEXT.fetch_add(1, Relaxed)),
        library: Some(library()),
        environment: Environment { root: Some(root), emulation_mode: None, has_user: false },
        patience: std::time::Duration::ZERO,
        ..XrtOptions::new(path)
    }
}

/// The number of arguments that a kernel with so many channels has.
fn arguments(channels: usize) -> usize {
    ARGS.len() - MAX_CHANNELS + channels
}

/// The other side of the library: what only tests use.
#[derive(Debug)]
pub struct Control {
    library: Library,
    card: u32,
}

impl Control {
    /// Of the card that these options name.
    ///
    /// # Panics
    /// If the library cannot be loaded, or the options name no number.
    pub fn of(options: &XrtOptions) -> Self {
        let CardId::Index(card) = options.card else { panic!("fake cards have numbers") };
        // SAFETY: it is this crate.
        let library = unsafe { Library::new(library()) }.expect("the library can be loaded");
        Self { library, card }
    }

    /// From now on this goes wrong, and nothing else ([`fault`]).
    ///
    /// # Panics
    /// If it is no fault.
    pub fn inject(&self, faults: &str) {
        let text = CString::new(faults).expect("no NUL");
        // SAFETY: it is this crate's function.
        let set = unsafe { self.library.get::<extern "C" fn(u32, *const c_char) -> i32>(b"trisage_fake_inject\0") };
        assert_eq!(set.expect("it has this function")(self.card, text.as_ptr()), 0, "'{faults}' is no fault");
    }

    fn count(&self, function: &[u8]) -> u32 {
        // SAFETY: both functions have this type.
        let count = unsafe { self.library.get::<extern "C" fn(u32) -> u32>(function) };
        count.expect("it has this function")(self.card)
    }

    /// Handles that are open.
    pub fn open_handles(&self) -> u32 {
        self.count(b"trisage_fake_open_handles\0")
    }

    /// What the real XRT would not have survived.
    pub fn violations(&self) -> u32 {
        self.count(b"trisage_fake_violations\0")
    }
}

/// A C string of a caller.
fn text<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    // SAFETY: callers give a string that ends with NUL and lives during the call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}
