//! The kernel as Vitis and XRT know it, in the two forms of `kernel.xml`: the one that a kernel is packaged with (UG1702, "RTL
//! Kernel XML File"), and the one that an xclbin carries as its `EMBEDDED_METADATA`, with the instances, which XRT parses
//! (`xclbin_parser.cpp`). Both come from [`ARGS`] and [`Port`], so there is nothing to keep in step by hand.
//!
//! A kernel with C index channels has the masters `m_axi_idx0` to C-1 and the arguments that use them; as the indices are the
//! last of [`ARGS`], every other argument keeps its id.

use std::fmt::Write;

use crate::{
    SLRS,
    card::{LINE_BYTES, MAX_CHANNELS, Port},
    registers::{ARGS, Arg},
};

/// Name of the kernel: that of the RTL's top module.
pub const KERNEL: &str = "trisage_sampler";
/// Names of its instances (compute units), by SLR: those that `v++` gives by itself.
pub const UNITS: [&str; SLRS] = ["trisage_sampler_1", "trisage_sampler_2", "trisage_sampler_3"];
/// The AXI4-Lite slave.
pub const CONTROL_PORT: &str = "s_axi_control";
/// Bytes of registers behind the slave: what its 12 address bits reach.
pub const CONTROL_RANGE: u64 = 0x1000;
/// Bytes of the address space that an instance's registers take on the card (XRT's own default).
pub const UNIT_RANGE: u64 = 0x1_0000;

/// An instance of the kernel on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its registers begin in the card's control space.
    pub base: u64,
}

/// The masters of a kernel with so many index channels, in the order of [`Port::ALL`].
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8.
pub fn ports(channels: usize) -> impl Iterator<Item = Port> {
    assert!(channels.is_power_of_two() && channels <= MAX_CHANNELS, "{channels} index channels");
    Port::ALL.into_iter().filter(move |&port| exists(port, channels))
}

/// The arguments of a kernel with so many index channels: the first of [`ARGS`].
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8.
pub fn args(channels: usize) -> &'static [Arg] {
    assert!(channels.is_power_of_two() && channels <= MAX_CHANNELS, "{channels} index channels");
    &ARGS[..ARGS.len() - (MAX_CHANNELS - channels)]
}

/// The form that the kernel is packaged with.
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8.
pub fn package(channels: usize) -> String {
    let mut xml = String::from(DECLARATION);
    line(&mut xml, 0, "<root versionMajor=\"1\" versionMinor=\"6\">");
    line(&mut xml, 1, &kernel_tag());
    line(&mut xml, 2, "<ports>");
    for port in port_tags(channels) {
        line(&mut xml, 3, &port);
    }
    line(&mut xml, 2, "</ports>");
    line(&mut xml, 2, "<args>");
    for arg in arg_tags(channels) {
        line(&mut xml, 3, &arg);
    }
    line(&mut xml, 2, "</args>");
    line(&mut xml, 1, "</kernel>");
    line(&mut xml, 0, "</root>");
    xml
}

/// The form that an xclbin with these instances carries. Here ports, arguments and instances lie side by side in the kernel.
///
/// # Panics
/// If `channels` is not 1, 2, 4 or 8.
pub fn linked(channels: usize, units: &[Unit<'_>]) -> String {
    let mut xml = String::from(DECLARATION);
    line(&mut xml, 0, "<project name=\"trisage\">");
    line(&mut xml, 1, "<platform vendor=\"trisage\" boardid=\"card\" name=\"trisage\">");
    line(&mut xml, 2, "<device name=\"fpga0\">");
    line(&mut xml, 3, "<core name=\"OCL_REGION_0\" type=\"clc_region\">");
    line(&mut xml, 4, &kernel_tag());
    for tag in port_tags(channels).chain(arg_tags(channels)) {
        line(&mut xml, 5, &tag);
    }
    for Unit { name, base } in units {
        line(&mut xml, 5, &format!("<instance name=\"{name}\">"));
        let remap = format!("<addrRemap base=\"{base:#x}\" range=\"{UNIT_RANGE:#x}\" port=\"{CONTROL_PORT}\"/>");
        line(&mut xml, 6, &remap);
        line(&mut xml, 5, "</instance>");
    }
    for (depth, tag) in ["kernel", "core", "device", "platform", "project"].iter().enumerate() {
        line(&mut xml, 4 - depth, &format!("</{tag}>"));
    }
    xml
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

fn line(xml: &mut String, depth: usize, text: &str) {
    writeln!(xml, "{:1$}{text}", "", 2 * depth).expect("a string takes all");
}

fn exists(port: Port, channels: usize) -> bool {
    !matches!(port, Port::Idx(channel) if usize::from(channel) >= channels)
}

fn kernel_tag() -> String {
    format!(
        "<kernel name=\"{KERNEL}\" language=\"ip_c\" vlnv=\"trisage:kernel:{KERNEL}:1.0\" attributes=\"\" \
         preferredWorkGroupSizeMultiple=\"0\" workGroupSize=\"1\" interrupt=\"true\" hwControlProtocol=\"ap_ctrl_chain\">"
    )
}

fn port_tags(channels: usize) -> impl Iterator<Item = String> {
    let tag = |name: &str, mode: &str, range: u64, bits: usize| {
        format!(
            "<port name=\"{name}\" mode=\"{mode}\" range=\"{range:#x}\" dataWidth=\"{bits}\" portType=\"addressable\" \
             base=\"0x0\"/>"
        )
    };
    let control = tag(CONTROL_PORT, "slave", CONTROL_RANGE, 32);
    let master = move |port: Port| tag(&port_name(port), "master", u64::MAX, 8 * LINE_BYTES);
    std::iter::once(control).chain(ports(channels).map(master))
}

/// A master's name in the RTL.
pub fn port_name(port: Port) -> String {
    format!("m_axi_{}", port.name())
}

fn arg_tags(channels: usize) -> impl Iterator<Item = String> {
    args(channels).iter().enumerate().map(|(id, arg)| {
        let Arg { name, offset, bytes, port } = arg;
        // 0 is a scalar, 1 global memory.
        let (qualifier, port) = port.map_or((0, CONTROL_PORT.to_owned()), |port| (1, port_name(port)));
        // XRT takes a scalar's value by this name, and an address as a buffer object.
        let kind = match (qualifier, bytes) {
            (1, _) => "int*",
            (_, 8) => "ulong",
            _ => "uint",
        };
        format!(
            "<arg name=\"{name}\" addressQualifier=\"{qualifier}\" id=\"{id}\" port=\"{port}\" size=\"{bytes:#x}\" \
             offset=\"{offset:#x}\" hostOffset=\"0x0\" hostSize=\"{bytes:#x}\" type=\"{kind}\"/>"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of an attribute in elements of this name, in order.
    fn attributes<'a>(xml: &'a str, element: &str, attribute: &str) -> Vec<&'a str> {
        let (open, key) = (format!("<{element} "), format!(" {attribute}=\""));
        xml.lines()
            .filter(|line| line.trim_start().starts_with(&open))
            .map(|line| line.split_once(&key).unwrap().1.split_once('"').unwrap().0)
            .collect()
    }

    /// Its ports are compared in `tests/vitis/interfaces.rs`.
    #[test]
    fn the_kernel_is_the_top_module_of_the_rtl() {
        assert!(include_str!("../rtl/trisage_sampler.sv").contains(&format!("\nmodule {KERNEL}\n")));
    }

    #[test]
    fn every_argument_has_its_id_its_register_and_a_port_that_exists() {
        for channels in [1, 2, 4, 8] {
            let units = [Unit { name: UNITS[0], base: 0x1_0000 }, Unit { name: UNITS[1], base: 0x2_0000 }];
            for xml in [package(channels), linked(channels, &units)] {
                let expected: Vec<(String, String)> =
                    (0..20 + channels).map(|id| (id.to_string(), format!("{:#x}", ARGS[id].offset))).collect();
                let ids = attributes(&xml, "arg", "id").into_iter().map(str::to_owned);
                let offsets = attributes(&xml, "arg", "offset").into_iter().map(str::to_owned);
                assert_eq!(ids.zip(offsets).collect::<Vec<_>>(), expected);
                let ports = attributes(&xml, "port", "name");
                assert_eq!(ports.len(), 1 + 3 + channels);
                assert!(attributes(&xml, "arg", "port").iter().all(|port| ports.contains(port)));
            }
        }
    }

    #[test]
    fn the_linked_form_places_every_instance() {
        let xml = linked(4, &[Unit { name: UNITS[0], base: 0x1_0000 }, Unit { name: UNITS[1], base: 0x2_0000 }]);
        assert_eq!(attributes(&xml, "instance", "name"), UNITS[..2]);
        assert_eq!(attributes(&xml, "addrRemap", "base"), ["0x10000", "0x20000"]);
        for element in ["project", "platform", "device", "core", "kernel"] {
            assert_eq!(xml.matches(&format!("<{element} ")).count(), xml.matches(&format!("</{element}>")).count());
        }
    }

    #[test]
    fn xrt_takes_a_value_by_its_type() {
        let xml = package(1);
        let kinds = attributes(&xml, "arg", "type");
        for (kind, arg) in kinds.iter().zip(args(1)) {
            assert_eq!(*kind == "int*", arg.port.is_some(), "{}", arg.name);
            assert_eq!(*kind == "uint", arg.bytes == 4, "{}", arg.name);
        }
    }
}
