//! Commands whose output is read as text.

use std::{ffi::OsStr, process::Command};

/// Variables that make programs colour what they say although no terminal shows it: clap's and others', cargo's, Python's.
const COLOURS: [&str; 5] = ["CLICOLOR_FORCE", "FORCE_COLOR", "CARGO_TERM_COLOR", "PYTHON_COLORS", "CLICOLOR"];

/// A command that says what it has to say without colours, whatever the user's environment asks for.
pub fn plain(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in COLOURS {
        command.env_remove(variable);
    }
    command.env("NO_COLOR", "1");
    command
}
