//! `trisage train`.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};
use golden::Fanout;
use serde::Serialize;

use super::{
    CliError,
    accelerator::{Consumer, OnAccelerator, PipelineArgs},
    backend::DeviceArgs,
    dataset::say_unread,
    print, print_json,
    progress::Bar,
    say,
};
use crate::{
    accelerator::Torch,
    dataset::Dataset,
    table::{Table, count, float, scaled},
    train::{self, Changes, Data, Output, Performance, Presence, Record, Settings},
};

#[derive(Debug, Subcommand)]
pub(super) enum TrainCommand {
    /// Train GraphSAGE with mean aggregation
    Sage(SageArgs),
}

#[derive(Debug, Args)]
pub(super) struct SageArgs {
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
    /// Go on from the results that are there; with --runs, runs that have none yet begin
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

/// Settings; what is not given is as in the file of settings, or as usual.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
struct SettingsArgs {
    /// Settings in TOML: the names of the options below, without their dashes in front; options on the command line win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Layers [default: as many as fan-outs, or 3]
    #[arg(long, value_name = "L")]
    layers: Option<usize>,
    /// Neighbours to draw for each node, hop by hop, or one number for all hops; 'all' or -1 for all [default: 10]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "F1,F2,...")]
    fanouts: Option<Vec<Fanout>>,
    /// Columns between layers [default: 256]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Part of them that is left out in training [default: 0.5]
    #[arg(long, value_name = "P")]
    dropout: Option<f64>,
    /// Learning rate of Adam [default: 0.003]
    #[arg(long, value_name = "RATE")]
    lr: Option<f64>,
    /// Weight decay [default: 0]
    #[arg(long, value_name = "DECAY")]
    weight_decay: Option<f64>,
    /// Layers, from the first, that decay [default: all]
    #[arg(long, value_name = "L")]
    decay_layers: Option<usize>,
    /// Seed nodes of a mini-batch [default: 1024]
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "U64")]
    seed: Option<u64>,
    /// Divide each node's features by their sum [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    normalise_features: Option<bool>,
    /// Epochs in all [default: 10]
    #[arg(long, value_name = "N")]
    epochs: Option<u64>,
    /// Evaluate, and write what is remembered, after so many epochs [default: 1]
    #[arg(long, value_name = "N")]
    eval_every: Option<u64>,
    /// Write what is remembered also after so many epochs, without evaluating [default: where it is evaluated alone]
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<u64>,
}

impl SettingsArgs {
    fn settings(&self) -> Result<Settings, CliError> {
        let file = self.config.as_deref().map(Changes::read).transpose()?.unwrap_or_default();
        let flags = Changes {
            layers: self.layers,
            fanouts: self.fanouts.clone(),
            hidden: self.hidden,
            dropout: self.dropout,
            lr: self.lr,
            weight_decay: self.weight_decay,
            decay_layers: self.decay_layers,
            batch_size: self.batch_size,
            seed: self.seed,
            normalise_features: self.normalise_features,
            epochs: self.epochs,
            eval_every: self.eval_every,
            checkpoint_every: self.checkpoint_every,
        };
        let settings = Settings::default().with(&file).with(&flags);
        settings.check()?;
        Ok(settings)
    }
}

pub(super) fn run(command: &TrainCommand) -> Result<(), CliError> {
    let TrainCommand::Sage(args) = command;
    let settings = args.settings.settings()?;
    args.pipeline.on_accelerator((args, settings))
}

impl OnAccelerator for (&SageArgs, Settings) {
    type Output = ();

    fn run_on<A: Consumer>(self, accelerator: A) -> Result<(), CliError> {
        let (args, settings) = self;
        args.train_on(accelerator, settings)
    }
}

impl SageArgs {
    fn train_on<A: Consumer>(&self, accelerator: A, settings: Settings) -> Result<(), CliError> {
        let torch = Torch::new(Arc::new(accelerator))?;
        let sampler = self.sampler.open()?;
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
            // A trace of what failed is worth most; but why it failed is worth more.
            let traced = self.pipeline.write_trace(&timeline, "trisage train sage");
            let done = done?;
            traced?;
            runs.push(Run { seed, best: done.best, performance: done.performance });
        }
        drop(progress);
        let result = Trained { data: self.data.display().to_string(), settings, test: Mean::of(&runs), runs };
        if self.json { print_json(&result) } else { print(&result.to_string()) }?;
        sampler.finish()?;
        Ok(())
    }

    /// The seed of each run and the folder for its results.
    fn outputs(&self, settings: &Settings) -> Result<Vec<(u64, Option<Output>)>, CliError> {
        let presence = |run: u64, folder: &Path| match (self.overwrite, self.resume) {
            (true, _) => Presence::Overwrite,
            // Runs after the one that was interrupted have not begun.
            (_, true) if run == 0 || Output::can_resume(folder) => Presence::Resume,
            _ => Presence::Refuse,
        };
        let one = |run: u64| {
            let seed = settings.seed.wrapping_add(run);
            let folder = self
                .out
                .as_ref()
                .map(|out| if self.runs == 1 { out.clone() } else { out.join(format!("seed-{seed}")) });
            Ok((seed, folder.map(|folder| Output::open(&folder, presence(run, &folder))).transpose()?))
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
    performance: Performance,
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
        for Run { seed, best, performance } in &self.runs {
            let Performance { epochs, minibatches, edges, pipeline, .. } = performance;
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
        for Run { seed, performance, .. } in &self.runs {
            if let Some(overlap) = performance.pipeline.overlap() {
                writeln!(f, "seed {seed}: {overlap}")?;
            }
        }
        match self.runs.last().and_then(|run| run.performance.transfers.as_ref()) {
            Some(transfers) => write!(f, "{transfers}"),
            None => Ok(()),
        }
    }
}
