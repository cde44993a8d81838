//! What goes wrong: a list of faults, separated by commas.
//!
//! | fault | what happens |
//! |---|---|
//! | `FUNCTION=VALUE` | the C function returns this and does nothing |
//! | `FUNCTION=VALUE:ERRNO` | and leaves this in `errno` |
//! | `hang` | a kernel never ends, and writes nothing |
//! | `lost` | a kernel does its work, but nobody is told |
//! | `silent` | a kernel ends without having written its status block |
//! | `lying` | a kernel says that it has written more than there is room for |
//! | `crash=STATE` | a run ends in this state |
//! | `register=VALUE` | the identity register reads this |
//! | `whole-lines` | transfers that are no multiple of 64 bytes are refused, as by a shell without DMA |
//! | `bus` | the next transfer ends in SIGBUS, as when the card's firewall has tripped |
//!
//! `@N` behind a fault lets N calls pass first, and `*N` lets it happen N times only.

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    what: String,
    /// What is returned.
    pub(crate) value: i64,
    /// What is left in `errno`.
    pub(crate) errno: i32,
    skip: u32,
    left: u32,
}

impl Fault {
    /// Those of a list.
    pub fn list(text: &str) -> Option<Vec<Self>> {
        text.split(',').map(str::trim).filter(|fault| !fault.is_empty()).map(Self::parse).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (text, left) = text.split_once('*').map_or(Some((text, u32::MAX)), |(t, n)| Some((t, n.parse().ok()?)))?;
        let (text, skip) = text.split_once('@').map_or(Some((text, 0)), |(t, n)| Some((t, n.parse().ok()?)))?;
        let (what, value) = text.split_once('=').unwrap_or((text, "0"));
        let (value, errno) = value.split_once(':').unwrap_or((value, "0"));
        Some(Self { what: what.to_owned(), value: value.parse().ok()?, errno: errno.parse().ok()?, skip, left })
    }
}

/// The fault that meets this call, if one does.
pub(crate) fn meet(faults: &mut [Fault], what: &str) -> Option<Fault> {
    let fault = faults.iter_mut().find(|fault| fault.what == what)?;
    if fault.skip > 0 {
        fault.skip -= 1;
        return None;
    }
    fault.left = fault.left.checked_sub(1)?;
    Some(fault.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_happens_when_it_is_due() {
        let mut faults = Fault::list("xrtBOSync=-1:5@2*1, hang").unwrap();
        let due: Vec<_> = (0..5).map(|_| meet(&mut faults, "xrtBOSync").map(|f| (f.value, f.errno))).collect();
        assert_eq!(due, [None, None, Some((-1, 5)), None, None]);
        assert!(meet(&mut faults, "hang").is_some() && meet(&mut faults, "xrtBOFree").is_none());
        for wrong in ["x=y", "x=1:z", "x@", "x*-1"] {
            assert_eq!(Fault::list(wrong), None, "{wrong}");
        }
    }
}
