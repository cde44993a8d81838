//! The `trisage` command.
//!
//! Results go to stdout, messages and progress to stderr. Exit codes: 0 success, 1 the verification found a difference, 2 it
//! could not be done, 130 it was interrupted (Ctrl-C). A reader that closes stdout early is no error.

mod accelerator;
mod backend;
mod bench;
mod dataset;
mod device;
mod emulate;
mod faults;
mod graph;
mod interrupt;
mod progress;
mod rtl;
mod sample;
mod source;
#[cfg_attr(not(feature = "torch"), path = "no_train.rs")]
mod train;
mod verify;

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, Subcommand};

use crate::{
    accelerator::AcceleratorError, batches::NodeListError, bench::BenchError, dataset::DatasetError, memory::Gigabytes,
    pipeline::PipelineError, verify::VerifyError,
};

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
    Verify(verify::VerifyArgs),
    /// Sample one mini-batch
    Sample(sample::SampleArgs),
    /// Look at, convert or generate a graph
    #[command(subcommand)]
    Graph(graph::GraphCommand),
    /// Make a data set of what people download, or look at one
    #[command(subcommand)]
    Dataset(dataset::DatasetCommand),
    /// Look at the cards of this machine, or see whether one works
    #[command(subcommand)]
    Device(device::DeviceCommand),
    /// Prepare the RTL for simulation
    #[command(subcommand)]
    Rtl(rtl::RtlCommand),
    /// Run a command with an emulated card, which AMD's XRT takes for a real one
    Emulate(emulate::EmulateArgs),
    /// Be the emulated card; XRT starts this
    #[command(hide = true)]
    EmulateCard(emulate::CardArgs),
    /// Measure or foretell how fast kernels are
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Train a model on what a card samples
    #[cfg_attr(feature = "torch", command(subcommand))]
    Train(train::TrainCommand),
}

/// How a command ended that could be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Success,
    Different,
    /// As the command did that was run.
    Ended(u8),
}

/// Why a command could not be done: one sentence.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Read(#[from] golden::read::ReadError),
    #[error(transparent)]
    Write(#[from] golden::write::WriteError),
    #[error("{argument}: {error}")]
    Spec { argument: &'static str, error: golden::generate::SpecError },
    #[error(
        "{argument}: {spec} needs about {needed} of memory to be generated, and this machine has {available} left; make it smaller"
    )]
    Memory { argument: &'static str, spec: String, needed: Gigabytes, available: Gigabytes },
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Nodes(#[from] NodeListError),
    #[error(transparent)]
    Device(#[from] hw::DeviceError),
    #[error("back end 'xrt': {0}")]
    Xrt(#[from] hw::xrt::XrtError),
    #[error(transparent)]
    Sample(#[from] golden::SampleError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Accelerator(#[from] AcceleratorError),
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Steps(#[from] crate::bench::StepsError),
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Train(#[from] crate::train::TrainError),
    #[error(transparent)]
    Environment(#[from] sim::emulated::EnvironmentError),
    #[error(transparent)]
    Serve(#[from] sim::emulated::ServeError),
    #[error(transparent)]
    Build(#[from] verilator_sys::build::BuildError),
    #[error("{0}")]
    Usage(String),
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// Runs the command that the process was called with, and ends the process.
pub fn main() -> ! {
    let Cli { folder, command } = Cli::parse();
    let done = enter(folder.as_deref()).and_then(|()| run(command));
    backend::exit(match done {
        Ok(Verdict::Success) => 0,
        Ok(Verdict::Different) => 1,
        Ok(Verdict::Ended(code)) => code,
        Err(error) => {
            say(&format!("error: {error}{}", hint(&error)));
            if interrupt::stopped(&error) { interrupt::EXIT_CODE } else { 2 }
        }
    })
}

/// Makes a folder the current one, if any is given.
fn enter(folder: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = folder else { return Ok(()) };
    env::set_current_dir(folder).map_err(|error| CliError::Usage(format!("-C: {}: {error}", folder.display())))
}

fn run(command: Command) -> Result<Verdict, CliError> {
    match command {
        Command::Verify(args) => verify::run(&args),
        Command::Sample(args) => sample::run(&args).map(|()| Verdict::Success),
        Command::Graph(command) => graph::run(&command).map(|()| Verdict::Success),
        Command::Dataset(command) => dataset::run(&command).map(|()| Verdict::Success),
        Command::Device(command) => device::run(&command),
        Command::Rtl(command) => rtl::run(&command).map(|()| Verdict::Success),
        Command::Emulate(args) => emulate::run(&args).map(Verdict::Ended),
        Command::EmulateCard(args) => emulate::card(&args).map(|()| Verdict::Success),
        Command::Bench(command) => bench::run(&command).map(|()| Verdict::Success),
        Command::Train(command) => train::run(&command).map(|()| Verdict::Success),
    }
}

/// What would help.
fn hint(error: &CliError) -> &'static str {
    use golden::SampleError::Overflow;
    let overflow = match error {
        CliError::Sample(Overflow { .. }) | CliError::Device(hw::DeviceError::Overflow { .. }) => true,
        CliError::Verify(VerifyError::Reference { source, .. }) => matches!(source, Overflow { .. }),
        CliError::Verify(VerifyError::Pipeline(PipelineError::Run { source, .. })) => {
            matches!(source, hw::DeviceError::Overflow { .. })
        }
        _ => false,
    };
    let exists = match error {
        CliError::Write(error) | CliError::Dataset(DatasetError::Write(error)) => {
            matches!(error.problem, golden::write::WriteProblem::Exists { .. })
        }
        _ => false,
    };
    if overflow {
        "; leave --node-capacity and --edge-capacity away to have room for the worst case"
    } else if exists {
        " with --overwrite"
    } else {
        ""
    }
}

/// Writes a message to stderr.
fn say(message: &str) {
    // Nothing can be said any more if stderr is closed.
    let _ = writeln!(io::stderr(), "{}", printable(message));
}

/// The message with what would steer a terminal, from the name of a file perhaps, escaped.
fn printable(message: &str) -> String {
    message.chars().fold(String::with_capacity(message.len()), |mut text, c| {
        if c.is_control() && c != '\n' && c != '\t' {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

/// Writes a result to stdout.
fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a result to stdout as JSON.
fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let json = serde_json::to_string_pretty(value).map_err(|error| CliError::Output(error.into()))?;
    print(&(json + "\n"))
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
    fn messages_do_not_steer_the_terminal() {
        assert_eq!(printable("\u{1b}[31mr\u{e9}d\r.txt: no\n\tat all"), "\\u{1b}[31mr\u{e9}d\\r.txt: no\n\tat all");
    }

    #[test]
    fn usage_errors_are_code_2() {
        for line in [&["trisage"][..], &["trisage", "verify"], &["trisage", "verify", "--graph", "g", "--fanouts", "x"]]
        {
            assert_eq!(Cli::try_parse_from(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
