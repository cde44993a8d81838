//! What a user has in the environment for other projects does not reach our tools.

use std::{fs, process::Command};

use setup::{Machine, root, stderr};

/// Variables that a command finds, `NAME=VALUE` each.
fn environment(command: &mut Command) -> Vec<String> {
    let output = command.args(["env", "-0"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).split('\0').map(str::to_owned).collect()
}

fn value<'a>(environment: &'a [String], name: &str) -> Option<&'a str> {
    environment.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
}

/// tch's README has its users set some of these, and containers of NVIDIA's others.
#[test]
fn another_torch_does_not_reach_ours() {
    let machine = Machine::new();
    let mut command = machine.command(machine.checkout().join(".setup/libtorch.sh"));
    for name in ["USE_PYTORCH", "INCLUDE", "LIB", "STATIC", "CXX11_ABI", "BYPASS_VERSION_CHECK", "ANYTHING_NEW"] {
        command.env(format!("LIBTORCH_{name}"), "1");
    }
    for name in ["CXXFLAGS", "CFLAGS", "CXXFLAGS_x86_64_unknown_linux_gnu", "TARGET_CXXFLAGS", "HOST_CFLAGS"] {
        command.env(name, "-D_GLIBCXX_USE_CXX11_ABI=0 -std=c++11");
    }
    command.env("LD_LIBRARY_PATH", "/theirs").env("CXX", "g++");
    let found = environment(&mut command);
    let foreign: Vec<_> =
        found.iter().filter(|entry| entry.starts_with("LIBTORCH_") || entry.contains("FLAGS")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let ours = machine.path("libtorch");
    assert_eq!(value(&found, "LIBTORCH"), Some(ours.to_str().unwrap()));
    assert_eq!(value(&found, "LD_LIBRARY_PATH"), Some(&*format!("{}/lib:/theirs", ours.display())));
    assert_eq!(value(&found, "CXX"), Some("g++"), "the user's compiler is theirs to choose");
}

#[test]
fn the_part_for_gpus_comes_before_the_users_too() {
    let machine = Machine::new();
    let torch = machine.path("site-packages/torch");
    fs::create_dir_all(torch.join("lib")).unwrap();
    fs::create_dir_all(machine.path("site-packages/nvidia/cudnn/lib")).unwrap();
    fs::write(torch.join("lib/libtorch_cuda.so"), "").unwrap();
    fs::write(torch.join("version.py"), "__version__ = '2.11.0+cu130'\n").unwrap();
    let mut command = machine.command(machine.checkout().join(".setup/libtorch.sh"));
    command.arg("--built").env_remove("LIBTORCH").env("TRISAGE_LIBTORCH", &torch).env("LD_LIBRARY_PATH", "/theirs");
    let found = environment(&mut command);
    let folders = [torch.join("lib"), torch.join("../nvidia/cudnn/lib"), "/theirs".into()];
    let expected = std::env::join_paths(folders).unwrap().into_string().unwrap();
    assert_eq!(value(&found, "LD_LIBRARY_PATH"), Some(&*expected));
    assert_eq!(value(&found, "LIBTORCH"), None, "there is nothing to link");
}

/// A LIBTORCH of another version is set for another project.
#[test]
fn a_libtorch_of_another_version_is_not_used() {
    let machine = Machine::new();
    let libtorch = machine.path("libtorch");
    let script = machine.checkout().join(".setup/libtorch.sh");
    // The pinned one, as far as the script looks.
    let pinned = machine.checkout().join(".tools/libtorch-2.11.0");
    fs::create_dir_all(&pinned).unwrap();
    let pin = Command::new("sha256sum").arg(root().join(".setup/libtorch.txt")).output().unwrap();
    fs::write(pinned.join(".pin"), &pin.stdout[..64]).unwrap();
    let header = libtorch.join("include/torch/headeronly/version.h");
    fs::create_dir_all(header.parent().unwrap()).unwrap();
    let found = |version: &str| {
        fs::write(&header, format!("#define TORCH_VERSION \\\n  \"{version}\"\n")).unwrap();
        let output = machine.command(&script).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let environment = environment(&mut machine.command(&script));
        (stderr(&output), value(&environment, "LIBTORCH").unwrap().to_owned())
    };
    let name = libtorch.display().to_string();
    assert_eq!(found("2.11.0"), (format!("trisage: using your own libtorch ({name})\n"), name.clone()));
    let why = "is of version 2.9.1, and 2.11.0 is needed, so the pinned one is used";
    let pinned = pinned.display().to_string();
    assert_eq!(found("2.9.1"), (format!("trisage: your own libtorch ({name}) {why}\n"), pinned.clone()));
    fs::remove_file(libtorch.join("lib/libtorch_cpu.so")).unwrap();
    let why = "has no lib/libtorch_cpu.so, and 2.11.0 is needed, so the pinned one is used";
    assert_eq!(found("2.11.0"), (format!("trisage: your own libtorch ({name}) {why}\n"), pinned));
}

#[test]
fn recipes_build_for_this_machine_with_their_own_flags() {
    let machine = Machine::new();
    let mut command = machine.just(&["build"]);
    for (name, value) in [
        ("CARGO_BUILD_TARGET", "wasm32-unknown-unknown"),
        ("CARGO_ENCODED_RUSTFLAGS", "-Cpanic=abort"),
        ("CXXFLAGS", "-m32"),
        ("CFLAGS", "-m32"),
        ("RUSTFLAGS", "-Ctarget-cpu=native"),
    ] {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = machine.told();
    let flags: Vec<_> =
        told.iter().filter(|entry| entry.contains("FLAGS=") || entry.contains("BUILD_TARGET=")).collect();
    assert_eq!(flags, ["RUSTFLAGS=-Ctarget-cpu=native"], "the last is the user's wish for all Rust programs");
}

/// A `VERILATOR_ROOT` of another Verilator than the pinned one that is used.
#[test]
fn a_verilator_and_its_folder_belong_together() {
    let machine = Machine::new();
    let script = machine.checkout().join(".setup/verilator.sh");
    let pinned = machine.checkout().join(".tools/verilator-5.052");
    fs::create_dir_all(&pinned).unwrap();
    let pin = Command::new("sha256sum").arg(root().join(".setup/verilator.txt")).output().unwrap();
    fs::write(pinned.join(".pin"), &pin.stdout[..64]).unwrap();
    let found = |machine: &Machine, own: Option<&str>| {
        let mut command = machine.command(&script);
        command.env("VERILATOR_ROOT", "/theirs").envs(own.map(|own| ("TRISAGE_VERILATOR", own)));
        let found = environment(&mut command);
        ["TRISAGE_VERILATOR", "VERILATOR_ROOT"].map(|name| value(&found, name).unwrap().to_owned())
    };
    // The user's own is asked for its folder.
    let own = machine.path("bin/verilator").display().to_string();
    assert_eq!(found(&machine, None), [own, "/verilator/root".to_owned()]);
    fs::copy(machine.path("bin/verilator"), machine.user().join("mine")).unwrap();
    machine.tool("verilator", "echo Verilator 4.228");
    let ours =
        [pinned.join("bin/verilator_bin"), pinned.join("share/verilator")].map(|path| path.display().to_string());
    assert_eq!(found(&machine, None), ours, "that on PATH is too old");
    let mine = machine.user().join("./mine").display().to_string();
    assert_eq!(found(&machine, Some("./mine")), [mine, "/verilator/root".to_owned()]);
}
