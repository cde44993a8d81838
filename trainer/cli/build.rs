//! Lets the program find libtorch again where it was when it was linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(lib) = std::env::var("DEP_TRISAGE_TORCH_LIB") {
        // DT_RPATH, not DT_RUNPATH: see learn/build.rs.
        println!("cargo::rustc-link-arg=-Wl,--disable-new-dtags,-rpath,{lib}");
    }
}
