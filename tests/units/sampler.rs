//! `careful_sampler` and `neighbor_sampler`: Floyd's algorithm on the words of `rand_chacha` and a plain reading of Lemire's draw.
//! Degrees of a little more than a third of 2^32 have nearly a third of all words refused.

use std::cell::RefCell;

use proptest::{collection::vec, prelude::*, sample::select};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use test_support::Property;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{
    bench::{Bench, Module},
    draw::{plain_draw, ranges},
    flow::{Pace, Results, count, flow},
    items::{END, Item, LAST, items},
};

const ALL: u32 = u32::MAX;
const MOST_FANOUT: u32 = 32;

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct CarefulIn {
    seed: u64,
    minibatch: u64,
    fanout: u32,
    valid: u32,
    v: u32,
    degree: u32,
    ready: u32,
    unused: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct CarefulOut {
    ready: u32,
    valid: u32,
    pick: u32,
}

struct CarefulSampler;

impl Module for CarefulSampler {
    const NUMBER: u32 = 4;
    type In = CarefulIn;
    type Out = CarefulOut;
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct SamplerIn {
    seed: u64,
    minibatch: u64,
    fanout: u32,
    failed: u32,
    valid: u32,
    item: Item,
    start: u32,
    degree: u32,
    ready: u32,
    unused: u32,
}

#[derive(FromBytes)]
#[repr(C)]
struct SamplerOut {
    busy: u32,
    ready: u32,
    valid: u32,
    item: Item,
    pos: u32,
}

struct NeighborSampler;

impl Module for NeighborSampler {
    const NUMBER: u32 = 5;
    type In = SamplerIn;
    type Out = SamplerOut;
}

/// What a run is about.
#[derive(Clone, Copy, Debug)]
struct Run {
    seed: u64,
    minibatch: u64,
    fanout: u32,
}

/// The in-edges of a node.
#[derive(Clone, Copy, Debug)]
struct Extent {
    item: Item,
    start: u32,
    degree: u32,
}

/// An edge that was chosen. The position of what is not data means nothing.
type Edge = (Item, u32);

impl Run {
    /// Floyd's algorithm as `golden/CONTRACT.md` has it.
    fn floyd(self, v: u32, degree: u32) -> Vec<u32> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(self.minibatch);
        rng.set_word_pos(u128::from(v) << 12);
        let mut picks = vec![];
        for j in degree - self.fanout..degree {
            let (t, _) = plain_draw(j + 1, std::iter::repeat_with(|| rng.next_u32()));
            picks.push(if picks.contains(&t) { j } else { t });
        }
        picks
    }

    fn picks(self, v: u32, degree: u32) -> Vec<u32> {
        if self.fanout == ALL || degree <= self.fanout { (0..degree).collect() } else { self.floyd(v, degree) }
    }

    fn edges(self, extents: &[Extent]) -> Vec<Edge> {
        let edges = |&Extent { item, start, degree }: &Extent| {
            if !item.is_data() {
                return vec![(item, 0)];
            }
            self.picks(item.v, degree).into_iter().map(|pick| (item, start + pick)).collect()
        };
        extents.iter().flat_map(edges).collect()
    }
}

fn inputs(run: Run, extent: Option<Extent>, ready: bool) -> SamplerIn {
    let Extent { item, start, degree } = extent.unwrap_or(Extent { item: Item::default(), start: 0, degree: 0 });
    SamplerIn {
        seed: run.seed,
        minibatch: run.minibatch,
        fanout: run.fanout,
        valid: extent.is_some().into(),
        item,
        start,
        degree,
        ready: ready.into(),
        ..SamplerIn::default()
    }
}

fn outputs(out: &SamplerOut) -> (bool, Option<Edge>) {
    let edge = (out.item, if out.item.is_data() { out.pos } else { 0 });
    (out.ready != 0, (out.valid != 0).then_some(edge))
}

fn samples(
    bench: &mut Bench<NeighborSampler>,
    pace: Pace,
    run: Run,
    extents: &[Extent],
) -> Result<Results<Edge>, String> {
    let expected = run.edges(extents);
    let mut busy = false;
    let found = flow(
        bench,
        pace,
        extents,
        count(expected.len()),
        |extent, ready| inputs(run, extent, ready),
        |out| {
            busy = out.busy != 0;
            outputs(out)
        },
    )?;
    found.equal(&expected, pace)?;
    if busy { Err(format!("{pace:?}: it is busy with nothing")) } else { Ok(found) }
}

fn runs(fanouts: impl Strategy<Value = u32>) -> impl Strategy<Value = Run> {
    (any::<u64>(), any::<u64>(), fanouts).prop_map(|(seed, minibatch, fanout)| Run { seed, minibatch, fanout })
}

/// Nodes of few neighbours, of which Floyd's algorithm draws many twice, of none, of about the fan-out, and of many.
fn extents() -> impl Strategy<Value = Extent> {
    let degree = prop_oneof![4 => 0..40_u32, 1 => Just(0), 2 => ranges(), 1 => 40..3000_u32];
    (items(), degree, 0..=0x7FFF_FFFF_u32).prop_map(|(item, degree, start)| {
        let start = start.min(0x7FFF_FFFF - degree);
        Extent { item, start, degree }
    })
}

/// Of a large node only a fan-out's worth is drawn, but all are taken if the fan-out is ALL.
fn within(run: Run, extents: &[Extent]) -> Vec<Extent> {
    let most = if run.fanout == ALL { 300 } else { u32::MAX };
    extents.iter().map(|&extent| Extent { degree: extent.degree.min(most), ..extent }).collect()
}

#[test]
fn a_careful_sampler_draws_as_floyd_and_lemire() {
    let bench = RefCell::new(Bench::<CarefulSampler>::new());
    let nodes = (0..=0x7FFF_FFFF_u32, prop_oneof![ranges(), 1..70_u32]);
    Property::new("a_careful_sampler_draws_as_floyd_and_lemire", 40).check(
        &(runs(1..=MOST_FANOUT), vec(nodes, 1..8), any::<u64>()),
        |(run, nodes, seed)| {
            let nodes: Vec<_> = nodes.iter().map(|&(v, degree)| (v, degree.max(run.fanout + 1))).collect();
            let expected: Vec<_> = nodes.iter().flat_map(|&(v, degree)| run.floyd(v, degree)).collect();
            for pace in Pace::both(*seed) {
                let inputs = |node: Option<(u32, u32)>, ready: bool| {
                    let (v, degree) = node.unwrap_or_default();
                    CarefulIn {
                        seed: run.seed,
                        minibatch: run.minibatch,
                        fanout: run.fanout,
                        valid: node.is_some().into(),
                        v,
                        degree,
                        ready: ready.into(),
                        unused: 0,
                    }
                };
                let outputs = |out: &CarefulOut| (out.ready != 0, (out.valid != 0).then_some(out.pick));
                flow(&mut bench.borrow_mut(), pace, &nodes, count(expected.len()), inputs, outputs)?
                    .equal(&expected, pace)?;
            }
            Ok(())
        },
        |_| String::new(),
    );
}

#[test]
fn neighbors_are_sampled_as_the_contract_says() {
    let bench = RefCell::new(Bench::<NeighborSampler>::new());
    let fanouts = prop_oneof![4 => 0..=MOST_FANOUT, 2 => select(&[0, 1, 16, 17, MOST_FANOUT, ALL][..])];
    Property::new("neighbors_are_sampled_as_the_contract_says", 80).check(
        &(runs(fanouts), vec(extents(), 0..30), any::<u64>()),
        |(run, extents, seed)| {
            let extents = within(*run, extents);
            let bench = &mut bench.borrow_mut();
            Pace::both(*seed).into_iter().try_for_each(|pace| samples(bench, pace, *run, &extents).map(drop))
        },
        |_| String::new(),
    );
}

/// One pick a cycle, whether all are taken or the words of a block or two are drawn; the blocks of nodes that are smaller than
/// four picks take four cycles each.
#[test]
fn a_pick_leaves_in_every_cycle() {
    let mut bench = Bench::new();
    let extents: Vec<_> = (0..50).map(|v| Extent { item: Item::data(v), start: 7000 * v, degree: 34 + v }).collect();
    for (fanout, cycles_of_a_node) in [(ALL, None), (32, Some(32)), (17, Some(17)), (16, Some(16)), (4, Some(4))] {
        let run = Run { seed: 1, minibatch: 2, fanout };
        let found = samples(&mut bench, Pace::Steady, run, &extents).unwrap();
        let edges = cycles_of_a_node.map_or(found.items.len() as u64, |cycles| 50 * cycles);
        assert_eq!(found.span(), edges - 1, "fan-out {fanout}");
    }
    let run = Run { seed: 1, minibatch: 2, fanout: 1 };
    // Eight blocks in 32 cycles.
    assert_eq!(samples(&mut bench, Pace::Steady, run, &extents).unwrap().span(), 6 * 32 + 1);
}

/// When the run has failed, nothing but Ends comes through, and what was on its way comes to an end.
#[test]
fn a_failed_sampler_hands_on_ends_alone() {
    let bench = RefCell::new(Bench::<NeighborSampler>::new());
    Property::new("a_failed_sampler_hands_on_ends_alone", 40).check(
        &(runs(1..=MOST_FANOUT), vec(extents(), 1..20), prop_oneof![1 => Just(0), 3 => 0..200_u64], any::<u64>()),
        |(run, extents, fails_after, seed)| {
            let extents = [&extents[..], &[Extent { item: LAST, start: 0, degree: 0 }]].concat();
            let expected = run.edges(&extents);
            let is_end = |(item, _): &&Edge| item.kind == END;
            for pace in Pace::both(*seed) {
                let mut cycle = 0;
                let inputs = |extent, ready| {
                    cycle += 1;
                    SamplerIn { failed: (cycle > *fails_after).into(), ..inputs(*run, extent, ready) }
                };
                let last = |found: &[Edge]| found.last() == Some(&(LAST, 0));
                let found = flow(&mut bench.borrow_mut(), pace, &extents, last, inputs, outputs)?.items;
                if *fails_after == 0 && !found.iter().all(|edge| is_end(&edge)) {
                    return Err(format!("{pace:?}: {found:?}"));
                }
                let mut rest = expected.iter();
                if !found.iter().all(|edge| rest.any(|wanted| wanted == edge)) {
                    return Err(format!("{pace:?}: {found:?} is no part of {expected:?}"));
                }
                if found.iter().filter(is_end).count() != expected.iter().filter(is_end).count() {
                    return Err(format!("{pace:?}: an End is lost or comes twice: {found:?}"));
                }
            }
            Ok(())
        },
        |_| String::new(),
    );
}
