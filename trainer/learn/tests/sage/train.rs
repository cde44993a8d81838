//! Training: what it moves, that it learns, that the back end does not matter, and how it ends before its time.
#![allow(unreachable_pub, reason = "shared by several modules of a test program")]

use std::sync::Arc;

use golden::Fanout;
use hw::SamplerDevice;
use learn::{
    torch::TorchAccelerator,
    train::{Settings, TrainError},
};
use pipeline::{
    accelerator::{SimulatedAccelerator, SimulatedOptions},
    ledger::{Crossing, Direction, Ledger},
};
use sim::rtl::{RtlDevice, RtlOptions};

use super::world::{TRAIN, World, alone, model, settings};

#[test]
fn it_learns() {
    let _alone = alone();
    let settings = Settings { epochs: 60, fanouts: vec![Fanout::All], eval_every: 20, ..settings() };
    let done = World::new().train(&model(), &settings, None).unwrap();
    assert_eq!(done.history.len(), 60);
    assert_eq!(done.history.iter().filter(|record| record.accuracy.is_some()).count(), 3);
    assert!(done.history[59].loss < done.history[0].loss / 2.0, "{:?}", done.history);
    // One in three is right by chance.
    assert!(done.best.accuracy.unwrap().test.unwrap() > 0.7, "{:?}", done.best);
}

#[test]
fn the_back_end_does_not_matter() {
    let _alone = alone();
    let world = World::new();
    let options = RtlOptions::default();
    let rtl: Arc<dyn SamplerDevice> = Arc::new(RtlDevice::new(&options, &|line| eprintln!("{line}")).unwrap());
    let [modelled, simulated] = [model(), rtl].map(|device| world.train(&device, &settings(), None).unwrap());
    assert_eq!(modelled.history, simulated.history);
    assert_eq!(modelled.model.snapshot().unwrap(), simulated.model.snapshot().unwrap());
    assert_eq!(modelled.performance.whole.edges, simulated.performance.whole.edges);
    assert_eq!(modelled.performance.whole.minibatches, 10);
    let other = world.train(&model(), &Settings { seed: 12, ..settings() }, None).unwrap();
    assert_ne!(modelled.history, other.history);
}

/// A simulated accelerator, whose memory and streams are watched.
fn simulated(seed: u64) -> SimulatedAccelerator {
    SimulatedAccelerator::new(SimulatedOptions { seed, ..SimulatedOptions::default() }, Ledger::counting())
}

#[test]
fn the_order_of_a_stream_is_all_that_training_needs() {
    let _alone = alone();
    let settings = Settings { epochs: 3, ..settings() };
    let expected = World::new().train(&model(), &settings, None).unwrap();
    for seed in 0..3 {
        let found = World::on(simulated(seed)).train(&model(), &settings, None).unwrap();
        assert_eq!(found.history, expected.history, "seed {seed}");
        assert_eq!(found.model.snapshot().unwrap(), expected.model.snapshot().unwrap(), "seed {seed}");
    }
}

#[test]
fn the_card_writes_and_losses_come_down_once_an_epoch() {
    let _alone = alone();
    let in_place = "the card writes in place";
    check_crossings(&World::new(), in_place);
    check_crossings(&World::on(simulated(5)), in_place);
}

/// Checks that a run has these crossings of the bus and no others, with this way from the card.
pub fn check_crossings<A: TorchAccelerator>(world: &World<A>, way: &'static str) {
    let (epochs, evaluations) = (4, 2);
    let done = world.train(&model(), &Settings { epochs, eval_every: 2, ..settings() }, None).unwrap();
    let tally = done.performance.whole.transfers.unwrap();
    let crossing = |crossing: &Crossing<String>| (crossing.direction, crossing.site.clone(), crossing.count);
    let mut found: Vec<_> = tally.crossings.iter().map(crossing).collect();
    found.sort_unstable();
    // An iteration with three mini-batches, and one with two: four buffers each.
    let mut expected = [
        (Direction::P2p, way, (12 + 8) * epochs),
        (Direction::Down, "losses", epochs),
        (Direction::Down, "accuracy", evaluations),
        (Direction::Up, "features", 1),
        (Direction::Up, "labels", 1),
        (Direction::Up, "nodes to evaluate", 2),
        // Three of each layer; and of each layer's edges, sources and where those of a node begin.
        (Direction::Up, "first parameters", 2 * 3),
        (Direction::Up, "indices of the whole graph", evaluations * 2 * 2),
    ];
    expected.sort_unstable();
    assert_eq!(found, expected.map(|(direction, site, count)| (direction, site.to_owned(), count)));
    let losses = tally.crossings.iter().find(|crossing| crossing.site == "losses").unwrap();
    assert_eq!(losses.bytes, epochs * 6 * 4);
}

#[test]
fn a_loss_that_is_not_finite_is_located() {
    let _alone = alone();
    check_loss_is_located(&World::new());
    check_loss_is_located(&World::on(simulated(6)));
}

/// Checks what is said of a loss that is not finite.
pub fn check_loss_is_located<A: TorchAccelerator>(world: &World<A>) {
    let error = world.train(&model(), &Settings { lr: 1e30, ..settings() }, None).unwrap_err().to_string();
    // The first mini-batch is computed with the first weights; its step is what spoils them.
    let (loss, rest) = error.strip_prefix("the loss is ").unwrap().split_once(' ').unwrap();
    assert!(["NaN", "inf"].contains(&loss), "{error}");
    assert_eq!(rest, "in epoch 1, iteration 0, SLR1; a smaller learning rate may help");
}

/// The loss of the only step was computed with the first weights; what it has made of them is seen when they are used.
#[test]
fn parameters_that_are_not_finite_are_no_result() {
    let _alone = alone();
    let world = World::new();
    let settings = Settings { lr: 1e300, batch_size: TRAIN, epochs: 1, ..settings() };
    let error = world.train(&model(), &settings, None).unwrap_err();
    assert!(matches!(error, TrainError::Parameters { elements: 1.. }), "{error}");
}

#[test]
fn what_a_card_does_not_take_is_refused_before_anything_is_sampled() {
    let _alone = alone();
    let world = World::new();
    let refused = |settings: Settings| world.train(&model(), &settings, None).unwrap_err().to_string();
    let error = refused(Settings { layers: 9, fanouts: vec![Fanout::Count(2)], ..settings() });
    assert!(error.contains("hops") || error.contains("fan-outs"), "{error}");
    let error = refused(Settings { layers: usize::MAX, fanouts: vec![Fanout::Count(2)], ..settings() });
    assert!(error.starts_with("18446744073709551615 hops are asked for; "), "{error}");
    let error = refused(Settings { hidden: 0, ..settings() });
    assert_eq!(error, "hidden: must be at least 1");
    for hidden in [1 << 40, usize::MAX] {
        let error = refused(Settings { hidden, ..settings() });
        assert!(
            error.starts_with(&format!("hidden: with {hidden} columns between layers the model takes ")),
            "{error}"
        );
    }
}
