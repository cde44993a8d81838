//! A record of every handshake, without cycles, so that it is the same for every timing.

use std::fmt;

/// The handshakes of a run, by port and channel, each a line of text.
#[derive(Debug, Default)]
pub(super) struct BusLog {
    channels: Vec<(String, Vec<String>)>,
}

impl BusLog {
    pub(super) fn clear(&mut self) {
        self.channels.clear();
    }

    pub(super) fn add(&mut self, port: &str, channel: &str, line: String) {
        let name = format!("{port}.{channel}");
        match self.channels.iter_mut().find(|(known, _)| *known == name) {
            Some((_, lines)) => lines.push(line),
            None => self.channels.push((name, vec![line])),
        }
    }
}

impl fmt::Display for BusLog {
    /// Channels in alphabetical order; their lines in the order in which they happened.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut channels: Vec<_> = self.channels.iter().collect();
        channels.sort();
        channels.into_iter().try_for_each(|(name, lines)| lines.iter().try_for_each(|l| writeln!(f, "{name} {l}")))
    }
}
