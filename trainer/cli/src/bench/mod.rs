//! How fast a card samples, and the bound that its memory sets.

mod board;
mod bound;
mod overlap;

use std::sync::Arc;

use golden::{Capacity, CscGraph};
use hw::{Deadline, DeviceError, Feature, OutputBuffers, RunReport, SLRS, SamplerDevice, Slot, Slr};
use sim::memory::Timing;

pub(crate) use board::{Board, Prediction};
pub(crate) use bound::{Bound, Bounds};
pub(crate) use overlap::{Overlapping, overlap};
use pipeline::{batches::Workload, verify::SlrTotals};

/// A run that failed: there is no figure then.
#[derive(Debug, thiserror::Error)]
#[error("{slr}, mini-batch {minibatch}: {source}")]
pub(crate) struct BenchError {
    /// The SLR.
    pub slr: Slr,
    /// The mini-batch.
    pub minibatch: u64,
    /// Why.
    pub source: DeviceError,
}

/// All runs of one workload, those of the three SLRs together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Counts of all runs. What is in the buffers is not looked at: that is [`crate::verify`]'s business.
    pub total: SlrTotals,
    /// What each kernel needed.
    pub kernels: [KernelCycles; SLRS],
}

/// All runs of one kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelCycles {
    /// Counted, or predicted.
    pub cycles: u64,
    /// That each part of the kernel needs at least for what the runs have moved.
    pub bounds: Bounds,
}

/// What holds a kernel back.
const WRITERS: &str = "writers";

/// Parts of its cycles for which a stage has to be blocked until it counts as held back by what follows it: one in so many.
const HELD_BACK: u64 = 4;

impl Measured {
    fn add(&mut self, slr: Slr, run: &RunReport, memory: &Memory<'_>) {
        self.total.add(run);
        let kernel = &mut self.kernels[slr.index()];
        kernel.cycles += run.cycles.unwrap_or(0);
        kernel.bounds.add(&Bounds::of(run, &memory.timing, memory.shared));
    }

    /// Bounds of all runs, one after the other.
    pub(crate) fn bounds(&self) -> Bounds {
        let mut sum = Bounds::default();
        self.kernels.iter().for_each(|kernel| sum.add(&kernel.bounds));
        sum
    }

    /// Cycles of all runs, one after the other.
    pub(crate) fn cycles(&self) -> u64 {
        self.total.cycles.unwrap_or(0)
    }

    /// The stage that holds the others back, with the cycles in which it is busy and those in which it is blocked.
    ///
    /// A stage that is often blocked waits for the one behind it. So it is the one behind the last that is blocked in a
    /// quarter of the cycles or more, `writers` behind the hash table; and where none is, the stage that is busy most.
    pub(crate) fn held_back_by(&self) -> (&'static str, u64, u64) {
        let stages = &self.total.stages;
        let blocked = stages.iter().rposition(|stage| stage.blocked * HELD_BACK >= self.cycles().max(1));
        let behind = match blocked {
            Some(blocked) => stages.get(blocked + 1),
            None => stages.iter().max_by_key(|stage| stage.busy),
        };
        behind.map_or((WRITERS, 0, 0), |stage| (stage.stage, stage.busy, stage.blocked))
    }
}

/// The memory of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'a> {
    /// Behind each port.
    pub timing: Timing,
    /// How the names of ports begin that have one memory together.
    pub shared: &'a [&'a str],
}

/// What the simulated RTL counts.
pub(crate) const COUNTED: [Feature; 3] = [Feature::Cycles, Feature::Traffic, Feature::StageCycles];
/// What the software model can predict and count.
pub(crate) const PREDICTED: [Feature; 2] = [Feature::PredictedCycles, Feature::Traffic];

/// Samples on all three SLRs at once. The graph has been loaded.
///
/// # Errors
/// The first run that fails; or that the device lacks one of `features`.
pub(crate) fn run(
    device: &dyn SamplerDevice,
    features: &[Feature],
    graph: &Arc<CscGraph>,
    work: &Workload,
    memory: &Memory<'_>,
) -> Result<Measured, BenchError> {
    let at = |slr: Slr, round: u64| slr.index() as u64 + round * SLRS as u64;
    let failed = |slr, round| move |source| BenchError { slr, minibatch: at(slr, round), source };
    let [first, ..] = Slr::ALL;
    for &feature in features {
        device.capabilities().require(feature).map_err(failed(first, 0))?;
    }
    let capacity = Capacity::worst_case(graph, work.batches.size(), &work.fanouts);
    for slr in Slr::ALL {
        device.bind_outputs(slr, SLOT, OutputBuffers::host(capacity)).map_err(failed(slr, 0))?;
    }
    let mut measured = Measured::default();
    for round in 0..work.minibatches {
        for slr in Slr::ALL {
            let minibatch = at(slr, round);
            device.start(slr, SLOT, &work.request(minibatch)).map_err(failed(slr, round))?;
        }
        for slr in Slr::ALL {
            let run = device.wait(slr, Deadline::never()).map_err(failed(slr, round))?;
            measured.add(slr, &run, memory);
        }
    }
    Ok(measured)
}

const SLOT: Slot = Slot(0);

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::verify::StageTotals;

    fn held_back_by(blocked: [u64; 5]) -> &'static str {
        let names = ["frontier", "offsets", "sampler", "lines", "dedup"];
        let stages = names.into_iter().zip(blocked).zip(1..);
        let stages = stages.map(|((stage, blocked), busy)| StageTotals { stage, busy, starved: 0, blocked }).collect();
        let total = SlrTotals { cycles: Some(100), stages, ..SlrTotals::default() };
        Measured { total, ..Measured::default() }.held_back_by().0
    }

    #[test]
    fn the_stage_behind_the_last_blocked_one_holds_back() {
        assert_eq!(held_back_by([60, 70, 80, 10, 0]), "lines");
        assert_eq!(held_back_by([60, 0, 0, 0, 25]), "writers");
        assert_eq!(held_back_by([24, 9, 0, 0, 0]), "dedup", "it is busiest");
    }
}
