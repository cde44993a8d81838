//! A card that XRT believes in: the process to which XRT's software emulation (`libxrt_swemu`) talks in place of a driver.
//!
//! XRT starts it ([`serve`]) and sends what it would do to a card: allocations, copies, register accesses ([`wire`]). Behind
//! the registers stand three kernels ([`Registers`]): the RTL under Verilator, whose AXI4-Lite slave gets every access that
//! XRT makes and whose AXI4 masters reach the memory that XRT has allocated; or, where speed matters more, the software model
//! ([`SoftwareKernel`]). [`Card`] says what is on the card, and writes the
//! xclbin that tells XRT; [`Environment`] sets up what XRT wants to find, and runs a command in it.

mod card;
mod connect;
mod environment;
mod memory;
mod place;
mod running;
mod server;
mod software;
mod unit;
mod wire;

pub use card::Card;
pub use connect::serve_xrt;
pub use environment::{Environment, EnvironmentError, Missing, Shim};
pub(crate) use memory::CardMemory;
pub use running::{Group, Running};
pub use server::{Kernels, ServeError, Served, serve};
pub use software::{Arguments, SoftwareKernel, TABLE_LOG2, WordMemory, write_status};

/// The registers of a kernel, and with them the kernel.
pub trait Registers: Send {
    /// What the register at this offset reads.
    ///
    /// # Errors
    /// What the kernel did that no kernel may do; it cannot go on.
    fn read(&mut self, offset: u32) -> Result<u32, String>;

    /// Writes the register at this offset.
    ///
    /// # Errors
    /// As for [`Registers::read`].
    fn write(&mut self, offset: u32, value: u32) -> Result<(), String>;
}
