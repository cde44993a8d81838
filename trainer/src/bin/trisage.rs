//! The `trisage` command.

#[global_allocator]
static ALLOCATOR: trainer::cli::Allocator = trainer::cli::Allocator;

fn main() {
    trainer::cli::main()
}
