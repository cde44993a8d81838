//! Records with quoted fields, as RFC 4180 has them.

use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// Records of CSV, each line by line.
pub(super) struct Csv {
    reader: Reader,
    /// Bytes of the lines of the record.
    pub(super) length: usize,
    /// What it is without quotes, as far as it is `written`.
    text: Vec<u8>,
    written: usize,
    /// The ends of its fields in the text, as far as they are `ended`.
    ends: Vec<usize>,
    ended: usize,
}

impl Csv {
    pub(super) fn new(delimiter: u8) -> Self {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Self { reader, length: 0, text: Vec::new(), written: 0, ends: Vec::new(), ended: 0 }
    }

    /// Starts a record.
    pub(super) fn start(&mut self) {
        self.reader.reset();
        (self.length, self.written, self.ended) = (0, 0, 0);
    }

    /// Goes on with a line of it; whether it was the last.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        self.length += line.len() + 1;
        // Without quotes it is never longer, and has no more fields than bytes.
        if self.text.len() < self.length {
            self.text.resize(self.length, 0);
            self.ends.resize(self.length + 1, 0);
        }
        let end_of_line: &[u8] = b"\n";
        // Input without bytes would be the end of the file.
        [line, end_of_line].into_iter().filter(|input| !input.is_empty()).any(|input| {
            let (text, ends) = (&mut self.text[self.written..], &mut self.ends[self.ended..]);
            // There is room for all of it, so all of the input is read.
            let (result, _, written, ended) = self.reader.read_record(input, text, ends);
            self.written += written;
            self.ended += ended;
            matches!(result, ReadRecordResult::Record)
        })
    }

    /// Appends the record without quotes, and where its fields are; whether it is UTF-8.
    pub(super) fn fields(&self, text: &mut String, fields: &mut Vec<Range<usize>>) -> bool {
        let Ok(record) = std::str::from_utf8(&self.text[..self.written]) else { return false };
        text.push_str(record);
        let mut start = 0;
        fields.extend(self.ends[..self.ended].iter().map(|&end| std::mem::replace(&mut start, end)..end));
        true
    }
}
