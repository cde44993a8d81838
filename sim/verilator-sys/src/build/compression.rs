//! LZ4 and zlib, with which FST waves are compressed: headers and static libraries, which `build.rs` takes from the crates that
//! bring their sources.
//!
//! They are a part of this crate, as models are compiled at run time, on machines that may have neither, by a program that
//! may have been copied there.

/// The name of a file, and what is in it.
pub(super) type File = (&'static str, &'static [u8]);

macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name)).as_slice())
    };
}

/// The headers that Verilator's writer of FST includes.
pub(super) const HEADERS: [File; 3] = [file!("lz4.h"), file!("zlib.h"), file!("zconf.h")];

/// The libraries that it is linked to.
pub(super) const LIBRARIES: [File; 2] = [file!("liblz4.a"), file!("libz.a")];
