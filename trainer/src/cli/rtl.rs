//! `trisage rtl`.

use std::{collections::BTreeMap, io::Write};

use clap::{Args, Subcommand, ValueEnum};
use verilator_sys::build::{self, ModelSpec};

use super::{CliError, backend, print};

#[derive(Debug, Subcommand)]
pub(super) enum RtlCommand {
    /// Compile the RTL with Verilator, unless that was done before; prints the path of each model
    Build(BuildArgs),
}

#[derive(Debug, Args)]
pub(super) struct BuildArgs {
    /// Index channels of the kernel: 1, 2, 4 or 8
    #[arg(long, value_delimiter = ',', default_value = "4", value_name = "C,...", value_parser = backend::channels)]
    channels: Vec<usize>,
    /// What the model is for
    #[arg(long, value_enum, value_delimiter = ',', default_value = "test,fast", value_name = "VARIANT,...")]
    variant: Vec<Variant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Variant {
    /// Assertions and random initial values
    Test,
    /// Speed
    Fast,
    /// Assertions and waves
    Waves,
    /// Assertions and coverage
    Coverage,
}

impl From<Variant> for build::Variant {
    fn from(variant: Variant) -> Self {
        match variant {
            Variant::Test => Self::Test,
            Variant::Fast => Self::Fast,
            Variant::Waves => Self::Waves,
            Variant::Coverage => Self::Coverage,
        }
    }
}

pub(super) fn run(command: &RtlCommand) -> Result<(), CliError> {
    let RtlCommand::Build(args) = command;
    for &channels in &args.channels {
        for &variant in &args.variant {
            let parameters = BTreeMap::from([("INDEX_CHANNELS".to_owned(), channels as u64)]);
            let spec = ModelSpec { parameters, variant: variant.into() };
            let library = build::compile(&spec, &|line| {
                // Nothing can be said any more if stderr is closed.
                let _ = writeln!(std::io::stderr(), "{line}");
            })?;
            print(&format!("{}\n", library.display()))?;
        }
    }
    Ok(())
}
