//! `trisage train sage` as its user meets it.

use std::{fs, path::Path, process::Command};

use super::world::folder;

/// Exit code, stdout and stderr.
fn train(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trisage"));
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
    let mut command = Command::new(env!("CARGO_BIN_EXE_trisage"));
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
        let header = golden::write::npy_header("|b1", &[2, nodes as u64]);
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
    let lists = super::world::folder();
    let second = history(data.path(), "--split 1", "second");
    assert_eq!(second, history(lists.path(), "", "lists"));
    assert_ne!(second, history(data.path(), "--split 0", "first"));
}
