//! A machine with a checkout, to try `./just` and the scripts behind it.
//!
//! The scripts run in a copy, with programs in place of those that take long or do not come with the project.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// The real checkout.
///
/// # Panics
/// If it has gone.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A checkout with nothing but scripts, whose name has a space, and a user beside it, in a folder of their own.
pub struct Machine {
    folder: TempDir,
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// A new one.
    ///
    /// # Panics
    /// Here and below: if files cannot be made or read.
    pub fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["a checkout", "user", "bin"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        for part in ["just", "Justfile", ".setup", "hw/vitis"] {
            copy(&root().join(part), &machine.checkout().join(part));
        }
        fs::create_dir_all(machine.checkout().join("tests/data/cora")).unwrap();
        machine
            .tool("verilator", "if [[ $1 == --version ]]; then echo Verilator 5.052 x; else echo /verilator/root; fi");
        // In place of cargo: it tells where and how it was called, a line each.
        machine.tool(
            "cargo",
            "{ printf '%s\\n' \"cwd=$PWD\" \"$@\"; env | grep -E '^(TRISAGE|CARGO|LIBTORCH|XILINX|CXX|CFLAGS|RUST)' || true; } \
             >>\"$TOLD\"",
        );
        fs::create_dir_all(machine.path("libtorch/lib")).unwrap();
        fs::write(machine.path("libtorch/lib/libtorch_cpu.so"), "").unwrap();
        machine
    }

    /// A file or folder of the machine.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The checkout.
    pub fn checkout(&self) -> PathBuf {
        self.path("a checkout")
    }

    /// The user's folder, which is the current one.
    pub fn user(&self) -> PathBuf {
        self.path("user")
    }

    /// Installs a script for bash as a program.
    pub fn tool(&self, name: &str, body: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A command that the user gives, on a machine where `just` is installed.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = test_support::plain(program);
        let just = just();
        let folders = [self.path("bin"), just.parent().unwrap().to_owned()];
        let theirs = env::var_os("PATH").unwrap_or_default();
        let path = folders.into_iter().chain(env::split_paths(&theirs));
        command.env("PATH", env::join_paths(path).unwrap()).env("TOLD", self.path("told")).current_dir(self.user());
        command.env("LIBTORCH", self.path("libtorch"));
        for variable in ["TRISAGE_HOME", "TRISAGE_FROM", "TRISAGE_VERILATOR", "TRISAGE_LIBTORCH", "CARGO_TARGET_DIR"] {
            command.env_remove(variable);
        }
        // Of the cargo that runs this test.
        for variable in ["CARGO", "CARGO_MANIFEST_DIR", "VERILATOR_ROOT"] {
            command.env_remove(variable);
        }
        command
    }

    /// `./just` of the checkout.
    pub fn just(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(self.checkout().join("just"));
        command.args(arguments);
        command
    }

    /// What cargo was called with: each time its folder, its arguments, and what it found in its environment.
    pub fn told(&self) -> Vec<String> {
        let told = fs::read_to_string(self.path("told")).unwrap_or_default();
        let _ = fs::remove_file(self.path("told"));
        told.lines().map(str::to_owned).collect()
    }
}

/// The `just` of the real checkout, which is installed if it is not there.
pub fn just() -> PathBuf {
    let output = test_support::plain(root().join(".setup/just.sh")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// What a command has written to stdout.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What it has written to stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}
