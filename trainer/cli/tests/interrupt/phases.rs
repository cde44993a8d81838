//! Signals in every phase of a command.

use std::{
    fs,
    io::{BufRead, BufReader, Write, pipe as unnamed_pipe},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use nix::sys::signal::{Signal, kill, killpg};

use super::{ENDING, Run, feed, folder, importing, names, parts, pipe, source, trisage};

/// More than a pipe holds, so that who writes more waits.
const PIPE: usize = 1 << 16;

/// libtorch takes most of the time until the command begins: the exit code is the same by then.
#[test]
fn before_the_command_begins() {
    let folder = folder();
    for (number, (signal, code)) in ENDING.into_iter().enumerate() {
        let pipe = pipe(folder.path(), &number.to_string());
        let mut command = trisage("graph inspect --graph-format edges --graph");
        command.arg(&pipe).stdout(Stdio::null());
        let mut run = Run::start(command);
        let status = format!("/proc/{}/status", run.0.id());
        let caught = || {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:").map(str::to_owned));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
            ENDING.iter().all(|(signal, _)| mask >> (*signal as i32 - 1) & 1 == 1)
        };
        run.until("signals were its own", caught);
        run.signal(signal);
        let (found, said) = run.end();
        assert_eq!(found, Some(code), "{said}");
        // There may be nobody yet who could say so.
        assert!(said.is_empty() || said == format!("error: interrupted by {}\n", signal.as_str()), "{said}");
    }
}

#[test]
fn while_a_graph_is_read() {
    let folder = folder();
    for (number, end) in ENDING.into_iter().enumerate() {
        for (line, name) in
            [("graph inspect --graph-format edges --graph", "i"), ("verify --graph-format csv --graph", "v")]
        {
            let pipe = pipe(folder.path(), &format!("{name}{number}"));
            let mut command = trisage(line);
            command.arg(&pipe).stdout(Stdio::null());
            let run = Run::start(command);
            let mut arcs = feed(&pipe);
            arcs.write_all(b"0 1\n").unwrap();
            run.signal(end.0);
            run.ends_by(end);
        }
    }
}

#[test]
fn while_a_graph_is_generated() {
    for end in ENDING {
        let mut command = trisage("graph inspect --graph gen:uniform:nodes=1000,edges=60000000");
        command.stdout(Stdio::null());
        let mut run = Run::start(command);
        let status = format!("/proc/{}/status", run.0.id());
        let resident = || {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:").map(str::to_owned));
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
        };
        // An edge has 8 bytes until all are drawn.
        run.until("there were edges", || resident() > 100_000);
        run.signal(end.0);
        run.ends_by(end);
    }
}

/// Nothing is there, and nothing unfinished either.
#[test]
fn while_something_is_written() {
    for end in ENDING {
        // How long writing takes is not known: long enough is found out.
        for edges in (0..).map(|double| 1_000_000_u64 << double) {
            let folder = folder();
            let mut command = trisage(&format!("graph generate uniform:nodes=1000,edges={edges}"));
            command.arg(folder.path().join("g.mtx.gz")).stdout(Stdio::null());
            let mut run = Run::start(command);
            run.until("a part was there", || !names(folder.path()).is_empty());
            run.signal(end.0);
            let (code, said) = run.end();
            if code == Some(0) {
                assert_eq!((names(folder.path()), &*said), (vec!["g.mtx.gz".to_owned()], ""));
                continue;
            }
            assert_eq!((code, names(folder.path())), (Some(end.1), vec![]), "{said}");
            assert_eq!(said, format!("error: interrupted by {}\n", end.0.as_str()));
            break;
        }
    }
}

#[test]
fn while_a_data_set_is_imported() {
    for end in ENDING {
        let folder = folder();
        source(folder.path());
        let place = folder.path().join("place");
        fs::create_dir(&place).unwrap();
        let run = importing(folder.path(), &place.join("data"));
        assert_eq!(parts(&place).len(), 1);
        run.signal(end.0);
        run.ends_by(end);
        assert_eq!(names(&place), [""; 0]);
    }
}

#[test]
fn while_a_pipeline_runs() {
    for end in ENDING {
        let folder = folder();
        let trace = folder.path().join("trace.json");
        let mut command = trisage("verify --graph gen:star:nodes=500 --fanouts 5,5 --iterations 2000000000 --trace");
        command.arg(&trace).stdout(Stdio::piped());
        let mut run = Run::start(command);
        // It has begun when it says which way it takes; then it is in the loop, or will be.
        let mut messages = BufReader::new(run.0.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        assert!(line.starts_with("host memory, sink 'in-place'"), "{line}");
        run.signal(end.0);
        line.clear();
        messages.read_line(&mut line).unwrap();
        assert_eq!(run.0.wait().unwrap().code(), Some(end.1), "{line}");
        let begin = format!("error: interrupted by {}", end.0.as_str());
        assert!(line.starts_with(&begin), "{line}");
        assert_eq!(messages.read_line(&mut line).unwrap(), 0, "{line}");
        // One that came before there was a pipeline has left no trace.
        if line.contains(": stopped after ") {
            let trace: serde_json::Value = serde_json::from_slice(&fs::read(&trace).unwrap()).unwrap();
            assert!(trace["traceEvents"].is_array());
        }
        assert_eq!(parts(folder.path()), [""; 0]);
    }
}

#[test]
fn while_nobody_reads_the_result() {
    for (descriptor, line) in [
        (1, "graph inspect --graph gen:path:nodes=5"),
        (1, "graph inspect --graph gen:path:nodes=5 --json"),
        (1, "bench model --graph gen:path:nodes=5 --predict u280"),
        (1, "--help"),
        (2, "verify --graph gen:path:nodes=5 --fanouts 1"),
    ] {
        for end in ENDING {
            let (reader, mut writer) = unnamed_pipe().unwrap();
            writer.write_all(&vec![0; PIPE]).unwrap();
            let mut command = trisage(line);
            let mut run = if descriptor == 1 {
                command.stdout(writer);
                Run::start(command)
            } else {
                Run(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).spawn().unwrap())
            };
            run.until_it_writes_to(descriptor);
            run.signal(end.0);
            if descriptor == 1 {
                run.ends_by(end);
            } else {
                assert_eq!(run.0.wait().unwrap().code(), Some(end.1), "{line}");
            }
            drop(reader);
        }
    }
}

/// `timeout` does the same: the process, and then its group.
#[test]
fn a_process_and_its_group_are_told_at_once() {
    for end in ENDING {
        let folder = folder();
        source(folder.path());
        let place = folder.path().join("place");
        fs::create_dir(&place).unwrap();
        let run = importing(folder.path(), &place.join("data"));
        kill(run.process(), end.0).unwrap();
        killpg(run.process(), end.0).unwrap();
        run.ends_by(end);
        assert_eq!(names(&place), [""; 0]);
    }
}

#[test]
fn of_two_kinds_of_signals_one_ends_the_command() {
    let folder = folder();
    for (number, (first, second)) in [(0, 1), (1, 2), (2, 0)].into_iter().enumerate() {
        let pipe = pipe(folder.path(), &number.to_string());
        let mut command = trisage("graph inspect --graph-format edges --graph");
        command.arg(&pipe).stdout(Stdio::null());
        let run = Run::start(command);
        let arcs = feed(&pipe);
        run.signal(ENDING[first].0);
        run.signal(ENDING[second].0);
        let (code, said) = run.end();
        assert!(code == Some(ENDING[first].1) || code == Some(ENDING[second].1), "{code:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        drop(arcs);
    }
}

/// As under `nohup`, and in the background of a script.
#[test]
fn what_was_ignored_stays_ignored() {
    let folder = folder();
    let all = ["INT", "TERM", "HUP"];
    for (number, ignored) in [&["HUP"][..], &["INT"], &["TERM"], &all].into_iter().enumerate() {
        let pipe = pipe(folder.path(), &number.to_string());
        let mut command = Command::new("env");
        let others: Vec<_> = all.into_iter().filter(|name| !ignored.contains(name)).collect();
        // A shell would not let go of what is ignored already.
        command.arg(format!("--ignore-signal={}", ignored.join(",")));
        if !others.is_empty() {
            command.arg(format!("--default-signal={}", others.join(",")));
        }
        command.arg(env!("CARGO_BIN_EXE_trisage")).args(["graph", "inspect", "--graph-format", "edges", "--graph"]);
        command.arg(&pipe).stdout(Stdio::null()).process_group(0);
        let run = Run::start(command);
        let mut arcs = feed(&pipe);
        let of_name =
            |name: &str| ENDING.into_iter().find(|(signal, _)| signal.as_str() == format!("SIG{name}")).unwrap();
        for name in ignored {
            run.signal(of_name(name).0);
        }
        if let Some(name) = others.first() {
            let end = of_name(name);
            run.signal(end.0);
            run.ends_by(end);
        } else {
            arcs.write_all(b"0 1\n").unwrap();
            drop(arcs);
            assert_eq!(run.end(), (Some(0), String::new()));
        }
    }
}

#[test]
fn a_stop_and_a_continuation_change_nothing() {
    let folder = folder();
    source(folder.path());
    let out = folder.path().join("data");
    let run = importing(folder.path(), &out);
    let stat = format!("/proc/{}/stat", run.0.id());
    let state = || fs::read_to_string(&stat).unwrap().rsplit_once(") ").unwrap().1.chars().next();
    run.signal(Signal::SIGTSTP);
    while state() != Some('T') {
        thread::sleep(Duration::from_millis(1));
    }
    run.signal(Signal::SIGCONT);
    assert_eq!(run.end(), (Some(0), String::new()));
    assert!(out.join("features.npy").is_file());
}

#[test]
fn sigquit_ends_the_process_as_it_does_everywhere() {
    use std::os::unix::process::ExitStatusExt;
    let folder = folder();
    let pipe = pipe(folder.path(), "pipe");
    // Without a file for the dump.
    let script = format!(
        "ulimit -c 0; exec '{}' graph inspect --graph-format edges --graph \"$0\"",
        env!("CARGO_BIN_EXE_trisage")
    );
    let mut command = Command::new("env");
    command.args(["--default-signal=QUIT", "sh", "-c", &script]).arg(&pipe).stdout(Stdio::null());
    let mut run = Run::start(command);
    let arcs = feed(&pipe);
    run.signal(Signal::SIGQUIT);
    assert_eq!(run.0.wait().unwrap().signal(), Some(Signal::SIGQUIT as i32));
    drop(arcs);
}

#[test]
fn who_closes_a_pipe_is_no_error() {
    for line in ["graph inspect --graph gen:star:nodes=100", "verify --graph gen:star:nodes=50 --fanouts 2,2"] {
        let mut run = Run(trisage(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        drop((run.0.stdout.take(), run.0.stderr.take()));
        assert_eq!(run.0.wait().unwrap().code(), Some(0), "{line}");
    }
    // Not even for one who is to hear of an error.
    let mut run = Run(trisage("graph inspect --graph /nowhere").stderr(Stdio::piped()).spawn().unwrap());
    drop(run.0.stderr.take());
    assert_eq!(run.0.wait().unwrap().code(), Some(2));
}
