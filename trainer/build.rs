//! Lets programs that are linked to libtorch find it again where it was when they were built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    if std::env::var_os("CARGO_FEATURE_TORCH").is_some()
        && let Ok(libtorch) = std::env::var("LIBTORCH")
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{libtorch}/lib");
    }
}
