//! What a model says of every node, with all of its in-neighbours.

use std::ops::Range;

use golden::CscGraph;
use tch::Tensor;

use super::{Model, Result, fast};
use pipeline::ledger::{Direction, Ledger};

/// Nodes and edges that are worked on at a time, at the most; a node with more edges is worked on alone.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
}

impl Default for Chunk {
    /// Some ten megabytes of indices.
    fn default() -> Self {
        Self { nodes: 1 << 16, edges: 1 << 21 }
    }
}

/// Logits of all nodes, `[nodes, classes]`: layer by layer, each for all nodes, a chunk of nodes at a time. `features` is
/// `[nodes, columns]`. Nothing is drawn, and nothing is remembered for gradients. Indices cross the bus for each layer, which is
/// entered in the ledger.
///
/// # Errors
/// What libtorch says.
pub fn logits(model: &Model, features: &Tensor, graph: &CscGraph, chunk: Chunk, ledger: &Ledger) -> Result<Tensor> {
    tch::no_grad(|| {
        let mut x = features.shallow_clone();
        for (i, layer) in model.layers().iter().enumerate() {
            let nodes = graph.nodes() as i64;
            let out = Tensor::f_empty([nodes, layer.bias.size1()?], (Model::KIND, x.device()))?;
            for range in chunks(graph.indptr(), chunk) {
                let (first, len) = (range.start as i64, range.len() as i64);
                let part = layer.apply(&means(&x, graph, range, ledger)?, &x.f_narrow(0, first, len)?)?;
                out.f_narrow(0, first, len)?.f_copy_(&part)?;
            }
            x = if i + 1 < model.layers().len() { fast::activate(&out, None)? } else { out };
        }
        Ok(x)
    })
}

/// For each node of a range the mean of all its in-neighbours' rows of `x`.
fn means(x: &Tensor, graph: &CscGraph, range: Range<usize>, ledger: &Ledger) -> Result<Tensor> {
    let indptr = &graph.indptr()[range.start..=range.end];
    let (first, last) = (indptr[0], indptr[range.len()]);
    let sources: Vec<i32> =
        graph.indices()[first as usize..last as usize].iter().map(|node| node.get().cast_signed()).collect();
    let firsts: Vec<i32> = indptr[..range.len()].iter().map(|&edge| (edge - first).cast_signed()).collect();
    let upload = |ids: &[i32]| {
        ledger.cross(Direction::Up, "indices of the whole graph", size_of_val(ids));
        Tensor::f_from_slice(ids)?.f_to_device(x.device())
    };
    fast::means(x, &upload(&sources)?, &upload(&firsts)?)
}

/// Consecutive ranges of all nodes.
fn chunks(indptr: &[u32], chunk: Chunk) -> impl Iterator<Item = Range<usize>> {
    let nodes = indptr.len() - 1;
    let mut begin = 0;
    std::iter::from_fn(move || {
        (begin < nodes).then(|| {
            let most = u64::from(indptr[begin]) + chunk.edges as u64;
            let fits = indptr[begin + 1..=nodes.min(begin + chunk.nodes.max(1))]
                .partition_point(|&end| u64::from(end) <= most);
            let range = begin..begin + fits.max(1);
            begin = range.end;
            range
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_keep_to_the_limits_where_a_node_does() {
        let indptr = [0, 3, 3, 10, 11, 12];
        let of = |nodes, edges| {
            let ends = chunks(&indptr, Chunk { nodes, edges }).map(|range| (range.start, range.end));
            ends.collect::<Vec<_>>()
        };
        assert_eq!(of(9, 99), [(0, 5)]);
        assert_eq!(of(2, 99), [(0, 2), (2, 4), (4, 5)]);
        assert_eq!(of(9, 4), [(0, 2), (2, 3), (3, 5)]);
        assert_eq!(of(9, 0), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
        assert_eq!(chunks(&[0], Chunk::default()).count(), 0);
    }
}
