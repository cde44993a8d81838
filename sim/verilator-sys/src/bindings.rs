// Made by `./just bindings`; do not edit.
// c/trisage_model.h, sha256 28f127446fa20b204df31a010df654a7d304cc64507facb87cb6925442be7dea

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_read_pins {
    pub araddr: u64,
    pub arvalid: u8,
    pub arid: u8,
    pub arlen: u8,
    pub arsize: u8,
    pub arburst: u8,
    pub rready: u8,
    pub arready: u8,
    pub rvalid: u8,
    pub rid: u8,
    pub rresp: u8,
    pub rlast: u8,
    pub rdata: [u8; 64usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_write_pins {
    pub awaddr: u64,
    pub wstrb: u64,
    pub awvalid: u8,
    pub awid: u8,
    pub awlen: u8,
    pub awsize: u8,
    pub awburst: u8,
    pub wvalid: u8,
    pub wlast: u8,
    pub bready: u8,
    pub awready: u8,
    pub wready: u8,
    pub bvalid: u8,
    pub bid: u8,
    pub bresp: u8,
    pub wdata: [u8; 64usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_control_pins {
    pub awaddr: u32,
    pub wdata: u32,
    pub araddr: u32,
    pub awvalid: u8,
    pub wvalid: u8,
    pub wstrb: u8,
    pub bready: u8,
    pub arvalid: u8,
    pub rready: u8,
    pub rst_n: u8,
    pub rdata: u32,
    pub awready: u8,
    pub wready: u8,
    pub bvalid: u8,
    pub bresp: u8,
    pub arready: u8,
    pub rvalid: u8,
    pub rresp: u8,
    pub interrupt: u8,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_pins {
    pub control: trisage_control_pins,
    pub read: [trisage_read_pins; 10usize],
    pub write: [trisage_write_pins; 2usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_bench_pins {
    pub bench: u32,
    pub rst_n: u32,
    pub inputs: [u32; 128usize],
    pub outputs: [u32; 128usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct trisage_model_info {
    pub abi: u32,
    pub top: u32,
    pub waves: bool,
    pub coverage: bool,
    pub verilator: *const ::std::os::raw::c_char,
}
#[repr(C)]
#[derive(Debug)]
pub struct trisage_model {
    _unused: [u8; 0],
}
pub struct Library {
    __library: ::libloading::Library,
    pub trisage_model_describe: unsafe extern "C" fn() -> trisage_model_info,
    pub trisage_model_new: unsafe extern "C" fn(
        fill: u32,
        seed: u32,
    ) -> *mut trisage_model,
    pub trisage_model_free: unsafe extern "C" fn(model: *mut trisage_model),
    pub trisage_model_pins: unsafe extern "C" fn(
        model: *mut trisage_model,
    ) -> *mut ::std::os::raw::c_void,
    pub trisage_model_clock: unsafe extern "C" fn(model: *mut trisage_model) -> bool,
    pub trisage_model_error: unsafe extern "C" fn(
        model: *mut trisage_model,
    ) -> *const ::std::os::raw::c_char,
    pub trisage_model_cycles: unsafe extern "C" fn(model: *const trisage_model) -> u64,
    pub trisage_model_waves_open: unsafe extern "C" fn(
        model: *mut trisage_model,
        path: *const ::std::os::raw::c_char,
    ) -> bool,
    pub trisage_model_waves_close: unsafe extern "C" fn(
        model: *mut trisage_model,
    ) -> bool,
    pub trisage_model_coverage_write: unsafe extern "C" fn(
        model: *mut trisage_model,
        path: *const ::std::os::raw::c_char,
    ) -> bool,
}
pub const TRISAGE_MODEL_ABI: u32 = 3;
pub const TRISAGE_TOP_KERNEL: u32 = 0;
pub const TRISAGE_TOP_BENCH: u32 = 1;
pub const TRISAGE_READ_PORTS: u32 = 10;
pub const TRISAGE_WRITE_PORTS: u32 = 2;
pub const TRISAGE_LINE_BYTES: u32 = 64;
pub const TRISAGE_BENCH_WORDS: u32 = 128;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of trisage_read_pins"][::std::mem::size_of::<trisage_read_pins>() - 88usize];
    [
        "Alignment of trisage_read_pins",
    ][::std::mem::align_of::<trisage_read_pins>() - 8usize];
    [
        "Offset of field: trisage_read_pins::araddr",
    ][::std::mem::offset_of!(trisage_read_pins, araddr) - 0usize];
    [
        "Offset of field: trisage_read_pins::arvalid",
    ][::std::mem::offset_of!(trisage_read_pins, arvalid) - 8usize];
    [
        "Offset of field: trisage_read_pins::arid",
    ][::std::mem::offset_of!(trisage_read_pins, arid) - 9usize];
    [
        "Offset of field: trisage_read_pins::arlen",
    ][::std::mem::offset_of!(trisage_read_pins, arlen) - 10usize];
    [
        "Offset of field: trisage_read_pins::arsize",
    ][::std::mem::offset_of!(trisage_read_pins, arsize) - 11usize];
    [
        "Offset of field: trisage_read_pins::arburst",
    ][::std::mem::offset_of!(trisage_read_pins, arburst) - 12usize];
    [
        "Offset of field: trisage_read_pins::rready",
    ][::std::mem::offset_of!(trisage_read_pins, rready) - 13usize];
    [
        "Offset of field: trisage_read_pins::arready",
    ][::std::mem::offset_of!(trisage_read_pins, arready) - 14usize];
    [
        "Offset of field: trisage_read_pins::rvalid",
    ][::std::mem::offset_of!(trisage_read_pins, rvalid) - 15usize];
    [
        "Offset of field: trisage_read_pins::rid",
    ][::std::mem::offset_of!(trisage_read_pins, rid) - 16usize];
    [
        "Offset of field: trisage_read_pins::rresp",
    ][::std::mem::offset_of!(trisage_read_pins, rresp) - 17usize];
    [
        "Offset of field: trisage_read_pins::rlast",
    ][::std::mem::offset_of!(trisage_read_pins, rlast) - 18usize];
    [
        "Offset of field: trisage_read_pins::rdata",
    ][::std::mem::offset_of!(trisage_read_pins, rdata) - 19usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of trisage_write_pins",
    ][::std::mem::size_of::<trisage_write_pins>() - 96usize];
    [
        "Alignment of trisage_write_pins",
    ][::std::mem::align_of::<trisage_write_pins>() - 8usize];
    [
        "Offset of field: trisage_write_pins::awaddr",
    ][::std::mem::offset_of!(trisage_write_pins, awaddr) - 0usize];
    [
        "Offset of field: trisage_write_pins::wstrb",
    ][::std::mem::offset_of!(trisage_write_pins, wstrb) - 8usize];
    [
        "Offset of field: trisage_write_pins::awvalid",
    ][::std::mem::offset_of!(trisage_write_pins, awvalid) - 16usize];
    [
        "Offset of field: trisage_write_pins::awid",
    ][::std::mem::offset_of!(trisage_write_pins, awid) - 17usize];
    [
        "Offset of field: trisage_write_pins::awlen",
    ][::std::mem::offset_of!(trisage_write_pins, awlen) - 18usize];
    [
        "Offset of field: trisage_write_pins::awsize",
    ][::std::mem::offset_of!(trisage_write_pins, awsize) - 19usize];
    [
        "Offset of field: trisage_write_pins::awburst",
    ][::std::mem::offset_of!(trisage_write_pins, awburst) - 20usize];
    [
        "Offset of field: trisage_write_pins::wvalid",
    ][::std::mem::offset_of!(trisage_write_pins, wvalid) - 21usize];
    [
        "Offset of field: trisage_write_pins::wlast",
    ][::std::mem::offset_of!(trisage_write_pins, wlast) - 22usize];
    [
        "Offset of field: trisage_write_pins::bready",
    ][::std::mem::offset_of!(trisage_write_pins, bready) - 23usize];
    [
        "Offset of field: trisage_write_pins::awready",
    ][::std::mem::offset_of!(trisage_write_pins, awready) - 24usize];
    [
        "Offset of field: trisage_write_pins::wready",
    ][::std::mem::offset_of!(trisage_write_pins, wready) - 25usize];
    [
        "Offset of field: trisage_write_pins::bvalid",
    ][::std::mem::offset_of!(trisage_write_pins, bvalid) - 26usize];
    [
        "Offset of field: trisage_write_pins::bid",
    ][::std::mem::offset_of!(trisage_write_pins, bid) - 27usize];
    [
        "Offset of field: trisage_write_pins::bresp",
    ][::std::mem::offset_of!(trisage_write_pins, bresp) - 28usize];
    [
        "Offset of field: trisage_write_pins::wdata",
    ][::std::mem::offset_of!(trisage_write_pins, wdata) - 29usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of trisage_control_pins",
    ][::std::mem::size_of::<trisage_control_pins>() - 32usize];
    [
        "Alignment of trisage_control_pins",
    ][::std::mem::align_of::<trisage_control_pins>() - 4usize];
    [
        "Offset of field: trisage_control_pins::awaddr",
    ][::std::mem::offset_of!(trisage_control_pins, awaddr) - 0usize];
    [
        "Offset of field: trisage_control_pins::wdata",
    ][::std::mem::offset_of!(trisage_control_pins, wdata) - 4usize];
    [
        "Offset of field: trisage_control_pins::araddr",
    ][::std::mem::offset_of!(trisage_control_pins, araddr) - 8usize];
    [
        "Offset of field: trisage_control_pins::awvalid",
    ][::std::mem::offset_of!(trisage_control_pins, awvalid) - 12usize];
    [
        "Offset of field: trisage_control_pins::wvalid",
    ][::std::mem::offset_of!(trisage_control_pins, wvalid) - 13usize];
    [
        "Offset of field: trisage_control_pins::wstrb",
    ][::std::mem::offset_of!(trisage_control_pins, wstrb) - 14usize];
    [
        "Offset of field: trisage_control_pins::bready",
    ][::std::mem::offset_of!(trisage_control_pins, bready) - 15usize];
    [
        "Offset of field: trisage_control_pins::arvalid",
    ][::std::mem::offset_of!(trisage_control_pins, arvalid) - 16usize];
    [
        "Offset of field: trisage_control_pins::rready",
    ][::std::mem::offset_of!(trisage_control_pins, rready) - 17usize];
    [
        "Offset of field: trisage_control_pins::rst_n",
    ][::std::mem::offset_of!(trisage_control_pins, rst_n) - 18usize];
    [
        "Offset of field: trisage_control_pins::rdata",
    ][::std::mem::offset_of!(trisage_control_pins, rdata) - 20usize];
    [
        "Offset of field: trisage_control_pins::awready",
    ][::std::mem::offset_of!(trisage_control_pins, awready) - 24usize];
    [
        "Offset of field: trisage_control_pins::wready",
    ][::std::mem::offset_of!(trisage_control_pins, wready) - 25usize];
    [
        "Offset of field: trisage_control_pins::bvalid",
    ][::std::mem::offset_of!(trisage_control_pins, bvalid) - 26usize];
    [
        "Offset of field: trisage_control_pins::bresp",
    ][::std::mem::offset_of!(trisage_control_pins, bresp) - 27usize];
    [
        "Offset of field: trisage_control_pins::arready",
    ][::std::mem::offset_of!(trisage_control_pins, arready) - 28usize];
    [
        "Offset of field: trisage_control_pins::rvalid",
    ][::std::mem::offset_of!(trisage_control_pins, rvalid) - 29usize];
    [
        "Offset of field: trisage_control_pins::rresp",
    ][::std::mem::offset_of!(trisage_control_pins, rresp) - 30usize];
    [
        "Offset of field: trisage_control_pins::interrupt",
    ][::std::mem::offset_of!(trisage_control_pins, interrupt) - 31usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of trisage_pins"][::std::mem::size_of::<trisage_pins>() - 1104usize];
    ["Alignment of trisage_pins"][::std::mem::align_of::<trisage_pins>() - 8usize];
    [
        "Offset of field: trisage_pins::control",
    ][::std::mem::offset_of!(trisage_pins, control) - 0usize];
    [
        "Offset of field: trisage_pins::read",
    ][::std::mem::offset_of!(trisage_pins, read) - 32usize];
    [
        "Offset of field: trisage_pins::write",
    ][::std::mem::offset_of!(trisage_pins, write) - 912usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of trisage_bench_pins",
    ][::std::mem::size_of::<trisage_bench_pins>() - 1032usize];
    [
        "Alignment of trisage_bench_pins",
    ][::std::mem::align_of::<trisage_bench_pins>() - 4usize];
    [
        "Offset of field: trisage_bench_pins::bench",
    ][::std::mem::offset_of!(trisage_bench_pins, bench) - 0usize];
    [
        "Offset of field: trisage_bench_pins::rst_n",
    ][::std::mem::offset_of!(trisage_bench_pins, rst_n) - 4usize];
    [
        "Offset of field: trisage_bench_pins::inputs",
    ][::std::mem::offset_of!(trisage_bench_pins, inputs) - 8usize];
    [
        "Offset of field: trisage_bench_pins::outputs",
    ][::std::mem::offset_of!(trisage_bench_pins, outputs) - 520usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of trisage_model_info",
    ][::std::mem::size_of::<trisage_model_info>() - 24usize];
    [
        "Alignment of trisage_model_info",
    ][::std::mem::align_of::<trisage_model_info>() - 8usize];
    [
        "Offset of field: trisage_model_info::abi",
    ][::std::mem::offset_of!(trisage_model_info, abi) - 0usize];
    [
        "Offset of field: trisage_model_info::top",
    ][::std::mem::offset_of!(trisage_model_info, top) - 4usize];
    [
        "Offset of field: trisage_model_info::waves",
    ][::std::mem::offset_of!(trisage_model_info, waves) - 8usize];
    [
        "Offset of field: trisage_model_info::coverage",
    ][::std::mem::offset_of!(trisage_model_info, coverage) - 9usize];
    [
        "Offset of field: trisage_model_info::verilator",
    ][::std::mem::offset_of!(trisage_model_info, verilator) - 16usize];
};
impl Library {
    pub unsafe fn new<P>(path: P) -> Result<Self, ::libloading::Error>
    where
        P: AsRef<::std::ffi::OsStr>,
    {
        let path = path.as_ref();
        let library = unsafe { ::libloading::Library::new(path) }?;
        unsafe { Self::from_library(library) }
    }
    pub unsafe fn from_library<L>(library: L) -> Result<Self, ::libloading::Error>
    where
        L: Into<::libloading::Library>,
    {
        let __library = library.into();
        let trisage_model_describe = unsafe {
            __library.get(b"trisage_model_describe\0")
        }
            .map(|sym| *sym)?;
        let trisage_model_new = unsafe { __library.get(b"trisage_model_new\0") }
            .map(|sym| *sym)?;
        let trisage_model_free = unsafe { __library.get(b"trisage_model_free\0") }
            .map(|sym| *sym)?;
        let trisage_model_pins = unsafe { __library.get(b"trisage_model_pins\0") }
            .map(|sym| *sym)?;
        let trisage_model_clock = unsafe { __library.get(b"trisage_model_clock\0") }
            .map(|sym| *sym)?;
        let trisage_model_error = unsafe { __library.get(b"trisage_model_error\0") }
            .map(|sym| *sym)?;
        let trisage_model_cycles = unsafe { __library.get(b"trisage_model_cycles\0") }
            .map(|sym| *sym)?;
        let trisage_model_waves_open = unsafe {
            __library.get(b"trisage_model_waves_open\0")
        }
            .map(|sym| *sym)?;
        let trisage_model_waves_close = unsafe {
            __library.get(b"trisage_model_waves_close\0")
        }
            .map(|sym| *sym)?;
        let trisage_model_coverage_write = unsafe {
            __library.get(b"trisage_model_coverage_write\0")
        }
            .map(|sym| *sym)?;
        Ok(Library {
            __library,
            trisage_model_describe,
            trisage_model_new,
            trisage_model_free,
            trisage_model_pins,
            trisage_model_clock,
            trisage_model_error,
            trisage_model_cycles,
            trisage_model_waves_open,
            trisage_model_waves_close,
            trisage_model_coverage_write,
        })
    }
    pub unsafe fn trisage_model_describe(&self) -> trisage_model_info {
        unsafe { (self.trisage_model_describe)() }
    }
    pub unsafe fn trisage_model_new(&self, fill: u32, seed: u32) -> *mut trisage_model {
        unsafe { (self.trisage_model_new)(fill, seed) }
    }
    pub unsafe fn trisage_model_free(&self, model: *mut trisage_model) {
        unsafe { (self.trisage_model_free)(model) }
    }
    pub unsafe fn trisage_model_pins(
        &self,
        model: *mut trisage_model,
    ) -> *mut ::std::os::raw::c_void {
        unsafe { (self.trisage_model_pins)(model) }
    }
    pub unsafe fn trisage_model_clock(&self, model: *mut trisage_model) -> bool {
        unsafe { (self.trisage_model_clock)(model) }
    }
    pub unsafe fn trisage_model_error(
        &self,
        model: *mut trisage_model,
    ) -> *const ::std::os::raw::c_char {
        unsafe { (self.trisage_model_error)(model) }
    }
    pub unsafe fn trisage_model_cycles(&self, model: *const trisage_model) -> u64 {
        unsafe { (self.trisage_model_cycles)(model) }
    }
    pub unsafe fn trisage_model_waves_open(
        &self,
        model: *mut trisage_model,
        path: *const ::std::os::raw::c_char,
    ) -> bool {
        unsafe { (self.trisage_model_waves_open)(model, path) }
    }
    pub unsafe fn trisage_model_waves_close(&self, model: *mut trisage_model) -> bool {
        unsafe { (self.trisage_model_waves_close)(model) }
    }
    pub unsafe fn trisage_model_coverage_write(
        &self,
        model: *mut trisage_model,
        path: *const ::std::os::raw::c_char,
    ) -> bool {
        unsafe { (self.trisage_model_coverage_write)(model, path) }
    }
}
