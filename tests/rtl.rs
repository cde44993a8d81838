//! What the RTL alone must do: every memory, every number of channels, its own hash table, errors of the bus, and that mistakes
//! in it do not stay hidden.

use std::{collections::BTreeMap, fs, sync::Arc};

use golden::{Buffer, Capacity, Fanout, NodeId, Silent};
use hw::{
    BusAccess, Deadline, DeviceError, OutputBuffers, SamplerDevice, Slot, Slr,
    card::{LINE_BYTES, Port},
};
use sim::rtl::{Fault, FaultAt, Place, Profile, Response, RtlOptions};
use strum::VariantArray;
use tests::{Bench, cora, model, random_multigraph, request, rtl, rtl_options, star};

fn with_parameter(name: &str, value: u64) -> RtlOptions {
    RtlOptions { parameters: BTreeMap::from([(name.to_owned(), value)]), ..rtl_options() }
}

#[test]
fn every_memory_profile_gives_the_same_result() {
    let graph = cora();
    let request = request(42, 3, 0..1024, &[10, 10]);
    let mut cycles = vec![];
    for &memory in Profile::VARIANTS {
        let device = rtl(&RtlOptions { memory, stall_seed: 5, ..rtl_options() });
        let bench = Bench::new(&device, &graph);
        // Equal to the reference, so equal to each other.
        let report = bench.check(Slr::ALL[0], &request).unwrap_or_else(|why| panic!("{memory:?}: {why}"));
        cycles.push(report.cycles.unwrap());
    }
    assert!(cycles.iter().any(|&c| c != cycles[0]), "the profiles do not differ: {cycles:?}");
}

#[test]
fn stalls_change_cycles_and_nothing_else() {
    let graph = random_multigraph(400, 8000, 2);
    let request = request(1, 1, 0..200, &[6, 6]);
    let mut all = vec![];
    for stall_seed in 0..4 {
        let device = rtl(&RtlOptions { memory: Profile::Hostile, stall_seed, ..rtl_options() });
        all.push(Bench::new(&device, &graph).check(Slr::ALL[1], &request).unwrap());
    }
    assert!(all.windows(2).all(|w| (&w[0].hops, &w[0].ports) == (&w[1].hops, &w[1].ports)));
    assert!(all.windows(2).any(|w| w[0].cycles != w[1].cycles), "the stall seed has no effect");
}

#[test]
fn every_number_of_index_channels() {
    let graph = random_multigraph(500, 10_000, 3);
    for channels in [1, 2, 4, 8] {
        let device = rtl(&RtlOptions { channels, ..rtl_options() });
        let report = Bench::new(&device, &graph).check(Slr::ALL[2], &request(1, 1, 0..100, &[-1, 4])).unwrap();
        let index_ports = report.ports.iter().filter(|port| port.port.starts_with("idx")).count();
        assert_eq!(index_ports, channels);
        assert!(report.ports.iter().all(|port| port.reads + port.writes > 0), "{:?}", report.ports);
    }
}

/// Registers on the way to another SLR cost latency and nothing else.
#[test]
fn every_number_of_registers_at_the_slr_border() {
    let graph = random_multigraph(500, 10_000, 3);
    let request = request(1, 1, 0..100, &[-1, 4]);
    let reports = [0, 2, 6].map(|stages| {
        let device =
            rtl(&RtlOptions { memory: Profile::Hostile, stall_seed: 8, ..with_parameter("SLR_STAGES", stages) });
        Bench::new(&device, &graph).check(Slr::ALL[2], &request).unwrap_or_else(|why| panic!("{stages} stages: {why}"))
    });
    assert!(reports.windows(2).all(|w| (&w[0].hops, &w[0].ports) == (&w[1].hops, &w[1].ports)));
}

#[test]
fn stages_account_for_every_cycle() {
    let device = rtl(&rtl_options());
    let report = Bench::new(&device, &cora()).check(Slr::ALL[0], &request(1, 1, 0..500, &[10, 10])).unwrap();
    for stage in &report.stages {
        assert_eq!(stage.busy + stage.starved + stage.blocked, report.cycles.unwrap(), "{stage:?}");
        assert!(stage.busy > 0, "{stage:?}");
    }
}

/// Lemire's rare path, in which a word is refused and the next one taken: a hub of a million neighbours, and mini-batches of
/// which the reference says that they take it.
#[test]
fn a_refused_word_is_replaced_by_the_next() {
    let (leaves, fanout) = (1_500_007, 32);
    let graph = star(leaves);
    let refused = |minibatch: &u64| {
        let mut words = golden::Words::new(1, *minibatch);
        words.seek(golden::LocalId::new(0));
        let mut taken = 0;
        for j in leaves - fanout..leaves {
            golden::draw(j + 1, || {
                taken += 1;
                words.next_word()
            });
        }
        taken > fanout
    };
    let minibatches: Vec<u64> = (0..20_000).filter(refused).take(8).collect();
    assert_eq!(minibatches.len(), 8, "the reference takes the rare path");
    let device = rtl(&rtl_options());
    let bench = Bench::new(&device, &graph);
    for minibatch in minibatches {
        bench.check(Slr::ALL[0], &request(1, minibatch, [0], &[fanout.cast_signed()])).unwrap();
    }
}

#[test]
fn a_full_hash_table_is_an_error_of_its_own() {
    let device = rtl(&RtlOptions { table_log2: 8, ..rtl_options() });
    let graph = random_multigraph(600, 20_000, 4);
    let bench = Bench::new(&device, &graph);
    let outcome = bench.run(Slr::ALL[0], &request(1, 1, 0..100, &[-1]), Capacity { nodes: 600, edges: 20_000 });
    let Err(DeviceError::TableFull { slots: 256, hop: 1, node, emitted }) = outcome.result else {
        panic!("{:?}", outcome.result)
    };
    assert!(emitted.total_nodes() <= 256 && node.index() < 100);
    // What was emitted before is the reference's.
    let expected = golden::sample(&graph, &request(1, 1, 0..100, &[-1]), Capacity::UNBOUNDED).unwrap();
    for buffer in Buffer::ALL {
        let valid = emitted.len_of(buffer);
        assert_eq!(outcome.buffers[buffer as usize][..valid], expected.buffer(buffer)[..valid], "{}", buffer.name());
    }
    // And the next mini-batch finds an empty table.
    bench.check(Slr::ALL[0], &request(1, 2, 0..50, &[1])).unwrap();
}

/// With epochs of two bits the table is cleared after every third run.
#[test]
fn epochs_that_run_out_clear_the_table() {
    let device = rtl(&RtlOptions { table_log2: 8, ..with_parameter("EPOCH_WIDTH", 2) });
    let graph = random_multigraph(200, 2000, 5);
    let bench = Bench::new(&device, &graph);
    for minibatch in 0..10 {
        bench.check(Slr::ALL[0], &request(1, minibatch, 0..40, &[3, 3])).unwrap();
    }
}

#[test]
fn an_error_response_is_reported_with_its_address() {
    let graph = random_multigraph(300, 3000, 6);
    let request = request(1, 1, 0..64, &[4, 4]);
    let cases = [
        (Port::Offs, BusAccess::Read, Response::SlvErr),
        (Port::Idx(2), BusAccess::Read, Response::DecErr),
        (Port::Mem, BusAccess::Read, Response::SlvErr),
        (Port::Mem, BusAccess::Write, Response::SlvErr),
        (Port::Out, BusAccess::Write, Response::DecErr),
    ];
    for (port, access, response) in cases {
        for memory in [Profile::Ideal, Profile::Hostile] {
            let faults = vec![Fault { port, access, at: FaultAt::Burst(2), response }];
            let device = rtl(&RtlOptions { faults, memory, stall_seed: 3, ..rtl_options() });
            let bench = Bench::new(&device, &graph);
            match bench.run(Slr::ALL[0], &request, Capacity { nodes: 300, edges: 3000 }).result {
                Err(DeviceError::Bus { access: found, port: name, address, response: text }) => {
                    assert_eq!((found, name, text), (access, port.name(), response.name()), "{port:?} {access}");
                    assert!(address % LINE_BYTES as u64 == 0 && address > 0, "{port:?} {access}: {address:#x}");
                }
                other => panic!("{port:?} {access} {response:?}: {other:?}"),
            }
            // The error was the memory's; the kernel is as good as before.
            bench.check(Slr::ALL[0], &request).unwrap();
        }
    }
}

#[test]
fn a_status_block_that_cannot_be_written_is_an_error() {
    let faults = vec![Fault {
        port: Port::Mem,
        access: BusAccess::Write,
        at: FaultAt::Line(Place::Status, 0),
        response: Response::SlvErr,
    }];
    let device = rtl(&RtlOptions { faults, ..rtl_options() });
    let graph = random_multigraph(50, 100, 7);
    let outcome =
        Bench::new(&device, &graph).run(Slr::ALL[0], &request(1, 1, [0], &[1]), Capacity { nodes: 50, edges: 50 });
    assert!(outcome.result.is_err(), "{outcome:?}");
}

/// One wrong parameter makes another sampler; verify says so, and where.
#[test]
fn verify_catches_a_broken_kernel() {
    let graph = cora();
    let plan = pipeline::verify::Plan {
        batches: pipeline::batches::Batches::shuffled((0..graph.nodes()).map(NodeId::from_index), 256, 1),
        fanouts: vec![Fanout::Count(3), Fanout::Count(3)],
        seed: 1,
        iterations: 3,
        capacity: Capacity { nodes: graph.nodes(), edges: graph.edges() },
        timeout: None,
        transport: pipeline::Transport::default(),
    };
    let verify = |device: Arc<dyn SamplerDevice>| {
        let host = Arc::new(pipeline::accelerator::HostAccelerator::default());
        pipeline::verify::run(&device, &host, &graph, &plan, &Silent).unwrap_or_else(|e| panic!("{e}")).difference
    };
    assert!(verify(Arc::new(rtl(&rtl_options()))).is_none());
    assert!(verify(Arc::new(model())).is_none());
    let broken = verify(Arc::new(rtl(&with_parameter("CHACHA_ROUNDS", 12)))).expect("12 rounds are not 8");
    assert_eq!(broken.iteration, 0);
}

#[test]
fn a_failed_assertion_is_an_error() {
    let options = rtl_options();
    let path = verilator_sys::build::compile(&options.model_spec().unwrap(), &|line| eprintln!("{line}")).unwrap();
    let library = verilator_sys::ModelLibrary::load(&path).unwrap();
    let mut model = verilator_sys::Model::new(&library, options.fill).unwrap();
    for _ in 0..4 {
        model.clock().unwrap();
    }
    model.pins_mut().control.rst_n = 1;
    for _ in 0..4 {
        model.clock().unwrap();
    }
    // An answer that nobody has asked for.
    let port = &mut model.pins_mut().read[0];
    (port.rvalid, port.rlast) = (1, 1);
    let error = (0..10).find_map(|_| model.clock().err()).expect("the assertion fails").to_string();
    assert!(error.contains("AnswerExpected"), "{error}");
}

#[test]
fn waves_are_written_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let options = RtlOptions { waves: Some(folder.path().join("run.fst")), ..rtl_options() };
    let device = rtl(&options);
    let graph = random_multigraph(50, 200, 8);
    Bench::new(&device, &graph).check(Slr::ALL[1], &request(1, 1, 0..5, &[2])).unwrap();
    drop(device);
    let waves = fs::read(folder.path().join("run.slr1.fst")).unwrap();
    assert!(waves.len() > 1000, "{} bytes", waves.len());
}

/// An output buffer's neighbour in memory is never written: capacities that are not a multiple of a line, and nothing past them.
#[test]
fn a_line_that_is_not_full_is_written_only_as_far_as_it_goes() {
    let device = rtl(&rtl_options());
    let graph = Arc::new(golden::CscGraph::new(vec![0, 3, 3, 3, 3], [1, 2, 3].map(NodeId::new).to_vec()).unwrap());
    let bench = Bench::new(&device, &graph);
    let exact = Capacity { nodes: 4, edges: 3 };
    bench.check_within(Slr::ALL[0], &request(1, 1, [0], &[-1]), exact).unwrap().unwrap();
    let outputs = OutputBuffers::host(Capacity { nodes: 1, edges: 1 });
    device.bind_outputs(Slr::ALL[0], Slot(9), outputs).unwrap();
    device.start(Slr::ALL[0], Slot(9), &request(1, 1, [3], &[-1])).unwrap();
    assert_eq!(device.wait(Slr::ALL[0], Deadline::never()).unwrap().hops.nodes, [1, 0]);
}
