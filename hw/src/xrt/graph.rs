//! The graph in the card's memory.

use std::{collections::HashMap, sync::Arc};

use golden::{CscGraph, Progress};
use zerocopy::IntoBytes;

use super::{
    CHUNK_BYTES, MAX_BUFFER_BYTES,
    bo::CardBuffer,
    device::{Placed, Run},
};
use crate::{
    DeviceError,
    card::{self, LINE_BYTES, LINE_ELEMENTS, OffsetRecord},
    registers::id_of,
};

const ELEMENT: u64 = size_of::<i32>() as u64;

/// What one kernel has of the graph.
pub(super) struct LoadedGraph {
    /// Buffers by argument id. Those that are only read are shared between kernels that reach the same memory.
    buffers: Vec<(usize, Arc<CardBuffer>)>,
}

impl LoadedGraph {
    pub(super) fn buffers(&self) -> impl Iterator<Item = (usize, &dyn Placed)> {
        self.buffers.iter().map(|(id, buffer)| (*id, &**buffer as &dyn Placed))
    }
}

/// One array of the graph in one memory group.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Array {
    Offsets,
    Indices { channel: usize, channels: usize },
}

/// Puts the graph into the memory of all kernels.
pub(super) struct Upload<'a> {
    graph: &'a CscGraph,
    progress: &'a dyn Progress,
    done: u64,
    total: u64,
    there: HashMap<(u32, Array), Arc<CardBuffer>>,
}

impl<'a> Upload<'a> {
    /// # Errors
    /// What does not fit; nothing was done then.
    pub(super) fn new(graph: &'a CscGraph, runs: &[&Run], progress: &'a dyn Progress) -> Result<Self, DeviceError> {
        let mut upload = Self { graph, progress, done: 0, total: 0, there: HashMap::new() };
        let mut counted = HashMap::new();
        for run in runs {
            let node_list = graph.nodes() as u64 * ELEMENT;
            fits("the node list", node_list, run.kernel.bank_bytes(id_of("node_list")))?;
            for (argument, array) in arrays(run) {
                let bytes = upload.bytes(array);
                fits(array.what(), bytes, run.kernel.bank_bytes(argument))?;
                counted.insert((run.kernel.group(argument)?, array), bytes);
            }
        }
        upload.total = counted.values().sum();
        Ok(upload)
    }

    /// Bytes of an array: whole lines.
    fn bytes(&self, array: Array) -> u64 {
        match array {
            Array::Offsets => (self.graph.nodes() * size_of::<OffsetRecord>()).next_multiple_of(LINE_BYTES) as u64,
            Array::Indices { channel, channels } => {
                let lines = self.graph.edges().div_ceil(LINE_ELEMENTS);
                ((lines + channels - 1 - channel) / channels * LINE_BYTES) as u64
            }
        }
    }

    /// Gives a kernel its part.
    pub(super) fn load(&mut self, run: &Run) -> Result<LoadedGraph, DeviceError> {
        let slr = run.kernel.slr;
        let mut buffers = vec![];
        for (argument, array) in arrays(run) {
            let group = run.kernel.group(argument)?;
            let buffer = match self.there.get(&(group, array)) {
                Some(buffer) => Arc::clone(buffer),
                None => self.put(run, argument, array, group)?,
            };
            self.there.insert((group, array), Arc::clone(&buffer));
            buffers.push((argument, buffer));
        }
        // The kernel writes it before it reads it.
        let argument = id_of("node_list");
        let bytes = self.graph.nodes() * size_of::<i32>();
        let list = CardBuffer::new(
            &run.kernel.device,
            &format!("the node list of {slr}"),
            bytes,
            run.kernel.group(argument)?,
        )?;
        run.kernel.check_bank(argument, &list)?;
        list.clear()?;
        buffers.push((argument, Arc::new(list)));
        Ok(LoadedGraph { buffers })
    }

    fn put(&mut self, run: &Run, argument: usize, array: Array, group: u32) -> Result<Arc<CardBuffer>, DeviceError> {
        let what = format!("{} of {}", array.what(), run.kernel.slr);
        let buffer = CardBuffer::new(&run.kernel.device, &what, self.bytes(array) as usize, group)?;
        run.kernel.check_bank(argument, &buffer)?;
        let mut writer = Writer { buffer: &buffer, chunk: Vec::with_capacity(CHUNK_BYTES), at: 0 };
        let graph = self.graph;
        match array {
            Array::Offsets => {
                for record in card::offset_records(graph) {
                    self.done += writer.push(record.as_bytes())?;
                    self.tell(writer.chunk.is_empty());
                }
            }
            Array::Indices { channel, channels } => {
                for line in card::dealt_indices(graph, channel, channels) {
                    for node in line {
                        self.done += writer.push(&node.get().to_le_bytes())?;
                    }
                    self.tell(writer.chunk.is_empty());
                }
            }
        }
        self.done += writer.end()?;
        self.tell(true);
        Ok(Arc::new(buffer))
    }

    fn tell(&self, moved: bool) {
        if moved && self.done > 0 {
            self.progress.report("bytes written to the card", self.done.min(self.total), self.total);
        }
    }

    /// Everything is there.
    pub(super) fn end(self) {
        self.progress.report("bytes written to the card", self.total, self.total);
    }
}

impl Array {
    fn what(self) -> &'static str {
        match self {
            Self::Offsets => "the offset records",
            Self::Indices { .. } => "the indices of a channel",
        }
    }
}

/// The arrays that a kernel reads, with the arguments for them.
fn arrays(run: &Run) -> impl Iterator<Item = (usize, Array)> {
    let channels = run.kernel.channels;
    let indices = (0..channels).map(move |channel| (id_of("indices0") + channel, Array::Indices { channel, channels }));
    std::iter::once((id_of("offsets"), Array::Offsets)).chain(indices)
}

fn fits(what: &'static str, needed: u64, bank: u64) -> Result<(), DeviceError> {
    if needed >= MAX_BUFFER_BYTES {
        return Err(DeviceError::GraphTooLarge {
            what,
            needed,
            available: MAX_BUFFER_BYTES - 1,
            owner: "a buffer of XRT",
        });
    }
    if needed > bank {
        return Err(DeviceError::GraphTooLarge { what, needed, available: bank, owner: "the memory bank of the card" });
    }
    Ok(())
}

/// Writes small pieces as large ones. The last line is filled up with 0, as the kernel reads whole lines.
struct Writer<'a> {
    buffer: &'a CardBuffer,
    chunk: Vec<u8>,
    at: usize,
}

impl Writer<'_> {
    /// Returns the bytes that were written to the card by this.
    fn push(&mut self, bytes: &[u8]) -> Result<u64, DeviceError> {
        self.chunk.extend(bytes);
        if self.chunk.len() < CHUNK_BYTES { Ok(0) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<u64, DeviceError> {
        self.buffer.write(&self.chunk, self.at)?;
        let written = self.chunk.len();
        self.at += written;
        self.chunk.clear();
        Ok(written as u64)
    }

    fn end(mut self) -> Result<u64, DeviceError> {
        if self.at == 0 && self.chunk.is_empty() {
            self.buffer.clear()?; // nothing reads it, but it has to be something
            return Ok(0);
        }
        self.chunk.resize(self.chunk.len().next_multiple_of(LINE_BYTES), 0);
        if self.chunk.is_empty() { Ok(0) } else { self.flush() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_for_a_buffer_or_a_bank_is_refused() {
        let sentence = |needed, bank| fits("the offset records", needed, bank).map_err(|error| error.to_string());
        assert_eq!(sentence(MAX_BUFFER_BYTES - 1, u64::MAX), Ok(()));
        assert_eq!(
            sentence(MAX_BUFFER_BYTES, u64::MAX).unwrap_err(),
            "the graph needs 4294967296 bytes for the offset records, but a buffer of XRT has 4294967295"
        );
        assert_eq!(sentence(4096, 4096), Ok(()));
        assert!(sentence(4097, 4096).unwrap_err().ends_with("but the memory bank of the card has 4096"));
    }
}
