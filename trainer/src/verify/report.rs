//! What a verification found and measured.

use std::{fmt, time::Duration};

use golden::SubGraph;
use hw::{RunReport, SLRS};
use serde::Serialize;

use super::Difference;
use crate::{
    ledger::Tally,
    pipeline::{Sink, Totals},
    table::{Table, count, float, scaled, seconds},
};

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The back end's name.
    pub backend: &'static str,
    /// Iterations that were compared.
    pub iterations: u64,
    /// The first difference.
    pub difference: Option<Located>,
    /// The way that sub-graphs took.
    pub sink: Sink,
    /// What the pipeline's stages took; zero if it did not come to its end.
    pub pipeline: Totals,
    /// What crossed the bus, if that was counted.
    pub transfers: Option<Tally>,
    /// What each SLR did.
    pub slrs: [SlrTotals; SLRS],
    /// What the reference did.
    pub reference: Reference,
}

/// A difference, and the run that had it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The iteration, from 0.
    pub iteration: u64,
    /// The SLR's index.
    pub slr: usize,
    /// The mini-batch.
    pub minibatch: u64,
    /// What differs.
    pub difference: Difference,
}

/// All runs of one SLR together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SlrTotals {
    /// Mini-batches sampled.
    pub minibatches: u64,
    /// Nodes in them.
    pub nodes: u64,
    /// Edges in them.
    pub edges: u64,
    /// Time from start to completion; JSON: seconds.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// Clock cycles, if the back end counts them.
    pub cycles: Option<u64>,
    /// Traffic of each port, if the back end counts it.
    pub ports: Vec<PortTotals>,
    /// Cycles of each stage, if the back end counts them.
    pub stages: Vec<StageTotals>,
}

/// Traffic of one port.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PortTotals {
    /// The port's name.
    pub port: &'static str,
    /// Read bursts.
    pub reads: u64,
    /// Read beats of 64 bytes.
    pub read_beats: u64,
    /// Bytes of the read beats that were needed.
    pub read_useful: u64,
    /// Write bursts.
    pub writes: u64,
    /// Write beats of 64 bytes.
    pub write_beats: u64,
    /// Bytes of the write beats that were written.
    pub write_useful: u64,
}

/// Traffic of a port in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WayTotals {
    pub(crate) bursts: u64,
    pub(crate) beats: u64,
    pub(crate) useful: u64,
}

impl WayTotals {
    pub(crate) fn of_reads(port: &PortTotals) -> Self {
        Self { bursts: port.reads, beats: port.read_beats, useful: port.read_useful }
    }

    pub(crate) fn of_writes(port: &PortTotals) -> Self {
        Self { bursts: port.writes, beats: port.write_beats, useful: port.write_useful }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let Self { bursts, beats, useful } = other;
        Self { bursts: self.bursts + bursts, beats: self.beats + beats, useful: self.useful + useful }
    }

    /// The part of the bytes on the bus that is of use; 1 is all.
    pub(crate) fn share(self) -> f64 {
        float(self.useful) / float((self.beats * hw::card::LINE_BYTES as u64).max(1))
    }
}

/// Cycles of one stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageTotals {
    /// The stage's name.
    pub stage: &'static str,
    /// Cycles with work.
    pub busy: u64,
    /// Cycles without anything to work on.
    pub starved: u64,
    /// Cycles in which the next stage did not take a result.
    pub blocked: u64,
}

/// What the reference did, once for each mini-batch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reference {
    /// Mini-batches sampled.
    pub minibatches: u64,
    /// Nodes in them.
    pub nodes: u64,
    /// Edges in them.
    pub edges: u64,
    /// Time taken; JSON: seconds.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
}

impl Reference {
    pub(super) fn new(sampled: &[SubGraph], time: Duration) -> Self {
        let total = |of: fn(&SubGraph) -> usize| sampled.iter().map(|sub| of(sub) as u64).sum();
        let (nodes, edges) = (total(|sub| sub.samples.len()), total(|sub| sub.edges.len()));
        Self { minibatches: sampled.len() as u64, nodes, edges, time }
    }
}

impl SlrTotals {
    pub(crate) fn add(&mut self, run: &RunReport) {
        self.minibatches += 1;
        self.nodes += run.hops.total_nodes() as u64;
        self.edges += run.hops.total_edges() as u64;
        self.time += run.elapsed;
        if let Some(cycles) = run.cycles {
            *self.cycles.get_or_insert_default() += cycles;
        }
        for (i, port) in run.ports.iter().enumerate() {
            if self.ports.len() == i {
                let port = port.port;
                self.ports.push(PortTotals { port, ..PortTotals::default() });
            }
            let total = &mut self.ports[i];
            total.reads += port.reads;
            total.read_beats += port.read_beats;
            total.read_useful += port.read_useful;
            total.writes += port.writes;
            total.write_beats += port.write_beats;
            total.write_useful += port.write_useful;
        }
        for (i, stage) in run.stages.iter().enumerate() {
            if self.stages.len() == i {
                self.stages.push(StageTotals { stage: stage.stage, busy: 0, starved: 0, blocked: 0 });
            }
            let total = &mut self.stages[i];
            total.busy += stage.busy;
            total.starved += stage.starved;
            total.blocked += stage.blocked;
        }
    }
}

impl Report {
    pub(super) fn new(backend: &'static str, sink: Sink, reference: Reference) -> Self {
        let (slrs, pipeline) = (Default::default(), Totals::default());
        Self { backend, iterations: 0, difference: None, sink, pipeline, transfers: None, slrs, reference }
    }

    /// Whether nothing differed.
    pub fn equal(&self) -> bool {
        self.difference.is_none()
    }

    /// The result in one sentence.
    pub fn verdict(&self) -> String {
        if let Some(Located { iteration, slr, minibatch, difference }) = &self.difference {
            return format!(
                "DIFFERENT: back end '{}', iteration {iteration}, SLR{slr}, mini-batch {minibatch}: {difference}",
                self.backend
            );
        }
        let total = |of: fn(&SlrTotals) -> u64| count(self.slrs.iter().map(of).sum());
        format!(
            "EQUAL: back end '{}' agrees with the reference in every element of {} mini-batches ({} edges, {} nodes)",
            self.backend,
            total(|slr| slr.minibatches),
            total(|slr| slr.edges),
            total(|slr| slr.nodes),
        )
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let each = |of: &dyn Fn(&SlrTotals) -> String| self.slrs.iter().map(of).collect::<Vec<_>>();
        let sum = |of: fn(&SlrTotals) -> u64| self.slrs.iter().map(of).sum::<u64>();
        let reference = &self.reference;

        let heads = (0..SLRS).map(|slr| format!("SLR{slr}")).chain(["all", "reference"].map(str::to_owned));
        table.row("", heads);
        let mut counted = |name: &str, of: fn(&SlrTotals) -> u64, reference: u64| {
            table.row(name, each(&|slr| count(of(slr))).into_iter().chain([count(sum(of)), count(reference)]));
        };
        counted("mini-batches", |slr| slr.minibatches, reference.minibatches);
        counted("edges", |slr| slr.edges, reference.edges);
        counted("nodes", |slr| slr.nodes, reference.nodes);
        let time = |time: Duration| format!("{:.3} s", time.as_secs_f64());
        table.row(
            "time",
            each(&|slr| time(slr.time)).into_iter().chain([time(self.pipeline.wall), time(reference.time)]),
        );
        let rate = |edges: u64, time: Duration| match time.as_secs_f64() {
            seconds if seconds > 0.0 => scaled(float(edges) / seconds),
            _ => "-".to_owned(),
        };
        let edges = sum(|slr| slr.edges);
        let all = [rate(edges, self.pipeline.wall), rate(reference.edges, reference.time)];
        table.row("edges/s", each(&|slr| rate(slr.edges, slr.time)).into_iter().chain(all));

        if self.slrs.iter().all(|slr| slr.cycles.is_some()) {
            table.row("cycles", each(&|slr| count(slr.cycles.unwrap_or(0))));
            let rate = |slr: &SlrTotals| format!("{:.3}", float(slr.edges) / float(slr.cycles.unwrap_or(0).max(1)));
            table.row("edges/cycle", each(&rate));
        }
        self.traffic(&mut table);
        table
    }

    /// Bursts, beats and useful bytes of each port that had any, and the cycles of each stage in percent.
    fn traffic(&self, table: &mut Table) {
        let [first, ..] = &self.slrs;
        if !first.ports.is_empty() {
            table.row("ports: bursts, beats, useful bytes", []);
        }
        for (i, port) in first.ports.iter().enumerate() {
            let writes = WayTotals::of_writes;
            let ways = [("reads", WayTotals::of_reads as fn(&PortTotals) -> WayTotals), ("writes", writes)];
            for (way, of) in ways {
                let slrs: Vec<_> =
                    self.slrs.iter().map(|slr| slr.ports.get(i).map_or_else(WayTotals::default, of)).collect();
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
            let cells = self.slrs.iter().map(|slr| match (slr.stages.get(i), slr.cycles) {
                (Some(stage), Some(cycles)) if cycles > 0 => {
                    let percent = |part: u64| format!("{:3.0} %", 100.0 * float(part) / float(cycles));
                    [stage.busy, stage.starved, stage.blocked].map(percent).join(" ")
                }
                _ => "-".to_owned(),
            });
            table.row(format!("  {}", stage.stage), cells);
        }
    }
}

/// The table and the verdict.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table())?;
        if let Some(overlap) = self.pipeline.overlap() {
            writeln!(f, "overlap: {overlap}")?;
        }
        if let Some(transfers) = &self.transfers {
            write!(f, "\n{transfers}")?;
        }
        writeln!(f, "\n{}", self.verdict())
    }
}
