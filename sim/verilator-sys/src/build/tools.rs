//! Verilator and the C++ compiler.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use super::BuildError;

/// The Verilator that `./just rtl-models` installs.
const PINNED: &str = "verilator-5.052";
/// The oldest Verilator that knows the assertions of the RTL: major, minor.
const OLDEST: (u32, u32) = (5, 48);

pub(super) struct Verilator {
    program: PathBuf,
    /// The folder with `include/` in it.
    pub(super) root: PathBuf,
    /// What it says of itself.
    pub(super) version: String,
}

impl Verilator {
    /// The one that the environment names (`TRISAGE_VERILATOR`, `VERILATOR_ROOT`), or the one in `.tools` of the project, or
    /// the one on PATH.
    pub(super) fn find(project: &Path) -> Result<Self, BuildError> {
        let pinned = project.join(".tools").join(PINNED);
        let (program, root) = if let Some(program) = env::var_os("TRISAGE_VERILATOR") {
            (PathBuf::from(program), env::var_os("VERILATOR_ROOT").map(PathBuf::from))
        } else if pinned.is_dir() {
            (pinned.join("bin/verilator_bin"), Some(pinned.join("share/verilator")))
        } else {
            (PathBuf::from("verilator"), env::var_os("VERILATOR_ROOT").map(PathBuf::from))
        };
        let ask = |question: &[&str], root: Option<&Path>| {
            let mut command = Command::new(&program);
            command.args(question);
            root.map(|root| command.env("VERILATOR_ROOT", root));
            answer(command)
        };
        let missing = |why: String| {
            BuildError::Tool(format!("Verilator ({}) cannot be used: {why}; run: ./just rtl-models", program.display()))
        };
        let version = ask(&["--version"], root.as_deref()).map_err(missing)?;
        if number(&version).is_none_or(|found| found < OLDEST) {
            let (major, minor) = OLDEST;
            return Err(missing(format!("it says \"{version}\", and {major}.{minor:03} or newer is needed")));
        }
        let root = match root {
            Some(root) => root,
            None => ask(&["--getenv", "VERILATOR_ROOT"], None).map_err(missing)?.into(),
        };
        Ok(Self { program, root, version })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("VERILATOR_ROOT", &self.root);
        command
    }
}

/// Major and minor of "Verilator 5.052 2026-...".
fn number(version: &str) -> Option<(u32, u32)> {
    let (major, rest) = version.strip_prefix("Verilator ")?.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

pub(super) struct Compiler {
    /// The program and its first arguments.
    pub(super) words: Vec<String>,
    /// The first line of what it says of itself.
    pub(super) version: String,
}

impl Compiler {
    /// What the environment variable `CXX` names (a program and perhaps arguments), or `g++`.
    pub(super) fn find() -> Result<Self, BuildError> {
        let named = env::var("CXX").unwrap_or_default();
        let mut words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            words.push("g++".to_owned());
        }
        let mut compiler = Self { words, version: String::new() };
        let mut question = compiler.command();
        question.arg("--version");
        let told = answer(question).map_err(|why| {
            let name = &compiler.words[0];
            BuildError::Tool(format!("the C++ compiler {name} cannot be used: {why}; install g++ or name one in CXX"))
        })?;
        told.lines().next().unwrap_or_default().clone_into(&mut compiler.version);
        Ok(compiler)
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }
}

/// What a program prints.
fn answer(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(number("Verilator 5.052 2026-09-01 rev v5.052"), Some((5, 52)));
        assert_eq!(number("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)"), Some((5, 6)));
        assert_eq!(number("Verilator rev"), None);
    }
}
