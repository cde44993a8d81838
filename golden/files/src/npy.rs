//! The header of a `.npy` file, as `NumPy` writes it.
//!
//! A header is a Python dictionary in text. This reads the one shape that `NumPy` writes and refuses the rest of the
//! language; a general parser of Python literals can be kept busy for minutes by two dozen brackets.

/// What a header says: the dtype as text ("<i4"), whether the order is Fortran's, and the extents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: String,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<u64>,
}

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

impl Header {
    /// Reads the dictionary: the text after magic, version and length. `None` if it is anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut cursor = Cursor(text);
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        cursor.eat("{")?;
        while cursor.eat("}").is_none() {
            let key = cursor.string()?;
            cursor.eat(":")?;
            match key {
                "descr" => dtype = Some(cursor.string()?.to_owned()),
                "fortran_order" => fortran = Some(cursor.boolean()?),
                "shape" => shape = Some(cursor.tuple()?),
                _ => return None,
            }
            if cursor.eat(",").is_none() {
                cursor.eat("}")?;
                break;
            }
        }
        cursor.0.trim().is_empty().then_some(Self { dtype: dtype?, fortran: fortran?, shape: shape? })
    }

    /// Magic, version 1.0, length and dictionary of an array of these extents, in C order; padded so that the data starts at
    /// a multiple of 64 bytes.
    pub(crate) fn encode(dtype: &str, shape: &[u64]) -> Vec<u8> {
        let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
        // A tuple of one element needs its comma.
        let shape = format!("({}{})", extents.join(", "), if shape.len() == 1 { "," } else { "" });
        let mut text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
        let before = MAGIC.len() + 4;
        let padding = (before + text.len() + 1).next_multiple_of(64) - before - text.len() - 1;
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        let length = u16::try_from(text.len()).expect("the header of a plain array is short");
        [&MAGIC[..], &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
    }
}

/// What is still to be read.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn eat(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = if self.eat("'").is_some() { '\'' } else { self.eat("\"").map(|()| '"')? };
        let (string, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        (!string.contains('\\')).then_some(string)
    }

    fn boolean(&mut self) -> Option<bool> {
        self.eat("True").map(|()| true).or_else(|| self.eat("False").map(|()| false))
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        let mut extents = Vec::new();
        self.eat("(")?;
        while self.eat(")").is_none() {
            let text = self.0.trim_start();
            let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
            extents.push(digits.parse().ok()?);
            self.0 = rest;
            if self.eat(",").is_none() {
                self.eat(")")?;
                break;
            }
        }
        Some(extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(dtype: &str, fortran: bool, shape: &[u64]) -> Header {
        Header { dtype: dtype.into(), fortran, shape: shape.into() }
    }

    #[test]
    fn reads_what_numpy_writes() {
        let parse = Header::parse;
        let text = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }      \n";
        assert_eq!(parse(text), Some(header("<i4", false, &[3])));
        assert_eq!(parse("{'shape':(),'descr':'|S3','fortran_order':True}"), Some(header("|S3", true, &[])));
        assert_eq!(
            parse("{\"descr\": \"<f8\", 'fortran_order': False, 'shape': (2, 5)}"),
            Some(header("<f8", false, &[2, 5]))
        );
    }

    #[test]
    fn refuses_the_rest_of_python() {
        let cases = [
            "",
            "{",
            "[[[[[[[[[[[[[[[[[[[[[[[[",
            "{'descr': '<i4', 'fortran_order': False}",
            "{'descr': '<i4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} 1",
        ];
        for text in cases {
            assert_eq!(Header::parse(text), None, "{text}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for shape in [&[][..], &[0], &[3], &[123_718_280], &[2_449_029, 100]] {
            let bytes = Header::encode("<i8", shape);
            assert_eq!((bytes.len() % 64, bytes[bytes.len() - 1]), (0, b'\n'));
            assert_eq!(Header::parse(std::str::from_utf8(&bytes[10..]).unwrap()), Some(header("<i8", false, shape)));
        }
    }
}
