//! The file that a card is programmed with, as far as a sampler needs it: who it is for, its memories, its kernels and which
//! argument reaches which memory (XRT `include/xclbin.h`, "AXLF LAYOUT").
//!
//! [`Xclbin::read`] takes any bytes: everything that a file says of its own lengths is checked before it is believed.
//! [`Xclbin::write`] makes the file for a card that is not there; a real one comes from `v++`.

mod layout;

use std::fmt;

use layout::{ConnectionData, EMBEDDED_METADATA, Entry, FileHeader, IpData, MemData, SectionHeader};
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// What a file says, in the types of this crate. Sections that are not named here are passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xclbin {
    /// Which build it is; XRT asks for it with every kernel that is opened.
    pub uuid: [u8; 16],
    /// Vendor, board, name and version of the platform that it was linked for. At most 63 bytes.
    pub platform: String,
    /// What it runs on.
    pub mode: Mode,
    /// `MEM_TOPOLOGY`: what memory there is, by index.
    pub memories: Vec<Memory>,
    /// `IP_LAYOUT`: what has registers, by index.
    pub ips: Vec<Ip>,
    /// CONNECTIVITY: which argument of which IP reaches which memory.
    pub connections: Vec<Connection>,
    /// `EMBEDDED_METADATA`: the linked `kernel.xml`. Empty if there is none.
    pub metadata: String,
}

/// What a file runs on (`XCLBIN_MODE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A card: 0 to 3, of which `v++` writes 1.
    Hardware(u16),
    /// XRT's hardware emulation: 4 or 6.
    HardwareEmulation(u16),
    /// XRT's software emulation: 5.
    SoftwareEmulation,
    /// A later XRT's.
    Other(u16),
}

impl Mode {
    fn new(mode: u16) -> Self {
        match mode {
            0..=3 => Self::Hardware(mode),
            4 | 6 => Self::HardwareEmulation(mode),
            5 => Self::SoftwareEmulation,
            _ => Self::Other(mode),
        }
    }

    fn get(self) -> u16 {
        match self {
            Self::Hardware(mode) | Self::HardwareEmulation(mode) | Self::Other(mode) => mode,
            Self::SoftwareEmulation => 5,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hardware(_) => f.write_str("a card"),
            Self::HardwareEmulation(_) => f.write_str("hardware emulation"),
            Self::SoftwareEmulation => f.write_str("software emulation"),
            Self::Other(mode) => write!(f, "mode {mode}"),
        }
    }
}

/// One memory of the card (`mem_data`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name, such as `DDR[0]` or `HBM[7]`. At most 15 bytes.
    pub tag: String,
    /// `MEM_TYPE`: [`Memory::DDR4`], [`Memory::HBM`], [`Memory::HOST`] or another.
    pub kind: u8,
    /// Whether a kernel is connected to it.
    pub used: bool,
    /// Its size in KiB.
    pub kib: u64,
    /// The card address of its first byte.
    pub base: u64,
}

impl Memory {
    /// Memory chips beside the card's FPGA.
    pub const DDR4: u8 = 1;
    /// A pseudo channel of high-bandwidth memory.
    pub const HBM: u8 = 6;
    /// Host memory, which the card reaches through its slave bridge.
    pub const HOST: u8 = 10;
}

/// Something with registers (`ip_data`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ip {
    /// `KERNEL:INSTANCE` for an instance of a kernel. At most 63 bytes.
    pub name: String,
    /// `IP_TYPE`; [`Ip::KERNEL`] for an instance of a kernel.
    pub kind: u32,
    /// For a kernel: bit 0 interrupt enabled, bits 7..1 its number, bits 15..8 the control protocol.
    pub properties: u32,
    /// Where its registers begin.
    pub base: u64,
}

impl Ip {
    /// [`Ip::kind`] of a kernel.
    pub const KERNEL: u32 = 1;
    /// The control protocol `ap_ctrl_chain`, as [`Ip::control`] gives it.
    pub const AP_CTRL_CHAIN: u32 = 1;

    /// The control protocol of a kernel.
    pub fn control(&self) -> u32 {
        self.properties >> 8 & 0xFF
    }
}

/// One connection of an argument with a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The argument's id.
    pub arg: u32,
    /// Index in [`Xclbin::ips`].
    pub ip: u32,
    /// Index in [`Xclbin::memories`].
    pub memory: u32,
}

/// Why bytes are not an xclbin that can be used, or a value has no place in one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct XclbinError(String);

type Result<T> = std::result::Result<T, XclbinError>;

fn refuse<T>(why: String) -> Result<T> {
    Err(XclbinError(why))
}

/// Sections that a file may have, as XRT has it.
const MAX_SECTIONS: u32 = 0x1_0000;

impl Xclbin {
    /// The memory that an argument of an IP reaches; the first where there are several. `None` for a scalar, and for an address
    /// that is not connected.
    pub fn memory_of(&self, ip: usize, arg: usize) -> Option<&Memory> {
        let is_it = |c: &&Connection| c.ip as usize == ip && c.arg as usize == arg;
        self.memories.get(self.connections.iter().find(is_it)?.memory as usize)
    }

    /// The index of the instance `unit` of `kernel` in [`Xclbin::ips`].
    pub fn unit(&self, kernel: &str, unit: &str) -> Option<usize> {
        let name = format!("{kernel}:{unit}");
        self.ips.iter().position(|ip| ip.kind == Ip::KERNEL && ip.name == name)
    }

    /// What the bytes of a file say.
    ///
    /// # Errors
    /// A sentence that says what is wrong, and where.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let Ok((header, _)) = FileHeader::read_from_prefix(bytes) else {
            let (have, need) = (bytes.len(), size_of::<FileHeader>());
            return refuse(format!("it has {have} bytes, and the header of an xclbin alone has {need}"));
        };
        if header.magic != *layout::MAGIC {
            let found = String::from_utf8_lossy(&header.magic).escape_default().to_string();
            return refuse(format!("it begins with \"{found}\", an xclbin with \"xclbin2\""));
        }
        let length = header.length.get();
        // XRT reads as many bytes as the header says, and looks for everything in them.
        let Some(bytes) = usize::try_from(length).ok().and_then(|length| bytes.get(..length)) else {
            return refuse(format!("it says that it has {length} bytes, and has {}", bytes.len()));
        };
        let sections = Sections::new(bytes, header.sections.get())?;
        let file = Self {
            uuid: header.uuid,
            platform: text(&header.platform, "the name of its platform")?,
            mode: Mode::new(header.mode.get()),
            memories: sections.items()?.iter().map(memory).collect::<Result<_>>()?,
            ips: sections.items()?.iter().map(ip).collect::<Result<_>>()?,
            connections: sections.items()?.iter().map(connection).collect::<Result<_>>()?,
            metadata: text(sections.get(EMBEDDED_METADATA)?.unwrap_or_default(), "its EMBEDDED_METADATA")?,
        };
        file.check_connections()?;
        Ok(file)
    }

    /// The bytes of a file that says this. It holds no bitstream.
    ///
    /// # Errors
    /// A name that is too long for its field, or a connection of what is not there.
    pub fn write(&self) -> Result<Vec<u8>> {
        self.check_connections()?;
        let mut file = FileHeader::new_zeroed();
        file.magic = *layout::MAGIC;
        file.signature_length = (-1).into();
        file.reserved.fill(0xFF);
        file.key_block.fill(0xFF);
        file.version_major = 2;
        file.mode = self.mode.get().into();
        file.uuid = self.uuid;
        put(&mut file.platform, &self.platform, "the name of its platform")?;

        let sections = [
            (EMBEDDED_METADATA, self.metadata.as_bytes().to_vec()),
            section(self.memories.iter().map(MemData::try_from))?,
            section(self.connections.iter().map(ConnectionData::try_from))?,
            section(self.ips.iter().map(IpData::try_from))?,
        ];
        let count = sections.len();
        let mut headers = Vec::new();
        let mut data = Vec::new();
        let begin = size_of::<FileHeader>() + count * size_of::<SectionHeader>();
        for (kind, content) in sections {
            let mut header = SectionHeader::new_zeroed();
            header.kind = kind.into();
            header.offset = ((begin + data.len()) as u64).into();
            header.size = (content.len() as u64).into();
            headers.extend(header.as_bytes());
            data.extend(content);
            data.resize(data.len().next_multiple_of(8), 0);
        }
        file.sections = (count as u32).into();
        file.length = ((begin + data.len()) as u64).into();
        Ok([file.as_bytes(), &headers, &data].concat())
    }

    fn check_connections(&self) -> Result<()> {
        for (at, Connection { ip, memory, .. }) in self.connections.iter().enumerate() {
            let (ips, memories) = (self.ips.len(), self.memories.len());
            if *ip as usize >= ips || *memory as usize >= memories {
                return refuse(format!(
                    "its connection {at} is of IP {ip} with memory {memory}, and there are {ips} IPs and {memories} memories"
                ));
            }
        }
        Ok(())
    }
}

/// The sections of a file, all within its bytes.
struct Sections<'a> {
    bytes: &'a [u8],
    headers: Vec<SectionHeader>,
}

impl<'a> Sections<'a> {
    fn new(bytes: &'a [u8], count: u32) -> Result<Self> {
        if count > MAX_SECTIONS {
            return refuse(format!(
                "it says that it has {count} sections, and the most there can be is {MAX_SECTIONS}"
            ));
        }
        let first = size_of::<FileHeader>();
        let end = first + count as usize * size_of::<SectionHeader>();
        let Some(headers) = bytes.get(first..end) else {
            return refuse(format!(
                "the headers of its {count} sections end at byte {end}, and it has {}",
                bytes.len()
            ));
        };
        let headers = headers.chunks_exact(size_of::<SectionHeader>());
        let headers = headers.map(|h| SectionHeader::read_from_bytes(h).expect("a chunk is a header")).collect();
        Ok(Self { bytes, headers })
    }

    /// The bytes of the first section of this kind.
    fn get(&self, kind: u32) -> Result<Option<&'a [u8]>> {
        let Some(header) = self.headers.iter().find(|header| header.kind.get() == kind) else {
            return Ok(None);
        };
        let (offset, size) = (header.offset.get(), header.size.get());
        let range = usize::try_from(offset).ok().zip(offset.checked_add(size).and_then(|end| end.try_into().ok()));
        match range.and_then(|(begin, end): (usize, usize)| self.bytes.get(begin..end)) {
            Some(data) => Ok(Some(data)),
            None => refuse(format!(
                "its section of kind {kind} has {size} bytes from byte {offset} on, and the file has {}",
                self.bytes.len()
            )),
        }
    }

    /// The entries of the section of this type; none if it is not there.
    fn items<T: Entry>(&self) -> Result<Vec<T>> {
        let Some(data) = self.get(T::KIND)? else { return Ok(vec![]) };
        let Some((count, _)) = data.split_first_chunk() else {
            return refuse(format!("its {} has {} bytes, too few for a count", T::NAME, data.len()));
        };
        let count = i32::from_le_bytes(*count);
        let bytes = usize::try_from(count).ok().and_then(|count| {
            let end = count.checked_mul(size_of::<T>())?.checked_add(T::FIRST)?;
            if count == 0 { Some(&[][..]) } else { data.get(T::FIRST..end) }
        });
        let Some(bytes) = bytes else {
            let (name, bytes) = (T::NAME, data.len());
            return refuse(format!("its {name} says that it has {count} entries, which its {bytes} bytes do not hold"));
        };
        let entries = bytes.chunks_exact(size_of::<T>());
        Ok(entries.map(|bytes| T::read_from_bytes(bytes).unwrap_or_else(|_| unreachable!("so long"))).collect())
    }
}

/// Kind and bytes of the section that holds these entries.
fn section<T: Entry>(entries: impl ExactSizeIterator<Item = Result<T>>) -> Result<(u32, Vec<u8>)> {
    let mut bytes = (entries.len() as u32).to_le_bytes().to_vec();
    bytes.resize(T::FIRST, 0);
    for entry in entries {
        bytes.extend(entry?.as_bytes());
    }
    Ok((T::KIND, bytes))
}

fn memory(data: &MemData) -> Result<Memory> {
    let tag = text(&data.tag, "the name of a memory")?;
    let (kind, used) = (data.kind, data.used != 0);
    Ok(Memory { tag, kind, used, kib: data.kib.get(), base: data.base.get() })
}

fn ip(data: &IpData) -> Result<Ip> {
    let name = text(&data.name, "the name of an IP")?;
    Ok(Ip { name, kind: data.kind.get(), properties: data.properties.get(), base: data.base.get() })
}

fn connection(data: &ConnectionData) -> Result<Connection> {
    let index = |value: i32| {
        u32::try_from(value).or_else(|_| refuse(format!("a connection has the index {value}; indices begin at 0")))
    };
    let (arg, ip, memory) = (index(data.arg.get())?, index(data.ip.get())?, index(data.memory.get())?);
    Ok(Connection { arg, ip, memory })
}

impl TryFrom<&Memory> for MemData {
    type Error = XclbinError;

    fn try_from(memory: &Memory) -> Result<Self> {
        let mut data = Self::new_zeroed();
        (data.kind, data.used) = (memory.kind, memory.used.into());
        (data.kib, data.base) = (memory.kib.into(), memory.base.into());
        put(&mut data.tag, &memory.tag, "the name of a memory")?;
        Ok(data)
    }
}

impl TryFrom<&Ip> for IpData {
    type Error = XclbinError;

    fn try_from(ip: &Ip) -> Result<Self> {
        let mut data = Self::new_zeroed();
        (data.kind, data.properties, data.base) = (ip.kind.into(), ip.properties.into(), ip.base.into());
        put(&mut data.name, &ip.name, "the name of an IP")?;
        Ok(data)
    }
}

impl TryFrom<&Connection> for ConnectionData {
    type Error = XclbinError;

    fn try_from(connection: &Connection) -> Result<Self> {
        let index = |value: u32| {
            let small = i32::try_from(value).map(Into::into);
            small.or_else(|_| refuse(format!("a connection has the index {value}; it may be 2^31 - 1 at most")))
        };
        let Connection { arg, ip, memory } = *connection;
        Ok(Self { arg: index(arg)?, ip: index(ip)?, memory: index(memory)? })
    }
}

/// The text of a field, to its first NUL.
fn text(field: &[u8], what: &str) -> Result<String> {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    match std::str::from_utf8(&field[..end]) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => refuse(format!("{what} is not UTF-8 from its byte {} on", error.valid_up_to())),
    }
}

/// Puts text into a field, which ends in a NUL.
fn put(field: &mut [u8], text: &str, what: &str) -> Result<()> {
    let room = field.len() - 1;
    if text.len() > room || text.contains('\0') {
        return refuse(format!("{what} is \"{}\"; it may have {room} bytes, none of them NUL", text.escape_default()));
    }
    field[..text.len()].copy_from_slice(text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests;
