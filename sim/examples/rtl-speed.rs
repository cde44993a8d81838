//! How fast the kernel is (edges a cycle), and how fast its simulation (cycles a second), for each memory profile.
//!
//! `cargo run --release -p sim --example rtl-speed [fast|test]`

#![allow(clippy::cast_precision_loss)] // what is printed has three digits

use std::sync::Arc;

use golden::{Capacity, CscGraph, Fanout, NodeId, Request, Silent};
use hw::{Deadline, DeviceError, OutputBuffers, SamplerDevice, Slot, Slr};
use sim::rtl::{Profile, RtlDevice, RtlOptions, Variant};
use strum::VariantArray;

const NODES: u32 = 200_000;
const DEGREE: u32 = 30;

fn main() -> Result<(), DeviceError> {
    let variant = if std::env::args().nth(1).as_deref() == Some("test") { Variant::Test } else { Variant::Fast };
    // A multiplicative walk scatters the sources over all nodes.
    let source = |edge: u32| NodeId::new((u64::from(edge) * 2_654_435_761 % u64::from(NODES)) as u32);
    let ends = (0..=NODES).map(|node| node * DEGREE).collect();
    let graph = Arc::new(CscGraph::new(ends, (0..NODES * DEGREE).map(source).collect()).expect("it is a graph"));
    let request = Request {
        seed: 1,
        minibatch: 0,
        seeds: (0..256).map(|n| NodeId::new(n * 700)).collect(),
        fanouts: vec![Fanout::Count(10); 3],
    };
    println!("{variant}: {NODES} nodes of degree {DEGREE}, 256 seeds, fan-outs 10,10,10, SLR0");
    for &memory in Profile::VARIANTS {
        let options = RtlOptions { memory, variant, ..RtlOptions::default() };
        let device = RtlDevice::new(&options, &|line| eprintln!("{line}"))?;
        device.load_graph(&graph, &Silent)?;
        let capacity = Capacity::worst_case(&graph, request.seeds.len(), &request.fanouts);
        let slr = Slr::ALL[0];
        device.bind_outputs(slr, Slot(0), OutputBuffers::host(capacity))?;
        device.start(slr, Slot(0), &request)?;
        let report = device.wait(slr, Deadline::never())?;
        let (cycles, simulated) = (report.cycles.unwrap_or_default(), device.cycles(slr));
        let edges = report.hops.total_edges();
        println!(
            "{memory:8} {edges} edges in {cycles} cycles: {:.3} edges/cycle; {:.0} k cycles/s",
            edges as f64 / cycles as f64,
            simulated as f64 / 1e3 / report.elapsed.as_secs_f64(),
        );
        for stage in &report.stages {
            let share = |n: u64| 100.0 * n as f64 / cycles as f64;
            let (busy, starved, blocked) = (share(stage.busy), share(stage.starved), share(stage.blocked));
            println!("    {:8} busy {busy:3.0} %, starved {starved:3.0} %, blocked {blocked:3.0} %", stage.stage);
        }
    }
    Ok(())
}
