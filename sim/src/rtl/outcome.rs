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
pub(super) fn of(run: &Run, block: &StatusBlock, seen: &[PortTraffic]) -> Result<RunReport, DeviceError> {
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
    if let Some((counted, seen)) = report.ports.iter().zip(seen).find(|(counted, seen)| counted != seen) {
        return Err(protocol(format!("it counted {counted:?}, but the memory saw {seen:?}")));
    }
    let cycles = u64::from(block.cycles);
    if let Some(stage) = report.stages.iter().find(|s| (s.busy + s.starved + s.blocked) != cycles & 0xFFFF_FFFF) {
        return Err(protocol(format!("its stage counters do not add up to {cycles} cycles: {stage:?}")));
    }
    Ok(report)
}
