//! How files are compressed: what their names and their content say, and what packs and unpacks them.
//!
//! Content decides when a file is read, because names are wrong often enough: browsers unpack a `.gz` and keep its name. A
//! name decides how a file is written.

use std::{
    io::{self, BufRead, BufWriter, Read, Write},
    path::Path,
};

/// The most memory that a decoder may take for its dictionary, in bytes. `xz -9` needs 64 MiB, `zstd --ultra -22` 128 MiB.
pub(crate) const DICTIONARY_LIMIT: u64 = 1 << ZSTD_WINDOW_LOG;
const ZSTD_WINDOW_LOG: u32 = 27;
/// What xz takes beside its dictionary.
const XZ_OVERHEAD: u64 = 1 << 20;

/// A kind of compression that is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip, `.gz`.
    Gzip,
    /// bzip2, `.bz2`.
    Bzip2,
    /// xz, `.xz`.
    Xz,
    /// Zstandard, `.zst`.
    Zstd,
}

impl Compression {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Bzip2, Self::Xz, Self::Zstd];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// The extension of its files, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
            Self::Zstd => "zst",
        }
    }

    /// What the name of `path` says. Case does not matter.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        Self::ALL.into_iter().find(|kind| extension.eq_ignore_ascii_case(kind.extension()))
    }

    /// What the first bytes of a file say.
    pub(crate) fn of_content(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // Then a block, or the end of a stream without one.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => {
                Some(Self::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // A frame, or one to be skipped, with which parallel compressors start.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What `input` holds, unpacked. One compressed stream after the other is one file, as `cat a.gz b.gz` makes it, and
    /// zeros behind a stream are padding; anything else there is an error.
    pub(crate) fn decoder(self, input: impl BufRead + 'static) -> io::Result<impl Read> {
        Ok(Streams { kind: self, stream: Some(Stream::new(self, input)?) })
    }

    /// Writes to `out` what `content` writes, compressed.
    pub(crate) fn encode<W: Write>(
        self,
        out: W,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        // Encoders work more for a write than for a byte.
        let buffered = |encoder: &mut dyn Write| {
            let mut buffer = BufWriter::with_capacity(1 << 16, encoder);
            content(&mut buffer).and_then(|()| buffer.flush())
        };
        match self {
            Self::Gzip => {
                let mut out = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                buffered(&mut out)?;
                out.finish().map(drop)
            }
            Self::Bzip2 => {
                let mut out = bzip2::write::BzEncoder::new(out, bzip2::Compression::best());
                buffered(&mut out)?;
                out.finish().map(drop)
            }
            Self::Xz => {
                let mut out = liblzma::write::XzEncoder::new(out, 6);
                buffered(&mut out)?;
                out.finish().map(drop)
            }
            Self::Zstd => {
                let mut out = zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                out.include_checksum(true)?;
                buffered(&mut out)?;
                out.finish().map(drop)
            }
        }
    }
}

/// Whether a decoder failed because it may not take the memory that the data asks for.
pub(crate) fn needs_memory(error: &io::Error) -> bool {
    let xz = error.get_ref().and_then(|error| error.downcast_ref::<liblzma::stream::Error>());
    // zstd has no other way to tell.
    matches!(xz, Some(liblzma::stream::Error::MemLimit)) || error.to_string().contains("too much memory")
}

/// Compressed streams, one after the other.
struct Streams<R: BufRead> {
    kind: Compression,
    /// The one that is being unpacked; none after the last.
    stream: Option<Stream<R>>,
}

/// One compressed stream. Its reader stands behind its last byte when it has ended.
enum Stream<R: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<R>>),
    Bzip2(bzip2::bufread::BzDecoder<R>),
    Xz(liblzma::bufread::XzDecoder<R>),
    Zstd(zstd::stream::read::Decoder<'static, R>),
}

impl<R: BufRead> Stream<R> {
    fn new(kind: Compression, input: R) -> io::Result<Self> {
        Ok(match kind {
            Compression::Gzip => Self::Gzip(Box::new(flate2::bufread::GzDecoder::new(input))),
            Compression::Bzip2 => Self::Bzip2(bzip2::bufread::BzDecoder::new(input)),
            Compression::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(DICTIONARY_LIMIT + XZ_OVERHEAD, 0)?;
                Self::Xz(liblzma::bufread::XzDecoder::new_stream(input, stream))
            }
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?.single_frame();
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(decoder)
            }
        })
    }

    fn into_inner(self) -> R {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

impl<R: BufRead> Read for Stream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder) => decoder.read(buffer),
            Self::Xz(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

impl<R: BufRead> Read for Streams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(stream) = &mut self.stream {
            let count = stream.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let rest = self.stream.take().map(Stream::into_inner);
            self.stream = match rest.map(behind).transpose()?.flatten() {
                Some(input) => Some(Stream::new(self.kind, input)?),
                None => None,
            };
        }
        Ok(0)
    }
}

/// What is behind a compressed stream and the zeros that may follow it, if that is not the end of the file.
fn behind<R: BufRead>(mut input: R) -> io::Result<Option<R>> {
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let ends = zeros < bytes.len();
        input.consume(zeros);
        if ends {
            return Ok(Some(input));
        }
    }
}

/// What a file is, if its first bytes are those of a container or a compression that is not read.
pub(crate) fn container(start: &[u8]) -> Option<&'static str> {
    match start {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some("a zip archive"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7z archive"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some("a RAR archive"),
        [0x1f, 0x9d | 0xa0, ..] => Some("a file of compress (.Z)"),
        [4, 0x22, 0x4d, 0x18, ..] => Some("an lz4 file"),
        [b'L', b'Z', b'I', b'P', 1, ..] => Some("an lzip file"),
        [0x5d, 0, 0, ..] => Some("an lzma file"),
        _ if is_tar(start) => Some("a tar archive"),
        _ => None,
    }
}

/// Bytes with which it is decided what a file is: a header of tar.
pub(crate) const START: usize = 512;

/// Whether this is the header of a tar archive: the sum of its bytes stands in it, in octal (POSIX.1, "pax").
fn is_tar(start: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    if start.len() < START || !start.contains(&0) {
        return false;
    }
    let text = start[SUM].split(|byte| matches!(byte, 0 | b' ')).find(|word| !word.is_empty());
    let stated =
        text.and_then(|word| std::str::from_utf8(word).ok()).and_then(|word| u32::from_str_radix(word, 8).ok());
    let bytes = start[..START].iter().enumerate();
    let sum = bytes.map(|(at, byte)| if SUM.contains(&at) { b' '.into() } else { u32::from(*byte) }).sum();
    stated == Some(sum)
}

#[cfg(test)]
#[cfg(not(miri))] // C libraries
mod tests {
    use super::*;

    fn packed(kind: Compression, content: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        kind.encode(&mut packed, |out| out.write_all(content)).unwrap();
        packed
    }

    fn unpacked(kind: Compression, packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        // A short buffer, so that streams end and begin anywhere in it.
        let input = io::BufReader::with_capacity(7, io::Cursor::new(packed.to_vec()));
        kind.decoder(input)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn content_tells_the_kind() {
        for kind in Compression::ALL {
            for content in [&b""[..], b"0", b"0 1\n1 2\n"] {
                let packed = packed(kind, content);
                assert_eq!(Compression::of_content(&packed), Some(kind));
                assert_eq!(container(&packed), None, "{kind:?}");
            }
            assert_eq!(Compression::of_name(Path::new(&format!("a.txt.{}", kind.extension()))), Some(kind));
        }
        for text in [&b""[..], b"B", b"BZ", b"BZh9 0 1", b"PK", b"P*M", b"0 1\n", b"(", b"LZIP 1"] {
            assert_eq!((Compression::of_content(text), container(text)), (None, None), "{text:?}");
        }
    }

    #[test]
    fn streams_follow_each_other_and_may_be_padded() {
        let content: Vec<u8> = (0..2000u32).flat_map(|i| (i * i % 977).to_le_bytes()).collect();
        for kind in Compression::ALL {
            let [first, second] = [&content[..], b"more"].map(|part| packed(kind, part));
            let whole = [content.clone(), b"more".to_vec()].concat();
            assert_eq!(unpacked(kind, &first).unwrap(), content, "{kind:?}");
            let empty = packed(kind, b"");
            let both = [&first[..], &empty, &second].concat();
            assert_eq!(unpacked(kind, &both).unwrap(), whole, "{kind:?}");
            assert_eq!(unpacked(kind, &[&both[..], &[0; 1000]].concat()).unwrap(), whole, "{kind:?}");
            assert_eq!(unpacked(kind, &[&first[..], &[0; 8], &second].concat()).unwrap(), whole, "{kind:?}");
            for spoilt in [
                [&both[..], b"x"].concat(),
                [&both[..], &[0; 9], b"more"].concat(),
                both[..both.len() - 3].to_vec(),
                first[..first.len() / 2].to_vec(),
            ] {
                assert!(unpacked(kind, &spoilt).is_err(), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_dictionary_that_takes_too_much_memory_is_refused() {
        let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
        options.dict_size(1 << 29);
        let mut filters = liblzma::stream::Filters::new();
        filters.lzma2(&options);
        let stream = liblzma::stream::Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc32).unwrap();
        let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
        encoder.write_all(b"0 1\n").unwrap();
        assert!(needs_memory(&unpacked(Compression::Xz, &encoder.finish().unwrap()).unwrap_err()));

        // A frame that asks for a window of 2^31 bytes, with one block of "0 1\n" as it is.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x21, 0, 0, b'0', b' ', b'1', b'\n'];
        assert!(needs_memory(&unpacked(Compression::Zstd, &frame).unwrap_err()));
        assert!(!needs_memory(&unpacked(Compression::Zstd, &frame[..3]).unwrap_err()));
    }

    #[test]
    fn headers_of_tar_are_known_by_their_sum() {
        let mut header = [0; 512];
        header[..5].copy_from_slice(b"a.mtx");
        header[124..135].copy_from_slice(b"00000000010");
        assert!(!is_tar(&header));
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum::<u32>() + 8 * 32;
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        assert_eq!(container(&header), Some("a tar archive"));
        assert_eq!(container(&header[..511]), None);
    }
}
