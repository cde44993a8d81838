//! The `trisage` command.

fn main() -> std::process::ExitCode {
    trainer::cli::main()
}
