//! Lines of text, of bounded length, and the numbers in them.

use std::ops::Range;

use super::{
    error::{Problem, ReadError, excerpt},
    source::Source,
};
use golden::Progress;

/// The longest line of a graph, in bytes, its end not counted.
const LINE_LIMIT: usize = 1 << 16;

/// Reads a file line by line.
pub struct Lines<'a> {
    source: Source<'a>,
    progress: &'a dyn Progress,
    what: String,
    buffer: Vec<u8>,
    /// What of the buffer is still to be given out.
    left: Range<usize>,
    /// Bytes on disk at which progress is reported next.
    report_at: u64,
    line: u64,
}

impl<'a> Lines<'a> {
    /// Lines of the length that an arc may have.
    pub(super) fn new(source: Source<'a>, progress: &'a dyn Progress) -> Self {
        Self::bounded(source, LINE_LIMIT, progress)
    }

    /// Lines of at most `limit` bytes, their ends not counted: what is longer is refused before it fills the memory.
    pub fn bounded(source: Source<'a>, limit: usize, progress: &'a dyn Progress) -> Self {
        let what = format!("reading {}", source.path().display());
        Self { source, progress, what, buffer: vec![0; limit + 1], left: 0..0, report_at: 0, line: 0 }
    }

    /// The next line, trimmed, and its number, from 1.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn next_line(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        let Some(line) = self.advance()? else { return Ok(None) };
        Ok(Some((self.line, self.text(line)?)))
    }

    /// The next line, trimmed, that is not empty and does not start with one of `comments`; and its number, from 1.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn next_but(&mut self, comments: &[char]) -> Result<Option<(u64, &str)>, ReadError> {
        while let Some(line) = self.advance()? {
            let text = self.text(line.clone())?;
            if !text.is_empty() && !text.starts_with(comments) {
                return Ok(Some((self.line, self.text(line)?)));
            }
        }
        Ok(None)
    }

    /// Goes to the next line: its place in the buffer, without its end.
    fn advance(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        self.line += 1;
        let ends = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n');
        let mut length = ends(&self.buffer[self.left.clone()]);
        if length.is_none() {
            self.refill()?;
            length = ends(&self.buffer[self.left.clone()]);
        }
        let start = self.left.start;
        match length {
            Some(length) => {
                self.left.start += length + 1;
                Ok(Some(start..start + length))
            }
            None if self.left.len() == self.buffer.len() => {
                Err(self.error(Problem::LongLine { line: self.line, limit: self.buffer.len() - 1 }))
            }
            None if self.left.is_empty() => {
                let (_, size) = self.source.on_disk();
                self.progress.report(&self.what, size, size);
                Ok(None)
            }
            None => {
                self.left.start = self.left.end;
                Ok(Some(start..self.left.end))
            }
        }
    }

    fn text(&self, line: Range<usize>) -> Result<&str, ReadError> {
        match std::str::from_utf8(&self.buffer[line]) {
            Ok(text) => Ok(text.trim_start_matches('\u{feff}').trim()),
            Err(_) => Err(self.error(Problem::NotText { line: self.line })),
        }
    }

    /// Moves what is left to the front and reads on behind it.
    fn refill(&mut self) -> Result<(), ReadError> {
        self.buffer.copy_within(self.left.clone(), 0);
        self.left = 0..self.left.len();
        self.left.end += self.source.fill(&mut self.buffer[self.left.end..])?;
        let (taken, size) = self.source.on_disk();
        if taken >= self.report_at && taken < size {
            self.progress.report(&self.what, taken, size);
            self.report_at = taken + size / 1000;
        }
        Ok(())
    }

    /// This problem, of this file.
    pub fn error(&self, problem: Problem) -> ReadError {
        problem.at(self.source.path())
    }
}

/// The fields of a line: between commas if there is one, and else between spaces and tabs. Other white space separates
/// nothing: it may have ended a line where the file was written (CR, VT, FF, U+2028), and the next line would be lost.
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

/// The node id that `field` of a line is, from `min` to `max`. `accepted` is what the line could be.
pub(super) fn id(
    field: &str,
    (line, text): (u64, &str),
    (min, max): (u32, u32),
    accepted: &'static str,
) -> Result<u32, Problem> {
    match field.parse() {
        Ok(id) if (min..=max).contains(&id) => Ok(id),
        _ if is_number(field) => Err(Problem::Id { line, found: excerpt(field), min, max }),
        _ => Err(Problem::Line { line, found: excerpt(text), accepted }),
    }
}

/// Refuses far more nodes than edges: a stray id in a small file would take gigabytes for nodes that no one meant. `line`
/// is where the number comes from.
pub(super) fn check_density(nodes: u32, line: u64, edges: usize) -> Result<(), Problem> {
    if nodes as usize > (1 << 20) + 16 * edges { Err(Problem::Sparse { nodes, line, edges }) } else { Ok(()) }
}
