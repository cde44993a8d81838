//! What a run cannot be faster than.

use std::fmt;

use golden::HopCounts;
use hw::{PortTraffic, RunReport};
use serde::Serialize;
use sim::memory::Timing;

/// A part of the kernel that is taken for a number of cycles by what it has to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bound {
    /// Reads of indices on the index channel that has most of them.
    Idx,
    /// Reads of offset records.
    Offs,
    /// Reads, or writes, of seeds, node list and status block.
    Mem,
    /// Writes of the four outputs.
    Out,
    /// Everything that ports move which share one bank of memory, if any do.
    Bank,
    /// The stages, each of which takes one item a cycle: a seed, a node of the frontier, or an edge. Phases do not overlap.
    Pipeline,
}

impl Bound {
    /// All of them; of equal bounds the last names the run's.
    pub(crate) const ALL: [Self; 6] = [Self::Offs, Self::Mem, Self::Out, Self::Idx, Self::Bank, Self::Pipeline];

    const fn name(self) -> &'static str {
        match self {
            Self::Idx => "idx",
            Self::Offs => "offs",
            Self::Mem => "mem",
            Self::Out => "out",
            Self::Bank => "bank",
            Self::Pipeline => "pipeline",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Cycles in which the busiest stage of each phase has something to take: the hash table the seeds; then the offset fetch the
/// frontier, or what is behind it the edges.
fn stages(hops: &HopCounts) -> u64 {
    let seeds = hops.nodes.first().copied().unwrap_or(0);
    let hops = hops.nodes.iter().zip(&hops.edges);
    // Without an edge the hop's fan-out may have been 0, and nobody has looked at its frontier.
    let busiest = hops.filter(|(_, edges)| **edges > 0).map(|(&nodes, &edges)| u64::from(nodes.max(edges)));
    u64::from(seeds) + busiest.sum::<u64>()
}

/// Cycles that each part of a kernel needs at least, in the order of [`Bound::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds([u64; Bound::ALL.len()]);

impl Bounds {
    /// Of what a run has moved, with memory of these figures behind each port: bursts at one an interval, data at the bytes
    /// per cycle, whichever is slower; reads and writes of a port do not wait for one another. Only ports whose names begin
    /// like one of `shared` have one such memory together, in which nothing overlaps.
    pub(crate) fn of(run: &RunReport, timing: &Timing, shared: &[&str]) -> Self {
        let reads = |port: &PortTraffic| timing.cycles(port.reads, port.read_beats);
        let writes = |port: &PortTraffic| timing.cycles(port.writes, port.write_beats);
        let port = |name: &str| {
            let ports = run.ports.iter().filter(|port| port.port.starts_with(name));
            ports.map(|port| reads(port).max(writes(port))).max().unwrap_or(0)
        };
        let in_bank = run.ports.iter().filter(|port| shared.iter().any(|name| port.port.starts_with(name)));
        let bank = in_bank.map(|port| reads(port) + writes(port)).sum();
        Self(Bound::ALL.map(|bound| match bound {
            Bound::Bank => bank,
            Bound::Pipeline => stages(&run.hops),
            port_bound => port(port_bound.name()),
        }))
    }

    /// Adds those of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        for (cycles, more) in self.0.iter_mut().zip(other.0) {
            *cycles += more;
        }
    }

    /// Cycles that this part needs.
    pub(crate) fn cycles(&self, bound: Bound) -> u64 {
        Bound::ALL.into_iter().zip(self.0).find(|(part, _)| *part == bound).map_or(0, |(_, cycles)| cycles)
    }

    /// The largest, and its cycles.
    pub(crate) fn largest(&self) -> (Bound, u64) {
        let all = Bound::ALL.into_iter().zip(self.0);
        all.max_by_key(|&(_, cycles)| cycles).expect("there are parts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::memory::Profile;
    use std::time::Duration;

    /// Ports with single reads, write bursts and write beats.
    fn bounds(ports: &[(&'static str, u64, u64, u64)], edges: u32, profile: Profile, shared: &[&str]) -> Bounds {
        let of = |&(port, reads, writes, write_beats): &(&'static str, u64, u64, u64)| PortTraffic {
            port,
            reads,
            read_beats: reads,
            read_useful: 0,
            writes,
            write_beats,
            write_useful: 0,
        };
        let hops = HopCounts { nodes: vec![1, 1], edges: vec![edges] };
        let (ports, stages) = (ports.iter().map(of).collect(), vec![]);
        let run = RunReport { hops, elapsed: Duration::ZERO, cycles: Some(1), ports, stages };
        Bounds::of(&run, &profile.timing(), shared)
    }

    #[test]
    fn stages_take_one_item_a_cycle() {
        let of = |nodes: &[u32], edges: &[u32]| stages(&HopCounts { nodes: nodes.to_vec(), edges: edges.to_vec() });
        assert_eq!(of(&[10, 40, 50], &[100, 30]), 10 + 100 + 40);
        assert_eq!(of(&[10, 40, 0], &[100, 0]), 10 + 100);
    }

    #[test]
    fn the_slowest_part_is_the_bound() {
        let ports =
            [("offs", 10, 0, 0), ("idx0", 20, 0, 0), ("idx1", 25, 0, 0), ("mem", 5, 20, 60), ("out", 0, 12, 90)];
        let largest = |edges, profile| bounds(&ports, edges, profile, &[]).largest();
        assert_eq!(largest(70, Profile::Hbm), (Bound::Out, 120));
        assert_eq!(largest(70, Profile::Ddr4), (Bound::Idx, 100));
        assert_eq!(largest(200, Profile::Ideal), (Bound::Pipeline, 201), "one seed");
        assert_eq!(largest(89, Profile::Ideal), (Bound::Pipeline, 90), "of equal ones");
        let mut twice = bounds(&ports, 70, Profile::Hbm, &[]);
        twice.add(&twice.clone());
        assert_eq!((twice.cycles(Bound::Mem), twice.cycles(Bound::Offs)), (160, 80));
        let shared = bounds(&ports, 70, Profile::Ddr4, &["offs", "idx", "mem"]);
        assert_eq!(shared.largest(), (Bound::Bank, 4 * (10 + 20 + 25 + 5) + 80));
    }
}
