//! The processor itself: all work is done at once, in host memory.

use std::sync::Arc;

use hw::{HostMemory, MemorySpace, OutputMemory, Slr};

use super::{Accelerator, Comparison, Record, Result, VERDICT_ELEMENTS, check_length, compare_elements};
use crate::ledger::{Direction, Ledger};

/// Consumes in host memory, on the thread that asks for it. Streams and events are there in name alone: whatever they would
/// order has been done when a call returns.
#[derive(Clone, Debug, Default)]
pub struct HostAccelerator {
    ledger: Ledger,
}

impl HostAccelerator {
    /// Counts its transfers in `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self { ledger }
    }
}

impl Accelerator for HostAccelerator {
    type Buffer = Arc<HostMemory>;
    type Stream = ();
    type Event = ();

    fn describe(&self) -> String {
        "host memory".to_owned()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn allocate(&self, _: String, len: usize) -> Result<Self::Buffer> {
        Ok(Arc::new(HostMemory::new(len)))
    }

    fn pin(&self, _: String, memory: &Arc<HostMemory>, _: MemorySpace) -> Result<Self::Buffer> {
        Ok(Arc::clone(memory))
    }

    fn export_space(&self) -> Result<MemorySpace, String> {
        Ok(MemorySpace::Host)
    }

    fn export(&self, buffer: &Self::Buffer) -> Result<OutputMemory> {
        Ok(OutputMemory::Host(Arc::clone(buffer)))
    }

    fn stream(&self, _: String) -> Result<()> {
        Ok(())
    }

    fn record(&self, &(): &()) -> Result<()> {
        Ok(())
    }

    fn wait(&self, &(): &(), &(): &()) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self, &(): &()) -> Result<()> {
        Ok(())
    }

    fn then(&self, &(): &(), f: Box<dyn FnOnce() + Send>) -> Result<()> {
        f();
        Ok(())
    }

    fn fill(&self, &(): &(), site: &'static str, buffer: &Self::Buffer, len: usize, value: i32) -> Result<()> {
        check_length(site, &"a buffer", len, buffer.len())?;
        self.ledger.launch(site, len);
        buffer.fill_range(0..len, value);
        Ok(())
    }

    fn copy(
        &self,
        &(): &(),
        (direction, site): (Direction, &'static str),
        from: &Self::Buffer,
        to: &Self::Buffer,
        len: usize,
    ) -> Result<()> {
        check_length(site, &"its source", len, from.len())?;
        check_length(site, &"its destination", len, to.len())?;
        self.ledger.cross(direction, site, len * size_of::<i32>());
        to.copy_from(from, len);
        Ok(())
    }

    fn download(&self, &(): &(), site: &'static str, from: &Self::Buffer, len: usize) -> Result<Vec<i32>> {
        check_length(site, &"a buffer", len, from.len())?;
        self.ledger.cross(Direction::Down, site, len * size_of::<i32>());
        Ok(from.to_vec(0..len))
    }

    fn compare(&self, &(): &(), site: &'static str, work: &Comparison<'_, Self::Buffer>) -> Result<()> {
        let &Comparison { found, expected, len, verdict, record, iteration } = work;
        check_length(site, &"what was found", len, found.len())?;
        check_length(site, &"what is expected", len, expected.len())?;
        check_length(site, &"the verdict", (record + 1) * VERDICT_ELEMENTS, verdict.len())?;
        self.ledger.launch(site, len);
        compare_elements(found, expected, len, Record { verdict, number: record, iteration });
        Ok(())
    }

    fn card_begins(&self, _: Slr, _: &[Self::Buffer]) -> Result<()> {
        Ok(())
    }

    fn card_ended(&self, _: Slr) {}

    fn check(&self) -> Result<()> {
        Ok(())
    }
}
