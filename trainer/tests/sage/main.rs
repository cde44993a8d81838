//! GraphSAGE: its formulations against each other and against PyTorch Geometric, and its training.

mod forward;
mod optimizer;
mod support;
mod vectors;
