//! Writes `src/bindings.rs` from `c/trisage_model.h`. Needs libclang, which `.setup/libclang.sh` installs.

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bindings.rs");
    let written = verilator_sys::generate::bindings()
        .and_then(|text| std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display())));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("generate-bindings: {message}");
            ExitCode::FAILURE
        }
    }
}
