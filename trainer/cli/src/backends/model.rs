//! Back end `model`: the software model.

use std::{num::NonZeroU64, sync::Arc};

use clap::Args;
use hw::{Feature, SamplerDevice};
use sim::model::{ModelOptions, SoftwareModel, TimingOptions};

use super::{BackEnd, KernelOptions};
use crate::error::CliError;

/// How the software model behaves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back end 'model'")]
#[group(skip)]
pub(super) struct Options {
    /// Be as slow as a card with this clock, in the cycles that are predicted for memory profile 'hbm'
    #[arg(long, value_name = "MHZ", value_parser = clock)]
    clock: Option<NonZeroU64>,
}

impl BackEnd for Options {
    const NAME: &'static str = "model";
    const ABOUT: &'static str = "The software model";
    const BUILDS_KERNELS: bool = true;

    fn open(&self, kernel: &KernelOptions, needed: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError> {
        let timing = self.clock.map(|clock| TimingOptions { clock: Some(clock), ..TimingOptions::default() });
        let traffic = needed.contains(&Feature::Traffic);
        Ok(Arc::new(SoftwareModel::new(ModelOptions { channels: kernel.channels, traffic, timing })?))
    }
}

/// Reads a clock in MHz; gives Hz.
fn clock(text: &str) -> Result<NonZeroU64, String> {
    let hz = text.parse().ok().map(|mhz: f64| (mhz * 1e6).round()).filter(|hz| (1e3..=1e12).contains(hz));
    hz.and_then(|hz| NonZeroU64::new((hz as i64).cast_unsigned()))
        .ok_or_else(|| "a clock has 0.001 to 1000000 MHz".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_in_mhz() {
        assert_eq!(clock("0.5"), Ok(NonZeroU64::new(500_000).unwrap()));
        for text in ["0", "-3", "nan", "inf", "x", "1e7"] {
            assert!(clock(text).is_err(), "{text}");
        }
    }
}
