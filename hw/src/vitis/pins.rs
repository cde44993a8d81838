//! The pins of the kernel: AXI masters, the control slave, clock, reset and interrupt, as `hw/rtl/trisage_sampler.sv` has them.

use crate::{
    card::{LINE_BYTES, Port},
    kernel_xml::{CONTROL_PORT, CONTROL_RANGE, port_name},
};

/// Bits of an address.
pub const ADDRESS_BITS: u32 = 64;
/// Bits of an AXI id.
pub const ID_BITS: u32 = 6;
/// Bits of a data bus of the masters.
pub const DATA_BITS: u32 = 8 * LINE_BYTES as u32;
/// Bits of the control slave's address.
pub const CONTROL_ADDRESS_BITS: u32 = CONTROL_RANGE.ilog2();

/// Reads that a port may have outstanding, at most: what the interconnect is asked to take. With as many, the simulated kernel
/// draws 0.99 edges a cycle from HBM.
pub const READS_OUTSTANDING: u32 = 64;
/// Bursts that a port may have written without an answer (`burst_writer.sv`, `Window`).
pub const WRITES_OUTSTANDING: u32 = 32;

/// Which way a pin goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Into the kernel.
    Input,
    /// Out of the kernel.
    Output,
}

/// A pin, or a bus of pins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// Its name.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// How many bits it has.
    pub bits: u32,
}

use Direction::{Input, Output};

type Signals = [(&'static str, Direction, u32)];

const READ: &Signals = &[
    ("arvalid", Output, 1),
    ("arready", Input, 1),
    ("arid", Output, ID_BITS),
    ("araddr", Output, ADDRESS_BITS),
    ("arlen", Output, 8),
    ("arsize", Output, 3),
    ("arburst", Output, 2),
    ("rvalid", Input, 1),
    ("rready", Output, 1),
    ("rid", Input, ID_BITS),
    ("rdata", Input, DATA_BITS),
    ("rresp", Input, 2),
    ("rlast", Input, 1),
];

const WRITE: &Signals = &[
    ("awvalid", Output, 1),
    ("awready", Input, 1),
    ("awid", Output, ID_BITS),
    ("awaddr", Output, ADDRESS_BITS),
    ("awlen", Output, 8),
    ("awsize", Output, 3),
    ("awburst", Output, 2),
    ("wvalid", Output, 1),
    ("wready", Input, 1),
    ("wdata", Output, DATA_BITS),
    ("wstrb", Output, DATA_BITS / 8),
    ("wlast", Output, 1),
    ("bvalid", Input, 1),
    ("bready", Output, 1),
    ("bid", Input, ID_BITS),
    ("bresp", Input, 2),
];

const CONTROL: &Signals = &[
    ("awvalid", Input, 1),
    ("awready", Output, 1),
    ("awaddr", Input, CONTROL_ADDRESS_BITS),
    ("wvalid", Input, 1),
    ("wready", Output, 1),
    ("wdata", Input, 32),
    ("wstrb", Input, 4),
    ("bvalid", Output, 1),
    ("bready", Input, 1),
    ("bresp", Output, 2),
    ("arvalid", Input, 1),
    ("arready", Output, 1),
    ("araddr", Input, CONTROL_ADDRESS_BITS),
    ("rvalid", Output, 1),
    ("rready", Input, 1),
    ("rdata", Output, 32),
    ("rresp", Output, 2),
];

fn named(prefix: &str, signals: &Signals) -> Vec<Pin> {
    let pin = |&(signal, direction, bits)| Pin { name: format!("{prefix}_{signal}"), direction, bits };
    signals.iter().map(pin).collect()
}

/// Clock, reset and interrupt, whose names XRT's tools prescribe.
pub fn common() -> Vec<Pin> {
    [("ap_clk", Input), ("ap_rst_n", Input), ("interrupt", Output)]
        .map(|(name, direction)| Pin { name: name.to_owned(), direction, bits: 1 })
        .to_vec()
}

/// The AXI4-Lite slave `s_axi_control`.
pub fn control() -> Vec<Pin> {
    named(CONTROL_PORT, CONTROL)
}

/// The pins of a port.
pub fn master(port: Port) -> Vec<Pin> {
    let prefix = port_name(port);
    let mut pins = Vec::new();
    if reads(port) {
        pins.extend(named(&prefix, READ));
    }
    if writes(port) {
        pins.extend(named(&prefix, WRITE));
    }
    pins
}

/// Whether a port reads.
pub const fn reads(port: Port) -> bool {
    !matches!(port, Port::Out)
}

/// Whether a port writes.
pub const fn writes(port: Port) -> bool {
    matches!(port, Port::Mem | Port::Out)
}

/// Whether a port reads at random, so that it needs a memory bank to itself.
pub const fn reads_at_random(port: Port) -> bool {
    matches!(port, Port::Offs | Port::Idx(_))
}
