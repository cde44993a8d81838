//! Runs in folders: their files, and why they are refused.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use std::{fs, path::Path};

use learn::{train::Outcome, train::Output, train::Presence, train::Settings, train::TrainError};

use super::world::{World, model};

/// The files of a run, in the order in which a checkpoint writes them.
pub const NAMES: [&str; 4] = ["history.csv", "performance.json", "last.safetensors", "best.safetensors"];

/// The files of a run that are the same whenever it was interrupted.
pub fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["history.csv", "best.safetensors", "last.safetensors"].map(|name| fs::read(folder.join(name)).unwrap())
}

pub fn train(world: &World, name: &str, presence: Presence, settings: &Settings) -> Result<Outcome, TrainError> {
    let output = Output::open(&world.path(name), presence)?;
    world.train(&model(), settings, Some(&output))
}

/// Begins a run in a folder, and stops it in an epoch.
pub fn stop_in(world: &World, epoch: u64, settings: &Settings, name: &str, presence: Presence) {
    let output = Output::open(&world.path(name), presence).unwrap();
    let stopped = world.train_and_stop_in(epoch, settings, &output);
    assert!(stopped.to_string().contains("stopped"), "{stopped}");
}

/// What `performance.json` says.
pub fn performance(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder.join("performance.json")).unwrap()).unwrap()
}

/// Name, content and time of last change of all files.
pub fn everything(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let file = |file: Result<fs::DirEntry, std::io::Error>| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
    };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(file).collect();
    files.sort_unstable();
    files
}

/// The files of a run, as far as they are there.
pub fn contents(folder: &Path) -> Vec<Option<Vec<u8>>> {
    NAMES.iter().map(|name| fs::read(folder.join(name)).ok()).collect()
}

/// Copies those files that are there.
pub fn copy(from: &Path, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for name in names.iter().filter(|name| from.join(name).exists()) {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Why training does not go on in a folder, with its name as OUT; that it is one line, and that nothing was changed.
pub fn refusal(world: &World, name: &str, settings: &Settings) -> String {
    let folder = world.path(name);
    let before = contents(&folder);
    let text = train(world, name, Presence::Resume, settings).unwrap_err().to_string();
    assert_eq!(contents(&folder), before, "{text}");
    assert!(!text.contains('\n'), "{text}");
    text.replace(&folder.display().to_string(), "OUT")
}
