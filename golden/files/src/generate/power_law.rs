//! Graphs with degrees by a power law: an edge-wise form of the model of Chung and Lu ("Connected Components in Random
//! Graphs with Given Expected Degree Sequences", Annals of Combinatorics 6, 2002).
//!
//! The node of rank i has weight `(i + offset)^(-1 / (exponent - 1))`, so that the number of nodes of degree d falls as
//! `d^-exponent`; `offset` bounds the largest. The ends of an edge are drawn by weight. The graph is simple and has both
//! directions of each edge: its edges are the first E / 2 distinct pairs of distinct nodes in an endless row of draws. Those
//! that a hub loses to parallel edges make its degree a little smaller than its weight says.

use std::ops::RangeInclusive;

use super::{Pair, Purpose, alias::Alias, graph, shuffled_ids};
use golden::{CscGraph, ID_MAX, Meter, Progress};

/// A power law with at most [`Law::most_pairs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Law {
    pub(super) nodes: u32,
    /// Undirected edges; half of the directed ones.
    pub(super) pairs: u32,
    /// In hundredths.
    pub(super) exponent: u32,
    pub(super) offset: u32,
}

/// Exponents in hundredths. At 2 the few heaviest nodes would have nearly all the weight.
pub(super) const EXPONENTS: RangeInclusive<u64> = 210..=500;

/// The offset where no shape says one.
pub(super) const FREE_OFFSET: u32 = 10;

impl Law {
    /// The most undirected edges that are taken: a quarter of the pairs of nodes, for beyond it new pairs are found ever
    /// more slowly.
    pub(super) fn most_pairs(&self) -> u32 {
        let nodes = u64::from(self.nodes);
        (nodes * nodes.saturating_sub(1) / 8).min(u64::from(ID_MAX / 2)) as u32
    }
}

pub(super) fn generate(law: &Law, seed: u64, progress: &dyn Progress) -> CscGraph {
    let pairs = draw_pairs(law, seed, progress);
    // Both runs ascend within a destination, and the sources of the first are below it, those of the second above.
    let ascending = pairs.iter().map(|pair| pair.ids());
    let descending = pairs.iter().map(|pair| pair.ids()).map(|(low, high)| (high, low));
    graph(law.nodes, ascending.chain(descending))
}

/// The edges, each as its smaller and its larger id, ascending.
fn draw_pairs(law: &Law, seed: u64, progress: &dyn Progress) -> Vec<Pair> {
    let ids = shuffled_ids(law.nodes, seed);
    let mut weights = vec![0.0; ids.len()];
    let alpha = 100.0 / f64::from(law.exponent - 100);
    for (&id, rank) in ids.iter().zip(0..) {
        weights[id as usize] = 1.0 / power(f64::from(rank) + f64::from(law.offset), alpha);
    }
    let alias = Alias::new(&weights, ids[0]);
    drop((ids, weights));

    let mut words = Purpose::Edges.words(seed);
    let mut pair = || {
        loop {
            let (a, b) = (alias.draw(|| words.next_word()), alias.draw(|| words.next_word()));
            if a != b {
                return Pair::new(a.min(b), a.max(b));
            }
        }
    };
    let total = law.pairs as usize;
    let mut meter = Meter::new(progress, "drawing edges", total as u64);
    let mut pairs: Vec<Pair> = Vec::with_capacity(total);
    while pairs.len() < total {
        let known = pairs.len();
        for drawn in 1..=total - known {
            pairs.push(pair());
            if known == 0 {
                meter.at(drawn as u64 - 1);
            }
        }
        pairs[known..].sort_unstable();
        // Two runs that ascend are merged in one pass by the stable sort.
        pairs.sort();
        pairs.dedup();
    }
    meter.finish();
    pairs
}

/// `x` to the power `exponent`, which is at least 0 and below 1: the product of the roots `x^(1/2)`, `x^(1/4)`, ... that
/// the binary digits of the exponent name. Square roots and products are rounded exactly by IEEE 754, and so the same
/// everywhere; `f64::powf` is not.
fn power(x: f64, exponent: f64) -> f64 {
    const DIGITS: usize = 40;
    let (mut root, mut digits, mut product) = (x, exponent, 1.0);
    for _ in 0..DIGITS {
        root = root.sqrt();
        digits *= 2.0;
        if digits >= 1.0 {
            digits -= 1.0;
            product *= root;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers() {
        for (x, exponent) in [(1.0, 0.7), (2.0, 0.5), (10.0, 0.77), (2_449_029.0, 1.0 / 1.3), (7.0, 0.0)] {
            let relative = power(x, exponent) / f64::powf(x, exponent) - 1.0;
            assert!(relative.abs() < 1e-10, "{x}^{exponent}: {relative}");
        }
        assert_eq!(power(3.0, 0.5).to_bits(), 3f64.sqrt().to_bits());
    }
}
