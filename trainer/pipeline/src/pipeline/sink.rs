//! How sub-graphs get from the card into the memory in which they are consumed.

use golden::{Buffer, Capacity};
use hw::{MemorySpace, OutputBuffers, SamplerDevice, Slr};
use serde::Serialize;
use strum::VariantArray;

use super::PipelineError;
use crate::{
    accelerator::{Accelerator, AcceleratorError},
    ledger::Direction,
};

/// A way from the card to the consumer; the first that works is the best.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Sink {
    /// The card writes host memory, and the consumer reads it there.
    InPlace,
    /// The card writes accelerator memory that was exported as a dma-buf.
    DmaBuf,
    /// The card writes its own memory, and the accelerator pulls it through the card's BAR.
    Bar,
    /// The card writes a region of host memory that is pinned for both, and the accelerator copies it.
    Staged,
}

impl Sink {
    /// How it goes, in a few words.
    const fn meaning(self) -> &'static str {
        match self {
            Self::InPlace => "the card writes where the consumer reads",
            Self::DmaBuf => "the card writes accelerator memory",
            Self::Bar => "the accelerator pulls from the card's memory",
            Self::Staged => "through a pinned region of host memory",
        }
    }
}

/// Whether a way works here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The way.
    pub sink: Sink,
    /// Why not, in a sentence.
    pub usable: Result<(), String>,
}

/// Asks card and accelerator for each way, the best first.
pub fn probe<A: Accelerator>(device: &dyn SamplerDevice, accelerator: &A) -> Vec<Probe> {
    let capabilities = device.capabilities();
    let writes = |space: MemorySpace| {
        let backend = capabilities.backend;
        if capabilities.output_spaces.contains(&space) {
            Ok(())
        } else {
            Err(format!("back end '{backend}' cannot write {space}"))
        }
    };
    let exports = accelerator.export_space();
    let usable = |sink| match (sink, &exports) {
        (Sink::InPlace, Ok(MemorySpace::Host)) | (Sink::Staged, _) => writes(MemorySpace::Host),
        (Sink::InPlace, _) => Err(format!("the consumer does not read host memory ({})", accelerator.describe())),
        (Sink::DmaBuf, Ok(MemorySpace::Host)) => Err("the consumer reads host memory".to_owned()),
        (Sink::DmaBuf, Ok(space)) => writes(*space),
        (Sink::DmaBuf, Err(reason)) => Err(reason.clone()),
        (Sink::Bar, _) => writes(MemorySpace::CardBar),
    };
    Sink::VARIANTS.iter().map(|&sink| Probe { sink, usable: usable(sink) }).collect()
}

/// No way leads from the card to the consumer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The one that was asked for does not work.
    #[error("sink '{sink}' is not possible here: {reason}")]
    Impossible {
        /// It.
        sink: Sink,
        /// Why.
        reason: String,
    },
    /// None works.
    #[error("no sink is possible here: {reasons}")]
    None {
        /// Why each does not.
        reasons: String,
    },
}

/// The best way that works, or the one that is asked for; and why it was chosen, in a sentence.
///
/// # Errors
/// [`SinkError`] if it does not work.
pub fn choose(probes: &[Probe], forced: Option<Sink>) -> Result<(Sink, String), SinkError> {
    let told = |sink: Sink, why: &str| format!("sink '{sink}' ({}): {why}", sink.meaning());
    if let Some(sink) = forced {
        return match probes.iter().find(|probe| probe.sink == sink).map(|probe| &probe.usable) {
            Some(Ok(())) => Ok((sink, told(sink, "asked for"))),
            Some(Err(reason)) => Err(SinkError::Impossible { sink, reason: reason.clone() }),
            None => Err(SinkError::Impossible { sink, reason: "it was not probed".to_owned() }),
        };
    }
    let refused: Vec<_> = probes
        .iter()
        .map_while(|Probe { sink, usable }| Some(format!("not '{sink}', as {}", usable.as_ref().err()?)))
        .collect();
    match probes.get(refused.len()) {
        Some(Probe { sink, .. }) if refused.is_empty() => Ok((*sink, told(*sink, "the best way there is"))),
        Some(Probe { sink, .. }) => Ok((*sink, told(*sink, &refused.join("; ")))),
        None => Err(SinkError::None { reasons: refused.join("; ") }),
    }
}

/// The buffers of one slot of one SLR, and the way into them.
#[derive(Clone)]
pub(super) struct Destination<A: Accelerator> {
    /// What the consumer reads, in the order of [`Buffer::ALL`].
    pub(super) buffers: [A::Buffer; 4],
    /// What the card writes, where that is something else.
    source: Option<[A::Buffer; 4]>,
    sink: Sink,
}

impl<A: Accelerator> Destination<A> {
    /// Allocates the buffers of `slot` and binds them to the device.
    pub(super) fn new(
        device: &dyn SamplerDevice,
        accelerator: &A,
        (slr, slot): (Slr, hw::Slot),
        capacity: Capacity,
        sink: Sink,
    ) -> Result<Self, PipelineError> {
        let label = |buffer: Buffer, of: &str| format!("{} of {slot}, {slr}{of}", buffer.name());
        let buffers = four(|buffer| Ok(accelerator.allocate(label(buffer, ""), capacity.len_of(buffer))?))?;
        let written = match sink {
            Sink::InPlace | Sink::DmaBuf => None,
            Sink::Bar => Some(device.bar_outputs(slr, capacity)?),
            Sink::Staged => Some(OutputBuffers::host(capacity)),
        };
        let (outputs, source) = if let Some(outputs) = written {
            let pin = |buffer| {
                let memory = outputs.get(buffer);
                let space = memory.space();
                let reason = || format!("the host cannot address {space}");
                let elements = memory.elements().ok_or_else(|| SinkError::Impossible { sink, reason: reason() })?;
                Ok(accelerator.pin(label(buffer, " (written by the card)"), elements, space)?)
            };
            let source = four(pin)?;
            (outputs, Some(source))
        } else {
            let exported = four(|buffer| Ok(accelerator.export(&buffers[buffer as usize])?))?;
            (OutputBuffers::new(exported), None)
        };
        device.bind_outputs(slr, slot, outputs)?;
        Ok(Self { buffers, source, sink })
    }

    /// All buffers on the way: where the card writes and where the consumer reads.
    pub(super) fn on_the_way(&self) -> impl Iterator<Item = &[A::Buffer; 4]> {
        self.source.iter().chain([&self.buffers])
    }

    /// What the card writes.
    pub(super) fn written_by_card(&self) -> &[A::Buffer; 4] {
        self.source.as_ref().unwrap_or(&self.buffers)
    }

    /// The card has written so many elements of each buffer: enters that in the ledger, and gives `stream` what is left to do
    /// until the consumer has them. Returns whether anything is.
    pub(super) fn deliver(
        &self,
        accelerator: &A,
        stream: &A::Stream,
        counts: [usize; 4],
    ) -> Result<bool, AcceleratorError> {
        let ledger = accelerator.ledger();
        for len in counts {
            let bytes = len * size_of::<i32>();
            match self.sink {
                Sink::InPlace | Sink::DmaBuf => ledger.cross(Direction::P2p, "the card writes in place", bytes),
                // The card's own memory is on its side of the bus.
                Sink::Bar => {}
                Sink::Staged => ledger.cross(Direction::Down, "the card writes the host region", bytes),
            }
        }
        let Some(source) = &self.source else { return Ok(false) };
        let way = match self.sink {
            Sink::Bar => (Direction::P2p, "pull through the card's BAR"),
            _ => (Direction::Up, "copy of the host region"),
        };
        for ((from, to), len) in source.iter().zip(&self.buffers).zip(counts) {
            accelerator.copy(stream, way, from, to, len)?;
        }
        Ok(true)
    }
}

/// One thing for each buffer.
fn four<T>(make: impl FnMut(Buffer) -> Result<T, PipelineError>) -> Result<[T; 4], PipelineError> {
    let all: Vec<T> = Buffer::ALL.into_iter().map(make).collect::<Result<_, _>>()?;
    Ok(all.try_into().unwrap_or_else(|_| unreachable!("there are four buffers")))
}
