//! The back ends. Each has a module with its options and how it is opened; `back_ends!` below names them all, once.

mod model;
mod rtl;
pub(crate) mod xrt;

use std::sync::Arc;

use clap::{
    Arg, ArgMatches, Args, Command, Error, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser},
    parser::ValueSource,
};
use hw::{Feature, SamplerDevice};

use crate::error::CliError;

/// The options of a back end.
trait BackEnd: Args {
    /// What `--backend` calls it.
    const NAME: &'static str;
    /// What it is.
    const ABOUT: &'static str;
    /// Whether its kernels are built as [`KernelOptions`] say.
    const BUILDS_KERNELS: bool;

    /// Makes the device, without a graph. It counts what is `needed`; what only takes time may be left out.
    fn open(&self, kernel: &KernelOptions, needed: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError>;
}

/// What the command line needs to know of a back end before one is chosen.
struct Entry {
    name: &'static str,
    about: &'static str,
    builds_kernels: bool,
    /// The names of its options.
    options: fn() -> Vec<String>,
}

impl Entry {
    const fn of<B: BackEnd>() -> Self {
        Self { name: B::NAME, about: B::ABOUT, builds_kernels: B::BUILDS_KERNELS, options: options_of::<B> }
    }
}

/// The names of the options that these arguments are.
fn options_of<A: Args>() -> Vec<String> {
    let command = A::augment_args(Command::new(""));
    command.get_arguments().map(|option| option.get_id().to_string()).collect()
}

/// Lists the back ends, by their modules.
macro_rules! back_ends {
    ($($module:ident)*) => {
        /// The options of all back ends.
        #[derive(Debug, Args)]
        #[group(skip)]
        struct Options {
            #[command(flatten)]
            kernel: KernelOptions,
            $(#[command(flatten)]
            $module: $module::Options,)*
        }

        const BACK_ENDS: &[Entry] = &[$(Entry::of::<$module::Options>()),*];

        impl Options {
            fn open(&self, name: &str, needed: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError> {
                match name {
                    $(<$module::Options as BackEnd>::NAME => self.$module.open(&self.kernel, needed),)*
                    _ => unreachable!("--backend takes the names of back ends"),
                }
            }
        }
    };
}

back_ends! { model rtl xrt }

/// What a kernel is built with: for all back ends that build some.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back ends 'model' and 'rtl'")]
struct KernelOptions {
    /// Index channels of each kernel: 1, 2, 4 or 8
    #[arg(long, value_name = "C", default_value = "4", value_parser = channels)]
    channels: usize,
}

/// Reads the number of channels of a kernel.
pub(crate) fn channels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(channels @ (1 | 2 | 4 | 8)) => Ok(channels),
        _ => Err("a kernel has 1, 2, 4 or 8 index channels".to_owned()),
    }
}

/// The name of the reference sampler, where it stands beside the back ends.
const REFERENCE: &str = "golden";

/// `--backend`, and the options of all back ends.
#[derive(Debug)]
struct Choice {
    name: String,
    options: Options,
    /// An option that was given, and that the chosen back end does not have.
    foreign: Option<String>,
}

impl Choice {
    fn augment(command: Command, with_reference: bool) -> Command {
        let reference = with_reference.then(|| PossibleValue::new(REFERENCE).help("The reference sampler"));
        let back_ends = BACK_ENDS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about));
        let backend = Arg::new("backend")
            .long("backend")
            .value_name("BACKEND")
            .help("What samples")
            .default_value(<model::Options as BackEnd>::NAME)
            .value_parser(PossibleValuesParser::new(reference.into_iter().chain(back_ends)));
        Options::augment_args(command.arg(backend))
    }

    fn new(matches: &ArgMatches) -> Result<Self, Error> {
        let name = matches.get_one::<String>("backend").cloned().unwrap_or_default();
        Ok(Self { foreign: foreign(&name, matches), options: Options::from_arg_matches(matches)?, name })
    }

    /// Makes the device, without a graph; `None` is the reference.
    fn open(&self, needed: &[Feature]) -> Result<Option<Arc<dyn SamplerDevice>>, CliError> {
        match &self.foreign {
            Some(sentence) => Err(CliError::Usage(sentence.clone())),
            None if self.name == REFERENCE => Ok(None),
            None => self.options.open(&self.name, needed).map(Some),
        }
    }
}

/// Says which option was given that the chosen back end does not have.
fn foreign(chosen: &str, matches: &ArgMatches) -> Option<String> {
    let builds_kernels = BACK_ENDS.iter().any(|entry| entry.name == chosen && entry.builds_kernels);
    let kernel = (!builds_kernels).then(|| {
        let owners: Vec<_> = BACK_ENDS.iter().filter(|entry| entry.builds_kernels).map(|entry| entry.name).collect();
        (format!("back ends '{}'", owners.join("' and '")), options_of::<KernelOptions>())
    });
    let others = BACK_ENDS.iter().filter(|entry| entry.name != chosen);
    let others = others.map(|entry| (format!("back end '{}'", entry.name), (entry.options)()));
    let given = |option: &String| matches.value_source(option) == Some(ValueSource::CommandLine);
    kernel.into_iter().chain(others).find_map(|(owners, options)| {
        let option = options.iter().find(|option| given(option))?.replace('_', "-");
        Some(format!("--{option} is an option of {owners}; back end '{chosen}' has none of that name"))
    })
}

/// Which card to use.
#[derive(Debug)]
pub(crate) struct DeviceArgs(Choice);

/// Which card to use, or the reference.
#[derive(Debug)]
pub(crate) struct SamplerArgs(Choice);

impl DeviceArgs {
    /// Makes the device, without a graph. It counts what is `needed`; what only takes time may be left out.
    pub(crate) fn open(&self, needed: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError> {
        Ok(self.0.open(needed)?.expect("only the reference is no device"))
    }
}

impl SamplerArgs {
    /// Makes the device, without a graph, for samples alone; `None` is the reference.
    pub(crate) fn open(&self) -> Result<Option<Arc<dyn SamplerDevice>>, CliError> {
        self.0.open(&[])
    }
}

/// Has clap fill a type that is a [`Choice`].
macro_rules! choice {
    ($type:ident, with_reference: $with_reference:literal) => {
        impl Args for $type {
            fn augment_args(command: Command) -> Command {
                Choice::augment(command, $with_reference)
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $type {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Choice::new(matches).map(Self)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

choice!(DeviceArgs, with_reference: false);
choice!(SamplerArgs, with_reference: true);

/// Ends the process. XRT crashes when its destructors run while a card is open, as it is when a run did not end or a signal came.
pub(crate) fn exit(code: u8) -> ! {
    if hw::xrt::is_open() {
        hw::xrt::end_at_once(code.into());
    }
    std::process::exit(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line<A: Args> {
        #[command(flatten)]
        args: A,
    }

    fn parse<A: Args>(line: &str) -> A {
        Line::<A>::try_parse_from(std::iter::once("x").chain(line.split_whitespace())).unwrap().args
    }

    fn refusal(line: &str) -> String {
        parse::<SamplerArgs>(line).open().err().unwrap().to_string()
    }

    #[test]
    fn a_foreign_option_is_refused() {
        for option in [
            "--profile hostile",
            "--stall-seed 3",
            "--table-log2 9",
            "--window 64",
            "--variant test",
            "--waves w.fst",
            "--watchdog 5",
        ] {
            let name = option.split(' ').next().unwrap();
            let sentence = format!("{name} is an option of back end 'rtl'; back end 'model' has none of that name");
            assert_eq!(refusal(&format!("--backend model {option}")), sentence);
            assert_eq!(refusal(&format!("--backend golden {option}")), sentence.replace("'model'", "'golden'"));
        }
        for option in ["--xclbin x", "--card 1", "--p2p", "--dma-buf", "--run-limit 5", "--xrt-library x.so"] {
            let name = option.split(' ').next().unwrap();
            let sentence = format!("{name} is an option of back end 'xrt'; back end 'rtl' has none of that name");
            assert_eq!(refusal(&format!("--backend rtl {option}")), sentence);
        }
        assert_eq!(
            refusal("--backend xrt --channels 2"),
            "--channels is an option of back ends 'model' and 'rtl'; back end 'xrt' has none of that name"
        );
        assert_eq!(
            refusal("--backend xrt"),
            "back end 'xrt' needs --xclbin: the file that the card is programmed with"
        );
        assert_eq!(
            refusal("--backend rtl --clock 10"),
            "--clock is an option of back end 'model'; back end 'rtl' has none of that name"
        );
        assert_eq!(
            refusal("--backend golden --channels 2"),
            "--channels is an option of back ends 'model' and 'rtl'; back end 'golden' has none of that name"
        );
    }

    #[test]
    fn waves_are_refused_before_anything_is_compiled() {
        let rtl = |line: &str| refusal(&format!("--backend rtl --waves {line}"));
        assert!(rtl("w.fst --variant fast").starts_with("--variant fast has no waves"));
        assert!(rtl("/nowhere/w.fst").contains("/nowhere/w.slr0.fst: No such file"));
    }

    #[test]
    fn the_model_can_be_as_slow_as_a_card() {
        let device = parse::<DeviceArgs>("--clock 300").open(&[]).unwrap();
        assert!(device.capabilities().has(Feature::PredictedCycles));
    }

    #[test]
    fn the_model_is_the_default_and_takes_channels() {
        let device = parse::<DeviceArgs>("--channels 8").open(&[]).unwrap();
        assert_eq!(device.capabilities().backend, "model");
        assert!(!device.capabilities().has(Feature::Traffic), "nobody has asked for it");
        assert!(parse::<DeviceArgs>("").open(&[Feature::Traffic]).unwrap().capabilities().has(Feature::Traffic));
        assert!(parse::<SamplerArgs>("--backend golden").open().unwrap().is_none());
        for channels in ["0", "3", "16", "x"] {
            let line = ["x", "--channels", channels];
            assert!(Line::<DeviceArgs>::try_parse_from(line).unwrap_err().to_string().contains("1, 2, 4 or 8"));
        }
    }
}
