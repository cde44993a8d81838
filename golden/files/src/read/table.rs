//! Tables of delimited text: edge lists, and features, labels and nodes of data sets.
//!
//! A file has one delimiter, which its first record shows: tab, semicolon, comma or bar, or else blanks (spaces and tabs, any
//! number of them). Fields may stand in double quotes, in which delimiters and ends of lines are text, as RFC 4180 has it.
//! Every record has as many fields as the first: one that has more or fewer is refused, because the file is something else
//! then, such as an adjacency list, and what is read of it would be another graph.

use std::ops::Range;

use memchr::memchr;

use super::{
    csv::Csv,
    delimiter::{Delimiter, is_value, split_quoted_blanks},
    error::{Problem, ReadError},
    source::Source,
    text::Lines,
};
use crate::Listener;

/// What is in a table beside its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The longest record, in bytes, its end not counted.
    pub limit: usize,
    /// Lines that start with `#` or `%` are comments. They are passed over; those before the first record are kept for
    /// [`Table::comments`].
    pub comments: bool,
    /// Empty lines between records are passed over. Otherwise they are refused: a node without a line of its own moves all
    /// that follow. At the end of the file they are passed over in any case.
    pub empty_lines: bool,
}

/// Comments that are kept: those that say something stand at the start, and are short.
const COMMENTS_KEPT: usize = 64;

/// Reads a table record by record.
pub struct Table<'a> {
    lines: Lines<'a>,
    layout: Layout,
    comments: Vec<String>,
    delimiter: Delimiter,
    csv: Option<Csv>,
    record: Buffers,
    /// The first record has been read, but not given out.
    pending: bool,
    /// The line of the first record, and its number of fields.
    first: Option<(u64, usize)>,
    names: Option<Vec<String>>,
}

/// The record that was read last.
#[derive(Default)]
struct Buffers {
    /// Its (first) line.
    line: u64,
    /// Where it is in the buffer of the lines, if it is not `quoted`.
    text: Range<usize>,
    /// Where its fields are in its text.
    fields: Vec<Range<usize>>,
    quoted: Option<Quoted>,
}

/// A record in which not every delimiter separates fields.
#[derive(Default)]
struct Quoted {
    /// Its (first) line as it stands in the file.
    line: String,
    /// Its fields without quotes.
    text: String,
}

/// A record: one line, or several where an end of line stands in quotes.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    line: u64,
    /// Its (first) line as it stands in the file.
    whole: &'a str,
    /// What the fields are part of.
    text: &'a str,
    fields: &'a [Range<usize>],
}

impl<'a> Record<'a> {
    /// The number of its (first) line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Its (first) line as it stands in the file.
    pub fn text(&self) -> &'a str {
        self.whole.trim()
    }

    /// The number of its fields; at least 1.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field, trimmed and without quotes, from 0.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn field(&self, place: usize) -> &'a str {
        self.text[self.fields[place].clone()].trim()
    }

    /// All fields, trimmed and without quotes.
    pub fn fields(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let Self { text, fields, .. } = *self;
        fields.iter().map(|field| text[field.clone()].trim())
    }

    /// Whether it looks like names of columns: no field is a value ([`is_value`]), and only the first may be empty, which is
    /// how pandas writes the name of row numbers.
    ///
    /// A table of words looks like that, too: who expects one has to compare the names with those that mean something.
    pub fn is_words(&self) -> bool {
        // Something else, such as JSON or XML, starts with a bracket.
        let is_word = |field: &str| !is_value(field) && !field.starts_with(['{', '[', '<']);
        let first = self.field(0);
        is_word(first)
            && (!first.is_empty() || self.len() > 1)
            && self.fields().skip(1).all(|field| !field.is_empty() && is_word(field))
    }
}

impl<'a> Table<'a> {
    /// Reads up to the first record, which [`Table::first`] shows.
    ///
    /// # Errors
    /// See [`Problem`].
    pub fn open(source: Source<'a>, layout: Layout, progress: &'a dyn Listener) -> Result<Self, ReadError> {
        let mut table = Self {
            lines: Lines::bounded(source, layout.limit, progress),
            layout,
            comments: Vec::new(),
            delimiter: Delimiter::Blanks,
            csv: None,
            record: Buffers::default(),
            pending: false,
            first: None,
            names: None,
        };
        if let Some(line) = table.next_line()? {
            table.delimiter = Delimiter::of(table.lines.bytes(line.clone()));
            if let Delimiter::Byte(byte) = table.delimiter {
                table.csv = Some(Csv::new(byte));
            }
            table.split(line)?;
            table.first = Some((table.record.line, table.record.fields.len()));
            // What it shows later has been checked here.
            table.record()?;
            table.pending = true;
        }
        Ok(table)
    }

    /// The comments before the first record, without the sign that starts them, trimmed: those of the first lines.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// What separates the fields.
    pub fn delimiter(&self) -> Delimiter {
        self.delimiter
    }

    /// The number of fields of every record; 0 if there is no record.
    pub fn columns(&self) -> usize {
        self.first.map_or(0, |(_, fields)| fields)
    }

    /// The first record, as long as it has been neither read nor taken for names.
    pub fn first(&self) -> Option<Record<'_>> {
        if self.pending { self.record().ok() } else { None }
    }

    /// Takes the first record for names of the columns: it is not given out any more.
    ///
    /// # Panics
    /// If [`Table::first`] is none.
    pub fn take_names(&mut self) -> &[String] {
        let names = self.first().expect("a first record").fields().map(str::to_owned).collect();
        self.pending = false;
        self.names.insert(names)
    }

    /// The names of the columns, if the first record was taken for them.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The next record.
    ///
    /// # Errors
    /// See [`Problem`]; [`Problem::Ragged`] if it has more or fewer fields than the first.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if !std::mem::take(&mut self.pending) {
            let Some(line) = self.next_line()? else { return Ok(None) };
            self.split(line)?;
            let (first, columns) = *self.first.get_or_insert((self.record.line, self.record.fields.len()));
            // A delimiter at the end of a line that the first line does not have.
            if self.delimiter != Delimiter::Blanks
                && self.record.fields.len() == columns + 1
                && self.record()?.field(columns).is_empty()
            {
                self.record.fields.pop();
            }
            let (line, found) = (self.record.line, self.record.fields.len());
            if found != columns {
                return Err(self.error(Problem::Ragged { line, found, first, columns }));
            }
        }
        self.record().map(Some)
    }

    /// The fields of a comment, as if it were a record.
    pub(super) fn split_comment<'c>(&self, comment: &'c str) -> Vec<&'c str> {
        match self.delimiter {
            Delimiter::Blanks => comment.split_ascii_whitespace().collect(),
            Delimiter::Byte(byte) => comment.split(char::from(byte)).map(str::trim).collect(),
        }
    }

    /// This problem, of this file.
    pub fn error(&self, problem: Problem) -> ReadError {
        self.lines.error(problem)
    }

    fn record(&self) -> Result<Record<'_>, ReadError> {
        let Buffers { line, text, fields, quoted } = &self.record;
        let (whole, text) = if let Some(quoted) = quoted {
            (&*quoted.line, &*quoted.text)
        } else {
            let text = std::str::from_utf8(self.lines.bytes(text.clone()));
            let text = text.map_err(|_| self.error(Problem::NotText { line: *line }))?;
            (text, text)
        };
        Ok(Record { line: *line, whole, text, fields })
    }

    /// Goes to the next line that is a record or starts one.
    fn next_line(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        let mut empty = None;
        loop {
            let Some(line) = self.lines.advance()? else { return Ok(None) };
            let bytes = self.lines.bytes(line.clone());
            let Some(start) = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t')) else {
                empty.get_or_insert(self.lines.number());
                continue;
            };
            if self.layout.comments && matches!(bytes[start], b'#' | b'%') {
                if self.first.is_none() && self.comments.len() < COMMENTS_KEPT {
                    let comment = String::from_utf8_lossy(&bytes[start..]);
                    self.comments.push(comment.trim_start_matches(['#', '%']).trim().to_owned());
                }
                continue;
            }
            return match empty {
                Some(line) if !self.layout.empty_lines => Err(self.error(Problem::EmptyLine { line })),
                _ => Ok(Some(line)),
            };
        }
    }

    /// Makes `line`, and those that belong to it, the record.
    fn split(&mut self, line: Range<usize>) -> Result<(), ReadError> {
        self.record.line = self.lines.number();
        self.record.fields.clear();
        let bytes = self.lines.bytes(line.clone());
        if memchr(b'"', bytes).is_some() || bytes.trim_ascii_end().ends_with(b"}") {
            return self.split_quoted(line);
        }
        self.record.quoted = None;
        self.delimiter.split(bytes, &mut self.record.fields);
        self.record.text = line;
        Ok(())
    }

    /// The same for a line that has quotes, or a Python dictionary at its end as networkx writes it: that is one field.
    fn split_quoted(&mut self, line: Range<usize>) -> Result<(), ReadError> {
        let number = self.record.line;
        let Quoted { line: mut whole, mut text } = self.record.quoted.take().unwrap_or_default();
        whole.clear();
        text.clear();
        whole.push_str(self.lines.text(line)?);
        let (body, dictionary) = whole.split_at(self.delimiter.dictionary(&whole));
        let fields = &mut self.record.fields;
        let closed = if let Some(csv) = &mut self.csv {
            csv.start();
            let mut closed = csv.line(body.as_bytes());
            while !closed && dictionary.is_empty() && csv.length <= self.layout.limit {
                let Some(line) = self.lines.advance()? else { break };
                closed = csv.line(self.lines.bytes(line));
            }
            if !csv.fields(&mut text, fields) {
                return Err(self.error(Problem::NotText { line: number }));
            }
            closed
        } else {
            split_quoted_blanks(body, &mut text, fields)
        };
        if !closed {
            return Err(self.error(Problem::OpenQuote { line: number }));
        }
        if !dictionary.is_empty() {
            // Behind a delimiter there is an empty field, in whose place it stands.
            if self.delimiter != Delimiter::Blanks {
                fields.pop();
            }
            fields.push(text.len()..text.len() + dictionary.len());
            text.push_str(dictionary);
        }
        self.record.quoted = Some(Quoted { line: whole, text });
        Ok(())
    }
}

#[cfg(test)]
#[cfg(not(miri))] // files
mod tests {
    use super::*;
    use golden::Silent;
    use std::path::PathBuf;

    const LAYOUT: Layout = Layout { limit: 1 << 16, comments: true, empty_lines: true };

    fn open(text: &[u8], layout: Layout) -> Result<Table<'_>, ReadError> {
        Table::open(Source::member(text, PathBuf::from("t")), layout, &Silent)
    }

    /// Line and fields of every record, between bars.
    fn records(text: &str) -> Vec<(u64, String)> {
        let mut table = open(text.as_bytes(), LAYOUT).unwrap();
        let mut found = Vec::new();
        while let Some(record) = table.next_record().unwrap() {
            found.push((record.line(), record.fields().collect::<Vec<_>>().join("|")));
        }
        found
    }

    fn refusal(text: &str, layout: Layout) -> String {
        let refused = open(text.as_bytes(), layout).and_then(|mut table| {
            while table.next_record()?.is_some() {}
            Ok(())
        });
        refused.unwrap_err().problem.to_string()
    }

    #[test]
    fn a_file_has_one_delimiter() {
        for (text, expected) in [
            ("0 1\n  2\t 3 \n", "0|1 2|3"),
            ("0\t1\n2 3\n", "0|1 2|3"),
            ("a\tb c\n\t3\n", "a|b c |3"),
            ("0\t1\tSmith, J; or so\n", "0|1|Smith, J; or so"),
            ("0,1,a;b c\n,,\n", "0|1|a;b c ||"),
            ("0;1;0,5\n", "0|1|0,5"),
            ("0 | 1\n", "0|1"),
            ("0, 1 ,\t2\n", "0|1|2"),
            ("\"a,b\";c\n", "a,b|c"),
            ("x\n3\n", "x 3"),
            ("0 1 {}\n2 3 {'weight': 1.0, 'x': {}}\n", "0|1|{} 2|3|{'weight': 1.0, 'x': {}}"),
            ("0,1,{'a': 1, 'b': \"it's\"}\n2,3,{}\n", "0|1|{'a': 1, 'b': \"it's\"} 2|3|{}"),
            ("0,1,\n2,3,\n", "0|1| 2|3|"),
            ("0,1\n2,3, \n", "0|1 2|3"),
        ] {
            let found: Vec<_> = records(text).into_iter().map(|(_, fields)| fields).collect();
            assert_eq!(found.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_hold_delimiters_and_ends_of_lines() {
        let text = "\"0\",\"1\",\"a \"\"b\"\", c\"\n2,3,\"three\n\nlines\"\n4,5,six\n\"\",\"7\",8\n";
        let expected = [(1, "0|1|a \"b\", c"), (2, "2|3|three\n\nlines"), (5, "4|5|six"), (6, "|7|8")];
        assert_eq!(records(text), expected.map(|(line, fields)| (line, fields.to_owned())));
        let blanks = "\"source\" \"target\" \"\"\n\"a b\" 1 \"x\"\"y\"\n";
        assert_eq!(records(blanks).into_iter().map(|r| r.1).collect::<Vec<_>>(), ["source|target|", "a b|1|x\"y"]);
        assert_eq!(refusal("0,\"1\n2,3\n", LAYOUT), "line 1 has a double quote that is never closed");
        assert_eq!(refusal("\"0 1\n", LAYOUT), "line 1 has a double quote that is never closed");
        let endless = format!("0,\"{}", "1\n".repeat(40_000));
        assert_eq!(refusal(&endless, LAYOUT), "line 1 has a double quote that is never closed");
    }

    #[test]
    fn lines_end_as_on_any_system_and_are_counted() {
        for text in
            ["# c\n0 1\n\n2 3\n", "# c\r\n0 1\r\n\r\n2 3", "# c\r0 1\r\r2 3\r", "\u{feff}# c\n0 1\r\n \n2 3\n\n"]
        {
            assert_eq!(records(text), [(2, "0|1".to_owned()), (4, "2|3".to_owned())], "{text:?}");
        }
        // Ends of lines that lie on either side of what is read at once.
        let mut text = "12 345\r\n".repeat(100_000);
        assert_eq!(records(&text).len(), 100_000);
        text.insert(0, '\n');
        assert_eq!(records(&text).last().unwrap(), &(100_001, "12|345".to_owned()));
    }

    #[test]
    fn every_record_has_the_columns_of_the_first() {
        assert_eq!(
            refusal("0 1 2 3\n1 2 3\n", LAYOUT),
            "line 2 has 3 columns, but line 1 has 4; every line of a table has the same columns"
        );
        assert!(refusal("a,b\n0,1,2\n", LAYOUT).starts_with("line 2 has 3 columns, but line 1 has 2"));
        assert!(refusal("0 1\n2 3 4\n", LAYOUT).starts_with("line 2 has 3 columns, but line 1 has 2"));
    }

    #[test]
    fn empty_lines_are_refused_where_each_line_counts() {
        let strict = Layout { empty_lines: false, ..LAYOUT };
        assert_eq!(refusal("1\n\n2\n", strict), "line 2 is empty, but lines with values follow");
        assert_eq!(refusal("\n1\n", strict), "line 1 is empty, but lines with values follow");
        let mut table = open(b"1\n\"\"\n \n\n", strict).unwrap();
        assert_eq!(table.next_record().unwrap().unwrap().field(0), "1");
        assert_eq!(table.next_record().unwrap().unwrap().field(0), "");
        assert!(table.next_record().unwrap().is_none());
    }

    #[test]
    fn what_is_no_text_is_said() {
        let nul = "line 2 has a NUL byte; text is read as UTF-8";
        assert_eq!(refusal("0 1\n0\0 1\n", LAYOUT), nul);
        for text in [&b"0\t1\n\xff 1\n"[..], b"0,1\n0,\"\xff\"\n"] {
            let mut table = open(text, LAYOUT).unwrap();
            table.next_record().unwrap();
            let error = table.next_record().err().unwrap().problem.to_string();
            assert_eq!(error, "line 2 is not UTF-8; graphs are read from plain text");
        }
        for text in [&b"\xff\xfe0\0"[..], b"\xfe\xff\0\x30"] {
            let error = open(text, LAYOUT).err().unwrap().problem.to_string();
            assert_eq!(error, "this is UTF-16 text; save it as UTF-8");
        }
        assert!(refusal(&"1".repeat(1 << 17), LAYOUT).starts_with("line 1 is longer than 65536 bytes"));
        assert_eq!(records(&"1".repeat(1 << 16)).len(), 1);
    }

    #[test]
    fn the_first_record_may_be_names() {
        let words = |text: &str| open(text.as_bytes(), LAYOUT).unwrap().first().unwrap().is_words();
        for names in ["source,target", ",source,target", "\"a\" \"b\"", "label", "a\tb c"] {
            assert!(words(names), "{names}");
        }
        for values in
            ["0 1", "source,7", "a,,b", "nan", "0,1,True", "a,{}", "\"\"", "a,false", "-inf,x", "{a b", "<a b", "a [1]"]
        {
            assert!(!words(values), "{values}");
        }
        let mut table = open(b"# a comment\n%another\na,b\n0,1\n", LAYOUT).unwrap();
        assert_eq!(table.comments(), ["a comment", "another"]);
        assert_eq!((table.names(), table.columns()), (None, 2));
        assert_eq!(table.take_names(), ["a", "b"]);
        assert!(table.first().is_none());
        assert_eq!(table.next_record().unwrap().unwrap().line(), 4);
        assert!(table.next_record().unwrap().is_none());
        let empty = open(b"# nothing\n", LAYOUT).unwrap();
        assert!(empty.first().is_none() && empty.columns() == 0 && empty.comments() == ["nothing"]);
    }
}
