//! Arrays in an `.npz`: a zip file of `.npy` files, compressed.

use std::{
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{
    error::WriteError,
    npy,
    place::{self, Out},
};
use crate::{Listener, npy::Header};
use golden::{Buffer, CscGraph, Silent, SubGraph};

/// A graph as `scipy.sparse.save_npz` writes a CSC matrix of float32 ones: `indices` are rows, the sources, by column.
pub(super) fn write_graph(
    path: &Path,
    graph: &CscGraph,
    overwrite: bool,
    progress: &dyn Listener,
) -> Result<(), WriteError> {
    let int32 = |value: u32| value.to_le_bytes();
    let indptr = graph.indptr().iter().copied().map(int32);
    let indices = graph.indices().iter().map(|node| int32(node.get()));
    let shape = [graph.nodes() as u64; 2].map(u64::to_le_bytes);
    let ones = (0..graph.edges()).map(|_| 1f32.to_le_bytes());
    place::file(path, "an .npz", overwrite, |out| {
        let mut npz = Npz(ZipWriter::new(FirstError::of(out)));
        let layout = b"csc";
        npz.start("format", layout.len())?;
        npz.0.write_all(&Header::encode("|S3", &[]))?;
        npz.0.write_all(layout)?;
        npz.array("shape", "<i8", shape.into_iter(), &Silent)?;
        npz.array("indptr", "<i4", indptr, progress)?;
        npz.array("indices", "<i4", indices, progress)?;
        npz.array("data", "<f4", ones, progress)?;
        npz.finish()
    })
}

pub(super) fn write_subgraph(path: &Path, sub: &SubGraph, overwrite: bool) -> Result<(), WriteError> {
    place::file(path, "an .npz", overwrite, |out| {
        let mut npz = Npz(ZipWriter::new(FirstError::of(out)));
        for buffer in Buffer::ALL {
            let elements = sub.buffer(buffer).iter().map(|element| element.to_le_bytes());
            npz.array(buffer.name(), "<i4", elements, &Silent)?;
        }
        for (name, counts) in [("nodes_per_hop", &sub.hops.nodes), ("edges_per_hop", &sub.hops.edges)] {
            npz.array(name, "<i4", counts.iter().map(|count| count.to_le_bytes()), &Silent)?;
        }
        npz.finish()
    })
}

/// An `.npz` that is being written. The same arrays make the same bytes: no times are kept.
struct Npz<'a, 'b>(ZipWriter<FirstError<'a, 'b>>);

impl Npz<'_, '_> {
    /// Starts the array `name`, of `bytes` bytes.
    fn start(&mut self, name: &str, bytes: usize) -> io::Result<()> {
        // Beyond 4 GiB, header included, zip needs to know beforehand.
        let large = bytes as u64 + 4096 > u64::from(u32::MAX);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .large_file(large);
        self.0.start_file(format!("{name}.npy"), options).map_err(io::Error::from)
    }

    fn array<const WIDTH: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        elements: impl ExactSizeIterator<Item = [u8; WIDTH]>,
        progress: &dyn Listener,
    ) -> io::Result<()> {
        self.start(name, elements.len() * WIDTH)?;
        npy::npy(&mut self.0, dtype, elements, &format!("writing {name}"), progress)
    }

    fn finish(self) -> io::Result<()> {
        self.0.finish().map(drop).map_err(io::Error::from)
    }
}

/// Passes on the first error of a file, and from then on is one without end that keeps nothing: a `ZipWriter` that failed
/// tries to finish the archive when it is dropped, and would say on stderr that it cannot.
struct FirstError<'a, 'b> {
    out: &'a mut Out<'b>,
    failed: bool,
    position: u64,
    end: u64,
}

impl<'a, 'b> FirstError<'a, 'b> {
    fn of(out: &'a mut Out<'b>) -> Self {
        Self { out, failed: false, position: 0, end: 0 }
    }

    /// What `act` does to the file, or `instead` if something has failed before.
    fn attempt<T>(&mut self, instead: T, act: impl FnOnce(&mut Out<'b>) -> io::Result<T>) -> io::Result<T> {
        if self.failed {
            return Ok(instead);
        }
        let done = act(self.out);
        self.failed = done.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        done
    }

    fn go_to(&mut self, position: u64) {
        self.position = position;
        self.end = self.end.max(position);
    }
}

impl Write for FirstError<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.attempt(bytes.len(), |out| out.write(bytes))?;
        self.go_to(self.position + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), Write::flush)
    }
}

impl Seek for FirstError<'_, '_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let instead = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(distance) => self.position.saturating_add_signed(distance),
            SeekFrom::End(distance) => self.end.saturating_add_signed(distance),
        };
        let position = self.attempt(instead, |out| out.seek(to))?;
        self.go_to(position);
        Ok(position)
    }
}
