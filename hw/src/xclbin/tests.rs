use super::*;
use crate::{kernel_xml, registers::ARGS};

/// A card with two memories and one kernel, whose argument 12 reaches the second.
fn small() -> Xclbin {
    let memory = |tag: &str, base| Memory { tag: tag.to_owned(), kind: Memory::DDR4, used: true, kib: 1024, base };
    Xclbin {
        uuid: *b"0123456789abcdef",
        platform: "trisage:card:emulated:1.0".to_owned(),
        mode: Mode::SoftwareEmulation,
        memories: vec![memory("DDR[0]", 0), memory("DDR[1]", 1 << 20)],
        ips: vec![Ip {
            name: "trisage_sampler:trisage_sampler_1".to_owned(),
            kind: Ip::KERNEL,
            properties: Ip::AP_CTRL_CHAIN << 8 | 1,
            base: 0x1_0000,
        }],
        connections: vec![Connection { arg: 12, ip: 0, memory: 1 }],
        metadata: kernel_xml::linked(4, &[kernel_xml::Unit { name: kernel_xml::UNITS[0], base: 0x1_0000 }]),
    }
}

/// Why the small card's file is refused when these bytes lie at `at`.
fn refused(at: usize, bytes: &[u8]) -> String {
    let mut file = small().write().unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    Xclbin::read(&file).unwrap_err().to_string()
}

/// Where the header of section `index` lies, and where its content does.
fn section_at(index: usize) -> (usize, usize) {
    let header = 456 + 40 * index;
    let file = small().write().unwrap();
    (header, u64::from_le_bytes(file[header + 24..header + 32].try_into().unwrap()) as usize)
}

#[test]
fn what_is_written_is_read() {
    let file = small();
    let bytes = file.write().unwrap();
    assert_eq!(Xclbin::read(&bytes), Ok(file.clone()));
    assert_eq!(u64::from_le_bytes(bytes[304..312].try_into().unwrap()), bytes.len() as u64);
    for index in 0..4 {
        assert_eq!(section_at(index).1 % 8, 0, "sections are aligned");
    }
    assert_eq!(Xclbin::read(&[&bytes[..], b"signature"].concat()), Ok(file), "more may follow");
}

#[test]
fn a_unit_and_its_memories_are_found() {
    let file = small();
    let unit = file.unit(kernel_xml::KERNEL, kernel_xml::UNITS[0]).unwrap();
    assert_eq!(file.unit(kernel_xml::KERNEL, kernel_xml::UNITS[1]), None);
    assert_eq!((ARGS[12].name, file.memory_of(unit, 12).unwrap().tag.as_str()), ("offsets", "DDR[1]"));
    assert_eq!((file.memory_of(unit, 0), file.memory_of(1, 12)), (None, None));
    assert_eq!(file.ips[unit].control(), Ip::AP_CTRL_CHAIN);
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_it_is() {
    let bytes = small().write().unwrap();
    for length in 0..bytes.len() {
        let why = Xclbin::read(&bytes[..length]).unwrap_err().to_string();
        assert!(
            why.contains("the header of an xclbin alone") || why.contains("it says that it has"),
            "{length}: {why}"
        );
    }
}

#[test]
fn each_fault_has_its_sentence() {
    assert_eq!(refused(0, b"\x7fELF"), "it begins with \"\\u{7f}ELFin2\\u{0}\", an xclbin with \"xclbin2\"");
    assert!(refused(448, &[0, 0, 1, 1]).contains("16842752 sections, and the most there can be is 65536"));
    assert!(refused(448, &[0, 0, 1, 0]).contains("the headers of its 65536 sections end at byte 2621896"));
    // XRT would read none of the file, and crash.
    assert_eq!(refused(304, &[0; 8]), "the headers of its 4 sections end at byte 616, and it has 0");
    assert!(refused(304, &[0, 3]).contains("and the file has 768"), "what lies past its end is not the file's");
    let (metadata, _) = section_at(0);
    assert!(refused(metadata + 24, &[0xFF; 8]).contains("its section of kind 2 has"));
    assert!(refused(metadata + 32, &[0xFF; 8]).contains("18446744073709551615 bytes from byte"));
    let (_, memories) = section_at(1);
    assert!(
        refused(memories, &[9, 0, 0, 0]).contains("its MEM_TOPOLOGY says that it has 9 entries, which its 88 bytes")
    );
    assert!(refused(memories, &[0xFF; 4]).contains("it has -1 entries"));
    assert!(refused(memories + 8 + 24, &[0xFF]).contains("the name of a memory is not UTF-8 from its byte 0 on"));
    let (_, connections) = section_at(2);
    assert_eq!(
        refused(connections + 12, &[2]),
        "its connection 0 is of IP 0 with memory 2, and there are 1 IPs and 2 memories"
    );
    assert!(refused(connections + 4, &[0xFF; 4]).contains("has the index -1"));
    let (connectivity, _) = section_at(2);
    assert!(refused(connectivity + 32, &[3, 0]).contains("its CONNECTIVITY has 3 bytes, too few for a count"));
}

#[test]
fn what_has_no_place_is_not_written() {
    let mut long = small();
    long.memories[0].tag = "a memory with a long name".to_owned();
    assert!(long.write().unwrap_err().to_string().contains("it may have 15 bytes"));
    let mut nowhere = small();
    nowhere.connections[0].ip = 7;
    assert!(nowhere.write().unwrap_err().to_string().contains("is of IP 7"));
    let mut far = small();
    far.connections[0].arg = 1 << 31;
    assert!(far.write().unwrap_err().to_string().contains("the index 2147483648"));
}
