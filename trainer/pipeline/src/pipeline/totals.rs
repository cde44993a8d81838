//! What a run of the pipeline took, and how well its stages overlapped.

use std::{fmt, time::Duration};

use hw::{SLRS, Slr};
use serde::{Deserialize, Serialize};

use crate::units::{read_seconds, seconds};

/// Times of one SLR's producer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerTimes {
    /// Runs of the kernel; JSON: seconds, as all times.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub sampling: Duration,
    /// From the end of each run until the consumer could have read its results.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub transfer: Duration,
    /// Buffers were poisoned.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub poisoning: Duration,
    /// No slot was free.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub waiting: Duration,
}

/// Times of one start of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Iterations that were released.
    pub iterations: u64,
    /// From the start until the last released slot was free.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub wall: Duration,
    /// The producers.
    pub slrs: [ProducerTimes; SLRS],
    /// From begin to release of each iteration, on the consumer's stream.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub consuming: Duration,
    /// The consumer waited for an iteration.
    #[serde(serialize_with = "seconds", deserialize_with = "read_seconds")]
    pub starved: Duration,
}

/// How well stages overlapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// Time of all stages over wall time: 1 is one after the other, and more is better.
    pub stages_over_wall: f64,
    /// Wall time over the time of the longest stage: 1 cannot be beaten.
    pub wall_over_longest: f64,
    /// The longest stage.
    #[serde(skip)]
    longest: &'static str,
}

impl Totals {
    /// Adds what another start has taken. What was read from a file may be as large as it likes.
    pub fn add(&mut self, other: &Self) {
        let add = |sum: &mut Duration, more: Duration| *sum = sum.saturating_add(more);
        self.iterations = self.iterations.saturating_add(other.iterations);
        add(&mut self.wall, other.wall);
        add(&mut self.consuming, other.consuming);
        add(&mut self.starved, other.starved);
        for (times, more) in self.slrs.iter_mut().zip(&other.slrs) {
            add(&mut times.sampling, more.sampling);
            add(&mut times.transfer, more.transfer);
            add(&mut times.poisoning, more.poisoning);
            add(&mut times.waiting, more.waiting);
        }
    }

    /// The stages, and how long each was at work.
    pub fn stages(&self) -> Vec<(&'static str, Duration)> {
        const SAMPLING: [&str; SLRS] = ["sampling, SLR0", "sampling, SLR1", "sampling, SLR2"];
        const TRANSFER: [&str; SLRS] = ["transfer, SLR0", "transfer, SLR1", "transfer, SLR2"];
        let mut stages = vec![("consuming", self.consuming)];
        for (slr, times) in Slr::ALL.into_iter().zip(&self.slrs) {
            stages.push((SAMPLING[slr.index()], times.sampling.saturating_add(times.poisoning)));
            stages.push((TRANSFER[slr.index()], times.transfer));
        }
        stages
    }

    /// How well they overlapped; `None` if nothing was done.
    pub fn overlap(&self) -> Option<Overlap> {
        let stages = self.stages();
        let sum = stages.iter().fold(Duration::ZERO, |sum, (_, time)| sum.saturating_add(*time));
        let &(longest, time) = stages.iter().max_by_key(|(_, time)| *time)?;
        if self.wall.is_zero() || time.is_zero() {
            return None;
        }
        let wall = self.wall.as_secs_f64();
        Some(Overlap {
            stages_over_wall: sum.as_secs_f64() / wall,
            wall_over_longest: wall / time.as_secs_f64(),
            longest,
        })
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stages_over_wall, wall_over_longest, longest } = self;
        write!(
            f,
            "{stages_over_wall:.2} stages at a time; wall time is {wall_over_longest:.3} of the longest stage ({longest})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_compares_the_stages_with_the_wall() {
        let ms = Duration::from_millis;
        let mut totals = Totals { iterations: 4, wall: ms(100), consuming: ms(80), ..Totals::default() };
        assert_eq!(Totals::default().overlap(), None);
        totals.slrs[1] = ProducerTimes { sampling: ms(60), transfer: ms(5), poisoning: ms(30), waiting: ms(10) };
        let overlap = totals.overlap().unwrap();
        assert!((overlap.stages_over_wall - 1.75).abs() < 1e-9);
        assert!((overlap.wall_over_longest - 100.0 / 90.0).abs() < 1e-9);
        let sentence = "1.75 stages at a time; wall time is 1.111 of the longest stage (sampling, SLR1)";
        assert_eq!(overlap.to_string(), sentence);
    }
}
