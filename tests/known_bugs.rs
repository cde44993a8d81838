//! What users of comparable samplers ran into, as tests with the right value, on every back end. Each names the report that it
//! stands for.

use std::{collections::HashSet, fs, sync::Arc};

use golden::{Buffer, Capacity, CscGraph, ID_MAX, RequestError};
use golden_files::read;
use hw::{DeviceError, SamplerDevice, Slr};
use tests::{Bench, Outcome, from_arcs, hexagon, model, random_multigraph, request, rtl, rtl_options, star};

const ALL: i32 = -1;
const ROOMY: Capacity = Capacity { nodes: 5000, edges: 5000 };

/// Runs each check on each back end.
macro_rules! on_every_back_end {
    ($($(#[$doc:meta])* $check:ident),* $(,)?) => {
        mod model {
            $($(#[$doc])* #[test] fn $check() { super::$check(&super::model()); })*
        }
        mod rtl {
            $($(#[$doc])* #[test] fn $check() { super::$check(&super::rtl(&super::rtl_options())); })*
        }
    };
}

on_every_back_end!(
    isolated_nodes_are_counted,
    a_batch_without_edges_is_a_batch,
    repeated_seeds_are_refused,
    every_pair_of_neighbours_is_drawn_equally_often,
    nothing_is_drawn_twice,
    a_node_without_neighbours_draws_nothing,
    a_fanout_of_all_takes_all,
    a_seed_outside_the_graph_is_refused,
    a_second_call_after_another_graph_is_right,
    the_same_seed_gives_the_same_sub_graph_on_every_slr,
    a_new_seed_counts_at_once,
    each_slr_takes_its_own_mini_batch,
    edges_are_positions_of_the_input,
    as_many_nodes_as_edges,
    an_empty_batch_has_empty_buffers,
    seeds_come_first_and_in_order,
    nothing_is_negative,
    memory_does_not_grow,
);

fn run(bench: &Bench, request: &golden::Request) -> Outcome {
    bench.check(Slr::ALL[0], request).unwrap_or_else(|why| panic!("{why}\n{request:?}"));
    bench.run(Slr::ALL[0], request, ROOMY)
}

fn valid(outcome: &Outcome, buffer: Buffer) -> &[i32] {
    &outcome.buffers[buffer as usize][..outcome.result.as_ref().unwrap().hops.len_of(buffer)]
}

/// `pyg-team/pytorch_geometric` #5846, #1917: a size inferred from edges misses isolated nodes.
fn isolated_nodes_are_counted(device: &dyn SamplerDevice) {
    let graph = from_arcs(10, &[(1, 0)]);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [9, 0, 5], &[ALL]));
    assert_eq!(valid(&outcome, Buffer::Samples), [9, 0, 5, 1]);
    assert_eq!(outcome.result.unwrap().hops.nodes, [3, 1]);
}

/// `pyg-team/pytorch_geometric` #5827: a batch without edges breaks what comes after; and the oracle that on a graph without
/// edges the seeds come back and nothing else.
fn a_batch_without_edges_is_a_batch(device: &dyn SamplerDevice) {
    let graph = from_arcs(10, &[]);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [7, 3], &[ALL, 5]));
    assert_eq!(valid(&outcome, Buffer::Samples), [7, 3]);
    for buffer in [Buffer::Rows, Buffer::Cols, Buffer::Edges] {
        assert!(valid(&outcome, buffer).is_empty());
    }
    let hops = outcome.result.unwrap().hops;
    assert_eq!((hops.nodes, hops.edges), (vec![2, 0, 0], vec![0, 0]));
}

/// `rusty1s/pytorch_sparse` #208, `dmlc/dgl` #4737, and pyg-lib, where a duplicate seed misaligns every later local index.
fn repeated_seeds_are_refused(device: &dyn SamplerDevice) {
    let graph = hexagon();
    let outcome = Bench::new(device, &graph).run(Slr::ALL[0], &request(1, 0, [2, 4, 2], &[2]), ROOMY);
    match outcome.result {
        Err(DeviceError::Request(RequestError::DuplicateSeed { node, first: 0, second: 2 })) => {
            assert_eq!(node.get(), 2);
        }
        other => panic!("{other:?}"),
    }
    assert!(outcome.buffers.iter().flatten().all(|&element| element < 0), "something was written");
}

/// `rusty1s/pytorch_sparse` #385 (the last combination is never drawn), `dmlc/dgl` PR 1928 (the first neighbour is never
/// picked): all 15 pairs of 6 neighbours, each as often as the others.
fn every_pair_of_neighbours_is_drawn_equally_often(device: &dyn SamplerDevice) {
    let graph = star(6);
    let bench = Bench::new(device, &graph);
    let runs = 3000;
    let mut counts = [[0u32; 6]; 6];
    for minibatch in 0..runs {
        let outcome = bench.run(Slr::ALL[0], &request(5, minibatch, [0], &[2]), ROOMY);
        let [a, b] = valid(&outcome, Buffer::Edges) else { panic!("{outcome:?}") };
        let [a, b] = [a.min(b), a.max(b)].map(|edge| edge.cast_unsigned() as usize);
        counts[a][b] += 1;
    }
    let expected = runs as f64 / 15.0;
    let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
    let chi_square: f64 = pairs.map(|(a, b)| (f64::from(counts[a][b]) - expected).powi(2) / expected).sum();
    // 14 degrees of freedom: above 36.1 with probability 0.001; the seed is fixed, so the outcome is too.
    assert!(chi_square < 36.1, "chi-square {chi_square}: {counts:?}");
}

/// `pyg-team/pyg-lib` PR 275: a fast path returned duplicates without replacement.
fn nothing_is_drawn_twice(device: &dyn SamplerDevice) {
    let graph = star(40);
    let bench = Bench::new(device, &graph);
    for minibatch in 0..200 {
        let outcome = bench.run(Slr::ALL[0], &request(6, minibatch, [0], &[32]), ROOMY);
        let edges = valid(&outcome, Buffer::Edges);
        assert_eq!((edges.len(), edges.iter().collect::<HashSet<_>>().len()), (32, 32));
    }
}

/// `dmlc/dgl` #1421, `rusty1s/pytorch_sparse` #165: degree 0 gives an id of -1, or a floating point exception.
fn a_node_without_neighbours_draws_nothing(device: &dyn SamplerDevice) {
    let graph = from_arcs(3, &[(0, 1), (2, 1)]);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [0, 1], &[1, 1]));
    assert_eq!(valid(&outcome, Buffer::Cols), [1]);
    assert_eq!(outcome.result.unwrap().hops.edges, [1, 0]);
}

/// `dmlc/dgl` #1777 and #4711, `rapidsai/cugraph` #2425: fan-out -1 is mishandled. The undirected 6-cycle is an oracle.
fn a_fanout_of_all_takes_all(device: &dyn SamplerDevice) {
    let graph = hexagon();
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [2, 3], &[ALL, ALL]));
    let hops = outcome.result.unwrap().hops;
    assert_eq!((hops.nodes, hops.edges), (vec![2, 2, 2], vec![4, 4]));
    let graph = star(3000);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [0], &[ALL]));
    assert_eq!(valid(&outcome, Buffer::Edges), (0..3000).collect::<Vec<_>>());
}

/// `dmlc/dgl` #4182: a seed outside the graph dumps core; PR 6098: unknown ids become -1.
fn a_seed_outside_the_graph_is_refused(device: &dyn SamplerDevice) {
    let graph = hexagon();
    for seed in [6, ID_MAX] {
        let outcome = Bench::new(device, &graph).run(Slr::ALL[0], &request(1, 0, [0, seed], &[1]), ROOMY);
        match outcome.result {
            Err(DeviceError::Request(refusal)) => {
                let sentence = format!("seed node {seed} (at position 1) is not in the graph; its nodes are 0..6");
                assert_eq!(refusal.to_string(), sentence);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// `rapidsai/cugraph` #2446: an illegal access in the second call, after renumbering.
fn a_second_call_after_another_graph_is_right(device: &dyn SamplerDevice) {
    for nodes in [1000, 10, 500, 20] {
        let graph = random_multigraph(nodes, nodes as usize * 5, u64::from(nodes));
        let bench = Bench::new(device, &graph);
        run(&bench, &request(2, 0, 0..10, &[3, 3]));
        run(&bench, &request(2, 1, 0..10, &[3, 3]));
    }
}

/// `pyg-team/pyg-lib` #527, `dmlc/dgl` #7831: the same seed gives another sub-graph, depending on threads.
fn the_same_seed_gives_the_same_sub_graph_on_every_slr(device: &dyn SamplerDevice) {
    let graph = random_multigraph(500, 20_000, 3);
    let bench = Bench::new(device, &graph);
    let request = request(77, 5, 0..100, &[5, 5]);
    let first = bench.run(Slr::ALL[0], &request, ROOMY).buffers;
    for slr in Slr::ALL {
        assert_eq!(bench.run(slr, &request, ROOMY).buffers, first, "{slr}");
    }
}

/// `dmlc/dgl` #1692 (a seed that does not repeat), PR 6895 (a seed that existing generators do not take over).
fn a_new_seed_counts_at_once(device: &dyn SamplerDevice) {
    let graph = star(2000);
    let bench = Bench::new(device, &graph);
    let edges = |seed, minibatch| {
        let outcome = bench.run(Slr::ALL[0], &request(seed, minibatch, [0], &[8]), ROOMY);
        valid(&outcome, Buffer::Edges).to_vec()
    };
    let first = edges(1, 0);
    assert_ne!(edges(2, 0), first);
    assert_ne!(edges(1, 1), first);
    assert_eq!(edges(1, 0), first);
}

/// `rapidsai/cugraph` #2760: every worker gets all seeds, so more is drawn than the fan-out allows.
fn each_slr_takes_its_own_mini_batch(device: &dyn SamplerDevice) {
    let graph = star(100);
    let bench = Bench::new(device, &graph);
    let mut seen = HashSet::new();
    for (slr, minibatch) in Slr::ALL.into_iter().zip(0..) {
        let outcome = bench.run(slr, &request(1, minibatch, [0], &[10]), ROOMY);
        assert_eq!(valid(&outcome, Buffer::Edges).len(), 10);
        assert!(seen.insert(valid(&outcome, Buffer::Edges).to_vec()), "{slr} drew what another has drawn");
    }
}

/// `rapidsai/cugraph` #2562, #2981, #2994: edge ids are ignored, or carried as floats; parallel edges have their own.
fn edges_are_positions_of_the_input(device: &dyn SamplerDevice) {
    let graph = from_arcs(3, &[(1, 0), (2, 0), (1, 0), (1, 0)]);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [0], &[ALL]));
    assert_eq!(valid(&outcome, Buffer::Edges), [0, 1, 2, 3]);
    assert_eq!(valid(&outcome, Buffer::Rows), [1, 2, 1, 1]);
}

/// `pyg-team/pytorch_geometric` #3626: with as many nodes as edges, one is taken for the other.
fn as_many_nodes_as_edges(device: &dyn SamplerDevice) {
    let arcs: Vec<_> = (0..20).map(|v| ((v + 1) % 20, v)).collect();
    let graph = from_arcs(20, &arcs);
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [0], &[1, 1, 1]));
    assert_eq!(valid(&outcome, Buffer::Samples), [0, 1, 2, 3]);
    assert_eq!(valid(&outcome, Buffer::Edges), [0, 1, 2]);
}

/// `rapidsai/cugraph` PR 4942: an empty batch crashes.
fn an_empty_batch_has_empty_buffers(device: &dyn SamplerDevice) {
    let graph = hexagon();
    let outcome = run(&Bench::new(device, &graph), &request(1, 0, [], &[2, 2]));
    assert!(outcome.buffers.iter().flatten().all(|&element| element < 0), "something was written");
    let hops = outcome.result.unwrap().hops;
    assert_eq!((hops.nodes, hops.edges), (vec![0, 0, 0], vec![0, 0]));
}

/// `dmlc/dgl` PR 5304, PR 7217: seeds are not first, the order of the others is by chance.
fn seeds_come_first_and_in_order(device: &dyn SamplerDevice) {
    let graph = random_multigraph(200, 4000, 4);
    let bench = Bench::new(device, &graph);
    let seeds = [150, 3, 99, 0, 42];
    let outcome = run(&bench, &request(8, 0, seeds, &[6, 6]));
    assert!(valid(&outcome, Buffer::Samples).starts_with(&seeds.map(u32::cast_signed)));
    let cols = valid(&outcome, Buffer::Cols);
    assert!(cols.is_sorted(), "nodes are expanded in order");
}

/// `dmlc/dgl` PR 6098 (review): unknown ids silently map to -1.
fn nothing_is_negative(device: &dyn SamplerDevice) {
    let graph = random_multigraph(300, 3000, 16);
    let outcome = run(&Bench::new(device, &graph), &request(3, 3, 0..64, &[8, 8, 8]));
    for buffer in Buffer::ALL {
        assert!(valid(&outcome, buffer).iter().all(|&element| element >= 0), "{}", buffer.name());
    }
}

/// `rapidsai/cugraph` #2788, `pyg-team/pytorch_geometric` #3198: memory grows with every call.
fn memory_does_not_grow(device: &dyn SamplerDevice) {
    let graph = random_multigraph(500, 5000, 17);
    let bench = Bench::new(device, &graph);
    let run = |minibatch| {
        let outcome = bench.run(Slr::ALL[0], &request(1, minibatch, 0..64, &[4, 4]), ROOMY);
        assert!(outcome.result.is_ok());
    };
    (0..50).for_each(run);
    let before = resident_kib();
    (50..650).for_each(run);
    // Two buffers' worth of leak a call would be 24 MiB; other tests of the process may move it by some.
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 600 * 20, "600 runs have grown the process by {grown} KiB");
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells a process about itself");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it tells the resident size");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("in KiB")
}

/// `dmlc/dgl` #6585, #7850, `rapidsai/cugraph` PR 2023: ids or offsets of the wrong width near 2^31. A graph beyond it is refused by
/// name, before its arrays are read.
#[test]
fn a_graph_that_int32_cannot_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = |shape: u64, descr: &str| {
        let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape},), }}");
        while (text.len() + 11) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    let mut indptr = header(2, "<i8");
    indptr.extend([0i64, 1 << 31].iter().flat_map(|v| v.to_le_bytes()));
    fs::write(folder.path().join("indptr.npy"), indptr).unwrap();
    fs::write(folder.path().join("indices.npy"), header(1 << 31, "<i4")).unwrap();
    let error = read::graph(folder.path(), &read::ReadOptions::default(), &golden::Silent).unwrap_err().to_string();
    assert!(error.contains("2147483647"), "{error}");
}

/// pyg-lib draws from ranges below 2^16 with 16 bits modulo the range: at degree 21,657 some neighbours are 4/3 as likely as
/// others, at 40,000 twice. Ours is exactly uniform: chi-square over a million draws, golden and model.
#[test]
fn draws_are_uniform_at_every_degree() {
    let software = model();
    for degree in [7, 21_657, 40_000, 70_000] {
        let graph = star(degree);
        let bench = Bench::new(&software, &graph);
        let draws = 1_000_000;
        let by_golden = (0..draws).map(|minibatch| golden_draw(&graph, minibatch));
        assert_uniform(degree, draws, by_golden);
        let some = 100_000;
        let capacity = Capacity { nodes: 2, edges: 1 };
        let by_model = (0..some).map(|minibatch| {
            let outcome = bench.run(Slr::ALL[0], &request(31, minibatch, [0], &[1]), capacity);
            assert!(outcome.result.is_ok());
            outcome.buffers[Buffer::Edges as usize][0].cast_unsigned()
        });
        assert!(by_model.zip(0..).all(|(edge, minibatch)| edge == golden_draw(&graph, minibatch)), "degree {degree}");
    }
}

fn golden_draw(graph: &Arc<CscGraph>, minibatch: u64) -> u32 {
    let sub = golden::sample(graph, &request(31, minibatch, [0], &[1]), Capacity::UNBOUNDED).unwrap();
    sub.edges[0].get()
}

/// Chi-square over `degree` cells, or 1,000 cells of neighbouring values; the seed is fixed, so the outcome is too.
fn assert_uniform(degree: u32, draws: u64, values: impl Iterator<Item = u32>) {
    let cells = degree.min(1000);
    let cell = |value: u32| (u64::from(value) * u64::from(cells) / u64::from(degree)) as usize;
    let mut size = vec![0u64; cells as usize];
    (0..degree).for_each(|value| size[cell(value)] += 1);
    let mut count = vec![0u64; cells as usize];
    values.for_each(|value| count[cell(value)] += 1);
    assert_eq!(count.iter().sum::<u64>(), draws);
    let chi_square: f64 = count
        .iter()
        .zip(&size)
        .map(|(&found, &size)| {
            let expected = draws as f64 * size as f64 / f64::from(degree);
            (found as f64 - expected).powi(2) / expected
        })
        .sum();
    // Wilson and Hilferty: (chi-square / k)^(1/3) is near normal; 4 standard deviations either way.
    let k = f64::from(cells - 1);
    let z = ((chi_square / k).cbrt() - (1.0 - 2.0 / (9.0 * k))) / (2.0 / (9.0 * k)).sqrt();
    assert!(z.abs() < 4.0, "degree {degree}: chi-square {chi_square} over {cells} cells, z = {z}");
}
