//! The exact set of crossings of an iteration.

use std::sync::Arc;

use golden::{Capacity, CscGraph, Fanout, NodeId, Silent};
use hw::SamplerDevice;
use pipeline::{
    Sink, Transport,
    accelerator::{Accelerator, Comparison},
    batches::Batches,
    ledger::{Crossing, Direction, Ledger, Tally},
    verify,
    verify::Plan,
};
use sim::model::{ModelOptions, SoftwareModel};

use super::{
    host, options, pipeline,
    scripted::{Scripted, request},
    simulated,
};

/// Checks that a tally has these crossings and no others: direction, site and how often.
fn exact(tally: &Tally, expected: &[(Direction, &str, u64)]) -> Result<(), String> {
    let mut found: Vec<_> =
        tally.crossings.iter().map(|&Crossing { direction, site, count, .. }| (direction, site, count)).collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

/// What a sink moves in an iteration: every buffer of every SLR.
fn moved(sink: Sink, iterations: u64) -> Vec<(Direction, &'static str, u64)> {
    let n = 12 * iterations;
    match sink {
        Sink::InPlace | Sink::DmaBuf => vec![(Direction::P2p, "the card writes in place", n)],
        Sink::Bar => vec![(Direction::P2p, "pull through the card's BAR", n)],
        Sink::Staged => {
            vec![(Direction::Down, "the card writes the host region", n), (Direction::Up, "copy of the host region", n)]
        }
    }
}

/// The one upload of what to compare with, before the loop, and the one download, after it.
const AROUND: [(Direction, &str, u64); 2] = [(Direction::Up, "reference", 12), (Direction::Down, "verdict", 1)];

fn verified<A: Accelerator>(accelerator: &Arc<A>, iterations: u64, sink: Sink) -> Tally {
    let indices = (0..100).flat_map(|v| (1..=7).map(move |i| NodeId::new((v + i) % 100))).collect();
    let graph = Arc::new(CscGraph::new((0..=100).map(|v| v * 7).collect(), indices).unwrap());
    let fanouts = vec![Fanout::Count(3), Fanout::Count(4)];
    let plan = Plan {
        capacity: Capacity::worst_case(&graph, 10, &fanouts),
        batches: Batches::shuffled((0..100).map(NodeId::new), 10, 1),
        fanouts,
        seed: 1,
        iterations,
        timeout: None,
        transport: Transport { sink: Some(sink), ..Transport::default() },
    };
    let device: Arc<dyn SamplerDevice> = Arc::new(SoftwareModel::new(ModelOptions::default()).unwrap());
    let report = verify::run(&device, accelerator, &graph, &plan, &Silent).unwrap();
    assert!(report.equal());
    report.transfers.expect("it was counted")
}

fn with<'a>(
    mut moved: Vec<(Direction, &'a str, u64)>,
    more: &[(Direction, &'a str, u64)],
) -> Vec<(Direction, &'a str, u64)> {
    moved.extend_from_slice(more);
    moved
}

#[test]
fn verification_moves_what_the_card_writes_and_one_verdict() {
    for iterations in [1, 2, 9] {
        for sink in [Sink::InPlace, Sink::Staged] {
            let expected = with(moved(sink, iterations), &AROUND);
            exact(&verified(&host(), iterations, sink), &expected).unwrap_or_else(|e| panic!("{sink}: {e}"));
        }
        for sink in [Sink::DmaBuf, Sink::Bar, Sink::Staged] {
            let expected = with(moved(sink, iterations), &AROUND);
            exact(&verified(&simulated(1), iterations, sink), &expected).unwrap_or_else(|e| panic!("{sink}: {e}"));
        }
    }
}

#[test]
fn every_byte_that_the_card_writes_is_counted_once() {
    let accelerator = simulated(2);
    let pipeline = pipeline(&Scripted::writing(5, 7), &accelerator, &options(2, Sink::DmaBuf)).unwrap();
    let stream = accelerator.stream("test".into()).unwrap();
    pipeline.start(4, Arc::new(request)).unwrap();
    while let Some(item) = pipeline.acquire().unwrap() {
        pipeline.begin_consume(item.slot, item.generation, &stream).unwrap();
        pipeline.release(item.slot, item.generation, &stream).unwrap();
    }
    pipeline.finish().unwrap();
    let tally = accelerator.ledger().tally().unwrap();
    assert_eq!(tally.total(Direction::P2p), (48, 4 * 3 * 4 * (5 + 3 * 7)));
    assert_eq!(tally.launches, []);
}

/// A test of the tests above: one copy too many in the loop, of one element, and they fail.
#[test]
fn one_copy_too_many_is_seen() {
    let tally = |extra: bool| {
        let accelerator = host();
        let pipeline = pipeline(&Scripted::writing(5, 7), &accelerator, &options(2, Sink::InPlace)).unwrap();
        pipeline.start(6, Arc::new(request)).unwrap();
        while let Some(item) = pipeline.acquire().unwrap() {
            pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
            if extra && item.iteration == 3 {
                let view = pipeline.view(item.slot, hw::Slr::ALL[0], golden::Buffer::Samples);
                accelerator.download(&(), "a look at the first node", view, 1).unwrap();
            }
            pipeline.release(item.slot, item.generation, &()).unwrap();
        }
        pipeline.finish().unwrap();
        accelerator.ledger().tally().unwrap()
    };
    exact(&tally(false), &moved(Sink::InPlace, 6)).unwrap();
    let error = exact(&tally(true), &moved(Sink::InPlace, 6)).unwrap_err();
    assert!(error.contains("(Down, \"a look at the first node\", 1)"), "{error}");
}

#[test]
fn work_on_the_accelerator_is_counted_by_its_size() {
    let tally = verified(&simulated(5), 3, Sink::DmaBuf);
    let launches: Vec<_> = tally.launches.iter().map(|launch| (launch.site, launch.count)).collect();
    assert_eq!(launches, [("compare", 36), ("poison", 36), ("clear the verdict", 1)]);
    let ledger = Ledger::counting();
    let accelerator = pipeline::accelerator::HostAccelerator::new(ledger.clone());
    let [a, b, verdict] = [3, 3, 4].map(|len| accelerator.allocate(String::new(), len).unwrap());
    let work = Comparison { found: &a, expected: &b, len: 3, verdict: &verdict, record: 0, iteration: 0 };
    accelerator.compare(&(), "compare", &work).unwrap();
    assert_eq!(ledger.tally().unwrap().launches[0].elements, 3);
}
