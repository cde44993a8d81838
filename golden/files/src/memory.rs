//! How much memory this machine has.

use std::{fmt, fs};

/// Bytes that can be had without making the system short of memory, if it says.
pub fn available() -> Option<u64> {
    parse(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Bytes, written in units of 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gigabytes(pub u64);

impl fmt::Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB", self.0 as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says() {
        assert_eq!(parse("MemTotal:  9 kB\nMemAvailable:   23674 kB\n"), Some(23674 * 1024));
        for text in ["", "MemAvailable: lots", "MemAvailable: 18446744073709551615 kB"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
