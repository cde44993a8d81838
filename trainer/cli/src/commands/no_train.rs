//! `trisage train` of a build that has no libtorch.

use std::ffi::OsString;

use clap::Args;

use crate::error::CliError;

/// Whatever is asked for.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct TrainCommand {
    /// It cannot be done by this build
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn run(command: &TrainCommand) -> Result<(), CliError> {
    let args: Vec<_> = command.args.iter().map(|arg| arg.to_string_lossy()).collect();
    let sentence = format!(
        "this trisage was built without libtorch, which 'train' needs; run it with `./just train {}`, or build it with \
         `.setup/libtorch.sh cargo build --release --features trainer/torch`",
        args.join(" ")
    );
    Err(CliError::Usage(sentence))
}
