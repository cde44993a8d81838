//! The verifier on a model that is right, and on one that is not.

use std::sync::Arc;

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, SampleError, Silent};
use hw::{DeviceError, SamplerDevice, Slr};
use pipeline::{
    PipelineError, Sink, Transport,
    accelerator::{Accelerator, HostAccelerator, SimulatedAccelerator, SimulatedOptions},
    batches::Batches,
    ledger::Ledger,
    verify,
    verify::{Difference, Located, POISON, Plan, Report, Suspicion, VerifyError},
};
use sim::{
    faulty::{Fault, Faulty, Injection},
    model::{ModelOptions, SoftwareModel},
};

fn model() -> Arc<dyn SamplerDevice> {
    Arc::new(SoftwareModel::new(ModelOptions::default()).unwrap())
}

fn simulated(seed: u64) -> Arc<SimulatedAccelerator> {
    let options = SimulatedOptions { seed, ..SimulatedOptions::default() };
    Arc::new(SimulatedAccelerator::new(options, Ledger::default()))
}

/// In-neighbours of each node: the next 7, modulo 100.
fn ring() -> Arc<CscGraph> {
    let indices = (0..100).flat_map(|v| (1..=7).map(move |i| NodeId::new((v + i) % 100))).collect();
    Arc::new(CscGraph::new((0..=100).map(|v| v * 7).collect(), indices).unwrap())
}

fn plan(iterations: u64, slots: usize) -> Plan {
    let fanouts = vec![Fanout::Count(3), Fanout::Count(4)];
    let capacity = Capacity::worst_case(&ring(), 10, &fanouts);
    let batches = Batches::shuffled((0..100).map(NodeId::new), 10, 1);
    let transport = Transport { slots, ..Transport::default() };
    Plan { batches, fanouts, seed: 1, iterations, capacity, timeout: None, transport }
}

fn verified<A: Accelerator>(device: &Arc<dyn SamplerDevice>, accelerator: &Arc<A>, plan: &Plan) -> Report {
    verify::run(device, accelerator, &ring(), plan, &Silent).unwrap_or_else(|error| panic!("{error}"))
}

/// The difference that a fault makes on SLR1, which is the same with every accelerator, sink and number of slots.
fn difference(run: u64, fault: Fault) -> Located {
    let [_, slr, _] = Slr::ALL;
    let mut found = Vec::new();
    let mut check = |report: Report| {
        assert!(!report.equal());
        assert!(!report.equal(), "{report:?}");
        found.push(report.difference.unwrap());
    };
    for slots in [2, 4] {
        let faulty = || Arc::new(Faulty::new(model(), Injection { fault, slr, run })) as Arc<dyn SamplerDevice>;
        check(verified(&faulty(), &Arc::new(HostAccelerator::default()), &plan(12, slots)));
        for sink in [Sink::DmaBuf, Sink::Bar, Sink::Staged] {
            let mut plan = plan(12, slots);
            plan.transport.sink = Some(sink);
            check(verified(&faulty(), &simulated(run), &plan));
        }
    }
    // What is stale depends on the slots, and on nothing else.
    for pair in found.chunks(4) {
        assert!(pair.iter().all(|other| *other == pair[0]), "{found:#?}");
    }
    found.swap_remove(0)
}

#[test]
fn a_right_device_is_equal_with_any_number_of_slots() {
    for slots in [2, 3, 4] {
        let reports = [
            verified(&model(), &Arc::new(HostAccelerator::default()), &plan(1000, slots)),
            verified(&model(), &simulated(slots as u64), &plan(1000, slots)),
        ];
        for report in reports {
            assert!(report.equal(), "{report:?}");
            assert_eq!(report.iterations, 1000);
            assert_eq!(report.slrs.iter().map(|slr| slr.minibatches).collect::<Vec<_>>(), [1000; 3]);
            assert_eq!(report.slrs[0].ports.iter().map(|port| port.port).next(), Some("offs"));
            // Every SLR takes turns with mini-batches 0, 1 and 2.
            assert_eq!(report.reference.minibatches, 3);
            assert_eq!(report.pipeline.iterations, 1000);
            assert!(report.equal(), "{report:?}");
        }
    }
}

#[test]
fn a_flipped_bit_is_found_where_it_is() {
    let found = difference(5, Fault::FlippedBit { buffer: Buffer::Rows, index: 2, bit: 20 });
    // Iteration 5: SLR1 has mini-batch (1 + 5) mod 3.
    assert_eq!((found.iteration, found.slr, found.minibatch), (5, 1, 0));
    match found.difference {
        Difference::Element {
            buffer: "rows",
            index: 2,
            suspicion: Suspicion::OneBit { bit: 20 },
            hop: 1,
            local: 0,
            ..
        } => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_skipped_write_is_found() {
    for buffer in Buffer::ALL {
        let found = difference(3, Fault::SkippedWrite(buffer));
        assert_eq!((found.iteration, found.slr, found.minibatch), (3, 1, 1));
        match found.difference {
            Difference::Element {
                buffer: name, index: 0, found: POISON, suspicion: Suspicion::NeverWritten, ..
            } => {
                assert_eq!(name, buffer.name());
            }
            other => panic!("{other:?}"),
        }
        assert!(found.difference.to_string().contains("never written"));
    }
}

#[test]
fn a_stale_slot_is_found() {
    let found = difference(7, Fault::StaleSlot);
    assert_eq!((found.iteration, found.slr, found.minibatch), (7, 1, 2));
    let sentence = found.difference.to_string();
    assert!(sentence.contains("(stale: iteration 5 has left it there)"), "{sentence}");
}

#[test]
fn a_short_count_is_found() {
    let found = difference(0, Fault::ShortCount);
    assert_eq!((found.iteration, found.slr, found.minibatch), (0, 1, 1));
    assert!(matches!(found.difference, Difference::Count { what: "edges", hop: 2, .. }), "{found:?}");
}

#[test]
fn what_does_not_fit_or_is_refused_has_no_verdict() {
    let host = Arc::new(HostAccelerator::default());
    let mut small = plan(1, 2);
    small.capacity.edges = 5;
    let error = verify::run(&model(), &host, &ring(), &small, &Silent).unwrap_err();
    assert!(matches!(error, VerifyError::Reference { minibatch: 0, source: SampleError::Overflow { .. } }), "{error}");

    let mut wide = plan(1, 2);
    wide.fanouts = vec![Fanout::Count(1025)];
    let error = verify::run(&model(), &host, &ring(), &wide, &Silent).unwrap_err();
    assert!(error.to_string().contains("the software model takes 0 to 1024"), "{error}");

    let mut elsewhere = plan(1, 2);
    elsewhere.transport.sink = Some(Sink::DmaBuf);
    let error = verify::run(&model(), &host, &ring(), &elsewhere, &Silent).unwrap_err();
    assert_eq!(error.to_string(), "sink 'dma-buf' is not possible here: the consumer reads host memory");
}

#[test]
fn a_run_that_fails_is_named_and_a_difference_before_it_comes_first() {
    let device = model();
    // Poisons SLR0 from here on: nothing can be sampled on it any more.
    device.load_graph(&ring(), &Silent).unwrap();
    let [slr, ..] = Slr::ALL;
    device.bind_outputs(slr, hw::Slot(0), hw::OutputBuffers::host(plan(1, 2).capacity)).unwrap();
    let request =
        golden::Request { seed: 1, minibatch: 0, seeds: plan(1, 2).batches.get(0), fanouts: plan(1, 2).fanouts };
    device.start(slr, hw::Slot(0), &request).unwrap();
    device.cancel(slr);
    let error = verify::run(&device, &Arc::new(HostAccelerator::default()), &ring(), &plan(3, 2), &Silent).unwrap_err();
    assert!(
        matches!(
            error,
            VerifyError::Device(DeviceError::Poisoned { .. }) | VerifyError::Pipeline(PipelineError::Run { .. })
        ),
        "{error}"
    );
    assert!(error.to_string().contains("SLR0 cannot be used any more after an earlier error"), "{error}");
}
