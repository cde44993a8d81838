//! Arrays as `.npy`.

use std::io::{self, Write};

use crate::{
    npy::Header,
    progress::{Meter, Progress},
};

/// Bytes that are put together before they are passed on.
const CHUNK: usize = 1 << 16;

/// Writes an array of one dimension, its elements as little-endian bytes.
pub(super) fn write<const WIDTH: usize>(
    out: &mut impl Write,
    dtype: &str,
    elements: impl ExactSizeIterator<Item = [u8; WIDTH]>,
    what: &str,
    progress: &dyn Progress,
) -> io::Result<()> {
    let mut meter = Meter::new(progress, what, elements.len() as u64);
    out.write_all(&Header::encode(dtype, Some(elements.len())))?;
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
