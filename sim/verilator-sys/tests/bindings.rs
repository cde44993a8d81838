//! The checked-in bindings belong to the header.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const HEADER: &[u8] = include_bytes!("../c/trisage_model.h");
const CHECKED_IN: &str = include_str!("../src/bindings.rs");
const REMEDY: &str = "run: ./just bindings";

#[test]
fn they_were_made_from_this_header() {
    let digest = Sha256::digest(HEADER).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    });
    assert!(CHECKED_IN.contains(&format!("// c/trisage_model.h, sha256 {digest}\n")), "{REMEDY}");
}

/// Runs with `--features bindgen` only, as in `./just lint`.
#[cfg(feature = "bindgen")]
#[test]
fn they_are_what_bindgen_makes_now() {
    let fresh = verilator_sys::generate::bindings().expect("bindgen accepts the header");
    assert!(fresh == CHECKED_IN, "{REMEDY}");
}
