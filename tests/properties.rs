//! Random graphs, requests, capacities and memories: every back end equals the reference. A failing case is shrunk and recorded in
//! `tests/regressions/`.

use std::{cell::RefCell, collections::BTreeSet, panic::AssertUnwindSafe, path::Path, sync::Arc};

use golden::{Capacity, CscGraph, Request};
use hw::{SamplerDevice, Slr};
use proptest::{collection::vec, prelude::*, sample::select};
use sim::rtl::{Profile, RtlDevice, RtlOptions};
use strum::VariantArray;
use tests::{Bench, Property, from_arcs, model, request, rtl, rtl_options};

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

/// The simulated RTL for case after case; a new one after a failure, which may have poisoned it.
struct Rig {
    options: RtlOptions,
    device: RefCell<Option<RtlDevice>>,
}

impl Rig {
    fn new(options: RtlOptions) -> Self {
        Self { options, device: RefCell::default() }
    }

    fn check(&self, case: &Case) -> Result<(), String> {
        let device = self.device.take().unwrap_or_else(|| rtl(&self.options));
        equals_reference(&device, case)?;
        self.device.replace(Some(device));
        Ok(())
    }

    /// Runs the case once more and writes waves; says where they are.
    fn waves(&self, name: &str, case: &Case) -> String {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failures");
        let path = folder.join(name).with_extension("fst");
        let options = RtlOptions { waves: Some(path), ..self.options.clone() };
        let made = std::fs::create_dir_all(&folder).map_err(|e| e.to_string());
        match made.and_then(|()| RtlDevice::new(&options, &|line| eprintln!("{line}")).map_err(|e| e.to_string())) {
            Ok(device) => {
                let again = equals_reference(&device, case);
                let again = again.map_or_else(|why| why, |()| "nothing wrong".to_owned());
                format!("waves: {}/{name}.slr{}.fst ({again})", folder.display(), case.slr.index())
            }
            Err(why) => format!("no waves: {why}"),
        }
    }
}

fn rtl_property(name: &'static str, number: u32, cases: &impl Strategy<Value = Case>, options: RtlOptions) {
    let rig = Rig::new(options);
    Property::new(name, number).check(cases, |case| rig.check(case), |case| rig.waves(name, case));
}

#[test]
fn model_equals_reference() {
    let device = model();
    Property::new("model_equals_reference", 5000).check(
        &cases(300, 2000),
        |case| equals_reference(&device, case),
        |_| String::new(),
    );
}

#[test]
fn rtl_equals_reference() {
    rtl_property("rtl_equals_reference", 1500, &cases(100, 400), rtl_options());
}

/// A small graph on a small table: rows fill up and the probe goes on, but nothing changes.
#[test]
fn rtl_equals_reference_with_a_crowded_table() {
    let options = RtlOptions { table_log2: 8, ..rtl_options() };
    rtl_property("rtl_equals_reference_with_a_crowded_table", 500, &cases(230, 600), options);
}

/// Any memory and any stalls: the same result. A device of its own for each case, so that the stall seed is the case's.
#[test]
fn rtl_equals_reference_with_any_memory() {
    let name = "rtl_equals_reference_with_any_memory";
    let rig = |&(memory, stall_seed): &(Profile, u64)| {
        Rig::new(RtlOptions { table_log2: 8, memory, stall_seed, ..rtl_options() })
    };
    Property::new(name, 400).check(
        &(cases(60, 200), (select(Profile::VARIANTS), any::<u64>())),
        |(case, memory)| rig(memory).check(case),
        |(case, memory)| rig(memory).waves(name, case),
    );
}

/// What a failing random test of the RTL says: the smallest case, where its waves are, and how to see it again.
#[test]
fn a_failure_is_shrunk_waved_and_can_be_replayed() {
    let name = "a_failure_is_shrunk_waved_and_can_be_replayed";
    let recorded = tempfile::tempdir().unwrap();
    let property = Property { regressions: recorded.path().to_owned(), ..Property::new(name, 50) };
    let rig = Rig::new(rtl_options());
    // Every graph with more than two nodes counts as a failure.
    let check = |case: &Case| if case.nodes > 2 { Err("too large".to_owned()) } else { rig.check(case) };
    let failure = std::panic::catch_unwind(AssertUnwindSafe(|| {
        property.check(&cases(100, 400), check, |case| rig.waves(name, case));
    }))
    .expect_err("the property does not hold");
    let text = failure.downcast_ref::<String>().expect("a panic with a text");
    assert!(text.starts_with("too large\nsmallest case found: Case {\n    nodes: 3,"), "{text}");
    assert!(text.contains("\nreplay: TRISAGE_TEST_SEED="), "{text}");
    assert!(recorded.path().join(name).with_extension("txt").exists());
    let waves = text.lines().find_map(|line| line.strip_prefix("waves: ")?.strip_suffix(" (nothing wrong)"));
    assert!(waves.is_some_and(|waves| Path::new(waves).exists()), "{text}");
}
