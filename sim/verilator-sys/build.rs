//! Collects what models with FST waves are compiled with (`src/build/compression.rs`): headers and static libraries of LZ4 and
//! zlib, as the build scripts of `lz4-sys` and `libz-sys` have made them from the sources in those crates.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = |variable: &str| env::var_os(variable).map(PathBuf::from);
    let (Some(lz4), Some(zlib), Some(out)) = (folder("DEP_LZ4_ROOT"), folder("DEP_Z_ROOT"), folder("OUT_DIR")) else {
        println!("cargo::error=libz-sys has not compiled its own zlib; unset LIBZ_SYS_STATIC");
        return;
    };
    let files = [
        (&lz4, "include", "lz4.h"),
        (&zlib, "include", "zlib.h"),
        (&zlib, "include", "zconf.h"),
        (&lz4, "", "liblz4.a"),
        (&zlib, "lib", "libz.a"),
    ];
    for (root, folder, name) in files {
        let from = root.join(folder).join(name);
        println!("cargo::rerun-if-changed={}", from.display());
        if let Err(error) = fs::copy(&from, out.join(name)) {
            println!("cargo::error={}: {error}", from.display());
        }
    }
}
