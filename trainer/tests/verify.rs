//! The verifier on a model that is right, and on one that is not.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Progress, Request, SampleError, Silent};
use hw::{
    Capabilities, Deadline, DeviceError, HostMemory, OutputBuffers, OutputMemory, RunReport, SamplerDevice, Slot, Slr,
};
use sim::model::{ModelOptions, SoftwareModel};
use trainer::{
    batches::Batches,
    verify::{self, Difference, Located, POISON, Plan, VerifyError},
};

/// What a faulty device does after its run number `at`, counted from 0 over all SLRs in the order of waits.
type Fault = fn(&OutputBuffers, &mut RunReport);

/// A model that is right but for one run.
struct Faulty {
    model: SoftwareModel,
    outputs: Mutex<Vec<OutputBuffers>>,
    runs: AtomicU64,
    at: u64,
    fault: Fault,
}

impl Faulty {
    fn new(at: u64, fault: Fault) -> Self {
        let model = SoftwareModel::new(ModelOptions::default()).unwrap();
        Self { model, outputs: Mutex::default(), runs: AtomicU64::new(0), at, fault }
    }
}

impl SamplerDevice for Faulty {
    fn capabilities(&self) -> &Capabilities {
        self.model.capabilities()
    }

    fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError> {
        self.model.load_graph(graph, progress)
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        self.outputs.lock().unwrap().push(outputs.clone());
        self.model.bind_outputs(slr, slot, outputs)
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        self.model.start(slr, slot, request)
    }

    fn wait(&self, slr: Slr, deadline: Deadline) -> Result<RunReport, DeviceError> {
        let mut report = self.model.wait(slr, deadline)?;
        if self.runs.fetch_add(1, Relaxed) == self.at {
            (self.fault)(&self.outputs.lock().unwrap()[slr.index()], &mut report);
        }
        Ok(report)
    }
}

fn memory(outputs: &OutputBuffers, buffer: Buffer) -> &HostMemory {
    match outputs.get(buffer) {
        OutputMemory::Host(memory) => memory,
        other => panic!("in {}", other.space()),
    }
}

/// In-neighbours of each node: the next 7, modulo 100.
fn ring() -> Arc<CscGraph> {
    let indices = (0..100).flat_map(|v| (1..=7).map(move |i| NodeId::new((v + i) % 100))).collect();
    Arc::new(CscGraph::new((0..=100).map(|v| v * 7).collect(), indices).unwrap())
}

fn plan(iterations: u64) -> Plan {
    let fanouts = vec![Fanout::Count(3), Fanout::Count(4)];
    let capacity = Capacity::worst_case(&ring(), 10, &fanouts);
    let batches = Batches::shuffled((0..100).map(NodeId::new), 10, 1);
    Plan { batches, fanouts, seed: 1, iterations, capacity, timeout: None }
}

fn difference(at: u64, fault: Fault) -> Located {
    let report = verify::run(&Faulty::new(at, fault), &ring(), &plan(10), &Silent).unwrap();
    assert!(!report.equal());
    assert!(report.verdict().starts_with("DIFFERENT"), "{report}");
    report.difference.unwrap()
}

#[test]
fn a_right_device_is_equal() {
    let device = SoftwareModel::new(ModelOptions::default()).unwrap();
    let report = verify::run(&device, &ring(), &plan(4), &Silent).unwrap();
    assert!(report.equal());
    assert_eq!(report.iterations, 4);
    assert_eq!(report.slrs.iter().map(|slr| slr.minibatches).collect::<Vec<_>>(), [4, 4, 4]);
    assert_eq!(report.slrs[0].ports.iter().map(|port| port.port).next(), Some("offs"));
    // Every SLR has had mini-batches 0, 1, 2 and its first once more.
    assert_eq!(report.reference.minibatches, 3);
    assert!(report.verdict().starts_with("EQUAL"), "{report}");
}

#[test]
fn a_wrong_element_is_found_where_it_is() {
    let found = difference(17, |outputs, _| memory(outputs, Buffer::Rows).store(2, 1_000_000));
    // Run 17 is the last of iteration 5: SLR 2 with mini-batch (2 + 5) mod 3.
    assert_eq!((found.iteration, found.slr, found.minibatch), (5, 2, 1));
    match found.difference {
        Difference::Element { buffer: "rows", index: 2, found: 1_000_000, hop: 1, local: 0, .. } => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_transfer_that_did_nothing_is_found() {
    let found = difference(10, |outputs, report| {
        // As if nothing had been written: what was there before the run is there still.
        for index in 0..report.hops.total_edges() {
            memory(outputs, Buffer::Edges).store(index, POISON);
        }
    });
    assert_eq!((found.iteration, found.slr, found.minibatch), (3, 1, 1));
    assert!(matches!(found.difference, Difference::Element { buffer: "edges", index: 0, found: POISON, .. }));
    assert!(found.difference.to_string().contains("never written"));
}

#[test]
fn a_wrong_count_is_found() {
    let found = difference(0, |_, report| report.hops.edges[1] += 1);
    assert!(matches!(found.difference, Difference::Count { what: "edges", hop: 2, .. }), "{found:?}");
}

#[test]
fn what_does_not_fit_or_is_refused_has_no_verdict() {
    let device = SoftwareModel::new(ModelOptions::default()).unwrap();
    let mut small = plan(1);
    small.capacity.edges = 5;
    let error = verify::run(&device, &ring(), &small, &Silent).unwrap_err();
    assert!(matches!(error, VerifyError::Reference { minibatch: 0, source: SampleError::Overflow { .. } }), "{error}");

    let mut wide = plan(1);
    wide.fanouts = vec![Fanout::Count(1025)];
    let error = verify::run(&device, &ring(), &wide, &Silent).unwrap_err();
    assert!(error.to_string().contains("the software model takes 0 to 1024"), "{error}");
}

#[test]
fn a_run_that_fails_is_named() {
    struct Failing(SoftwareModel);
    impl SamplerDevice for Failing {
        fn capabilities(&self) -> &Capabilities {
            self.0.capabilities()
        }
        fn load_graph(&self, graph: &Arc<CscGraph>, progress: &dyn Progress) -> Result<(), DeviceError> {
            self.0.load_graph(graph, progress)
        }
        fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
            self.0.bind_outputs(slr, slot, outputs)
        }
        fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
            self.0.start(slr, slot, request)
        }
        fn wait(&self, slr: Slr, _: Deadline) -> Result<RunReport, DeviceError> {
            Err(DeviceError::Idle { slr })
        }
    }
    let device = Failing(SoftwareModel::new(ModelOptions::default()).unwrap());
    let error = verify::run(&device, &ring(), &plan(1), &Silent).unwrap_err();
    assert_eq!(error.to_string(), "iteration 0, SLR0, mini-batch 0: SLR0 is idle: no run was started");
}
