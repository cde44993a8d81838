//! An xclbin of any content comes back as it was written, and no bytes whatever make its reader panic.

use hw::xclbin::{Connection, Ip, Memory, Mode, Xclbin};
use proptest::prelude::*;
use test_support::Property;

fn memory() -> impl Strategy<Value = Memory> {
    ("[ -~]{0,15}", any::<u8>(), any::<bool>(), any::<u64>(), any::<u64>())
        .prop_map(|(tag, kind, used, kib, base)| Memory { tag, kind, used, kib, base })
}

fn ip() -> impl Strategy<Value = Ip> {
    ("[ -~]{0,63}", any::<u32>(), any::<u32>(), any::<u64>()).prop_map(|(name, kind, properties, base)| Ip {
        name,
        kind,
        properties,
        base,
    })
}

fn file() -> impl Strategy<Value = Xclbin> {
    let mode = prop_oneof![
        (0..4u16).prop_map(Mode::Hardware),
        prop_oneof![Just(4u16), Just(6)].prop_map(Mode::HardwareEmulation),
        Just(Mode::SoftwareEmulation),
        (7..=u16::MAX).prop_map(Mode::Other),
    ];
    let parts = (prop::collection::vec(memory(), 1..6), prop::collection::vec(ip(), 1..6));
    (any::<[u8; 16]>(), "[ -~é]{0,31}", mode, parts, "[ -~\n]{0,300}").prop_flat_map(
        |(uuid, platform, mode, (memories, ips), metadata)| {
            let connection = (0..1u32 << 31, 0..ips.len() as u32, 0..memories.len() as u32)
                .prop_map(|(arg, ip, memory)| Connection { arg, ip, memory });
            prop::collection::vec(connection, 0..20).prop_map(move |connections| Xclbin {
                uuid,
                platform: platform.clone(),
                mode,
                memories: memories.clone(),
                ips: ips.clone(),
                connections,
                metadata: metadata.clone(),
            })
        },
    )
}

#[test]
fn xclbin_round_trip() {
    Property::new("xclbin_round_trip", 200).check(
        &file(),
        |file| {
            let bytes = file.write().map_err(|error| error.to_string())?;
            let read = Xclbin::read(&bytes).map_err(|error| error.to_string())?;
            if &read == file { Ok(()) } else { Err(format!("it was read as {read:?}")) }
        },
        |_| String::new(),
    );
}

/// Bytes that are put in place of others: those of the headers are hit more often than others.
fn hostile() -> impl Strategy<Value = (Xclbin, Vec<(usize, u8)>, usize)> {
    let at = prop_oneof![304..320usize, 440..640usize, 0..4096usize];
    let byte = prop_oneof![Just(0u8), Just(0xFF), Just(0x7F), any::<u8>()];
    (file(), prop::collection::vec((at, byte), 0..12), 0..8192usize)
}

#[test]
fn xclbin_hostile_bytes() {
    Property::new("xclbin_hostile_bytes", 1000).check(
        &hostile(),
        |(file, changes, length)| {
            let mut bytes = file.write().map_err(|error| error.to_string())?;
            for &(at, byte) in changes {
                let len = bytes.len();
                bytes[at % len] = byte;
            }
            bytes.truncate(*length);
            match Xclbin::read(&bytes) {
                Ok(read) if read.connections.iter().any(|c| c.memory as usize >= read.memories.len()) => {
                    Err("a connection leads nowhere".to_owned())
                }
                Err(error) if error.to_string().is_empty() || error.to_string().contains('\n') => {
                    Err(format!("not one sentence: {error}"))
                }
                _ => Ok(()),
            }
        },
        |_| String::new(),
    );
}
