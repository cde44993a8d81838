//! What XRT wants to find before it takes the emulated card for one, in a folder of its own; and a command that is run in it.
//!
//! Several may be there at the same time. When the command has ended, so have the processes that XRT started for it, and folder
//! and sockets are removed.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, IsTerminal, Write},
    os::unix::{
        fs::{OpenOptionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use golden_files::write::Scratch;
use rustix::io::{FdFlags, fcntl_setfd};
use verilator_sys::build::run_tool;

use super::{Card, place, running::Running};

/// Which of XRT's stand-ins for a driver is used.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Shim {
    /// `libxrt_swemu`: a card in another process, which is ours.
    #[strum(serialize = "sw-emu")]
    SoftwareEmulation,
    /// `libxrt_noop`: no card; every run ends at once and does nothing.
    Noop,
}

impl Shim {
    /// Its name in `XCL_EMULATION_MODE`.
    pub fn mode(self) -> &'static str {
        match self {
            Self::SoftwareEmulation => "sw_emu",
            Self::Noop => "noop",
        }
    }

    fn library(self) -> &'static str {
        match self {
            Self::SoftwareEmulation => "libxrt_swemu.so.2",
            Self::Noop => "libxrt_noop.so.2",
        }
    }
}

/// XRT is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{library} is in none of {}; install Debian's package libxrt1, or AMD's XRT with its software emulation, which lies in \
     /opt/xilinx/xrt",
    .searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
)]
pub struct Missing {
    /// The first library that is missing.
    pub library: &'static str,
    /// Folders that were looked at.
    pub searched: Vec<PathBuf>,
}

/// Why there is no environment, or nothing could be run in it.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// Without XRT there is nothing to emulate a card for.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A file that cannot be made.
    #[error("{}: {error}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A folder whose name does not reach XRT as it is.
    #[error(
        "the folder {} has a character in its name that XRT (which hands names to a shell) or LD_PRELOAD takes for another \
         thing; take one with letters, digits and . _ - + @ % = , alone (--folder)",
        .path.display()
    )]
    Name {
        /// Which.
        path: PathBuf,
    },
    /// A command that does not start, or the compiler that refuses the work-around for XRT 2.13.
    #[error("'{command}': {why}")]
    Command {
        /// Which.
        command: String,
        /// Why.
        why: String,
    },
}

/// What XRT wants to find. Dropping it removes everything.
#[derive(Debug)]
pub struct Environment {
    folder: Scratch,
    shim: Shim,
    /// XRT puts its sockets into the folder of this name in `/tmp`.
    user: String,
    preload: Option<PathBuf>,
}

/// What was wrong with the card, a line each.
pub(super) const FAULTS: &str = "faults";

impl Environment {
    /// Makes a folder in `parent` for a card. `device` is the command that XRT is to start as the card: it calls
    /// [`super::serve_xrt`].
    ///
    /// # Errors
    /// [`EnvironmentError`]; then nothing is left.
    pub fn new(shim: Shim, card: Card, parent: &Path, device: &[OsString]) -> Result<Self, EnvironmentError> {
        let libraries = find(shim, &folders())?;
        let failed = |error| EnvironmentError::File { path: parent.to_owned(), error };
        let parent = fs::create_dir_all(parent).and_then(|()| parent.canonicalize()).map_err(failed)?;
        if !place::is_plain(&parent) {
            return Err(EnvironmentError::Name { path: parent });
        }
        let folder = Scratch::new(&parent, place::NAMES).map_err(failed)?;
        let user = place::user(folder.path());
        let mut environment = Self { folder, shim, user, preload: None };

        let lib = environment.folder("xrt/lib")?;
        for library in libraries {
            let link = lib.join(library.file_name().unwrap_or_default());
            symlink(&library, &link).map_err(|error| EnvironmentError::File { path: link, error })?;
        }
        let model = environment.folder("vitis/data/emulation/unified/cpu_em/generic_pcie/model")?;
        let words: Vec<_> = device.iter().map(|word| quoted(word)).collect();
        write(&model.join("genericpciemodel"), &[b"#!/bin/sh\nexec ", &*words.join(&b' '), b"\n"].concat(), 0o755)?;
        let xclbin = card.xclbin().write().unwrap_or_else(|error| unreachable!("our own card: {error}"));
        write(&environment.xclbin(), &xclbin, 0o644)?;
        write(&environment.path("emconfig.json"), card.emconfig().as_bytes(), 0o644)?;
        // Without this XRT sleeps for seconds before it removes its folder, which goes with ours.
        write(&environment.path("xrt.ini"), b"[Emulation]\nkeep_run_dir=true\n", 0o644)?;
        write(&environment.path(FAULTS), b"", 0o644)?;
        environment.folder("run")?;
        if shim == Shim::SoftwareEmulation {
            environment.preload = Some(environment.compile_preload()?);
        }
        Ok(environment)
    }

    /// The xclbin of the card, which also `TRISAGE_XCLBIN` names.
    pub fn xclbin(&self) -> PathBuf {
        self.path("card.xclbin")
    }

    /// A command that finds the card in its environment.
    pub fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command
            .env("XILINX_XRT", self.path("xrt"))
            .env("XILINX_VITIS", self.path("vitis"))
            .env("XCL_EMULATION_MODE", self.shim.mode())
            .env("EMCONFIG_PATH", self.folder.path())
            .env("XRT_INI_PATH", self.path("xrt.ini"))
            .env("SDACCEL_EM_RUN_DIR", self.path("run"))
            .env("USER", &self.user)
            .env("TRISAGE_XCLBIN", self.xclbin())
            .env(CARD_FOLDER, self.folder.path());
        // They would make XRT look elsewhere for the process.
        for other in ["XILINX_SDX", "XILINX_OPENCL", "XILINX_SCOUT", "XILINX_HLS", "XILINX_VIVADO"] {
            command.env_remove(other);
        }
        if let Some(preload) = &self.preload {
            let mut all = preload.clone().into_os_string();
            if let Some(others) = env::var_os("LD_PRELOAD") {
                all.push(":");
                all.push(others);
            }
            command.env("LD_PRELOAD", all);
        }
        command
    }

    /// Starts a command in it.
    ///
    /// # Errors
    /// [`EnvironmentError::Command`] if it does not start.
    pub fn start(&self, program: &OsStr, args: &[OsString]) -> Result<Running<'_>, EnvironmentError> {
        let mut command = self.command(program);
        // A group of its own: XRT ends its whole group when it fails.
        command.args(args).process_group(0);
        if io::stdin().is_terminal() {
            command.stdin(Stdio::null()); // a terminal stops who reads it and is not in its own group
        }
        let program = program.to_string_lossy().into_owned();
        // Should this process be killed, the folder is the command's until that ends.
        let inherited = fcntl_setfd(self.folder.lock(), FdFlags::empty());
        let child = inherited.map_err(io::Error::from).and_then(|()| command.spawn());
        let _ = fcntl_setfd(self.folder.lock(), FdFlags::CLOEXEC);
        match child {
            Ok(child) => Ok(Running { environment: self, program, child }),
            Err(error) => Err(cannot_run(program, &error)),
        }
    }

    /// What was wrong with the card so far, a sentence each.
    pub fn faults(&self) -> Vec<String> {
        let faults = fs::read_to_string(self.path(FAULTS)).unwrap_or_default();
        faults.lines().map(str::to_owned).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a folder in it, and those that it lies in.
    fn folder(&self, name: &str) -> Result<PathBuf, EnvironmentError> {
        let mut path = self.folder.path().to_owned();
        for part in Path::new(name) {
            path.push(part);
            match fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(EnvironmentError::File { path, error });
                }
                _ => {}
            }
        }
        Ok(path)
    }

    fn compile_preload(&self) -> Result<PathBuf, EnvironmentError> {
        const SOURCES: [(&str, &[u8]); 2] =
            [("heap.c", include_bytes!("heap.c")), ("signals.c", include_bytes!("signals.c"))];
        let library = self.path("preload.so");
        let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut command = Command::new(&compiler);
        command.args(["-shared", "-fPIC", "-O1", "-fno-builtin", "-fvisibility=hidden", "-o"]).arg(&library);
        for (name, text) in SOURCES {
            let source = self.path(name);
            write(&source, text, 0o644)?;
            command.arg(source);
        }
        let why = match run_tool(command.arg("-ldl").env("TMPDIR", self.folder.path())) {
            Ok(output) if output.status.success() => return Ok(library),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => format!("it cannot be run: {error}; the work-around for XRT 2.13 needs a C compiler"),
        };
        Err(EnvironmentError::Command { command: compiler.to_string_lossy().into_owned(), why })
    }
}

/// A command that cannot be run.
pub(super) fn cannot_run(command: String, error: &io::Error) -> EnvironmentError {
    EnvironmentError::Command { command, why: format!("it cannot be run: {error}") }
}

/// Tells the card's process where the environment is.
pub(super) const CARD_FOLDER: &str = "TRISAGE_EMULATED_CARD";

/// Where libraries of XRT may be: where the user says, or in any of the usual places.
fn folders() -> Vec<PathBuf> {
    let usual =
        || ["/opt/xilinx/xrt/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"].map(PathBuf::from).into();
    env::var_os("XILINX_XRT").map_or_else(usual, |own| vec![PathBuf::from(own).join("lib")])
}

/// The libraries that XRT loads, all from one folder.
fn find(shim: Shim, folders: &[PathBuf]) -> Result<Vec<PathBuf>, Missing> {
    let needed = ["libxrt_coreutil.so.2", "libxrt_core.so.2", shim.library()];
    let mut missing = needed[0];
    for folder in folders {
        match needed.iter().find(|library| !folder.join(library).exists()) {
            None => return Ok(needed.iter().map(|library| folder.join(library)).collect()),
            Some(&library) if library != needed[0] => missing = library,
            Some(_) => {}
        }
    }
    Err(Missing { library: missing, searched: folders.to_vec() })
}

/// A word as a shell takes it.
fn quoted(word: &OsStr) -> Vec<u8> {
    let inner = word.as_encoded_bytes().split(|&byte| byte == b'\'').collect::<Vec<_>>().join(&b"'\\''"[..]);
    [b"'", &*inner, b"'"].concat()
}

fn write(path: &Path, content: &[u8], mode: u32) -> Result<(), EnvironmentError> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(content));
    written.map_err(|error| EnvironmentError::File { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let places = [folder.path().to_owned()];
        let missing = |shim| find(shim, &places).unwrap_err();
        assert_eq!(missing(Shim::Noop).library, "libxrt_coreutil.so.2");
        for library in ["libxrt_coreutil.so.2", "libxrt_core.so.2", "libxrt_noop.so.2"] {
            fs::write(folder.path().join(library), "").unwrap();
        }
        assert_eq!(find(Shim::Noop, &places).unwrap().len(), 3);
        let missing = missing(Shim::SoftwareEmulation).to_string();
        assert!(missing.starts_with("libxrt_swemu.so.2 is in none of /"), "{missing}");
    }

    #[test]
    fn a_shell_takes_a_quoted_word_as_it_was() {
        let word = OsStr::new("it's $HOME \"x\"");
        let script = format!("printf %s {}", String::from_utf8(quoted(word)).unwrap());
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(output.stdout, word.as_encoded_bytes());
    }
}
