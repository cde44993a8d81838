//! Arrays of whole numbers in `.npy` files, read in pieces: memory grows with what the file holds, not with what its
//! header says.

use std::path::Path;

use super::{
    error::{Problem, ReadError, excerpt},
    source::Source,
};
use crate::{
    Listener, memory,
    npy::{Header, MAGIC},
};
use golden::{ID_MAX, Meter};

const ACCEPTED: &str = "'<i4', '<i8', '<u4' and '<u8' (int32, int64, uint32 and uint64, little-endian)";

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// The longest header that is looked at; `NumPy` writes 128 bytes for a plain array.
const HEADER_LIMIT: usize = 4096;

/// An opened `.npy` file, its header read.
pub struct Npy<'a> {
    source: Source<'a>,
    header: Header,
}

impl<'a> Npy<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// If there is none, or one that `NumPy` does not write for a plain array.
    pub fn open(mut source: Source<'a>) -> Result<Self, ReadError> {
        let mut start = [0; 8];
        let found = take(&mut source, &mut start, "the .npy header needs at least 10")?;
        if !found.starts_with(MAGIC) {
            let found = start.escape_ascii().to_string();
            return Err(Problem::NotNpy { found }.at(source.path()));
        }
        let mut length = [0; 4];
        match start[6..] {
            [1, 0] => take(&mut source, &mut length[..2], "the length of the .npy header is missing")?,
            [2 | 3, 0] => take(&mut source, &mut length, "the length of the .npy header is missing")?,
            _ => return Err(Problem::NpyVersion { major: start[6], minor: start[7] }.at(source.path())),
        };
        let length = u32::from_le_bytes(length) as usize;
        if length > HEADER_LIMIT {
            let found = format!("{length} bytes long");
            return Err(Problem::NpyHeader { found }.at(source.path()));
        }
        let mut text = [0; HEADER_LIMIT];
        let text = take(&mut source, &mut text[..length], "the .npy header goes on")?;
        let text = String::from_utf8_lossy(text);
        match Header::parse(&text) {
            Some(header) => Ok(Self { source, header }),
            None => Err(Problem::NpyHeader { found: excerpt(text.trim_end()) }.at(source.path())),
        }
    }

    /// The type of the elements, as `NumPy` writes it.
    pub fn dtype(&self) -> &str {
        &self.header.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[u64] {
        &self.header.shape
    }

    /// Whether the first index runs fastest.
    pub fn is_fortran(&self) -> bool {
        self.header.fortran
    }

    /// The number of elements of an array of any shape; `u64::MAX` where that is not enough.
    pub fn elements(&self) -> u64 {
        self.header.shape.iter().fold(
            1,
            |product: u64, &extent| {
                if extent == 0 { 0 } else { product.saturating_mul(extent) }
            },
        )
    }

    /// Where the array comes from, as it stands in errors.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The number of elements of this array of one dimension.
    ///
    /// # Errors
    /// If it has another number of dimensions.
    #[expect(clippy::len_without_is_empty, reason = "it may have no length")]
    pub fn len(&self) -> Result<u64, ReadError> {
        if let [length] = *self.header.shape { Ok(length) } else { Err(self.rank(1)) }
    }

    /// All elements of this array of one dimension, each 0 to `max`, as `wrap` makes them.
    ///
    /// # Errors
    /// The first element that is none, or why the array cannot be read.
    pub fn whole_numbers<T>(
        self,
        max: u32,
        wrap: impl Fn(u32) -> T,
        progress: &dyn Listener,
    ) -> Result<Vec<T>, ReadError> {
        match self.header.dtype.as_str() {
            "<i4" => self.integers(i32::from_le_bytes, max, wrap, progress),
            "<u4" => self.integers(u32::from_le_bytes, max, wrap, progress),
            "<i8" => self.integers(i64::from_le_bytes, max, wrap, progress),
            "<u8" => self.integers(u64::from_le_bytes, max, wrap, progress),
            found => Err(self.error(Problem::Dtype { found: excerpt(found), accepted: ACCEPTED })),
        }
    }

    fn integers<const WIDTH: usize, I, T>(
        mut self,
        decode: impl Fn([u8; WIDTH]) -> I,
        max: u32,
        wrap: impl Fn(u32) -> T,
        progress: &dyn Listener,
    ) -> Result<Vec<T>, ReadError>
    where
        I: Copy + Into<i128> + TryInto<u32>,
    {
        let total = self.len()?;
        let limit = u64::from(ID_MAX) + 1;
        if total > limit {
            return Err(self.error(Problem::Length { found: total, accepted: format!("at most {limit}") }));
        }
        let path = self.path().to_owned();
        self.collect(WIDTH, progress, |bytes, elements| {
            for bytes in bytes.as_chunks().0 {
                let value = decode(*bytes);
                match value.try_into() {
                    Ok(value) if value <= max => elements.push(wrap(value)),
                    _ => {
                        let element = elements.len() as u64;
                        return Err(Problem::Element { element, found: value.into(), max }.at(&path));
                    }
                }
            }
            Ok(())
        })
    }

    /// What `decode` makes of all elements, each of `width` bytes: it is given pieces of whole elements, in order, and
    /// appends as many values as there are elements.
    ///
    /// # Errors
    /// Those of [`Npy::pieces`].
    pub fn collect<T, E: From<ReadError>>(
        &mut self,
        width: usize,
        progress: &dyn Listener,
        mut decode: impl FnMut(&[u8], &mut Vec<T>) -> Result<(), E>,
    ) -> Result<Vec<T>, E> {
        let total = usize::try_from(self.elements()).unwrap_or(usize::MAX);
        let sure = total.min(self.source.sure() as usize / width);
        let mut elements = Vec::new();
        memory::grow(&mut elements, sure, sure).map_err(|shortage| self.error(shortage.into()))?;
        let path = self.path().to_owned();
        self.pieces(width, progress, |bytes| {
            let more = bytes.len() / width;
            if elements.capacity() - elements.len() < more {
                let most = (total - elements.len()).min(elements.len().max(CHUNK));
                memory::grow(&mut elements, more, most).map_err(|shortage| Problem::from(shortage).at(&path))?;
            }
            decode(bytes, &mut elements)
        })?;
        Ok(elements)
    }

    /// Hands on all data, in order, in pieces of whole elements of `width` bytes each.
    ///
    /// # Errors
    /// What `take` refuses, and a file that does not end where its header says.
    pub fn pieces<E: From<ReadError>>(
        &mut self,
        width: usize,
        progress: &dyn Listener,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let total = self.elements();
        let what = format!("reading {}", self.source.path().display());
        let mut meter = Meter::new(progress, &what, total);
        let mut chunk = vec![0; CHUNK];
        let mut done = 0;
        while done < total {
            let elements = (total - done).min((CHUNK / width) as u64);
            let wanted = elements as usize * width;
            let found = self.source.fill(&mut chunk[..wanted])?;
            if found < wanted {
                let (byte, stated) = (self.source.position(), u128::from(total) * width as u128);
                let expected = format!("its header states {total} elements, {stated} bytes of data");
                return Err(self.error(Problem::Truncated { byte, expected }).into());
            }
            take(&chunk[..wanted])?;
            done += elements;
            meter.at(done);
        }
        let byte = self.source.position();
        if self.source.fill(&mut [0])? > 0 {
            return Err(self.error(Problem::Trailing { elements: total, byte }).into());
        }
        meter.finish();
        Ok(())
    }

    /// The text of an array of no dimension that holds one byte string or one Unicode string.
    ///
    /// # Errors
    /// If it is another array, or the word is longer than 64 characters.
    pub fn word(mut self) -> Result<String, ReadError> {
        let dtype = self.header.dtype.clone();
        let refused = |found: &str| Problem::Dtype { found: excerpt(found), accepted: "'|S3' and '<U3' (a word)" };
        let (kind, width) = dtype.split_at_checked(2).ok_or_else(|| self.error(refused(&dtype)))?;
        let width: usize =
            width.parse().ok().filter(|width| *width <= 64).ok_or_else(|| self.error(refused(&dtype)))?;
        let unit = match kind {
            "|S" => 1,
            "<U" => 4,
            _ => return Err(self.error(refused(&dtype))),
        };
        if !self.header.shape.is_empty() {
            return Err(self.rank(0));
        }
        let mut bytes = [0; 256];
        let bytes = take(&mut self.source, &mut bytes[..width * unit], "its one word goes on")?;
        // The words that matter are ASCII, so the low byte of each unit tells.
        Ok(bytes.iter().filter(|byte| **byte != 0).map(|byte| byte.escape_ascii().to_string()).collect())
    }

    fn rank(&self, accepted: usize) -> ReadError {
        let (shape, fortran) = (self.header.shape.clone(), self.header.fortran);
        self.error(Problem::Rank { shape, fortran, accepted })
    }

    /// This problem, of this array.
    pub fn error(&self, problem: Problem) -> ReadError {
        problem.at(self.source.path())
    }
}

/// Fills `buffer`, or says that the file ends too early.
fn take<'b>(source: &mut Source<'_>, buffer: &'b mut [u8], expected: &str) -> Result<&'b [u8], ReadError> {
    if source.fill(buffer)? < buffer.len() {
        let problem = Problem::Truncated { byte: source.position(), expected: expected.to_owned() };
        return Err(problem.at(source.path()));
    }
    Ok(buffer)
}
