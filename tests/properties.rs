//! Random graphs, requests, capacities and memories: every back end equals the reference. A failing case is shrunk and recorded in
//! `tests/regressions/`.

use std::{collections::BTreeSet, sync::Arc};

use golden::{Capacity, CscGraph, Request};
use hw::{SamplerDevice, Slr};
use proptest::{collection::vec, prelude::*, sample::select};
use sim::rtl::{Profile, RtlOptions};
use tests::{Bench, check_property, from_arcs, model, request, rtl, rtl_options};

/// One case: what is sampled, and within which capacity.
#[derive(Clone, Debug)]
struct Case {
    nodes: usize,
    arcs: Vec<(u32, u32)>,
    request: Request,
    capacity: Option<Capacity>,
    slr: Slr,
}

fn cases(most_nodes: u32, most_arcs: usize) -> impl Strategy<Value = Case> {
    (1..=most_nodes).prop_flat_map(move |nodes| {
        let node = 0..nodes;
        let fanout = prop_oneof![1 => Just(-1), 1 => Just(0), 6 => 1..=5i32, 3 => 6..=32i32];
        let number = prop_oneof![0..8u64, any::<u64>()];
        let capacity = prop_oneof![
            2 => Just(None),
            1 => (0..=nodes as usize, 0..=most_arcs).prop_map(|(nodes, edges)| Some(Capacity { nodes, edges })),
        ];
        (
            vec((node.clone(), node.clone()), 0..=most_arcs),
            vec(node, 0..=(nodes as usize).min(64)),
            vec(fanout, 1..=4),
            (number.clone(), number),
            capacity,
            select(&Slr::ALL[..]),
        )
            .prop_map(move |(arcs, seeds, fanouts, (seed, minibatch), capacity, slr)| {
                let mut seen = BTreeSet::new();
                let seeds: Vec<_> = seeds.into_iter().filter(|&node| seen.insert(node)).collect();
                let request = request(seed, minibatch, seeds, &fanouts);
                Case { nodes: nodes as usize, arcs, request, capacity, slr }
            })
    })
}

fn graph_of(case: &Case) -> Arc<CscGraph> {
    from_arcs(case.nodes, &case.arcs)
}

fn equals_reference(device: &dyn SamplerDevice, case: &Case) -> Result<(), String> {
    let graph = graph_of(case);
    let worst = Capacity::worst_case(&graph, case.request.seeds.len(), &case.request.fanouts);
    let capacity = case.capacity.unwrap_or(worst);
    let outcome = Bench::new(device, &graph).check_within(case.slr, &case.request, capacity)?;
    match (outcome, case.capacity) {
        (Err(error), None) => Err(format!("{error}, with room for the worst case")),
        _ => Ok(()),
    }
}

#[test]
fn model_equals_reference() {
    let device = model();
    check_property("model_equals_reference", 5000, &cases(300, 2000), |case| equals_reference(&device, &case));
}

#[test]
fn rtl_equals_reference() {
    let device = rtl(&rtl_options());
    check_property("rtl_equals_reference", 1500, &cases(100, 400), |case| equals_reference(&device, &case));
}

/// Any memory and any stalls: the same result. A device of its own for each case, so that the stall seed is the case's.
#[test]
fn rtl_equals_reference_with_any_memory() {
    let memory = (select(&Profile::ALL[..]), any::<u64>());
    check_property(
        "rtl_equals_reference_with_any_memory",
        400,
        &(cases(60, 200), memory),
        |(case, (memory, stall_seed))| {
            let device = rtl(&RtlOptions { table_log2: 8, memory, stall_seed, ..rtl_options() });
            equals_reference(&device, &case)
        },
    );
}

/// A small graph on a small table: rows fill up and the probe goes on, but nothing changes.
#[test]
fn rtl_equals_reference_with_a_crowded_table() {
    let device = rtl(&RtlOptions { table_log2: 8, ..rtl_options() });
    check_property("rtl_equals_reference_with_a_crowded_table", 500, &cases(230, 600), |case| {
        equals_reference(&device, &case)
    });
}
