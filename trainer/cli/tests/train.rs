//! `trisage train sage` as its user meets it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use test_support::plain;

use tempfile::TempDir;

fn folder() -> TempDir {
    test_support::learnable(12, 3, 140)
}

/// Exit code, stdout and stderr.
fn train(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = plain(env!("CARGO_BIN_EXE_trisage"));
    command.args(["train", "sage", "--data"]).arg(folder).args(line.split_whitespace());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const SMALL: &str = "--fanouts 4,3 --hidden 8 --batch-size 64 --epochs 2";

#[test]
fn it_prints_accuracy_and_writes_results() {
    let data = folder();
    let out = data.path().join("out");
    let line = format!("{SMALL} --runs 2 --seed 5 --transfers --out {}", out.display());
    let (code, stdout, stderr) = train(data.path(), &line);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("test accuracy of 2: "), "{stdout}");
    assert!(stdout.contains("p2p  the card writes in place"), "{stdout}");
    for name in ["history.csv", "performance.json", "best.safetensors", "last.safetensors"] {
        assert!(out.join("seed-5").join(name).is_file(), "{name}");
        assert!(out.join("seed-6").join(name).is_file(), "{name}");
    }
    let (code, _, stderr) = train(data.path(), &line);
    assert_eq!(code, 2);
    assert!(stderr.contains("the folder is not empty"), "{stderr}");
}

#[test]
fn runs_go_on_where_they_were_interrupted() {
    let data = folder();
    let of = |runs: u64, name: &str| format!("{SMALL} --runs {runs} --out {}", data.path().join(name).display());
    // As after an interruption in the second run of three: the third has a folder, and nothing in it.
    assert_eq!(train(data.path(), &of(2, "out")).0, 0);
    fs::create_dir(data.path().join("out/seed-2")).unwrap();
    let (code, _, stderr) = train(data.path(), &format!("{} --resume", of(3, "out")));
    assert_eq!(code, 0, "{stderr}");
    let last = |name: &str| fs::read(data.path().join(name).join("last.safetensors")).unwrap();
    assert_eq!(train(data.path(), &format!("{SMALL} --seed 2 --out {}", data.path().join("alone").display())).0, 0);
    assert_eq!(last("out/seed-2"), last("alone"));
    // That there is nothing at all to go on from is a mistake.
    let (code, _, stderr) = train(data.path(), &format!("{} --resume", of(3, "elsewhere")));
    assert_eq!(code, 2);
    assert!(stderr.contains("seed-0: there is no last.safetensors to go on from"), "{stderr}");
}

/// As after a process that was ended within its first checkpoint: nothing of that can be gone on from.
#[test]
fn a_run_begins_where_its_first_checkpoint_was_cut_short() {
    let data = folder();
    let out = data.path().join("out");
    let line = format!("{SMALL} --runs 2 --out {}", out.display());
    assert_eq!(train(data.path(), &line).0, 0);
    let second = out.join("seed-1");
    let whole = fs::read(second.join("last.safetensors")).unwrap();
    for name in ["last.safetensors", "best.safetensors"] {
        fs::remove_file(second.join(name)).unwrap();
    }
    let (code, _, stderr) = train(data.path(), &format!("{line} --resume"));
    assert_eq!((code, fs::read(second.join("last.safetensors")).unwrap()), (0, whole), "{stderr}");
}

#[test]
fn what_is_complete_stays_as_it_is() {
    let data = folder();
    let [out, trace] = ["out", "trace.json"].map(|name| data.path().join(name));
    let line = format!("{SMALL} --json --transfers --out {} --trace {}", out.display(), trace.display());
    let (code, first, stderr) = train(data.path(), &line);
    assert_eq!(code, 0, "{stderr}");
    let files = || {
        let mut paths: Vec<_> = fs::read_dir(&out).unwrap().map(|file| file.unwrap().path()).collect();
        paths.push(trace.clone());
        paths.sort_unstable();
        let file = |path: PathBuf| (fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap(), path);
        paths.into_iter().map(file).collect::<Vec<_>>()
    };
    let before = files();
    assert_eq!(before.len(), 5);
    let (code, second, stderr) = train(data.path(), &format!("{line} --resume"));
    assert_eq!((code, files() == before), (0, true), "{stderr}");
    assert!(stderr.contains("out: all 2 epochs are done already; there is nothing to do"), "{stderr}");
    let runs = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["runs"][0].clone();
    let (first, second) = (runs(&first), runs(&second));
    assert_eq!((&first["worked"], &second["worked"]), (&true.into(), &false.into()));
    assert_eq!((&first["performance"], &first["best"]), (&second["performance"], &second["best"]));
    // What is printed for people is the run as well.
    let (_, text, _) = train(data.path(), &format!("{SMALL} --out {} --resume", out.display()));
    let rate = text.lines().find(|line| line.starts_with("seed 0")).unwrap().split_whitespace().nth_back(1);
    assert!(rate.is_some() && rate != Some("0.00"), "{text}");
    assert!(text.contains("p2p  the card writes in place"), "{text}");
}

#[test]
fn what_several_sessions_took_adds_up() {
    let data = folder();
    let out = data.path().join("out");
    let line = format!("--fanouts 4,3 --hidden 8 --batch-size 64 --out {}", out.display());
    assert_eq!(train(data.path(), &format!("{line} --epochs 2")).0, 0);
    let line = format!("{line} --resume --epochs 3 --slots 3 --device simulated --transfers");
    let (code, stdout, stderr) = train(data.path(), &line);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("seed 0: 2 sessions of 2 + 1 epochs"), "{stdout}");
    assert!(stdout.contains("p2p  the card writes in place"), "{stdout}");
    let performance: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("performance.json")).unwrap()).unwrap();
    assert_eq!((&performance["epochs"], &performance["minibatches"]), (&3.into(), &9.into()));
    // Nothing that one session alone has is told of the whole.
    assert_eq!((&performance["backend"], &performance["accelerator"]), (&"model".into(), &serde_json::Value::Null));
    assert!(performance["transfers"].is_null());
    let sessions = &performance["sessions"];
    assert_eq!((&sessions[0]["slots"], &sessions[1]["slots"]), (&2.into(), &3.into()));
    assert_eq!(sessions[1]["accelerator"]["name"], "simulated accelerator");
    assert!(sessions[0]["transfers"].is_null() && sessions[1]["transfers"]["crossings"].is_array());
}

/// Each run has its own folder, and its own files in it.
#[test]
fn files_of_another_run_are_refused() {
    let data = folder();
    let out = data.path().join("out");
    let line = format!("{SMALL} --runs 2 --out {} --resume", out.display());
    assert_eq!(train(data.path(), &line.replace(" --resume", "")).0, 0);
    let [first, second] = ["seed-0", "seed-1"].map(|name| out.join(name));
    let figures = |folder: &Path| fs::read(folder.join("performance.json")).unwrap();
    let before = [figures(&first), figures(&second)];
    assert_eq!(train(data.path(), &line).0, 0);
    assert_eq!([figures(&first), figures(&second)], before);
    let swapped = [
        ("best.safetensors", "it is of another run, with other settings: seed is 0 there, and 1 here"),
        ("last.safetensors", "training cannot go on with other settings: seed is 0 there, and 1 here"),
        ("history.csv", "its lines up to epoch 2 are not those that were written with last.safetensors"),
        ("performance.json", "it is of another run ("),
    ];
    for (name, problem) in swapped {
        let own = fs::read(second.join(name)).unwrap();
        fs::copy(first.join(name), second.join(name)).unwrap();
        let (code, stdout, stderr) = train(data.path(), &line);
        assert_eq!((code, &*stdout), (2, ""), "{stderr}");
        assert!(stderr.contains(&format!("error: {}: {problem}", second.join(name).display())), "{stderr}");
        fs::write(second.join(name), own).unwrap();
    }
    assert_eq!(train(data.path(), &line).0, 0);
}

#[test]
fn what_cannot_begin_overwrites_nothing() {
    let data = folder();
    let line = format!("{SMALL} --out {}", data.path().join("out").display());
    assert_eq!(train(data.path(), &line).0, 0);
    fs::remove_file(data.path().join("labels.npy")).unwrap();
    assert_eq!(train(data.path(), &format!("{line} --overwrite")).0, 2);
    assert!(data.path().join("out/last.safetensors").is_file());
}

#[test]
fn another_accelerator_trains_the_same() {
    let data = folder();
    let history = |device: &str| {
        let out = data.path().join(device.replace(':', "-"));
        let line = format!("{SMALL} --device {device} --checkpoint-every 1 --out {}", out.display());
        let (code, _, stderr) = train(data.path(), &line);
        (code, stderr, fs::read_to_string(out.join("history.csv")), fs::read_to_string(out.join("performance.json")))
    };
    let (code, _, expected, _) = history("cpu");
    assert_eq!(code, 0);
    let (code, stderr, found, performance) = history("simulated");
    assert_eq!((code, found.unwrap()), (0, expected.unwrap()), "{stderr}");
    let performance: serde_json::Value = serde_json::from_str(&performance.unwrap()).unwrap();
    assert_eq!(performance["accelerator"]["name"], "simulated accelerator");
    assert!(performance["accelerator"]["memory"].is_null() && performance["accelerator"]["driver"].is_null());

    // No machine has so many.
    let (code, stderr, history, _) = history("cuda:4096");
    assert_eq!((code, stderr.lines().count(), history.is_err()), (2, 1, true), "{stderr}");
    assert!(stderr.starts_with("error: there is no CUDA: "), "{stderr}");
}

#[test]
fn options_win_over_the_file_of_settings() {
    let data = folder();
    let config = data.path().join("settings.toml");
    fs::write(&config, "fanouts = [4, 'all']\nhidden = 8\nepochs = 50\nlr = 0.02\n").unwrap();
    let line = format!("--config {} --epochs 1 --normalise-features --json", config.display());
    let (code, stdout, stderr) = train(data.path(), &line);
    assert_eq!(code, 0, "{stderr}");
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let settings = &result["settings"];
    assert_eq!(settings["fanouts"], serde_json::json!(["4", "all"]));
    assert_eq!((&settings["layers"], &settings["epochs"]), (&2.into(), &1.into()));
    assert_eq!(settings["normalise-features"], true);
    assert_eq!(result["runs"][0]["best"]["epoch"], 1);

    fs::write(&config, "hiden = 8\n").unwrap();
    let (code, stdout, stderr) = train(data.path(), &line);
    assert_eq!((code, &*stdout), (2, ""));
    assert!(stderr.contains("settings.toml: line 1: unknown field `hiden`"), "{stderr}");
}

/// XRT itself drives the simulated RTL (`trisage emulate`); where XRT is not installed, this says so and passes.
#[test]
fn behind_xrt_it_trains_as_with_the_model() {
    let data = folder();
    let line = "--fanouts 4,3 --hidden 8 --batch-size 64 --epochs 1 --seed 5 --out";
    let (code, _, stderr) = train(data.path(), &format!("{line} {}", data.path().join("model").display()));
    assert_eq!(code, 0, "{stderr}");
    let mut command = plain(env!("CARGO_BIN_EXE_trisage"));
    command.args(["emulate", "--skip-without-xrt", "--folder"]).arg(data.path().join("xrt"));
    command.args(["--", "trisage", "train", "sage", "--backend", "xrt", "--xclbin", "{xclbin}", "--data"]);
    command.arg(data.path()).args(line.split_whitespace()).arg(data.path().join("card"));
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    if stderr.contains("skipped: ") {
        eprintln!("{stderr}");
        return;
    }
    let history = |of: &str| fs::read_to_string(data.path().join(of).join("history.csv")).unwrap();
    assert_eq!(history("card").lines().count(), 2);
    assert_eq!(history("card"), history("model"), "losses to the last bit");
}

#[test]
fn what_cannot_be_trained_with_is_one_sentence() {
    let data = folder();
    fs::remove_file(data.path().join("labels.npy")).unwrap();
    let (code, _, stderr) = train(data.path(), SMALL);
    assert_eq!(code, 2);
    let message = stderr.lines().last().unwrap();
    assert!(message.starts_with("error: ") && message.contains("labels"), "{stderr}");
    let (code, _, stderr) = train(data.path(), "--layers 2 --fanouts 1,2,3");
    assert_eq!(code, 2);
    assert!(stderr.starts_with("error: fanouts: there are 3, but 2 layers"), "{stderr}");
}

#[test]
fn one_of_several_splits_is_trained_with() {
    let data = folder();
    let nodes = 2708;
    // Two splits; in the second one all three parts are those that the folder had.
    for (part, first, count) in [("train", 0, 140), ("val", 500, 200), ("test", 1000, 500)] {
        fs::remove_file(data.path().join(format!("{part}_idx.npy"))).unwrap();
        let mark = |split: usize, node: usize| u8::from((first..first + count).contains(&(node + 20 * (1 - split))));
        let marks = (0..2).flat_map(|split| (0..nodes).map(move |node| mark(split, node)));
        let header = golden_files::write::npy_header("|b1", &[2, nodes as u64]);
        let bytes: Vec<u8> = header.into_iter().chain(marks).collect();
        fs::write(data.path().join(format!("{part}_masks.npy")), bytes).unwrap();
    }
    let (code, _, stderr) = train(data.path(), SMALL);
    assert!(
        code == 2 && stderr.contains("train_masks.npy: there are 2 splits in it; choose one of 0 to 1"),
        "{stderr}"
    );
    let history = |folder: &Path, split: &str, name: &str| {
        let out = folder.join(name);
        let (code, _, stderr) = train(folder, &format!("{SMALL} {split} --out {}", out.display()));
        assert!(code == 0 && !stderr.contains("note: "), "{stderr}");
        fs::read_to_string(out.join("history.csv")).unwrap()
    };
    let lists = folder();
    let second = history(data.path(), "--split 1", "second");
    assert_eq!(second, history(lists.path(), "", "lists"));
    assert_ne!(second, history(data.path(), "--split 0", "first"));
}
