//! The `trisage` command.
//!
//! Results go to stdout, messages and progress to stderr. Exit codes: 0 success, 1 the verification found a difference, 2 it
//! could not be done, 129, 130 or 143 it was ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM. A reader that closes stdout early is no
//! error.

// `allocator` and `first` alone have some.
#![deny(unsafe_code)]

mod allocator;
mod backends;
mod bench;
mod commands;
mod ending;
mod error;
mod first;
mod interrupt;
mod options;
mod output;
mod progress;
mod report;

use std::{
    env,
    path::{Path, PathBuf},
};

use clap::{Parser, Subcommand};

use error::CliError;
use output::say;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

#[derive(Debug, Parser)]
#[command(name = "trisage", version, about = "Graph sampling on FPGA cards, verified", max_term_width = 100)]
struct Cli {
    /// Work as if started in this folder: relative paths are seen from there
    #[arg(short = 'C', value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare a back end with the reference sampler, element by element
    Verify(commands::verify::VerifyArgs),
    /// Sample one mini-batch
    Sample(commands::sample::SampleArgs),
    /// Look at, convert or generate a graph
    #[command(subcommand)]
    Graph(commands::graph::GraphCommand),
    /// Make a data set of what people download, or look at one
    #[command(subcommand)]
    Dataset(commands::dataset::DatasetCommand),
    /// Look at the cards of this machine, or see whether one works
    #[command(subcommand)]
    Device(commands::device::DeviceCommand),
    /// Prepare the RTL for simulation
    #[command(subcommand)]
    Rtl(commands::rtl::RtlCommand),
    /// Run a command with an emulated card, which AMD's XRT takes for a real one
    Emulate(commands::emulate::EmulateArgs),
    /// Be the emulated card; XRT starts this
    #[command(hide = true)]
    EmulateCard(commands::emulate::CardArgs),
    /// Measure or predict how fast kernels are
    #[command(subcommand)]
    Bench(commands::bench::BenchCommand),
    /// Train a model on what a card samples
    #[cfg_attr(feature = "torch", command(subcommand))]
    Train(commands::train::TrainCommand),
}

/// How a command ended that could be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Success,
    Different,
    /// As the command did that was run.
    Ended(u8),
}

/// Runs the command that the process was called with, and ends the process.
fn main() -> ! {
    first::go_back();
    interrupt::listen();
    let Cli { folder, command } = Cli::parse();
    let done = enter(folder.as_deref()).and_then(|()| run(command));
    let signal = interrupt::settle();
    let code = match done {
        Ok(Verdict::Success) => 0,
        Ok(Verdict::Different) => 1,
        Ok(Verdict::Ended(code)) => code,
        Err(ref error) if signal.is_none() => {
            say(&format!("error: {error}{}", error.hint()));
            2
        }
        Err(_) => 2,
    };
    backends::exit(signal.map_or(code, |signal| {
        let name = interrupt::name(signal);
        ending::say_to_who_listens(&match done {
            Ok(_) => format!("error: interrupted by {name}"),
            Err(error) => format!("error: interrupted by {name}: {error}"),
        });
        interrupt::exit_code(signal)
    }))
}

/// Makes a folder the current one, if any is given.
fn enter(folder: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = folder else { return Ok(()) };
    env::set_current_dir(folder).map_err(|error| CliError::Usage(format!("-C: {}: {error}", folder.display())))
}

fn run(command: Command) -> Result<Verdict, CliError> {
    match command {
        Command::Verify(args) => commands::verify::run(&args),
        Command::Sample(args) => commands::sample::run(&args).map(|()| Verdict::Success),
        Command::Graph(command) => commands::graph::run(&command).map(|()| Verdict::Success),
        Command::Dataset(command) => commands::dataset::run(&command).map(|()| Verdict::Success),
        Command::Device(command) => commands::device::run(&command),
        Command::Rtl(command) => commands::rtl::run(&command).map(|()| Verdict::Success),
        Command::Emulate(args) => commands::emulate::run(&args).map(Verdict::Ended),
        Command::EmulateCard(args) => commands::emulate::card(&args).map(|()| Verdict::Success),
        Command::Bench(command) => commands::bench::run(&command).map(|()| Verdict::Success),
        Command::Train(command) => commands::train::run(&command).map(|()| Verdict::Success),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn usage_errors_are_code_2() {
        for line in [&["trisage"][..], &["trisage", "verify"], &["trisage", "verify", "--graph", "g", "--fanouts", "x"]]
        {
            assert_eq!(Cli::try_parse_from(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
