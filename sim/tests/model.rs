//! The software model against the reference sampler: results, overflows and memory traffic.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use golden::{Buffer, Capacity, CscGraph, Fanout, HopCounts, NodeId, Request, SampleError, Silent, SubGraph};
use hw::{Deadline, DeviceError, Feature, OutputBuffers, OutputMemory, PortTraffic, SamplerDevice, Slot, Slr, card};
use proptest::prelude::*;
use sim::{
    Cancel,
    model::{ModelOptions, Scratch, SoftwareModel, Stop, TimingOptions, sample},
};

const SLOT: Slot = Slot(0);

fn graph(in_edges: &[Vec<u32>]) -> CscGraph {
    let ends = in_edges.iter().scan(0, |end, edges| {
        *end += edges.len() as u32;
        Some(*end)
    });
    let indptr = std::iter::once(0).chain(ends).collect();
    CscGraph::new(indptr, in_edges.iter().flatten().copied().map(NodeId::new).collect()).unwrap()
}

/// Small graphs in which parallel edges, self-loops, isolated nodes and hubs are all likely.
fn graphs() -> impl Strategy<Value = CscGraph> {
    let degree = prop_oneof![3 => 0..4usize, 4 => 0..40usize, 1 => 0..300usize];
    (1..60u32)
        .prop_flat_map(move |nodes| {
            let in_edges = degree.clone().prop_flat_map(move |n| prop::collection::vec(0..nodes, n));
            prop::collection::vec(in_edges, nodes as usize)
        })
        .prop_map(|in_edges| graph(&in_edges))
}

fn fanouts() -> impl Strategy<Value = Vec<Fanout>> {
    let fanout = prop_oneof![
        2 => Just(Fanout::All),
        2 => Just(Fanout::Count(0)),
        1 => Just(Fanout::Count(1)),
        2 => Just(Fanout::Count(32)),
        1 => Just(Fanout::Count(33)),
        1 => Just(Fanout::Count(1024)),
        6 => (1..20u32).prop_map(Fanout::Count),
    ];
    prop::collection::vec(fanout, 1..=4)
}

fn cases() -> impl Strategy<Value = (CscGraph, Request)> {
    (graphs(), fanouts(), any::<u64>(), any::<u64>())
        .prop_flat_map(|(graph, fanouts, seed, minibatch)| {
            let all: Vec<u32> = (0..graph.nodes() as u32).collect();
            let seeds =
                (0..=all.len()).prop_flat_map(move |n| prop::sample::subsequence(all.clone(), n)).prop_shuffle();
            (Just(graph), Just(fanouts), seeds, Just(seed), Just(minibatch))
        })
        .prop_map(|(graph, fanouts, seeds, seed, minibatch)| {
            let seeds = seeds.into_iter().map(NodeId::new).collect();
            (graph, Request { seed, minibatch, seeds, fanouts })
        })
}

fn worst_case(graph: &CscGraph, request: &Request) -> Capacity {
    Capacity::worst_case(graph, request.seeds.len(), &request.fanouts)
}

fn model(graph: &CscGraph, channels: usize) -> SoftwareModel {
    let model = SoftwareModel::new(ModelOptions { channels, ..ModelOptions::default() }).unwrap();
    model.load_graph(&Arc::new(graph.clone()), &Silent).unwrap();
    model
}

/// Binds buffers of this capacity, all -1.
fn bind(model: &SoftwareModel, slr: Slr, slot: Slot, capacity: Capacity) -> OutputBuffers {
    let outputs = OutputBuffers::host(capacity);
    for buffer in Buffer::ALL {
        let OutputMemory::Host(memory) = outputs.get(buffer) else { panic!("not in host memory") };
        memory.fill(-1);
    }
    model.bind_outputs(slr, slot, outputs.clone()).unwrap();
    outputs
}

/// The buffers hold the sub-graph, and nothing was written past it.
fn assert_equal(outputs: &OutputBuffers, hops: &HopCounts, expected: &SubGraph) {
    assert_eq!(hops, &expected.hops);
    for buffer in Buffer::ALL {
        let OutputMemory::Host(memory) = outputs.get(buffer) else { panic!("not in host memory") };
        let mut written = memory.to_vec(0..memory.len());
        let past = written.split_off(expected.buffer(buffer).len());
        assert_eq!(written, expected.buffer(buffer), "{buffer:?}");
        assert!(past.iter().all(|&element| element == -1), "past the end of {buffer:?}");
    }
}

/// Runs on one SLR and compares with the reference, also where the capacity runs out.
fn assert_as_reference(model: &SoftwareModel, slr: Slr, graph: &CscGraph, request: &Request, capacity: Capacity) {
    let outputs = bind(model, slr, SLOT, capacity);
    model.start(slr, SLOT, request).unwrap();
    match (model.wait(slr, Deadline::never()), golden::sample(graph, request, capacity)) {
        (Ok(report), Ok(expected)) => assert_equal(&outputs, &report.hops, &expected),
        (
            Err(DeviceError::Overflow { overflow, emitted }),
            Err(SampleError::Overflow { overflow: expected, emitted: prefix }),
        ) => {
            assert_eq!(overflow, expected);
            assert_equal(&outputs, &emitted, &prefix);
        }
        (ours, reference) => panic!("{ours:?}\nbut the reference: {reference:?}"),
    }
}

/// The sampling loop alone does what the reference does, also where the capacity runs out.
fn assert_loop_as_reference(scratch: &mut Scratch, graph: &CscGraph, request: &Request, capacity: Capacity) {
    match (sample(graph, request, capacity, &Cancel::default(), scratch), golden::sample(graph, request, capacity)) {
        (Ok(sub), Ok(expected)) => assert_eq!(sub, &expected),
        (
            Err(Stop::Overflow { overflow, emitted }),
            Err(SampleError::Overflow { overflow: expected, emitted: prefix }),
        ) => {
            assert_eq!(overflow, expected);
            assert_eq!(emitted, &*prefix);
        }
        (ours, reference) => panic!("{ours:?}\nbut the reference: {reference:?}"),
    }
}

#[test]
fn what_was_sampled_before_does_not_show_however_it_ended() {
    let in_edges: Vec<_> = (0..300u32).map(|v| (0..v % 90).map(|i| (v * 7 + i * i * 3) % 300).collect()).collect();
    let (large, small) = (graph(&in_edges), graph(&[vec![1, 1], vec![0], vec![]]));
    let fanouts = vec![Fanout::Count(40), Fanout::All, Fanout::Count(3)];
    let seeds = (0..50).map(|i| NodeId::new(299 - 5 * i)).collect();
    let request = Request { seed: 5, minibatch: 2, seeds, fanouts };
    let few = Request { seed: 5, minibatch: 3, seeds: vec![NodeId::new(1)], fanouts: vec![Fanout::All; 2] };
    let mut scratch = Scratch::default();
    for capacity in [
        Capacity::UNBOUNDED,
        Capacity { nodes: 30, edges: 0 },
        Capacity { nodes: 60, edges: 10_000 },
        Capacity { nodes: 10_000, edges: 1500 },
    ] {
        assert_loop_as_reference(&mut scratch, &large, &request, capacity);
        assert_loop_as_reference(&mut scratch, &small, &few, Capacity::UNBOUNDED);
    }
    let cancel = Cancel::default();
    cancel.set();
    assert!(matches!(sample(&large, &request, Capacity::UNBOUNDED, &cancel, &mut scratch), Err(Stop::Cancelled)));
    assert_loop_as_reference(&mut scratch, &large, &request, Capacity::UNBOUNDED);
}

/// What is not asked for is not there, and the samples are the same.
#[test]
fn traffic_and_cycles_are_there_where_they_are_asked_for() {
    let graph = graph(&vec![(0..50).collect(); 50]);
    let seeds = (0..20).map(NodeId::new).collect();
    let request = Request { seed: 1, minibatch: 1, seeds, fanouts: vec![Fanout::Count(10); 2] };
    let capacity = worst_case(&graph, &request);
    let expected = golden::sample(&graph, &request, capacity).unwrap();
    for (traffic, timing) in [(false, None), (true, None), (false, Some(TimingOptions::default()))] {
        let model = SoftwareModel::new(ModelOptions { traffic, timing, ..ModelOptions::default() }).unwrap();
        model.load_graph(&Arc::new(graph.clone()), &Silent).unwrap();
        let outputs = bind(&model, Slr::ALL[1], SLOT, capacity);
        model.start(Slr::ALL[1], SLOT, &request).unwrap();
        let report = model.wait(Slr::ALL[1], Deadline::never()).unwrap();
        assert_equal(&outputs, &report.hops, &expected);
        assert_eq!((!report.ports.is_empty(), report.cycles.is_some()), (traffic, timing.is_some()));
        let has = |feature| model.capabilities().has(feature);
        assert_eq!((has(Feature::Traffic), has(Feature::PredictedCycles)), (traffic, timing.is_some()));
    }
}

/// With a clock the model is as slow as a card with it, and can be stopped meanwhile.
#[test]
fn a_clock_is_kept() {
    let graph = Arc::new(graph(&vec![(0..200).collect(); 200]));
    let seeds = (0..200).map(NodeId::new).collect();
    let request = Request { seed: 1, minibatch: 1, seeds, fanouts: vec![Fanout::Count(10); 2] };
    let start = |hz: u64| {
        let timing = Some(TimingOptions { clock: NonZeroU64::new(hz), ..TimingOptions::default() });
        let model = SoftwareModel::new(ModelOptions { timing, ..ModelOptions::default() }).unwrap();
        model.load_graph(&graph, &Silent).unwrap();
        model.bind_outputs(Slr::ALL[0], SLOT, OutputBuffers::host(worst_case(&graph, &request))).unwrap();
        model.start(Slr::ALL[0], SLOT, &request).unwrap();
        model
    };
    let report = start(1_000_000).wait(Slr::ALL[0], Deadline::never()).unwrap();
    let cycles = report.cycles.unwrap();
    assert!(cycles > 1000 && report.elapsed >= Duration::from_micros(cycles), "{cycles} cycles, {:?}", report.elapsed);
    // One cycle a second: a run of hours.
    let model = start(1);
    model.cancel(Slr::ALL[0]);
    assert!(matches!(model.wait(Slr::ALL[0], Deadline::never()), Err(DeviceError::Poisoned { .. })));
}

test_support::properties! {
    #[test]
    fn it_samples_what_the_reference_samples((graph, request) in cases()) {
        let model = model(&graph, 4);
        for slr in Slr::ALL {
            assert_as_reference(&model, slr, &graph, &request, worst_case(&graph, &request));
        }
        assert_loop_as_reference(&mut Scratch::default(), &graph, &request, Capacity::UNBOUNDED);
    }

    #[test]
    fn it_stops_where_the_reference_stops(
        (graph, request) in cases(),
        nodes in prop_oneof![0..80usize, Just(usize::MAX)],
        edges in prop_oneof![0..400usize, Just(usize::MAX)],
    ) {
        let model = model(&graph, 4);
        let worst = worst_case(&graph, &request);
        let small = Capacity { nodes: nodes.min(worst.nodes), edges: edges.min(worst.edges) };
        // What an overflow leaves behind must not be seen in the next run.
        for capacity in [small, worst] {
            assert_as_reference(&model, Slr::ALL[1], &graph, &request, capacity);
        }
    }

    #[test]
    fn it_counts_the_lines_that_the_kernel_moves(
        (graph, request) in cases(),
        channels in prop::sample::select(vec![1usize, 2, 4, 8]),
    ) {
        let model = model(&graph, channels);
        let slr = Slr::ALL[2];
        bind(&model, slr, SLOT, worst_case(&graph, &request));
        model.start(slr, SLOT, &request).unwrap();
        let report = model.wait(slr, Deadline::never()).unwrap();
        let sub = golden::sample(&graph, &request, Capacity::UNBOUNDED).unwrap();
        prop_assert_eq!(report.ports, traffic_of(&request, &sub, channels));
    }
}

#[test]
fn every_capacity_of_one_request_runs_out_as_in_the_reference() {
    let in_edges: Vec<_> = (0..12u32).map(|v| (0..v % 5).map(|i| (v * 7 + i * i * 3) % 12).collect()).collect();
    let graph = graph(&in_edges);
    let seeds = [4, 9, 3].map(NodeId::new).to_vec();
    let fanouts = vec![Fanout::Count(2), Fanout::All, Fanout::Count(3)];
    let request = Request { seed: 5, minibatch: 2, seeds, fanouts };
    let whole = golden::sample(&graph, &request, Capacity::UNBOUNDED).unwrap();
    let model = model(&graph, 4);
    for nodes in 0..=whole.samples.len() {
        for edges in 0..=whole.edges.len() {
            assert_as_reference(&model, Slr::ALL[0], &graph, &request, Capacity { nodes, edges });
        }
    }
}

#[test]
fn a_hub_is_drawn_from_and_taken_whole() {
    let spokes = 70_000;
    let mut in_edges: Vec<Vec<u32>> = vec![vec![0; 3]; spokes as usize + 1];
    in_edges[0] = (1..=spokes).collect();
    let graph = graph(&in_edges);
    let model = model(&graph, 4);
    for fanouts in [
        vec![Fanout::All, Fanout::Count(2)],
        vec![Fanout::Count(1024); 2],
        vec![Fanout::Count(1024); 8],
        vec![Fanout::Count(17), Fanout::Count(0), Fanout::All],
    ] {
        let request = Request { seed: 1, minibatch: 0, seeds: vec![NodeId::new(7), NodeId::new(0)], fanouts };
        assert_as_reference(&model, Slr::ALL[0], &graph, &request, worst_case(&graph, &request));
    }
}

#[test]
fn three_slrs_with_two_slots_each_at_a_time() {
    let in_edges: Vec<_> = (0..500u32).map(|v| (0..v % 23).map(|i| (v * i + 11 * i) % 500).collect()).collect();
    let graph = graph(&in_edges);
    let model = model(&graph, 4);
    let request = |slr: Slr, slot: Slot| Request {
        seed: 77,
        minibatch: (slr.index() * 10) as u64 + u64::from(slot.0),
        seeds: (0..100).map(|i| NodeId::new(i * 5)).collect(),
        fanouts: vec![Fanout::Count(4), Fanout::Count(6)],
    };
    let capacity = worst_case(&graph, &request(Slr::ALL[0], SLOT));
    let slots = [Slot(0), Slot(1)];
    let runs = Slr::ALL.map(|slr| slots.map(|slot| (slr, slot, bind(&model, slr, slot, capacity))));
    for (slr, slot, _) in runs.iter().flatten() {
        model.start(*slr, *slot, &request(*slr, *slot)).unwrap();
    }
    for slr in Slr::ALL {
        assert_eq!(model.start(slr, SLOT, &request(slr, SLOT)), Err(DeviceError::Busy { slr }));
        assert_eq!(model.bind_outputs(slr, Slot(2), OutputBuffers::host(capacity)), Err(DeviceError::Busy { slr }));
    }
    for (slr, slot, outputs) in runs.iter().flatten() {
        let report = model.wait(*slr, Deadline::never()).unwrap();
        assert_equal(outputs, &report.hops, &golden::sample(&graph, &request(*slr, *slot), capacity).unwrap());
    }
    for slr in Slr::ALL {
        assert_eq!(model.wait(slr, Deadline::never()), Err(DeviceError::Idle { slr }));
    }
}

#[test]
fn what_it_refuses() {
    let slr = Slr::ALL[0];
    let request = |fanout| Request { seed: 0, minibatch: 0, seeds: vec![], fanouts: vec![fanout] };
    let model = SoftwareModel::new(ModelOptions::default()).unwrap();
    assert_eq!(model.start(slr, SLOT, &request(Fanout::All)), Err(DeviceError::NoGraph));
    model.load_graph(&Arc::new(graph(&[vec![]])), &Silent).unwrap();
    assert_eq!(model.start(slr, SLOT, &request(Fanout::All)), Err(DeviceError::NotBound { slr, slot: SLOT }));
    assert_eq!(
        model.start(slr, SLOT, &request(Fanout::Count(1025))).unwrap_err().to_string(),
        "fan-out 1025 of hop 1 is too large; the software model takes 0 to 1024, or 'all'"
    );
    let refused = SoftwareModel::new(ModelOptions { channels: 3, ..ModelOptions::default() }).unwrap_err();
    assert!(refused.to_string().contains("3 index channels"));
}

#[test]
fn dropping_it_ends_the_runs_in_flight() {
    const NODES: u32 = 1_000_000;
    let edge = |position: u32| NodeId::new(position.wrapping_mul(2_654_435_761) % NODES);
    let indptr = (0..=NODES).map(|v| v * 8).collect();
    let graph = CscGraph::new(indptr, (0..NODES * 8).map(edge).collect()).unwrap();
    let model = model(&graph, 4);
    let seeds = (0..1000).map(NodeId::new).collect();
    let request = Request { seed: 0, minibatch: 0, seeds, fanouts: vec![Fanout::All; 8] };
    for slr in Slr::ALL {
        let outputs = OutputBuffers::host(Capacity { nodes: NODES as usize, edges: graph.edges() });
        model.bind_outputs(slr, SLOT, outputs).unwrap();
        model.start(slr, SLOT, &request).unwrap();
        model.start(slr, SLOT, &request).unwrap();
    }
    let begin = std::time::Instant::now();
    drop(model);
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
}

/// The kernel's traffic, counted the long way, element by element, from the reference's result.
fn traffic_of(request: &Request, sub: &SubGraph, channels: usize) -> Vec<PortTraffic> {
    let line = |element: usize| element / card::LINE_ELEMENTS;
    let (mut offs, mut idx) = ([0; 2], vec![[0; 2]; channels]);
    let mut mem_reads = [request.seeds.chunks(card::LINE_ELEMENTS).count(), 4 * request.seeds.len()];

    // A block goes out when it is full, and at the end of a phase if it holds anything new: each line with something new.
    let block = card::BURST_LINES * card::LINE_ELEMENTS;
    let written = |phases: &[u32]| {
        let (mut bursts, mut beats, mut elements) = (0, 0, 0usize);
        for &appended in phases {
            let mut unwritten = vec![];
            for _ in 0..appended {
                unwritten.push(line(elements));
                elements += 1;
                if elements % block == 0 {
                    bursts += 1;
                    unwritten.dedup();
                    beats += unwritten.drain(..).count();
                }
            }
            unwritten.dedup();
            bursts += usize::from(!unwritten.is_empty());
            beats += unwritten.len();
        }
        [bursts, beats, 4 * elements]
    };
    let add = |some: [usize; 3], more: [usize; 3]| [some[0] + more[0], some[1] + more[1], some[2] + more[2]];
    // What the last hop brings is in no list. The status block: its first line, and the others.
    let mem_writes = add(written(&sub.hops.nodes[..request.fanouts.len()]), [2, 8, 512]);
    let edges = written(&[sub.edges.len() as u32]);
    let out = add(add(edges, edges), add(edges, written(&[sub.samples.len() as u32])));

    let (mut node, mut edge) = (0, 0);
    for (hop, &fanout) in request.fanouts.iter().enumerate() {
        let frontier = node..node + sub.hops.nodes[hop] as usize;
        let drawn = edge..edge + sub.hops.edges[hop] as usize;
        (node, edge) = (frontier.end, drawn.end);
        if fanout != Fanout::Count(0) {
            let mut lines: Vec<u32> = sub.samples[frontier.clone()].iter().map(|node| node.get() / 8).collect();
            lines.dedup();
            offs = [offs[0] + lines.len(), offs[1] + 8 * frontier.len()];
            let mut lines: Vec<usize> = frontier.clone().skip(card::HEAD_NODES).map(line).collect();
            let read_back = lines.len();
            lines.dedup();
            mem_reads = [mem_reads[0] + lines.len(), mem_reads[1] + 4 * read_back];
        }
        let mut lines: Vec<usize> = sub.edges[drawn.clone()].iter().map(|position| line(position.index())).collect();
        lines.dedup();
        for n in lines {
            idx[card::place_of_edge(n * card::LINE_ELEMENTS, channels).0][0] += 1;
        }
        for position in drawn {
            idx[card::place_of_edge(sub.edges[position].index(), channels).0][1] += 4;
        }
    }

    let port = |port: card::Port, reads: [usize; 2], writes: [usize; 3]| {
        let [reads, read_useful] = reads.map(|count| count as u64);
        let [writes, write_beats, write_useful] = writes.map(|count| count as u64);
        PortTraffic { port: port.name(), reads, read_beats: reads, read_useful, writes, write_beats, write_useful }
    };
    let unwritten = [0; 3];
    let mut ports = vec![port(card::Port::Offs, offs, unwritten)];
    ports.extend((0..).zip(&idx).map(|(channel, &reads)| port(card::Port::Idx(channel), reads, unwritten)));
    ports.extend([port(card::Port::Mem, mem_reads, mem_writes), port(card::Port::Out, [0; 2], out)]);
    ports
}
