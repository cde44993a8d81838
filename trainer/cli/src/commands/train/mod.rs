//! `trisage train`.

mod options;

use std::{fmt, path::PathBuf, sync::Arc};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::dataset::say_unread;
use crate::{
    backends::DeviceArgs,
    error::CliError,
    options::accelerator::{OnAccelerator, PipelineArgs},
    output::{print, print_json, say},
    progress::Bar,
    report::{
        table::{Table, count, scaled},
        transfers,
    },
};
use dataset::Dataset;
use learn::{
    torch::Torch,
    train,
    train::{Data, Figures, Output, Performance, Presence, Record, Settings},
};
use pipeline::{accelerator::Lend, ledger::Tally, units::float};

use options::SettingsArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train GraphSAGE with mean aggregation
    Sage(SageArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SageArgs {
    /// The data set: a folder with indptr.npy, indices.npy, features, labels and splits
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Which split to train with where the masks of the data set have several, from 0
    #[arg(long, value_name = "N")]
    split: Option<usize>,
    /// Folder for history.csv, performance.json, best.safetensors and last.safetensors; with --runs, a folder for each run
    /// in it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace results that are there
    #[arg(long, requires = "out", conflicts_with = "resume")]
    overwrite: bool,
    /// Go on from the results that are there, which have to be of this data set and these settings (there may be more epochs);
    /// with --runs, runs that have none yet begin
    #[arg(long, requires = "out")]
    resume: bool,
    /// Train so many times, with seeds that count up from --seed
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    runs: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    sampler: DeviceArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

pub(crate) fn run(command: &TrainCommand) -> Result<(), CliError> {
    let TrainCommand::Sage(args) = command;
    let settings = args.settings.settings()?;
    args.pipeline.on_accelerator((args, settings))
}

impl OnAccelerator for (&SageArgs, Settings) {
    type Output = ();

    fn run_on<A: Lend>(self, accelerator: A) -> Result<(), CliError> {
        let (args, settings) = self;
        args.train_on(accelerator, settings)
    }
}

impl SageArgs {
    fn train_on<A: Lend>(&self, accelerator: A, settings: Settings) -> Result<(), CliError> {
        let torch = Torch::new(Arc::new(accelerator))?;
        let sampler = self.sampler.open(&[])?;
        let (transport, way) = self.pipeline.transport(&*sampler, &**torch.accelerator())?;
        let timeline = transport.timeline.clone();
        let outputs = self.outputs(&settings)?;
        let progress = Bar::default();
        let dataset = Dataset::load_split(&self.data, self.split, &progress)?;
        say_unread(&self.data, &dataset.unread);
        let data = Data::new(dataset, &self.data, settings.normalise_features, &torch)?;
        settings.check_requests(&*sampler, &data)?;
        self.pipeline.check_memory(&settings.capacity(&data), transport.sink)?;
        say(&way);

        let mut runs = Vec::new();
        for (seed, output) in outputs {
            let settings = Settings { seed, ..settings.clone() };
            let done = train::run(&sampler, &torch, &data, &settings, &transport, output.as_ref(), &progress);
            // A trace of what failed is worth most; but why it failed is worth more. One of nothing would replace an earlier one.
            let idle = done.as_ref().is_ok_and(|done| !done.worked);
            let traced = if idle { Ok(()) } else { self.pipeline.write_trace(&timeline, "trisage train sage") };
            let done = done?;
            traced?;
            done.repaired.iter().for_each(|sentence| say(&format!("note: {sentence}")));
            if let Some(output) = output.filter(|_| idle) {
                let (folder, epochs) = (output.folder().display(), count(done.history.len() as u64));
                say(&format!("{folder}: all {epochs} epochs are done already; there is nothing to do"));
            }
            runs.push(Run { seed, best: done.best, worked: done.worked, performance: done.performance });
        }
        drop(progress);
        let result = Trained { data: self.data.display().to_string(), settings, test: Mean::of(&runs), runs };
        if self.json { print_json(&result) } else { print(&result.to_string()) }?;
        sampler.finish()?;
        Ok(())
    }

    /// The seed of each run and the folder for its results.
    fn outputs(&self, settings: &Settings) -> Result<Vec<(u64, Option<Output>)>, CliError> {
        let presence = |run: u64| match (self.overwrite, self.resume) {
            (true, _) => Presence::Overwrite,
            (_, true) if run == 0 => Presence::Resume,
            // Runs after the one that was interrupted have not begun.
            (_, true) => Presence::ResumeOrBegin,
            _ => Presence::Refuse,
        };
        let one = |run: u64| {
            let seed = settings.seed.wrapping_add(run);
            let folder = self
                .out
                .as_ref()
                .map(|out| if self.runs == 1 { out.clone() } else { out.join(format!("seed-{seed}")) });
            Ok((seed, folder.map(|folder| Output::open(&folder, presence(run))).transpose()?))
        };
        (0..self.runs).map(one).collect()
    }
}

/// What all runs have led to.
#[derive(Debug, Serialize)]
struct Trained {
    data: String,
    settings: Settings,
    /// Test accuracy of the runs' best epochs.
    test: Option<Mean>,
    runs: Vec<Run>,
}

#[derive(Debug, Serialize)]
struct Run {
    seed: u64,
    best: Record,
    /// Whether there was something to do.
    worked: bool,
    performance: Performance,
}

impl Run {
    /// What crossed the bus in all sessions, if all have counted it; else in this one.
    fn transfers(&self) -> Option<&Tally<String>> {
        let Performance { whole, sessions, .. } = &self.performance;
        let last = || sessions.last().filter(|_| self.worked)?.figures.transfers.as_ref();
        whole.transfers.as_ref().or_else(last)
    }
}

#[derive(Debug, PartialEq, Serialize)]
struct Mean {
    mean: f64,
    /// Standard deviation of a sample; 0 of one run.
    deviation: f64,
}

impl Mean {
    /// `None` if there is no test accuracy.
    fn of(runs: &[Run]) -> Option<Self> {
        let values: Vec<f64> = runs.iter().map(|run| run.best.accuracy?.test).collect::<Option<_>>()?;
        let (n, sum) = (float(values.len() as u64), values.iter().sum::<f64>());
        let mean = sum / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { mean, deviation: (squares / (n - 1.0).max(1.0)).sqrt() })
    }
}

impl fmt::Display for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", part * 100.0));
        let mut table = Table::default();
        let heads = ["best epoch", "loss", "valid", "test", "mini-batches", "edges", "epochs/s", "edges/s"];
        table.row(self.data.as_str(), heads.map(str::to_owned));
        for Run { seed, best, performance, .. } in &self.runs {
            let Figures { epochs, minibatches, edges, pipeline, .. } = &performance.whole;
            let rate = |amount: u64| float(amount) / pipeline.wall.as_secs_f64().max(f64::MIN_POSITIVE);
            let cells = [
                count(best.epoch),
                format!("{:.4}", best.loss),
                percent(best.accuracy.and_then(|accuracy| accuracy.valid)),
                percent(best.accuracy.and_then(|accuracy| accuracy.test)),
                count(*minibatches),
                count(*edges),
                scaled(rate(*epochs)),
                scaled(rate(*edges)),
            ];
            table.row(format!("seed {seed}"), cells);
        }
        table.fmt(f)?;
        if let Some(Mean { mean, deviation }) = &self.test {
            let (mean, deviation) = (mean * 100.0, deviation * 100.0);
            writeln!(f, "test accuracy of {}: {mean:.2} % +- {deviation:.2}", count(self.runs.len() as u64))?;
        }
        for Run { seed, performance: Performance { whole, sessions, .. }, .. } in &self.runs {
            if let Some(overlap) = whole.pipeline.overlap() {
                writeln!(f, "seed {seed}: {overlap}")?;
            }
            if sessions.len() > 1 {
                let epochs =
                    sessions.iter().map(|session| count(session.figures.epochs)).collect::<Vec<_>>().join(" + ");
                writeln!(f, "seed {seed}: {} sessions of {epochs} epochs", count(sessions.len() as u64))?;
            }
        }
        let mut transfers: Option<Tally<String>> = None;
        for more in self.runs.iter().filter_map(Run::transfers) {
            transfers.get_or_insert_default().add(more);
        }
        transfers.map_or(Ok(()), |transfers| f.write_str(&transfers::text(&transfers)))
    }
}
