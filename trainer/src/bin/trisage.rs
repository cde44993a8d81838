//! The `trisage` command.

fn main() {
    trainer::cli::main()
}
