//! Verilator and the C++ compiler.

use std::{
    env,
    ffi::OsString,
    path::{self, Path, PathBuf},
    process::Command,
};

use super::{BuildError, process::run_tool};

/// The Verilator that `./just rtl-models` installs.
const PINNED: &str = "verilator-5.052";
/// The oldest Verilator that knows the assertions of the RTL: major, minor.
const OLDEST: (u32, u32) = (5, 48);
/// The environment variable that names another.
const VARIABLE: &str = "TRISAGE_VERILATOR";

pub(super) struct Verilator {
    program: PathBuf,
    /// The folder with `include/` in it.
    pub(super) root: PathBuf,
    /// What it says of itself.
    pub(super) version: String,
}

impl Verilator {
    /// The one that the environment names (`TRISAGE_VERILATOR`, `VERILATOR_ROOT`), or the one in `.tools` of `home`, or the one
    /// on PATH.
    pub(super) fn find(home: &Path) -> Result<Self, BuildError> {
        let pinned = home.join(".tools").join(PINNED);
        let named_root = named("VERILATOR_ROOT").map(PathBuf::from);
        let (program, root) = if let Some(program) = named(VARIABLE) {
            (from_here(program.into()), named_root)
        } else if pinned.is_dir() {
            (from_here(pinned.join("bin/verilator_bin")), Some(pinned.join("share/verilator")))
        } else {
            (PathBuf::from("verilator"), named_root)
        };
        let root = root.map(|root| path::absolute(&root).unwrap_or(root));
        let ask = |question: &[&str], root: Option<&Path>| {
            let mut command = Command::new(&program);
            command.args(question);
            root.map(|root| command.env("VERILATOR_ROOT", root));
            answer(command)
        };
        let missing = |why: String| useless(&program, &why);
        let version = ask(&["--version"], root.as_deref()).map_err(missing)?;
        if number(&version).is_none_or(|found| found < OLDEST) {
            let (major, minor) = OLDEST;
            let version = first_line(&version);
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

    /// It cannot be used.
    pub(super) fn useless(&self, why: &str) -> BuildError {
        useless(&self.program, why)
    }
}

fn useless(verilator: &Path, why: &str) -> BuildError {
    let remedy = if named(VARIABLE).is_some() {
        format!("name another in {VARIABLE}, or unset it and run: ./just rtl-models")
    } else {
        "run: ./just rtl-models".to_owned()
    };
    BuildError::Tool(format!("Verilator ({}) cannot be used: {why}; {remedy}", verilator.display()))
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
        words[0] = from_here((&words[0]).into()).to_string_lossy().into_owned();
        let mut compiler = Self { words, version: String::new() };
        let mut question = compiler.command();
        question.arg("--version");
        let told = answer(question).map_err(|why| compiler.useless(&why))?;
        compiler.version = first_line(&told);
        Ok(compiler)
    }

    /// It cannot be used.
    pub(super) fn useless(&self, why: &str) -> BuildError {
        let name = &self.words[0];
        BuildError::Tool(format!("the C++ compiler {name} cannot be used: {why}; install g++ or name one in CXX"))
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }
}

/// What an environment variable says; an empty one counts as none.
pub(super) fn named(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// The program by a name that means the same in every folder: one with a folder in it is taken from the current one.
fn from_here(program: PathBuf) -> PathBuf {
    if program.components().nth(1).is_none() { program } else { path::absolute(&program).unwrap_or(program) }
}

/// What a program prints.
fn answer(mut command: Command) -> Result<String, String> {
    let output = run_tool(&mut command).map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let complaint = first_line(&String::from_utf8_lossy(&output.stderr));
    let status = output.status;
    Err(if complaint.is_empty() { format!("it ends with {status}") } else { format!("{complaint} ({status})") })
}

/// The first line that says something, cut to what a message can hold.
fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().chars().take(200).collect()
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
