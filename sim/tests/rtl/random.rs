//! Random graphs, requests, kernels and stalls. `TRISAGE_SEED` and `TRISAGE_ROUNDS` ask for others, or for more.

use std::sync::Arc;

use golden::{Capacity, CscGraph, Request};
use hw::{BusAccess, DeviceError, SLRS, Slr, card::Port};
use sim::rtl::{Fault, FaultAt, Fill, Profile, Response, RtlOptions};

use crate::common::{Choices, device, graph_of, options, request, run_with};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn graph(chance: &mut Choices) -> Arc<CscGraph> {
    let most_nodes = chance.pick(&[20, 2000, 2000]);
    let nodes = 1 + chance.below(most_nodes);
    let most = chance.pick(&[0, 1, 5, 40, 300]).min(60_000 / nodes);
    let hub = chance.below(nodes);
    let kind = chance.below(4);
    let mut degrees = chance.split();
    let degree = |v| match kind {
        0 if v == hub => 4000,
        1 => most,
        _ => degrees.below(most + 1),
    };
    let mut sources = chance.split();
    // Few sources give many parallel edges, and hits in the hash table back to back.
    let spread = chance.pick(&[1, 3, nodes]).min(nodes);
    graph_of((0..nodes).map(degree), || sources.below(spread))
}

fn batch(chance: &mut Choices, graph: &CscGraph) -> Request {
    let nodes = graph.nodes() as u32;
    let count = chance.pick(&[0, 1, 2, 16, 17, 40]).min(nodes);
    let (first, step) = (chance.below(nodes), 1 + chance.below(nodes));
    let mut seeds: Vec<u32> = vec![];
    for n in 0..count {
        let mut seed = (first + n * step) % nodes;
        while seeds.contains(&seed) {
            seed = (seed + 1) % nodes;
        }
        seeds.push(seed);
    }
    let hops = 1 + chance.below(4);
    let fanouts: Vec<i32> = (0..hops).map(|_| chance.pick(&[-1, 0, 1, 2, 3, 5, 16, 17, 31, 32])).collect();
    let mut request = request(seeds, &fanouts, u64::from(chance.below(1 << 30)) << chance.below(30));
    request.seed = u64::from(chance.below(1 << 31)) << chance.below(32);
    request
}

fn fault(chance: &mut Choices) -> Fault {
    let ports = [Port::Offs, Port::Idx(0), Port::Mem].map(|port| (port, BusAccess::Read));
    let (port, access) =
        chance.pick(&[ports[0], ports[1], ports[2], (Port::Mem, BusAccess::Write), (Port::Out, BusAccess::Write)]);
    let most = chance.pick(&[10, 300]);
    let at = FaultAt::Burst(chance.below(most).into());
    Fault { port, access, at, response: chance.pick(&[Response::SlvErr, Response::DecErr]) }
}

#[test]
fn random_runs_agree_with_the_reference() {
    let (seed, rounds) = (number("TRISAGE_SEED", 1), number("TRISAGE_ROUNDS", 6));
    for round in seed..seed + rounds {
        let chance = &mut Choices::new(round, 0);
        let (channels, table_log2, window) = chance.pick(&[(4, 12, 32), (1, 10, 8), (8, 13, 64), (2, 12, 16)]);
        let memory = chance.pick(&[Profile::Hostile, Profile::Hostile, Profile::Ideal, Profile::Hbm, Profile::Ddr4]);
        let fill = chance.pick(&[Fill::Zeros, Fill::Ones, Fill::Random(round as u32)]);
        let mut options = RtlOptions { channels, table_log2, window, fill, stall_seed: round, ..options(memory) };
        if channels == 1 {
            options.parameters.insert("EPOCH_WIDTH".to_owned(), 2);
        }
        if chance.below(3) == 0 {
            options.faults = (0..4).map(|_| fault(chance)).collect();
        }
        let graph = graph(chance);
        let device = device(&options, &graph);
        for run in 0..8 {
            let request = batch(chance, &graph);
            let mut capacity = Capacity::worst_case(&graph, request.seeds.len(), &request.fanouts);
            if chance.below(3) == 0 {
                capacity.nodes = chance.below(1 + (capacity.nodes as u32).min(3000)) as usize;
            }
            if chance.below(3) == 0 {
                capacity.edges = chance.below(1 + (capacity.edges as u32).min(3000)) as usize;
            }
            let context = format!(
                "TRISAGE_SEED={round} TRISAGE_ROUNDS=1: {memory}, {channels} channels, {} nodes, {} edges, run {run}, \
                 {} seeds, fan-outs {:?}, {capacity:?}, faults {:?}",
                graph.nodes(),
                graph.edges(),
                request.seeds.len(),
                request.fanouts,
                options.faults
            );
            eprintln!("{context}");
            match run_with(&device, Slr::ALL[run % SLRS], &graph, &request, capacity) {
                Ok(_) | Err(DeviceError::Overflow { .. }) => {}
                Err(DeviceError::TableFull { slots, emitted, .. }) if emitted.total_nodes() as u64 > slots / 4 => {}
                Err(DeviceError::Bus { access, port, response, .. })
                    if options.faults.iter().any(|fault| {
                        (fault.access, fault.port.name(), fault.response.name()) == (access, port, response)
                    }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}
