//! `emitter`: what fits is written in order, and counted by hop; the first thing that goes wrong is told, and nothing after it is
//! written.

use std::cell::RefCell;

use proptest::{collection::vec, option, prelude::*};
use tests::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, count, flow_on},
    items::{CORRUPT, DATA, END, Item, READ_ERROR},
};

const HOPS: usize = 4;
/// Of an item that is corrupt because its seed is no node.
const CORRUPT_SEED: u32 = 3;

/// Status and details as `hw/src/status.rs` has them.
const BAD_REQUEST: u32 = 2;
const OVERFLOW_NODES: u32 = 3;
const OVERFLOW_EDGES: u32 = 4;
const TABLE_FULL: u32 = 5;
const READ_ERROR_STATUS: u32 = 6;
const CORRUPT_GRAPH: u32 = 8;
const BAD_SEED: u32 = 6;
const BAD_DUPLICATE: u32 = 7;

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct In {
    clear: u32,
    hop: u32,
    node_capacity: u32,
    edge_capacity: u32,
    valid: u32,
    resolved: Resolved,
    ready: u32,
}

/// An item as the hash table hands it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
struct Resolved {
    item: Item,
    pos: u32,
    u: u32,
    u_local: u32,
    is_new: u32,
    full: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct Out {
    ready: u32,
    end_seen: u32,
    node_valid: u32,
    node: u32,
    edge_valid: u32,
    edge: [u32; 3],
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes)]
#[repr(C)]
struct Outcome {
    failed: u32,
    fault: Fault,
    nodes: u32,
    edges: u32,
    nodes_per_hop: [u32; HOPS + 1],
    edges_per_hop: [u32; HOPS],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes)]
#[repr(C)]
struct Fault {
    code: u32,
    detail: u32,
    hop: u32,
    node: u32,
}

struct Emitter;

impl Module for Emitter {
    const NUMBER: u32 = 22;
    type In = In;
    type Out = Out;
}

/// What is written in one cycle: a node, an edge (row, column, position), or neither, and whether a phase has ended.
type Written = (Option<u32>, Option<[u32; 3]>, bool);

/// Items of a run, each with its hop, and the room for its results.
#[derive(Clone, Debug)]
struct Run {
    items: Vec<(u32, Resolved)>,
    node_capacity: u32,
    edge_capacity: u32,
}

/// How a run goes: what is written, and what is told at its end.
fn expected(run: &Run) -> (Vec<Written>, Outcome) {
    let mut outcome = Outcome::default();
    let mut written = vec![];
    for &(hop, Resolved { item, pos, u, u_local, is_new, full }) in &run.items {
        let (seeding, is_new) = (hop == 0, is_new != 0);
        let fault = match item.kind {
            END => {
                written.push((None, None, true));
                continue;
            }
            READ_ERROR => Some((READ_ERROR_STATUS, item.detail << 8)),
            CORRUPT if item.detail == CORRUPT_SEED => Some((BAD_REQUEST, BAD_SEED)),
            CORRUPT => Some((CORRUPT_GRAPH, item.detail)),
            _ if seeding && !is_new => Some((BAD_REQUEST, BAD_DUPLICATE)),
            _ if is_new && outcome.nodes >= run.node_capacity => Some((OVERFLOW_NODES, 0)),
            _ if !seeding && outcome.edges >= run.edge_capacity => Some((OVERFLOW_EDGES, 0)),
            _ if full != 0 => Some((TABLE_FULL, 0)),
            _ => None,
        };
        if outcome.failed != 0 {
            continue;
        }
        if let Some((code, detail)) = fault {
            outcome.failed = 1;
            outcome.fault = Fault { code, detail, hop, node: item.v };
            continue;
        }
        if is_new {
            outcome.nodes += 1;
            outcome.nodes_per_hop[hop as usize] += 1;
        }
        if !seeding {
            outcome.edges += 1;
            outcome.edges_per_hop[hop as usize - 1] += 1;
        }
        written.push((is_new.then_some(u), (!seeding).then_some([u_local, item.v, pos]), false));
    }
    (written, outcome)
}

/// An item before it is known how many nodes there are: kind, detail and flags, and numbers that choose among the nodes.
#[derive(Clone, Copy, Debug)]
struct Draft {
    kind: u32,
    detail: u32,
    is_new: bool,
    full: bool,
    v: u32,
    u: u32,
    pos: u32,
}

fn drafts(one_error_in: u32) -> impl Strategy<Value = Draft> {
    let kind = prop_oneof![one_error_in => Just(DATA), 1 => READ_ERROR..=CORRUPT];
    let full = (0..one_error_in).prop_map(|n| n == 0);
    let numbers = (0..1_u32 << 31, 0..1_u32 << 31, 0..1_u32 << 31);
    (kind, 0..16_u32, any::<bool>(), full, numbers).prop_map(|(kind, detail, is_new, full, (v, u, pos))| Draft {
        kind,
        detail,
        is_new,
        full,
        v,
        u,
        pos,
    })
}

/// The items as a table would resolve them: a new node has the next id, a known one an id that was given, and only nodes that
/// there are get expanded. In the seed phase a node is new, but for one seed that is given twice.
fn resolve(phases: &[Vec<Draft>], twice: Option<usize>) -> Vec<(u32, Resolved)> {
    let mut nodes = 0;
    let mut items = vec![];
    for (hop, drafts) in (0..).zip(phases) {
        if hop > 0 && nodes == 0 {
            break;
        }
        for (n, draft) in drafts.iter().enumerate() {
            let is_data = draft.kind == DATA;
            let is_new = nodes == 0 || if hop == 0 { twice != Some(n) } else { draft.is_new || draft.full };
            let v = if hop == 0 { n as u32 } else { draft.v % nodes };
            let item = Item { kind: draft.kind, detail: draft.detail, v };
            let u_local = if is_new { nodes } else { draft.u % nodes };
            let full = u32::from(is_new && draft.full);
            items.push((hop, Resolved { item, pos: draft.pos, u: draft.u, u_local, is_new: is_new.into(), full }));
            nodes += u32::from(is_data && is_new);
        }
        items.push((hop, Resolved { item: Item { kind: END, detail: 0, v: 0 }, ..Resolved::default() }));
    }
    items
}

/// Runs of which most go well, with capacities that are just enough, or short by little.
fn runs() -> impl Strategy<Value = Run> {
    let phases = prop_oneof![Just(1_000_000), Just(200), Just(20)]
        .prop_flat_map(|one_error_in| vec(vec(drafts(one_error_in), 0..40), 1..=HOPS + 1));
    let missing = || prop_oneof![3 => Just(0), 1 => 1..4_u32];
    (phases, option::weighted(0.1, 1..20_usize), missing(), missing()).prop_map(|(phases, twice, no_node, no_edge)| {
        let items = resolve(&phases, twice);
        let all = Run { items, node_capacity: u32::MAX, edge_capacity: u32::MAX };
        let (_, Outcome { nodes, edges, .. }) = expected(&all);
        Run { node_capacity: nodes.saturating_sub(no_node), edge_capacity: edges.saturating_sub(no_edge), ..all }
    })
}

fn emits(bench: &mut Bench<Emitter>, pace: Pace, run: &Run) -> Result<(), String> {
    let (written, outcome) = expected(run);
    let (node_capacity, edge_capacity) = (run.node_capacity, run.edge_capacity);
    bench.clock(&In { clear: 1, node_capacity, edge_capacity, ..In::default() })?;
    let mut hop = 0;
    let mut found = Outcome::default();
    let inputs = |offered: Option<(u32, Resolved)>, ready: bool| {
        hop = offered.map_or(hop, |(hop, _)| hop);
        let resolved = offered.map(|(_, resolved)| resolved).unwrap_or_default();
        let valid = offered.is_some().into();
        In { clear: 0, hop, node_capacity, edge_capacity, valid, resolved, ready: ready.into() }
    };
    let outputs = |out: &Out| {
        found = out.outcome;
        let node = (out.node_valid != 0).then_some(out.node);
        let edge = (out.edge_valid != 0).then_some(out.edge);
        let ended = out.end_seen != 0;
        (out.ready != 0, (node.is_some() || edge.is_some() || ended).then_some((node, edge, ended)))
    };
    flow_on(bench, pace, &run.items, count(written.len()), inputs, outputs)?.equal(&written, pace)?;
    // Of a run that has not failed the fault says nothing.
    if found.failed == 0 {
        found.fault = Fault::default();
    }
    if found == outcome { Ok(()) } else { Err(format!("{pace:?}: {found:?}, not {outcome:?}")) }
}

#[test]
fn what_fits_is_written_and_the_first_fault_is_told() {
    let bench = RefCell::new(Bench::<Emitter>::new());
    Property::new("what_fits_is_written_and_the_first_fault_is_told", 150).check(
        &(vec(runs(), 1..3), any::<u64>()),
        |(runs, seed)| {
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| {
                bench.reset();
                runs.iter().try_for_each(|run| emits(bench, pace, run))
            })
        },
        |_| String::new(),
    );
}

/// Each fault, and each before those that come after it in the order of faults.
#[test]
fn faults_have_an_order() {
    let mut bench = Bench::<Emitter>::new();
    let data = |v, u_local, is_new, full| Resolved {
        item: Item::data(v),
        pos: 5,
        u: 9,
        u_local,
        is_new: u32::from(is_new),
        full: u32::from(full),
    };
    let end = Resolved { item: Item { kind: END, detail: 0, v: 0 }, ..Resolved::default() };
    let failing = |kind, detail| Resolved { item: Item { kind, detail, v: 0 }, ..data(0, 1, true, true) };
    let seed = (0, data(0, 0, true, false));
    let cases = [
        (vec![seed, (0, data(1, 0, false, true))], 0, 0, (OVERFLOW_NODES, 0, 0, 0)),
        (vec![seed, (0, data(1, 0, false, true))], 1, 0, (BAD_REQUEST, BAD_DUPLICATE, 0, 1)),
        (vec![seed, (0, end), (1, data(0, 1, true, true))], 1, 0, (OVERFLOW_NODES, 0, 1, 0)),
        (vec![seed, (0, end), (1, data(0, 1, true, true))], 2, 0, (OVERFLOW_EDGES, 0, 1, 0)),
        (vec![seed, (0, end), (1, data(0, 0, false, false))], 1, 0, (OVERFLOW_EDGES, 0, 1, 0)),
        (vec![seed, (0, end), (1, data(0, 1, true, true))], 2, 1, (TABLE_FULL, 0, 1, 0)),
        (vec![seed, (0, end), (3, failing(READ_ERROR, 7))], 1, 0, (READ_ERROR_STATUS, 7 << 8, 3, 0)),
        (vec![seed, (0, end), (4, failing(CORRUPT, 2))], 1, 0, (CORRUPT_GRAPH, 2, 4, 0)),
        (vec![seed, (0, failing(CORRUPT, CORRUPT_SEED))], 1, 0, (BAD_REQUEST, BAD_SEED, 0, 0)),
    ];
    for (items, node_capacity, edge_capacity, (code, detail, hop, node)) in cases {
        let run = Run { items, node_capacity, edge_capacity };
        assert_eq!(expected(&run).1.fault, Fault { code, detail, hop, node }, "{run:?}");
        emits(&mut bench, Pace::Steady, &run).unwrap();
    }
}
