//! Numbers of reports.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "what comes of it is shown with a few digits")]
pub fn float(value: u64) -> f64 {
    value as f64
}

/// Writes a time as seconds.
///
/// # Errors
/// What the serializer says.
pub fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Reads a time that [`seconds`] has written.
///
/// # Errors
/// What the deserializer says, or that it is no time.
pub fn read_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(de::Error::custom)
}
