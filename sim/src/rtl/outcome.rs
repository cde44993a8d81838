//! What a run that reported done has to say, and whether it agrees with what the memory saw.

use hw::{
    BusAccess, DeviceError, PortTraffic, RunReport,
    card::{CardAddress, Port},
    status::{MAGIC, RunContext, StatusBlock, code},
};

/// A run as the host sees it.
pub(super) struct Run {
    pub(super) context: RunContext,
    /// The register of that name.
    pub(super) last_status: u32,
    /// Where the status block was to go.
    pub(super) status_address: CardAddress,
    /// An access to where nothing lies.
    pub(super) stray: Option<String>,
}

/// The report of a run, from its status block.
///
/// # Errors
/// What the block says, or [`DeviceError::Protocol`] when the kernel went where it may not, when the block does not agree
/// with the register, or when it counted other accesses than the memory did.
pub(super) fn of(run: &Run, block: &StatusBlock, by_memory: &[PortTraffic]) -> Result<RunReport, DeviceError> {
    let protocol = |what: String| DeviceError::Protocol { slr: run.context.slr, what };
    if let Some(stray) = &run.stray {
        return Err(protocol(stray.clone()));
    }
    let (code, detail) = (run.last_status & 0xFFFF, run.last_status >> 16);
    if block.magic.get() != MAGIC && code == code::WRITE_ERROR {
        return Err(DeviceError::Bus {
            access: BusAccess::Write,
            port: Port::Mem.name(),
            address: run.status_address.0,
            response: if detail & 3 == 3 { "DECERR" } else { "SLVERR" },
        });
    }
    if block.magic.get() != MAGIC {
        return Err(protocol(format!("it wrote no status block; its register says status {code} detail {detail:#x}")));
    }
    let report = block.decode(&run.context)?;
    if (block.code.get(), block.detail.get()) != (code, detail) {
        let (block_code, block_detail) = (block.code, block.detail);
        return Err(protocol(format!(
            "its register says status {code} detail {detail}, its block {block_code} and {block_detail}"
        )));
    }
    // What of its reads the kernel needs the memory does not see.
    let seen = |port: &PortTraffic, seen: &PortTraffic| PortTraffic { read_useful: port.read_useful, ..*seen };
    let ports = report.ports.iter().zip(by_memory).map(|(port, memory)| (port, seen(port, memory)));
    if let Some((counted, seen)) = ports.into_iter().find(|(counted, seen)| *counted != seen) {
        return Err(protocol(format!("it counted {counted:?}, but the memory saw {seen:?}")));
    }
    let cycles = u64::from(block.cycles);
    if let Some(stage) = report.stages.iter().find(|s| (s.busy + s.starved + s.blocked) != cycles & 0xFFFF_FFFF) {
        return Err(protocol(format!("its stage counters do not add up to {cycles} cycles: {stage:?}")));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use golden::Capacity;
    use hw::{Slr, status};
    use zerocopy::{FromZeros, little_endian::U32};

    use super::*;

    /// A run of no nodes that took 9 cycles and one read.
    fn run() -> (Run, StatusBlock, Vec<PortTraffic>) {
        let mut block = StatusBlock::new_zeroed();
        (block.magic, block.version, block.code) = (U32::new(MAGIC), U32::new(status::VERSION), U32::new(code::OK));
        block.cycles = 9.into();
        block.stages = [[U32::new(4), U32::new(3), U32::new(2)]; status::STAGES.len()];
        (block.read_bursts[0], block.read_beats[0]) = (U32::new(1), U32::new(1));
        let context = RunContext {
            slr: Slr::ALL[0],
            minibatch: 0,
            fanouts: vec![golden::Fanout::All],
            capacity: Capacity::UNBOUNDED,
            table_slots: 16,
            channels: 1,
            elapsed: Duration::ZERO,
        };
        let seen = block.decode(&context).unwrap().ports;
        (Run { context, last_status: code::OK, status_address: CardAddress(64), stray: None }, block, seen)
    }

    fn refused(change: fn(&mut Run, &mut StatusBlock, &mut [PortTraffic])) -> String {
        let (mut run, mut block, mut seen) = run();
        change(&mut run, &mut block, &mut seen);
        of(&run, &block, &seen).unwrap_err().to_string()
    }

    #[test]
    fn a_run_is_believed_when_everything_agrees() {
        let (run, block, seen) = run();
        assert_eq!(of(&run, &block, &seen).unwrap().cycles, Some(9));
        assert!(refused(|_, _, seen| seen[0].reads = 2).contains("but the memory saw"));
        assert!(refused(|run, _, _| run.last_status = code::TABLE_FULL).contains("its register says status 5"));
        assert!(refused(|_, block, _| block.cycles = 10.into()).contains("do not add up to 10 cycles"));
        assert!(refused(|run, _, _| run.stray = Some("its read".to_owned())).contains("protocol: its read"));
    }

    #[test]
    fn without_a_block_the_register_says_why() {
        let lost = |run: &mut Run, block: &mut StatusBlock, _: &mut [PortTraffic]| {
            *block = StatusBlock::new_zeroed();
            run.last_status = code::WRITE_ERROR | 0x0903 << 16;
        };
        assert_eq!(refused(lost), "the kernel's write at address 0x40 (port mem) was answered with DECERR");
        assert!(refused(|_, block, _| *block = StatusBlock::new_zeroed()).contains("no status block"));
    }
}
