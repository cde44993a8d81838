//! libtorch's work on an accelerator's streams: what holds for every accelerator, and which races are seen.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hw::Slr;
use learn::torch::{Lent, Torch, TorchAccelerator};
use pipeline::{
    accelerator::{Accelerator, AcceleratorError, HostAccelerator, SimulatedAccelerator, SimulatedOptions},
    ledger::{Launch, Ledger},
};
use tch::Kind;

/// Makes each check a test on each accelerator.
macro_rules! on_every_accelerator {
    ($($check:ident)*) => {
        mod host {
            $(#[test] fn $check() {
                super::$check(super::HostAccelerator::new(super::Ledger::counting()));
            })*
        }
        mod simulated {
            $(#[test] fn $check() {
                for seed in 0..3 {
                    super::$check(super::simulated(seed));
                }
            })*
        }
        #[cfg(feature = "cuda")]
        mod cuda {
            $(#[test] fn $check() {
                if let Some(gpu) = crate::gpu::gpu() {
                    super::$check(gpu);
                }
            })*
        }
    };
}

on_every_accelerator! {
    what_libtorch_computes_is_work_of_the_stream
    what_is_too_long_is_refused_and_not_counted
    a_panic_ends_what_it_happens_in_alone
}

fn simulated(seed: u64) -> SimulatedAccelerator {
    SimulatedAccelerator::new(SimulatedOptions { seed, ..SimulatedOptions::default() }, Ledger::counting())
}

/// What was written before it is read, and what is written after it is not; between two streams an event orders it.
fn what_libtorch_computes_is_work_of_the_stream<A: TorchAccelerator>(accelerator: A) {
    const LEN: usize = 100_000;
    let torch = Torch::new(accelerator.into()).unwrap();
    let accelerator = torch.accelerator();
    let [ids, sums] = ["ids", "sums"].map(|label| accelerator.allocate(label.to_owned(), LEN).unwrap());
    let other = accelerator.stream("other".to_owned()).unwrap();
    accelerator.fill(&other, "fill", &ids, LEN, 7).unwrap();
    accelerator.wait(torch.stream(), &accelerator.record(&other).unwrap()).unwrap();
    let mut own = torch
        .compute("add", [Lent::Read(&ids, LEN), Lent::Written(&sums, LEN, Kind::Int)], |[ids, mut sums]| {
            assert_eq!((ids.device(), ids.size()), (torch.device(), vec![LEN as i64]));
            sums.copy_(&(&ids + 5));
            ids.to_kind(Kind::Float)
        })
        .unwrap();
    accelerator.fill(torch.stream(), "fill", &ids, LEN, 1).unwrap();
    assert_eq!(accelerator.download(torch.stream(), "down", &sums, LEN).unwrap(), vec![12; LEN]);
    // A tensor of libtorch's own goes from one piece of work to the next.
    torch
        .compute("more", [Lent::Written(&sums, LEN, Kind::Float)], |[mut sums]| {
            own *= 0.5;
            sums.copy_(&own);
        })
        .unwrap();
    let bits = accelerator.download(torch.stream(), "down", &sums, LEN).unwrap();
    assert!(bits.iter().all(|bits| bits.cast_unsigned() == 3.5_f32.to_bits()));
    let launches = accelerator.ledger().tally().unwrap().launches;
    let add = Launch { site: "add", count: 1, elements: 2 * LEN as u64 };
    assert!(launches.contains(&add), "{launches:?}");
    accelerator.check().unwrap();
}

fn what_is_too_long_is_refused_and_not_counted<A: TorchAccelerator>(accelerator: A) {
    let torch = Torch::new(accelerator.into()).unwrap();
    let accelerator = torch.accelerator();
    let buffer = accelerator.allocate("four".to_owned(), 4).unwrap();
    let lent = [Lent::Written(&buffer, 4, Kind::Int), Lent::Read(&buffer, 5)];
    let error = torch.compute("too much", lent, |_| panic!("it is not called")).unwrap_err();
    assert!(matches!(&error, AcceleratorError::Length { wanted: 5, len: 4, .. }), "{error}");
    assert_eq!(accelerator.ledger().tally().unwrap().launches, []);
    torch.compute("nothing", [Lent::Read(&buffer, 0)], |[none]| assert_eq!(none.size(), [0])).unwrap();
}

fn a_panic_ends_what_it_happens_in_alone<A: TorchAccelerator>(accelerator: A) {
    let torch = Torch::new(accelerator.into()).unwrap();
    let accelerator = torch.accelerator();
    let buffer = accelerator.allocate("four".to_owned(), 4).unwrap();
    let panics = || torch.compute("bad", [Lent::Read(&buffer, 4)], |_| panic!("this is part of the test"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    accelerator.fill(torch.stream(), "fill", &buffer, 4, 3).unwrap();
    assert_eq!(accelerator.download(torch.stream(), "down", &buffer, 4).unwrap(), [3; 4]);
}

#[test]
fn work_that_nothing_orders_is_a_race() {
    let torch = Torch::new(simulated(1).into()).unwrap();
    let accelerator = torch.accelerator();
    let buffer = accelerator.allocate("rows of slot 0".to_owned(), 4).unwrap();
    let read = || torch.compute("training", [Lent::Read(&buffer, 4)], |[rows]| rows.numel());
    assert_eq!(read().unwrap(), 4);
    // That libtorch's call has returned does not mean that its work is done.
    let error = accelerator.card_begins(Slr::ALL[1], std::slice::from_ref(&buffer)).unwrap_err().to_string();
    assert_eq!(
        error,
        "race on rows of slot 0: stream 'training' reads it (training) may not be done when the card's SLR1 writes it \
         (sampling); no event or wait orders them"
    );
    // What is refused is not called, and its stream goes on.
    let refused = torch.compute("more", [Lent::Read(&buffer, 4)], |_| panic!("it is not called")).unwrap_err();
    assert!(matches!(refused, AcceleratorError::Race(_)), "{refused}");
}

#[test]
fn work_after_the_end_of_a_stream_is_known_is_no_race() {
    let torch = Torch::new(simulated(2).into()).unwrap();
    let accelerator = torch.accelerator();
    let buffer = accelerator.allocate("losses".to_owned(), 4).unwrap();
    torch.compute("training", [Lent::Written(&buffer, 4, Kind::Float)], |[mut losses]| _ = losses.fill_(1.0)).unwrap();
    accelerator.synchronize(torch.stream()).unwrap();
    accelerator.card_begins(Slr::ALL[0], std::slice::from_ref(&buffer)).unwrap();
}
