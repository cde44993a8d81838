//! The bytes of an xclbin (XRT `include/xclbin.h`): little-endian, each structure as long as its C original.

use zerocopy::{
    FromBytes, Immutable, IntoBytes, KnownLayout,
    little_endian::{I32, U16, U32, U64},
};

/// What a file begins with.
pub(super) const MAGIC: &[u8; 8] = b"xclbin2\0";

/// `axlf` up to its section headers, with the `axlf_header` in it.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct FileHeader {
    pub(super) magic: [u8; 8],
    /// -1 for none.
    pub(super) signature_length: I32,
    pub(super) reserved: [u8; 28],
    pub(super) key_block: [u8; 256],
    pub(super) unique_id: U64,
    /// Bytes of the file.
    pub(super) length: U64,
    pub(super) time: U64,
    pub(super) feature_rom_time: U64,
    pub(super) version_patch: U16,
    pub(super) version_major: u8,
    pub(super) version_minor: u8,
    pub(super) mode: U16,
    pub(super) action_mask: U16,
    pub(super) rom: [u8; 16],
    pub(super) platform: [u8; 64],
    pub(super) uuid: [u8; 16],
    pub(super) debug_bin: [u8; 16],
    /// Section headers that follow.
    pub(super) sections: U32,
    pub(super) pad: [u8; 4],
}

const _: () = assert!(size_of::<FileHeader>() == 456);

/// `axlf_section_header`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct SectionHeader {
    pub(super) kind: U32,
    pub(super) name: [u8; 16],
    pub(super) pad: [u8; 4],
    /// From the beginning of the file.
    pub(super) offset: U64,
    pub(super) size: U64,
}

const _: () = assert!(size_of::<SectionHeader>() == 40);

/// `mem_data`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct MemData {
    pub(super) kind: u8,
    pub(super) used: u8,
    pub(super) pad: [u8; 6],
    pub(super) kib: U64,
    pub(super) base: U64,
    pub(super) tag: [u8; 16],
}

const _: () = assert!(size_of::<MemData>() == 40);

/// `ip_data`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct IpData {
    pub(super) kind: U32,
    pub(super) properties: U32,
    pub(super) base: U64,
    pub(super) name: [u8; 64],
}

const _: () = assert!(size_of::<IpData>() == 80);

/// `connection`.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct ConnectionData {
    pub(super) arg: I32,
    pub(super) ip: I32,
    pub(super) memory: I32,
}

const _: () = assert!(size_of::<ConnectionData>() == 12);

/// The kind of the section that holds the linked `kernel.xml`.
pub(super) const EMBEDDED_METADATA: u32 = 2;

/// What a section holds a table of: a count of 4 bytes, then from [`Entry::FIRST`] on the entries.
pub(super) trait Entry: FromBytes + IntoBytes + Immutable {
    /// The kind of the section.
    const KIND: u32;
    /// Its name in XRT's header.
    const NAME: &str;
    /// Where the first entry lies.
    const FIRST: usize;
}

impl Entry for MemData {
    const KIND: u32 = 6;
    const NAME: &str = "MEM_TOPOLOGY";
    const FIRST: usize = 8;
}

impl Entry for ConnectionData {
    const KIND: u32 = 7;
    const NAME: &str = "CONNECTIVITY";
    const FIRST: usize = 4;
}

impl Entry for IpData {
    const KIND: u32 = 8;
    const NAME: &str = "IP_LAYOUT";
    const FIRST: usize = 8;
}
