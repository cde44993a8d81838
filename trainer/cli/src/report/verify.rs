//! What a verification found and measured.

use std::{fmt::Write, time::Duration};

use hw::SLRS;
use pipeline::{
    units::float,
    verify::{Located, PortTotals, Report, SlrTotals},
};

use super::{
    table::{Table, count, scaled},
    traffic::WayTotals,
    transfers,
};

/// The table and the verdict.
pub(crate) fn text(report: &Report) -> String {
    let mut text = table(report).to_string();
    // Writing to a string cannot fail.
    if let Some(overlap) = report.pipeline.overlap() {
        let _ = writeln!(text, "overlap: {overlap}");
    }
    if let Some(tally) = &report.transfers {
        let _ = write!(text, "\n{}", transfers::text(tally));
    }
    let _ = writeln!(text, "\n{}", verdict(report));
    text
}

/// The result in one sentence.
pub(crate) fn verdict(report: &Report) -> String {
    if let Some(Located { iteration, slr, minibatch, difference }) = &report.difference {
        return format!(
            "DIFFERENT: back end '{}', iteration {iteration}, SLR{slr}, mini-batch {minibatch}: {difference}",
            report.backend
        );
    }
    let total = |of: fn(&SlrTotals) -> u64| count(report.slrs.iter().map(of).sum());
    format!(
        "EQUAL: back end '{}' agrees with the reference in every element of {} mini-batches ({} edges, {} nodes)",
        report.backend,
        total(|slr| slr.minibatches),
        total(|slr| slr.edges),
        total(|slr| slr.nodes),
    )
}

fn table(report: &Report) -> Table {
    let mut table = Table::default();
    let each = |of: &dyn Fn(&SlrTotals) -> String| report.slrs.iter().map(of).collect::<Vec<_>>();
    let sum = |of: fn(&SlrTotals) -> u64| report.slrs.iter().map(of).sum::<u64>();
    let reference = &report.reference;

    let heads = (0..SLRS).map(|slr| format!("SLR{slr}")).chain(["all", "reference"].map(str::to_owned));
    table.row("", heads);
    let mut counted = |name: &str, of: fn(&SlrTotals) -> u64, reference: u64| {
        table.row(name, each(&|slr| count(of(slr))).into_iter().chain([count(sum(of)), count(reference)]));
    };
    counted("mini-batches", |slr| slr.minibatches, reference.minibatches);
    counted("edges", |slr| slr.edges, reference.edges);
    counted("nodes", |slr| slr.nodes, reference.nodes);
    let time = |time: Duration| format!("{:.3} s", time.as_secs_f64());
    table
        .row("time", each(&|slr| time(slr.time)).into_iter().chain([time(report.pipeline.wall), time(reference.time)]));
    let rate = |edges: u64, time: Duration| match time.as_secs_f64() {
        seconds if seconds > 0.0 => scaled(float(edges) / seconds),
        _ => "-".to_owned(),
    };
    let edges = sum(|slr| slr.edges);
    let all = [rate(edges, report.pipeline.wall), rate(reference.edges, reference.time)];
    table.row("edges/s", each(&|slr| rate(slr.edges, slr.time)).into_iter().chain(all));

    if report.slrs.iter().all(|slr| slr.cycles.is_some()) {
        table.row("cycles", each(&|slr| count(slr.cycles.unwrap_or(0))));
        let rate = |slr: &SlrTotals| format!("{:.3}", float(slr.edges) / float(slr.cycles.unwrap_or(0).max(1)));
        table.row("edges/cycle", each(&rate));
    }
    traffic(report, &mut table);
    table
}

/// Bursts, beats and useful bytes of each port that had any, and the cycles of each stage in percent.
fn traffic(report: &Report, table: &mut Table) {
    let [first, ..] = &report.slrs;
    if !first.ports.is_empty() {
        table.row("ports: bursts, beats, useful bytes", []);
    }
    for (i, port) in first.ports.iter().enumerate() {
        let writes = WayTotals::of_writes;
        let ways = [("reads", WayTotals::of_reads as fn(&PortTotals) -> WayTotals), ("writes", writes)];
        for (way, of) in ways {
            let slrs: Vec<_> =
                report.slrs.iter().map(|slr| slr.ports.get(i).map_or_else(WayTotals::default, of)).collect();
            let all = slrs.iter().fold(WayTotals::default(), |sum, &slr| sum.plus(slr));
            if all.beats > 0 {
                let cell = |way: WayTotals| {
                    format!("{} {} {:3.0} %", count(way.bursts), count(way.beats), 100.0 * way.share())
                };
                table.row(format!("  {} {way}", port.port), slrs.into_iter().chain([all]).map(cell));
            }
        }
    }
    if !first.stages.is_empty() {
        table.row("stages: busy, starved, blocked", []);
    }
    for (i, stage) in first.stages.iter().enumerate() {
        let cells = report.slrs.iter().map(|slr| match (slr.stages.get(i), slr.cycles) {
            (Some(stage), Some(cycles)) if cycles > 0 => {
                let percent = |part: u64| format!("{:3.0} %", 100.0 * float(part) / float(cycles));
                [stage.busy, stage.starved, stage.blocked].map(percent).join(" ")
            }
            _ => "-".to_owned(),
        });
        table.row(format!("  {}", stage.stage), cells);
    }
}
