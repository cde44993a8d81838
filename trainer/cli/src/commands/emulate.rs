//! `trisage emulate`: a command runs with a card that XRT takes for one; and the process that XRT starts for it.

use std::{env, ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use sim::{
    emulated::{self, Card, Environment, EnvironmentError, Kernels, Shim},
    rtl::RtlOptions,
};
use verilator_sys::build;

use crate::{backends, error::CliError, interrupt, options::named, output::say};

#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
    /// What XRT finds in place of a driver
    #[arg(long, default_value_t = Shim::SoftwareEmulation, value_parser = named::<Shim>())]
    shim: Shim,
    #[command(flatten)]
    card: CardArgs,
    /// Folder for what XRT wants to find; it is empty again when the command has ended
    #[arg(long, value_name = "DIR", default_value = "target/xrt")]
    folder: PathBuf,
    /// Say why and succeed if XRT is not installed
    #[arg(long)]
    skip_without_xrt: bool,
    /// The command, of which "trisage" is this program; {xclbin} stands for the xclbin of the card
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What stands behind the kernels' registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KernelsArg {
    /// The RTL under Verilator
    Rtl,
    /// The software model, for speed
    Model,
}

/// What is on the card.
#[derive(Debug, Args)]
pub(crate) struct CardArgs {
    /// Index channels of each kernel: 1, 2, 4 or 8
    #[arg(long, value_name = "C", default_value = "4", value_parser = backends::channels)]
    channels: usize,
    /// What stands behind the kernels' registers
    #[arg(long, value_enum, default_value = "rtl")]
    kernels: KernelsArg,
    /// Seed of everything in the card that depends on chance
    #[arg(long, value_name = "U64", default_value = "0")]
    stall_seed: u64,
}

impl CardArgs {
    fn rtl(&self) -> RtlOptions {
        RtlOptions { channels: self.channels, stall_seed: self.stall_seed, ..RtlOptions::default() }
    }

    /// The command line that leads to these arguments.
    fn words(&self) -> Vec<OsString> {
        let (channels, seed) = (self.channels.to_string(), self.stall_seed.to_string());
        let kernels = if self.kernels == KernelsArg::Rtl { "rtl" } else { "model" };
        let words = ["emulate-card", "--channels", &channels, "--kernels", kernels, "--stall-seed", &seed];
        words.map(OsString::from).to_vec()
    }
}

/// Runs the command, and ends as it did.
pub(crate) fn run(args: &EmulateArgs) -> Result<u8, CliError> {
    let own =
        env::current_exe().map_err(|error| CliError::Usage(format!("cannot find this program itself: {error}")))?;
    let device: Vec<_> = std::iter::once(own.clone().into_os_string()).chain(args.card.words()).collect();
    let environment = match Environment::new(args.shim, Card::new(args.card.channels), &args.folder, &device) {
        Err(EnvironmentError::Missing(missing)) if args.skip_without_xrt => {
            say(&format!("skipped: {missing}"));
            return Ok(0);
        }
        made => made?,
    };
    if args.shim == Shim::SoftwareEmulation && args.card.kernels == KernelsArg::Rtl {
        // XRT does not wait for a compiler.
        build::compile(&args.card.rtl().model_spec()?, &say)?;
    }
    let replaced = |word: &OsString| if word == "{xclbin}" { environment.xclbin().into() } else { word.clone() };
    let mut words = args.command.iter().map(replaced);
    let program = words.next().filter(|program| program != "trisage").unwrap_or_else(|| own.into());
    let running = interrupt::hand_on(|| environment.start(&program, &words.collect::<Vec<_>>()))?;
    Ok(running.wait(interrupt::take_back)?)
}

/// Is the card, for the XRT that has started this process.
pub(crate) fn card(args: &CardArgs) -> Result<(), CliError> {
    interrupt::leave_to_the_command();
    let kernels = match args.kernels {
        KernelsArg::Rtl => Kernels::Rtl(Box::new(args.rtl())),
        KernelsArg::Model => Kernels::Model,
    };
    emulated::serve_xrt(Card::new(args.channels), &kernels).map_err(Into::into)
}
