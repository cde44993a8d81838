//! What a verification found and measured.

use std::time::Duration;

use golden::SubGraph;
use hw::{RunReport, SLRS};
use serde::Serialize;

use super::Difference;
use crate::{
    ledger::Tally,
    pipeline::{Sink, Totals},
    units::seconds,
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
    /// Adds a run.
    pub fn add(&mut self, run: &RunReport) {
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
}
