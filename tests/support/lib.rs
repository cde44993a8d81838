//! What tests share: the back ends, small graphs, files in formats of others, and one run that is checked to the last
//! element.

mod backends;
mod bench;
pub mod files;
mod graphs;
mod learnable;
mod property;
mod vectors;

pub use backends::{model, rtl, rtl_options, rtl_options_for_large_graphs, xrt};
pub use bench::{Bench, Outcome, request};
pub use graphs::{cora, from_arcs, hexagon, random_multigraph, star};
pub use learnable::learnable;
pub use property::Property;
pub use vectors::{Vector, digest, vectors_in};
