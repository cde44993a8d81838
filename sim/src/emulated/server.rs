//! The process that XRT takes for a card: answers one request after the other.

use std::{
    io::{Read, Write},
    os::unix::fs::FileExt,
    path::Path,
    sync::{Arc, Mutex},
};

use hw::{DeviceError, Slr, kernel_xml::UNIT_RANGE};

use super::{
    Card, CardMemory, Registers,
    memory::{SharedMemory, lock},
    software::SoftwareUnit,
    unit,
    wire::{
        Alloc, Close, CopyBo, ImportBo, KernelAccess, MAX_MESSAGE, RegisterRead, RegisterWrite, Reply, Request,
        ToDevice, ToHost, api, receive, send,
    },
};
use crate::{complain, rtl::RtlOptions};

/// Why the process ends before XRT says so.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// What came is not what XRT says, or the connection failed.
    #[error("emulated card: {0}")]
    Wire(String),
    /// The kernels could not be made.
    #[error("emulated card: {0}")]
    Kernels(#[from] DeviceError),
}

/// What was wrong while XRT was served, a sentence each: what a card would have no way to say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// In order.
    pub faults: Vec<String>,
}

/// What stands behind the registers.
#[derive(Clone, Debug)]
pub enum Kernels {
    /// The RTL under Verilator.
    Rtl(Box<RtlOptions>),
    /// The software model: results and traffic as the RTL's, but a run takes no cycles.
    Model,
}

/// Serves XRT until it closes the card or the connection. Buffers that the host maps are files in `folder`.
///
/// # Errors
/// [`ServeError`]; what was served until then stays served.
pub fn serve(
    stream: &mut (impl Read + Write),
    card: Card,
    kernels: &Kernels,
    folder: &Path,
) -> Result<Served, ServeError> {
    let memory: SharedMemory = Arc::new(Mutex::new(CardMemory::new(folder, card.bytes())));
    let channels = card.channels();
    let units: Vec<Box<dyn Registers>> = match kernels {
        Kernels::Rtl(options) => {
            let options = RtlOptions { channels, ..(**options).clone() };
            let units = unit::units(&options, |slr| card.space(slr, &memory), &|_| {})?;
            units.into_iter().map(|unit| Box::new(unit) as Box<dyn Registers>).collect()
        }
        Kernels::Model => Slr::ALL.map(|_| Box::new(SoftwareUnit::new(&memory, channels)) as _).into(),
    };
    let mut server = Server { memory, units, served: Served::default() };
    server.run(stream).map_err(ServeError::Wire)?;
    Ok(server.served)
}

struct Server {
    memory: SharedMemory,
    /// By SLR.
    units: Vec<Box<dyn Registers>>,
    served: Served,
}

impl Server {
    fn run(&mut self, stream: &mut (impl Read + Write)) -> Result<(), String> {
        while let Some(request) = receive(stream)? {
            let reply = self.answer(&request)?;
            send(stream, &reply)?;
            if request.api == api::CLOSE && request.decode::<Close>()?.all {
                break;
            }
        }
        Ok(())
    }

    /// What could not be done is told to XRT as far as the protocol has a way to, and kept as a fault.
    fn answer(&mut self, request: &Request) -> Result<Reply, String> {
        let done = match request.api {
            api::CLOSE => {
                lock(&self.memory).clear();
                Ok(Reply::done())
            }
            api::ALLOC => self.alloc(&request.decode()?),
            api::FREE => {
                lock(&self.memory).free(request.decode::<Alloc>()?.address);
                Ok(Reply::done())
            }
            api::HOST_TO_DEVICE => self.copy_in(&request.decode()?),
            api::DEVICE_TO_HOST => self.copy_out(&request.decode()?),
            api::WRITE_KERNEL => self.write_kernel(&request.decode()?),
            api::READ_KERNEL => self.read_kernel(&request.decode()?),
            api::REG_WRITE => {
                let RegisterWrite { base, offset, data } = request.decode()?;
                self.write_kernel(&KernelAccess { address: u64::from(base) + u64::from(offset), bytes: 4, data })
            }
            api::REG_READ => {
                let RegisterRead { base, offset } = request.decode()?;
                let address = u64::from(base) + u64::from(offset);
                self.read_kernel(&KernelAccess { address, bytes: 4, data: vec![] })
            }
            api::COPY_BO => self.copy_bo(&request.decode()?),
            api::IMPORT_BO => {
                let ImportBo { file, address } = request.decode()?;
                lock(&self.memory).import(address, &file).map(|()| Reply::done())
            }
            _ => Ok(Reply::done()),
        };
        Ok(done.unwrap_or_else(|fault| {
            complain(&format_args!("emulated card: {fault}"));
            self.served.faults.push(fault);
            Reply::refused()
        }))
    }

    fn alloc(&mut self, request: &Alloc) -> Result<Reply, String> {
        let path = lock(&self.memory).alloc(request.address, request.bytes, request.shared)?;
        Ok(Reply { value: 1, data: path.map(|path| path.display().to_string().into_bytes()) })
    }

    fn copy_in(&mut self, request: &ToDevice) -> Result<Reply, String> {
        let ToDevice { address, data } = request;
        if !lock(&self.memory).write(*address, data) {
            return Err(format!("a copy of {} bytes to {address:#x} goes where no buffer is", data.len()));
        }
        Ok(Reply { value: data.len() as u64, data: None })
    }

    fn copy_out(&mut self, request: &ToHost) -> Result<Reply, String> {
        let ToHost { address, bytes } = *request;
        if bytes > MAX_MESSAGE / 2 || !lock(&self.memory).holds(address, bytes) {
            return Err(format!("a copy of {bytes} bytes from {address:#x} begins or ends where no buffer is"));
        }
        let mut data = vec![0; bytes as usize];
        if !lock(&self.memory).read(address, &mut data) {
            return Err(format!("the file of the buffer at {address:#x} cannot be read"));
        }
        Ok(Reply { value: bytes, data: Some(data) })
    }

    /// The kernel whose registers have this address, and the offset of the register.
    fn unit(&mut self, address: u64) -> Result<(&mut dyn Registers, u32), String> {
        let slr = Slr::ALL.into_iter().find(|slr| address.wrapping_sub(Card::registers(*slr)) < UNIT_RANGE);
        let slr =
            slr.filter(|_| address.is_multiple_of(4)).ok_or_else(|| format!("there is no register at {address:#x}"))?;
        Ok((self.units[slr.index()].as_mut(), (address - Card::registers(slr)) as u32))
    }

    fn write_kernel(&mut self, request: &KernelAccess) -> Result<Reply, String> {
        for (at, word) in request.data.chunks_exact(4).enumerate() {
            let (unit, offset) = self.unit(request.address + 4 * at as u64)?;
            unit.write(offset, u32::from_le_bytes(word.try_into().expect("four bytes")))?;
        }
        Ok(Reply::done())
    }

    fn read_kernel(&mut self, request: &KernelAccess) -> Result<Reply, String> {
        let mut data = vec![];
        for at in 0..request.bytes.min(UNIT_RANGE as u32) / 4 {
            let (unit, offset) = self.unit(request.address + 4 * u64::from(at))?;
            data.extend(unit.read(offset)?.to_le_bytes());
        }
        Ok(Reply { value: 1, data: Some(data) })
    }

    fn copy_bo(&mut self, request: &CopyBo) -> Result<Reply, String> {
        let CopyBo { from, file, bytes, from_offset, to_offset } = request;
        let memory = lock(&self.memory);
        let address = from.saturating_add(*from_offset);
        if *bytes > MAX_MESSAGE || !memory.holds(address, *bytes) {
            return Err(format!("a copy of {bytes} bytes from {address:#x} begins or ends where no buffer is"));
        }
        let mut data = vec![0; *bytes as usize];
        memory.read(address, &mut data);
        let written = memory.open(file)?.write_all_at(&data, *to_offset);
        written.map_err(|error| format!("{file:?} cannot be written: {error}"))?;
        Ok(Reply::done())
    }
}

#[cfg(test)]
mod tests;
