//! Makes `src/bindings.rs` from `c/trisage_model.h`. Needs libclang, which `.setup/libclang.sh` installs.

use std::path::Path;

use bindgen::{Builder, Formatter};
use sha2::{Digest, Sha256};

use crate::build::hex;

/// The bindings of the header, as `src/bindings.rs` has to read.
///
/// # Errors
/// What bindgen says, libclang's messages among it.
///
/// # Panics
/// Inside bindgen, when libclang cannot be found.
pub fn bindings() -> Result<String, String> {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/trisage_model.h");
    let text = std::fs::read(&header).map_err(|error| format!("{}: {error}", header.display()))?;
    let generated = Builder::default()
        .header_contents("trisage_model.h", &String::from_utf8_lossy(&text))
        .allowlist_item("(trisage|TRISAGE)_.*")
        .dynamic_library_name("Library")
        .dynamic_link_require_all(true)
        .sort_semantically(true)
        .wrap_unsafe_ops(true)
        .formatter(Formatter::Prettyplease)
        .disable_header_comment()
        .generate()
        .map_err(|error| error.to_string())?;
    Ok(format!(
        "// Made by `./just bindings`; do not edit.\n\
         // c/trisage_model.h, sha256 {}\n\n{generated}",
        hex(&Sha256::digest(&text))
    ))
}
