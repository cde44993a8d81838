//! Graphs whose arcs are drawn one by one, independently: parallel arcs and self-loops come as they may.

use super::{Purpose, from_arcs, shuffled_ids};
use golden::{CscGraph, Progress, draw};

/// Both ends of each arc uniform.
pub(super) fn uniform(nodes: u32, edges: u32, seed: u64, progress: &dyn Progress) -> CscGraph {
    let mut words = Purpose::Edges.words(seed);
    let mut node = || draw(nodes, || words.next_word());
    from_arcs(nodes, edges, || (node(), node()), progress)
}

/// R-MAT (Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004): the adjacency matrix is
/// quartered `scale` times, and the arc falls into a quarter with the chances below, without noise. `2^scale` nodes.
pub(super) fn rmat(scale: u32, edges: u32, seed: u64, progress: &dyn Progress) -> CscGraph {
    // In per cent, for the bits (row, column): A is 00, B is 01, C is 10, and the rest, 5, is 11.
    const A: u32 = 57;
    const B: u32 = 19;
    const C: u32 = 19;
    let ids = shuffled_ids(1 << scale, seed);
    let mut words = Purpose::Edges.words(seed);
    let arc = || {
        let (mut row, mut column) = (0, 0);
        for _ in 0..scale {
            let quarter = draw(100, || words.next_word());
            row = row << 1 | u32::from(quarter >= A + B);
            column = column << 1 | u32::from((A..A + B).contains(&quarter) || quarter >= A + B + C);
        }
        (ids[row as usize], ids[column as usize])
    };
    from_arcs(1 << scale, edges, arc, progress)
}

/// Many parallel arcs and self-loops: on average [`MULTI_DEGREE`] arcs a node, each into a uniform node v from one of v,
/// v + 1 and v + 2 (modulo N).
pub(super) fn multi(nodes: u32, seed: u64, progress: &dyn Progress) -> CscGraph {
    let mut words = Purpose::Edges.words(seed);
    let arc = || {
        let destination = draw(nodes, || words.next_word());
        let source = (destination + draw(3, || words.next_word())) % nodes;
        (source, destination)
    };
    from_arcs(nodes, nodes * MULTI_DEGREE, arc, progress)
}

/// Arcs for each node of [`multi`].
pub(super) const MULTI_DEGREE: u32 = 8;
