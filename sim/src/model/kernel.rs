//! The kernel of one SLR: it samples, writes the four buffers, and works out what else was asked for.

use std::{
    num::NonZeroU64,
    thread,
    time::{Duration, Instant},
};

use golden::{Buffer, SubGraph};
use hw::{DeviceError, RunReport};

use super::{
    BACKEND, ModelOptions,
    sample::{Scratch, Stop, sample},
    timing::Clock,
    traffic,
};
use crate::{
    card::{Job, Kernel, Outputs},
    worker::Cancel,
};

/// How often a run that only keeps pace looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(5);

/// A kernel, and its memory, which is kept from run to run.
#[derive(Debug)]
pub struct ModelKernel {
    channels: usize,
    scratch: Scratch,
    /// Whether traffic was asked for.
    traffic: bool,
    /// What predicts cycles, if that was asked for.
    clock: Option<Clock>,
    /// Hz of the card that it is as slow as.
    pace: Option<NonZeroU64>,
}

impl ModelKernel {
    pub(super) fn new(options: ModelOptions) -> Self {
        let ModelOptions { channels, traffic, timing } = options;
        Self {
            channels,
            scratch: Scratch::default(),
            traffic,
            clock: timing.map(|timing| Clock::new(channels, timing)),
            pace: timing.and_then(|timing| timing.clock),
        }
    }
}

impl Kernel for ModelKernel {
    fn run(&mut self, job: &Job, cancel: &Cancel) -> Result<RunReport, DeviceError> {
        let begin = Instant::now();
        let Job { graph, request, outputs } = job;
        let sub = match sample(graph, request, outputs.capacity, cancel, &mut self.scratch) {
            Ok(sub) => sub,
            Err(Stop::Overflow { overflow, emitted }) => {
                write(emitted, outputs);
                return Err(DeviceError::Overflow { overflow, emitted: emitted.hops.clone() });
            }
            Err(Stop::Cancelled) => return Err(cancelled()),
        };
        write(sub, outputs);
        let cycles = match &mut self.clock {
            Some(clock) => Some(clock.cycles(graph, request, sub, cancel).ok_or_else(cancelled)?),
            None => None,
        };
        let ports = if self.traffic { traffic::of(request, sub, self.channels) } else { vec![] };
        if let (Some(cycles), Some(hz)) = (cycles, self.pace) {
            keep_pace(begin, Duration::from_secs_f64(cycles as f64 / hz.get() as f64), cancel)?;
        }
        Ok(RunReport { elapsed: Duration::ZERO, cycles, ports, stages: vec![], hops: sub.hops.clone() })
    }
}

/// Writes the four buffers, each at once.
fn write(sub: &SubGraph, outputs: &Outputs) {
    for buffer in Buffer::ALL {
        outputs.get(buffer).write(0, sub.buffer(buffer));
    }
}

/// Waits until a run that has begun at `begin` would be over on the card that this one is as slow as.
fn keep_pace(begin: Instant, run: Duration, cancel: &Cancel) -> Result<(), DeviceError> {
    while let Some(left) = run.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
        if cancel.is_set() {
            return Err(cancelled());
        }
        thread::sleep(left.min(LOOK));
    }
    Ok(())
}

fn cancelled() -> DeviceError {
    DeviceError::Backend { backend: BACKEND, message: "the run was cancelled".to_owned() }
}
