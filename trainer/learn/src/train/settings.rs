//! What can be set.

use std::{fmt::Display, fs, path::Path};

use golden::{Capacity, Fanout, Request, RequestError};
use hw::SamplerDevice;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Data, TrainError};
use golden_files::memory::Gigabytes;

/// How to train.
///
/// This is the one list of settings. A file of settings (TOML) has their names, with dashes; so have the record of a run and,
/// with feature `clap`, the options of the command line, whose help is what is said here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Settings"))]
pub struct Settings {
    /// Layers, and hops of each sub-graph; as many as fan-outs, if several of these are given without it
    #[cfg_attr(feature = "clap", arg(long, value_name = "L"))]
    pub layers: usize,
    /// Neighbours to draw for each node, hop by hop from the seed nodes, or one number for all hops; 'all' or -1 for all
    #[cfg_attr(
        feature = "clap",
        arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "F1,F2,...")
    )]
    #[serde(serialize_with = "write_fanouts", deserialize_with = "read_fanouts")]
    pub fanouts: Vec<Fanout>,
    /// Columns of what one layer passes on to the next
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub hidden: usize,
    /// Probability with which each of these is left out in training
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub dropout: f64,
    /// Learning rate of Adam
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub lr: f64,
    /// Weight decay
    #[cfg_attr(feature = "clap", arg(long, value_name = "DECAY"))]
    pub weight_decay: f64,
    /// Layers, from the first, whose parameters decay [default: all]
    #[cfg_attr(feature = "clap", arg(long, value_name = "L"))]
    pub decay_layers: Option<usize>,
    /// Seed nodes of a mini-batch
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub batch_size: usize,
    /// Seed of all random choices
    #[cfg_attr(feature = "clap", arg(long, value_name = "U64"))]
    pub seed: u64,
    /// Divide each node's features by their sum
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            action = clap::ArgAction::Set,
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "true",
            value_name = "BOOL"
        )
    )]
    pub normalise_features: bool,
    /// Epochs in all
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub epochs: u64,
    /// Epochs from one evaluation, and checkpoint, to the next; the last epoch has one too
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub eval_every: u64,
    /// Epochs from one checkpoint without evaluation to the next [default: there are checkpoints with evaluations alone]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub checkpoint_every: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layers: 3,
            fanouts: vec![Fanout::Count(10)],
            hidden: 256,
            dropout: 0.5,
            lr: 0.003,
            weight_decay: 0.0,
            decay_layers: None,
            batch_size: 1024,
            seed: 0,
            normalise_features: false,
            epochs: 10,
            eval_every: 1,
            checkpoint_every: None,
        }
    }
}

impl Settings {
    /// Reads a file of settings, in TOML; what it does not name is as usual.
    ///
    /// # Errors
    /// [`TrainError::Config`].
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let wrong = |problem| TrainError::Config { path: path.to_owned(), problem };
        let text = fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let misread = |error: toml::de::Error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let line = line.map_or_else(String::new, |line| format!("line {line}: "));
            wrong(format!("{line}{}", error.message().replace('\n', " ")))
        };
        let mut settings: Self = toml::from_str(&text).map_err(misread)?;
        let names: toml::Table = toml::from_str(&text).map_err(misread)?;
        settings.imply_layers(|name| names.contains_key(name));
        Ok(settings)
    }

    /// Has as many layers as there are fan-outs, if several of these were given and no number of layers. `given` says whether
    /// a setting was.
    pub fn imply_layers(&mut self, given: impl Fn(&str) -> bool) {
        if self.fanouts.len() > 1 && given("fanouts") && !given("layers") {
            self.layers = self.fanouts.len();
        }
    }

    /// Whether they make sense.
    ///
    /// # Errors
    /// [`TrainError::Setting`]: the first that does not.
    pub fn check(&self) -> Result<(), TrainError> {
        let fanouts = self.fanouts.len();
        let at_least = |least: u64| format!("must be at least {least}");
        let rules = [
            ("layers", self.layers > 0, at_least(1)),
            (
                "fanouts",
                fanouts == 1 || fanouts == self.layers,
                format!("there are {fanouts}, but {} layers; give one for each layer, or one for all", self.layers),
            ),
            ("hidden", self.hidden > 0, at_least(1)),
            ("dropout", (0.0..1.0).contains(&self.dropout), "must be at least 0 and less than 1".to_owned()),
            ("lr", self.lr > 0.0 && self.lr.is_finite(), "must be a finite number greater than 0".to_owned()),
            (
                "weight-decay",
                self.weight_decay >= 0.0 && self.weight_decay.is_finite(),
                "must be a finite number, at least 0".to_owned(),
            ),
            ("batch-size", self.batch_size > 0, at_least(1)),
            ("epochs", self.epochs > 0, at_least(1)),
            ("eval-every", self.eval_every > 0, at_least(1)),
            ("checkpoint-every", self.checkpoint_every != Some(0), at_least(1)),
        ];
        match rules.into_iter().find(|&(_, right, _)| !right) {
            Some((setting, _, problem)) => Err(TrainError::Setting { setting, problem }),
            None => Ok(()),
        }
    }

    /// The fan-out of each hop.
    pub fn fanouts(&self) -> Vec<Fanout> {
        self.fanouts.iter().copied().cycle().take(self.layers).collect()
    }

    /// Columns of the features, of what each layer passes on, and classes.
    pub(super) fn widths(&self, data: &Data) -> Vec<usize> {
        let hidden = std::iter::repeat_n(self.hidden, self.layers - 1);
        [data.columns()].into_iter().chain(hidden).chain([data.classes]).collect()
    }

    /// Mini-batches of an epoch.
    pub(super) fn minibatches(&self, data: &Data) -> usize {
        data.train.len().div_ceil(self.batch_size)
    }

    /// Room for any mini-batch.
    pub fn capacity(&self, data: &Data) -> Capacity {
        Capacity::worst_case(&data.graph, self.batch_size.min(data.train.len()), &self.fanouts())
    }

    /// Whether the device takes the mini-batches, before anything is sampled.
    ///
    /// # Errors
    /// What the device says to the first one that it does not take.
    pub fn check_requests(&self, device: &dyn SamplerDevice, data: &Data) -> Result<(), TrainError> {
        let limits = &device.capabilities().limits;
        // First, as there may be no memory for the fan-outs of so many hops.
        if self.layers > limits.hops {
            let hops = RequestError::Hops { found: self.layers, limit: limits.hops, owner: limits.owner };
            return Err(hw::DeviceError::from(hops).into());
        }
        let seeds = data.train.iter().copied().take(self.batch_size).collect();
        let request = Request { seed: self.seed, minibatch: 0, seeds, fanouts: self.fanouts() };
        request.check(&data.graph, limits).map_err(hw::DeviceError::from)?;
        Ok(())
    }

    /// Whether the model fits into so many bytes, which `what` says in words: each parameter with its gradient and the
    /// optimizer's two means, a copy of it and of them where some epochs have no checkpoint, and what a layer reads and makes
    /// when every node is evaluated.
    pub(super) fn check_memory(&self, data: &Data, free: u64, what: &dyn Display) -> Result<(), TrainError> {
        let widths: Vec<u64> = self.widths(data).into_iter().map(|width| width as u64).collect();
        let parameters =
            widths.windows(2).map(|width| width[0].saturating_mul(2).saturating_add(1).saturating_mul(width[1]));
        let evaluated = widths[1..].iter().map(|width| width.saturating_mul(2 * data.graph.nodes() as u64)).max();
        let copies = if self.eval_every == 1 || self.checkpoint_every == Some(1) { 4 } else { 7 };
        let elements = parameters.map(|parameters| parameters.saturating_mul(copies)).chain(evaluated);
        let needed = elements.fold(0, u64::saturating_add).saturating_mul(size_of::<f32>() as u64);
        if needed <= free {
            return Ok(());
        }
        let needed = Gigabytes(needed);
        let problem =
            format!("with {} columns between layers the model takes {needed} of memory, and {what}", self.hidden);
        Err(TrainError::Setting { setting: "hidden", problem })
    }
}

fn write_fanouts<S: Serializer>(fanouts: &[Fanout], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(fanouts.iter().map(ToString::to_string))
}

/// A fan-out as files have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a fan-out is a whole number, 0 or more, or 'all' (-1) for every neighbour")]
enum Written {
    Number(i64),
    Word(String),
}

fn read_fanouts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Fanout>, D::Error> {
    let written = Vec::<Written>::deserialize(deserializer)?;
    let fanout = |written| match written {
        Written::Number(number) => number.to_string().parse(),
        Written::Word(word) => word.parse(),
    };
    written.into_iter().map(fanout).collect::<Result<_, _>>().map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let name = file.path().display().to_string();
        Settings::read(file.path()).map_err(|error| error.to_string().replace(&name, "F"))
    }

    #[test]
    fn a_file_changes_what_it_names() {
        assert_eq!(read(""), Ok(Settings::default()));
        let settings = read("fanouts = [25, 'all']\nlr = 0.01\nnormalise-features = true\n").unwrap();
        let fanouts = vec![Fanout::Count(25), Fanout::All];
        let expected = Settings { layers: 2, fanouts, lr: 0.01, normalise_features: true, ..Settings::default() };
        assert_eq!(settings, expected);
        assert_eq!(read("layers = 4\nfanouts = ['all']\n").unwrap().fanouts(), [Fanout::All; 4]);
        let both = read("layers = 3\nfanouts = [1, 2]\n").unwrap().check().unwrap_err().to_string();
        assert!(both.starts_with("fanouts: there are 2, but 3 layers; "), "{both}");
    }

    /// What a run records is a file of settings as well.
    #[test]
    fn what_is_recorded_is_read() {
        let settings = Settings {
            fanouts: vec![Fanout::All, Fanout::Count(5), Fanout::Count(0)],
            lr: 0.1 + 0.2,
            decay_layers: Some(1),
            checkpoint_every: Some(2),
            ..Settings::default()
        };
        assert_eq!(read(&toml::to_string(&settings).unwrap()), Ok(settings.clone()));
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
    }

    #[test]
    fn a_file_with_something_else_is_refused_with_its_line() {
        let error = read("lr = 0.1\nlearning-rate = 3\n").unwrap_err();
        assert!(
            error.starts_with("F: line 2: unknown field `learning-rate`, expected one of `layers`, `fanouts`, "),
            "{error}"
        );
        let error = read("\nfanouts = ['few']\n").unwrap_err();
        assert!(error.starts_with("F: line 2: fan-out 'few' is not understood"), "{error}");
        let error = read("fanouts = [10, 2.5]\n").unwrap_err();
        assert!(error.starts_with("F: line 1: a fan-out is a whole number, 0 or more, or 'all'"), "{error}");
        let error = read("fanouts = 10\n").unwrap_err();
        assert!(error.starts_with("F: line 1: invalid type: integer `10`, expected a sequence"), "{error}");
        let error = read("hidden = 8\nhidden = 9\n").unwrap_err();
        assert!(error.starts_with("F: line 2: duplicate key"), "{error}");
        let error = Settings::read(Path::new("/nowhere/at.all")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/at.all: cannot be read"), "{error}");
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(Settings::default().check().is_ok());
        assert_eq!(refused(|s| s.layers = 0), "layers: must be at least 1");
        assert_eq!(
            refused(|s| s.fanouts = vec![Fanout::All; 2]),
            "fanouts: there are 2, but 3 layers; give one for each layer, or one for all"
        );
        assert_eq!(refused(|s| s.dropout = 1.0), "dropout: must be at least 0 and less than 1");
        for rate in [0.0, f64::NAN, f64::INFINITY] {
            let settings = Settings { lr: rate, ..Settings::default() };
            assert_eq!(settings.check().unwrap_err().to_string(), "lr: must be a finite number greater than 0");
        }
        assert_eq!(refused(|s| s.weight_decay = -1.0), "weight-decay: must be a finite number, at least 0");
        let zeros: [fn(&mut Settings); 5] = [
            |s| s.hidden = 0,
            |s| s.batch_size = 0,
            |s| s.epochs = 0,
            |s| s.eval_every = 0,
            |s| s.checkpoint_every = Some(0),
        ];
        for zero in zeros {
            assert!(refused(zero).ends_with("must be at least 1"));
        }
    }
}
