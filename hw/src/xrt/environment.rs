//! What XRT looks for around it. XRT 2.13 aborts the process where something is missing, so it is looked for before.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use super::XrtError;

/// The name under which the dynamic linker finds XRT.
const LIBRARY: &str = "libxrt_coreutil.so.2";

/// What stands for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A card.
    Hardware,
    /// XRT's software emulation: a process that behaves like a card.
    SwEmu,
    /// XRT's hardware emulation.
    HwEmu,
    /// Calls that do nothing.
    Noop,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hardware => "a card",
            Self::SwEmu => "software emulation",
            Self::HwEmu => "hardware emulation",
            Self::Noop => "calls that do nothing",
        })
    }
}

/// The environment variables that XRT reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `XILINX_XRT`: the folder of XRT.
    pub root: Option<PathBuf>,
    /// `XCL_EMULATION_MODE`: not set for a real card.
    pub emulation_mode: Option<String>,
    /// Whether `USER` is set: XRT's emulations put their socket into a folder of that name, and end the process without one.
    pub has_user: bool,
}

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let emulation_mode = set("XCL_EMULATION_MODE").map(|mode| mode.to_string_lossy().into_owned());
        let has_user = env::var_os("USER").is_some();
        Self { root: set("XILINX_XRT").map(PathBuf::from), emulation_mode, has_user }
    }

    /// Looks whether XRT would find what it needs.
    pub(super) fn check(&self) -> Result<Mode, XrtError> {
        let (mode, shim) = match self.emulation_mode.as_deref() {
            None => (Mode::Hardware, "xrt_core"),
            Some("sw_emu") => (Mode::SwEmu, "xrt_swemu"),
            Some("hw_emu") => (Mode::HwEmu, "xrt_hwemu"),
            Some("noop") => (Mode::Noop, "xrt_noop"),
            Some(found) => return Err(XrtError::Mode { found: found.to_owned() }),
        };
        let root = self.root.as_deref().ok_or(XrtError::NoRoot)?;
        let path = root.join("lib").join(format!("lib{shim}.so.2"));
        if !path.exists() {
            return Err(XrtError::Shim { path });
        }
        if matches!(mode, Mode::SwEmu | Mode::HwEmu) && !self.has_user {
            return Err(XrtError::NoUser { mode: mode.to_string() });
        }
        Ok(mode)
    }

    /// XRT's library: beside the shims, or where the dynamic linker finds it.
    pub(super) fn library(&self) -> PathBuf {
        let beside = self.root.as_deref().map(|root| root.join("lib").join(LIBRARY));
        beside.filter(|path| path.exists()).unwrap_or_else(|| Path::new(LIBRARY).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_xrt_would_abort_for_is_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let check = |root: Option<&Path>, mode: Option<&str>| {
            let (root, emulation_mode) = (root.map(Path::to_owned), mode.map(str::to_owned));
            Environment { root, emulation_mode, has_user: true }.check()
        };
        assert_eq!(check(None, None), Err(XrtError::NoRoot));
        assert_eq!(check(Some(&root), Some("emu")), Err(XrtError::Mode { found: "emu".to_owned() }));
        let modes = [
            (None, "libxrt_core.so.2", Mode::Hardware),
            (Some("sw_emu"), "libxrt_swemu.so.2", Mode::SwEmu),
            (Some("hw_emu"), "libxrt_hwemu.so.2", Mode::HwEmu),
            (Some("noop"), "libxrt_noop.so.2", Mode::Noop),
        ];
        fs::create_dir(root.join("lib")).unwrap();
        for (mode, shim, found) in modes {
            let path = root.join("lib").join(shim);
            assert_eq!(check(Some(&root), mode), Err(XrtError::Shim { path: path.clone() }));
            fs::write(path, "").unwrap();
            assert_eq!(check(Some(&root), mode), Ok(found));
            let emulation_mode = mode.map(str::to_owned);
            let without = Environment { root: Some(root.clone()), emulation_mode, has_user: false }.check();
            let has_socket = matches!(found, Mode::SwEmu | Mode::HwEmu);
            assert_eq!(without.is_err_and(|error| error.to_string().contains("USER is not set")), has_socket);
        }
    }
}
