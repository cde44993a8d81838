//! A switch that ends pipelines from outside.

use std::sync::{Arc, Weak};

use super::Table;
use crate::sync::{Mutex, lock};

/// A switch, for the thread of a signal handler perhaps; clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Mutex<Switch>>);

/// What became of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// A pipeline ends by it.
    Told,
    /// There has been no pipeline yet; the next one ends at once.
    Early,
    /// Every pipeline had ended by itself.
    Over,
    /// The switch had been thrown before.
    Again,
}

#[derive(Debug, Default)]
struct Switch {
    thrown: bool,
    /// There has been a pipeline.
    seen: bool,
    pipelines: Vec<Weak<Table>>,
}

impl Stop {
    /// Every pipeline that has this switch returns [`super::PipelineError::Stopped`] from now on, at once also to who waits in
    /// it. Returns what became of it.
    pub fn stop(&self) -> Stopping {
        let mut switch = lock(&self.0);
        let first = !std::mem::replace(&mut switch.thrown, true);
        let running: Vec<_> = switch.pipelines.iter().filter_map(Weak::upgrade).collect();
        running.iter().for_each(|table| table.stop());
        match (first, running.is_empty(), switch.seen) {
            (false, ..) => Stopping::Again,
            (true, false, _) => Stopping::Told,
            (true, true, false) => Stopping::Early,
            (true, true, true) => Stopping::Over,
        }
    }

    pub(super) fn watch(&self, table: &Arc<Table>) {
        let mut switch = lock(&self.0);
        switch.pipelines.retain(|table| table.strong_count() > 0);
        switch.seen = true;
        switch.pipelines.push(Arc::downgrade(table));
        if switch.thrown {
            table.stop();
        }
    }
}
