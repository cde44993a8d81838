//! Training on a GPU, against the processor's. Where there is none, each test says so and does nothing.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use golden::Fanout;
use learn::{
    torch::Torch,
    train::{Record, Settings},
};
use pipeline::{
    accelerator::{AcceleratorError, CudaAccelerator, Lend},
    ledger::Ledger,
};

use super::{
    train::{check_crossings, check_loss_is_located},
    world::{World, alone, model, settings},
};

/// The first GPU with libtorch on it; says why there is none.
pub fn gpu() -> Option<CudaAccelerator> {
    let gpu = CudaAccelerator::new(0, Ledger::counting());
    match gpu.and_then(|gpu| Torch::new(gpu.clone().into()).map(|_| gpu)) {
        Ok(gpu) => Some(gpu),
        Err(error @ AcceleratorError::Unavailable { .. }) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Without dropout, whose random numbers are others on a GPU.
fn without_dropout() -> Settings {
    Settings { dropout: 0.0, epochs: 5, fanouts: vec![Fanout::Count(5), Fanout::Count(3)], ..settings() }
}

fn losses(history: &[Record]) -> Vec<f64> {
    history.iter().map(|record| record.loss).collect()
}

#[test]
fn losses_are_those_of_the_processor() {
    let _alone = alone();
    let Some(gpu) = gpu() else { return };
    let expected = losses(&World::new().train(&model(), &without_dropout(), None).unwrap().history);
    let found = losses(&World::on(gpu).train(&model(), &without_dropout(), None).unwrap().history);
    eprintln!("losses on the processor {expected:?}, on the GPU {found:?}");
    // Sums have another order there.
    assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() <= 1e-3 * expected));
}

#[test]
fn two_runs_are_the_same_bit_for_bit() {
    let _alone = alone();
    let Some(gpu) = gpu() else { return };
    let world = World::on(gpu);
    let [one, other] = [0; 2].map(|_| world.train(&model(), &settings(), None).unwrap());
    assert_eq!(losses(&one.history), losses(&other.history));
}

#[test]
fn nothing_but_losses_comes_to_the_host() {
    let _alone = alone();
    if let Some(gpu) = gpu() {
        check_crossings(&World::on(gpu), "pull through the card's BAR");
    }
}

#[test]
fn a_loss_that_is_not_finite_is_located() {
    let _alone = alone();
    if let Some(gpu) = gpu() {
        check_loss_is_located(&World::on(gpu));
    }
}

#[test]
fn what_trained_is_told() {
    let _alone = alone();
    let Some(gpu) = gpu() else { return };
    let properties = gpu.properties().unwrap();
    let free = gpu.free_memory().unwrap().unwrap();
    assert!(properties.driver.as_ref().unwrap().contains("CUDA ") && !properties.name.is_empty(), "{properties:?}");
    assert!((1..=properties.memory.unwrap()).contains(&free), "{free} of {properties:?}");
}
