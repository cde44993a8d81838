//! Back end `xrt`: a card, through XRT.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use hw::{
    Feature, SamplerDevice,
    xrt::{CardId, XrtDevice, XrtOptions},
};

use super::{BackEnd, KernelOptions};
use crate::error::CliError;

/// Which card, and what is on it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of back end 'xrt'")]
#[group(skip)]
pub(crate) struct Options {
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

impl BackEnd for Options {
    const NAME: &'static str = "xrt";
    const ABOUT: &'static str = "A card, through XRT";
    const BUILDS_KERNELS: bool = false;

    fn open(&self, _: &KernelOptions, _: &[Feature]) -> Result<Arc<dyn SamplerDevice>, CliError> {
        Ok(Arc::new(self.open_card()?))
    }
}

impl Options {
    /// Opens the card.
    pub(crate) fn open_card(&self) -> Result<XrtDevice, CliError> {
        Ok(XrtDevice::open(&self.wanted()?)?)
    }

    /// Which card is asked for.
    fn wanted(&self) -> Result<XrtOptions, CliError> {
        let Some(xclbin) = &self.xclbin else {
            let sentence = "back end 'xrt' needs --xclbin: the file that the card is programmed with";
            return Err(CliError::Usage(sentence.to_owned()));
        };
        let default = XrtOptions::new(xclbin);
        Ok(XrtOptions {
            card: self.card.clone().unwrap_or_else(|| default.card.clone()),
            library: self.xrt_library.clone(),
            watchdog: self.run_limit.map_or(default.watchdog, Duration::from_secs),
            peer_to_peer: self.p2p,
            import_dma_buf: self.dma_buf,
            ..default
        })
    }
}
