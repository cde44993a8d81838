//! Back end `rtl`: the RTL under Verilator.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use hw::{Feature, SamplerDevice};
use sim::rtl::{Profile, RtlDevice, RtlOptions, Variant};

use super::{BackEnd, KernelOptions};
use crate::{ending, error::CliError, options::named, output::say};

/// How the RTL is built and simulated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back end 'rtl'")]
#[group(skip)]
pub(super) struct Options {
    /// How the simulated memory behaves
    #[arg(long, default_value_t = RtlOptions::default().memory, value_parser = named::<Profile>())]
    profile: Profile,
    /// Seed of everything that depends on chance: latencies, stalls, reordering
    #[arg(long, value_name = "U64", default_value_t = RtlOptions::default().stall_seed)]
    stall_seed: u64,
    /// log2 of the slots of each kernel's hash table
    #[arg(
        long,
        value_name = "N",
        default_value_t = RtlOptions::default().table_log2,
        value_parser = clap::value_parser!(u32).range(4..=21)
    )]
    table_log2: u32,
    /// Reads that each port may have outstanding, a power of two
    #[arg(
        long,
        value_name = "N",
        default_value_t = RtlOptions::default().window,
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    window: u32,
    /// What the RTL is compiled for [default: fast, or what --waves needs]
    #[arg(long, value_parser = named::<Variant>())]
    variant: Option<Variant>,
    /// Write waves: NAME.fst becomes NAME.slr0.fst to NAME.slr2.fst; files that are there are overwritten
    #[arg(long, value_name = "NAME.fst")]
    waves: Option<PathBuf>,
    /// Cycles without a handshake after which a run has failed
    #[arg(
        long,
        value_name = "CYCLES",
        default_value_t = RtlOptions::default().watchdog_cycles,
        value_parser = clap::value_parser!(u64).range(1..=1 << 40)
    )]
    watchdog: u64,
}

impl BackEnd for Options {
    const NAME: &'static str = "rtl";
    const ABOUT: &'static str = "The RTL under Verilator";
    const BUILDS_KERNELS: bool = true;

    fn open(&self, kernel: &KernelOptions, _: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError> {
        let sentence = match (self.variant, &self.waves) {
            (Some(Variant::Fast), Some(_)) => "--variant fast has no waves, which have a variant of their own; omit it",
            (Some(Variant::Waves), None) => "--variant waves needs a file to write to; give --waves NAME.fst",
            (Some(Variant::Coverage), _) => "--variant coverage is for tests alone; give test or fast",
            _ => {
                let device: Arc<dyn SamplerDevice> = Arc::new(RtlDevice::new(&self.simulation(kernel), &say)?);
                if self.waves.is_some() {
                    ending::record(Arc::downgrade(&device));
                }
                return Ok(device);
            }
        };
        Err(CliError::Usage(sentence.to_owned()))
    }
}

impl Options {
    /// What the simulator is asked for.
    fn simulation(&self, kernel: &KernelOptions) -> RtlOptions {
        let default = RtlOptions::default();
        RtlOptions {
            channels: kernel.channels,
            table_log2: self.table_log2,
            window: self.window,
            variant: self.variant.unwrap_or(default.variant),
            memory: self.profile,
            stall_seed: self.stall_seed,
            watchdog_cycles: self.watchdog,
            waves: self.waves.clone(),
            ..default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn simulation(line: &str) -> RtlOptions {
        let line = Line::try_parse_from(std::iter::once("x").chain(line.split_whitespace())).unwrap();
        line.options.simulation(&KernelOptions { channels: 2 })
    }

    #[test]
    fn options_reach_the_simulator() {
        let rtl = simulation("--profile hostile --stall-seed 3 --table-log2 9 --variant test --watchdog 5");
        assert_eq!((rtl.channels, rtl.memory, rtl.stall_seed), (2, Profile::Hostile, 3));
        assert_eq!((rtl.table_log2, rtl.variant, rtl.watchdog_cycles), (9, Variant::Test, 5));
        let default = RtlOptions { channels: 2, ..RtlOptions::default() };
        assert_eq!(format!("{:?}", simulation("")), format!("{default:?}"));
    }
}
