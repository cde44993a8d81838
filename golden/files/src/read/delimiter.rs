//! What separates the fields of a table's records, and where the fields of a line are then.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::text::is_number;

/// What separates the fields of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// Spaces and tabs, as many as there are.
    Blanks,
    /// This byte.
    Byte(u8),
}

impl Delimiter {
    /// That of a file whose first record is (or starts with) this line.
    pub(super) fn of(line: &[u8]) -> Self {
        let bare = outside_quotes(line);
        let bare = bare.trim_ascii();
        let has = |byte| memchr(byte, bare).is_some();
        // Of a line such as `0;1;0,5` or `0\tSmith, J.` the comma is part of a field, of `0,1,a;b` the semicolon.
        let comma_first = |byte| bare.split(|found| *found == byte).next().is_some_and(|field| field.contains(&b','));
        if has(b'\t') && !comma_first(b'\t') {
            // Numbers have no blanks in them: tabs and spaces mix freely then, and no field is empty.
            let numbers =
                bare.split(|byte| matches!(byte, b' ' | b'\t')).all(|field| field.is_empty() || is_value_of(field));
            return if numbers { Self::Blanks } else { Self::Byte(b'\t') };
        }
        [b';', b'|']
            .into_iter()
            .find(|byte| has(*byte) && !comma_first(*byte))
            .map_or_else(|| if has(b',') { Self::Byte(b',') } else { Self::Blanks }, Self::Byte)
    }

    /// Between what fields stand, as it reads behind their number; blanks need no mention.
    pub(super) fn between(self) -> &'static str {
        match self {
            Self::Byte(b'\t') => " between tabs",
            Self::Byte(b';') => " between semicolons",
            Self::Byte(b'|') => " between bars",
            Self::Byte(_) => " between commas",
            Self::Blanks => "",
        }
    }

    /// Appends where the fields of a line without quotes are.
    #[inline]
    pub(super) fn split(self, line: &[u8], fields: &mut Vec<Range<usize>>) {
        let mut start = 0;
        match self {
            Self::Byte(byte) => {
                for end in memchr_iter(byte, line) {
                    fields.push(start..end);
                    start = end + 1;
                }
                fields.push(start..line.len());
            }
            Self::Blanks => {
                for (at, byte) in line.iter().enumerate() {
                    if matches!(byte, b' ' | b'\t') {
                        if start < at {
                            fields.push(start..at);
                        }
                        start = at + 1;
                    }
                }
                if start < line.len() {
                    fields.push(start..line.len());
                }
            }
        }
    }

    /// Where the Python dictionary starts that is the last field of a line; its length if there is none.
    pub(super) fn dictionary(self, line: &str) -> usize {
        if !line.trim_end().ends_with('}') {
            return line.len();
        }
        let separates = |byte: u8| match self {
            Self::Blanks => matches!(byte, b' ' | b'\t'),
            Self::Byte(delimiter) => byte == delimiter || byte == b' ',
        };
        let bytes = line.as_bytes();
        let starts = |&at: &usize| at > 0 && separates(bytes[at - 1]);
        memchr_iter(b'{', bytes).find(starts).unwrap_or(line.len())
    }
}

/// Splits a line between blanks that has quotes; whether they are closed. The fields are appended to `text`, unquoted.
pub(super) fn split_quoted_blanks(line: &str, text: &mut String, fields: &mut Vec<Range<usize>>) -> bool {
    let mut rest = line.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        let start = text.len();
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted;
            loop {
                let Some((part, after)) = rest.split_once('"') else { return false };
                text.push_str(part);
                rest = after;
                // Two are one that is meant.
                let Some(after) = rest.strip_prefix('"') else { break };
                text.push('"');
                rest = after;
            }
            fields.push(start..text.len());
        } else {
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            text.push_str(&rest[..end]);
            fields.push(start..text.len());
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches([' ', '\t']);
    }
    true
}

/// What of a line stands outside double quotes.
fn outside_quotes(line: &[u8]) -> Vec<u8> {
    let mut quoted = false;
    let outside = line.iter().filter(|byte| {
        quoted ^= **byte == b'"';
        !quoted && **byte != b'"'
    });
    outside.copied().collect()
}

/// Whether a field is a value and not a name: a number, `nan`, `inf`, true or false, or a Python dictionary.
pub fn is_value(field: &str) -> bool {
    is_number(field)
        || field.parse::<f64>().is_ok()
        || field.eq_ignore_ascii_case("true")
        || field.eq_ignore_ascii_case("false")
        || field.starts_with('{') && field.ends_with('}')
}

fn is_value_of(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(is_value)
}
