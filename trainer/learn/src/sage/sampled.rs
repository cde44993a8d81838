//! A sampled mini-batch as tensors.

use golden::{Buffer, HopCounts, SubGraph};
use tch::Tensor;

/// A sampled mini-batch: int32 tensors, perhaps over memory that is lent.
///
/// Tensors are counted references to their memory, and what is derived from these with `narrow` and the like shares it; results
/// of computations are memory of their own. Who lends memory watches that no reference is kept
/// ([`TorchAccelerator::compute`](crate::accelerator::TorchAccelerator::compute)).
#[derive(Debug)]
pub struct Sampled {
    samples: Tensor,
    rows: Tensor,
    cols: Tensor,
    /// Nodes of hops 0 to h.
    nodes: Vec<i64>,
    /// Edges of hops 1 to h; 0 for h = 0.
    edges: Vec<i64>,
}

impl Sampled {
    /// A copy of a sub-graph that lies elsewhere.
    pub fn copied(sub: &SubGraph) -> Self {
        let tensor = |buffer| Tensor::from_slice(sub.buffer(buffer));
        Self::new([Buffer::Samples, Buffer::Rows, Buffer::Cols].map(tensor), &sub.hops)
    }

    /// `samples`, `rows` and `cols`, whose valid elements are these.
    pub(crate) fn new([samples, rows, cols]: [Tensor; 3], hops: &HopCounts) -> Self {
        let cumulated = |counts: &[u32], first: Option<i64>| {
            let sums = counts.iter().scan(0, |sum, &count| {
                *sum += i64::from(count);
                Some(*sum)
            });
            first.into_iter().chain(sums).collect()
        };
        let (nodes, edges) = (cumulated(&hops.nodes, None), cumulated(&hops.edges, Some(0)));
        Self { samples, rows, cols, nodes, edges }
    }

    /// Hops, which is how many layers a model has for it.
    pub fn hops(&self) -> usize {
        self.edges.len() - 1
    }

    /// Seed nodes: the first of `samples`.
    pub fn seeds(&self) -> i64 {
        self.nodes_within(0)
    }

    /// Nodes that were first seen in the first `hops` hops; they come first in `samples`.
    pub fn nodes_within(&self, hops: usize) -> i64 {
        self.nodes.get(hops).copied().unwrap_or(0)
    }

    /// Edges of the first `hops` hops; they come first in `rows` and `cols`.
    pub fn edges_within(&self, hops: usize) -> i64 {
        self.edges[hops]
    }

    /// Global ids of the nodes, int32.
    pub fn samples(&self) -> &Tensor {
        &self.samples
    }

    /// Source of each edge as an index into `samples`, int32.
    pub fn rows(&self) -> &Tensor {
        &self.rows
    }

    /// Destination of each edge as an index into `samples`, int32, in ascending order.
    pub fn cols(&self) -> &Tensor {
        &self.cols
    }

    /// Those of `table`'s elements, one for each node of the graph, that belong to the seed nodes.
    ///
    /// # Errors
    /// What libtorch says.
    pub fn of_seeds(&self, table: &Tensor) -> super::Result<Tensor> {
        table.f_index_select(0, &self.samples.f_narrow(0, 0, self.seeds())?)
    }
}
