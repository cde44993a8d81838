//! `dedup_table` against a `HashMap`: equal and colliding nodes at every distance, probes, a full table, epochs that run out.

use std::{cell::RefCell, collections::HashMap};

use proptest::{collection::vec, prelude::*};
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    flow::{Pace, Results, count, flow_on},
    items::{Item, items},
};

/// The bench's table.
const ROWS: u32 = 64;
const SLOTS_OF_A_ROW: usize = 4;
const PROBES: u32 = 4;
const EPOCHS: usize = 3;

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct In {
    start: u32,
    valid: u32,
    item: Item,
    pos: u32,
    u: u32,
    ready: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct Out {
    clear: u32,
    busy: u32,
    ready: u32,
    valid: u32,
    item: Item,
    pos: u32,
    u: u32,
    u_local: u32,
    is_new: u32,
    full: u32,
}

struct DedupTable;

impl Module for DedupTable {
    const NUMBER: u32 = 7;
    type In = In;
    type Out = Out;
}

/// An arc: its item, position and source.
type Arc = (Item, u32, u32);

/// What the table says of an arc's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Known(u32),
    New(u32),
    Full,
    /// Of what is no data.
    Nothing,
}

/// Where a node's probes begin: the upper bits of its product with Knuth's multiplier.
fn row_of(u: u32) -> u32 {
    u.wrapping_mul(0x9E37_79B1) / (u32::MAX / ROWS + 1)
}

/// Different nodes whose probes begin at `row`.
fn nodes_of(row: u32) -> impl Iterator<Item = u32> {
    (1..).filter(move |&u| row_of(u) == row)
}

/// What the table has to say, up to the first arc for which it has no room.
fn expected(arcs: &[Arc]) -> Vec<(Arc, Says)> {
    let (mut ids, mut used) = (HashMap::new(), [0; ROWS as usize]);
    let mut full = false;
    arcs.iter()
        .map_while(|&arc| {
            if full {
                return None;
            }
            let (item, _, u) = arc;
            let next = ids.len() as u32;
            let room = || (0..PROBES).map(|n| (row_of(u) + n) % ROWS).find(|&row| used[row as usize] < SLOTS_OF_A_ROW);
            let says = match (item.is_data(), ids.get(&u), room()) {
                (false, ..) => Says::Nothing,
                (_, Some(&id), _) => Says::Known(id),
                (_, None, Some(row)) => {
                    ids.insert(u, next);
                    used[row as usize] += 1;
                    Says::New(next)
                }
                (_, None, None) => {
                    full = true;
                    Says::Full
                }
            };
            Some((arc, says))
        })
        .collect()
}

fn inputs(arc: Option<Arc>, ready: bool) -> In {
    let (item, pos, u) = arc.unwrap_or_default();
    In { start: 0, valid: arc.is_some().into(), item, pos, u, ready: ready.into() }
}

fn outputs(out: &Out) -> (bool, Option<(Arc, Says)>) {
    let says = match (out.item.is_data(), out.is_new != 0, out.full != 0) {
        (false, ..) => Says::Nothing,
        (_, false, _) => Says::Known(out.u_local),
        (_, true, false) => Says::New(out.u_local),
        (_, true, true) => Says::Full,
    };
    (out.ready != 0, (out.valid != 0).then_some(((out.item, out.pos, out.u), says)))
}

/// A table that is cleared. Each run begins a new epoch.
struct Table {
    bench: Bench<DedupTable>,
    runs: usize,
}

impl Table {
    fn new() -> Self {
        let mut table = Self { bench: Bench::new(), runs: 0 };
        table.reset();
        table
    }

    fn reset(&mut self) {
        self.bench.reset();
        self.runs = 0;
        assert_eq!(self.clearing(), ROWS, "it is cleared after a reset");
    }

    /// Cycles until it is clear.
    fn clearing(&mut self) -> u32 {
        (0..2 * ROWS).find(|_| self.bench.clock(&In::default()).unwrap().clear != 0).expect("it is cleared by now")
    }

    /// The arcs of a run, and what the table says of them.
    fn run(&mut self, pace: Pace, arcs: &[Arc]) -> Result<Results<(Arc, Says)>, String> {
        self.bench.clock(&In { start: 1, ..In::default() })?;
        self.runs += 1;
        let expected = expected(arcs);
        let arcs = &arcs[..expected.len()];
        let mut busy = false;
        let found = flow_on(&mut self.bench, pace, arcs, count(expected.len()), inputs, |out: &Out| {
            busy = out.busy != 0;
            outputs(out)
        })?;
        found.equal(&expected, pace).map_err(|why| format!("run {}: {why}", self.runs))?;
        if busy { Err(format!("{pace:?}: it is busy with nothing")) } else { Ok(found) }
    }
}

fn arc(u: u32) -> Arc {
    (Item::data(5), 6, u)
}

/// Arcs whose sources are few and begin at few rows.
fn arcs() -> impl Strategy<Value = Vec<Arc>> {
    let source = |row: u32| {
        (0..3_u32, 0..14_usize).prop_map(move |(step, n)| nodes_of((row + step) % ROWS).nth(n).expect("there are more"))
    };
    let any_source = prop_oneof![(0..ROWS).prop_flat_map(source), 0..=0x7FFF_FFFF_u32];
    (0..ROWS).prop_flat_map(move |row| {
        vec((items(), 0..=0x7FFF_FFFF_u32, prop_oneof![8 => source(row), 1 => any_source.clone()]), 0..80)
    })
}

#[test]
fn every_node_has_one_id() {
    let table = RefCell::new(Table::new());
    Property::new("every_node_has_one_id", 60).check(
        &(vec(arcs(), 1..5), any::<u64>()),
        |(runs, seed)| {
            let table = &mut table.borrow_mut();
            table.reset();
            Pace::both(*seed)
                .into_iter()
                .try_for_each(|pace| runs.iter().try_for_each(|arcs| table.run(pace, arcs).map(drop)))
        },
        |_| String::new(),
    );
}

/// Every sequence of six from two nodes of one row and one of another: equal and colliding nodes at every distance from back to
/// back to behind the end of the pipeline.
#[test]
fn a_row_is_forwarded_at_every_distance() {
    const LENGTH: u32 = 6;
    let mut table = Table::new();
    let nodes = [nodes_of(9).next().unwrap(), nodes_of(9).nth(1).unwrap(), nodes_of(40).next().unwrap()];
    for number in 0..3_usize.pow(LENGTH) {
        let arcs: Vec<_> = (0..LENGTH).map(|n| arc(nodes[number / 3_usize.pow(n) % 3])).collect();
        for pace in Pace::both(number as u64) {
            table.run(pace, &arcs).unwrap();
        }
    }
}

/// A lookup a cycle, where nothing has to be probed: new nodes in rows of their own, new ones in one row, known ones.
#[test]
fn a_node_leaves_in_every_cycle() {
    let mut table = Table::new();
    let rows = (0..ROWS).map(|row| nodes_of(row).next().unwrap());
    let one_row = nodes_of(7).skip(1).take(SLOTS_OF_A_ROW - 1);
    let new: Vec<_> = rows.chain(one_row).map(arc).collect();
    let arcs: Vec<_> = new.iter().chain(new.iter().rev()).copied().collect();
    let found = table.run(Pace::Steady, &arcs).unwrap();
    assert_eq!(found.span(), arcs.len() as u64 - 1);
}

/// All rows of a node's probes are used, also behind the last row of the table, and then it is full.
#[test]
fn a_table_is_full_when_all_probes_are() {
    let mut table = Table::new();
    for row in [0, 20, ROWS - 2] {
        for pace in Pace::both(row.into()) {
            let arcs: Vec<_> = nodes_of(row).take(PROBES as usize * SLOTS_OF_A_ROW + 2).map(arc).collect();
            let found = table.run(pace, &arcs).unwrap().items;
            assert_eq!(found.len(), PROBES as usize * SLOTS_OF_A_ROW + 1);
            assert_eq!(found.last().unwrap().1, Says::Full);
            // Known nodes are found at every probe.
            let known: Vec<_> = arcs[..16].iter().chain(arcs[..16].iter().rev()).copied().collect();
            table.run(pace, &known).unwrap();
        }
    }
}

/// A run finds nothing of those before it; when the epochs are used up, the table is cleared.
#[test]
fn epochs_run_out_and_the_table_is_cleared() {
    let mut table = Table::new();
    let arcs: Vec<_> = (1..100).map(arc).collect();
    for run in 0..=3 * EPOCHS {
        table.bench.clock(&In { start: 1, ..In::default() }).unwrap();
        let clears = run > 0 && run % EPOCHS == 0;
        assert_eq!(table.clearing(), if clears { ROWS } else { 0 }, "run {run}");
        let expected = expected(&arcs);
        let found = flow_on(&mut table.bench, Pace::Steady, &arcs, count(arcs.len()), inputs, outputs).unwrap();
        found.equal(&expected, Pace::Steady).unwrap();
    }
}
