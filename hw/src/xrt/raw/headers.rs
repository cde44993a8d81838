//! The prototypes against XRT's headers: a C++ compiler is asked whether each function has exactly the type that we call it by.
//! Without compiler or headers (Debian: `libxrt-dev`) that cannot be asked, and the test says so.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
};

use super::prototypes::{PROTOTYPES, Prototype};

/// The C type behind the name of one of ours.
fn c_type(name: &str) -> &'static str {
    match name {
        "DeviceHandle" => "xrtDeviceHandle",
        "KernelHandle" => "xrtKernelHandle",
        "RunHandle" => "xrtRunHandle",
        "BufferHandle" => "xrtBufferHandle",
        "ExportHandle" => "xclBufferExportHandle",
        "BufferFlags" => "xrtBufferFlags",
        "MemoryGroup" => "xrtMemoryGroup",
        "SyncDirection" => "enum xclBOSyncDirection",
        "CommandState" => "enum ert_cmd_state",
        "Int" => "int",
        "UnsignedInt" => "unsigned int",
        "Size" => "size_t",
        "Word" => "uint32_t",
        "Address" => "uint64_t",
        "WordOut" => "uint32_t*",
        "Text" => "const char*",
        "Uuid" => "const unsigned char*",
        "UuidOut" => "unsigned char*",
        "Source" => "const void*",
        "Memory" => "void*",
        other => panic!("no C type is known for '{other}'"),
    }
}

/// Sizes that our types of those names have.
const SIZES: [(&str, usize); 7] = [
    ("xrtDeviceHandle", size_of::<super::prototypes::DeviceHandle>()),
    ("xclBufferExportHandle", size_of::<super::prototypes::ExportHandle>()),
    ("xrtBufferFlags", size_of::<super::prototypes::BufferFlags>()),
    ("xrtMemoryGroup", size_of::<super::prototypes::MemoryGroup>()),
    ("enum xclBOSyncDirection", size_of::<super::prototypes::SyncDirection>()),
    ("enum ert_cmd_state", size_of::<super::prototypes::CommandState>()),
    ("xuid_t", 16),
];

/// Values that we use of XRT's.
const VALUES: [(&str, u64); 10] = [
    ("XCL_BO_SYNC_BO_TO_DEVICE", 0),
    ("XCL_BO_SYNC_BO_FROM_DEVICE", 1),
    ("XRT_BO_FLAGS_NONE", 0),
    ("XRT_BO_FLAGS_P2P", 1 << 30),
    ("ERT_CMD_STATE_NEW", 1),
    ("ERT_CMD_STATE_QUEUED", 2),
    ("ERT_CMD_STATE_RUNNING", 3),
    ("ERT_CMD_STATE_COMPLETED", 4),
    ("ERT_CMD_STATE_SUBMITTED", 7),
    ("ERT_CMD_STATE_NORESPONSE", 9),
];

/// A line for each prototype that the compiler accepts only if it is XRT's.
fn source(prototypes: &[Prototype]) -> String {
    let includes = ["xrt/xrt_device.h", "xrt/xrt_bo.h", "xrt/xrt_kernel.h"].map(|file| format!("#include \"{file}\""));
    let types = prototypes.iter().map(|Prototype { name, returns, arguments, variadic }| {
        let arguments = arguments.iter().map(|argument| c_type(argument));
        let arguments: Vec<_> = arguments.chain(variadic.then_some("...")).collect();
        let (returns, arguments) = (c_type(returns), arguments.join(", "));
        format!("static_assert(std::is_same_v<decltype(&{name}), {returns} (*)({arguments})>, \"{name}\");")
    });
    let sizes = SIZES.map(|(name, size)| format!("static_assert(sizeof({name}) == {size}, \"{name}\");"));
    let value = |(name, value)| format!("static_assert(static_cast<uint64_t>({name}) == {value}, \"{name}\");");
    let lines = includes.into_iter().chain(types).chain(sizes).chain(VALUES.map(value));
    lines.fold("#include <type_traits>\n".to_owned(), |text, line| text + &line + "\n")
}

/// Where the headers are: of XRT's own packages or Debian's.
fn headers() -> Option<PathBuf> {
    let own = env::var_os("XILINX_XRT").map(|root| PathBuf::from(root).join("include"));
    let usual = ["/opt/xilinx/xrt/include", "/usr/include/xrt"].map(PathBuf::from);
    own.into_iter().chain(usual).find(|folder| folder.join("xrt/xrt_bo.h").exists())
}

fn compile(text: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prototypes.cpp");
    fs::write(&file, text).unwrap();
    let Some(headers) = headers() else {
        eprintln!("skipped: no headers of XRT (Debian: libxrt-dev)");
        return None;
    };
    let compiler = env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-fsyntax-only", "-fdiagnostics-color=never", "-I"]).arg(headers).arg(file);
    // Its words are looked at, and the user may have it speak another language.
    Some(command.env("LC_ALL", "C").output().unwrap_or_else(|error| panic!("the C++ compiler cannot be run: {error}")))
}

#[test]
fn every_prototype_is_that_of_the_headers() {
    let Some(output) = compile(&source(PROTOTYPES)) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Each prototype with its first argument of another type: the compiler has to name every one.
#[test]
fn a_wrong_prototype_is_found() {
    let wrong = PROTOTYPES.iter().map(|prototype| {
        let instead = if prototype.arguments[0] == "Text" { "Word" } else { "Text" };
        let arguments: Vec<_> = std::iter::once(instead).chain(prototype.arguments[1..].iter().copied()).collect();
        Prototype { arguments: arguments.leak(), ..*prototype }
    });
    let wrong: Vec<_> = wrong.collect();
    let Some(output) = compile(&source(&wrong)) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    for Prototype { name, .. } in &wrong {
        assert!(said.contains(&format!("static assertion failed: {name}\n")), "{name} is not found:\n{said}");
    }
}
