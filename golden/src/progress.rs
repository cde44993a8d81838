//! How long work tells how far it is, and what should be known about it, without knowing who listens.

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

/// Passes on about a thousand of the steps it is told.
pub struct Meter<'a> {
    progress: &'a dyn Progress,
    what: &'a str,
    total: u64,
    next: u64,
}

impl<'a> Meter<'a> {
    /// For `total` steps of `what`.
    pub fn new(progress: &'a dyn Progress, what: &'a str, total: u64) -> Self {
        Self { progress, what, total, next: 0 }
    }

    /// `done` steps are finished; never fewer than the time before.
    #[inline]
    pub fn at(&mut self, done: u64) {
        if done >= self.next {
            self.progress.report(self.what, done.min(self.total), self.total);
            self.next = done + self.total / 1000 + 1;
        }
    }

    /// All steps are finished.
    pub fn finish(self) {
        self.progress.report(self.what, self.total, self.total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[derive(Default)]
    struct Heard(RefCell<Vec<(u64, u64)>>);

    impl Progress for Heard {
        fn report(&self, _what: &str, done: u64, total: u64) {
            self.0.borrow_mut().push((done, total));
        }
    }

    #[test]
    fn a_meter_passes_on_some_steps_in_order_and_the_end() {
        for total in [0, 1, 999, 123_456] {
            let heard = Heard::default();
            let mut meter = Meter::new(&heard, "steps", total);
            (0..total).for_each(|done| meter.at(done));
            meter.finish();
            let heard = heard.0.into_inner();
            assert!(heard.len() <= 1001 && heard.is_sorted(), "{total}");
            assert_eq!(heard.last(), Some(&(total, total)));
        }
    }
}
