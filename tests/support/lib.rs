//! What the tests of all back ends share: the back ends, small graphs, and one run that is checked to the last element.

mod backends;
mod bench;
mod graphs;
mod vectors;

pub use backends::{model, rtl, rtl_options, rtl_options_for_large_graphs, xrt};
pub use bench::{Bench, Outcome, request};
pub use graphs::{cora, from_arcs, hexagon, random_multigraph, star};
pub use test_support::Property;
pub use vectors::{Vector, digest, vectors_in};
