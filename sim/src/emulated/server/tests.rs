//! The server against what XRT says, and against what nobody should.

use std::{collections::BTreeMap, io};

use proptest::prelude::*;
use prost::Message;
use tempfile::TempDir;

use super::{
    super::wire::tests::{call, replies},
    *,
};

/// Both ways of a connection.
struct Duplex<'a> {
    input: &'a [u8],
    output: Vec<u8>,
}

impl Read for Duplex<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.input.read(into)
    }
}

impl Write for Duplex<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.output.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Registers that keep what is written. From offset 0x800 on there are none.
#[derive(Default)]
struct Plain(BTreeMap<u32, u32>);

impl Registers for Plain {
    fn read(&mut self, offset: u32) -> Result<u32, String> {
        if offset < 0x800 { Ok(self.0.get(&offset).copied().unwrap_or(0)) } else { Err("broken".to_owned()) }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), String> {
        self.0.insert(offset, value);
        Ok(())
    }
}

/// What the server says to these bytes: its replies, its faults, and how it ended.
fn say(bytes: &[u8]) -> (Vec<Reply>, Vec<String>, Result<(), String>) {
    let folder = TempDir::new().unwrap();
    let memory = Arc::new(Mutex::new(CardMemory::new(folder.path(), 1 << 30)));
    let units = Slr::ALL.map(|_| Box::<Plain>::default() as Box<dyn Registers>).into();
    let mut server = Server { memory, units, served: Served::default() };
    let mut stream = Duplex { input: bytes, output: vec![] };
    let ended = server.run(&mut stream);
    (replies(&stream.output), server.served.faults, ended)
}

#[test]
fn memory_is_allocated_written_and_read() {
    let bytes = [
        call(api::ALLOC, &Alloc { address: 0x1000, bytes: 100, shared: false }),
        call(api::HOST_TO_DEVICE, &ToDevice { address: 0x1010, data: b"abc".to_vec() }),
        call(api::DEVICE_TO_HOST, &ToHost { address: 0x1010, bytes: 3 }),
        call(api::ALLOC, &Alloc { address: 0x2000, bytes: 100, shared: true }),
        call(api::CLOSE, &Close { all: true }),
        call(api::CLOSE, &Close { all: true }), // nobody listens any more
    ];
    let (replies, faults, ended) = say(&bytes.concat());
    assert_eq!((faults, ended), (vec![], Ok(())));
    assert_eq!(replies.len(), 5);
    assert_eq!(replies[..2], [Reply::done(), Reply { value: 3, data: None }]);
    assert_eq!(replies[2], Reply { value: 3, data: Some(b"abc".to_vec()) });
    let file = String::from_utf8(replies[3].data.clone().unwrap()).unwrap();
    assert!(file.ends_with("/buffer-0"), "{file}");
}

#[test]
fn registers_are_those_of_the_kernel_at_the_address() {
    let address = |slr: usize, offset: u64| Card::registers(Slr::ALL[slr]) + offset;
    let words = [7u32, 8].map(u32::to_le_bytes).concat();
    let bytes = [
        call(api::WRITE_KERNEL, &KernelAccess { address: address(1, 0x10), bytes: 8, data: words }),
        call(api::READ_KERNEL, &KernelAccess { address: address(1, 0x14), bytes: 4, data: vec![] }),
        call(api::READ_KERNEL, &KernelAccess { address: address(0, 0x14), bytes: 4, data: vec![] }),
        call(api::REG_READ, &RegisterRead { base: address(1, 0) as u32, offset: 0x10 }),
        call(api::READ_KERNEL, &KernelAccess { address: address(2, 0x800), bytes: 4, data: vec![] }),
        call(api::READ_KERNEL, &KernelAccess { address: 0x10, bytes: 4, data: vec![] }),
        call(api::READ_KERNEL, &KernelAccess { address: address(0, 2), bytes: 4, data: vec![] }),
    ];
    let (replies, faults, ended) = say(&bytes.concat());
    let word = |value: u32| Reply { value: 1, data: Some(value.to_le_bytes().to_vec()) };
    assert_eq!(replies[..4], [Reply::done(), word(8), word(0), word(7)]);
    assert_eq!(replies[4..], [Reply::refused(), Reply::refused(), Reply::refused()]);
    assert_eq!(faults, ["broken", "there is no register at 0x10", "there is no register at 0x1800002"]);
    assert_eq!(ended, Ok(()), "the other side may just close");
}

#[test]
fn an_exported_buffer_can_be_copied_to_and_imported() {
    let first = [call(api::ALLOC, &Alloc { address: 0x2000, bytes: 4096, shared: true })].concat();
    let (replies, _, _) = say(&first);
    let name =
        Path::new(std::str::from_utf8(replies[0].data.as_deref().unwrap()).unwrap()).file_name().unwrap().to_owned();
    assert_eq!(name, "buffer-0");
    let elsewhere = CopyBo { from: 0x1000, file: "/etc/passwd".to_owned(), bytes: 4, from_offset: 0, to_offset: 0 };
    let bytes = [
        call(api::ALLOC, &Alloc { address: 0x1000, bytes: 4096, shared: false }),
        call(api::COPY_BO, &elsewhere),
        call(api::IMPORT_BO, &ImportBo { file: "/etc/passwd".to_owned(), address: 0x1000 }),
    ];
    let (replies, faults, _) = say(&bytes.concat());
    assert_eq!(replies[1..], [Reply::refused(), Reply::refused()]);
    assert_eq!(faults, ["\"/etc/passwd\" is no buffer that was given out"; 2]);
}

#[test]
fn what_cannot_be_read_ends_the_connection_with_a_sentence() {
    let (replies, faults, ended) = say(b"\x09\x00\x00\x00\x00\x00\x00\x00\x01\x15\x04\x00\x00\x00");
    assert_eq!((replies, faults), (vec![], vec![]));
    assert!(ended.unwrap_err().starts_with("request 4 says that it has 72057594037927936 bytes"));
}

/// Any request, with numbers that tend to be at an edge.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        Just(0),
        Just(u64::MAX),
        0..0x4000u64,
        0x180_0000..0x184_0000u64,
        (1u64 << 30) - 8192..(1 << 30) + 8192,
        any::<u64>(),
    ];
    let data = prop::collection::vec(any::<u8>(), 0..40);
    (0..60u32, [number.clone(), number.clone(), number], data, any::<bool>()).prop_map(
        |(number, [a, b, c], data, flag)| {
            let file = String::from_utf8_lossy(&data).into_owned();
            match number % 14 {
                0 => call(api::ALLOC, &Alloc { address: a, bytes: b % (1 << 22), shared: flag }),
                1 => call(api::ALLOC, &Alloc { address: a & !0xFFF, bytes: b, shared: false }),
                2 => call(api::FREE, &Alloc { address: a, bytes: 0, shared: false }),
                3 => call(api::HOST_TO_DEVICE, &ToDevice { address: a, data }),
                4 => call(api::DEVICE_TO_HOST, &ToHost { address: a, bytes: b }),
                5 => call(api::WRITE_KERNEL, &KernelAccess { address: a, bytes: b as u32, data }),
                6 => call(api::READ_KERNEL, &KernelAccess { address: a, bytes: b as u32, data }),
                7 => call(api::REG_WRITE, &RegisterWrite { base: a as u32, offset: b as u32, data }),
                8 => call(api::REG_READ, &RegisterRead { base: a as u32, offset: b as u32 }),
                9 => call(api::COPY_BO, &CopyBo { from: a, file, bytes: b, from_offset: c, to_offset: a }),
                10 => call(api::IMPORT_BO, &ImportBo { file, address: a }),
                11 => call(api::CLOSE, &Close { all: false }),
                _ => call(number, &ToDevice { address: a, data }),
            }
        },
    )
}

test_support::properties! {
    /// Every request has its one reply, whatever it asks for; or ends the connection if it cannot be read.
    #[test]
    fn requests_are_answered(requests in prop::collection::vec(request(), 0..20)) {
        let (replies, _, ended) = say(&requests.concat());
        match ended {
            Ok(()) => prop_assert_eq!(replies.len(), requests.len()),
            Err(why) => prop_assert!(replies.len() < requests.len() && !why.is_empty()),
        }
    }

    /// Nothing panics and nothing hangs, whatever bytes come.
    #[test]
    fn bytes_are_survived(requests in prop::collection::vec(request(), 0..6), at in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..30)) {
        let mut bytes = requests.concat();
        let from = at.index(bytes.len() + 1);
        bytes.splice(from..(from + noise.len()).min(bytes.len()), noise);
        let (replies, faults, _) = say(&bytes);
        prop_assert!(faults.iter().all(|fault| !fault.contains('\n')));
        prop_assert!(replies.iter().all(|reply| reply.encoded_len() > 0));
    }
}
