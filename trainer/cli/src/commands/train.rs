//! `trisage train`.

use std::{fmt, path::PathBuf, sync::Arc};

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use serde::Serialize;
use serde_json::Value;

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

#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
struct SettingsArgs {
    /// Settings in TOML: the names of the options below, without their dashes in front; options on the command line win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

impl SettingsArgs {
    fn settings(&self) -> Result<Settings, CliError> {
        let usual = || Ok(Settings::default());
        let settings = self.options.over(self.config.as_deref().map_or_else(usual, Settings::read)?);
        settings.check()?;
        Ok(settings)
    }
}

/// Options for [`Settings`], of which only some are given.
#[derive(Debug)]
struct Options(ArgMatches);

impl Options {
    /// Settings with what is given in place of what they are.
    fn over(&self, mut settings: Settings) -> Settings {
        settings.update_from_arg_matches(&self.0).expect("they were parsed as options for settings");
        settings.imply_layers(|name| self.0.contains_id(name));
        settings
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for Options {
    /// An option for each setting. None has a default here, so that a file's setting stays where an option is not given; but
    /// help tells what is usual.
    fn augment_args(command: clap::Command) -> clap::Command {
        let usual = serde_json::to_value(Settings::default()).unwrap_or_default();
        let tell = |option: clap::Arg| {
            let value = match option.get_long().and_then(|name| usual.get(name)) {
                None | Some(Value::Null) => return option,
                Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                Some(value) => value.to_string(),
            };
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            option.help(format!("{help} [default: {value}]"))
        };
        Settings::augment_args_for_update(command).mut_args(tell)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{CommandFactory, Parser};
    use golden::Fanout;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        settings: SettingsArgs,
    }

    fn settings(line: &str) -> Result<Settings, String> {
        let words = ["train"].into_iter().chain(line.split_whitespace());
        let parsed = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        parsed.settings.settings().map_err(|error| error.to_string())
    }

    /// Settings as a file of settings has them, one a line.
    fn lines(settings: &Settings) -> Vec<String> {
        let Ok(Value::Object(values)) = serde_json::to_value(settings) else { return Vec::new() };
        values.into_iter().map(|(name, value)| format!("{name} = {value}")).collect()
    }

    /// An option for each setting, which changes that one alone.
    #[test]
    fn every_setting_is_an_option() {
        let values = [
            ("layers", "2"),
            ("fanouts", "-1"),
            ("hidden", "8"),
            ("dropout", "0.25"),
            ("lr", "0.30000000000000004"),
            ("weight-decay", "1e-300"),
            ("decay-layers", "1"),
            ("batch-size", "77"),
            ("seed", "18446744073709551615"),
            ("normalise-features", "true"),
            ("epochs", "5"),
            ("eval-every", "3"),
            ("checkpoint-every", "2"),
        ];
        let usual = lines(&Settings::default());
        assert_eq!(usual.len(), values.len());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        for (name, value) in values {
            let found = lines(&settings(&format!("--{name}={value}")).unwrap());
            let changed: Vec<_> = found.iter().zip(&usual).filter(|(found, usual)| found != usual).collect();
            assert_eq!(changed.len(), 1, "{changed:?}");
            assert!(changed[0].0.starts_with(&format!("{name} = ")), "{changed:?}");
            // A file says the same; an integer in TOML has 63 bits.
            let value = match value {
                "-1" => "['all']",
                "18446744073709551615" => continue,
                value => value,
            };
            fs::write(&file, format!("{name} = {value}\n")).unwrap();
            assert_eq!(lines(&settings(&format!("--config {}", file.display())).unwrap()), found);
        }
        assert_eq!(settings("--seed=18446744073709551615").unwrap().seed, u64::MAX);
    }

    #[test]
    fn options_win_over_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        fs::write(&file, "layers = 2\nfanouts = [4, 3]\nhidden = 8\nnormalise-features = true\nepochs = 50\n").unwrap();
        let with = |line: &str| settings(&format!("--config {} {line}", file.display()));
        let expected = Settings {
            layers: 2,
            fanouts: vec![Fanout::Count(4), Fanout::Count(3)],
            hidden: 8,
            normalise_features: true,
            epochs: 50,
            ..Settings::default()
        };
        assert_eq!(with(""), Ok(expected.clone()));
        let options = "--epochs 1 --normalise-features=false --lr 0.5";
        let more = Settings { epochs: 1, normalise_features: false, lr: 0.5, ..expected.clone() };
        assert_eq!(with(options), Ok(more));
        assert_eq!(with("--normalise-features"), Ok(expected.clone()));
        // Fan-outs say how many layers there are, whatever the file says.
        let three =
            Settings { layers: 3, fanouts: vec![Fanout::All, Fanout::Count(2), Fanout::Count(1)], ..expected.clone() };
        assert_eq!(with("--fanouts all,2,1"), Ok(three));
        assert_eq!(with("--fanouts 7"), Ok(Settings { fanouts: vec![Fanout::Count(7)], ..expected }));
        let wrong = with("--layers 4").unwrap_err();
        assert_eq!(wrong, "fanouts: there are 2, but 4 layers; give one for each layer, or one for all");
    }

    #[test]
    fn an_option_without_sense_is_refused() {
        for (line, problem) in [
            ("--lr NaN", "lr: must be a finite number greater than 0"),
            ("--lr=-inf", "lr: must be a finite number greater than 0"),
            ("--hidden 0", "hidden: must be at least 1"),
            ("--hidden x", "invalid value 'x' for '--hidden <N>'"),
            ("--fanouts 3,few", "invalid value 'few' for '--fanouts <F1,F2,...>'"),
            ("--normalise-features=maybe", "invalid value 'maybe' for '--normalise-features[=<BOOL>]'"),
            ("--epochs 1 --epochs 2", "the argument '--epochs <N>' cannot be used multiple times"),
            ("--learning-rate 1", "unexpected argument '--learning-rate' found"),
        ] {
            let found = settings(line).unwrap_err();
            assert!(found.contains(problem), "{found}");
        }
    }

    #[test]
    fn help_tells_what_is_usual() {
        let help = Line::command().term_width(1000).render_long_help().to_string();
        for (option, usual) in [
            ("--layers <L>", "[default: 3]"),
            ("--fanouts <F1,F2,...>", "[default: 10]"),
            ("--hidden <N>", "[default: 256]"),
            ("--lr <RATE>", "[default: 0.003]"),
            ("--decay-layers <L>", "[default: all]"),
            ("--normalise-features[=<BOOL>]", "[default: false]"),
            ("--eval-every <N>", "[default: 1]"),
        ] {
            let (_, text) = help.split_once(option).unwrap_or_else(|| panic!("{option} is not in {help}"));
            let line = text.trim_start().lines().next().unwrap();
            assert!(line.ends_with(usual), "{option}: {line}");
        }
    }
}
