//! How fast the software model samples (edges a second, one SLR): its sampling loop alone, and the model with what may be asked
//! for beside it.
//!
//! `cargo run --release -p sim --example model-speed [GRAPH [FAN-OUTS [MINI-BATCHES]]]`

#![allow(clippy::cast_precision_loss)] // what is printed has three digits

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Capacity, CscGraph, Fanout, NodeId, Request, Silent};
use golden_files::generate::GraphSpec;
use hw::{Deadline, OutputBuffers, SamplerDevice, Slot, Slr};
use sim::{
    Cancel,
    model::{ModelOptions, Scratch, SoftwareModel, TimingOptions, sample},
};

const GRAPH: &str = "gen:power-law:shape=products,scale=1/16,seed=1";
const FANOUTS: &str = "15,10,5";
const SEEDS: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let spec = args.next().unwrap_or_else(|| GRAPH.to_owned());
    let fanouts = args.next().unwrap_or_else(|| FANOUTS.to_owned());
    let minibatches = args.next().map_or(Ok(20), |text| text.parse::<u64>())?.max(1);
    let graph = Arc::new(spec.parse::<GraphSpec>()?.generate(&Silent));
    let fanouts: Vec<Fanout> = fanouts.split(',').map(str::parse).collect::<Result<_, _>>()?;
    println!("{spec}, fan-outs {fanouts:?}, {minibatches} mini-batches");

    let (capacity, seeds) = (Capacity::worst_case(&graph, SEEDS, &fanouts), SEEDS.min(graph.nodes()));
    let request = |minibatch: u64| {
        let first = minibatch as usize * seeds;
        let seeds = (first..first + seeds).map(|n| NodeId::from_index(n % graph.nodes())).collect();
        Request { seed: 1, minibatch, seeds, fanouts: fanouts.clone() }
    };
    let mut scratch = Scratch::default();
    measure("the loop alone", minibatches, |minibatch| {
        let request = request(minibatch);
        let begin = Instant::now();
        let sub = sample(&graph, &request, capacity, &Cancel::default(), &mut scratch);
        let edges = sub.map(|sub| sub.edges.len()).map_err(|stop| format!("{stop:?}"))?;
        Ok((edges, begin.elapsed()))
    })?;
    let timing = Some(TimingOptions::default());
    for (what, traffic, timing) in
        [("the model", false, None), ("with traffic", true, None), ("with traffic and cycles", true, timing)]
    {
        let model = SoftwareModel::new(ModelOptions { traffic, timing, ..ModelOptions::default() })?;
        measure_model(what, &model, &graph, capacity, minibatches, &request)?;
    }
    Ok(())
}

fn measure_model(
    what: &str,
    model: &SoftwareModel,
    graph: &Arc<CscGraph>,
    capacity: Capacity,
    minibatches: u64,
    request: &impl Fn(u64) -> Request,
) -> Result<(), Box<dyn Error>> {
    let [slr, ..] = Slr::ALL;
    model.load_graph(graph, &Silent)?;
    model.bind_outputs(slr, Slot(0), OutputBuffers::host(capacity))?;
    measure(what, minibatches, |minibatch| {
        model.start(slr, Slot(0), &request(minibatch))?;
        let report = model.wait(slr, Deadline::never())?;
        Ok((report.hops.total_edges(), report.elapsed))
    })
}

/// Prints the rates of some runs, each of which gives its edges and its time. The first does not count.
fn measure(
    what: &str,
    minibatches: u64,
    mut run: impl FnMut(u64) -> Result<(usize, Duration), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    run(minibatches)?;
    let (mut rates, mut total) = (vec![], 0);
    for minibatch in 0..minibatches {
        let (edges, time) = run(minibatch)?;
        rates.push(edges as f64 / time.as_secs_f64());
        total += edges;
    }
    rates.sort_by(f64::total_cmp);
    let [median, best] = [rates.len() / 2, rates.len() - 1].map(|at| rates[at] / 1e6);
    println!("{what:24} {median:7.2} M edges/s, at best {best:7.2}; {total} edges");
    Ok(())
}
