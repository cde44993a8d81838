//! How runs end: by signals in every phase, by SIGKILL, and what is left of them then.
//!
//! Nothing here waits for a time: a command is held in a phase, by a pipe that nobody writes or by SIGSTOP.

mod killed;
mod phases;
mod tools;
mod waves;

use std::{
    fs::{self, File, OpenOptions},
    io::Read,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use nix::{sys::signal::Signal, unistd::Pid};
use tempfile::TempDir;

/// What ends a command, and the exit code then.
const ENDING: [(Signal, i32); 3] = [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)];

/// A command that ignores no signal, wherever tests run, and is in a process group of its own.
fn trisage(line: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_trisage")]).args(line.split_whitespace());
    command.process_group(0);
    command
}

/// A command that runs.
struct Run(Child);

impl Run {
    fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn process(&self) -> Pid {
        Pid::from_raw(self.0.id().cast_signed())
    }

    fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.process(), signal).unwrap();
    }

    /// Waits until it has come so far, as long as it runs.
    fn until(&mut self, what: &str, mut reached: impl FnMut() -> bool) {
        while !reached() {
            assert_eq!(self.0.try_wait().unwrap(), None, "it ended before {what}: {}", self.said());
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until its main thread is writing to this descriptor, as it does when the pipe is full.
    fn until_it_writes_to(&mut self, descriptor: u8) {
        let call = format!("/proc/{}/syscall", self.0.id());
        let writing = format!("1 {descriptor:#x} ");
        self.until("it wrote", || fs::read_to_string(&call).is_ok_and(|call| call.starts_with(&writing)));
    }

    fn said(&mut self) -> String {
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    /// Its exit code, and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        let said = self.said();
        (self.0.wait().unwrap().code(), said)
    }

    /// It was ended by this signal: the exit code and the one sentence tell.
    fn ends_by(self, (signal, expected): (Signal, i32)) {
        let (code, said) = self.end();
        assert_eq!(code, Some(expected), "{said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said}");
        let last = said.lines().last().unwrap();
        assert!(last.starts_with(&format!("error: interrupted by {}", signal.as_str())), "{said}");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Of a test that has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A pipe with a name.
fn pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Opens a pipe when somebody has opened it to read: from then on that one waits for what is written here.
fn feed(pipe: &Path) -> File {
    OpenOptions::new().write(true).open(pipe).unwrap()
}

/// What is in a folder, hidden or not, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What is unfinished in a folder.
fn parts(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.contains(".part")).collect()
}

/// A data set that takes a while to import.
fn source(folder: &Path) {
    const NODES: usize = 20_000;
    const COLUMNS: usize = 300;
    let lines = |line: &dyn Fn(usize) -> String| (0..NODES).map(|node| line(node) + "\n").collect::<String>();
    let row = vec!["1"; COLUMNS].join(" ");
    fs::write(folder.join("edges.txt"), lines(&|node| format!("{node} {}", (node + 1) % NODES))).unwrap();
    fs::write(folder.join("labels.txt"), lines(&|node| (node % 3).to_string())).unwrap();
    fs::write(folder.join("features.txt"), lines(&|_| row.clone())).unwrap();
}

/// Imports it into `out`, and has begun to write there.
fn importing(folder: &Path, out: &Path) -> Run {
    let at = |name: &str| folder.join(name).display().to_string();
    let [edges, labels, features] = ["edges.txt", "labels.txt", "features.txt"].map(at);
    let mut command = trisage(&format!("dataset import {edges} --labels {labels} --features {features} --out"));
    command.arg(out).stdout(Stdio::null());
    let mut run = Run::start(command);
    let (place, process) = (out.parent().unwrap().to_owned(), run.0.id());
    run.until("it wrote something", || has_begun(&place, process));
    run
}

/// Whether a process has an unfinished folder there, and has it for its own.
fn has_begun(place: &Path, process: u32) -> bool {
    let own = format!(".trisage-{process}-");
    let lock = |name: &String| fs::metadata(place.join(name).join("lock")).is_ok_and(|lock| lock.len() > 0);
    names(place).iter().any(|name| name.starts_with(&own) && lock(name))
}

/// A new folder.
fn folder() -> TempDir {
    TempDir::new().unwrap()
}
