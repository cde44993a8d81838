//! What is done before libtorch's libraries are initialised, which takes most of the time until `main`.
//!
//! Signals end the process with their exit codes from here on.
//!
//! Intel's MKL, which is a part of libtorch, asks for the name of the current folder when it is initialised, before `main`,
//! and ends the process with an unrelated message if there is none: the folder was deleted, or its name is longer than the
//! system tells (4,096 bytes). So a process in such a folder leaves it until then.

use std::{os::fd::OwnedFd, process, sync::OnceLock};

use rustix::{
    fs::{Mode, OFlags, open},
    process::{chdir, fchdir, getcwd},
};

use crate::interrupt;

/// The folder that was left.
static LEFT: OnceLock<OwnedFd> = OnceLock::new();

/// Called by the dynamic loader.
extern "C" fn first() {
    interrupt::begin();
    if cfg!(feature = "torch") {
        leave();
    }
}

fn leave() {
    // What is not below the root has a name without it.
    if getcwd(Vec::new()).is_ok_and(|name| name.to_bytes().starts_with(b"/")) {
        return;
    }
    let Ok(folder) = open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else { return };
    if chdir("/").is_ok() {
        // It is empty, as this runs once.
        let _ = LEFT.set(folder);
    }
}

/// The loader calls what is listed in this section of a program before the initialisers of its libraries (ELF's
/// `DT_PREINIT_ARRAY`). libc itself is usable by then.
// SAFETY: the section holds pointers to functions, which the loader calls with the C calling convention; they may take less
// than the three arguments that it passes. `first` needs nothing of Rust's runtime, which is not there yet: it makes system
// calls, allocates, and does not panic.
#[used]
#[allow(unsafe_code)]
#[unsafe(link_section = ".preinit_array")]
static FIRST: extern "C" fn() = first;

/// Goes back to the folder that was left, if one was: what the user names is seen from there.
pub(crate) fn go_back() {
    if let Some(folder) = LEFT.get()
        && let Err(error) = fchdir(folder)
    {
        eprintln!("error: the current folder cannot be entered again: {error}");
        process::exit(2);
    }
}
