//! The whole pipeline under random schedules of all its threads (`just model-check`).
//!
//! A failure prints the schedule; `shuttle::replay` in place of `check_random` repeats it. A hang is found as a deadlock.
#![cfg(shuttle)]

#[path = "pipeline/scripted.rs"]
mod scripted;

use std::{sync::Arc, time::Duration};

use golden::Buffer;
use hw::{DeviceError, SamplerDevice, Slr};
use pipeline::{
    Pipeline, PipelineError, PipelineOptions, Sink, Transport,
    accelerator::{Accelerator, HostAccelerator, SimulatedAccelerator, SimulatedOptions},
    ledger::Ledger,
};
use shuttle::thread;

use scripted::{Behaviour, CAPACITY, Scripted, element, request};

/// Schedules of each check.
const SCHEDULES: usize = 2000;

fn simulated() -> Arc<SimulatedAccelerator> {
    let options = SimulatedOptions { seed: 1, delay: Duration::ZERO };
    Arc::new(SimulatedAccelerator::new(options, Ledger::default()))
}

fn options(slots: usize, sink: Sink) -> PipelineOptions {
    let transport = Transport { slots, sink: Some(sink), ..Transport::default() };
    PipelineOptions { transport, capacity: CAPACITY, timeout: None, poison: true }
}

fn pipeline<A: Accelerator>(device: &Arc<Scripted>, accelerator: &Arc<A>, options: &PipelineOptions) -> Pipeline<A> {
    Pipeline::new(Arc::clone(device) as Arc<dyn SamplerDevice>, Arc::clone(accelerator), options).unwrap()
}

/// Consumes up to `most` iterations, and looks at what they hold.
fn consume<A: Accelerator>(pipeline: &Pipeline<A>, stream: &A::Stream, most: u64) -> Result<u64, PipelineError> {
    let mut consumed = 0;
    while consumed < most {
        let Some(item) = pipeline.acquire()? else { break };
        pipeline.begin_consume(item.slot, item.generation, stream)?;
        for (slr, filled) in Slr::ALL.into_iter().zip(&item.slrs) {
            let filled = filled.as_ref().expect("every SLR is asked");
            let view = pipeline.view(item.slot, slr, Buffer::Edges);
            let found = pipeline.accelerator().download(stream, "test", view, filled.counts[3])?;
            let expected: Vec<_> = (0..found.len()).map(|i| element(filled.minibatch, Buffer::Edges, i)).collect();
            assert_eq!(found, expected, "iteration {}, {slr}", item.iteration);
        }
        pipeline.release(item.slot, item.generation, stream)?;
        consumed += 1;
    }
    Ok(consumed)
}

fn everything_arrives<A: Accelerator>(accelerator: &Arc<A>, sink: Sink) {
    let device = Scripted::writing(2, 3);
    let pipeline = pipeline(&device, accelerator, &options(2, sink));
    let stream = accelerator.stream("test".into()).unwrap();
    pipeline.start(4, Arc::new(request)).unwrap();
    assert_eq!(consume(&pipeline, &stream, 9).unwrap(), 4);
    assert_eq!(pipeline.finish().unwrap().iterations, 4);
}

#[test]
fn everything_arrives_under_any_schedule() {
    shuttle::check_random(|| everything_arrives(&Arc::new(HostAccelerator::default()), Sink::InPlace), SCHEDULES);
    for sink in [Sink::DmaBuf, Sink::Staged] {
        shuttle::check_random(move || everything_arrives(&simulated(), sink), SCHEDULES / 2);
    }
}

#[test]
fn a_pipeline_may_be_dropped_at_any_moment() {
    for most in 0..3 {
        let dropped = move || {
            let (device, accelerator) = (Scripted::writing(1, 2), simulated());
            let pipeline = pipeline(&device, &accelerator, &options(2, Sink::Staged));
            let stream = accelerator.stream("test".into()).unwrap();
            pipeline.start(10, Arc::new(request)).unwrap();
            assert_eq!(consume(&pipeline, &stream, most).unwrap(), most);
            let held = pipeline.acquire().unwrap();
            drop(pipeline);
            drop(held);
        };
        shuttle::check_random(dropped, SCHEDULES / 4);
    }
}

#[test]
fn a_run_that_hangs_ends_with_the_pipeline() {
    let hanging = || {
        let device = Scripted::new(|slr, run| match (slr.index(), run) {
            (1, 1) => Behaviour::Hang,
            _ => Behaviour::Write(1, 1),
        });
        let accelerator = Arc::new(HostAccelerator::default());
        let pipeline = pipeline(&device, &accelerator, &options(2, Sink::InPlace));
        pipeline.start(10, Arc::new(request)).unwrap();
        assert_eq!(consume(&pipeline, &(), 1).unwrap(), 1);
        drop(pipeline);
    };
    shuttle::check_random(hanging, SCHEDULES);
}

#[test]
fn a_failure_reaches_the_consumer_under_any_schedule() {
    let failing = || {
        let device = Scripted::new(|slr, run| match (slr.index(), run) {
            (2, 1) => Behaviour::Fail(DeviceError::NoGraph),
            _ => Behaviour::Write(1, 1),
        });
        let accelerator = simulated();
        let pipeline = pipeline(&device, &accelerator, &options(3, Sink::DmaBuf));
        let stream = accelerator.stream("test".into()).unwrap();
        pipeline.start(10, Arc::new(request)).unwrap();
        let error = consume(&pipeline, &stream, 10).unwrap_err();
        assert!(matches!(error, PipelineError::Run { iteration: 1, source: DeviceError::NoGraph, .. }), "{error}");
    };
    shuttle::check_random(failing, SCHEDULES);
}

#[test]
fn stopping_ends_whoever_waits() {
    let stopping = || {
        let device = Scripted::new(|_, run| if run < 1 { Behaviour::Write(1, 1) } else { Behaviour::Hang });
        let accelerator = Arc::new(HostAccelerator::default());
        let options = options(2, Sink::InPlace);
        let pipeline = pipeline(&device, &accelerator, &options);
        pipeline.start(10, Arc::new(request)).unwrap();
        let stopper = thread::spawn({
            let stop = options.transport.stop.clone();
            move || stop.stop()
        });
        let error = consume(&pipeline, &(), 10).unwrap_err();
        assert!(matches!(error, PipelineError::Stopped { .. }), "{error}");
        stopper.join().unwrap();
    };
    shuttle::check_random(stopping, SCHEDULES);
}
