//! Waves are whole, whenever a signal comes.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
};

use nix::sys::signal::{kill, killpg};

use super::{ENDING, Run, feed, folder, pipe, trisage};

/// The options with which `tests/rtl.rs` writes waves, so that a model is compiled once.
const RTL: &str = "--backend rtl --table-log2 14";

/// The files of all SLRs.
fn files(waves: &Path) -> [PathBuf; 3] {
    [0, 1, 2].map(|slr| waves.with_extension(format!("slr{slr}.fst")))
}

/// Whether a file of waves goes on to its end: blocks, each of a byte for its kind and eight for its length. One that was not
/// ended has neither names (kinds 4, 6 and 7) nor a block of changes (1, 5 and 8) that is complete.
fn is_whole(file: &Path) -> bool {
    let bytes = fs::read(file).unwrap();
    let (mut at, mut kinds) = (0, vec![]);
    while at < bytes.len() {
        let Some(length) = bytes.get(at + 1..at + 9) else { return false };
        kinds.push(bytes[at]);
        at += 1 + u64::from_be_bytes(length.try_into().unwrap()) as usize;
    }
    let has = |some: &[u8]| kinds.iter().any(|kind| some.contains(kind));
    at == bytes.len() && kinds.first() == Some(&0) && has(&[4, 6, 7]) && has(&[1, 5, 8])
}

#[test]
fn of_a_pipeline() {
    for end in ENDING {
        let folder = folder();
        let waves = folder.path().join("w.fst");
        let line = format!("verify {RTL} --graph gen:star:nodes=500 --fanouts 5,5 --iterations 1000000 --waves");
        let mut command = trisage(&line);
        command.arg(&waves).stdout(Stdio::null());
        let mut run = Run::start(command);
        let mut said = BufReader::new(run.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(said.any(|line| line.starts_with("host memory, sink ")), "it ended before it began");
        // The process and its group, as `timeout` does it.
        kill(run.process(), end.0).unwrap();
        killpg(run.process(), end.0).unwrap();
        let rest: Vec<_> = said.collect();
        assert_eq!(run.0.wait().unwrap().code(), Some(end.1), "{rest:?}");
        for file in files(&waves) {
            assert!(is_whole(&file), "{}: {rest:?}", file.display());
        }
    }
}

/// Without a pipeline there is nobody who could be told to stop.
#[test]
fn of_a_command_that_waits_for_something_else() {
    for (number, end) in ENDING.into_iter().enumerate() {
        let folder = folder();
        let (waves, graph) = (folder.path().join("w.fst"), pipe(folder.path(), &number.to_string()));
        for command in ["verify", "sample"] {
            let mut command = trisage(&format!("{command} {RTL} --graph-format edges --waves"));
            command.arg(&waves).arg("--graph").arg(&graph).stdout(Stdio::null());
            let run = Run::start(command);
            let arcs = feed(&graph);
            run.signal(end.0);
            run.ends_by(end);
            drop(arcs);
            for file in files(&waves) {
                assert!(is_whole(&file), "{}", file.display());
            }
        }
    }
}

#[test]
fn of_a_single_run() {
    let folder = folder();
    let waves = folder.path().join("w.fst");
    // A mini-batch of half a million edges.
    let line =
        format!("sample {RTL} --graph gen:uniform:nodes=10000,edges=1000000 --batch-size 1000 --fanouts 30,30 --waves");
    let mut command = trisage(&line);
    command.arg(&waves).stdout(Stdio::null());
    let mut run = Run::start(command);
    let [first, ..] = files(&waves);
    run.until("there were waves", || first.metadata().is_ok_and(|file| file.len() > 10_000));
    run.signal(ENDING[1].0);
    run.ends_by(ENDING[1]);
    for file in files(&waves) {
        assert!(is_whole(&file), "{}", file.display());
    }
}
