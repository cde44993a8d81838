//! What goes through, in which order, and what the consumer may not do.

use std::sync::Arc;

use golden::Buffer;
use hw::{SLRS, Slot, Slr};
use pipeline::{Generation, PipelineError, Sink, SlotError, accelerator::Accelerator, timeline::Timeline};

use super::{
    host, options, pipeline,
    scripted::{Behaviour, Scripted, element, request},
    simulated,
};

/// Everything arrives where it belongs, whatever the slots, and in order.
fn everything_arrives<A: Accelerator>(accelerator: &Arc<A>, slots: usize, sink: Sink) {
    let device = Scripted::new(|slr, run| Behaviour::Write(1 + slr.index(), (run % 7) as usize));
    let pipeline = pipeline(&device, accelerator, &options(slots, sink)).unwrap();
    let stream = accelerator.stream("test".into()).unwrap();
    // A second start goes on with the generations.
    for (first, iterations) in [(0, 17), (17, 4)] {
        pipeline.start(iterations, Arc::new(request)).unwrap();
        for iteration in 0..iterations {
            let item = pipeline.acquire().unwrap().expect("it was asked for");
            let generation = first + iteration;
            assert_eq!((item.iteration, item.generation), (iteration, Generation(generation)));
            assert_eq!(item.slot, Slot((generation % slots as u64) as u32));
            assert_eq!(item.rotation, iteration % 3);
            pipeline.begin_consume(item.slot, item.generation, &stream).unwrap();
            for (slr, filled) in Slr::ALL.into_iter().zip(&item.slrs) {
                let filled = filled.as_ref().unwrap();
                let (nodes, edges) = (1 + slr.index(), (generation % 7) as usize);
                assert_eq!(filled.minibatch, iteration * 3 + slr.index() as u64);
                assert_eq!(filled.counts, [nodes, edges, edges, edges]);
                assert_eq!(filled.report.hops.edges, [edges as u32]);
                for (buffer, len) in Buffer::ALL.into_iter().zip(filled.counts) {
                    let view = pipeline.view(item.slot, slr, buffer);
                    let found = accelerator.download(&stream, "test", view, len).unwrap();
                    let expected: Vec<_> = (0..len).map(|i| element(filled.minibatch, buffer, i)).collect();
                    assert_eq!(found, expected, "{slr} {buffer:?}");
                }
            }
            pipeline.release(item.slot, item.generation, &stream).unwrap();
        }
        assert!(pipeline.acquire().unwrap().is_none());
        let totals = pipeline.finish().unwrap();
        assert_eq!(totals.iterations, iterations);
        assert!(totals.overlap().is_some());
    }
    assert_eq!(Slr::ALL.map(|slr| device.runs(slr)), [21; SLRS]);
}

#[test]
fn everything_arrives_in_host_memory() {
    for slots in [2, 3, 4, 7] {
        everything_arrives(&host(), slots, Sink::InPlace);
        everything_arrives(&host(), slots, Sink::Staged);
    }
}

#[test]
fn everything_arrives_in_accelerator_memory() {
    for (seed, slots) in [(1, 2), (2, 3), (3, 4)] {
        for sink in [Sink::DmaBuf, Sink::Bar, Sink::Staged] {
            everything_arrives(&simulated(seed), slots, sink);
        }
    }
}

#[test]
fn an_slr_may_be_left_out_of_an_iteration() {
    let device = Scripted::writing(2, 2);
    let pipeline = pipeline(&device, &host(), &options(2, Sink::InPlace)).unwrap();
    // As in the last iteration of an epoch: 4 mini-batches in two iterations.
    pipeline.start(2, Arc::new(|g, slr| request(g, slr).filter(|request| request.minibatch < 4))).unwrap();
    let mut sampled = vec![];
    while let Some(item) = pipeline.acquire().unwrap() {
        pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
        pipeline.release(item.slot, item.generation, &()).unwrap();
        sampled.push(item.slrs.map(|filled| filled.map(|filled| filled.minibatch)));
    }
    assert_eq!(sampled, [[Some(0), Some(1), Some(2)], [Some(3), None, None]]);
    assert_eq!(Slr::ALL.map(|slr| device.runs(slr)), [2, 1, 1]);
}

#[test]
fn several_iterations_may_be_held_and_are_released_in_order() {
    let device = Scripted::writing(1, 1);
    let pipeline = pipeline(&device, &host(), &options(3, Sink::InPlace)).unwrap();
    pipeline.start(5, Arc::new(request)).unwrap();
    let held: Vec<_> = (0..3).map(|_| pipeline.acquire().unwrap().unwrap()).collect();
    for item in &held {
        pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
    }
    let [first, second, _] = &held[..] else { unreachable!() };
    let slot_error = |result: Result<(), PipelineError>| match result {
        Err(PipelineError::Slot(error)) => error,
        other => panic!("{other:?}"),
    };
    let (slot, generation) = (second.slot, second.generation);
    let oldest = first.generation;
    let order = SlotError::OutOfOrder { slot, generation, oldest };
    assert_eq!(slot_error(pipeline.release(slot, generation, &())), order);
    let wrong = Generation(9);
    let not = SlotError::NotAcquired { slot, generation: wrong, acquired: Some(generation) };
    assert_eq!(slot_error(pipeline.release(slot, wrong, &())), not);
    assert_eq!(slot_error(pipeline.begin_consume(slot, wrong, &())), not);
    let twice = SlotError::BegunTwice { slot, generation };
    assert_eq!(slot_error(pipeline.begin_consume(slot, generation, &())), twice);
    let none = SlotError::NoSuchSlot { slot: Slot(3), slots: 3 };
    assert_eq!(slot_error(pipeline.begin_consume(Slot(3), generation, &())), none);

    // Nothing of that did any harm.
    assert_eq!(pipeline.finish(), Err(PipelineError::Unfinished { left: 5 }));
    assert_eq!(pipeline.start(1, Arc::new(request)), Err(PipelineError::Running { left: 5 }));
    for item in &held {
        pipeline.release(item.slot, item.generation, &()).unwrap();
    }
    let twice = SlotError::ReleasedTwice { slot, generation };
    assert_eq!(slot_error(pipeline.release(slot, generation, &())), twice);
    while let Some(item) = pipeline.acquire().unwrap() {
        pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
        pipeline.release(item.slot, item.generation, &()).unwrap();
    }
    assert_eq!(pipeline.finish().unwrap().iterations, 5);
}

#[test]
fn a_timeline_has_every_stage() {
    let accelerator = simulated(4);
    let timeline = Timeline::recording();
    let mut options = options(2, Sink::Staged);
    options.transport.timeline = timeline.clone();
    options.poison = true;
    let pipeline = pipeline(&Scripted::writing(3, 3), &accelerator, &options).unwrap();
    let stream = accelerator.stream("test".into()).unwrap();
    pipeline.start(4, Arc::new(request)).unwrap();
    while let Some(item) = pipeline.acquire().unwrap() {
        pipeline.begin_consume(item.slot, item.generation, &stream).unwrap();
        pipeline.release(item.slot, item.generation, &stream).unwrap();
    }
    pipeline.finish().unwrap();
    let mut trace = vec![];
    timeline.write("test", &mut trace).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    // One of each for every SLR and iteration; the consumer waits once more, for the end.
    assert_eq!(["sample", "transfer", "poison", "consume", "wait for data"].map(count), [12, 12, 12, 4, 5]);
    let tracks: Vec<_> =
        events.iter().filter(|event| event["name"] == "thread_name").map(|event| &event["args"]["name"]).collect();
    assert_eq!(tracks.len(), 8, "{tracks:?}");
    for event in events.iter().filter(|event| event["ph"] == "X") {
        assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0, "{event}");
    }
}
