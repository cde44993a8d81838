//! Arrays as `.npy`.

use std::io::{self, Write};

use crate::{Listener, npy::Header};
use golden::Meter;

/// Bytes that are put together before they are passed on.
const CHUNK: usize = 1 << 16;

/// What comes before the elements of an array of these extents, in C order.
pub fn npy_header(dtype: &str, shape: &[u64]) -> Vec<u8> {
    Header::encode(dtype, shape)
}

/// Writes an array of one dimension, its elements as little-endian bytes.
///
/// # Errors
/// Those of `out`.
pub fn npy<const WIDTH: usize>(
    out: &mut impl Write,
    dtype: &str,
    elements: impl ExactSizeIterator<Item = [u8; WIDTH]>,
    what: &str,
    progress: &dyn Listener,
) -> io::Result<()> {
    let mut meter = Meter::new(progress, what, elements.len() as u64);
    out.write_all(&npy_header(dtype, &[elements.len() as u64]))?;
    let mut chunk = Vec::with_capacity(CHUNK);
    for (element, done) in elements.zip(0..) {
        if chunk.len() + WIDTH > CHUNK {
            out.write_all(&chunk)?;
            chunk.clear();
            meter.at(done);
        }
        chunk.extend_from_slice(&element);
    }
    out.write_all(&chunk)?;
    meter.finish();
    Ok(())
}
