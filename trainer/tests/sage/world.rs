//! A data set to train with, on Cora's graph.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use golden::{Fanout, Progress, Silent, write};
use hw::SamplerDevice;
use sim::model::{ModelOptions, SoftwareModel};
use tempfile::TempDir;
use trainer::{
    accelerator::{HostAccelerator, Torch, TorchAccelerator},
    dataset::Dataset,
    ledger::Ledger,
    pipeline::{Stop, Transport},
    train::{self, Data, Outcome, Output, Settings, TrainError},
};

use super::support::random;

const NODES: usize = 2708;
const COLUMNS: usize = 12;
const CLASSES: usize = 3;

/// Training nodes: not a multiple of three mini-batches.
pub const TRAIN: usize = 140;

/// libtorch has one source of random numbers for dropout in a process, so one test trains at a time.
static LIBTORCH: Mutex<()> = Mutex::new(());

/// Waits until no other test trains.
pub fn alone() -> MutexGuard<'static, ()> {
    LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with Cora's graph, random features, and labels that can be learnt: the largest of a node's first features.
pub fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    // Tests run in the folder of their package.
    let cora = Path::new("../tests/data/cora");
    for name in ["indptr.npy", "indices.npy"] {
        fs::copy(cora.join(name), folder.path().join(name)).unwrap();
    }
    let features = random(NODES as i64, COLUMNS as i64, 77).abs();
    let labels = Vec::<i64>::try_from(features.narrow(1, 0, CLASSES as i64).argmax(1, false)).unwrap();
    let values = Vec::<f32>::try_from(features.flatten(0, -1)).unwrap();
    let header = write::npy_header("<f4", &[NODES as u64, COLUMNS as u64]);
    let bytes: Vec<u8> = header.into_iter().chain(values.iter().flat_map(|value| value.to_le_bytes())).collect();
    fs::write(folder.path().join("features.npy"), bytes).unwrap();
    let nodes = |first: usize, count: usize| (first as i64..(first + count) as i64).collect::<Vec<_>>();
    let arrays = [
        ("labels", labels),
        ("train_idx", nodes(0, TRAIN)),
        ("val_idx", nodes(500, 200)),
        ("test_idx", nodes(1000, 500)),
    ];
    for (name, elements) in arrays {
        let mut bytes = Vec::new();
        write::npy(&mut bytes, "<i8", elements.into_iter().map(i64::to_le_bytes), name, &Silent).unwrap();
        fs::write(folder.path().join(format!("{name}.npy")), bytes).unwrap();
    }
    folder
}

/// Small and quick: 5 mini-batches an epoch, the last of 12 nodes, so two SLRs alone are at work in the second iteration.
pub fn settings() -> Settings {
    Settings {
        layers: 2,
        fanouts: vec![Fanout::Count(5), Fanout::Count(3)],
        hidden: 16,
        lr: 0.01,
        batch_size: 32,
        seed: 11,
        epochs: 2,
        ..Settings::default()
    }
}

/// The software model.
pub fn model() -> Arc<dyn SamplerDevice> {
    Arc::new(SoftwareModel::new(ModelOptions::default()).unwrap())
}

/// What trains, with its data.
pub struct World<A: TorchAccelerator = HostAccelerator> {
    data: Data,
    torch: Torch<A>,
    folder: TempDir,
}

impl World {
    /// On the processor.
    pub fn new() -> Self {
        Self::on(HostAccelerator::new(Ledger::counting()))
    }
}

impl World {
    /// On the processor, with the data set of a folder.
    pub fn of(folder: TempDir) -> Self {
        Self::with(HostAccelerator::new(Ledger::counting()), folder)
    }
}

impl<A: TorchAccelerator> World<A> {
    pub fn on(accelerator: A) -> Self {
        Self::with(accelerator, folder())
    }

    fn with(accelerator: A, folder: TempDir) -> Self {
        let torch = Torch::new(Arc::new(accelerator)).unwrap();
        let dataset = Dataset::load(folder.path(), &Silent).unwrap();
        let data = Data::new(dataset, folder.path(), false, &torch).unwrap();
        Self { data, torch, folder }
    }

    /// A place for results.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn train(
        &self,
        device: &Arc<dyn SamplerDevice>,
        settings: &Settings,
        output: Option<&Output>,
    ) -> Result<Outcome, TrainError> {
        train::run(device, &self.torch, &self.data, settings, &Transport::default(), output, &Silent)
    }
}

impl World {
    /// Trains until an epoch begins, counted from 1, and is stopped in it as by Ctrl-C.
    pub fn train_and_stop_in(&self, epoch: u64, settings: &Settings, output: &Output) -> TrainError {
        struct StopIn(String, Stop);
        impl Progress for StopIn {
            fn report(&self, what: &str, _: u64, _: u64) {
                if what.starts_with(&self.0) {
                    self.1.stop();
                }
            }
        }
        let transport = Transport::default();
        let stop = StopIn(format!("epoch {epoch} "), transport.stop.clone());
        train::run(&model(), &self.torch, &self.data, settings, &transport, Some(output), &stop).unwrap_err()
    }
}
