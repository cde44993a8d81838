//! Training that a signal ends, in order or not.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

fn folder() -> tempfile::TempDir {
    test_support::learnable(12, 3, 140)
}

/// Training that ignores no signal, wherever tests run.
fn train(data: &Path, line: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_trisage"), "train", "sage", "--data"]).arg(data);
    command.args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

const SMALL: &str = "--fanouts 4,3 --hidden 8 --batch-size 64";

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

/// Exit code and stderr.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

fn parts(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".part")).count()
}

#[test]
fn there_is_a_checkpoint_to_go_on_from() {
    let data = folder();
    for (number, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let out = data.path().join(number.as_str());
        let line = format!("{SMALL} --out {}", out.display());
        let mut child = train(data.path(), &format!("{line} --epochs 1000000")).spawn().unwrap();
        until(&mut child, || out.join("last.safetensors").is_file());
        signal(&child, number);
        let (found, said) = end(child);
        assert_eq!(found, Some(code), "{said}");
        let sentence = format!("error: interrupted by {}: stopped after ", number.as_str());
        assert!(said.lines().last().unwrap().starts_with(&sentence), "{said}");
        assert_eq!(parts(&out), 0);
        let epochs = fs::read_to_string(out.join("history.csv")).unwrap().lines().count() - 1;
        let more = format!("{line} --resume --epochs {}", epochs + 1);
        assert_eq!(end(train(data.path(), &more).spawn().unwrap()).0, Some(0));
        assert_eq!(fs::read_to_string(out.join("history.csv")).unwrap().lines().count(), epochs + 2);
    }
}

/// What a SIGKILL leaves in the midst of a checkpoint goes when training goes on, and is nothing that would be in the way of
/// one that begins.
#[test]
fn what_a_killed_run_has_left_goes_with_the_next() {
    let data = folder();
    let out = data.path().join("out");
    let line = format!("{SMALL} --out {}", out.display());
    loop {
        let _ = fs::remove_dir_all(&out);
        let mut child = train(data.path(), &format!("{line} --epochs 1000000")).spawn().unwrap();
        until(&mut child, || out.join("last.safetensors").is_file());
        while parts(&out) == 0 {}
        signal(&child, Signal::SIGKILL);
        assert_eq!(end(child).0, None);
        if parts(&out) > 0 {
            break;
        }
    }
    let begins = data.path().join("begins");
    assert!(Command::new("cp").arg("-r").args([&out, &begins]).status().unwrap().success());
    for file in fs::read_dir(&begins).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(parts(&begins), 1);
    let epochs = fs::read_to_string(out.join("history.csv")).unwrap().lines().count();
    let (code, said) = end(train(data.path(), &format!("{line} --resume --epochs {}", epochs + 1)).spawn().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(parts(&out), 0);
    let line = format!("{SMALL} --epochs 1 --out {}", begins.display());
    let (code, said) = end(train(data.path(), &line).spawn().unwrap());
    assert_eq!((code, parts(&begins)), (Some(0), 0), "{said}");
}

/// The first waits for a step, which takes as long as it takes.
#[test]
fn a_second_signal_ends_it_at_once() {
    let data = folder();
    for width in (11..).map(|log2| 1 << log2) {
        let line = format!("--fanouts all,all,all --hidden {width} --batch-size 140 --epochs 1000");
        let mut child = train(data.path(), &line).spawn().unwrap();
        let process = format!("/proc/{}", child.id());
        let samples = || {
            let tasks = fs::read_dir(format!("{process}/task")).into_iter().flatten().flatten();
            let mut names = tasks.map(|task| fs::read_to_string(task.path().join("comm")).unwrap_or_default());
            names.any(|name| name.starts_with("producer-SLR"))
        };
        until(&mut child, samples);
        // Processor time of the main thread, in hundredths of a second: it is in a step when it takes some.
        let time = || {
            let stat = fs::read_to_string(format!("{process}/task/{}/stat", child.id())).unwrap_or_default();
            let time = stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(11)?.parse::<u64>().ok());
            time.unwrap_or(0)
        };
        let before = time();
        while time() < before + 30 {
            thread::sleep(Duration::from_millis(1));
        }
        signal(&child, Signal::SIGTERM);
        // What comes sooner is taken for the same.
        thread::sleep(Duration::from_millis(700));
        // It may have ended.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT);
        let (code, said) = end(child);
        assert_eq!(code, Some(143), "{said}");
        if said.ends_with("error: interrupted by SIGTERM, and ended at once by another signal\n") {
            return;
        }
        assert!(said.contains("stopped after"), "{said}");
    }
}
