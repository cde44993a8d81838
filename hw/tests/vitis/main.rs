//! What can be known of the build for a card without Vitis: that `kernel.xml`, wrapper, link files and packaging script agree with
//! the RTL, the register map and the boards, and that the scripts refuse what they have to. Each check is shown to fail, too.

mod guide;
mod interfaces;
mod links;
mod packaging;
mod scripts;
mod source;

use std::path::{Path, PathBuf};

/// A file or folder of this crate.
fn ours(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Replaces the one place where `from` stands.
fn change(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "'{from}' has to be there once");
    text.replacen(from, to, 1)
}
