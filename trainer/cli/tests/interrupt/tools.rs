//! Signals while an RTL model is compiled. The compilers are scripts here.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::{ENDING, Run, folder, names, trisage};

/// A Verilator that does `work` where it should compile, and a C++ compiler that has a version.
struct Tools {
    folder: TempDir,
}

impl Tools {
    fn new(work: &str) -> Self {
        let tools = Self { folder: folder() };
        let verilator = format!(
            "#!/bin/sh\ncd '{}'\ncase \"$1\" in\n--version) echo 'Verilator 5.052 2026-09-01 rev v5.052' ;;\n\
             --getenv) echo /nowhere ;;\n*) {work} ;;\nesac\n",
            tools.folder.path().display()
        );
        for (name, script) in [("verilator", &*verilator), ("g++", "#!/bin/sh\necho 'g++ 12'\n")] {
            let path = tools.folder.path().join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        tools
    }

    /// Compiles a model with them.
    fn build(&self, cache: &Path) -> Command {
        let mut command = trisage("rtl build --variant fast");
        let at = |name: &str| self.folder.path().join(name);
        command.env("TRISAGE_VERILATOR", at("verilator")).env("CXX", at("g++")).env("TRISAGE_CACHE", cache);
        command.stdout(Stdio::null());
        command
    }

    /// The processes that a tool has written down.
    fn processes(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.folder.path().join("processes")).unwrap_or_default();
        text.split_whitespace().map_while(|process| process.parse().ok()).collect()
    }
}

/// A tool that starts another one and waits for it, which takes long.
const SLOW: &str = "sleep 100000 & echo $$ $! > new; mv new processes; wait";

/// Waits until a process has ended.
fn gone(process: u32) {
    let stat = format!("/proc/{process}/stat");
    // One whose parent does not wait for it stays as a zombie.
    let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'));
    while runs() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn tools_end_and_what_they_made_goes() {
    for end in ENDING {
        let (tools, cache) = (Tools::new(SLOW), folder());
        let mut run = Run::start(tools.build(cache.path()));
        run.until("a tool ran", || tools.processes().len() == 2);
        assert_eq!(names(cache.path()).len(), 2, "the lock, and a folder to work in");
        run.signal(end.0);
        run.ends_by(end);
        assert_eq!(names(cache.path()), ["lock"]);
        tools.processes().into_iter().for_each(gone);
    }
}

#[test]
fn a_tool_that_is_asked_for_its_version_ends_too() {
    for end in ENDING {
        let (tools, cache) = (Tools::new(""), folder());
        let script = format!("#!/bin/sh\ncd '{}'\n{SLOW}\n", tools.folder.path().display());
        fs::write(tools.folder.path().join("g++"), script).unwrap();
        let mut run = Run::start(tools.build(cache.path()));
        run.until("a tool ran", || tools.processes().len() == 2);
        run.signal(end.0);
        run.ends_by(end);
        tools.processes().into_iter().for_each(gone);
    }
}

#[test]
fn while_another_build_is_waited_for() {
    for end in ENDING {
        let (tools, cache) = (Tools::new("exit 1"), folder());
        let lock = File::create(cache.path().join("lock")).unwrap();
        lock.lock().unwrap();
        let mut run = Run::start(tools.build(cache.path()));
        let mut said = BufReader::new(run.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(said.next().unwrap(), "waiting for another build of an RTL model");
        run.signal(end.0);
        assert_eq!(said.collect::<Vec<_>>(), [format!("error: interrupted by {}", end.0.as_str())]);
        assert_eq!(run.0.wait().unwrap().code(), Some(end.1));
    }
}

#[test]
fn what_a_killed_build_has_left_goes_with_the_next() {
    let (tools, cache) = (Tools::new(SLOW), folder());
    let mut run = Run::start(tools.build(cache.path()));
    run.until("a tool ran", || tools.processes().len() == 2);
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().0, None);
    assert!(names(cache.path()).iter().any(|name| name.starts_with("tmp.")), "{:?}", names(cache.path()));
    let fails = Tools::new("exit 1");
    let (code, said) = Run::start(fails.build(cache.path())).end();
    assert_eq!(code, Some(2), "{said}");
    let left = names(cache.path());
    assert!(left.len() == 2 && left[0].ends_with(".log") && left[1] == "lock", "{left:?}");
    for process in tools.processes() {
        let _ = Command::new("kill").arg("-KILL").arg(process.to_string()).stderr(Stdio::null()).status();
    }
}
