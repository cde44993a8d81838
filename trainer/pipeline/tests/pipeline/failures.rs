//! Whatever fails reaches the consumer with its cause, and nobody waits for ever.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use hw::{DeviceError, SamplerDevice, Slr};
use pipeline::{PipelineError, Probe, Sink, SinkError, Stopping, accelerator::Accelerator, choose, probe};
use sim::model::{ModelOptions, SoftwareModel};
use strum::VariantArray;

use super::{
    host, options, pipeline as new_pipeline,
    scripted::{Behaviour, CAPACITY, Scripted, request},
    simulated,
};

/// Consumes until something fails.
fn failure_of(script: impl Fn(Slr, u64) -> Behaviour + Send + Sync + 'static) -> PipelineError {
    let device = Scripted::new(script);
    let pipeline = new_pipeline(&device, &host(), &options(2, Sink::InPlace)).unwrap();
    pipeline.start(10, Arc::new(request)).unwrap();
    loop {
        match pipeline.acquire() {
            Ok(item) => {
                let item = item.expect("it fails before the end");
                pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
                pipeline.release(item.slot, item.generation, &()).unwrap();
            }
            Err(error) => {
                // It stays so.
                assert_eq!(pipeline.acquire().unwrap_err(), error);
                assert_eq!(pipeline.finish().unwrap_err(), error);
                assert_eq!(pipeline.start(1, Arc::new(request)).unwrap_err(), error);
                return error;
            }
        }
    }
}

#[test]
fn a_failed_run_is_named() {
    let [_, slr, _] = Slr::ALL;
    let cause = DeviceError::Timeout { slr, limit: Duration::from_secs(1), detail: None };
    let source = cause.clone();
    let error = failure_of(move |slr, run| match (slr.index(), run) {
        (1, 4) => Behaviour::Fail(cause.clone()),
        _ => Behaviour::Write(1, 1),
    });
    assert_eq!(error, PipelineError::Run { iteration: 4, slr, minibatch: 13, source });
    assert_eq!(error.to_string(), "iteration 4, SLR1, mini-batch 13: SLR1 was not done after 1s");
}

#[test]
fn a_report_of_more_than_fits_breaks_the_protocol() {
    let error = failure_of(|_, _| Behaviour::Write(CAPACITY.nodes, CAPACITY.edges + 1));
    let sentence = "it reports 18 rows, more than the 17 that it was given room for";
    assert!(error.to_string().ends_with(sentence), "{error}");
}

#[test]
fn a_panic_of_a_producer_is_a_failure() {
    let error =
        failure_of(|slr, run| if (slr.index(), run) == (2, 1) { Behaviour::Panic } else { Behaviour::Write(1, 1) });
    let [.., slr] = Slr::ALL;
    assert_eq!(error, PipelineError::Panic { slr, message: "as the script says".to_owned() });
}

#[test]
fn a_failure_overtakes_what_is_ready() {
    let (told, fail) = mpsc::channel::<()>();
    let fail = std::sync::Mutex::new(fail);
    let device = Scripted::new(move |slr, run| {
        if (slr.index(), run) == (0, 1) {
            fail.lock().unwrap().recv().unwrap();
            return Behaviour::Fail(DeviceError::NoGraph);
        }
        Behaviour::Write(1, 1)
    });
    let pipeline = new_pipeline(&device, &host(), &options(2, Sink::InPlace)).unwrap();
    pipeline.start(3, Arc::new(request)).unwrap();
    // The first iteration is there; the second never will be.
    let item = pipeline.acquire().unwrap().unwrap();
    told.send(()).unwrap();
    let error = pipeline.acquire().unwrap_err();
    assert!(matches!(error, PipelineError::Run { iteration: 1, source: DeviceError::NoGraph, .. }), "{error}");
    // What the consumer has it still may finish with.
    pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
    pipeline.release(item.slot, item.generation, &()).unwrap();
}

#[test]
fn stopping_wakes_who_waits() {
    let device = Scripted::new(|_, run| if run < 2 { Behaviour::Write(1, 1) } else { Behaviour::Hang });
    let options = options(2, Sink::InPlace);
    let pipeline = new_pipeline(&device, &host(), &options).unwrap();
    pipeline.start(100, Arc::new(request)).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            while pipeline.acquire().map(|item| item.unwrap()).is_ok_and(|item| {
                pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
                pipeline.release(item.slot, item.generation, &()).is_ok()
            }) {}
            assert!(matches!(pipeline.acquire(), Err(PipelineError::Stopped { released: 1..=2 })));
        });
        while device.runs(Slr::ALL[0]) < 3 {
            thread::yield_now();
        }
        assert_eq!(options.transport.stop.stop(), Stopping::Told);
        assert_eq!(options.transport.stop.stop(), Stopping::Again);
    });
    // The hanging runs end with it.
    drop(pipeline);
    // A pipeline that would be made later is not.
    let late = new_pipeline(&device, &host(), &options).err().unwrap();
    assert_eq!(late, PipelineError::Stopped { released: 0 });
    assert_eq!(pipeline::Stop::default().stop(), Stopping::Early);
    let over = super::options(2, Sink::InPlace);
    drop(new_pipeline(&device, &host(), &over).unwrap());
    assert_eq!(over.transport.stop.stop(), Stopping::Over);
}

#[test]
fn a_run_in_flight_ends_with_the_pipeline_and_a_finished_one_harms_nothing() {
    let device = Arc::new(SoftwareModel::new(ModelOptions::default()).unwrap());
    let graph = Arc::new(golden::CscGraph::new(vec![0, 0], vec![]).unwrap());
    device.load_graph(&graph, &golden::Silent).unwrap();
    let request = |_, _| {
        let seeds = vec![golden::NodeId::new(0)];
        Some(golden::Request { seed: 0, minibatch: 0, seeds, fanouts: vec![golden::Fanout::All] })
    };
    for _ in 0..3 {
        let pipeline = new_pipeline(&device, &host(), &options(2, Sink::InPlace)).unwrap();
        pipeline.start(2, Arc::new(request)).unwrap();
        while let Some(item) = pipeline.acquire().unwrap() {
            pipeline.begin_consume(item.slot, item.generation, &()).unwrap();
            pipeline.release(item.slot, item.generation, &()).unwrap();
        }
        pipeline.finish().unwrap();
    }
}

#[test]
fn the_way_is_chosen_and_refused_with_reasons() {
    let device = Scripted::writing(1, 1);
    let sinks = |probes: &[Probe]| probes.iter().filter(|p| p.usable.is_ok()).map(|p| p.sink).collect::<Vec<_>>();
    let on_host = probe(&*device, &*host());
    assert_eq!(sinks(&on_host), [Sink::InPlace, Sink::Bar, Sink::Staged]);
    assert_eq!(choose(&on_host, None).unwrap().0, Sink::InPlace);
    let on_accelerator = probe(&*device, &*simulated(0));
    assert_eq!(sinks(&on_accelerator), [Sink::DmaBuf, Sink::Bar, Sink::Staged]);
    let (sink, why) = choose(&on_accelerator, None).unwrap();
    assert_eq!(sink, Sink::DmaBuf);
    assert!(why.contains("not 'in-place', as the consumer does not read host memory"), "{why}");
    let (sink, why) = choose(&on_accelerator, Some(Sink::Staged)).unwrap();
    assert_eq!((sink, why.ends_with("asked for")), (Sink::Staged, true));
    let refused = choose(&on_accelerator, Some(Sink::InPlace)).unwrap_err();
    assert!(refused.to_string().starts_with("sink 'in-place' is not possible here: the consumer"), "{refused}");
    let none: Vec<_> =
        Sink::VARIANTS.iter().map(|&sink| Probe { sink, usable: Err(format!("{sink} is broken")) }).collect();
    let SinkError::None { reasons } = choose(&none, None).unwrap_err() else { panic!() };
    assert_eq!(reasons.matches("is broken").count(), 4);
}

#[test]
fn buffers_that_a_device_cannot_write_are_refused() {
    struct Far(Arc<Scripted>, hw::Capabilities);
    impl SamplerDevice for Far {
        fn capabilities(&self) -> &hw::Capabilities {
            &self.1
        }
        fn load_graph(&self, g: &Arc<golden::CscGraph>, p: &dyn golden::Progress) -> Result<(), DeviceError> {
            self.0.load_graph(g, p)
        }
        fn bind_outputs(&self, _: Slr, _: hw::Slot, outputs: hw::OutputBuffers) -> Result<(), DeviceError> {
            let space = outputs.get(golden::Buffer::Rows).space();
            Err(DeviceError::OutputSpace { backend: "far", space, possible: vec![] })
        }
        fn start(&self, slr: Slr, slot: hw::Slot, request: &golden::Request) -> Result<(), DeviceError> {
            self.0.start(slr, slot, request)
        }
        fn wait(&self, slr: Slr, deadline: hw::Deadline) -> Result<hw::RunReport, DeviceError> {
            self.0.wait(slr, deadline)
        }
        fn cancel(&self, slr: Slr) {
            self.0.cancel(slr);
        }
    }
    let scripted = Scripted::writing(1, 1);
    // It claims to write anything, and then refuses.
    let far = Arc::new(Far(Arc::clone(&scripted), scripted.capabilities().clone()));
    let error = new_pipeline(&far, &simulated(0), &options(2, Sink::DmaBuf)).err().unwrap();
    assert!(matches!(error, PipelineError::Device(DeviceError::OutputSpace { .. })), "{error}");
    // It has no memory behind a BAR either.
    let error = new_pipeline(&far, &simulated(0), &options(2, Sink::Bar)).err().unwrap();
    assert!(error.to_string().contains("the card's memory behind its BAR"), "{error}");
    // One that says what it cannot is not even asked.
    let mut capabilities = scripted.capabilities().clone();
    capabilities.output_spaces.clear();
    let error = new_pipeline(&Arc::new(Far(scripted, capabilities)), &simulated(0), &options(2, Sink::Bar));
    let error = error.err().unwrap().to_string();
    assert!(error.starts_with("sink 'bar' is not possible here: back end 'scripted' cannot write"), "{error}");
}

#[test]
fn a_failed_transfer_is_named() {
    let accelerator = simulated(9);
    let device = Scripted::writing(1, 1);
    let pipeline = new_pipeline(&device, &accelerator, &options(2, Sink::Staged)).unwrap();
    pipeline.start(8, Arc::new(request)).unwrap();
    let item = pipeline.acquire().unwrap().unwrap();
    // Whatever went wrong on the accelerator, the producers and the consumer learn of it.
    let [one, two] = ["one", "two"].map(|label| accelerator.stream(label.into()).unwrap());
    let shared = accelerator.allocate("shared".into(), 1).unwrap();
    accelerator.fill(&one, "first", &shared, 1, 1).unwrap();
    accelerator.fill(&two, "second", &shared, 1, 2).unwrap_err();
    let _ = pipeline.begin_consume(item.slot, item.generation, &one);
    let _ = pipeline.release(item.slot, item.generation, &one);
    let error = pipeline.acquire().unwrap_err();
    assert!(error.to_string().contains("race on shared: stream 'one' writes it (first)"), "{error}");
}
