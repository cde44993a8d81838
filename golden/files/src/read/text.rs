//! Lines of text, of bounded length, and the numbers in them.

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::{
    error::{Problem, ReadError, excerpt},
    source::Source,
};
use crate::Listener;

/// The longest line of a graph, in bytes, its end not counted.
pub(super) const LINE_LIMIT: usize = 1 << 16;

/// Bytes that are read at a time, where lines are not longer.
const CHUNK: usize = 1 << 18;

/// Reads a file line by line. A line ends with LF, CR LF, or CR, as Python's text files have it.
pub struct Lines<'a> {
    source: Source<'a>,
    progress: &'a dyn Listener,
    what: String,
    /// The longest line.
    limit: usize,
    buffer: Vec<u8>,
    /// What of the buffer is still to be given out.
    left: Range<usize>,
    /// The last line ended with CR: an LF that follows belongs to its end.
    after_cr: bool,
    /// There is a NUL byte in the buffer, or was.
    nul: bool,
    /// Bytes on disk at which progress is reported next.
    report_at: u64,
    line: u64,
}

impl<'a> Lines<'a> {
    /// Lines of the length that an arc may have.
    pub(super) fn new(source: Source<'a>, progress: &'a dyn Listener) -> Self {
        Self::bounded(source, LINE_LIMIT, progress)
    }

    /// Lines of at most `limit` bytes, their ends not counted: what is longer is refused before it fills the memory.
    pub fn bounded(source: Source<'a>, limit: usize, progress: &'a dyn Listener) -> Self {
        let what = format!("reading {}", source.path().display());
        let buffer = Vec::new();
        let (left, after_cr, nul) = (0..0, false, false);
        Self { source, progress, what, limit, buffer, left, after_cr, nul, report_at: 0, line: 0 }
    }

    /// The next line, trimmed, and its number, from 1.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn next_line(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        let Some(line) = self.advance()? else { return Ok(None) };
        Ok(Some((self.line, self.text(line)?.trim())))
    }

    /// The next line, trimmed, that is not empty and does not start with one of `comments`; and its number, from 1.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn next_but(&mut self, comments: &[char]) -> Result<Option<(u64, &str)>, ReadError> {
        while let Some(line) = self.advance()? {
            let text = self.text(line.clone())?.trim();
            if !text.is_empty() && !text.starts_with(comments) {
                return Ok(Some((self.line, self.text(line)?.trim())));
            }
        }
        Ok(None)
    }

    /// Goes to the next line: its place in the buffer, without its end.
    pub(super) fn advance(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        self.line += 1;
        if self.left.is_empty() {
            self.refill()?;
        }
        if std::mem::take(&mut self.after_cr)
            && self.buffer.get(self.left.start) == Some(&b'\n')
            && !self.left.is_empty()
        {
            self.left.start += 1;
        }
        let mut searched = 0;
        loop {
            let from = self.left.start + searched;
            if let Some(found) = memchr2(b'\n', b'\r', &self.buffer[from..self.left.end]) {
                let line = self.left.start..from + found;
                self.after_cr = self.buffer[line.end] == b'\r';
                self.left.start = line.end + 1;
                return self.checked(line).map(Some);
            }
            searched = self.left.len();
            if searched > self.limit {
                return Err(self.error(Problem::LongLine { line: self.line, limit: self.limit }));
            }
            if self.refill()? == 0 {
                break;
            }
        }
        if self.left.is_empty() {
            let (_, size) = self.source.on_disk();
            self.progress.report(&self.what, size, size);
            return Ok(None);
        }
        let line = self.left.clone();
        self.left.start = self.left.end;
        self.checked(line).map(Some)
    }

    /// The line, if nothing is wrong with it.
    fn checked(&self, line: Range<usize>) -> Result<Range<usize>, ReadError> {
        if line.len() > self.limit {
            return Err(self.error(Problem::LongLine { line: self.line, limit: self.limit }));
        }
        if self.nul && memchr(0, &self.buffer[line.clone()]).is_some() {
            return Err(self.error(Problem::Nul { line: self.line }));
        }
        Ok(line)
    }

    /// The number of the line that [`Lines::advance`] went to, from 1.
    pub(super) fn number(&self) -> u64 {
        self.line
    }

    /// The bytes of a line.
    pub(super) fn bytes(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// A line as text.
    pub(super) fn text(&self, line: Range<usize>) -> Result<&str, ReadError> {
        std::str::from_utf8(&self.buffer[line]).map_err(|_| self.error(Problem::NotText { line: self.line }))
    }

    /// Moves what is left to the front and reads on behind it; how many bytes there are more.
    fn refill(&mut self) -> Result<usize, ReadError> {
        self.buffer.copy_within(self.left.clone(), 0);
        self.left = 0..self.left.len();
        // Twice the room where a line fills it, so that memory grows with the lines that are there.
        if self.left.end == self.buffer.len() {
            self.buffer.resize((2 * self.buffer.len()).max(CHUNK), 0);
        }
        let found = self.source.fill(&mut self.buffer[self.left.end..])?;
        let fresh = self.left.end..self.left.end + found;
        self.left.end = fresh.end;
        self.nul |= memchr(0, &self.buffer[fresh.clone()]).is_some();
        if self.source.position() == found as u64 {
            self.skip_mark()?;
        }
        let (taken, size) = self.source.on_disk();
        if taken >= self.report_at && taken < size {
            self.progress.report(&self.what, taken, size);
            self.report_at = taken + size / 1000;
        }
        Ok(found)
    }

    /// Skips UTF-8's byte order mark at the start of the file, and refuses those of other encodings.
    fn skip_mark(&mut self) -> Result<(), ReadError> {
        match &self.buffer[self.left.clone()] {
            [0xef, 0xbb, 0xbf, ..] => self.left.start += 3,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Err(self.error(Problem::Utf16)),
            _ => {}
        }
        Ok(())
    }

    /// This problem, of this file.
    pub fn error(&self, problem: Problem) -> ReadError {
        problem.at(self.source.path())
    }
}

/// The fields of a line: between commas if there is one, and else between spaces and tabs. Other white space separates
/// nothing: it may have ended a line where the file was written (VT, FF, U+2028), and the next line would be lost.
pub fn fields(text: &str) -> impl Iterator<Item = &str> + Clone {
    let commas = text.contains(',');
    let separates = move |c: char| if commas { c == ',' } else { c == ' ' || c == '\t' };
    text.split(separates).map(str::trim).filter(move |field| commas || !field.is_empty())
}

/// Whether `text` is a number, such as a weight.
pub fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+', '.']);
    digits.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

/// The node id that `field` of a line is, from `min` to `max`; it may be written as a float. `accepted` is what the line
/// could be.
pub(super) fn id(
    field: &str,
    (line, text): (u64, &str),
    (min, max): (u32, u32),
    accepted: &'static str,
) -> Result<u32, Problem> {
    match whole(field) {
        Some(id) if (min..=max).contains(&id) => Ok(id),
        _ if is_number(field) => Err(Problem::Id { line, found: excerpt(field), min, max }),
        _ => Err(Problem::Line { line, found: excerpt(text), accepted }),
    }
}

/// The whole number that `field` is: in digits, or as `numpy.savetxt` and float columns of pandas have it (`1.000e+00`).
#[expect(clippy::cast_sign_loss, reason = "numbers with a sign are none")]
pub(super) fn whole(field: &str) -> Option<u32> {
    if let Ok(id) = field.parse() {
        return Some(id);
    }
    if !is_number(field) || field.starts_with('-') {
        return None;
    }
    let value: f64 = field.parse().ok()?;
    (value.fract() == 0.0 && value <= u32::MAX.into()).then_some(value as u32)
}

/// Refuses far more nodes than edges: a stray id in a small file would take gigabytes for nodes that no one meant. `place`
/// is where the number comes from.
pub(super) fn check_density(nodes: u32, place: String, edges: usize) -> Result<(), Problem> {
    if nodes as usize > (1 << 20) + 16 * edges { Err(Problem::Sparse { nodes, place, edges }) } else { Ok(()) }
}
