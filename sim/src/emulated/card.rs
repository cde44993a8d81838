//! What is on the emulated card: its banks, its kernels, and the files that tell XRT of them.

use std::ops::Range;

use hw::{
    SLRS, Slr,
    card::Port,
    kernel_xml::{self, KERNEL, UNIT_RANGE, UNITS, Unit},
    xclbin::{Connection, Ip, Memory, Mode, Xclbin},
};

use super::memory::{SharedMemory, UnitSpace};

/// Bytes of a bank, and their name in XRT's `emconfig.json`. Banks lie side by side, as XRT's software emulation takes their
/// bases from their sizes.
const BANK_BYTES: u64 = 1 << 30;
const BANK_SIZE: &str = "1G";
/// Where the first kernel's registers begin.
const FIRST_UNIT: u64 = 0x180_0000;
/// Vendor, board, name and version.
const PLATFORM: &str = "trisage_emulated_gen3x16_1";

/// Three kernels, one an SLR, with a bank for each of their ports: as on a card with HBM, whose pseudo channels are best left to
/// one port each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    channels: usize,
}

impl Card {
    /// A card whose kernels have so many index channels.
    ///
    /// # Panics
    /// If `channels` is not 1, 2, 4 or 8.
    pub fn new(channels: usize) -> Self {
        assert!(kernel_xml::ports(channels).count() > 0);
        Self { channels }
    }

    /// Index channels of each kernel.
    pub fn channels(&self) -> usize {
        self.channels
    }

    fn ports(self) -> Vec<Port> {
        kernel_xml::ports(self.channels).collect()
    }

    fn banks(self) -> usize {
        SLRS * self.ports().len()
    }

    /// The bank of a port of a kernel.
    fn bank(self, slr: Slr, port: Port) -> usize {
        let ports = self.ports();
        slr.index() * ports.len() + ports.iter().position(|own| *own == port).expect("a kernel has its ports")
    }

    fn addresses(bank: usize) -> Range<u64> {
        let base = bank as u64 * BANK_BYTES;
        base..base + BANK_BYTES
    }

    /// Bytes of all its memory, from address 0 on.
    pub(super) fn bytes(self) -> u64 {
        self.banks() as u64 * BANK_BYTES
    }

    /// What the ports of a kernel reach.
    pub(super) fn space(self, slr: Slr, memory: &SharedMemory) -> UnitSpace {
        let reach = |port| (port, Self::addresses(self.bank(slr, port)));
        UnitSpace { memory: memory.clone(), banks: self.ports().into_iter().map(reach).collect() }
    }

    /// Where the registers of a kernel begin.
    pub(super) fn registers(slr: Slr) -> u64 {
        FIRST_UNIT + slr.index() as u64 * UNIT_RANGE
    }

    /// What XRT loads.
    pub fn xclbin(self) -> Xclbin {
        let mut uuid = *b"trisage emulated";
        uuid[15] = self.channels as u8;
        let memory = |bank: usize| Memory {
            tag: format!("HBM[{bank}]"),
            kind: Memory::HBM,
            used: true,
            kib: BANK_BYTES / 1024,
            base: Self::addresses(bank).start,
        };
        let ip = |slr: Slr| Ip {
            name: format!("{KERNEL}:{}", UNITS[slr.index()]),
            kind: Ip::KERNEL,
            properties: Ip::AP_CTRL_CHAIN << 8 | (slr.index() as u32) << 1 | 1,
            base: Self::registers(slr),
        };
        let connections = Slr::ALL.into_iter().flat_map(|slr| {
            let args = kernel_xml::args(self.channels).iter().enumerate();
            args.filter_map(move |(arg, of)| {
                let memory = self.bank(slr, of.port?) as u32;
                Some(Connection { arg: arg as u32, ip: slr.index() as u32, memory })
            })
        });
        let units = Slr::ALL.map(|slr| Unit { name: UNITS[slr.index()], base: Self::registers(slr) });
        Xclbin {
            uuid,
            platform: PLATFORM.to_owned(),
            mode: Mode::SoftwareEmulation,
            memories: (0..self.banks()).map(memory).collect(),
            ips: Slr::ALL.map(ip).to_vec(),
            connections: connections.collect(),
            metadata: kernel_xml::linked(self.channels, &units),
        }
    }

    /// `emconfig.json`: which devices XRT's software emulation has, and their banks.
    pub fn emconfig(self) -> String {
        let banks = vec![format!("{{ \"Name\": \"HBM\", \"Size\": \"{BANK_SIZE}\" }}"); self.banks()].join(", ");
        format!(
            "{{\n  \"Version\": {{ \"FileVersion\": \"2.0\", \"ToolVersion\": \"2022.1\" }},\n  \"Platform\": {{\n    \
             \"Name\": \"{PLATFORM}\",\n    \"Boards\": [ {{ \"Devices\": [ {{ \"Name\": \"{PLATFORM}\", \"DdrBanks\": [ {banks} \
             ] }} ] }} ]\n  }}\n}}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use hw::registers::ARGS;

    use super::*;

    #[test]
    fn every_port_has_a_bank_of_its_own() {
        for channels in [1, 2, 4, 8] {
            let file = Card::new(channels).xclbin();
            assert_eq!(Xclbin::read(&file.write().unwrap()), Ok(file.clone()));
            let mut users = vec![vec![]; file.memories.len()];
            for Connection { arg, ip, memory } in &file.connections {
                users[*memory as usize].push((*ip, ARGS[*arg as usize].port.unwrap()));
            }
            for users in users {
                assert!(users.iter().all(|user| *user == users[0]), "{users:?} share a bank");
            }
        }
    }

    #[test]
    fn a_port_reaches_its_bank_alone() {
        let card = Card::new(2);
        let ranges = |slr: usize, port: Port| Card::addresses(card.bank(Slr::ALL[slr], port));
        assert_eq!(ranges(0, Port::Offs), 0..1 << 30);
        assert_eq!(ranges(1, Port::Offs), 5 << 30..6 << 30);
        assert_eq!(ranges(2, Port::Out).end, card.bytes());
        assert_eq!(card.emconfig().matches("\"1G\"").count(), 15);
    }
}
