//! What AXI asks of a master, beyond the order of handshakes (IHI 0022, "AMBA AXI and ACE Protocol Specification").

use hw::card::LINE_BYTES;

/// The payload of an address channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) start: u64,
    pub(super) id: u8,
    /// Beats less one.
    pub(super) len: u8,
    pub(super) size: u8,
    pub(super) burst: u8,
}

const INCR: u8 = 1;
const SIZE: u8 = LINE_BYTES.trailing_zeros() as u8;
/// No burst crosses a multiple of this.
const BOUNDARY: u64 = 4096;

impl Address {
    pub(super) fn beats(&self) -> u64 {
        u64::from(self.len) + 1
    }

    /// What is wrong with the burst.
    pub(super) fn fault(&self) -> Option<String> {
        let bytes = self.beats() * LINE_BYTES as u64;
        if self.burst != INCR {
            Some(format!("has burst type {}, not INCR", self.burst))
        } else if self.size != SIZE {
            Some(format!("has size {}, not {SIZE} (64 bytes)", self.size))
        } else if !self.start.is_multiple_of(LINE_BYTES as u64) {
            Some("is not aligned to 64 bytes".to_owned())
        } else if self.start % BOUNDARY + bytes > BOUNDARY {
            Some(format!("crosses a 4 KiB boundary with {} beats", self.beats()))
        } else {
            None
        }
    }
}

/// Watches one channel: what is valid stays, and stays the same, until it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady<T> {
    waiting: Option<T>,
}

impl<T> Default for Steady<T> {
    fn default() -> Self {
        Self { waiting: None }
    }
}

impl<T: PartialEq> Steady<T> {
    /// Looks at one cycle; `now` is the payload while valid is high. Says what the master did wrong.
    pub(super) fn look(&mut self, now: Option<T>, ready: bool) -> Option<&'static str> {
        let wrong = match (&self.waiting, &now) {
            (Some(_), None) => Some("took back a valid that was not answered"),
            (Some(before), Some(now)) if before != now => Some("changed its payload while it waited"),
            _ => None,
        };
        self.waiting = now.filter(|_| !ready);
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_checked() {
        let fine = Address { start: 0x1_0F00, id: 0, len: 3, size: 6, burst: 1 };
        assert_eq!(fine.fault(), None);
        let fault = |change: fn(&mut Address)| {
            let mut address = fine;
            change(&mut address);
            address.fault().unwrap()
        };
        assert_eq!(fault(|a| a.len = 4), "crosses a 4 KiB boundary with 5 beats");
        assert_eq!(fault(|a| a.burst = 2), "has burst type 2, not INCR");
        assert_eq!(fault(|a| a.size = 5), "has size 5, not 6 (64 bytes)");
        assert_eq!(fault(|a| a.start = 0x20), "is not aligned to 64 bytes");
    }

    #[test]
    fn a_waiting_payload_stays() {
        let mut steady = Steady::default();
        assert_eq!(steady.look(Some(1), false), None);
        assert_eq!(steady.look(Some(1), true), None);
        assert_eq!(steady.look(Some(2), false), None);
        assert_eq!(steady.look(Some(3), false), Some("changed its payload while it waited"));
        assert_eq!(steady.look(None, false), Some("took back a valid that was not answered"));
        assert_eq!(steady.look(None, false), None);
    }
}
