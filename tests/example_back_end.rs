//! A back end in a hundred lines: what it takes to be one. It samples with the reference, on the thread that starts a run.
//!
//! To have it as `--backend example`, give it a module with its options in `trainer/cli/src/backends/`, and its name in
//! `back_ends!` there.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use golden::{Buffer, CscGraph, NodeId, Progress, Request, SampleError, Silent};
use hw::{Capabilities, Deadline, DeviceError, MemorySpace, OutputBuffers, RunReport, SLRS, SamplerDevice, Slot, Slr};
use pipeline::{
    Transport,
    accelerator::HostAccelerator,
    batches::Batches,
    verify::{self, Plan},
};
use tests::{Bench, cora, request};

struct Example {
    capabilities: Capabilities,
    graph: Mutex<Option<Arc<CscGraph>>>,
    slrs: [Mutex<State>; SLRS],
}

/// What one SLR has.
#[derive(Default)]
struct State {
    slots: HashMap<Slot, OutputBuffers>,
    over: VecDeque<Result<RunReport, DeviceError>>,
}

impl Example {
    fn new() -> Self {
        let capabilities = Capabilities {
            backend: "example",
            limits: golden::LIMITS,
            queue_depth: 2,
            features: vec![],
            output_spaces: vec![MemorySpace::Host],
        };
        Self { capabilities, graph: Mutex::default(), slrs: Default::default() }
    }
}

/// Samples, and writes the sub-graph to the buffers.
fn run(graph: &CscGraph, request: &Request, outputs: &OutputBuffers) -> Result<RunReport, DeviceError> {
    let begin = Instant::now();
    let (sub, overflow) = match golden::sample(graph, request, outputs.capacity()) {
        Ok(sub) => (sub, None),
        Err(SampleError::Request(error)) => return Err(error.into()),
        Err(SampleError::Overflow { overflow, emitted }) => (*emitted, Some(overflow)),
    };
    for buffer in Buffer::ALL {
        let memory = outputs.get(buffer).elements().expect("host memory is the only kind that was offered");
        memory.write(0, sub.buffer(buffer));
    }
    let hops = sub.hops;
    overflow.map_or(Ok(()), |overflow| Err(DeviceError::Overflow { overflow, emitted: hops.clone() }))?;
    Ok(RunReport { hops, elapsed: begin.elapsed(), cycles: None, ports: vec![], stages: vec![] })
}

impl SamplerDevice for Example {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn load_graph(&self, graph: &Arc<CscGraph>, _: &dyn Progress) -> Result<(), DeviceError> {
        *self.graph.lock().unwrap() = Some(Arc::clone(graph));
        Ok(())
    }

    fn bind_outputs(&self, slr: Slr, slot: Slot, outputs: OutputBuffers) -> Result<(), DeviceError> {
        self.slrs[slr.index()].lock().unwrap().slots.insert(slot, outputs);
        Ok(())
    }

    fn start(&self, slr: Slr, slot: Slot, request: &Request) -> Result<(), DeviceError> {
        let graph = self.graph.lock().unwrap().clone().ok_or(DeviceError::NoGraph)?;
        let mut state = self.slrs[slr.index()].lock().unwrap();
        let outputs = state.slots.get(&slot).ok_or(DeviceError::NotBound { slr, slot })?;
        let result = run(&graph, request, outputs);
        state.over.push_back(result);
        Ok(())
    }

    fn wait(&self, slr: Slr, _: Deadline) -> Result<RunReport, DeviceError> {
        self.slrs[slr.index()].lock().unwrap().over.pop_front().ok_or(DeviceError::Idle { slr })?
    }

    fn cancel(&self, _: Slr) {}
}

#[test]
fn it_is_equal_to_the_reference_and_fills_slots() {
    let device: Arc<dyn SamplerDevice> = Arc::new(Example::new());
    Bench::new(&*device, &cora()).check(Slr::ALL[1], &request(1, 2, 0..500, &[10, 5, -1])).unwrap();
    let graph = cora();
    let batches = Batches::shuffled((0..graph.nodes()).map(NodeId::from_index), 256, 1);
    let fanouts = request(0, 0, [], &[10, 10]).fanouts;
    let capacity = golden::Capacity::worst_case(&graph, 256, &fanouts);
    let (transport, timeout) = (Transport::default(), Some(Duration::from_secs(600)));
    let plan = Plan { batches, fanouts, seed: 1, iterations: 6, capacity, timeout, transport };
    let report = verify::run(&device, &Arc::new(HostAccelerator::default()), &graph, &plan, &Silent).unwrap();
    assert!(report.equal(), "{report:?}");
    assert_eq!(report.slrs.each_ref().map(|slr| slr.minibatches), [6; SLRS]);
}
