//! `trisage rtl`.

use clap::{Args, Subcommand};
use sim::rtl::{RtlOptions, Variant};
use verilator_sys::build;

use crate::{
    backends,
    error::CliError,
    options::named,
    output::{print, say},
};

#[derive(Debug, Subcommand)]
pub(crate) enum RtlCommand {
    /// Compile the RTL with Verilator, unless that was done before; prints the path of each model
    Build(BuildArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Index channels of the kernel: 1, 2, 4 or 8
    #[arg(long, value_delimiter = ',', default_value = "4", value_name = "C,...", value_parser = backends::channels)]
    channels: Vec<usize>,
    /// What the models are for
    #[arg(long, value_parser = named::<Variant>(), value_delimiter = ',', default_value = "test,fast", value_name = "VARIANT,...")]
    variant: Vec<Variant>,
}

pub(crate) fn run(command: &RtlCommand) -> Result<(), CliError> {
    let RtlCommand::Build(args) = command;
    let kernel = |channels, variant| RtlOptions { channels, variant, ..RtlOptions::default() }.model_spec();
    let mut specs = vec![];
    for &channels in &args.channels {
        for &variant in &args.variant {
            specs.push(kernel(channels, variant)?);
        }
    }
    if args.variant.contains(&Variant::Test) {
        specs.push(build::ModelSpec::bench(Variant::Test));
    }
    for spec in specs {
        let library = build::compile(&spec, &say)?;
        print(&format!("{}\n", library.display()))?;
    }
    Ok(())
}
