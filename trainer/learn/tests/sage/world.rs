//! A data set to train with, on Cora's graph.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dataset::Dataset;
use golden::{Fanout, Progress, Silent};
use hw::SamplerDevice;
use learn::{
    torch::{Torch, TorchAccelerator},
    train,
    train::{Data, Outcome, Output, Settings, TrainError},
};
use pipeline::{Stop, Transport, accelerator::HostAccelerator, ledger::Ledger};
use sim::model::{ModelOptions, SoftwareModel};
use tempfile::TempDir;

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

/// A folder with Cora's graph, and labels that can be learnt.
pub fn folder() -> TempDir {
    test_support::learnable(COLUMNS, CLASSES, TRAIN as i64)
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
