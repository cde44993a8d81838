//! Does the consumer work while the card fills the next slot? One iteration after the other against the pipeline, in one run.

use std::{sync::Arc, thread, time::Duration};

use golden::{Capacity, Progress};
use hw::{SLRS, SamplerDevice, Slr};
use serde::Serialize;

use pipeline::{
    Overlap, Pipeline, PipelineError, PipelineOptions, Requests, Totals, Transport, accelerator::Accelerator,
    batches::Workload, units::seconds,
};

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Overlapping {
    /// Iterations of each way.
    pub iterations: u64,
    /// What the consumer takes for an iteration: as long as the card does; JSON: seconds.
    #[serde(serialize_with = "seconds")]
    pub consumer: Duration,
    /// One iteration after the other: sampled, then consumed.
    pub one_by_one: Totals,
    /// With the pipeline.
    pub pipelined: Totals,
    /// Time of the first over time of the second.
    pub speedup: f64,
    /// Of the pipeline.
    pub overlap: Overlap,
}

/// Samples mini-batches into slots and consumes them, with a consumer that takes as long for an iteration as the card and
/// does not compute on this machine's processor, as a GPU does not. The graph has been loaded.
///
/// # Errors
/// [`PipelineError`].
pub(crate) fn overlap<A: Accelerator>(
    device: &Arc<dyn SamplerDevice>,
    accelerator: &Arc<A>,
    work: &Workload,
    transport: &Transport,
    capacity: Capacity,
    progress: &dyn Progress,
) -> Result<Overlapping, PipelineError> {
    let options = PipelineOptions { transport: transport.clone(), capacity, timeout: None, poison: false };
    let pipeline = Pipeline::new(Arc::clone(device), Arc::clone(accelerator), &options)?;
    let iterations = work.minibatches;
    let run = |way: &str, consumer: Duration, first: u64, iterations: u64| {
        let totals = consume(&pipeline, requests(work, first), iterations, consumer)?;
        progress.report(way, first + iterations, work.minibatches.max(first + iterations));
        Ok::<_, PipelineError>(totals)
    };
    // What the card takes when nobody holds it up; twice, as the first time pages are touched and caches are cold.
    run("warming up", Duration::ZERO, 0, iterations)?;
    let alone = run("without a consumer", Duration::ZERO, 0, iterations)?;
    let consumer = alone.wall / u32::try_from(iterations).unwrap_or(u32::MAX).max(1);

    let mut one_by_one = Totals::default();
    for iteration in 0..iterations {
        one_by_one.add(&run("one by one", consumer, iteration, 1)?);
    }
    let pipelined = run("pipelined", consumer, 0, iterations)?;
    let speedup = one_by_one.wall.as_secs_f64() / pipelined.wall.as_secs_f64().max(f64::MIN_POSITIVE);
    let overlap = pipelined.overlap().unwrap_or_default();
    Ok(Overlapping { iterations, consumer, one_by_one, pipelined, speedup, overlap })
}

/// Iteration g gives SLR s mini-batch 3 g + s, as in training.
fn requests(work: &Workload, first: u64) -> Arc<Requests> {
    let work = work.clone();
    Arc::new(move |iteration: u64, slr: Slr| {
        let minibatch = (first + iteration) * SLRS as u64 + slr.index() as u64;
        Some(work.request(minibatch))
    })
}

fn consume<A: Accelerator>(
    pipeline: &Pipeline<A>,
    requests: Arc<Requests>,
    iterations: u64,
    consumer: Duration,
) -> Result<Totals, PipelineError> {
    let accelerator = pipeline.accelerator();
    let stream = accelerator.stream("consumer".to_owned())?;
    pipeline.start(iterations, requests)?;
    while let Some(item) = pipeline.acquire()? {
        pipeline.begin_consume(item.slot, item.generation, &stream)?;
        if !consumer.is_zero() {
            accelerator.then(&stream, Box::new(move || thread::sleep(consumer)))?;
        }
        pipeline.release(item.slot, item.generation, &stream)?;
    }
    pipeline.finish()
}
