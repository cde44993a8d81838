//! A consumer that does not keep to the protocol is told so, whatever the delays.

use std::sync::Arc;

use golden::Buffer;
use hw::Slr;
use pipeline::{
    Item, Pipeline, PipelineError, Sink,
    accelerator::{Accelerator, AcceleratorError, SimulatedAccelerator},
    ledger::Direction,
};

use super::{
    options, pipeline,
    scripted::{Scripted, request},
    simulated,
};

type Misuse = fn(&Pipeline<SimulatedAccelerator>, &Item) -> Result<(), PipelineError>;

/// What is reported when a consumer does `misuse` with every iteration; `None` if nothing is.
fn race(seed: u64, sink: Sink, misuse: Misuse) -> Option<String> {
    let accelerator = simulated(seed);
    let pipeline = pipeline(&Scripted::writing(3, 3), &accelerator, &options(2, sink)).unwrap();
    pipeline.start(6, Arc::new(request)).unwrap();
    let outcome = loop {
        match pipeline.acquire().and_then(|item| item.map(|item| misuse(&pipeline, &item)).transpose()) {
            Ok(Some(())) => {}
            Ok(None) => break pipeline.finish().map(|_| ()),
            Err(error) => break Err(error),
        }
    };
    match outcome {
        Ok(()) => None,
        Err(
            PipelineError::Accelerator(AcceleratorError::Race(race))
            | PipelineError::Transfer { source: AcceleratorError::Race(race), .. },
        ) => Some(race.to_string()),
        Err(other) => panic!("{other}"),
    }
}

const ROWS: Buffer = Buffer::Rows;

fn touch(
    pipeline: &Pipeline<SimulatedAccelerator>,
    item: &Item,
    stream: &<SimulatedAccelerator as Accelerator>::Stream,
) -> Result<(), PipelineError> {
    let accelerator = pipeline.accelerator();
    let scratch = accelerator.allocate("scratch".into(), 3)?;
    let view = pipeline.view(item.slot, Slr::ALL[1], ROWS);
    let way = (Direction::Up, "gather");
    Ok(accelerator.copy(stream, way, view, &scratch, 3)?)
}

#[test]
fn the_protocol_has_no_race() {
    for seed in 0..20 {
        for sink in [Sink::DmaBuf, Sink::Staged, Sink::Bar] {
            let good: Misuse = |pipeline, item| {
                let stream = pipeline.accelerator().stream("consumer".into())?;
                pipeline.begin_consume(item.slot, item.generation, &stream)?;
                touch(pipeline, item, &stream)?;
                pipeline.release(item.slot, item.generation, &stream)
            };
            assert_eq!(race(seed, sink, good), None, "seed {seed}");
        }
    }
}

#[test]
fn reading_after_the_release_is_a_race() {
    for seed in 0..20 {
        let late: Misuse = |pipeline, item| {
            let stream = pipeline.accelerator().stream("late".into())?;
            pipeline.begin_consume(item.slot, item.generation, &stream)?;
            pipeline.release(item.slot, item.generation, &stream)?;
            touch(pipeline, item, &stream)
        };
        for sink in [Sink::DmaBuf, Sink::Staged] {
            let race = race(seed, sink, late).expect("a refill may come first");
            assert!(race.contains("rows of slot"), "seed {seed}: {race}");
            assert!(race.contains("stream 'late' reads it (gather)"), "seed {seed}: {race}");
        }
    }
}

#[test]
fn reading_on_a_stream_that_is_not_released_is_a_race() {
    for seed in 0..20 {
        let other: Misuse = |pipeline, item| {
            let accelerator = pipeline.accelerator();
            let [named, other] = ["named", "other"].map(|label| accelerator.stream(label.into()));
            let (named, other) = (named?, other?);
            pipeline.begin_consume(item.slot, item.generation, &named)?;
            touch(pipeline, item, &other)?;
            pipeline.release(item.slot, item.generation, &named)
        };
        let race = race(seed, Sink::DmaBuf, other).expect("nothing orders the refill after it");
        assert!(race.contains("the card's SLR1 writes it (sampling)"), "seed {seed}: {race}");
        // With an event between the two streams it is right.
        let ordered: Misuse = |pipeline, item| {
            let accelerator = pipeline.accelerator();
            let [named, other] = ["named", "other"].map(|label| accelerator.stream(label.into()));
            let (named, other) = (named?, other?);
            pipeline.begin_consume(item.slot, item.generation, &named)?;
            touch(pipeline, item, &other)?;
            accelerator.wait(&named, &accelerator.record(&other)?)?;
            pipeline.release(item.slot, item.generation, &named)
        };
        assert_eq!(self::race(seed, Sink::DmaBuf, ordered), None, "seed {seed}");
    }
}

#[test]
fn reading_a_copy_before_its_event_is_a_race() {
    let accelerator = simulated(3);
    let [copies, reads] = ["copies", "reads"].map(|label| accelerator.stream(label.into()).unwrap());
    let [from, to, scratch] = ["from", "to", "scratch"].map(|label| accelerator.allocate(label.into(), 8).unwrap());
    let copy = |stream, site, from, to| accelerator.copy(stream, (Direction::Up, site), from, to, 8);
    copy(&copies, "copy", &from, &to).unwrap();
    accelerator.wait(&reads, &accelerator.record(&copies).unwrap()).unwrap();
    copy(&reads, "after the event", &to, &scratch).unwrap();
    copy(&copies, "next copy", &from, &to).unwrap_err();
    let race = accelerator.check().unwrap_err().to_string();
    assert_eq!(
        race,
        "race on to: stream 'reads' reads it (after the event) may not be done when stream 'copies' writes it \
         (next copy); no event or wait orders them"
    );
}
