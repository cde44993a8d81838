//! What is sampled, bit for bit: the graph, the request, the sub-graph, the draw, and the reference sampler.
//!
//! Everything else in trisage (software model, RTL, card) is compared with [`sample`]. It is one plain reading of the
//! sampling contract (`golden/CONTRACT.md`), without threads, unsafe code or tricks for speed.

#![forbid(unsafe_code)]

mod arcs;
mod draw;
mod graph;
mod id;
mod progress;
mod request;
mod sampler;
mod subgraph;

pub use draw::{Words, draw, shuffle};
pub use graph::{CscGraph, GraphError};
pub use id::{EdgePos, ID_MAX, LocalId, NodeId};
pub use progress::{Meter, Progress, Silent};
pub use request::{Capacity, Fanout, FanoutError, Limits, Request, RequestError};
pub use sampler::{LIMITS, Overflow, Resource, SampleError, sample};
pub use subgraph::{Buffer, HopCounts, SubGraph};
