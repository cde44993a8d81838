//! SIGKILL, and power failures: what is left goes with the next run that writes there, and with no other.

use std::{fs, path::Path, process::Stdio};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::{Run, folder, has_begun, importing, names, parts, pipe, source, trisage};

/// A command that writes what takes a while beside `place`, and was sent a signal in the midst of it.
fn in_the_midst(line: &str, place: &Path, name: &str, signal: Signal) -> Run {
    // How long writing takes is not known: long enough is found out.
    for double in 0.. {
        let line = line.replace("EDGES", &(1_000_000_u64 << double).to_string());
        let mut command = trisage(&line);
        command.arg(place.join(name)).stdout(Stdio::null());
        let mut run = Run::start(command);
        let part = format!(".trisage-{}-", run.0.id());
        let process = run.0.id();
        let begun = || has_begun(place, process) || names(place).iter().any(|name| !name.starts_with('.'));
        run.until("a part was there", begun);
        run.signal(signal);
        if signal == Signal::SIGKILL {
            run.0.wait().unwrap();
        }
        let left = names(place).iter().any(|name| name.starts_with(&part));
        if left && !names(place).iter().any(|other| other == name) {
            return run;
        }
        if signal != Signal::SIGKILL {
            run.signal(Signal::SIGCONT);
            run.0.wait().unwrap();
        }
        for name in names(place).into_iter().filter(|name| !name.starts_with('.')) {
            let path = place.join(name);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
    unreachable!("some size takes long enough")
}

#[test]
fn of_a_graph() {
    for (line, name) in [
        ("graph generate uniform:nodes=1000,edges=EDGES", "g.mtx.gz"),
        ("graph generate uniform:nodes=1000,edges=EDGES", "g.npz"),
        ("graph generate uniform:nodes=1000,edges=EDGES", "folder"),
        ("graph convert gen:uniform:nodes=1000,edges=EDGES", "g.csv"),
    ] {
        let place = TempDir::new().unwrap();
        let killed = in_the_midst(line, place.path(), name, Signal::SIGKILL);
        let [left] = &*parts(place.path()) else { panic!("{:?}", names(place.path())) };
        assert!(left.starts_with(&format!(".trisage-{}-", killed.0.id())), "{left}");

        let alive = in_the_midst(line, place.path(), name, Signal::SIGSTOP);
        let next = format!("graph generate path:nodes=5 {}", place.path().join("next.txt").display());
        let run = Run(trisage(&next).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!(run.end(), (Some(0), String::new()));
        let [part] = &*parts(place.path()) else { panic!("{:?}", names(place.path())) };
        assert!(part.starts_with(&format!(".trisage-{}-", alive.0.id())), "{part}");

        alive.signal(Signal::SIGCONT);
        assert_eq!(alive.end(), (Some(0), String::new()));
        let mut expected = [name, "next.txt"];
        expected.sort_unstable();
        assert_eq!(names(place.path()), expected);
    }
}

#[test]
fn of_a_data_set() {
    let [dead, alive, next] = [folder(), folder(), folder()];
    for folder in [&dead, &alive, &next] {
        source(folder.path());
    }
    let place = folder();
    let begin = |from: &TempDir, to: &str| importing(from.path(), &place.path().join(to));
    let killed = begin(&dead, "data");
    assert_eq!(parts(place.path()).len(), 1);
    killed.signal(Signal::SIGKILL);
    assert_eq!(killed.end().0, None);
    assert_eq!(parts(place.path()).len(), 1);

    let running = begin(&alive, "other");
    running.signal(Signal::SIGSTOP);
    let again = begin(&next, "data");
    again.signal(Signal::SIGSTOP);
    assert_eq!(parts(place.path()).len(), 2, "those of the two that run");
    again.signal(Signal::SIGCONT);
    assert_eq!(again.end(), (Some(0), String::new()));
    running.signal(Signal::SIGCONT);
    assert_eq!(running.end(), (Some(0), String::new()));
    assert_eq!(names(place.path()), ["data", "other"]);
    assert!(place.path().join("other/features.npy").is_file());
}

/// A folder that holds nothing but what a killed run has left is an empty one.
#[test]
fn in_the_folder_itself() {
    let place = TempDir::new().unwrap();
    let graph = place.path().join("graph");
    fs::create_dir(&graph).unwrap();
    // A graph goes into a folder that is there.
    let killed = in_the_midst("graph generate --overwrite uniform:nodes=1000,edges=EDGES", &graph, "", Signal::SIGKILL);
    drop(killed);
    assert_eq!(parts(&graph).len(), 1);
    let run = Run::start({
        let mut command = trisage("graph generate path:nodes=5");
        command.arg(&graph).stdout(Stdio::null());
        command
    });
    assert_eq!(run.end(), (Some(0), String::new()));
    assert_eq!(names(&graph), ["indices.npy", "indptr.npy"]);
}

#[test]
fn what_is_only_called_alike_stays() {
    let place = folder();
    let mine = [".abcdef.part", ".trisage-1-abcdef.part", "trisage-card-1-abcdef", "tmp.1-abcdef"];
    for name in mine {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::write(place.path().join(name).join("thesis.txt"), "all of it").unwrap();
    }
    let pipe = pipe(place.path(), ".trisage-2-abcdef.part");
    let run = Run::start({
        let mut command = trisage("graph generate path:nodes=5");
        command.arg(place.path().join("g")).stdout(Stdio::null());
        command
    });
    assert_eq!(run.end(), (Some(0), String::new()));
    for name in mine {
        assert!(place.path().join(name).join("thesis.txt").exists(), "{name}");
    }
    assert!(pipe.exists());
}
