//! Does a device compute what the reference computes? Element by element, and with other data in every buffer each time.
//!
//! In iteration g SLR s samples mini-batch (s + g) mod 3, so consecutive iterations have other data; and before each run
//! whatever was in the slot is overwritten with [`POISON`], so a transfer that did nothing is seen, also with a number of slots
//! that gives every slot the same mini-batch again. What
//! arrives is compared where it lies; the verdict comes to the host once, in the end.

mod compare;
mod report;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use golden::{Buffer, Capacity, CscGraph, Fanout, Progress, Request, SampleError, SubGraph};
use hw::{DeviceError, HostMemory, MemorySpace, SLRS, SamplerDevice, Slr};

use crate::{
    accelerator::{Accelerator, AcceleratorError, Comparison, VERDICT_ELEMENTS},
    batches::Batches,
    ledger::Direction,
    pipeline::{Item, Pipeline, PipelineError, PipelineOptions, Transport},
};
use compare::Wrong;

pub use crate::pipeline::POISON;
pub use compare::{Difference, Suspicion};
pub use report::{Located, PortTotals, Reference, Report, SlrTotals, StageTotals};

/// What to verify.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed nodes of the mini-batches; 0, 1 and 2 are sampled.
    pub batches: Batches,
    /// Fan-out of each hop.
    pub fanouts: Vec<Fanout>,
    /// The user's seed.
    pub seed: u64,
    /// How often each SLR samples a mini-batch; fewer than 2^31.
    pub iterations: u64,
    /// Elements of the output buffers; see [`Capacity::worst_case`].
    pub capacity: Capacity,
    /// How long one run may take; `None` waits for as long as the device does.
    pub timeout: Option<Duration>,
    /// How sub-graphs travel.
    pub transport: Transport,
}

impl Plan {
    fn requests(&self) -> [Request; SLRS] {
        std::array::from_fn(|minibatch| Request {
            seed: self.seed,
            minibatch: minibatch as u64,
            seeds: self.batches.get(minibatch as u64),
            fanouts: self.fanouts.clone(),
        })
    }

    /// Whether the device takes the mini-batches, before anything is sampled.
    ///
    /// # Errors
    /// [`DeviceError::Request`].
    pub fn check(&self, device: &dyn SamplerDevice, graph: &CscGraph) -> Result<(), DeviceError> {
        let limits = &device.capabilities().limits;
        self.requests().iter().try_for_each(|request| Ok(request.check(graph, limits)?))
    }
}

/// Why a verification has no verdict.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The reference refuses a mini-batch, or it does not fit.
    #[error("mini-batch {minibatch} cannot be sampled: {source}")]
    Reference {
        /// The mini-batch.
        minibatch: u64,
        /// Why.
        source: SampleError,
    },
    /// The device did not take the graph or the requests.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Sampling, transport or comparison failed.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
}

impl From<AcceleratorError> for VerifyError {
    fn from(error: AcceleratorError) -> Self {
        Self::Pipeline(error.into())
    }
}

/// Which mini-batch an SLR samples in an iteration.
fn rotation(slr: Slr, iteration: u64) -> usize {
    (slr.index() + (iteration % SLRS as u64) as usize) % SLRS
}

/// Compares a device with the reference, to the end of the plan or to a count that differs.
///
/// # Errors
/// Whatever keeps the comparison from having a result; a difference is a result ([`Report::difference`]), also if something
/// fails after it.
pub fn run<A: Accelerator>(
    device: &Arc<dyn SamplerDevice>,
    accelerator: &Arc<A>,
    graph: &Arc<CscGraph>,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Report, VerifyError> {
    plan.check(&**device, graph)?;
    let requests = plan.requests();
    let begin = Instant::now();
    let expected = sample_all(graph, &requests, plan.capacity, progress)?;
    let reference = Reference::new(&expected, begin.elapsed());

    device.load_graph(graph, progress)?;
    let options = PipelineOptions {
        transport: plan.transport.clone(),
        capacity: plan.capacity,
        timeout: plan.timeout,
        poison: true,
    };
    let pipeline = Pipeline::new(Arc::clone(device), Arc::clone(accelerator), &options)?;
    let mut report = Report::new(device.capabilities().backend, pipeline.sink(), reference);
    let comparer = Comparer::new(&**accelerator, &expected)?;

    let outcome = pipeline
        .start(plan.iterations, Arc::new(move |iteration, slr| Some(requests[rotation(slr, iteration)].clone())))
        .and_then(|()| compare_all(&pipeline, &comparer, plan, &mut report, progress));
    // A difference explains much that can go wrong after it.
    let elements = match (comparer.verdict(plan.transport.slots), &outcome) {
        (Ok(elements), _) => elements,
        // What failed first says more.
        (Err(_), Err(_)) => None,
        (Err(error), Ok(())) => return Err(error.into()),
    };
    // Of one run, the elements that both have come first.
    report.difference = elements.into_iter().chain(report.difference).min_by_key(|found| (found.iteration, found.slr));
    if report.equal() {
        outcome?;
    }
    report.transfers = accelerator.ledger().tally();
    Ok(report)
}

/// Consumes what comes through the pipeline.
fn compare_all<A: Accelerator>(
    pipeline: &Pipeline<A>,
    comparer: &Comparer<'_, A>,
    plan: &Plan,
    report: &mut Report,
    progress: &dyn Progress,
) -> Result<(), PipelineError> {
    let stream = &comparer.stream;
    while let Some(item) = pipeline.acquire()? {
        pipeline.begin_consume(item.slot, item.generation, stream)?;
        let difference = comparer.compare(pipeline, &item)?;
        pipeline.release(item.slot, item.generation, stream)?;
        for (totals, filled) in report.slrs.iter_mut().zip(item.slrs.iter().flatten()) {
            totals.add(&filled.report);
        }
        report.iterations += 1;
        progress.report("iterations verified", report.iterations, plan.iterations);
        if difference.is_some() {
            report.difference = difference;
            return Ok(());
        }
    }
    report.pipeline = pipeline.finish()?;
    Ok(())
}

/// Compares slots with the reference, in the accelerator's memory.
struct Comparer<'a, A: Accelerator> {
    accelerator: &'a A,
    stream: A::Stream,
    expected: &'a [SubGraph],
    /// The same in the accelerator's memory, by mini-batch and buffer.
    references: Vec<Vec<A::Buffer>>,
    /// A record for each buffer of each SLR.
    verdict: A::Buffer,
}

const RECORDS: usize = SLRS * Buffer::ALL.len();

impl<'a, A: Accelerator> Comparer<'a, A> {
    fn new(accelerator: &'a A, expected: &'a [SubGraph]) -> Result<Self, AcceleratorError> {
        let stream = accelerator.stream("consumer".to_owned())?;
        let mut references = Vec::with_capacity(expected.len());
        for (minibatch, sub) in expected.iter().enumerate() {
            let mut buffers = Vec::with_capacity(4);
            for buffer in Buffer::ALL {
                let elements = sub.buffer(buffer);
                let memory = Arc::new(HostMemory::new(elements.len()));
                memory.write(0, elements);
                let label = format!("{} of reference {minibatch}", buffer.name());
                let pinned = accelerator.pin(format!("{label} (host)"), &memory, MemorySpace::Host)?;
                let there = accelerator.allocate(label, elements.len())?;
                accelerator.copy(&stream, (Direction::Up, "reference"), &pinned, &there, elements.len())?;
                buffers.push(there);
            }
            references.push(buffers);
        }
        let elements = RECORDS * VERDICT_ELEMENTS;
        let verdict = accelerator.allocate("the verdict".to_owned(), elements)?;
        accelerator.fill(&stream, "clear the verdict", &verdict, elements, 0)?;
        // What was pinned for the copies may go now.
        accelerator.synchronize(&stream)?;
        Ok(Self { accelerator, stream, expected, references, verdict })
    }

    /// Gives the comparison of a slot to the stream. A count that differs is known at once.
    fn compare(&self, pipeline: &Pipeline<A>, item: &Item) -> Result<Option<Located>, AcceleratorError> {
        let mut difference = None;
        for (slr, filled) in Slr::ALL.into_iter().zip(&item.slrs) {
            let Some(filled) = filled else { continue };
            let minibatch = rotation(slr, item.iteration);
            for (i, buffer) in Buffer::ALL.into_iter().enumerate() {
                let work = Comparison {
                    found: pipeline.view(item.slot, slr, buffer),
                    expected: &self.references[minibatch][i],
                    len: filled.counts[i].min(self.expected[minibatch].buffer(buffer).len()),
                    verdict: &self.verdict,
                    record: slr.index() * Buffer::ALL.len() + i,
                    iteration: (item.iteration as u32).cast_signed(),
                };
                self.accelerator.compare(&self.stream, "compare", &work)?;
            }
            let (iteration, slr, minibatch) = (item.iteration, slr.index(), minibatch as u64);
            let located = |difference| Located { iteration, slr, minibatch, difference };
            let counts = compare::counts(&self.expected[minibatch as usize], &filled.report.hops);
            difference = difference.or(counts.map(located));
        }
        Ok(difference)
    }

    /// The first difference in an element: the one crossing of the verdict.
    fn verdict(&self, slots: usize) -> Result<Option<Located>, AcceleratorError> {
        let records = self.accelerator.download(&self.stream, "verdict", &self.verdict, RECORDS * VERDICT_ELEMENTS)?;
        let wrong: Vec<_> = records
            .chunks_exact(VERDICT_ELEMENTS)
            .enumerate()
            .filter(|(_, record)| record[0] != 0)
            .map(|(i, record)| {
                let (slr, buffer) = (Slr::ALL[i / Buffer::ALL.len()], Buffer::ALL[i % Buffer::ALL.len()]);
                let [_, iteration, index, found] = [0, 1, 2, 3].map(|field| record[field]);
                let index = index.cast_unsigned() as usize;
                (u64::from(iteration.cast_unsigned()), slr, Wrong { buffer, index, found })
            })
            .collect();
        let Some(&(iteration, slr, _)) = wrong.iter().min_by_key(|(iteration, slr, _)| (*iteration, *slr)) else {
            return Ok(None);
        };
        let of_run: Vec<_> = wrong
            .iter()
            .filter(|&&(other, of, _)| (other, of) == (iteration, slr))
            .map(|&(_, _, wrong)| wrong)
            .collect();
        let sub = |iteration| &self.expected[rotation(slr, iteration)];
        let before = iteration.checked_sub(slots as u64).map(|before| (before, sub(before)));
        let minibatch = rotation(slr, iteration) as u64;
        let first = compare::first(sub(iteration), &of_run, before);
        Ok(first.map(|difference| Located { iteration, slr: slr.index(), minibatch, difference }))
    }
}

fn sample_all(
    graph: &CscGraph,
    requests: &[Request],
    capacity: Capacity,
    progress: &dyn Progress,
) -> Result<Vec<SubGraph>, VerifyError> {
    let mut expected = Vec::with_capacity(requests.len());
    for request in requests {
        let minibatch = request.minibatch;
        let sub =
            golden::sample(graph, request, capacity).map_err(|source| VerifyError::Reference { minibatch, source })?;
        expected.push(sub);
        progress.report("mini-batches sampled by the reference", expected.len() as u64, requests.len() as u64);
    }
    Ok(expected)
}
