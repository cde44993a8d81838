//! What a finished run says of itself. The counts belong to the result; everything else is measured beside it.

use std::time::Duration;

use golden::HopCounts;

/// The report of one run on one SLR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Nodes and edges of each hop: how many elements of each buffer are valid.
    pub hops: HopCounts,
    /// Time from start to completion by the host's clock.
    pub elapsed: Duration,
    /// Clock cycles of the kernel from start to done: counted ([`crate::Feature::Cycles`]) or foretold
    /// ([`crate::Feature::PredictedCycles`]).
    pub cycles: Option<u64>,
    /// Traffic of each AXI port ([`crate::Feature::Traffic`]), else empty.
    pub ports: Vec<PortTraffic>,
    /// Cycles of each pipeline stage ([`crate::Feature::StageCycles`]), else empty.
    pub stages: Vec<StageCycles>,
}

/// Traffic of one AXI master in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortTraffic {
    /// The port, as in [`crate::card::Port::name`].
    pub port: &'static str,
    /// Read bursts (AR handshakes).
    pub reads: u64,
    /// Read beats of 64 bytes.
    pub read_beats: u64,
    /// Bytes of those beats that were needed: 8 a node of an offset record, 4 an edge of the indices, 4 a node of seeds and
    /// node list.
    pub read_useful: u64,
    /// Write bursts (AW handshakes).
    pub writes: u64,
    /// Write beats of 64 bytes.
    pub write_beats: u64,
    /// Bytes of those beats that were written (their strobes).
    pub write_useful: u64,
}

/// What one pipeline stage did in each cycle of a run: busy, starved and blocked add up to the run's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageCycles {
    /// The stage.
    pub stage: &'static str,
    /// It handed on an item, or worked on one.
    pub busy: u64,
    /// It had nothing to work on.
    pub starved: u64,
    /// It had a result that the next stage did not take.
    pub blocked: u64,
}
