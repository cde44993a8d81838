//! The one place that knows which back ends there are. Each brings its options; all make a [`SamplerDevice`].

use std::{num::NonZeroU64, path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use hw::{
    SamplerDevice,
    xrt::{self, CardId, XrtDevice},
};
use sim::{
    model::{self, SoftwareModel, TimingOptions},
    rtl::{self, RtlDevice},
};

use super::{CliError, ending, say};

/// A card, or what stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// The software model
    Model,
    /// The RTL under Verilator
    Rtl,
    /// A card, through XRT
    Xrt,
}

/// A back end, or the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sampler {
    /// The reference sampler
    Golden,
    /// The software model
    Model,
    /// The RTL under Verilator
    Rtl,
    /// A card, through XRT
    Xrt,
}

/// Which card to use.
#[derive(Debug, Args)]
pub(super) struct DeviceArgs {
    /// What samples
    #[arg(long, value_enum, default_value = "model")]
    backend: Backend,
    #[command(flatten)]
    options: Options,
}

/// Which card to use, or the reference.
#[derive(Debug, Args)]
pub(super) struct SamplerArgs {
    /// What samples
    #[arg(long, value_enum, default_value = "model")]
    backend: Sampler,
    #[command(flatten)]
    options: Options,
}

/// The options of all back ends.
#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    kernel: KernelOptions,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    rtl: RtlOptions,
    #[command(flatten)]
    xrt: XrtOptions,
}

/// What a kernel is built with: for all back ends.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back ends 'model' and 'rtl'")]
struct KernelOptions {
    /// Index channels of each kernel: 1, 2, 4 or 8 [default: 4]
    #[arg(long, value_name = "C", value_parser = channels)]
    channels: Option<usize>,
}

/// How the software model behaves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back end 'model'")]
struct ModelOptions {
    /// Be as slow as a card with this clock, in the cycles that are foretold for memory profile 'hbm'
    #[arg(long, value_name = "MHZ", value_parser = clock)]
    clock: Option<NonZeroU64>,
}

/// How the RTL is built and simulated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of back end 'rtl'")]
struct RtlOptions {
    /// How the simulated memory behaves [default: hbm]
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Seed of everything that depends on chance: latencies, stalls, reordering [default: 0]
    #[arg(long, value_name = "U64")]
    stall_seed: Option<u64>,
    /// log2 of the slots of each kernel's hash table [default: 19]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=21))]
    table_log2: Option<u32>,
    /// Reads that each port may have outstanding, a power of two [default: 128]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    window: Option<u32>,
    /// What the RTL is compiled for [default: fast]
    #[arg(long, value_enum)]
    variant: Option<Variant>,
    /// Write waves: NAME.fst becomes NAME.slr0.fst to NAME.slr2.fst; files that are there are overwritten
    #[arg(long, value_name = "NAME.fst")]
    waves: Option<PathBuf>,
    /// Cycles without a handshake after which a run has failed [default: 100000]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    watchdog: Option<u64>,
}

/// Which card, and what is on it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of back end 'xrt'")]
pub(super) struct XrtOptions {
    /// What the card is programmed with
    #[arg(long, value_name = "FILE.xclbin")]
    xclbin: Option<PathBuf>,
    /// The card: its number, or its place on the bus such as 0000:03:00.1 [default: 0]
    #[arg(long, value_name = "CARD")]
    card: Option<CardId>,
    /// Offer the card's own memory behind its BAR to consumers (peer to peer)
    #[arg(long)]
    p2p: bool,
    /// Let the card's DMA engine write memory that a consumer exports as a dma-buf; XRT's own driver refuses most
    #[arg(long)]
    dma_buf: bool,
    /// Longest time of a mini-batch on the card [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    run_limit: Option<u64>,
    /// A library in place of `libxrt_coreutil.so.2`
    #[arg(long, value_name = "FILE.so")]
    xrt_library: Option<PathBuf>,
}

/// Memory profiles of the simulated RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Short fixed latency, never a stall
    Ideal,
    /// A pseudo channel of high-bandwidth memory behind each port
    Hbm,
    /// A DDR4 channel behind each port
    Ddr4,
    /// Whatever AXI allows
    Hostile,
}

/// What the RTL is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Variant {
    /// To find mistakes: random values for X and before reset
    Test,
    /// For speed; assertions are checked nonetheless
    Fast,
}

/// Reads the number of channels of a kernel.
pub(super) fn channels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(channels @ (1 | 2 | 4 | 8)) => Ok(channels),
        _ => Err("a kernel has 1, 2, 4 or 8 index channels".to_owned()),
    }
}

/// Reads a clock in MHz; gives Hz.
fn clock(text: &str) -> Result<NonZeroU64, String> {
    let hz = text.parse().ok().map(|mhz: f64| (mhz * 1e6).round()).filter(|hz| (1e3..=1e12).contains(hz));
    hz.and_then(|hz| NonZeroU64::new((hz as i64).cast_unsigned()))
        .ok_or_else(|| "a clock has 0.001 to 1000000 MHz".to_owned())
}

impl DeviceArgs {
    /// Makes the device, without a graph.
    pub(super) fn open(&self) -> Result<Arc<dyn SamplerDevice>, CliError> {
        self.options.open(self.backend)
    }
}

impl SamplerArgs {
    /// Makes the device, without a graph; `None` is the reference.
    pub(super) fn open(&self) -> Result<Option<Arc<dyn SamplerDevice>>, CliError> {
        match self.backend {
            Sampler::Golden => {
                refuse("golden", KernelOptions::OWNERS, self.options.kernel.given())?;
                refuse("golden", ModelOptions::OWNERS, self.options.model.given())?;
                refuse("golden", RtlOptions::OWNERS, self.options.rtl.given())?;
                refuse("golden", XrtOptions::OWNERS, self.options.xrt.given())?;
                Ok(None)
            }
            Sampler::Model => self.options.open(Backend::Model).map(Some),
            Sampler::Rtl => self.options.open(Backend::Rtl).map(Some),
            Sampler::Xrt => self.options.open(Backend::Xrt).map(Some),
        }
    }
}

impl Options {
    fn open(&self, backend: Backend) -> Result<Arc<dyn SamplerDevice>, CliError> {
        match backend {
            Backend::Model => {
                refuse("model", RtlOptions::OWNERS, self.rtl.given())?;
                refuse("model", XrtOptions::OWNERS, self.xrt.given())?;
                let default = model::ModelOptions::default();
                let channels = self.kernel.channels.unwrap_or(default.channels);
                let timing =
                    self.model.clock.map(|clock| TimingOptions { clock: Some(clock), ..TimingOptions::default() });
                Ok(Arc::new(SoftwareModel::new(model::ModelOptions { channels, timing })?))
            }
            Backend::Rtl => {
                refuse("rtl", ModelOptions::OWNERS, self.model.given())?;
                refuse("rtl", XrtOptions::OWNERS, self.xrt.given())?;
                if self.rtl.waves.is_some() && self.rtl.variant == Some(Variant::Fast) {
                    let sentence = "--variant fast has no waves, which have a variant of their own; leave it away";
                    return Err(CliError::Usage(sentence.to_owned()));
                }
                let device: Arc<dyn SamplerDevice> = Arc::new(RtlDevice::new(&self.rtl.with(&self.kernel), &say)?);
                if self.rtl.waves.is_some() {
                    ending::record(Arc::downgrade(&device));
                }
                Ok(device)
            }
            Backend::Xrt => {
                refuse("xrt", KernelOptions::OWNERS, self.kernel.given())?;
                refuse("xrt", ModelOptions::OWNERS, self.model.given())?;
                refuse("xrt", RtlOptions::OWNERS, self.rtl.given())?;
                Ok(Arc::new(self.xrt.open()?))
            }
        }
    }
}

impl KernelOptions {
    const OWNERS: &str = "back ends 'model' and 'rtl'";

    /// An option that was given.
    fn given(&self) -> Option<&'static str> {
        self.channels.map(|_| "--channels")
    }
}

impl ModelOptions {
    const OWNERS: &str = "back end 'model'";

    /// An option that was given.
    fn given(&self) -> Option<&'static str> {
        self.clock.map(|_| "--clock")
    }
}

impl RtlOptions {
    const OWNERS: &str = "back end 'rtl'";

    /// What the simulator is asked for; its own defaults where nothing was given.
    fn with(&self, kernel: &KernelOptions) -> rtl::RtlOptions {
        let default = rtl::RtlOptions::default();
        rtl::RtlOptions {
            channels: kernel.channels.unwrap_or(default.channels),
            table_log2: self.table_log2.unwrap_or(default.table_log2),
            window: self.window.unwrap_or(default.window),
            variant: match self.variant {
                Some(Variant::Test) => rtl::Variant::Test,
                Some(Variant::Fast) => rtl::Variant::Fast,
                None => default.variant,
            },
            memory: match self.profile {
                Some(Profile::Ideal) => rtl::Profile::Ideal,
                Some(Profile::Hbm) => rtl::Profile::Hbm,
                Some(Profile::Ddr4) => rtl::Profile::Ddr4,
                Some(Profile::Hostile) => rtl::Profile::Hostile,
                None => default.memory,
            },
            stall_seed: self.stall_seed.unwrap_or(default.stall_seed),
            watchdog_cycles: self.watchdog.unwrap_or(default.watchdog_cycles),
            waves: self.waves.clone(),
            ..default
        }
    }

    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--profile", self.profile.is_some()),
            ("--stall-seed", self.stall_seed.is_some()),
            ("--table-log2", self.table_log2.is_some()),
            ("--window", self.window.is_some()),
            ("--variant", self.variant.is_some()),
            ("--waves", self.waves.is_some()),
            ("--watchdog", self.watchdog.is_some()),
        ];
        options.into_iter().find_map(|(option, given)| given.then_some(option))
    }
}

impl XrtOptions {
    const OWNERS: &str = "back end 'xrt'";

    /// Opens the card.
    pub(super) fn open(&self) -> Result<XrtDevice, CliError> {
        Ok(XrtDevice::open(&self.wanted()?)?)
    }

    /// Which card is asked for.
    fn wanted(&self) -> Result<xrt::XrtOptions, CliError> {
        let Some(xclbin) = &self.xclbin else {
            let sentence = "back end 'xrt' needs --xclbin: the file that the card is programmed with";
            return Err(CliError::Usage(sentence.to_owned()));
        };
        let default = xrt::XrtOptions::new(xclbin);
        Ok(xrt::XrtOptions {
            card: self.card.clone().unwrap_or_else(|| default.card.clone()),
            library: self.xrt_library.clone(),
            watchdog: self.run_limit.map_or(default.watchdog, Duration::from_secs),
            peer_to_peer: self.p2p,
            import_dma_buf: self.dma_buf,
            ..default
        })
    }

    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--xclbin", self.xclbin.is_some()),
            ("--card", self.card.is_some()),
            ("--p2p", self.p2p),
            ("--dma-buf", self.dma_buf),
            ("--run-limit", self.run_limit.is_some()),
            ("--xrt-library", self.xrt_library.is_some()),
        ];
        options.into_iter().find_map(|(option, given)| given.then_some(option))
    }
}

/// Ends the process. XRT crashes when its destructors run while a card is open, as it is when a run did not end or a signal came.
pub(super) fn exit(code: u8) -> ! {
    if xrt::is_open() {
        xrt::end_at_once(code.into());
    }
    std::process::exit(code.into())
}

/// Refuses an option that the chosen back end does not have.
fn refuse(backend: &str, owners: &str, option: Option<&'static str>) -> Result<(), CliError> {
    option.map_or(Ok(()), |option| {
        Err(CliError::Usage(format!("{option} is an option of {owners}; back end '{backend}' has none of that name")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line<A: Args> {
        #[command(flatten)]
        args: A,
    }

    fn parse<A: Args>(line: &str) -> A {
        Line::<A>::try_parse_from(std::iter::once("x").chain(line.split_whitespace())).unwrap().args
    }

    fn refusal(line: &str) -> String {
        parse::<SamplerArgs>(line).open().err().unwrap().to_string()
    }

    #[test]
    fn a_foreign_option_is_refused() {
        for option in [
            "--profile hostile",
            "--stall-seed 3",
            "--table-log2 9",
            "--window 64",
            "--variant test",
            "--waves w.fst",
            "--watchdog 5",
        ] {
            let name = option.split(' ').next().unwrap();
            let sentence = format!("{name} is an option of back end 'rtl'; back end 'model' has none of that name");
            assert_eq!(refusal(&format!("--backend model {option}")), sentence);
            assert_eq!(refusal(&format!("--backend golden {option}")), sentence.replace("'model'", "'golden'"));
        }
        for option in ["--xclbin x", "--card 1", "--p2p", "--dma-buf", "--run-limit 5", "--xrt-library x.so"] {
            let name = option.split(' ').next().unwrap();
            let sentence = format!("{name} is an option of back end 'xrt'; back end 'rtl' has none of that name");
            assert_eq!(refusal(&format!("--backend rtl {option}")), sentence);
        }
        assert_eq!(
            refusal("--backend xrt --channels 2"),
            "--channels is an option of back ends 'model' and 'rtl'; back end 'xrt' has none of that name"
        );
        assert_eq!(
            refusal("--backend xrt"),
            "back end 'xrt' needs --xclbin: the file that the card is programmed with"
        );
        assert_eq!(
            refusal("--backend rtl --clock 10"),
            "--clock is an option of back end 'model'; back end 'rtl' has none of that name"
        );
        assert_eq!(
            refusal("--backend golden --channels 2"),
            "--channels is an option of back ends 'model' and 'rtl'; back end 'golden' has none of that name"
        );
    }

    #[test]
    fn waves_are_refused_before_anything_is_compiled() {
        let rtl = |line: &str| refusal(&format!("--backend rtl --waves {line}"));
        assert!(rtl("w.fst --variant fast").starts_with("--variant fast has no waves"));
        assert!(rtl("/nowhere/w.fst").contains("/nowhere/w.slr0.fst: No such file"));
    }

    #[test]
    fn options_of_the_rtl_reach_it() {
        let DeviceArgs { options, .. } = parse(
            "--backend rtl --channels 2 --profile hostile --stall-seed 3 --table-log2 9 --variant test --watchdog 5",
        );
        let rtl = options.rtl.with(&options.kernel);
        assert_eq!((rtl.channels, rtl.memory, rtl.stall_seed), (2, rtl::Profile::Hostile, 3));
        assert_eq!((rtl.table_log2, rtl.variant, rtl.watchdog_cycles), (9, rtl::Variant::Test, 5));
        let DeviceArgs { options, .. } = parse("--backend rtl");
        let (ours, default) = (options.rtl.with(&options.kernel), rtl::RtlOptions::default());
        assert_eq!(format!("{ours:?}"), format!("{default:?}"));
    }

    #[test]
    fn the_model_can_be_as_slow_as_a_card() {
        assert_eq!(clock("0.5"), Ok(NonZeroU64::new(500_000).unwrap()));
        for text in ["0", "-3", "nan", "inf", "x", "1e7"] {
            assert!(clock(text).is_err(), "{text}");
        }
        let device = parse::<DeviceArgs>("--clock 300").open().unwrap();
        assert!(device.capabilities().has(hw::Feature::PredictedCycles));
    }

    #[test]
    fn the_model_is_the_default_and_takes_channels() {
        let device = parse::<DeviceArgs>("--channels 8").open().unwrap();
        assert_eq!(device.capabilities().backend, "model");
        assert!(parse::<SamplerArgs>("--backend golden").open().unwrap().is_none());
        for channels in ["0", "3", "16", "x"] {
            let line = ["x", "--channels", channels];
            assert!(Line::<DeviceArgs>::try_parse_from(line).unwrap_err().to_string().contains("1, 2, 4 or 8"));
        }
    }
}
