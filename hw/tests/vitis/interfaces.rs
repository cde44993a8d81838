//! Pins, wrapper and `kernel.xml` against the RTL.

use std::collections::{BTreeMap, BTreeSet};

use hw::{
    board::{Board, U200, U280},
    card::Port,
    kernel_xml,
    vitis::{
        package::{WRAPPER, wrapper, wrapper_pins},
        pins::{self, Direction, Pin},
    },
};

use crate::{
    change,
    source::{PACKAGE, RTL, elements, pins as read_pins, registers},
};

fn all_pins() -> BTreeSet<Pin> {
    let masters = Port::ALL.into_iter().flat_map(pins::master);
    pins::common().into_iter().chain(pins::control()).chain(masters).collect()
}

#[test]
fn the_rtl_has_the_pins_that_are_described() {
    assert_eq!(read_pins(RTL, PACKAGE), all_pins());
    // And a pin more, less, turned round or of another width is noticed.
    for (from, to) in [
        ("  input  logic        m_axi_``p``_arready, \\\n", ""),
        ("output logic        m_axi_``p``_wlast,", "input  logic        m_axi_``p``_wlast,"),
        ("input  line_t       m_axi_``p``_rdata,", "input  addr_t       m_axi_``p``_rdata,"),
        ("  `READ_PINS(idx7),\n", ""),
        ("  `READ_PINS(offs),", "  `WRITE_PINS(offs),"),
        ("output logic        interrupt,", "output logic        irq,"),
        ("[3:0]  s_axi_control_wstrb,", "[3:0]  s_axi_control_wstrb,\n  input  logic s_axi_control_awprot,"),
    ] {
        assert_ne!(read_pins(&change(RTL, from, to), PACKAGE), all_pins(), "{from}");
    }
    let narrow = change(PACKAGE, "IdWidth     = 6;", "IdWidth     = 4;");
    assert_ne!(read_pins(RTL, &narrow), all_pins());
}

/// What is wrong with a `kernel.xml` for so many index channels.
fn check_xml(xml: &str, channels: usize) -> Result<(), String> {
    let pins = read_pins(RTL, PACKAGE);
    let mut interfaces: BTreeMap<String, u32> = BTreeMap::new();
    for pin in &pins {
        if let Some((interface, "rdata" | "wdata")) = pin.name.rsplit_once('_') {
            interfaces.insert(interface.to_owned(), pin.bits);
        }
    }
    interfaces.retain(|name, _| {
        name.strip_prefix("m_axi_idx").is_none_or(|channel| channel.parse::<usize>().unwrap() < channels)
    });
    let described: BTreeMap<String, u32> = elements(xml, "port")
        .iter()
        .map(|port| (port["name"].to_owned(), port["dataWidth"].parse().unwrap_or(0)))
        .collect();
    if described != interfaces {
        return Err(format!("ports {described:?}, the RTL has {interfaces:?}"));
    }
    for port in elements(xml, "port") {
        let (mode, range) =
            if port["name"].starts_with("s_axi") { ("slave", "0x1000") } else { ("master", "0xffffffffffffffff") };
        if (port["mode"], port["range"]) != (mode, range) {
            return Err(format!("{}: {} {}", port["name"], port["mode"], port["range"]));
        }
    }
    let registers = registers(PACKAGE);
    let args = elements(xml, "arg");
    if args.len() != registers.len() - (8 - channels) {
        return Err(format!("{} arguments", args.len()));
    }
    for (id, arg) in args.iter().enumerate() {
        let offset = u32::from_str_radix(arg["offset"].trim_start_matches("0x"), 16).unwrap_or(0);
        let pointer = arg["addressQualifier"] == "1";
        let place = if pointer { arg["port"].starts_with("m_axi_") } else { arg["port"] == "s_axi_control" };
        if arg["id"] != id.to_string()
            || registers.get(arg["name"]) != Some(&offset)
            || !place
            || !described.contains_key(arg["port"])
            || pointer && arg["size"] != "0x8"
        {
            return Err(format!("argument {arg:?}"));
        }
    }
    let kernel = &elements(xml, "kernel")[0];
    let clock = pins.iter().any(|pin| pin.name == "ap_clk") && pins.iter().any(|pin| pin.name == "ap_rst_n");
    let interrupt = pins.iter().any(|pin| pin.name == "interrupt" && pin.direction == Direction::Output);
    if kernel["hwControlProtocol"] != "ap_ctrl_chain" || kernel["interrupt"] != interrupt.to_string() || !clock {
        return Err(format!("kernel {kernel:?}"));
    }
    Ok(())
}

#[test]
fn kernel_xml_says_what_the_rtl_does() {
    for channels in [1, 2, 4, 8] {
        assert_eq!(check_xml(&kernel_xml::package(channels), channels), Ok(()));
    }
    let xml = kernel_xml::package(4);
    assert!(check_xml(&xml, 8).is_err(), "another number of channels");
    for (from, to) in [
        ("id=\"12\" port=\"m_axi_offs\"", "id=\"12\" port=\"m_axi_idx6\""),
        ("id=\"13\" port=\"m_axi_mem\"", "id=\"31\" port=\"m_axi_mem\""),
        ("offset=\"0x28\"", "offset=\"0x2c\""),
        ("<arg name=\"num_hops\"", "<arg name=\"hops\""),
        (
            "name=\"m_axi_out\" mode=\"master\" range=\"0xffffffffffffffff\" dataWidth=\"512\"",
            "name=\"m_axi_out\" mode=\"master\" range=\"0xffffffffffffffff\" dataWidth=\"256\"",
        ),
        ("mode=\"slave\" range=\"0x1000\"", "mode=\"slave\" range=\"0x100\""),
        ("ap_ctrl_chain", "ap_ctrl_hs"),
        ("interrupt=\"true\"", "interrupt=\"false\""),
    ] {
        assert!(check_xml(&change(&xml, from, to), 4).is_err(), "{from}");
    }
}

/// What is wrong with a wrapper.
fn check_wrapper(verilog: &str, board: &Board) -> Result<(), String> {
    let channels = board.kernel.channels;
    let (declarations, body) = verilog.split_once("\n);").ok_or("no port list")?;
    let declared = read_pins(&format!("{declarations}\n);"), "");
    let inner = read_pins(RTL, PACKAGE);
    let silent = |pin: &Pin| {
        let channel = pin.name.strip_prefix("m_axi_idx").map(|rest| rest[..1].parse::<usize>().unwrap());
        channel.is_some_and(|channel| channel >= channels)
    };
    for pin in &inner {
        let connection = format!(".{}(", pin.name);
        let to: Vec<&str> =
            body.split(&connection).skip(1).map(|rest| rest.split(')').next().unwrap_or_default()).collect();
        let expected = match (silent(pin), pin.direction) {
            (false, _) => pin.name.clone(),
            (true, Direction::Input) => format!("{}'b0", pin.bits),
            (true, Direction::Output) => String::new(),
        };
        if to != [expected.as_str()] || declared.contains(pin) == silent(pin) {
            return Err(format!("{} is connected to {to:?}", pin.name));
        }
    }
    // What the wrapper has beyond the kernel is driven by a constant.
    for pin in declared.difference(&inner) {
        let driven = body.matches(&format!("assign {} = {}'b", pin.name, pin.bits)).count() == 1;
        let known = pin.name.ends_with("cache") || pin.name.ends_with("prot");
        if !(driven && known && pin.direction == Direction::Output) {
            return Err(format!("{} is not of the kernel, and not a constant", pin.name));
        }
    }
    let parameters = [
        ("INDEX_CHANNELS", channels),
        ("TABLE_LOG2", board.kernel.table_log2.into()),
        ("SLR_STAGES", board.kernel.slr_stages.into()),
    ];
    for (name, value) in parameters {
        let there = RTL.contains(&format!("parameter int unsigned {name} "));
        if !there || !body.contains(&format!(".{name}({value})")) {
            return Err(format!("parameter {name}"));
        }
    }
    let module = declarations.contains(&format!("module {WRAPPER} ("));
    if module { Ok(()) } else { Err("another module".to_owned()) }
}

#[test]
fn the_wrapper_connects_the_kernel_and_leaves_silent_ports_out() {
    for board in Board::ALL {
        let verilog = wrapper(board.kernel);
        assert_eq!(check_wrapper(&verilog, board), Ok(()), "{board}");
        let declared = read_pins(&verilog, "");
        assert_eq!(declared, wrapper_pins(board.kernel).into_iter().collect(), "{board}");
    }
    let verilog = wrapper(U280.kernel);
    assert!(check_wrapper(&verilog, &U200).is_err(), "another number of channels");
    for (from, to) in [
        ("    .m_axi_mem_bid(m_axi_mem_bid),\n", ""),
        (".m_axi_idx1_rdata(m_axi_idx1_rdata)", ".m_axi_idx1_rdata(m_axi_idx0_rdata)"),
        (".m_axi_idx4_arready(1'b0)", ".m_axi_idx4_arready(1'b1)"),
        ("output wire [63:0] m_axi_out_awaddr", "output wire [31:0] m_axi_out_awaddr"),
        ("  assign m_axi_offs_arcache = 4'b0011;\n", ""),
        (".TABLE_LOG2(19)", ".TABLE_LOG2(20)"),
    ] {
        assert!(check_wrapper(&change(&verilog, from, to), &U280).is_err(), "{from}");
    }
}
