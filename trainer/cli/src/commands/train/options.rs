//! Settings of training as options of the command line.

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::Value;

use learn::train::Settings;

use crate::error::CliError;

/// Settings, from a file and from options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(super) struct SettingsArgs {
    /// Settings in TOML: the names of the options below, without their dashes in front; options on the command line win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

impl SettingsArgs {
    pub(super) fn settings(&self) -> Result<Settings, CliError> {
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
