//! What training needs of libtorch beside tch: `shim.cpp`, and where it is found again when a program runs.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    #[cfg(feature = "torch")]
    match std::env::var("LIBTORCH") {
        Ok(libtorch) => torch(&libtorch),
        Err(_) => println!("cargo::error=LIBTORCH is not set; `.setup/libtorch.sh COMMAND` runs a command with it"),
    }
}

#[cfg(feature = "torch")]
fn torch(libtorch: &str) {
    const SHIM: &str = "src/torch/shim.cpp";
    println!("cargo::rerun-if-changed={SHIM}");
    // DT_RPATH, not DT_RUNPATH: the loader looks there before it looks where LD_LIBRARY_PATH says, which may be another torch.
    println!("cargo::rustc-link-arg=-Wl,--disable-new-dtags,-rpath,{libtorch}/lib");
    // For the build scripts of programs that depend on this crate.
    println!("cargo::metadata=lib={libtorch}/lib");
    let mut build = cc::Build::new();
    // As with -I, and not with -isystem, folders that CPATH names come after it. Warnings about libtorch's own headers are not
    // for us.
    build.cpp(true).std("c++17").include(format!("{libtorch}/include")).warnings(false).flag("-w").file(SHIM);
    build.compile("trisage_torch");
}
