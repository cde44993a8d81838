//! Faults on request, to see that they are noticed.

use std::{str::FromStr, sync::Arc};

use golden::Buffer;
use hw::{SamplerDevice, Slr};
use sim::faulty::{Fault, Faulty, Injection};

use crate::error::CliError;

/// The value of `--inject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultArg(Injection);

const FORMAT: &str = "give FAULT@ITERATION:SLR, for example flipped-bit@4:1, where FAULT is skipped-write (of `rows`), \
                      stale-slot, flipped-bit (bit 3 of the first element of `edges`) or short-count";

impl FromStr for FaultArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (fault, place) = text.split_once('@').ok_or(FORMAT)?;
        let (run, slr) = place.split_once(':').ok_or(FORMAT)?;
        let fault = match fault {
            "skipped-write" => Fault::SkippedWrite(Buffer::Rows),
            "stale-slot" => Fault::StaleSlot,
            "flipped-bit" => Fault::FlippedBit { buffer: Buffer::Edges, index: 0, bit: 3 },
            "short-count" => Fault::ShortCount,
            _ => return Err(FORMAT),
        };
        let slr: usize = slr.parse().map_err(|_| FORMAT)?;
        let slr = *Slr::ALL.get(slr).ok_or(FORMAT)?;
        Ok(Self(Injection { fault, slr, run: run.parse().map_err(|_| FORMAT)? }))
    }
}

impl FaultArg {
    /// The device with this fault, if the fault comes within so many iterations.
    pub(crate) fn into(self, device: Arc<dyn SamplerDevice>, iterations: u64) -> Result<Arc<Faulty>, CliError> {
        let Injection { run, .. } = self.0;
        if run >= iterations {
            let last = iterations.saturating_sub(1);
            let sentence =
                format!("--inject: there is no iteration {run}; with --iterations {iterations} they are 0 to {last}");
            return Err(CliError::Usage(sentence));
        }
        Ok(Arc::new(Faulty::new(device, self.0)))
    }
}

/// Says that a fault cannot have been noticed.
pub(crate) fn without_effect() -> CliError {
    CliError::Usage(
        "--inject: the fault has changed nothing: there was nothing to change, or a stale slot held the same mini-batch \
         (with --slots a multiple of 3 it does)"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let parse = |text: &str| text.parse::<FaultArg>();
        let injection = Injection { fault: Fault::StaleSlot, slr: Slr::ALL[2], run: 7 };
        assert_eq!(parse("stale-slot@7:2"), Ok(FaultArg(injection)));
        for wrong in ["", "stale-slot", "stale-slot@7", "stale-slot@7:3", "stale-slot@-1:0", "other@1:1", "@1:1"] {
            assert_eq!(parse(wrong), Err(FORMAT), "{wrong}");
        }
    }
}
