//! The boards that the kernel is built for, as data: what each has, and how three kernels lie on it. The link files in
//! `hw/vitis` say the same to the linker; [`crate::vitis::link`] compares the two.
//!
//! *Fact* in a comment is what a vendor's document says, which is named; *estimate* is ours.

use std::{fmt, str::FromStr};

use crate::{SLRS, card::Port, kernel_xml};

/// Above this share of an SLR, routing at 300 MHz is hard (`AutoBridge`; guides of xocc).
pub const FILL_LIMIT: f64 = 0.70;

/// A buffer object has to be smaller: from 4 GiB on, XRT cannot synchronise it (XRT issue 6131).
pub const BUFFER_LIMIT: u64 = 4 << 30;

/// Kernel clock of the shells unless told otherwise, in MHz (fact: UG1702 "Clock Information", clock 0).
pub const CLOCK_MHZ: u32 = 300;

/// What there is of each kind of cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Look-up tables.
    pub lut: u32,
    /// Flip-flops.
    pub ff: u32,
    /// Block RAMs of 36 Kbit.
    pub bram: u32,
    /// `UltraRAMs`.
    pub uram: u32,
    /// DSP slices.
    pub dsp: u32,
}

/// Kind of a board's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// DDR4 channels, each at an SLR.
    Ddr,
    /// Pseudo channels of HBM, all at SLR 0.
    Hbm,
}

/// A memory bank, as the linker names it: `DDR[1]`, `HBM[7]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bank(pub u8);

/// How the kernel is built for a board: the RTL's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelBuild {
    /// Index channels, `INDEX_CHANNELS`: 1, 2, 4 or 8.
    pub channels: usize,
    /// log2 of the hash table's slots, `TABLE_LOG2`.
    pub table_log2: u8,
    /// Registers in each AXI channel, `SLR_STAGES`.
    pub slr_stages: u8,
}

/// A board with three SLRs.
#[derive(Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name, lower case: what options take and file names contain.
    pub name: &'static str,
    /// The platform (shell) that we link for.
    pub platform: &'static str,
    /// The device, as Vivado names it.
    pub part: &'static str,
    /// What the shell leaves of each SLR.
    pub slrs: [Cells; SLRS],
    /// Kind of memory.
    pub memory: MemoryKind,
    /// Banks are numbered from 0; the SLR at which each lies.
    pub bank_slr: &'static [u8],
    /// Bytes of a bank.
    pub bank_bytes: u64,
    /// How the kernel is built. All three are of one build, so the smallest SLR decides.
    pub kernel: KernelBuild,
    /// The first bank of the kernel in each SLR. With DDR it is its only one; of HBM it has those that follow: [`Board::bank`].
    pub first_bank: [u8; SLRS],
}

/// Alveo U200. Each SLR has a DDR4 channel of its own, SLR 1 two; the shell takes half of SLR 1.
///
/// - SLRs: fact, UG1393 2023.1 "Resource Availability" (BRAM, DSP; LUT and FF within 0.1 %) and `ThunderGP`'s device files for
///   `xilinx_u200_xdma_201830_2` (URAM). Those of the newer platform that we link for were not found; the sample in UG1702
///   2025.2 leaves more.
/// - Banks and their SLRs: fact, UG1120 "DMA Configurations" (4 x 16 GB), `ThunderGP` and FINN (SLRs 0, 1, 1, 2).
/// - One index channel: a kernel has one bank, and more ports to it would not make it faster. The one case in which random
///   reads of two ports share a bank: there is no second bank in SLR 0 and SLR 2. SLR 1's second channel stays unused, as the
///   slowest kernel sets the pace, and its controller would take of the smallest SLR (estimate: 25 k LUT).
/// - 2^18 slots: 64 of SLR 1's 160 URAM; 2^19 would be 80 % of them.
/// - Two registers: the memory is in the kernel's own SLR.
pub static U200: Board = Board {
    name: "u200",
    platform: "xilinx_u200_gen3x16_xdma_2_202110_1",
    part: "xcu200-fsgd2104-2-e",
    slrs: [
        Cells { lut: 354_831, ff: 723_372, bram: 638, uram: 320, dsp: 2_265 },
        Cells { lut: 159_854, ff: 331_711, bram: 326, uram: 160, dsp: 1_317 },
        Cells { lut: 354_962, ff: 723_353, bram: 638, uram: 320, dsp: 2_265 },
    ],
    memory: MemoryKind::Ddr,
    bank_slr: &[0, 1, 1, 2],
    bank_bytes: 16 << 30,
    kernel: KernelBuild { channels: 1, table_log2: 18, slr_stages: 2 },
    first_bank: [0, 1, 3],
};

/// Alveo U280: 8 GB of HBM. Its two DDR4 channels stay unused: they are at SLR 0 and SLR 1 only.
///
/// - SLRs: fact, UG1120 as FINN quotes it.
/// - Banks: fact, UG1393 "HBM Configuration and Use" (32 pseudo channels of 256 MB, 32 AXI ports into them), all at SLR 0.
/// - Four index channels: the kernel draws 0.99 edges a cycle with them in simulation, and never more than one. With eight,
///   three kernels would have 33 masters for 32 AXI ports, and more wires across SLRs than there is need for: a master that
///   reads has some 600, so the seven of a kernel some 5,000 (estimate, from the widths of the ports).
/// - A pseudo channel for each master: random 64-byte reads come at 74 M/s within one, at 12 M/s over two (fact: AMD tutorial
///   XD099, "Random Accesses"). Each kernel has eight in a row, the last of them spare, so that neighbours are its own.
/// - 2^19 slots: 128 of 320 URAM; 2^20 would be 80 % of them.
/// - Six registers: two for each of the two borders between SLR 2 and the HBM, and one at either end (estimate; the linker adds
///   some of its own where `slr` and `sp` are given, as AMD's example `slr_assign` says). With them Yosys counts 55,592 LUT and
///   75,892 FF, 17 % and 11 % of the smallest SLR.
pub static U280: Board = Board {
    name: "u280",
    platform: "xilinx_u280_gen3x16_xdma_1_202211_1",
    part: "xcu280-fsvh2892-2L-e",
    slrs: [
        Cells { lut: 369_000, ff: 746_000, bram: 507, uram: 320, dsp: 2_733 },
        Cells { lut: 333_000, ff: 675_000, bram: 468, uram: 320, dsp: 2_877 },
        Cells { lut: 367_000, ff: 729_000, bram: 512, uram: 320, dsp: 2_880 },
    ],
    memory: MemoryKind::Hbm,
    bank_slr: &[0; 32],
    bank_bytes: 256 << 20,
    kernel: KernelBuild { channels: 4, table_log2: 19, slr_stages: 6 },
    first_bank: [0, 8, 16],
};

/// Alveo U55C: 16 GB of HBM, and no DDR.
///
/// - SLRs: estimate. No table by SLR was found; it has the die of the U280, of which the smallest SLR is taken for all.
/// - Banks: fact, UG1393 "HBM Configuration and Use" (32 pseudo channels of 512 MB).
/// - The rest is as for [`U280`].
pub static U55C: Board = Board {
    name: "u55c",
    platform: "xilinx_u55c_gen3x16_xdma_3_202210_1",
    part: "xcu55c-fsvh2892-2L-e",
    slrs: [Cells { lut: 333_000, ff: 675_000, bram: 468, uram: 320, dsp: 2_877 }; SLRS],
    bank_bytes: 512 << 20,
    memory: MemoryKind::Hbm,
    bank_slr: &[0; 32],
    kernel: KernelBuild { channels: 4, table_log2: 19, slr_stages: 6 },
    first_bank: [0, 8, 16],
};

/// The largest graph that fits a board: each may be as large as said while the other is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargestGraph {
    /// Nodes: 8 bytes each for the offset record.
    pub nodes: u64,
    /// Edges: 4 bytes each, dealt over the index channels.
    pub edges: u64,
}

impl Board {
    /// All of them.
    pub const ALL: [&'static Self; 3] = [&U200, &U280, &U55C];

    /// The ports that the kernel built for this board has.
    pub fn ports(&self) -> impl Iterator<Item = Port> {
        kernel_xml::ports(self.kernel.channels)
    }

    /// The bank to which a port of the kernel in an SLR is connected.
    ///
    /// # Panics
    /// If there is no such SLR, or the kernel lacks that port.
    pub fn bank(&self, slr: usize, port: Port) -> Bank {
        assert!(self.ports().any(|ours| ours == port), "the kernel for the {self} has no port {}", port.name());
        let channels = self.kernel.channels as u8;
        let place = match port {
            _ if self.one_bank_a_kernel() => 0,
            Port::Idx(channel) => channel,
            Port::Offs => channels,
            Port::Mem => channels + 1,
            Port::Out => channels + 2,
        };
        Bank(self.first_bank[slr] + place)
    }

    /// How the linker names a bank: `DDR[1]`, `HBM[7]`.
    pub fn bank_name(&self, bank: Bank) -> String {
        let kind = match self.memory {
            MemoryKind::Ddr => "DDR",
            MemoryKind::Hbm => "HBM",
        };
        format!("{kind}[{}]", bank.0)
    }

    /// Whether all ports of a kernel have one bank together, for want of others in its SLR.
    pub fn one_bank_a_kernel(&self) -> bool {
        self.memory == MemoryKind::Ddr
    }

    /// The largest graph that fits. Ids and positions are 31 bits wide; a buffer is smaller than [`BUFFER_LIMIT`].
    ///
    /// With that, the rest fits as well: node list (4 bytes a node), seeds and status lie on `mem`, the results on `out`.
    pub fn largest_graph(&self) -> LargestGraph {
        let buffer = self.bank_bytes.min(BUFFER_LIMIT - 4096);
        let most = u64::from(i32::MAX.unsigned_abs());
        LargestGraph { nodes: (buffer / 8).min(most), edges: (buffer / 4 * self.kernel.channels as u64).min(most) }
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.to_uppercase())
    }
}

/// A name that is no board's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board '{0}' is not known; there are U200, U280 and U55C")]
pub struct UnknownBoard(String);

impl FromStr for &'static Board {
    type Err = UnknownBoard;

    /// Upper or lower case.
    fn from_str(text: &str) -> Result<Self, UnknownBoard> {
        let found = Board::ALL.into_iter().find(|board| board.name.eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownBoard(text.to_owned()))
    }
}

impl KernelBuild {
    /// `UltraRAMs` of the hash table: rows of four slots of 72 bits, and 4,096 words of 72 bits in each.
    pub const fn table_urams(self) -> u32 {
        (1 << self.table_log2) / 4096
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// LUT and FF that registers in the AXI channels take beyond the recorded two, at most: two flip-flops and less for each bit.
    fn registers(board: &Board) -> u32 {
        let bits: u32 = board.ports().flat_map(crate::vitis::pins::master).map(|pin| pin.bits).sum();
        2 * bits * u32::from(board.kernel.slr_stages).saturating_sub(2)
    }

    /// A number out of `hw/rtl/size.json`, what Yosys makes of the kernel with four channels and 2^19 slots.
    fn recorded(kind: &str) -> u32 {
        let record = include_str!("../rtl/size.json");
        let (_, rest) = record.split_once(&format!("\"{kind}\": ")).unwrap();
        rest.split([',', '\n']).next().unwrap().parse().unwrap()
    }

    #[test]
    fn the_kernel_leaves_room_in_every_slr() {
        let largest = KernelBuild { channels: 4, table_log2: 19, slr_stages: 2 };
        assert_eq!(recorded("URAM"), largest.table_urams());
        let fits = |needed: u32, has: u32| f64::from(needed) <= FILL_LIMIT * f64::from(has);
        for board in Board::ALL {
            for (slr, cells) in board.slrs.into_iter().enumerate() {
                let needed = [
                    (recorded("LUT") + registers(board), cells.lut),
                    (recorded("FF") + registers(board), cells.ff),
                    (recorded("BRAM"), cells.bram),
                    (recorded("DSP"), cells.dsp),
                    (board.kernel.table_urams(), cells.uram),
                ];
                assert!(needed.into_iter().all(|(needed, has)| fits(needed, has)), "{board} SLR{slr}: {needed:?}");
            }
            // And the table is the largest for which this holds.
            let larger = KernelBuild { table_log2: board.kernel.table_log2 + 1, ..board.kernel };
            let smallest = board.slrs.iter().map(|slr| slr.uram).min().unwrap();
            assert!(!fits(larger.table_urams(), smallest), "{board} has room for a larger table");
        }
    }

    #[test]
    fn the_synthesis_script_has_the_same_budgets() {
        let script = include_str!("../../.setup/rtl_synth.py");
        let (_, budgets) = script.split_once("BUDGETS = {").unwrap();
        let (budgets, _) = budgets.split_once('}').unwrap();
        let lines: HashSet<&str> = budgets.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut ours = HashSet::new();
        for board in Board::ALL {
            for (slr, Cells { lut, ff, bram, uram, dsp }) in board.slrs.into_iter().enumerate() {
                // The estimate for the U55C stands there once.
                let label =
                    if board.name == "u55c" { "U55C (as U280 SLR1)".into() } else { format!("{board} SLR{slr}") };
                let digits = |n: u32| match (n / 1000, n % 1000) {
                    (0, rest) => rest.to_string(),
                    (thousands, rest) => format!("{thousands}_{rest:03}"),
                };
                let cells = [lut, ff, bram, uram, dsp].map(digits).join(", ");
                ours.insert(format!("\"{label}\": ({cells}),"));
            }
        }
        assert_eq!(lines, ours.iter().map(String::as_str).collect());
    }

    #[test]
    fn random_reads_have_banks_of_their_own() {
        for board in Board::ALL {
            let mut seen = HashSet::new();
            for slr in 0..SLRS {
                let banks: Vec<Bank> = board.ports().map(|port| board.bank(slr, port)).collect();
                assert!(banks.iter().all(|bank| usize::from(bank.0) < board.bank_slr.len()));
                if board.one_bank_a_kernel() {
                    let at = usize::from(board.bank_slr[usize::from(banks[0].0)]);
                    assert!(at == slr && banks.iter().all(|&bank| bank == banks[0]), "{board} SLR{slr}");
                    assert!(seen.insert(banks[0]));
                } else {
                    assert!(banks.into_iter().all(|bank| seen.insert(bank)), "{board} SLR{slr}");
                }
            }
        }
    }

    #[test]
    fn the_largest_graph_is_what_its_buffers_hold() {
        let sizes = Board::ALL.map(|board| (board.largest_graph().nodes, board.largest_graph().edges));
        assert_eq!(
            sizes,
            [
                ((1 << 29) - 512, (1 << 30) - 1024), // a buffer short of 4 GiB by a page
                (1 << 25, 1 << 28),
                (1 << 26, 1 << 29),
            ]
        );
        for board in Board::ALL {
            let LargestGraph { nodes, edges } = board.largest_graph();
            let a_kernel = 8 * nodes + 4 * edges + 4 * nodes;
            assert!(!board.one_bank_a_kernel() || a_kernel < board.bank_bytes, "{board}");
            assert!(4 * nodes < board.bank_bytes, "{board}: the node list");
        }
    }

    #[test]
    fn names_are_read_in_either_case() {
        for board in Board::ALL {
            assert_eq!(board.name.parse::<&Board>().unwrap(), board);
            assert_eq!(board.to_string().parse::<&Board>().unwrap(), board);
        }
        assert_eq!(
            "u50".parse::<&Board>().unwrap_err().to_string(),
            "board 'u50' is not known; there are U200, U280 and U55C"
        );
    }
}
