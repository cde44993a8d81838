//! Signals while a command runs with an emulated card: they are for the command, whenever they come.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

use super::{emulate, has_xrt, is_clean, verify};

/// What ends a command, and the exit code then.
const ENDING: [(Signal, i32); 3] = [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)];

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// Waits until it has come so far, as long as it runs.
fn until(child: &mut Child, reached: impl Fn() -> bool) {
    while !reached() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A script that says in the file `started` that it has begun, and then `goes_on`; and that file.
fn script(folder: &Path, before: &str, goes_on: &str) -> (String, PathBuf) {
    let started = folder.join("started");
    (format!("{before}; touch '{}'; {goes_on}", started.display()), started)
}

/// Goes on until it is ended. A shell without a trap goes on if what it waits for has ended of itself.
const ENDLESS: &str = "while :; do sleep 0.05; done";

#[test]
fn a_command_gets_them_and_its_answer_is_the_result() {
    if !has_xrt() {
        return;
    }
    for (name, number, code) in [
        ("INT", Signal::SIGINT, 130),
        ("TERM", Signal::SIGTERM, 143),
        ("HUP", Signal::SIGHUP, 129),
        ("QUIT", Signal::SIGQUIT, 131),
        ("INT", Signal::SIGINT, 7),
    ] {
        let folder = TempDir::new().unwrap();
        let place = folder.path().join("place");
        let (script, started) = script(folder.path(), &format!("trap 'exit {code}' {name}"), ENDLESS);
        let mut child = emulate(&place, &["--shim", "noop", "--", "sh", "-c", &script]).spawn().unwrap();
        until(&mut child, || started.exists());
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        is_clean(&place, child.id());
    }
}

#[test]
fn a_command_without_an_answer_ends_by_them() {
    if !has_xrt() {
        return;
    }
    for (number, code) in ENDING {
        let folder = TempDir::new().unwrap();
        let place = folder.path().join("place");
        let (script, started) = script(folder.path(), ":", "exec sleep 100000");
        let mut child = emulate(&place, &["--shim", "noop", "--", "sh", "-c", &script]).spawn().unwrap();
        until(&mut child, || started.exists());
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{number}");
        is_clean(&place, child.id());
    }
}

/// The card hears of it as well, and stays as long as the command needs it.
#[test]
fn a_comparison_ends_as_it_does_without_a_card_behind_xrt() {
    if !has_xrt() {
        return;
    }
    for (number, code) in ENDING {
        let folder = TempDir::new().unwrap();
        let mut command = verify(&["--kernels", "model"], folder.path());
        let mut child = command.args(["--iterations", "1000000"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("sink 'in-place'")), "it ended before it began");
        signal(&child, number);
        let rest: Vec<_> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest:?}");
        let errors: Vec<_> = rest.iter().filter(|line| line.contains("rror")).collect();
        assert!(errors.len() == 1 && errors[0].starts_with("error: interrupted by "), "{rest:?}");
        is_clean(folder.path(), child.id());
    }
}

/// From the moment when there is a folder on: while the environment is made, the command starts, XRT opens the card, its process
/// starts, and the command samples.
#[test]
fn no_moment_is_too_early_for_one() {
    if !has_xrt() {
        return;
    }
    for (number, code) in ENDING {
        for moment in 0..20 {
            let folder = TempDir::new().unwrap();
            let mut command = verify(&["--kernels", "model"], folder.path());
            let mut child = command.args(["--iterations", "1000000"]).spawn().unwrap();
            until(&mut child, || fs::read_dir(folder.path()).unwrap().count() > 0);
            thread::sleep(Duration::from_millis(20 * moment));
            signal(&child, number);
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{number}, moment {moment}: {said}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{number}, moment {moment}: {said}");
        }
    }
}

/// What XRT starts on behalf of such a command ends by none of them either.
#[test]
fn a_command_that_ignores_them_has_its_card_until_it_ends() {
    if !has_xrt() {
        return;
    }
    for moment in 0..20 {
        let folder = TempDir::new().unwrap();
        let place = folder.path().join("place");
        let verify = format!(
            "exec '{}' verify --backend xrt --xclbin \"$TRISAGE_XCLBIN\" --graph gen:star:nodes=50 --fanouts 3,3",
            env!("CARGO_BIN_EXE_trisage")
        );
        let (script, started) = script(folder.path(), "trap '' INT TERM HUP QUIT", &verify);
        let mut command = emulate(&place, &["--kernels", "model", "--", "sh", "-c", &script]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until(&mut child, || started.exists());
        thread::sleep(Duration::from_millis(20 * moment));
        for number in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
            // It may have ended.
            let _ = kill(Pid::from_raw(child.id().cast_signed()), number);
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        let output = child.wait_with_output().unwrap();
        let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        // After the command `trisage emulate` is a process like any other.
        let code = output.status.code().unwrap();
        assert!(code == 0 || printed.contains("EQUAL") && code > 128, "moment {moment}: {code}: {said}");
        assert!(printed.contains("EQUAL: back end 'xrt'"), "moment {moment}: {said}{printed}");
    }
}

/// SIGKILL leaves the command running, which needs the folder as long as it runs.
#[test]
fn what_a_killed_one_has_left_goes_when_its_command_is_gone() {
    if !has_xrt() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("place");
    let (script, started) = script(folder.path(), "echo $$ > \"$0\"", ENDLESS);
    let process = folder.path().join("process");
    let mut command = emulate(&place, &["--shim", "noop", "--", "sh", "-c", &script]);
    let mut child = command.arg(&process).spawn().unwrap();
    until(&mut child, || started.exists());
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    fs::create_dir(place.join("trisage-card-of-mine")).unwrap();
    let next = || {
        assert!(emulate(&place, &["--shim", "noop", "--", "true"]).status().unwrap().success());
        fs::read_dir(&place).unwrap().count()
    };
    assert_eq!(next(), 2, "the folder of the command, and what only has such a name");
    let command = fs::read_to_string(&process).unwrap().trim().parse().unwrap();
    // Its children hold the folder, too.
    nix::sys::signal::killpg(Pid::from_raw(command), Signal::SIGKILL).unwrap();
    while next() == 2 {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(next(), 1);
    assert!(place.join("trisage-card-of-mine").is_dir());
}
