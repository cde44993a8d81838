//! What Vivado needs to package the kernel for a board, besides the RTL: a Verilog wrapper, and a description of it as Tcl lists
//! for `hw/vitis/package.tcl`. Both follow from registers, pins and [`Board`](crate::board::Board), so neither is checked in.

use std::fmt::Write as _;

use super::pins::{self, Direction, Pin};
use crate::{
    board::{Board, KernelBuild},
    card::{BURST_LINES, MAX_CHANNELS, Port},
    kernel_xml::{self, CONTROL_RANGE, KERNEL, port_name, ports},
};

/// The wrapper's module: the top of the packaged IP.
pub const WRAPPER: &str = "trisage_kernel";

/// The IP's place in the catalogue, as `kernel.xml` has it in its `vlnv`.
const VENDOR: &str = "trisage";
const LIBRARY: &str = "kernel";
const VERSION: &str = "1.0";

/// What a master of the wrapper drives in every cycle. AMD's interconnects may only merge or split what is modifiable (AXI4,
/// "Memory types"), and kernels made by Vitis HLS drive the same values.
const CONSTANTS: [(&str, u32, &str); 2] = [("cache", 4, "4'b0011"), ("prot", 3, "3'b000")];

/// The pins that a master has on the wrapper alone, with the value of each.
fn constant_pins(port: Port) -> Vec<(Pin, &'static str)> {
    let channels = [("ar", pins::reads(port)), ("aw", pins::writes(port))];
    let there = channels.into_iter().filter_map(|(channel, is_there)| is_there.then_some(channel));
    there
        .flat_map(|channel| {
            CONSTANTS.map(|(signal, bits, value)| {
                let name = format!("{}_{channel}{signal}", port_name(port));
                (Pin { name, direction: Direction::Output, bits }, value)
            })
        })
        .collect()
}

/// The wrapper's pins.
pub fn wrapper_pins(build: KernelBuild) -> Vec<Pin> {
    let mut all = pins::common();
    all.extend(pins::control());
    for port in ports(build.channels) {
        all.extend(pins::master(port));
        all.extend(constant_pins(port).into_iter().map(|(pin, _)| pin));
    }
    all
}

/// The wrapper, in Verilog-2001: the IP packager takes no `SystemVerilog` as a top (UG1118 "Top-Level HDL Requirements"). It sets the
/// kernel's parameters, and leaves out the index ports that the build has no use for.
pub fn wrapper(build: KernelBuild) -> String {
    let KernelBuild { channels, table_log2, slr_stages } = build;
    let declaration = |pin: &Pin| {
        let direction = match pin.direction {
            Direction::Input => "input ",
            Direction::Output => "output",
        };
        let range = if pin.bits == 1 { String::new() } else { format!("[{}:0] ", pin.bits - 1) };
        format!("  {direction} wire {range}{}", pin.name)
    };
    let declarations: Vec<String> = wrapper_pins(build).iter().map(declaration).collect();

    let mut connections: Vec<String> = Vec::new();
    let mut constants = String::new();
    for pin in pins::common().into_iter().chain(pins::control()) {
        connections.push(format!("    .{0}({0})", pin.name));
    }
    for port in Port::ALL {
        let used = ports(build.channels).any(|ours| ours == port);
        for pin in pins::master(port) {
            let to = match (used, pin.direction) {
                (true, _) => pin.name.clone(),
                (false, Direction::Input) => format!("{}'b0", pin.bits),
                (false, Direction::Output) => String::new(),
            };
            connections.push(format!("    .{}({to})", pin.name));
        }
        for (pin, value) in constant_pins(port).into_iter().filter(|_| used) {
            let _ = writeln!(constants, "  assign {} = {value};", pin.name);
        }
    }
    format!(
        "// Generated from hw/src/vitis/package.rs: the kernel with {channels} of {MAX_CHANNELS} index channels.\n\
         `default_nettype none\n\n\
         module {WRAPPER} (\n{}\n);\n\n\
         {constants}\n  \
           trisage_sampler #(\n    \
             .INDEX_CHANNELS({channels}),\n    \
             .TABLE_LOG2({table_log2}),\n    \
             .SLR_STAGES({slr_stages})\n  \
           ) u_sampler (\n{}\n  );\n\n\
         endmodule\n\n\
         `default_nettype wire\n",
        declarations.join(",\n"),
        connections.join(",\n"),
    )
}

/// What `hw/vitis/package.tcl` has to know, as Tcl that sets variables:
///
/// - `kernel_name`, `kernel_vendor`, `kernel_library`, `kernel_version`, `kernel_top`, `kernel_part`, `kernel_control_range`;
/// - `kernel_args`: name, offset, bits and master (or `{}`) of each argument;
/// - `kernel_masters`: name, and outstanding reads and writes, of each AXI master;
/// - `kernel_burst`: lines of the longest burst.
pub fn description(board: &Board) -> String {
    let build = board.kernel;
    let mut tcl = format!("# Generated from hw/src/vitis/package.rs: the kernel for the {board}.\n");
    for (key, value) in [
        ("name", KERNEL),
        ("vendor", VENDOR),
        ("library", LIBRARY),
        ("version", VERSION),
        ("top", WRAPPER),
        ("part", board.part),
    ] {
        let _ = writeln!(tcl, "set kernel_{key} {{{value}}}");
    }
    let _ = writeln!(tcl, "set kernel_control_range {CONTROL_RANGE}\nset kernel_burst {BURST_LINES}");
    tcl += "set kernel_args {\n";
    for arg in kernel_xml::args(build.channels) {
        let master = arg.port.map_or_else(|| "{}".to_owned(), port_name);
        let _ = writeln!(tcl, "  {{{} {:#05x} {} {master}}}", arg.name, arg.offset, 8 * arg.bytes);
    }
    tcl += "}\nset kernel_masters {\n";
    for port in ports(build.channels) {
        let outstanding = |does, most| if does { most } else { 0 };
        let _ = writeln!(
            tcl,
            "  {{{} {} {}}}",
            port_name(port),
            outstanding(pins::reads(port), pins::READS_OUTSTANDING),
            outstanding(pins::writes(port), pins::WRITES_OUTSTANDING)
        );
    }
    tcl + "}\n"
}
