//! The back ends under test.

use hw::xrt::XrtDevice;
use sim::{
    model::{ModelOptions, SoftwareModel},
    rtl::{RtlDevice, RtlOptions},
};
use verilator_sys::build::Variant;

/// The software model.
///
/// # Panics
/// If it cannot be made.
pub fn model() -> SoftwareModel {
    SoftwareModel::new(ModelOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The RTL as most tests want it: every assertion and random starting values; a small hash table, since clearing a large one
/// takes longer than most tests.
pub fn rtl_options() -> RtlOptions {
    RtlOptions { table_log2: 14, variant: Variant::Test, ..RtlOptions::default() }
}

/// The RTL with room for every node of a large graph.
pub fn rtl_options_for_large_graphs() -> RtlOptions {
    RtlOptions { table_log2: 19, ..rtl_options() }
}

/// The simulated RTL. With `TRISAGE_COVERAGE` naming a folder, it leaves its coverage there.
///
/// # Panics
/// If it cannot be compiled: without Verilator half of what is to be tested is not there, so that is no reason to skip.
pub fn rtl(options: &RtlOptions) -> RtlDevice {
    RtlDevice::new(&options.clone().measured(), &|line| eprintln!("{line}")).unwrap_or_else(|e| panic!("{e}"))
}

/// A card behind XRT's C API, with a library in place of XRT's whose kernels are the software model.
///
/// # Panics
/// If it cannot be made.
pub fn xrt() -> XrtDevice {
    let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    XrtDevice::open(&fake_xrt::options(folder.path(), 4)).unwrap_or_else(|e| panic!("{e}"))
}
