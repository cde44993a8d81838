//! What training took.

use std::time::Duration;

use serde::Serialize;

use pipeline::{Filled, Totals, accelerator::Properties, ledger::Tally, units::seconds};

/// What training took, since it was begun or resumed.
#[derive(Clone, Debug, Serialize)]
pub struct Performance {
    /// What sampled.
    pub backend: &'static str,
    /// What trained.
    pub accelerator: Properties,
    /// Threads that libtorch computes with.
    pub threads: i32,
    /// Epochs.
    pub epochs: u64,
    /// Mini-batches.
    pub minibatches: u64,
    /// Sampled nodes.
    pub nodes: u64,
    /// Sampled edges.
    pub edges: u64,
    /// Time of evaluations; JSON: seconds.
    #[serde(serialize_with = "seconds")]
    pub evaluation: Duration,
    /// Time of the epochs without it, and what each stage took of that.
    pub pipeline: Totals,
    /// What crossed the bus, where that was counted.
    pub transfers: Option<Tally>,
}

impl Performance {
    pub(super) fn new(backend: &'static str, accelerator: Properties) -> Self {
        Self {
            backend,
            accelerator,
            threads: crate::torch::threads(),
            epochs: 0,
            minibatches: 0,
            nodes: 0,
            edges: 0,
            evaluation: Duration::ZERO,
            pipeline: Totals::default(),
            transfers: None,
        }
    }

    pub(super) fn add(&mut self, filled: &Filled) {
        let [nodes, edges, ..] = filled.counts.map(|count| count as u64);
        self.minibatches += 1;
        self.nodes += nodes;
        self.edges += edges;
    }
}
