//! Error responses on request.

use hw::{BusAccess, card::Port};

use super::space::Place;

/// An access that the memory answers with an error; for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The port.
    pub port: Port,
    /// Read or write.
    pub access: BusAccess,
    /// Which of its accesses.
    pub at: FaultAt,
    /// The answer that it gets instead.
    pub response: Response,
}

/// Which access goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAt {
    /// The burst of this number, counted from 0 since the graph was loaded: it happens once.
    Burst(u64),
    /// Every burst that touches the 64-byte line at this byte offset of a place.
    Line(Place, u64),
}

/// An AXI response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Response {
    /// All went well.
    #[default]
    Okay = 0,
    /// The memory has a problem.
    SlvErr = 2,
    /// There is nothing at this address.
    DecErr = 3,
    /// None at all (not of AXI): the access hangs.
    Never = 4,
}

impl Response {
    /// Its name in AXI.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Okay => "OKAY",
            Self::SlvErr => "SLVERR",
            Self::DecErr => "DECERR",
            Self::Never => "nothing",
        }
    }
}
