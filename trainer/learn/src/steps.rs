//! How long does a step of training take, and how much memory? Both formulations of `GraphSAGE`, in turn, in one run.

#![allow(clippy::cast_possible_wrap, reason = "libtorch counts in i64, and nothing is that large")]

use std::{
    fs,
    time::{Duration, Instant},
};

use golden::{Capacity, CscGraph, Progress, SampleError};
use hw::SLRS;
use serde::Serialize;
use tch::{Device, Kind, Tensor};

use crate::{
    sage,
    sage::{Adam, Dropout, Model, Sampled, TchError, fast, plain},
};
use pipeline::{batches::Workload, units::seconds};

/// What is trained.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shape {
    /// Columns of the features.
    pub features: usize,
    /// Columns between layers.
    pub hidden: usize,
    /// Classes.
    pub classes: usize,
}

/// What one formulation takes for a step: three mini-batches, one after the other, each with its step of the optimizer.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The median; JSON: seconds.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// The most memory that the process had beside what it had before the first step, in bytes, where the system says: of
    /// all steps.
    pub memory: Option<u64>,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Steps {
    /// Nodes of the three mini-batches.
    pub nodes: u64,
    /// Their edges.
    pub edges: u64,
    /// Every layer for every node.
    pub plain: Step,
    /// What is used.
    pub fast: Step,
    /// Time of the first over time of the second.
    pub speedup: f64,
    /// How far the losses of the two are apart without dropout, as a part of the loss: the most of three.
    pub apart: f64,
}

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum StepsError {
    /// A mini-batch cannot be sampled.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// libtorch cannot do what it is asked for.
    #[error("libtorch: {0}")]
    Torch(String),
}

impl From<TchError> for StepsError {
    fn from(error: TchError) -> Self {
        Self::Torch(sage::sentence(&error))
    }
}

type Forward = fn(&Model, &Tensor, &Sampled, Dropout) -> sage::Result<Tensor>;

/// Measures steps on the first three mini-batches of a plan, `repeats` of each formulation after one that does not count.
/// Features and labels are random.
///
/// # Errors
/// [`StepsError`].
pub fn steps(
    graph: &CscGraph,
    work: &Workload,
    shape: Shape,
    repeats: usize,
    progress: &dyn Progress,
) -> Result<Steps, StepsError> {
    let Shape { features: columns, hidden, classes } = shape;
    let (mut batches, mut nodes, mut edges) = (Vec::new(), 0, 0);
    for minibatch in 0..SLRS as u64 {
        let sub = golden::sample(graph, &work.request(minibatch), Capacity::UNBOUNDED)?;
        nodes += sub.samples.len() as u64;
        edges += sub.rows.len() as u64;
        batches.push(Sampled::copied(&sub));
    }
    tch::manual_seed(work.seed.cast_signed());
    let features = Tensor::f_rand([graph.nodes() as i64, columns as i64], (Kind::Float, Device::Cpu))?;
    let labels = Tensor::f_randint(classes as i64, [graph.nodes() as i64], (Kind::Int64, Device::Cpu))?;
    let widths = [vec![columns], vec![hidden; work.fanouts.len().saturating_sub(1)], vec![classes]].concat();

    let mut apart: f64 = 0.0;
    let model = Model::new(&widths, work.seed, Device::Cpu)?;
    for sub in &batches {
        let loss = |forward: Forward| {
            tch::no_grad(|| {
                let logits = forward(&model, &features, sub, None)?;
                sage::loss(&logits, &sub.of_seeds(&labels)?)?.f_double_value(&[])
            })
        };
        let (expected, found) = (loss(plain::forward)?, loss(fast::forward)?);
        apart = apart.max(((found - expected) / expected).abs());
    }

    let watch = Watch::new();
    let trained = |forward: Forward| -> Result<(Duration, Option<u64>), StepsError> {
        let model = Model::new(&widths, work.seed, Device::Cpu)?;
        let mut adam = Adam::new(&model, 0.003, 0.0, 0)?;
        let watch = watch.and_then(Watch::reset);
        let begin = Instant::now();
        for sub in &batches {
            let logits = forward(&model, &features, sub, Some(0.5))?;
            let loss = sage::loss(&logits, &sub.of_seeds(&labels)?)?;
            model.zero_grad();
            loss.f_backward()?;
            adam.step(&model)?;
        }
        Ok((begin.elapsed(), watch.and_then(Watch::grown)))
    };
    let mut measured: [Vec<_>; 2] = [Vec::new(), Vec::new()];
    for repeat in 0..=repeats {
        for (forward, measured) in [plain::forward as Forward, fast::forward].into_iter().zip(&mut measured) {
            let step = trained(forward)?;
            if repeat > 0 {
                measured.push(step);
            }
        }
        progress.report("steps of both formulations", repeat as u64, repeats as u64);
    }
    let [slow, fast] = measured.map(|mut steps| {
        steps.sort_unstable_by_key(|&(time, _)| time);
        let time = steps.get(steps.len() / 2).map_or(Duration::ZERO, |&(time, _)| time);
        Step { time, memory: steps.iter().filter_map(|&(_, memory)| memory).max() }
    });
    let speedup = slow.time.as_secs_f64() / fast.time.as_secs_f64().max(f64::MIN_POSITIVE);
    Ok(Steps { nodes, edges, plain: slow, fast, speedup, apart })
}

/// Watches how much more memory this process has than when the watch was made (`proc(5)`).
///
/// What an allocator keeps of memory that was given back counts as well, so a step is never told to need less than it does.
#[derive(Clone, Copy)]
struct Watch {
    before: u64,
}

impl Watch {
    fn new() -> Option<Self> {
        status("VmRSS:").map(|before| Self { before })
    }

    /// Forgets what was resident at the most until now.
    fn reset(self) -> Option<Self> {
        fs::write("/proc/self/clear_refs", "5").ok().map(|()| self)
    }

    /// The most since then.
    fn grown(self) -> Option<u64> {
        status("VmHWM:").map(|most| most.saturating_sub(self.before))
    }
}

/// A line of the process's status, in bytes.
fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden::{Fanout, NodeId, Silent};
    use golden_files::generate::GraphSpec;
    use pipeline::batches::Batches;

    #[test]
    fn both_formulations_are_measured_and_agree() {
        let graph = "gen:uniform:nodes=500,edges=5000".parse::<GraphSpec>().unwrap().generate(&Silent);
        let batches = Batches::shuffled((0..graph.nodes()).map(NodeId::from_index), 64, 1);
        let work = Workload { batches, fanouts: vec![Fanout::Count(5); 2], seed: 1, minibatches: 1 };
        let shape = Shape { features: 10, hidden: 16, classes: 4 };
        let steps = steps(&graph, &work, shape, 2, &Silent).unwrap();
        assert!(steps.apart < 1e-5, "{steps:?}");
        assert!(steps.nodes > 3 * 64 && steps.edges > 3 * 64, "{steps:?}");
        assert!(steps.plain.time > Duration::ZERO && steps.fast.time > Duration::ZERO, "{steps:?}");
    }

    #[test]
    fn memory_is_seen_while_it_is_there() {
        if let Some(watch) = Watch::new().and_then(Watch::reset) {
            let bytes = vec![1u8; 64 << 20];
            assert_eq!(bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>(), bytes.len());
            drop(bytes);
            assert!(watch.grown().unwrap() > 32 << 20);
        }
    }
}
