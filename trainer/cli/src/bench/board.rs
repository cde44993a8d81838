//! What is known of boards, and what a kernel would do on them.

use std::{fmt, str::FromStr};

use golden::CscGraph;
use hw::{SLRS, board, card};
use serde::Serialize;
use sim::memory::Profile;

use super::{Bound, Measured};
use pipeline::units::float;

/// Clock of the kernels in hertz.
const CLOCK: f64 = 1e6 * board::CLOCK_MHZ as f64;

/// Bytes a second from card to host over PCI Express (Gen3 x16), as `xbutil validate` reports them (XRT issue 6883): 11.9 to 12.2e9.
const PCIE: f64 = 12e9;

/// Bytes of results: row, column and edge position of each edge, the id of each node.
const EDGE_BYTES: u64 = 12;
const NODE_BYTES: u64 = 4;

/// A board with three SLRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Board {
    /// Alveo U280: 8 GB of HBM in 32 pseudo channels.
    U280,
    /// Alveo U55C: 16 GB of HBM in 32 pseudo channels.
    U55c,
    /// Alveo U200: four DDR4 channels, one of them at each kernel's SLR.
    U200,
}

/// A name that is no board's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board '{0}' is not known; there are u280, u55c and u200")]
pub(crate) struct BoardError(String);

impl Board {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::U280, Self::U55c, Self::U200];

    /// What the board has, and how the kernel is built for it.
    const fn data(self) -> &'static board::Board {
        match self {
            Self::U280 => &board::U280,
            Self::U55c => &board::U55C,
            Self::U200 => &board::U200,
        }
    }

    /// The board's name, as `--predict` takes it.
    pub(crate) const fn name(self) -> &'static str {
        self.data().name
    }

    /// Its memory's profile.
    pub(crate) const fn profile(self) -> Profile {
        match self {
            Self::U280 | Self::U55c => Profile::Hbm,
            Self::U200 => Profile::Ddr4,
        }
    }

    /// Numbers of index channels that make sense.
    pub(crate) const fn channels(self) -> &'static [usize] {
        match self {
            Self::U280 | Self::U55c => &[4, 8],
            Self::U200 => &[1],
        }
    }

    /// How the names of a kernel's ports begin that have one bank together. With 8 index channels there is no pseudo channel
    /// left for each of the others: three kernels have 33 ports.
    pub(crate) const fn shared(self, channels: usize) -> &'static [&'static str] {
        match self {
            Self::U200 => &["offs", "idx", "mem", "out"],
            Self::U280 | Self::U55c if channels > 4 => &["mem", "out"],
            Self::U280 | Self::U55c => &[],
        }
    }

    /// Bytes of a bank: of a pseudo channel, or of a DDR4 channel.
    const fn bank_bytes(self) -> u64 {
        self.data().bank_bytes
    }

    /// Whether the graph lies in its banks: a port that roams over several pseudo channels is 6 to 9 times slower (AMD's Vitis
    /// tutorial XD099).
    ///
    /// # Errors
    /// What does not fit, in a sentence.
    pub(crate) fn check_fit(self, graph: &CscGraph, channels: usize) -> Result<(), String> {
        let line = card::LINE_BYTES as u64;
        let indices = (4 * graph.edges() as u64).div_ceil(line * channels as u64) * line;
        let records = 8 * graph.nodes() as u64;
        let together = self.shared(channels).contains(&"offs");
        let needed = if together { indices + records } else { indices.max(records) };
        if needed <= self.bank_bytes() {
            return Ok(());
        }
        let (name, has) = (self.name(), self.bank_bytes());
        Err(format!("{name}: the graph needs {needed} bytes of a memory bank with {channels} channels; it has {has}"))
    }

    /// What a prediction for it takes for granted, in sentences.
    pub(crate) fn assumptions(self) -> Vec<String> {
        let mut all = match self {
            Self::U280 | Self::U55c => vec![
                "each port of a kernel has an HBM pseudo channel of its own; with 8 index channels 'mem' and 'out' share one".to_owned(),
                "a pseudo channel takes a random 64-byte read every 4 cycles (AMD XD099: 74 M/s); its latency is an estimate".to_owned(),
            ],
            Self::U200 => vec![
                "each kernel has one DDR4 channel, at its SLR, which all its ports share: one index channel".to_owned(),
                "ports in that channel cost one another its time and nothing more, what the host reads of it nothing".to_owned(),
                "a DDR4 channel takes a random 64-byte read every 4 cycles; that and its latency are estimates".to_owned(),
            ],
        };
        all.push(format!("{SLRS} kernels close timing at {:.0} MHz and sample without a pause", CLOCK / 1e6));
        all.push(format!(
            "results go to the host at {:.0} GB/s in all, {EDGE_BYTES} bytes an edge and {NODE_BYTES} a node, while the next are sampled",
            PCIE / 1e9
        ));
        all
    }
}

impl FromStr for Board {
    type Err = BoardError;

    fn from_str(text: &str) -> Result<Self, BoardError> {
        Self::ALL.into_iter().find(|board| board.name() == text).ok_or_else(|| BoardError(text.to_owned()))
    }
}

/// What sets a board's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BoardBound {
    /// Random reads of the graph.
    Memory,
    /// Node list and results, on the card.
    Writes,
    /// The kernel's stages: one item a cycle.
    Pipeline,
    /// The way to the host.
    Pcie,
}

impl fmt::Display for BoardBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Memory => "memory",
            Self::Writes => "writes",
            Self::Pipeline => "pipeline",
            Self::Pcie => "PCIe",
        })
    }
}

/// What a board would do.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Prediction {
    /// Of all kernels together, to the host.
    pub edges_per_second: f64,
    /// The same without the way to the host.
    pub kernel_edges_per_second: f64,
    /// What the way to the host would allow.
    pub pcie_edges_per_second: f64,
    /// Of one kernel.
    pub edges_per_cycle: f64,
    /// What sets the rate.
    pub bound: BoardBound,
}

impl Prediction {
    /// What the board would do, of runs that the software model has predicted for its memory.
    pub(crate) fn of(predicted: &Measured) -> Self {
        let total = &predicted.total;
        // What shares a bank is not in the model, which gives each port a memory of its own.
        let cycles = predicted.kernels.iter().map(|kernel| kernel.cycles.max(kernel.bounds.cycles(Bound::Bank)));
        // A kernel that is done early takes the next mini-batch: in the long run all are busy to the end.
        let cycles: u64 = cycles.sum();
        let kernel_seconds = float(cycles) / float(SLRS as u64) / CLOCK;
        let pcie_seconds = float(EDGE_BYTES * total.edges + NODE_BYTES * total.nodes) / PCIE;
        let seconds = kernel_seconds.max(pcie_seconds);
        let bound = if pcie_seconds >= kernel_seconds {
            BoardBound::Pcie
        } else {
            match predicted.bounds().largest().0 {
                Bound::Idx | Bound::Offs | Bound::Bank => BoardBound::Memory,
                Bound::Mem | Bound::Out => BoardBound::Writes,
                Bound::Pipeline => BoardBound::Pipeline,
            }
        };
        let rate = |seconds: f64| if seconds > 0.0 { float(total.edges) / seconds } else { 0.0 };
        Self {
            edges_per_second: rate(seconds),
            kernel_edges_per_second: rate(kernel_seconds),
            pcie_edges_per_second: rate(pcie_seconds),
            edges_per_cycle: float(total.edges) / float(cycles.max(1)),
            bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bounds, KernelCycles};
    use golden::{HopCounts, NodeId};
    use hw::{PortTraffic, RunReport};
    use pipeline::verify::SlrTotals;
    use std::time::Duration;

    fn predict(board: Board, channels: usize, nodes: u64, edges: u32, cycles: u64) -> Prediction {
        let reads = u64::from(edges);
        let ports = vec![PortTraffic {
            port: "idx0",
            reads,
            read_beats: reads,
            read_useful: 0,
            writes: 0,
            write_beats: 0,
            write_useful: 0,
        }];
        let hops = HopCounts { nodes: vec![1], edges: vec![edges] };
        let run = RunReport { hops, elapsed: Duration::ZERO, cycles: Some(cycles), ports, stages: vec![] };
        let bounds = Bounds::of(&run, &board.profile().timing(), board.shared(channels));
        let total = SlrTotals { nodes, edges: 3 * u64::from(edges), ..SlrTotals::default() };
        Prediction::of(&Measured { total, kernels: [KernelCycles { cycles, bounds }; SLRS] })
    }

    #[test]
    fn the_slowest_way_sets_the_rate() {
        let near = |rate: f64, expected: f64| assert!((rate / expected - 1.0).abs() < 1e-9, "{rate}, not {expected}");
        let slow = predict(Board::U280, 4, 0, 1000, 4000);
        near(slow.edges_per_second, 225e6);
        assert_eq!(slow.bound, BoardBound::Memory);
        // 900 M edges/s would be 10.8 GB/s and, with two nodes an edge, 18 GB/s.
        assert_eq!(predict(Board::U280, 4, 0, 1000, 1000).bound, BoardBound::Memory);
        let pcie = predict(Board::U280, 4, 6000, 1000, 1000);
        near(pcie.edges_per_second, 600e6);
        assert_eq!(pcie.bound, BoardBound::Pcie);
        near(predict(Board::U200, 1, 0, 1000, 1000).edges_per_second, 225e6);
    }

    #[test]
    fn a_graph_has_to_fit() {
        let graph = CscGraph::new(vec![0, 1], vec![NodeId::new(0)]).unwrap();
        for board in Board::ALL {
            assert_eq!(board.name().parse(), Ok(board));
            assert!(board.channels().iter().all(|&channels| board.check_fit(&graph, channels).is_ok()));
        }
        assert!("u50".parse::<Board>().is_err());
        let nodes = (256 << 20) / 8 + 1;
        let graph = CscGraph::new(vec![0; nodes + 1], vec![]).unwrap();
        assert!(Board::U280.check_fit(&graph, 4).unwrap_err().contains("268435464 bytes"));
        assert_eq!(Board::U55c.check_fit(&graph, 4), Ok(()));
    }
}
