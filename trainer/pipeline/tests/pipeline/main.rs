//! The pipeline on every accelerator and every way there is without a GPU.

mod failures;
mod flow;
mod races;
mod scripted;
mod transfers;

use std::sync::Arc;

use hw::SamplerDevice;
use pipeline::{
    Pipeline, PipelineError, PipelineOptions, Sink, Transport,
    accelerator::{Accelerator, HostAccelerator, SimulatedAccelerator, SimulatedOptions},
    ledger::Ledger,
};

/// A pipeline of `slots` slots with buffers of [`scripted::CAPACITY`].
fn options(slots: usize, sink: Sink) -> PipelineOptions {
    let transport = Transport { slots, sink: Some(sink), ..Transport::default() };
    PipelineOptions { transport, capacity: scripted::CAPACITY, timeout: None, poison: false }
}

fn host() -> Arc<HostAccelerator> {
    Arc::new(HostAccelerator::new(Ledger::counting()))
}

fn simulated(seed: u64) -> Arc<SimulatedAccelerator> {
    let options = SimulatedOptions { seed, ..SimulatedOptions::default() };
    Arc::new(SimulatedAccelerator::new(options, Ledger::counting()))
}

fn pipeline<A: Accelerator>(
    device: &Arc<impl SamplerDevice + 'static>,
    accelerator: &Arc<A>,
    options: &PipelineOptions,
) -> Result<Pipeline<A>, PipelineError> {
    Pipeline::new(Arc::clone(device) as Arc<dyn SamplerDevice>, Arc::clone(accelerator), options)
}
