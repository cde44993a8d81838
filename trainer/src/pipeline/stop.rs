//! A switch that ends pipelines from outside.

use std::sync::{Arc, Weak};

use super::Table;
use crate::sync::{Mutex, lock};

/// A switch, for the thread of a signal handler perhaps; clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Mutex<Switch>>);

#[derive(Debug, Default)]
struct Switch {
    thrown: bool,
    pipelines: Vec<Weak<Table>>,
}

impl Stop {
    /// Every pipeline that has this switch returns [`super::PipelineError::Stopped`] from now on, at once also to who waits in
    /// it. Returns whether there was one, and the switch had not been thrown before.
    pub fn stop(&self) -> bool {
        let mut switch = lock(&self.0);
        let first = !std::mem::replace(&mut switch.thrown, true);
        let running: Vec<_> = switch.pipelines.iter().filter_map(Weak::upgrade).collect();
        running.iter().for_each(|table| table.stop());
        first && !running.is_empty()
    }

    pub(super) fn watch(&self, table: &Arc<Table>) {
        let mut switch = lock(&self.0);
        switch.pipelines.retain(|table| table.strong_count() > 0);
        switch.pipelines.push(Arc::downgrade(table));
        if switch.thrown {
            table.stop();
        }
    }
}
