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

/// How an access is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Response {
    /// All went well.
    #[default]
    Okay,
    /// The memory has a problem.
    SlvErr,
    /// There is nothing at this address.
    DecErr,
    /// All went well, it says; but what is read is garbage, and what is written is lost.
    Garbage,
    /// Not at all: the access hangs.
    Never,
}

impl Response {
    /// Its code on the bus.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Okay | Self::Garbage | Self::Never => 0,
            Self::SlvErr => 2,
            Self::DecErr => 3,
        }
    }

    /// Its name, as AXI has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Okay => "OKAY",
            Self::SlvErr => "SLVERR",
            Self::DecErr => "DECERR",
            Self::Garbage => "garbage",
            Self::Never => "nothing",
        }
    }
}
