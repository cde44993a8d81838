//! The build script with stand-ins for Vivado and `v++`: what it refuses before it writes anything, and what is there after it.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

use crate::ours;

const PLATFORM: &str = "xilinx_u280_gen3x16_xdma_1_202211_1";

/// A machine with Vitis, as far as the script can see.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        let platforms = machine.path("platforms").join(PLATFORM);
        fs::create_dir_all(&platforms).unwrap();
        fs::write(platforms.join(format!("{PLATFORM}.xpfm")), "").unwrap();
        fs::create_dir(machine.path("bin")).unwrap();
        machine.tool("vivado", "echo \"vivado $*\" >>\"$TOLD\"; for last; do :; done; echo xo >\"$last\"");
        machine.tool(
            "v++",
            "echo \"v++ $*\" >>\"$TOLD\"; while [[ $1 != --output ]]; do shift; done; echo xclbin >\"$2\"",
        );
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tool(&self, name: &str, body: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The build script, with nothing of the real machine's Vitis.
    fn build(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut path = OsString::from(self.path("bin"));
        path.push(":/usr/bin:/bin");
        Command::new("bash")
            .arg(ours("vitis/build.sh"))
            .args(arguments)
            .env("PATH", path)
            .env("PLATFORM_REPO_PATHS", self.path("platforms"))
            .env("TRISAGE_KERNEL_FILES", env!("CARGO_BIN_EXE_kernel-files"))
            .env("TRISAGE_VITIS_OUT", self.path("out"))
            .env("TOLD", self.path("told"))
            .env_remove("TRISAGE_PLATFORM")
            .env_remove("XILINXD_LICENSE_FILE")
            .env_remove("LM_LICENSE_FILE")
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    }

    /// The xclbins, wherever they are in the output folder.
    fn xclbins(&self) -> Vec<PathBuf> {
        let all = walk(&self.path("out"));
        all.into_iter().filter(|path| path.extension().is_some_and(|end| end == "xclbin")).collect()
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_missing_is_said_in_a_sentence_before_anything_is_written() {
    let refused = |machine: &Machine, arguments: &[&str], environment: &[(&str, &str)], sentence: &str| {
        let output = machine.build(arguments, environment);
        let why = words(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {why}");
        assert!(why.contains(sentence) && why.trim_end().lines().count() == 1, "{arguments:?}: {why}");
        assert!(!machine.path("out").exists() && !machine.path("told").exists(), "{arguments:?}: something was done");
    };
    let machine = Machine::new();
    refused(&machine, &[], &[], "usage: ./just hw-build BOARD");
    refused(&machine, &["U50"], &[], "board 'U50' is not known; there are U200, U280 and U55C");
    refused(&machine, &["U280", "fast"], &[], "the frequency 'fast'");
    refused(&machine, &["U280", "900"], &[], "the frequency '900'");
    refused(&machine, &["U280", "300", "sw_emu"], &[], "the target 'sw_emu' is not known");
    refused(&machine, &["U280", "300", "hw_emu"], &[], "emconfigutil is not on PATH");
    refused(&machine, &["U280"], &[("TRISAGE_PLATFORM", "no_such")], "the platform no_such was found neither in");
    let nowhere = [("TRISAGE_PLATFORM", "no_such"), ("PLATFORM_REPO_PATHS", "")];
    refused(&machine, &["U280"], &nowhere, "in PLATFORM_REPO_PATHS ('') nor in /opt/xilinx/platforms");
    refused(
        &machine,
        &["U280"],
        &[("TRISAGE_PLATFORM", "/nowhere/my.xpfm")],
        "/nowhere/my.xpfm (TRISAGE_PLATFORM) does not exist",
    );
    refused(
        &machine,
        &["U280"],
        &[("XILINXD_LICENSE_FILE", "2100@server:/nowhere.lic")],
        "the licence file /nowhere.lic",
    );
    for tool in ["v++", "vivado"] {
        fs::remove_file(machine.path("bin").join(tool)).unwrap();
        refused(&machine, &["U280"], &[], &format!("{tool} is not on PATH; source settings64.sh"));
    }
}

#[test]
fn a_name_that_is_no_text_and_a_reader_that_has_gone_are_sentences_too() {
    let kernel_files = || Command::new(env!("CARGO_BIN_EXE_kernel-files"));
    let named = kernel_files().arg(OsStr::from_bytes(b"U2\xff0")).output().unwrap();
    assert_eq!(named.status.code(), Some(2), "{named:?}");
    assert!(words(&named).starts_with("board 'U2\u{fffd}0' is not known; "), "{named:?}");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let told = kernel_files().arg("U280").stdout(full).output().unwrap();
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    assert!(words(&told).starts_with("stdout: cannot be written: "), "{told:?}");
}

#[test]
fn a_build_ends_with_one_xclbin_whose_name_says_what_it_is() {
    let machine = Machine::new();
    let output = machine.build(&["u280", "250"], &[]);
    assert!(output.status.success(), "{}", words(&output));
    let [xclbin] = &machine.xclbins()[..] else { panic!("{:?}", machine.xclbins()) };
    let name = xclbin.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("trisage-u280-4ch-250mhz-"), "{name}");
    assert_eq!(xclbin.parent(), Some(machine.path("out/u280").as_path()));
    let told = fs::read_to_string(machine.path("told")).unwrap();
    let linked = told.lines().find(|line| line.starts_with("v++ ")).unwrap();
    for part in
        ["--target hw ", &format!("{PLATFORM}.xpfm"), "vitis/u280.cfg", "--kernel_frequency 250", "trisage_sampler.xo"]
    {
        assert!(linked.contains(part), "{part}: {linked}");
    }
    for name in ["kernel.tcl", "kernel.xml", "trisage_kernel.v"] {
        assert!(machine.path("out/u280/work/kernel").join(name).exists(), "{name}");
    }
}

#[test]
fn a_build_for_emulation_says_so_and_has_its_configuration() {
    let machine = Machine::new();
    machine.tool("emconfigutil", "while [[ $1 != --od ]]; do shift; done; echo {} >\"$2/emconfig.json\"");
    let output = machine.build(&["U280", "300", "hw_emu"], &[]);
    assert!(output.status.success(), "{}", words(&output));
    assert!(machine.xclbins()[0].to_str().unwrap().ends_with("-hw_emu.xclbin"));
    assert!(machine.path("out/u280/emconfig.json").exists());
}

#[test]
fn a_build_that_fails_leaves_no_xclbin_and_says_where_to_look() {
    let half = "while [[ $1 != --output ]]; do shift; done; echo half >\"$2\"; echo 'ERROR: timing'; exit 1";
    let silent = "exit 0";
    let licence = "echo \"ERROR: [Common 17-345] A valid license was not found for feature 'Implementation'\"; exit 1";
    for (tool, body, code, sentence) in [
        ("v++", half, 1, "v++ failed; its output is in"),
        ("v++", silent, 1, "v++ made no xclbin"),
        ("v++", licence, 2, "Vivado has no licence for this device"),
        ("vivado", licence, 2, "Vivado has no licence for this device"),
        ("vivado", "echo 'ERROR: no'; exit 1", 1, "vivado failed; its output is in"),
        ("vivado", silent, 1, "Vivado made no trisage_sampler.xo"),
    ] {
        let machine = Machine::new();
        machine.tool(tool, body);
        let output = machine.build(&["U280"], &[]);
        let why = words(&output);
        assert_eq!(output.status.code(), Some(code), "{tool} {body}: {why}");
        assert!(why.contains(sentence), "{tool} {body}: {why}");
        assert_eq!(machine.xclbins(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_second_build_for_the_same_board_waits_for_nobody() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("out/u280")).unwrap();
    let mut holder = Command::new("flock")
        .arg(machine.path("out/u280/.lock"))
        .args(["bash", "-c", "echo held; read -r _"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut held).unwrap();
    let output = machine.build(&["U280"], &[]);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("another build for this board is running"), "{}", words(&output));
}

/// The verify script with a stand-in for `trisage`, and a machine with XRT and a card unless `environment` says otherwise.
fn verify(machine: &Machine, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    fs::create_dir_all(machine.path("xrt/lib")).unwrap();
    fs::write(machine.path("xrt/lib/libxrt_core.so.2"), "").unwrap();
    fs::create_dir_all(machine.path("sys/bus/pci/drivers/xocl/0000:03:00.1")).unwrap();
    machine.tool("trisage", "echo \"$*\" >>\"$TOLD\"; [[ $1 != \"${FAIL:-}\" ]]");
    Command::new("bash")
        .arg(ours("vitis/verify.sh"))
        .args(arguments)
        .env("TRISAGE_VITIS_OUT", machine.path("out"))
        .env("TRISAGE_PROGRAM", machine.path("bin/trisage"))
        .env("TRISAGE_SYSFS", machine.path("sys"))
        .env("XILINX_XRT", machine.path("xrt"))
        .env("TOLD", machine.path("told"))
        .env_remove("XCL_EMULATION_MODE")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn a_machine_that_cannot_try_a_card_is_told_why() {
    let machine = Machine::new();
    let refused = |arguments: &[&str], environment: &[(&str, &str)], sentence: &str| {
        let output = verify(&machine, arguments, environment);
        let why = words(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {environment:?}: {why}");
        assert!(why.contains(sentence) && why.trim_end().lines().count() == 1, "{arguments:?} {environment:?}: {why}");
        assert!(!machine.path("told").exists());
    };
    refused(&[], &[], "there is no xclbin under target/vitis");
    refused(&["/nowhere.xclbin"], &[], "the xclbin /nowhere.xclbin does not exist");
    fs::create_dir_all(machine.path("out/u280")).unwrap();
    fs::write(machine.path("out/u280/a-hw_emu.xclbin"), "").unwrap();
    refused(&[], &[], "there is no xclbin under target/vitis");
    fs::write(machine.path("out/u280/a.xclbin"), "").unwrap();
    refused(&[], &[("XCL_EMULATION_MODE", "sw_emu")], "XCL_EMULATION_MODE is 'sw_emu'");
    refused(&[], &[("XILINX_XRT", "")], "XILINX_XRT is not set");
    refused(&[], &[("XILINX_XRT", "/nowhere")], "/nowhere/lib/libxrt_core.so.2, does not exist");
    refused(&[], &[("TRISAGE_SYSFS", "/nowhere")], "XRT's driver xocl has no card");
    fs::write(machine.path("out/u280/b.xclbin"), "").unwrap();
    refused(&[], &[], "there are 2 xclbins under target/vitis");
}

#[test]
fn a_card_is_validated_and_then_compared_with_the_reference() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("out/u280")).unwrap();
    fs::write(machine.path("out/u280/a.xclbin"), "").unwrap();
    let output = verify(&machine, &[], &[]);
    assert!(output.status.success(), "{}", words(&output));
    let told = fs::read_to_string(machine.path("told")).unwrap();
    let commands: Vec<&str> = told.lines().collect();
    assert!(commands[0].starts_with("device validate --xclbin ") && commands[0].ends_with("/out/u280/a.xclbin"));
    assert_eq!(commands.len(), 6, "{told}");
    assert!(commands[1..].iter().all(|command| command.starts_with("verify --backend xrt --xclbin ")), "{told}");
    // Options go to all of them, and the first failure ends it.
    fs::remove_file(machine.path("told")).unwrap();
    let xclbin = machine.path("out/u280/a.xclbin");
    let output = verify(&machine, &[xclbin.to_str().unwrap(), "--card", "1"], &[("FAIL", "verify")]);
    assert_eq!(output.status.code(), Some(1));
    let told = fs::read_to_string(machine.path("told")).unwrap();
    assert_eq!(told.lines().filter(|command| command.contains(".xclbin --card 1")).count(), 2, "{told}");
}
