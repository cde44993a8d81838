//! The `trisage` command.

#[cfg(feature = "torch")]
mod first;

fn main() {
    #[cfg(feature = "torch")]
    first::go_back();
    trainer::cli::main()
}
