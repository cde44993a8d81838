//! The packaging script, run by `tclsh` with a stand-in for Vivado (`vivado.tcl`) that prints what it was told.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use hw::{
    board::{Board, U200, U280},
    card::BURST_LINES,
    kernel_xml::{KERNEL, port_name},
    vitis::{package::WRAPPER, pins},
};

use crate::{
    change, ours,
    source::{PACKAGE, registers},
};

/// What the script did, or why it stopped.
fn run(board: &Board, script: &Path, folder: &Path) -> Result<Vec<Vec<String>>, String> {
    let out = Command::new("tclsh")
        .arg(ours("tests/vitis/vivado.tcl"))
        .arg(script)
        .args([ours("rtl/files.f"), folder.join("kernel"), folder.join("work"), folder.join("kernel.xo")])
        .output()
        .map_err(|why| format!("{board}: tclsh: {why}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let text = String::from_utf8(out.stdout).map_err(|why| why.to_string())?;
    Ok(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// Generates what the script reads, for a board.
fn generate(board: &Board, folder: &Path) {
    fs::create_dir_all(folder.join("kernel")).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_kernel-files"))
        .arg(board.name)
        .arg(ours(&format!("vitis/{}.cfg", board.name)))
        .arg(folder.join("kernel"))
        .status()
        .unwrap();
    assert!(status.success());
}

/// What is wrong with what the script did.
fn check(board: &Board, done: &[Vec<String>], folder: &Path) -> Result<(), String> {
    let mut properties: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut rest: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
    for words in done {
        match &words[..] {
            [kind, object, name, value] if kind == "property" => drop(properties.insert((object, name), value)),
            [kind, arguments @ ..] => rest.entry(kind).or_default().push(arguments),
            [] => return Err("an empty line".to_owned()),
        }
    }
    let property = |object: &str, name: &str, expected: &str| match properties.get(&(object, name)) {
        Some(&value) if value == expected => Ok(()),
        other => Err(format!("{object}: {name} is {other:?}, not {expected}")),
    };
    let all = |kind: &str| rest.get(kind).cloned().unwrap_or_default();
    let equal = |what: &str, found: BTreeSet<String>, expected: BTreeSet<String>| {
        if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}")) }
    };

    // Files: all of the RTL, the header that it includes, and the wrapper.
    let list = fs::read_to_string(ours("rtl/files.f")).unwrap();
    let mut files: BTreeSet<String> = list.lines().map(|name| ours("rtl").join(name).display().to_string()).collect();
    files.insert(ours("rtl/assert.svh").display().to_string());
    files.insert(folder.join(format!("kernel/{WRAPPER}.v")).display().to_string());
    equal("files", all("file").iter().map(|words| words[0].clone()).collect(), files)?;
    property("fileset", "top", WRAPPER)?;
    equal("project", all("project").concat().into_iter().collect(), [KERNEL, board.part].map(str::to_owned).into())?;

    // Interfaces: each with the clock; the clock with the reset, and without a frequency.
    let masters: Vec<String> = board.ports().map(port_name).collect();
    let mut associated: BTreeSet<String> =
        masters.iter().map(String::as_str).chain(["s_axi_control"]).map(|bus| format!("{bus} ap_clk ")).collect();
    associated.insert(" ap_clk ap_rst_n".to_owned());
    equal("clock", all("associate").iter().map(|words| words.join(" ")).collect(), associated)?;
    equal("frequency", all("removed").concat().into_iter().collect(), ["bus/ap_clk/FREQ_HZ".to_owned()].into())?;
    for port in board.ports() {
        let bus = format!("bus/{}", port_name(port));
        let outstanding = |does, most: u32| if does { most.to_string() } else { "0".to_owned() };
        for (name, value) in [
            ("MAX_BURST_LENGTH", BURST_LINES.to_string()),
            ("NUM_READ_OUTSTANDING", outstanding(pins::reads(port), pins::READS_OUTSTANDING)),
            ("NUM_WRITE_OUTSTANDING", outstanding(pins::writes(port), pins::WRITES_OUTSTANDING)),
        ] {
            property(&format!("{bus}/{name}"), "value", &value)?;
        }
    }

    // Registers: control, and every argument of this build with its place, size and master.
    let mut expected: BTreeSet<String> = ["CTRL", "GIER", "IP_IER", "IP_ISR"].map(str::to_owned).into();
    for (name, offset) in registers(PACKAGE) {
        let channel = name.strip_prefix("indices").map(|channel| channel.parse::<usize>().unwrap());
        if channel.is_some_and(|channel| channel >= board.kernel.channels) {
            continue;
        }
        let register = format!("register/{name}");
        let arg = hw::registers::ARGS.iter().find(|arg| arg.name == name).ok_or(format!("no argument {name}"))?;
        property(&register, "address_offset", &format!("{offset:#05x}"))?;
        property(&register, "size", &(8 * arg.bytes).to_string())?;
        match arg.port {
            Some(port) => property(&format!("{register}/ASSOCIATED_BUSIF"), "value", &port_name(port))?,
            None if properties.keys().any(|(object, _)| *object == format!("{register}/ASSOCIATED_BUSIF")) => {
                return Err(format!("{name} has a master"));
            }
            None => (),
        }
        expected.insert(name);
    }
    let made = all("object").concat();
    let registers =
        made.iter().filter_map(|object| object.strip_prefix("register/")).filter(|name| !name.contains('/'));
    equal("registers", registers.map(str::to_owned).collect(), expected)?;
    for (field, bit) in [("AP_START", "0"), ("AP_DONE", "1"), ("AP_IDLE", "2"), ("AP_READY", "3"), ("AP_CONTINUE", "4")]
    {
        property(&format!("register/CTRL/field/{field}"), "bit_offset", bit)?;
    }
    property("bus/s_axi_control", "slave_memory_map_ref", "s_axi_control")?;
    property("block/reg0", "range", "4096")?;

    // The kernel, and the steps in their order.
    for (name, value) in [
        ("name", KERNEL),
        ("sdx_kernel", "true"),
        ("sdx_kernel_type", "rtl"),
        ("vitis_drc", "ctrl_protocol ap_ctrl_chain"),
        ("ipi_drc", "ignore_freq_hz true"),
    ] {
        property("core", name, value)?;
    }
    let ending: Vec<String> = done[done.len().saturating_sub(4)..].iter().map(|words| words.join(" ")).collect();
    let path = |name: &str| folder.join(name).display().to_string();
    let packed = format!("package_xo {KERNEL} {} {} {}", path("kernel.xo"), path("work/ip"), path("kernel/kernel.xml"));
    let steps = ["step check_integrity".to_owned(), "step save_core".to_owned(), "close_project".to_owned(), packed];
    if ending == steps { Ok(()) } else { Err(format!("it ends with {ending:?}")) }
}

/// The script as it is, or `None` where there is no `tclsh`.
fn script() -> Option<String> {
    if Command::new("tclsh").arg("/dev/null").status().is_err() {
        eprintln!("skipped: tclsh is not installed (Debian: apt-get install tcl)");
        return None;
    }
    Some(fs::read_to_string(ours("vitis/package.tcl")).unwrap())
}

#[test]
fn the_script_packages_what_the_register_map_says() {
    let Some(_) = script() else { return };
    for board in Board::ALL {
        let folder = tempfile::tempdir().unwrap();
        generate(board, folder.path());
        let done = run(board, &ours("vitis/package.tcl"), folder.path()).unwrap();
        assert_eq!(check(board, &done, folder.path()), Ok(()), "{board}");
        assert!(folder.path().join("kernel.xo").exists());
    }
}

#[test]
fn each_mistake_in_the_script_is_noticed() {
    let Some(script) = script() else { return };
    let folder = tempfile::tempdir().unwrap();
    generate(&U280, folder.path());
    let changed = folder.path().join("changed.tcl");
    for (from, to) in [
        ("set_property size $bits $register\n", ""),
        ("set_property address_offset $offset $register", "set_property address_offset 0x10 $register"),
        ("foreach argument $kernel_args {", "foreach argument [lrange $kernel_args 1 end] {"),
        ("[ipx::add_register_parameter ASSOCIATED_BUSIF $register]", "[ipx::add_register_parameter BUSIF $register]"),
        ("  ipx::associate_bus_interfaces -busif [lindex $master 0] -clock ap_clk $core\n", ""),
        ("-clock ap_clk -reset ap_rst_n", "-clock ap_clk -reset reset"),
        ("  ipx::remove_bus_parameter FREQ_HZ $clock\n", ""),
        ("set_property sdx_kernel_type rtl $core\n", ""),
        ("{ctrl_protocol ap_ctrl_chain}", "{ctrl_protocol ap_ctrl_hs}"),
        ("set_property top $kernel_top", "set_property top trisage_sampler"),
        ("add_files -norecurse [rtl_sources $file_list]\n", ""),
        ("ipx::save_core $core\n", ""),
        (" -kernel_xml [file join $generated kernel.xml]", ""),
        ("set_property name $kernel_name $core\n", ""),
    ] {
        fs::write(&changed, change(&script, from, to)).unwrap();
        let noticed = run(&U280, &changed, folder.path()).and_then(|done| check(&U280, &done, folder.path()));
        assert!(noticed.is_err(), "{from} -> {to}");
    }
    // What was generated for another board has other masters.
    let other = tempfile::tempdir().unwrap();
    generate(&U200, other.path());
    let done = run(&U200, &ours("vitis/package.tcl"), other.path()).unwrap();
    assert!(check(&U280, &done, other.path()).is_err());
    // A Vivado without the device.
    fs::write(&changed, format!("set env(NO_PARTS) 1\n{script}")).unwrap();
    let why = run(&U280, &changed, folder.path()).unwrap_err();
    assert!(why.contains("does not have the device xcu280-fsvh2892-2L-e"), "{why}");
    // Vivado's Tcl is 8.5 in older releases.
    assert!(!script.contains("lmap"));
}
