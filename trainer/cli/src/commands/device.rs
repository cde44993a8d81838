//! `trisage device`.

use std::{fmt::Write, sync::Arc, time::Duration};

use clap::{Args, Subcommand};
use golden::{Buffer, Capacity, CscGraph, Fanout, NodeId, Request, SubGraph};
use hw::{
    Deadline, OutputBuffers, RunReport, SamplerDevice, Slot, Slr,
    xrt::{self, Description, PciFunction, XrtDevice},
};

use crate::{
    Verdict,
    backends::xrt::Options as CardOptions,
    error::CliError,
    output::{print, say},
    progress::Bar,
};

#[derive(Debug, Subcommand)]
pub(crate) enum DeviceCommand {
    /// Show the cards of this machine, as the kernel sees them; XRT is not needed
    List,
    /// Open a card, look whether the xclbin fits, and let each SLR sample a mini-batch whose result is known
    Validate(CardArgs),
    /// Show the ways from a card to a consumer, and how fast they are
    Probe(ProbeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CardArgs {
    #[command(flatten)]
    card: CardOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    card: CardOptions,
    /// Megabytes that are moved to measure a way
    #[arg(long, default_value_t = 64, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=1024))]
    megabytes: u32,
}

pub(crate) fn run(command: &DeviceCommand) -> Result<Verdict, CliError> {
    match command {
        DeviceCommand::List => {
            print(&list(&xrt::pci_functions()))?;
            Ok(Verdict::Success)
        }
        DeviceCommand::Validate(args) => validate(&args.card.open_card()?),
        DeviceCommand::Probe(args) => {
            let device = args.card.open_card()?;
            print(&description(&device.describe()?))?;
            print(&ways(&device.measure(args.megabytes as usize * 1_000_000)?))?;
            Ok(Verdict::Success)
        }
    }
}

/// A paragraph for each function.
fn list(functions: &[PciFunction]) -> String {
    if functions.is_empty() {
        return "no card: nothing of vendor 10ee (Xilinx) is on the PCI bus\n".to_owned();
    }
    let mut text = String::new();
    for PciFunction { bdf, device, driver, platform, xclbin, peer_to_peer, bars } in functions {
        let use_of = match driver.as_deref() {
            Some("xocl") => "driver xocl: the function to use".to_owned(),
            Some("xclmgmt") => "driver xclmgmt: the function that manages the card".to_owned(),
            Some(other) => format!("driver {other}, which is not XRT's"),
            None => "no driver; is XRT's package installed?".to_owned(),
        };
        line(&mut text, &format!("{bdf}  PCI device {device}, {use_of}"));
        let facts = [("platform", platform), ("xclbin", xclbin), ("peer to peer", peer_to_peer)];
        for (name, fact) in facts {
            if let Some(fact) = fact {
                line(&mut text, &format!("  {name:<14}{}", fact.replace('\n', ", ")));
            }
        }
        let bars: Vec<_> = bars.iter().map(|(bar, bytes)| format!("{bar}: {}", size(*bytes))).collect();
        line(&mut text, &format!("  {:<14}{}", "BARs", bars.join(", ")));
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes all");
}

/// Bytes in the largest unit that is whole.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

fn description(Description { platform, xclbin, emulated, units }: &Description) -> String {
    let emulated = if *emulated { " (emulated: times mean nothing)" } else { "" };
    let mut text = format!("platform  {platform}{emulated}\nxclbin    {xclbin}\n");
    for unit in units {
        let banks: Vec<_> = unit.banks.iter().map(|(port, banks)| format!("{port} {banks}")).collect();
        let table = match unit.table_slots {
            0 => "a hash table of unknown size".to_owned(),
            slots => format!("a hash table of {slots} slots"),
        };
        let (slr, channels, banks) = (unit.slr, unit.channels, banks.join(", "));
        line(&mut text, &format!("{slr}      {channels} index channels, {table}; memory: {banks}"));
    }
    text
}

fn ways(rates: &xrt::Rates) -> String {
    let mut text = String::new();
    let bytes = size(rates.bytes as u64);
    line(&mut text, &format!("host memory, pinned for the card's DMA engine, {bytes} at once"));
    line(&mut text, &format!("  to the card   {}", rates.to_card));
    line(&mut text, &format!("  to the host   {}", rates.to_host));
    match &rates.bar {
        Ok(rate) => {
            line(&mut text, "card memory behind its BAR (--p2p)");
            line(&mut text, &format!("  read by the processor  {rate}; a GPU that pulls has a rate of its own"));
        }
        Err(error) => line(&mut text, &format!("card memory behind its BAR (--p2p): not possible; {error}")),
    }
    line(&mut text, "memory that another device exports as a dma-buf (--dma-buf): only an export can tell");
    text
}

/// A mini-batch that reaches every stage of a kernel: hubs, self-loops and parallel edges, all of a node's edges and some.
fn known() -> (Arc<CscGraph>, Vec<Request>) {
    const NODES: u32 = 2_000;
    let degree = |node: u32| if node.is_multiple_of(97) { 300 } else { node % 23 };
    let indptr: Vec<u32> = std::iter::once(0)
        .chain((0..NODES).scan(0, |sum, node| {
            *sum += degree(node);
            Some(*sum)
        }))
        .collect();
    let edges = indptr[NODES as usize];
    let indices = (0..edges).map(|edge| NodeId::new((edge.wrapping_mul(2_654_435_761) >> 8) % NODES)).collect();
    let graph = CscGraph::new(indptr, indices).unwrap_or_else(|error| unreachable!("every index is a node: {error}"));
    let request = |minibatch: u64, seeds: u32, fanouts: &[Fanout]| Request {
        seed: 0x7472_6973,
        minibatch,
        seeds: (0..seeds).map(|at| NodeId::new(at * 7 % NODES)).collect(),
        fanouts: fanouts.to_vec(),
    };
    let requests = vec![
        request(0, 1, &[Fanout::Count(1)]),
        request(1, 200, &[Fanout::Count(10), Fanout::Count(5), Fanout::Count(3)]),
        request(2, 17, &[Fanout::All, Fanout::Count(4)]),
    ];
    (Arc::new(graph), requests)
}

/// Lets every SLR sample what is known.
fn validate(device: &XrtDevice) -> Result<Verdict, CliError> {
    let about = device.describe()?;
    print(&description(&about))?;
    let (graph, requests) = known();
    device.load_graph(&graph, &Bar::default())?;
    let mut verdict = Verdict::Success;
    for slr in Slr::ALL {
        let (mut edges, mut cycles, mut time) = (0, 0, Duration::ZERO);
        for request in &requests {
            let capacity = Capacity::worst_case(&graph, request.seeds.len(), &request.fanouts);
            let expected = golden::sample(&graph, request, capacity)?;
            let outputs = OutputBuffers::host(capacity);
            device.bind_outputs(slr, Slot(0), outputs.clone())?;
            device.start(slr, Slot(0), request)?;
            let report = device.wait(slr, Deadline::never())?;
            if let Some(what) = difference(&expected, &report, &outputs) {
                print(&format!("{slr}: DIFFERENT: mini-batch {}: {what}\n", request.minibatch))?;
                verdict = Verdict::Different;
            }
            edges += report.hops.total_edges();
            cycles += report.cycles.unwrap_or(0);
            time += report.elapsed;
        }
        print(&format!("{slr}: {edges} edges, {cycles} cycles, {:.3} ms\n", time.as_secs_f64() * 1e3))?;
        if !about.emulated && late(time, cycles) {
            say(&format!(
                "warning: {slr} was done long before the host was told; its interrupts may not arrive, of which dmesg says more"
            ));
        }
    }
    if verdict == Verdict::Success {
        print("EQUAL: every SLR samples what the reference does\n")?;
    }
    Ok(verdict)
}

/// Whether runs took far longer than the kernel: without interrupts, XRT looks every 500 ms (XRT issue 9737).
fn late(time: Duration, cycles: u64) -> bool {
    const SLOWEST_CLOCK: u64 = 50_000_000;
    cycles > 0 && time > Duration::from_millis(300) + Duration::from_micros(cycles * 1_000_000 / SLOWEST_CLOCK)
}

/// What differs first.
fn difference(expected: &SubGraph, report: &RunReport, outputs: &OutputBuffers) -> Option<String> {
    if report.hops != expected.hops {
        return Some(format!("it counts {:?}, and the reference {:?}", report.hops, expected.hops));
    }
    for buffer in Buffer::ALL {
        let valid = expected.buffer(buffer);
        let found = outputs.get(buffer).elements()?.to_vec(0..valid.len());
        if let Some(at) = found.iter().zip(valid).position(|(found, expected)| found != expected) {
            let name = buffer.name();
            return Some(format!("{name}[{at}] is {}, and {} in the reference", found[at], valid[at]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_listed_with_what_is_known_of_them() {
        assert!(list(&[]).starts_with("no card"));
        let user = PciFunction {
            bdf: "0000:03:00.1".to_owned(),
            device: "0x500d".to_owned(),
            driver: Some("xocl".to_owned()),
            platform: Some("xilinx_u280".to_owned()),
            xclbin: None,
            peer_to_peer: Some("bar:2\nremap:0".to_owned()),
            bars: vec![(0, 32 << 20), (2, 16 << 30), (4, 3000)],
        };
        let without = PciFunction { driver: None, platform: None, peer_to_peer: None, bars: vec![], ..user.clone() };
        assert_eq!(
            list(&[user, without]),
            "0000:03:00.1  PCI device 0x500d, driver xocl: the function to use\n  \
             platform      xilinx_u280\n  peer to peer  bar:2, remap:0\n  \
             BARs          0: 32 MiB, 2: 16 GiB, 4: 3000 bytes\n\
             0000:03:00.1  PCI device 0x500d, no driver; is XRT's package installed?\n  BARs          \n"
        );
    }

    #[test]
    fn what_validates_a_card_has_something_of_everything() {
        let (graph, requests) = known();
        let mut distinct = std::collections::HashSet::new();
        for request in &requests {
            let found = golden::sample(&graph, request, Capacity::UNBOUNDED).unwrap();
            assert!(!found.edges.is_empty() || request.minibatch == 0);
            distinct.extend(found.samples);
        }
        assert!(distinct.len() > 1_000);
        let loops = (0..graph.nodes()).filter(|&node| {
            let range = graph.indptr()[node] as usize..graph.indptr()[node + 1] as usize;
            graph.indices()[range].contains(&NodeId::new(node as u32))
        });
        assert!(loops.count() > 0);
    }

    #[test]
    fn a_run_that_is_told_late_is_noticed() {
        assert!(late(Duration::from_millis(500), 10_000));
        assert!(!late(Duration::from_millis(500), 100_000_000));
        assert!(!late(Duration::from_millis(200), 10_000));
    }
}
