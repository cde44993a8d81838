//! The AXI4-Lite master that drives `s_axi_control`.

use verilator_sys::ControlPins;

use crate::chance::Chance;

/// One register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads the word at this offset.
    Read(u32),
    /// Writes the word at this offset.
    Write(u32, u32),
}

/// An access that is under way: what each channel still has to do.
#[derive(Clone, Copy, Debug)]
struct Flight {
    access: Access,
    /// Cycles until the address, and until the data, is offered; `None` once it was taken.
    address: Option<u64>,
    data: Option<u64>,
    /// Cycles for which the answer is not taken.
    answer: u64,
}

/// Makes one access after the other. Address and data of a write come in either order.
#[derive(Debug)]
pub(super) struct Control {
    flight: Option<Flight>,
    chance: Chance,
    /// Longest delay of anything that the master does.
    delay: u64,
    /// Data of a read that is offered and not taken.
    shown: Option<u32>,
}

impl Control {
    pub(super) fn new(chance: Chance, hostile: bool) -> Self {
        Self { flight: None, chance, delay: if hostile { 12 } else { 2 }, shown: None }
    }

    /// Begins an access; none may be under way.
    pub(super) fn begin(&mut self, access: Access) {
        debug_assert!(self.flight.is_none());
        let mut delay = || self.chance.below(self.delay);
        let (address, answer) = (Some(delay()), delay());
        let data = matches!(access, Access::Write(..)).then(delay);
        self.flight = Some(Flight { access, address, data, answer });
    }

    /// Sets the inputs for the coming clock edge and does what happens at it. An access that ends gives what it read.
    ///
    /// # Errors
    /// What the slave did against the protocol.
    #[inline]
    pub(super) fn tick(&mut self, pins: &mut ControlPins) -> Result<Option<u32>, String> {
        if let Some(flight) = &mut self.flight {
            let ended = step(flight, &mut self.shown, pins)?;
            if ended.is_some() {
                self.flight = None;
            }
            return Ok(ended);
        }
        (pins.awvalid, pins.wvalid, pins.arvalid, pins.bready, pins.rready) = (0, 0, 0, 0, 0);
        let unasked = [("B", pins.bvalid), ("R", pins.rvalid)].into_iter().find(|(_, valid)| *valid != 0);
        unasked.map_or(Ok(None), |(channel, _)| Err(format!("s_axi_control.{channel} answers nothing")))
    }

    /// What is under way, in words.
    pub(super) fn waiting(&self) -> Option<String> {
        let flight = self.flight.as_ref()?;
        let (what, offset, channel) = match flight.access {
            Access::Read(offset) => ("read", offset, if flight.address.is_some() { "AR" } else { "R" }),
            Access::Write(offset, _) => {
                let channel = match (flight.address, flight.data) {
                    (Some(_), _) => "AW",
                    (None, Some(_)) => "W",
                    (None, None) => "B",
                };
                ("write", offset, channel)
            }
        };
        Some(format!("s_axi_control.{channel}: a {what} of {offset:#05x}"))
    }
}

/// Offers something after its delay; true when it is taken at the coming edge.
fn offer(left: &mut Option<u64>, valid: &mut u8, ready: u8) {
    *valid = u8::from(*left == Some(0));
    match left {
        Some(0) if ready != 0 => *left = None,
        Some(0) | None => {}
        Some(cycles) => *cycles -= 1,
    }
}

fn step(flight: &mut Flight, shown: &mut Option<u32>, pins: &mut ControlPins) -> Result<Option<u32>, String> {
    let (channel, valid, response, value) = match flight.access {
        Access::Write(offset, value) => {
            let all_taken = flight.address.is_none() && flight.data.is_none();
            (pins.awaddr, pins.wdata, pins.wstrb) = (offset, value, 0xF);
            offer(&mut flight.address, &mut pins.awvalid, pins.awready);
            offer(&mut flight.data, &mut pins.wvalid, pins.wready);
            if pins.bvalid != 0 && !all_taken {
                return Err("s_axi_control.B answers a write that it has not taken".to_owned());
            }
            pins.bready = u8::from(all_taken && flight.answer == 0);
            ("B", pins.bvalid != 0, pins.bresp, 0)
        }
        Access::Read(offset) => {
            let taken = flight.address.is_none();
            pins.araddr = offset;
            offer(&mut flight.address, &mut pins.arvalid, pins.arready);
            if pins.rvalid != 0 && !taken {
                return Err("s_axi_control.R answers a read that it has not taken".to_owned());
            }
            pins.rready = u8::from(taken && flight.answer == 0);
            ("R", pins.rvalid != 0, pins.rresp, pins.rdata)
        }
    };
    if !valid {
        return if shown.take().is_some() {
            Err(format!("s_axi_control.{channel} took back its valid"))
        } else {
            Ok(None)
        };
    }
    if shown.replace(value).is_some_and(|before| before != value) {
        return Err(format!("s_axi_control.{channel} changed its payload while it waited"));
    }
    if flight.answer > 0 {
        flight.answer -= 1;
        return Ok(None);
    }
    *shown = None;
    if response == 0 {
        Ok(Some(value))
    } else {
        Err(format!("s_axi_control.{channel} answers with response {response}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verilator_sys::Pins;

    /// A slave of one register that takes what it is offered at once and answers in the next cycle.
    struct Slave {
        pins: ControlPins,
        address: bool,
        data: bool,
        register: u32,
    }

    impl Slave {
        fn new() -> Self {
            let pins = ControlPins { awready: 1, wready: 1, arready: 1, ..Pins::default().control };
            Self { pins, address: false, data: false, register: 0 }
        }

        fn clock(&mut self) {
            self.pins.bvalid &= !self.pins.bready;
            self.pins.rvalid &= !self.pins.rready;
            self.address |= self.pins.awvalid != 0;
            if self.pins.wvalid != 0 {
                (self.data, self.register) = (true, self.pins.wdata);
            }
            if self.address && self.data {
                (self.address, self.data, self.pins.bvalid) = (false, false, 1);
            }
            if self.pins.arvalid != 0 {
                (self.pins.rvalid, self.pins.rdata) = (1, self.register);
            }
        }

        fn access(&mut self, control: &mut Control, access: Access) -> Result<u32, String> {
            control.begin(access);
            loop {
                let ended = control.tick(&mut self.pins)?;
                self.clock();
                if let Some(value) = ended {
                    return Ok(value);
                }
            }
        }
    }

    #[test]
    fn a_register_keeps_what_is_written() {
        for hostile in [false, true] {
            let (mut slave, mut control) = (Slave::new(), Control::new(Chance::new(1, 1), hostile));
            for value in 1..50 {
                assert_eq!(slave.access(&mut control, Access::Write(0x10, value)), Ok(0));
                assert_eq!(slave.access(&mut control, Access::Read(0x10)), Ok(value));
            }
        }
    }

    #[test]
    fn what_the_slave_must_not_do_is_told() {
        let (mut slave, mut control) = (Slave::new(), Control::new(Chance::new(1, 1), false));
        slave.pins.bresp = 2;
        let refused = slave.access(&mut control, Access::Write(0x10, 1)).unwrap_err();
        assert_eq!(refused, "s_axi_control.B answers with response 2");

        let mut control = Control::new(Chance::new(1, 1), false);
        let mut pins = ControlPins { rvalid: 1, ..Pins::default().control };
        assert_eq!(control.tick(&mut pins), Err("s_axi_control.R answers nothing".to_owned()));
        control.begin(Access::Read(0x184));
        assert_eq!(control.waiting().unwrap(), "s_axi_control.AR: a read of 0x184");
        assert_eq!(control.tick(&mut pins), Err("s_axi_control.R answers a read that it has not taken".to_owned()));
    }
}
