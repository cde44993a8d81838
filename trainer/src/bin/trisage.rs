//! The `trisage` command.

fn main() {}
