//! How long work tells how far it is, without knowing who listens.

/// Listens to the progress of one piece of work.
pub trait Progress {
    /// `done` of `total` steps of `what` are finished (bytes, edges, iterations: whatever is counted). Called in order, at
    /// least once when the work is done (`done == total`), and not more often than some thousand times.
    fn report(&self, what: &str, done: u64, total: u64);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _what: &str, _done: u64, _total: u64) {}
}
